//! Nodes in ONNX text that take the place of a node.

use crate::base::hash::HashMap;
use crate::graph::{FreshNames, Model, NodeId};
use crate::onnx_text;
use crate::ops::schemas;
use crate::protobuf::schema::NodeProto;

/// The nodes of a text, in which the inputs and outputs of the node have the names of its schema.
/// Other names become new ones. The node that computes the first output inherits name, doc string
/// and metadata.
pub(super) fn nodes(
    model: &Model,
    names: &mut FreshNames,
    id: NodeId,
    text: &str,
) -> Option<Vec<NodeProto>> {
    let node = model.node(id);
    let schema = schemas::schema("", node.op_type(), model.opset(id.scope, "")?)?;
    let inputs = node
        .input
        .iter()
        .enumerate()
        .filter_map(|(index, name)| Some((schema.input(index)?.name.to_owned(), name.clone())));
    let outputs =
        node.output.iter().enumerate().filter_map(|(index, name)| {
            Some((schema.output(index)?.name.to_owned(), name.clone()))
        });
    let mut becomes: HashMap<String, String> = inputs.chain(outputs).collect();
    let result = node.output.first()?;
    let text = format!("<ir_version: 10, opset_import: [\"\": 21]> g () => () {{ {text} }}");
    let parsed = onnx_text::parse(&text).ok()?;
    let mut nodes = parsed.graph.as_ref()?.node.clone();
    // An Identity gives a value another name.
    nodes.retain(|node| {
        let [Some(from), Some(to)] = [node.input.first(), node.output.first()] else {
            return true;
        };
        let names = [becomes.get(from).cloned(), becomes.get(to).cloned()];
        match (node.op_type(), names) {
            ("Identity", [Some(own), None]) => becomes.insert(to.clone(), own).is_some(),
            ("Identity", [None, Some(own)]) => becomes.insert(from.clone(), own).is_some(),
            _ => true,
        }
    });
    for new in &mut nodes {
        let is_last = new
            .output
            .iter()
            .any(|local| becomes.get(local) == Some(result));
        for name in new.output.iter_mut() {
            let fresh = becomes
                .entry(name.clone())
                .or_insert_with(|| names.fresh(&format!("{result}_{name}")));
            name.clone_from(fresh);
        }
        for name in new.input.iter_mut() {
            *name = becomes.get(name)?.clone();
        }
        if is_last {
            let mut own = node.clone();
            own.op_type = new.op_type.take();
            own.input = std::mem::take(&mut new.input);
            own.output = std::mem::take(&mut new.output);
            own.attribute = std::mem::take(&mut new.attribute);
            // They refer to inputs that the new node may not have.
            own.device_configurations.clear();
            *new = own;
        } else {
            new.name = new.output.first().cloned();
        }
    }
    Some(nodes)
}
