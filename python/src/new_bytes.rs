//! Bytes objects that are filled without being zeroed first: for a large model, that would take as
//! long as to write it.
#![allow(unsafe_code)]

use std::io::{self, Write};
use std::mem::MaybeUninit;
use std::slice;

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// The part of a bytes object that is not written yet.
pub struct Rest<'b>(&'b mut [MaybeUninit<u8>]);

impl Write for Rest<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let length = bytes.len().min(self.0.len());
        let (part, rest) = std::mem::take(&mut self.0).split_at_mut(length);
        part.write_copy_of_slice(&bytes[..length]);
        self.0 = rest;
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.0 {
            [] => Ok(()),
            [..] => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }
}

/// A bytes object of this length; `fill` writes and flushes all of it, or fails.
pub fn new_bytes<'py>(
    py: Python<'py>,
    length: usize,
    fill: impl FnOnce(Rest<'_>) -> PyResult<()>,
) -> PyResult<Bound<'py, PyBytes>> {
    let size = ffi::Py_ssize_t::try_from(length)?;
    // SAFETY: Without a source, this makes a bytes object with uninitialised bytes, or sets an
    // exception.
    let object = unsafe {
        Bound::from_owned_ptr_or_err(py, ffi::PyBytes_FromStringAndSize(std::ptr::null(), size))
    }?;
    // SAFETY: The object has `length` bytes, which nothing else refers to before this function
    // returns it.
    let bytes = unsafe {
        slice::from_raw_parts_mut(
            ffi::PyBytes_AsString(object.as_ptr()).cast::<MaybeUninit<u8>>(),
            length,
        )
    };
    fill(Rest(bytes))?;
    Ok(object.cast_into()?)
}
