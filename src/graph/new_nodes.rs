//! The nodes that an edit inserts.
//!
//! They are encoded until they are inserted: a conversion may have one for each node of the model.

use std::borrow::Cow;
use std::collections::BTreeMap;

use prost::Message;

use super::scope::holds_graph;
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::protobuf::schema::{AttributeProto, NodeProto};
use crate::protobuf::{Spans, raw};

/// The nodes that replace a node. A batch of edits may have some for each node of the model, so
/// they are kept encoded, which takes about a tenth of the memory of the messages, unless they
/// contain tensors or graphs.
#[derive(Clone, Debug)]
pub struct NewNodes(Form);

#[derive(Clone, Debug)]
enum Form {
    /// A graph with these nodes and nothing else.
    Encoded(Box<[u8]>),
    Messages(Vec<NodeProto>),
}

impl NewNodes {
    /// The nodes, in order.
    #[must_use]
    pub(crate) fn get(&self) -> Cow<'_, [NodeProto]> {
        match &self.0 {
            Form::Encoded(bytes) => Cow::Owned(decode(bytes)),
            Form::Messages(nodes) => Cow::Borrowed(nodes),
        }
    }

    /// Whether the node is removed without a replacement.
    #[must_use]
    pub(crate) fn is_empty(&self) -> bool {
        match &self.0 {
            Form::Encoded(bytes) => bytes.is_empty(),
            Form::Messages(nodes) => nodes.is_empty(),
        }
    }

    /// The names of the outputs of all nodes, in UTF-8.
    pub(super) fn outputs(&self) -> Vec<&[u8]> {
        match &self.0 {
            Form::Encoded(bytes) => {
                let nodes = Spans::of(bytes).map(|node| &bytes[node.value]);
                let outputs = |node| {
                    Spans::of(node)
                        .filter(|field| field.tag == OUTPUT)
                        .map(move |field| &node[field.value])
                };
                nodes.flat_map(outputs).collect()
            }
            Form::Messages(nodes) => nodes
                .iter()
                .flat_map(|node| &node.output)
                .map(String::as_bytes)
                .collect(),
        }
    }

    /// Whether this is one node that uses and defines the same values, without tensors and graphs.
    pub(super) fn keeps_values_of(&self, old: &NodeProto) -> bool {
        let Form::Encoded(bytes) = &self.0 else {
            return false;
        };
        let mut nodes = Spans::of(bytes);
        let (Some(node), None) = (nodes.next(), nodes.next()) else {
            return false;
        };
        let node = &bytes[node.value];
        let has = |tag, names: &[String]| {
            let found = Spans::of(node)
                .filter(|field| field.tag == tag)
                .map(|field| &node[field.value]);
            found.eq(names.iter().map(String::as_bytes))
        };
        has(INPUT, &old.input) && has(OUTPUT, &old.output) && !holds_graph(old)
    }

    pub(super) fn into_messages(self) -> Vec<NodeProto> {
        match self.0 {
            Form::Encoded(bytes) => decode(&bytes),
            Form::Messages(nodes) => nodes,
        }
    }
}

/// The nodes with some of them replaced, in ascending order of their positions, and others inserted
/// before the node at a position. New nodes are decoded, and old ones freed, on all cores, some at
/// a time, which takes little memory.
pub(super) fn replace(
    nodes: Vec<NodeProto>,
    replacements: Vec<(u32, NewNodes)>,
    mut inserted: BTreeMap<u32, Vec<NodeProto>>,
) -> Vec<NodeProto> {
    let mut replaced = Vec::with_capacity(nodes.len() + inserted.len());
    let mut replacements = replacements.into_iter().peekable();
    let old = (0..).zip(nodes).map(|(position, node)| {
        let with = replacements.next_if(|(replaced, _)| *replaced == position);
        (inserted.remove(&position), node, with.map(|(_, with)| with))
    });
    let new = |_: &_, part: Vec<(Option<Vec<NodeProto>>, NodeProto, Option<NewNodes>)>| {
        let mut nodes = Vec::with_capacity(part.len());
        for (before, node, with) in part {
            nodes.extend(before.into_iter().flatten());
            match with {
                Some(with) => nodes.extend(with.into_messages()),
                None => nodes.push(node),
            }
        }
        nodes
    };
    parallel::map_in_batches(&mut replaced, old, PART.get(), new, Extend::extend);
    replaced.extend(inserted.into_values().flatten());
    replaced
}

