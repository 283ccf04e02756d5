//! Casts of arrays.
#![allow(unsafe_code)]

use bytes::Bytes;
use onnx_recast::{Array, CastOptions, DType, Error, ErrorKind, Packing};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::operations::choice;
use crate::strings::Strings;
use crate::watch::Watch;

/// A cast: the type by its ONNX name, the shape of the array, and the rules.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Casting {
    to: String,
    shape: Vec<i64>,
    opset: u32,
    saturate: bool,
    round_mode: String,
    undefined: bool,
    contested: Option<String>,
}

impl Casting {
    fn options(&self) -> PyResult<CastOptions> {
        let round_mode = choice("round_mode", &self.round_mode)?;
        let contested = self
            .contested
            .as_deref()
            .map(|name| choice("contested", name))
            .transpose()?;
        let options = CastOptions::default()
            .saturate(self.saturate)
            .round_mode(round_mode)
            .opset(self.opset);
        Ok(options.undefined(self.undefined).contested(contested))
    }
}

fn dtype(name: &str) -> Result<DType, Error> {
    name.parse()
        .map_err(|error| Error::new(ErrorKind::Usage, error))
}

/// Contiguous bytes of an object, which exists until this is dropped.
struct Memory(PyBuffer<u8>);

impl Memory {
    fn of(buffer: PyBuffer<u8>) -> PyResult<Memory> {
        if buffer.is_c_contiguous() {
            Ok(Memory(buffer))
        } else {
            Err(PyValueError::new_err("the bytes are not contiguous"))
        }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        if self.0.len_bytes() == 0 {
            return &[];
        }
        // SAFETY: The buffer has this many contiguous bytes, and keeps them in place while it
        // exists. As with a mapped file, another thread may change them in the meantime; elements
        // then have the old or the new value, since every bit pattern is a number and no length or
        // index is read from the bytes.
        unsafe { std::slice::from_raw_parts(self.0.buf_ptr().cast::<u8>(), self.0.len_bytes()) }
    }
}

impl AsMut<[u8]> for Memory {
    fn as_mut(&mut self) -> &mut [u8] {
        if self.0.len_bytes() == 0 {
            return &mut [];
        }
        // SAFETY: The buffer is writable, has this many contiguous bytes, and belongs to an array
        // that `onnx_recast.cast` has just made: nothing else refers to it.
        unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast::<u8>(), self.0.len_bytes()) }
    }
}

/// Casts numbers, one byte each if they are narrower than a byte. Numbers are written into `out`,
/// an array that nothing else refers to; strings are returned.
#[pyfunction]
pub fn cast_numbers(
    py: Python<'_>,
    source: PyBuffer<u8>,
    from_type: &str,
    casting: Casting,
    out: Option<PyBuffer<u8>>,
    watch: Watch,
) -> PyResult<Option<Strings>> {
    let source = Memory::of(source)?;
    let (options, control) = (casting.options()?, watch.control());
    let cast = watch.run(py, || {
        let array = Array::from_bytes(
            dtype(from_type)?,
            &casting.shape,
            Bytes::from_owner(source),
            Packing::Byte,
        )?;
        control.array(array).cast(dtype(&casting.to)?, &options)
    })?;
    finish(py, &watch, out, cast)
}

/// Casts the strings that were appended to a queue, like [`cast_numbers`].
#[pyfunction]
pub fn cast_strings(
    py: Python<'_>,
    mut strings: PyRefMut<'_, Strings>,
    casting: Casting,
    out: Option<PyBuffer<u8>>,
    watch: Watch,
) -> PyResult<Option<Strings>> {
    let (options, control, strings) = (casting.options()?, watch.control(), strings.appended());
    let cast = watch.run_owned(py, move || {
        let array = Array::from_strings(&casting.shape, strings)?;
        control.array(array).cast(dtype(&casting.to)?, &options)
    })?;
    finish(py, &watch, out, cast)
}

fn finish(
    py: Python<'_>,
    watch: &Watch,
    out: Option<PyBuffer<u8>>,
    cast: Array,
) -> PyResult<Option<Strings>> {
    if cast.strings().is_some() {
        return Ok(Some(Strings::of(cast)));
    }
    let mut out = out.map(Memory::of).transpose()?;
    if out.as_ref().is_some_and(|out| out.0.readonly()) {
        return Err(PyValueError::new_err("the result cannot be written"));
    }
    watch.run(py, || match &mut out {
        Some(out) => cast.write_into(out.as_mut(), Packing::Byte).map(|()| None),
        None => Err(Error::new(
            ErrorKind::Internal,
            "the array for the numbers is missing",
        )),
    })
}
