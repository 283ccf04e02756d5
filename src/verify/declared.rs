//! The declared types of values inside a graph or a function.

use super::fault::Fault;
use super::term::ModelSide;
use super::terms::Terms;
use crate::graph::{Body, ScopeId, tensor_type};
use crate::protobuf::raw::type_proto;
use crate::protobuf::schema::ValueInfoProto;

/// Compares the declarations of a scope, in order. Those of values that are no longer there are
/// gone, and a cast that moved may have changed the type of a value.
pub(super) fn compare(terms: &Terms, scope: ScopeId, counterpart: ScopeId) -> Vec<Fault> {
    let (written, original) = (terms.matching.written, terms.matching.original);
    let body: Body = written.body(scope);
    let is_kept = |name: &str| {
        written.defined(scope, name).is_some() || original.defined(counterpart, name).is_none()
    };
    let mut expected = original
        .body(counterpart)
        .value_info()
        .iter()
        .filter(|info| is_kept(info.name()))
        .peekable();
    let fault =
        |name: &str, what: &str| Fault::at(format!("{}/{name}", written.scope_path(scope)), what);
    let mut faults = Vec::new();
    for info in body.value_info() {
        match expected.next_if(|expected| expected.name() == info.name()) {
            Some(expected) if expected == info => {}
            Some(expected) => {
                let dtype = info.r#type.as_ref().and_then(tensor_type);
                let term = written
                    .defined(scope, info.name())
                    .and_then(|value| terms.of(ModelSide::Written, value));
                let has_type =
                    dtype.is_some() && term.is_some_and(|term| terms.dtype(term) == dtype);
                if !has_type || without_type(expected) != without_type(info) {
                    faults.push(fault(
                        info.name(),
                        "the declared type is not that of the original",
                    ));
                }
            }
            None => faults.push(fault(
                info.name(),
                "the declared type was added, or is at another place in the list",
            )),
        }
    }
    faults.extend(expected.map(|info| {
        fault(
            info.name(),
            "the declared type was removed, or is at another place in the list",
        )
    }));
    faults
}

/// A declaration without the element type.
fn without_type(info: &ValueInfoProto) -> ValueInfoProto {
    let mut info = info.clone();
    if let Some(type_proto::Value::TensorType(tensor)) = info
        .r#type
        .as_mut()
        .and_then(|stated| stated.value.as_mut())
    {
        tensor.elem_type = None;
    }
    info
}
