//! Strings on their way from Python and to it.

use std::borrow::Cow;
use std::mem;

use bytes::Bytes;
use onnx_recast::Array;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};

use crate::pool::pool;

/// A queue of strings. They pass in parts, since one call for many would delay an interrupt.
#[pyclass]
#[derive(Default)]
pub struct Strings {
    given: Vec<Bytes>,
    results: Option<Array>,
    /// The number of results that were taken.
    taken: usize,
}

impl Strings {
    /// Strings for Python to take.
    pub fn of(results: Array) -> Strings {
        Strings {
            given: Vec::new(),
            results: Some(results),
            taken: 0,
        }
    }

    /// The strings that Python has appended.
    pub fn appended(&mut self) -> Vec<Bytes> {
        mem::take(&mut self.given)
    }
}

#[pymethods]
impl Strings {
    #[new]
    fn new() -> Strings {
        Strings::default()
    }

    /// Appends strings, or bytes of UTF-8.
    fn append(&mut self, strings: &Bound<'_, PyList>) -> PyResult<()> {
        let (mut text, mut ends) = (Vec::new(), Vec::with_capacity(strings.len()));
        for (index, item) in strings.iter().enumerate() {
            if let Ok(string) = item.cast::<PyString>() {
                let unicode = string.to_cow().map_err(|_| {
                    let index = self.given.len() + index;
                    PyValueError::new_err(format!("element {index} is not Unicode text"))
                })?;
                text.extend_from_slice(unicode.as_bytes());
            } else if let Ok(bytes) = item.cast::<PyBytes>() {
                text.extend_from_slice(bytes.as_bytes());
            } else {
                let (index, kind) = (self.given.len() + index, item.get_type().name()?);
                return Err(PyTypeError::new_err(format!(
                    "element {index} is a {kind}, not a string"
                )));
            }
            ends.push(text.len());
        }
        let (text, mut start) = (Bytes::from(text), 0);
        self.given.extend(
            ends.into_iter()
                .map(|end| text.slice(mem::replace(&mut start, end)..end)),
        );
        Ok(())
    }

    /// The next results, at most this many.
    fn take(&mut self, count: usize) -> Vec<Cow<'_, str>> {
        let results = self
            .results
            .as_ref()
            .and_then(Array::strings)
            .unwrap_or_default();
        let next = results.iter().skip(self.taken).take(count);
        self.taken += count;
        next.map(|string| String::from_utf8_lossy(string)).collect()
    }
}

/// To free many strings takes as long as to make them.
impl Drop for Strings {
    fn drop(&mut self) {
        let (given, results) = (self.appended(), self.results.take());
        if let Ok(pool) = pool() {
            pool.spawn(move || drop((given, results)));
        }
    }
}
