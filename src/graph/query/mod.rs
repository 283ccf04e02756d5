//! Read-only queries of a model.

mod nodes;
mod scopes;
mod values;

use crate::protobuf::raw::type_proto;
use crate::protobuf::schema::TypeProto;
use onnx_cast::DType;

pub use onnx_operators::schemas::is_onnx_domain;

/// A domain's name; the longer spelling for ONNX's own domain.
#[must_use]
pub fn domain_name(domain: &str) -> &str {
    if is_onnx_domain(domain) {
        "ai.onnx"
    } else {
        domain
    }
}

/// The element type of a dense tensor type.
#[must_use]
pub fn tensor_type(proto: &TypeProto) -> Option<DType> {
    match &proto.value {
        Some(type_proto::Value::TensorType(tensor)) => DType::from_number(tensor.elem_type()),
        _ => None,
    }
}

/// Counts the edges that queries visit, so that tests can tell linear work from quadratic work.
#[cfg(test)]
pub(crate) mod visited {
    use std::cell::Cell;

    thread_local!(static EDGES: Cell<u64> = const { Cell::new(0) });

    pub(super) fn count() {
        EDGES.set(EDGES.get() + 1);
    }

    /// The edges that this thread visits during some work.
    pub(crate) fn during(work: impl FnOnce()) -> u64 {
        let before = EDGES.get();
        work();
        EDGES.get() - before
    }
}

#[cfg(not(test))]
mod visited {
    pub(super) fn count() {}
}
