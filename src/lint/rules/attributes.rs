//! The attributes `saturate` and `round_mode`: the nodes that may have them, and edits of one attribute of one node.

use crate::elements::dtype::DType;
use crate::graph::{Edit, Model, NodeId};
use crate::lint::Subject;
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

/// Adds an integer attribute that a node does not have.
pub(super) fn add_int(model: &Model, node: NodeId, name: &str, value: i64) -> Edit {
    add(model, node, AttributeProto { r#type: Some(AttributeType::Int.into()), i: Some(value), ..named(name) })
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
