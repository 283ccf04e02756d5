//! Whether a node is valid by its schema: the number of its inputs and outputs, its attributes, the
//! types, ranks and shapes of its inputs.
//!
//! Only what ONNX excludes is a fault, and of ranks and shapes only what both onnx.checker with
//! full check and onnxruntime 1.31 refuse to load. They do not look at functions without a call.
//! Subgraphs may be branches that are never taken, so that only types and fixed ranks count there.

mod bodies;
mod keywords;
mod operands;
mod operation;
mod ranks;
mod shapes;
mod types;

use super::inference::Inferred;
use super::schemas::{self, Schema};
use crate::graph::{Body, Model, NodeId, ScopeId};

pub use operands::{Fault, What, arity, attributes, count, inputs};
use operation::Operation;

/// How a node of a model contradicts its schema; `None` if it does not, if its operator is unknown,
/// or if it calls a function. `to` is the opset that the model is converted to, or its own: some
/// versions permit numbers that later ones do not.
#[must_use]
pub fn node_fault(model: &Model, inferred: &Inferred, id: NodeId, to: i64) -> Option<String> {
    let node = model.node(id);
    let schema = schema_of(model, id)?;
    let faults = arity(node, schema)
        .and_then(|()| operands::outputs(node, schema))
        .and_then(|()| attributes(node, schema))
        .and_then(|()| operands::one_of(node, schema));
    if let Err(fault) = faults {
        return Some(fault.text);
    }
    let root = model.root(id.scope);
    match model.body(root) {
        Body::Function(_) if !inferred.is_called(root) => None,
        Body::Function(_) => types::fault_in_calls(model, inferred, id, schema),
        Body::Graph(_) => {
            let operation = Operation::of(model, inferred, id, schema);
            let simple = keywords::fault(&operation)
                .or_else(|| types::fault(&operation))
                .or_else(|| types::declared_otherwise(model, inferred, id, schema))
                .or_else(|| bodies::fault(model, id))
                .or_else(|| ranks::fault(&operation));
            let has_shapes =
                id.scope == ScopeId::MAIN && schemas::canonical_domain(node.domain()).is_empty();
            simple.or_else(|| has_shapes.then(|| shapes::fault(&operation, to))?)
        }
    }
}

/// How the types, ranks and shapes of the inputs of a node contradict each other, wherever it is.
/// Types that the version does not support are not looked for.
#[must_use]
pub fn contradiction(model: &Model, inferred: &Inferred, id: NodeId, to: i64) -> Option<String> {
    let operation = Operation::of(model, inferred, id, schema_of(model, id)?);
    types::different(&operation)
        .or_else(|| ranks::fault(&operation))
        .or_else(|| shapes::fault(&operation, to))
}

/// The version of the operator of a node, unless it is deprecated.
fn schema_of(model: &Model, id: NodeId) -> Option<&'static Schema> {
    if model.callee(id).is_some() {
        return None;
    }
    let node = model.node(id);
    let opset = model.opset(id.scope, node.domain())?;
    schemas::schema(node.domain(), node.op_type(), opset).filter(|schema| !schema.deprecated)
}