/// The number of nodes per job of a thread.
const PART: Threshold = Threshold::new("part of replaced nodes", 512);

impl From<Vec<NodeProto>> for NewNodes {
    fn from(nodes: Vec<NodeProto>) -> NewNodes {
        if nodes.is_empty() || !nodes.iter().all(can_be_encoded) {
            return NewNodes(Form::Messages(nodes));
        }
        let graph = raw::GraphProto {
            node: nodes,
            ..Default::default()
        };
        NewNodes(Form::Encoded(graph.encode_to_vec().into_boxed_slice()))
    }
}

impl From<NodeProto> for NewNodes {
    fn from(node: NodeProto) -> NewNodes {
        vec![node].into()
    }
}

fn decode(bytes: &[u8]) -> Vec<NodeProto> {
    raw::GraphProto::decode(bytes)
        .expect("these bytes were encoded by us")
        .node
}

/// The numbers of the fields `input` and `output` of a node.
const INPUT: u32 = 1;
const OUTPUT: u32 = 2;

/// Whether decoding the encoded node results in the same messages, which are written with the same
/// bytes later on. Tensors and graphs may be large, and refer to data that is not in memory.
fn can_be_encoded(node: &NodeProto) -> bool {
    node.rest().is_empty()
        && node.device_configurations.is_empty()
        && node.is_canonical()
        && node
            .metadata_props
            .iter()
            .all(|entry| entry.rest().is_empty() && entry.is_canonical())
        && node.attribute.iter().all(is_plain)
}

