//! Whether new nodes can compute what the node that they replace does: what is inferred of them
//! does not contradict itself, nor what is known of the node's inputs and outputs.
//!
//! A node that is not valid by itself may still lead to nodes that no runtime loads: its inputs
//! have a rank or a length that the operator forbids in words only.

use prost::Message;

use super::element_count;
use crate::base::hash::HashSet;
use crate::convert::context::NodeSource;
use crate::convert::make;
use crate::convert::reason::{NodeInvalid, Reason};
use crate::graph::{Model, ScopeId, ValueId};
use crate::ops::inference::{Inferred, Known, infer};
use crate::ops::validity::contradiction;
use crate::protobuf::raw;
use crate::protobuf::schema::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto};

/// The most elements of a constant that are looked at: axes, shapes, pads.
const MOST_ELEMENTS: i64 = 64;

/// Checks that no node of a body contradicts its inputs, and no output what is known of it. The
/// iterator gives names in the body.
///
/// # Errors
/// The first contradiction.
pub(super) fn expect_consistent(
    body: &Model,
    inferred: &Inferred,
    to: i64,
    outputs: impl Iterator<Item = (String, Known)>,
) -> Result<(), String> {
    for id in body.scopes().flat_map(|scope| body.nodes(scope)) {
        if let Some(fault) = contradiction(body, inferred, id, to) {
            return Err(format!(
                "its inputs contradict each other: {} that replaces it: {fault}",
                body.node(id).op_type()
            ));
        }
    }
    for (name, expected) in outputs {
        let Some(found) = body
            .lookup(ScopeId::MAIN, &name)
            .map(|value| inferred.of(value))
        else {
            continue;
        };
        // Declared lengths may be wrong, which only leads to a warning.
        let types = found
            .value_type
            .zip(expected.value_type)
            .is_some_and(|(found, expected)| found != expected);
        let ranks = found
            .rank()
            .zip(expected.rank())
            .is_some_and(|(found, expected)| found != expected);
        if types || ranks {
            return Err(format!("output '{name}' would have another type or rank"));
        }
    }
    Ok(())
}

/// Replacements that were found to be consistent, without their names: nodes that are alike have
/// like replacements, which are checked once.
#[derive(Default)]
pub(in crate::convert) struct CheckedReplacements(HashSet<Pattern>);

/// Nodes and constants that replace a node, in which numbers stand for names.
#[derive(PartialEq, Eq, Hash)]
struct Pattern {
    opset: i64,
    /// Operators, inputs, outputs and attributes.
    nodes: Vec<u8>,
    /// The facts known of each value of the replaced node, and its constant, encoded.
    values: Vec<(usize, Known, Option<Vec<u8>>)>,
    initializers: Vec<(usize, Vec<u8>)>,
}

impl Pattern {
    /// None if the nodes contain graphs, whose names would have to be numbered too.
    fn of(
        source: &NodeSource,
        nodes: &[NodeProto],
        initializers: &[TensorProto],
        opset: i64,
    ) -> Option<Pattern> {
        let mut encoded = Vec::new();
        // An omitted input has an empty name.
        let mut names = vec![""];
        for node in nodes {
            for word in [node.domain(), node.op_type()] {
                put_number(word.len(), &mut encoded);
                encoded.extend(word.as_bytes());
            }
            for list in [&node.input, &node.output] {
                put_number(list.len(), &mut encoded);
                list.iter()
                    .for_each(|name| put_number(number(name, &mut names), &mut encoded));
            }
            put_number(node.attribute.len(), &mut encoded);
            for attribute in &node.attribute {
                if attribute.g.is_some() || !attribute.graphs.is_empty() {
                    return None;
                }
                attribute.encode_length_delimited(&mut encoded).ok()?;
            }
        }
        let mut values: Vec<_> = source
            .values
            .iter()
            .map(|&(name, value)| {
                (
                    number(name, &mut names),
                    source.known(value).clone(),
                    constant(source, value).map(|tensor| unnamed(&tensor)),
                )
            })
            .collect();
        values.sort_unstable_by_key(|&(number, ..)| number);
        let initializers = initializers
            .iter()
            .map(|tensor| (number(tensor.name(), &mut names), unnamed(tensor)))
            .collect();
        Some(Pattern {
            opset,
            nodes: encoded,
            values,
            initializers,
        })
    }
}

