//! The message of a node, for lookups of kernels.

use crate::base::hash::HashSet;
use crate::ops::inference::Known;
use crate::protobuf::schema::{AttributeProto, GraphProto, NodeProto, ValueInfoProto};
use onnx_operators::kernels::{AttributeValue, Node};

/// The doc string of a node that a guard contains, before the name of the runtime: it is right there
/// in spite of what the facts say of such nodes.
pub const GUARDED: &str = "recast: guarded for ";

impl Node for NodeProto {
    fn domain(&self) -> &str {
        (**self).domain()
    }

    fn operator(&self) -> &str {
        self.op_type()
    }

    fn inputs(&self) -> Vec<usize> {
        present(&self.input)
    }

    fn outputs(&self) -> Vec<usize> {
        present(&self.output)
    }

    fn attribute(&self, name: &str) -> Option<AttributeValue<'_>> {
        let mut attributes = self.attribute.iter();
        let attribute = attributes.find(|attribute| attribute.name() == name)?;
        let text = || {
            attribute
                .s
                .as_ref()
                .map(|text| String::from_utf8_lossy(text))
        };
        Some(match attribute.i {
            Some(number) => AttributeValue::Int(number),
            None if !attribute.ints.is_empty() => AttributeValue::Ints(&attribute.ints),
            None if !attribute.strings.is_empty() => {
                let texts = attribute.strings.iter();
                AttributeValue::Strings(texts.map(|text| String::from_utf8_lossy(text)).collect())
            }
            None => text().map_or(AttributeValue::Other, AttributeValue::String),
        })
    }

    fn captures(&self) -> bool {
        let bodies = self.attribute.iter().flat_map(bodies_of);
        bodies.into_iter().any(reads_outer_values)
    }

    fn has_branches_of_other_ranks(&self) -> bool {
        if self.op_type() != "If" {
            return false;
        }
        let branches: Vec<_> = self.attribute.iter().flat_map(bodies_of).collect();
        let &[first, second] = branches.as_slice() else {
            return false;
        };
        let mut results = first.output.iter().zip(&second.output);
        results.any(|(first, second)| {
            let ranks = declared_rank(first).zip(declared_rank(second));
            ranks.is_some_and(|(first, second)| first != second)
        })
    }

    fn is_guarded(&self, runtime: &str) -> bool {
        guards(self).any(|guarded| guarded == runtime.as_bytes())
    }
}

/// Whether a guard for some runtime contains a node.
#[must_use]
pub fn is_guarded(node: &NodeProto) -> bool {
    guards(node).next().is_some()
}

/// The runtimes for which guards contain a node.
fn guards(node: &NodeProto) -> impl Iterator<Item = &[u8]> {
    let lines = node.doc_string().split(|&byte| byte == b'\n');
    lines.filter_map(|line| line.strip_prefix(GUARDED.as_bytes()))
}

fn declared_rank(value: &ValueInfoProto) -> Option<usize> {
    let known = Known::of_type(value.r#type.as_ref()?);
    known.shape.map(|shape| shape.len())
}

fn bodies_of(attribute: &AttributeProto) -> impl Iterator<Item = &GraphProto> {
    attribute.g.iter().chain(&attribute.graphs)
}

/// Whether a node in a body, or in the bodies inside, reads a value that none of them has.
fn reads_outer_values(body: &GraphProto) -> bool {
    let (mut known, mut read) = (HashSet::<&str>::default(), HashSet::<&str>::default());
    let mut graphs = vec![body];
    while let Some(graph) = graphs.pop() {
        known.extend(graph.input.iter().map(|input| input.name()));
        known.extend(graph.initializer.iter().map(|tensor| tensor.name()));
        read.extend(graph.output.iter().map(|output| output.name()));
        for node in &graph.node {
            known.extend(node.output.iter().map(String::as_str));
            read.extend(node.input.iter().map(String::as_str));
            graphs.extend(node.attribute.iter().flat_map(bodies_of));
        }
    }
    read.into_iter()
        .any(|name| !name.is_empty() && !known.contains(name))
}

/// The indices of names that are not empty.
fn present(names: &[String]) -> Vec<usize> {
    (0..names.len())
        .filter(|&index| !names[index].is_empty())
        .collect()
}