fn is_plain(attribute: &AttributeProto) -> bool {
    attribute.rest().is_empty()
        && (attribute.t.is_none() && attribute.tensors.is_empty())
        && (attribute.g.is_none() && attribute.graphs.is_empty())
        && (attribute.tail().sparse_tensor.is_none() && attribute.tail().sparse_tensors.is_empty())
        && (attribute.tp.is_none() && attribute.type_protos.is_empty())
        && attribute.is_canonical()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protobuf::schema::{GraphProto, TensorProto, TypeProto};

    /// A node from a file: with a name, an input and an attribute whose fields are in this order.
    fn node_with(attribute: &[u8]) -> NodeProto {
        let mut node = b"\x0a\x01x\x12\x01y\x22\x04Relu\x2a".to_vec();
        node.push(attribute.len() as u8);
        node.extend(attribute);
        let mut graph = vec![0x0a, node.len() as u8];
        graph.extend(node);
        GraphProto::from_bytes(graph.into())
            .expect("a graph")
            .node
            .remove(0)
    }

    fn changed(mut node: NodeProto) -> NodeProto {
        node.name = Some("changed".to_owned());
        node
    }

    #[test]
    fn nodes_are_the_same_with_the_same_bytes() {
        let in_order: &[u8] = b"\x0a\x01a\x18\x05\xa0\x01\x02";
        let out_of_order: &[u8] = b"\xa0\x01\x02\x18\x05\x0a\x01a";
        let long_varint: &[u8] = b"\x0a\x01a\x18\x85\x00\xa0\x01\x02";
        let unknown_field: &[u8] = b"\x0a\x01a\x18\x05\xa0\x01\x02\xf8\x07\x01";
        let packed_list: &[u8] = b"\x0a\x01a\x42\x02\x01\x02\xa0\x01\x07";
        // One of these is enough.
        let holding = |hold: fn(&mut AttributeProto)| {
            let mut node = node_with(in_order);
            hold(&mut node.attribute[0]);
            node
        };
        let mut with_rare = node_with(in_order);
        with_rare.domain = Some("custom".to_owned());
        let cases = [
            ("unchanged", node_with(in_order), true),
            ("changed", changed(node_with(in_order)), true),
            ("a rare field", with_rare, true),
            (
                "unchanged, fields out of order",
                node_with(out_of_order),
                false,
            ),
            (
                "changed, fields out of order",
                changed(node_with(out_of_order)),
                false,
            ),
            (
                "changed, a long varint",
                changed(node_with(long_varint)),
                false,
            ),
            (
                "changed, an unknown field",
                changed(node_with(unknown_field)),
                false,
            ),
            (
                "changed, a packed list",
                changed(node_with(packed_list)),
                false,
            ),
            (
                "a tensor",
                holding(|held| held.t = Some(TensorProto::default())),
                false,
            ),
            (
                "tensors",
                holding(|held| held.tensors.push(TensorProto::default())),
                false,
            ),
            (
                "a graph",
                holding(|held| held.g = Some(GraphProto::default())),
                false,
            ),
            (
                "graphs",
                holding(|held| held.graphs.push(GraphProto::default())),
                false,
            ),
            (
                "a type",
                holding(|held| held.tp = Some(TypeProto::default())),
                false,
            ),
            (
                "types",
                holding(|held| held.type_protos.push(TypeProto::default())),
                false,
            ),
            ("no fields", NodeProto::default(), true),
        ];
        for (name, node, is_encoded) in cases {
            let new = NewNodes::from(node.clone());
            assert_eq!(matches!(new.0, Form::Encoded(_)), is_encoded, "{name}");
            assert_eq!(new.get()[0].encode_to_vec(), node.encode_to_vec(), "{name}");
            assert_eq!(
                new.outputs(),
                node.output.iter().map(String::as_bytes).collect::<Vec<_>>(),
                "{name}"
            );
            assert_eq!(new.into_messages(), [node], "{name}");
        }
        assert!(NewNodes::from(Vec::new()).is_empty());
    }

    #[test]
    fn a_node_keeps_values_if_it_has_the_same_inputs_and_outputs() {
        let old = node("x", "y", AttributeProto::default());
        let mut with_graph = old.clone();
        with_graph.attribute[0].g = Some(GraphProto::default());
        let mut with_tensor = old.clone();
        with_tensor.attribute[0].t = Some(TensorProto::default());
        let cases = [
            (
                "another attribute",
                vec![node("x", "y", int(5))],
                &old,
                true,
            ),
            ("another input", vec![node("z", "y", int(5))], &old, false),
            (
                "one more input",
                vec![with_input(node("x", "y", int(5)))],
                &old,
                false,
            ),
            ("another output", vec![node("x", "z", int(5))], &old, false),
            (
                "two nodes",
                vec![node("x", "y", int(5)), node("x", "y", int(5))],
                &old,
                false,
            ),
            ("no node", vec![], &old, false),
            ("a tensor", vec![with_tensor], &old, false),
            (
                "a graph that is removed",
                vec![node("x", "y", int(5))],
                &with_graph,
                false,
            ),
        ];
        for (name, new, old, expected) in cases {
            assert_eq!(NewNodes::from(new).keeps_values_of(old), expected, "{name}");
        }
    }

    fn node(input: &str, output: &str, attribute: AttributeProto) -> NodeProto {
        let (input, output) = (vec![input.to_owned()], vec![output.to_owned()]);
        raw::NodeProto {
            input,
            output,
            attribute: vec![attribute],
            ..Default::default()
        }
        .into()
    }

    fn with_input(mut node: NodeProto) -> NodeProto {
        node.input.push("more".to_owned());
        node
    }

    fn int(value: i64) -> AttributeProto {
        raw::AttributeProto {
            i: Some(value),
            ..Default::default()
        }
        .into()
    }
}