fn put_number(number: usize, encoded: &mut Vec<u8>) {
    encoded.extend(number.to_le_bytes());
}

/// The number of a name: that of its first use.
fn number<'n>(name: &'n str, names: &mut Vec<&'n str>) -> usize {
    names
        .iter()
        .position(|&known| known == name)
        .unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        })
}

fn unnamed(tensor: &TensorProto) -> Vec<u8> {
    let mut tensor = tensor.clone();
    tensor.name = None;
    tensor.encode_to_vec()
}

/// A value that is a small constant: axes, shapes, pads.
fn constant(source: &NodeSource, value: ValueId) -> Option<TensorProto> {
    source
        .model
        .constant(value)
        .ok()
        .map(|constant| constant.tensor.into_owned())
        .filter(is_small)
}

/// Checks, like [`expect_consistent`], that the nodes that replace a node in an opset contradict
/// neither its inputs nor its outputs.
///
/// Three kinds of replacements are not checked. A single node is as valid as the replaced one. So
/// is a single node beside constants in a subgraph or function, where shapes are not considered. A
/// body of the node may use values of the graph around it.
pub(in crate::convert) fn expect_consistent_replacement(
    source: &NodeSource,
    nodes: &[NodeProto],
    initializers: &[TensorProto],
    to: i64,
    known: &mut CheckedReplacements,
) -> Result<(), Reason> {
    let computes = |node: &&NodeProto| node.op_type() != "Constant";
    let least = if source.id.scope == ScopeId::MAIN {
        1
    } else {
        2
    };
    let is_plain = nodes.len() + initializers.len() < 2
        || nodes.iter().filter(computes).take(least).count() < least;
    if is_plain || !source.bodies.is_empty() {
        return Ok(());
    }
    let pattern = Pattern::of(source, nodes, initializers, to);
    if pattern
        .as_ref()
        .is_some_and(|pattern| known.0.contains(pattern))
    {
        return Ok(());
    }
    let produced: HashSet<&str> = nodes
        .iter()
        .flat_map(|node| &node.output)
        .map(String::as_str)
        .collect();
    let mut graph = raw::GraphProto {
        node: nodes.to_vec(),
        initializer: initializers.to_vec(),
        ..raw::GraphProto::default()
    };
    for &(name, value) in &source.values {
        if produced.contains(name) {
            // Other nodes of the body may use it.
            graph
                .value_info
                .push(make::typed(name, source.known(value)));
            continue;
        }
        match constant(source, value) {
            Some(mut tensor) => {
                tensor.name = Some(name.to_owned());
                graph.initializer.push(tensor);
            }
            None => graph.input.push(make::typed(name, source.known(value))),
        }
    }
    let opset = OperatorSetIdProto::from(raw::OperatorSetIdProto {
        domain: Some(String::new()),
        version: Some(to),
    });
    let proto = ModelProto::from(raw::ModelProto {
        ir_version: Some(crate::protobuf::ir_version::LATEST),
        opset_import: vec![opset],
        graph: Some(GraphProto::from(graph)),
        ..raw::ModelProto::default()
    });
    let body = Model::new(proto).map_err(|error| Reason::new(NodeInvalid, error.to_string()))?;
    let outputs = source
        .values
        .iter()
        .filter(|(name, _)| produced.contains(name));
    let outputs = outputs.map(|&(name, value)| (name.to_owned(), source.known(value).clone()));
    expect_consistent(&body, &infer(&body), to, outputs)
        .map_err(|what| Reason::new(NodeInvalid, what))?;
    known.0.extend(pattern);
    Ok(())
}

pub(super) fn is_small(tensor: &TensorProto) -> bool {
    let elements = element_count(&tensor.dims);
    elements.is_some_and(|elements| elements <= MOST_ELEMENTS)
}
