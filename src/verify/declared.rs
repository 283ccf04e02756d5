//! The declared types of values inside a graph.

use super::fault::Fault;
use super::pairs::defined;
use super::terms::{Side, Terms};
use crate::graph::{Body, ScopeId, tensor_type};
use crate::hash::HashMap;
use crate::wire::raw::type_proto;
use crate::wire::schema::ValueInfoProto;

/// Declarations that were added, or that changed otherwise than to the type that a moved cast gives a value. Others may be missing, with
/// their values.
pub(super) fn compare(terms: &Terms, scope: ScopeId, counterpart: ScopeId) -> Vec<Fault> {
    let (written, original) = (terms.pairs.written, terms.pairs.original);
    let known = original.body(counterpart).value_info();
    let known: HashMap<&str, &ValueInfoProto> = known.iter().map(|info| (info.name(), info)).collect();
    let body: Body = written.body(scope);
    let is_fault = |info: &&ValueInfoProto| match known.get(info.name()) {
        None => true,
        Some(expected) if expected == info => false,
        Some(expected) => {
            let dtype = info.r#type.as_ref().and_then(tensor_type);
            let term = defined(written, scope, info.name()).and_then(|value| terms.of(Side::Written, value));
            let has_type = dtype.is_some() && term.is_some_and(|term| terms.dtype(term) == dtype);
            !has_type || without_type(expected) != without_type(info)
        }
    };
    let fault = |info: &ValueInfoProto| {
        let path = format!("{}/{}", written.scope_path(scope), info.name());
        Fault::at(path, "the declared type was added or is not that of the original")
    };
    body.value_info().iter().filter(is_fault).map(fault).collect()
}

/// A declaration without the element type.
fn without_type(info: &ValueInfoProto) -> ValueInfoProto {
    let mut info = info.clone();
    if let Some(type_proto::Value::TensorType(tensor)) = info.r#type.as_mut().and_then(|stated| stated.value.as_mut()) {
        tensor.elem_type = None;
    }
    info
}
