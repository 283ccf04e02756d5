//! Nodes without the names of their inputs and outputs, which passes change.

use prost::Message as _;

use crate::graph::holds_graph;
use crate::protobuf::schema::NodeProto;

/// Whether a node has neither graphs nor a tensor, which may be large: nothing that moves has one.
pub(super) fn is_small(node: &NodeProto) -> bool {
    !holds_graph(node) && node.attribute.iter().all(|attribute| attribute.t.is_none())
}

/// A node without the names of its inputs and outputs.
pub(super) fn moved_form(node: &NodeProto) -> Vec<u8> {
    let mut node = node.clone();
    let marks = |names: &mut Vec<String>| {
        names
            .iter_mut()
            .filter(|name| !name.is_empty())
            .for_each(|name| *name = "_".to_owned())
    };
    marks(&mut node.input);
    marks(&mut node.output);
    node.device_configurations
        .iter_mut()
        .flat_map(|devices| &mut devices.sharding_spec)
        .for_each(|spec| spec.tensor_name = None);
    node.encode_to_vec()
}

/// The forms of the constants in place of a node: of several, only the first has its name.
pub(super) fn constant_forms(node: &NodeProto) -> Vec<Vec<u8>> {
    let mut nameless = node.clone();
    nameless.name = None;
    let forms = [node, &nameless].into_iter().take(node.output.len().min(2));
    forms.map(constant_form).collect()
}

/// A node without what a `Constant` in its place has not.
pub(super) fn constant_form(node: &NodeProto) -> Vec<u8> {
    let mut node = node.clone();
    node.op_type = Some("Constant".to_owned());
    (node.input, node.output, node.attribute) = Default::default();
    node.device_configurations
        .iter_mut()
        .flat_map(|devices| &mut devices.sharding_spec)
        .for_each(|spec| spec.tensor_name = None);
    node.encode_to_vec()
}
