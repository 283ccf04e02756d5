//! The attributes `saturate` and `round_mode`: the nodes that may have them, and findings and edits of one attribute of one node.

use crate::elements::dtype::DType;
use crate::graph::{Edit, Model, NodeId};
use crate::lint::{Finding, Subject};
use crate::protobuf::raw::AttributeProto;
use crate::protobuf::raw::attribute_proto::AttributeType;

/// The first opset whose casts and quantizations have `saturate`.
pub(super) const SATURATE_SINCE: i64 = 19;
/// The first opset whose casts have `round_mode`.
pub(super) const ROUND_MODE_SINCE: i64 = 24;

/// Every node that may have `saturate`, casts first: the node, its opset, the type of its result, and the stated value.
pub(super) fn saturating(subject: &Subject) -> impl Iterator<Item = (NodeId, i64, DType, Option<bool>)> {
    let casts = subject.casts().map(|cast| (cast.node, cast.opset, cast.to, cast.saturate));
    let quantizers = subject.quantizers().map(|quantize| (quantize.node, quantize.opset, quantize.to, quantize.saturate));
    casts.chain(quantizers)
}

/// A finding that a node does not state `saturate`; the fix adds it.
pub(super) fn missing_saturate(model: &Model, node: NodeId, what: &str) -> Finding {
    let attribute = AttributeProto { r#type: Some(AttributeType::Int.into()), i: Some(1), ..named("saturate") };
    Finding::at_node(node, format!("the {what} does not state `saturate`"))
        .with_safe_fix("add `saturate = 1`", vec![add(model, node, attribute)])
}

/// A finding that an attribute has no effect on the result of a node; the fix removes it.
pub(super) fn ineffective(model: &Model, node: NodeId, name: &str, to: DType) -> Finding {
    Finding::at_node(node, format!("`{name}` has no effect on a result of type {to}"))
        .with_safe_fix(format!("remove `{name}`"), vec![remove_attribute(model, node, name)])
}

/// Adds a string attribute that a node does not have.
pub(super) fn add_string(model: &Model, node: NodeId, name: &str, value: &str) -> Edit {
    let value = value.as_bytes().to_vec().into();
    add(model, node, AttributeProto { r#type: Some(AttributeType::String.into()), s: Some(value), ..named(name) })
}

/// Removes an attribute.
pub(super) fn remove_attribute(model: &Model, node: NodeId, name: &str) -> Edit {
    let mut changed = model.node(node).clone();
    changed.attribute.retain(|attribute| attribute.name() != name);
    Edit::replace_node(node, changed)
}

fn named(name: &str) -> AttributeProto {
    AttributeProto { name: Some(name.to_owned()), ..AttributeProto::default() }
}

fn add(model: &Model, node: NodeId, attribute: AttributeProto) -> Edit {
    let mut changed = model.node(node).clone();
    changed.attribute.push(attribute.into());
    Edit::replace_node(node, changed)
}
