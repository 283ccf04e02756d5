//! Runs work without the interpreter lock.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use onnx_recast::{Error, ErrorKind};
use pyo3::prelude::*;

use crate::errors;
use crate::pool::pool;

/// Does work on the threads of the module, while other threads of Python run.
///
/// # Errors
/// Those of the work; a panic is an error of kind [`ErrorKind::Internal`].
pub fn run<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, Error> + Send) -> PyResult<T> {
    let done = py.detach(|| {
        let pool = pool().map_err(|error| Error::new(ErrorKind::Io, error))?;
        pool.install(|| catch_unwind(AssertUnwindSafe(work))).unwrap_or_else(|panic| Err(of_panic(panic.as_ref())))
    });
    done.map_err(|error| errors::to_python(py, &error))
}

fn of_panic(panic: &(dyn Any + Send)) -> Error {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    Error::new(ErrorKind::Internal, format!("{}; this is a bug, please report it", text.unwrap_or("a panic without a message")))
}
