//! The attributes `saturate` and `round_mode`: the nodes that may have them, and findings and edits
//! of one attribute of one node.

use crate::graph::{Edit, Model, NodeId};
use crate::lint::{Finding, Subject};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

/// The first opset whose casts and quantizations have `saturate`.
pub(super) const SATURATE_SINCE: i64 = 19;
/// The first opset whose casts have `round_mode`.
pub(super) const ROUND_MODE_SINCE: i64 = 24;

/// Every node that may have `saturate`, casts first: the node, its opset, the type of its result,
/// and the stated value.
pub(super) fn saturating(
    subject: &Subject,
) -> impl Iterator<Item = (NodeId, i64, DType, Option<bool>)> {
    let casts = subject
        .casts()
        .map(|cast| (cast.node, cast.opset, cast.to, cast.saturate));
    let quantizers = subject.quantizers().map(|quantize| {
        (
            quantize.node,
            quantize.opset,
            quantize.to,
            quantize.saturate,
        )
    });
    casts.chain(quantizers)
}

/// A finding that a node does not state `saturate`; the fix adds it.
pub(super) fn missing_saturate(model: &Model, node: NodeId, what: &str) -> Finding {
    Finding::at_node(node, format!("the {what} does not state `saturate`")).with_safe_fix(
        "add `saturate = 1`",
        vec![add(model, node, AttributeProto::int("saturate", 1))],
    )
}

/// A finding that an attribute has no effect on the result of a node; the fix removes it.
pub(super) fn ineffective(model: &Model, node: NodeId, name: &str, to: DType) -> Finding {
    Finding::at_node(
        node,
        format!("`{name}` has no effect on a result of type {to}"),
    )
    .with_safe_fix(
        format!("remove `{name}`"),
        vec![remove_attribute(model, node, name)],
    )
}

/// Removes an attribute.
pub(super) fn remove_attribute(model: &Model, node: NodeId, name: &str) -> Edit {
    let mut changed = model.node(node).clone();
    changed
        .attribute
        .retain(|attribute| attribute.name() != name);
    Edit::replace_node(node, changed)
}

/// Adds an attribute.
pub(super) fn add(model: &Model, node: NodeId, attribute: AttributeProto) -> Edit {
    let mut changed = model.node(node).clone();
    changed.attribute.push(attribute);
    Edit::replace_node(node, changed)
}
