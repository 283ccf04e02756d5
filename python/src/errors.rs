//! Errors as exceptions.

use std::error::Error as _;
use std::{io, iter};

use onnx_recast::verify::Fault;
use onnx_recast::{CannotCast, Error, ErrorKind, Place};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The exception for an error; `onnx_recast._errors` chooses its class.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    let exception = || {
        py.import("onnx_recast._errors")?
            .call_method1("exception_of", (facts(error).to_string(),))
    };
    exception().map_or_else(|error| error, PyErr::from_value)
}

/// What a caller can do about a result that is wrong.
const WRONG_RESULT: &str =
    "attach the output of `recast inspect --format json`; verify=False leaves the verification out";

/// What Python is told about an error.
pub fn facts(error: &Error) -> Value {
    let (node, offset, field) = match error.place() {
        Some(Place::Model(place)) => (Some(place.path()), None, None),
        Some(Place::Byte { offset, field }) => (None, Some(offset), Some(field)),
        _ => (None, None, None),
    };
    let cannot_cast = error.cause::<CannotCast>();
    let faults = error
        .faults()
        .iter()
        .map(|Fault { path, what, .. }| json!({"path": path, "what": what}));
    json!({
        "kind": error.kind().code(),
        "text": text(error),
        "message": error.place_and_message(),
        "path": error.path(),
        "node": node,
        "offset": offset,
        "field": field,
        "errno": os_error(error),
        "blockers": error.blockers(),
        "nearest": error.nearest_opset(),
        "faults": faults.collect::<Vec<_>>(),
        "cast": cannot_cast.map(kind),
        "index": cannot_cast.and_then(CannotCast::element),
    })
}

/// The message, with what a caller can do.
fn text(error: &Error) -> String {
    match error.kind() {
        ErrorKind::NotVerified => format!("{error}; {WRONG_RESULT}"),
        _ => error.to_string(),
    }
}

/// The number of the operating system's error that caused this one, directly or not.
fn os_error(error: &Error) -> Option<i32> {
    let causes = iter::successors(error.source(), |cause| (*cause).source());
    causes
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .find_map(io::Error::raw_os_error)
}

fn kind(error: &CannotCast) -> &'static str {
    match error {
        CannotCast::Unsupported(_) => "type-unsupported",
        CannotCast::Literal(_) => "invalid-literal",
        CannotCast::TooLarge(_) => "too-large",
        CannotCast::Undefined(_) => "undefined",
        CannotCast::Contested(_) => "contested",
        _ => "other",
    }
}
