//! The native half of the Python module `onnx_recast`.
//!
//! It passes plain values only: bytes, strings, numbers and JSON. The Python half recognises what
//! the caller gives, and makes classes of results and errors.

mod cast;
mod errors;
mod files;
mod new_bytes;
mod operations;
mod pool;
mod precision;
mod steps;
mod strings;
mod watch;

use std::alloc::System;

use onnx_recast::cli::Limited;
use pyo3::prelude::*;

/// Counts memory for the option `--max-memory` of the command.
#[global_allocator]
static ALLOCATOR: Limited<System> = Limited(System);

#[pymodule]
mod _recast {
    #[pymodule_export]
    use super::cast::{cast_numbers, cast_strings};
    #[pymodule_export]
    use super::operations::{
        convert, diff, fix, fold, inspect, lint, missing_operators, runs_on, targets,
    };
    #[pymodule_export]
    use super::pool::set_threads;
    #[pymodule_export]
    use super::precision::{convert_precision, sensitive_operators};
    #[pymodule_export]
    use super::run_command;
    #[pymodule_export]
    use super::steps::apply;
    #[pymodule_export]
    use super::strings::Strings;

    #[pymodule_export]
    const LATEST_OPSET: i64 = onnx_recast::LATEST_OPSET;
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

/// Runs the command `recast` with these arguments, and returns its exit code. Signals end the
/// process from now on, as they end the command.
#[pyfunction]
fn run_command(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    onnx_recast::front_ends::install_signal_handlers();
    py.detach(|| onnx_recast::front_ends::main_with(arguments).into())
}
