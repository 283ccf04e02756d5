//! The part of a graph that a drawing shows: what is at most two steps from a place.

use std::collections::VecDeque;

use serde::Serialize;

use super::layout::{Point, arranged};
use super::places::Part;
use crate::base::hash::HashMap;
use crate::base::printable;
use crate::graph::{Model, NodeId, Origin, ValueId, domain_name};
use crate::ops::inference::{DimensionNames, Inferred};
use crate::tensor::Tensor;
use onnx_cast::DType;

/// The steps from the place to the farthest vertex.
const MOST_STEPS: usize = 2;
/// The vertices of a drawing.
const MOST_VERTICES: usize = 30;
/// The producers, and the consumers, that are added for one vertex.
const MOST_ON_A_SIDE: usize = 6;
/// Neighbours that are not shown are counted up to this number.
const MOST_COUNTED: usize = 1000;
/// The characters of a title.
const LONGEST_TITLE: usize = 500;
/// The characters of a line in a box.
const LONGEST_LINE: usize = 26;

/// The graph around a place, with coordinates in CSS pixels.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Drawing {
    /// Width and height.
    size: Point,
    vertices: Vec<Vertex>,
    edges: Vec<Edge>,
}

/// A box.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Vertex {
    kind: VertexKind,
    /// The upper left corner.
    at: Point,
    size: (u32, u32),
    /// The first line: the operator, or a name.
    label: String,
    /// The second line; may be empty.
    detail: String,
    /// The path of a node, or the name of a value.
    name: String,
    /// The neighbours that are not in the drawing.
    #[serde(skip_serializing_if = "is_zero")]
    hidden: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum VertexKind {
    /// The place itself.
    Here,
    Node,
    Constant,
    Input,
    Output,
    /// A name that nothing defines.
    Missing,
}

/// A value between two boxes.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Edge {
    /// Its name.
    value: String,
    /// Its type and shape, as far as they are known.
    #[serde(rename = "type")]
    value_type: String,
    points: Vec<Point>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// A vertex before it is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Around {
    Node(NodeId),
    Value(ValueId),
    /// A value as an output of a graph.
    Output(ValueId),
}

/// Draws the graph around a part of a model.
pub fn draw(model: &Model, inferred: &(Inferred, DimensionNames), part: Part) -> Drawing {
    let here = match part {
        Part::Node(node) => Around::Node(node),
        Part::Value(value) => Around::Value(value),
    };
    let around = neighbourhood(model, here);
    let positions: HashMap<Around, usize> = around
        .iter()
        .enumerate()
        .map(|(position, &vertex)| (vertex, position))
        .collect();
    let mut edges: Vec<((usize, usize), ValueId)> = Vec::new();
    for (to, &vertex) in around.iter().enumerate() {
        for (from, value) in producers(model, vertex) {
            if let Some(&from) = positions.get(&from)
                && !edges.iter().any(|(ends, _)| *ends == (from, to))
            {
                edges.push(((from, to), value));
            }
        }
    }
    let mut vertices: Vec<Vertex> = around
        .iter()
        .map(|&vertex| described(model, inferred, vertex, vertex == here))
        .collect();
    for (vertex, &of) in vertices.iter_mut().zip(&around) {
        let neighbours = producers(model, of)
            .map(|(from, _)| from)
            .chain(consumers(model, of));
        vertex.hidden = neighbours
            .take(MOST_COUNTED)
            .filter(|neighbour| !positions.contains_key(neighbour))
            .count();
    }
    let sizes: Vec<(u32, u32)> = vertices.iter().map(|vertex| vertex.size).collect();
    let ends: Vec<(usize, usize)> = edges.iter().map(|(ends, _)| *ends).collect();
    let arranged = arranged(&sizes, &ends);
    for (vertex, at) in vertices.iter_mut().zip(arranged.vertices) {
        vertex.at = at;
    }
    let edge = |((_, value), points): (((usize, usize), ValueId), Vec<Point>)| Edge {
        value: title(model.name(value)),
        value_type: type_of(model, inferred, value),
        points,
    };
    Drawing {
        size: arranged.size,
        vertices,
        edges: edges.into_iter().zip(arranged.edges).map(edge).collect(),
    }
}

/// The vertices around one, the nearest first.
fn neighbourhood(model: &Model, here: Around) -> Vec<Around> {
    let mut around = vec![here];
    let mut waiting = VecDeque::from([(here, 0)]);
    while let Some((vertex, steps)) = waiting.pop_front() {
        if steps == MOST_STEPS {
            continue;
        }
        let before = producers(model, vertex)
            .map(|(from, _)| from)
            .take(MOST_ON_A_SIDE);
        let after = consumers(model, vertex).take(MOST_ON_A_SIDE);
        for neighbour in before.chain(after) {
            if around.len() < MOST_VERTICES && !around.contains(&neighbour) {
                around.push(neighbour);
                waiting.push_back((neighbour, steps + 1));
            }
        }
    }
    around
}

/// The sources of the inputs of a vertex, in order.
fn producers(model: &Model, vertex: Around) -> impl Iterator<Item = (Around, ValueId)> {
    let mut values: Vec<(u32, ValueId)> = match vertex {
        Around::Node(node) => model.inputs(node).collect(),
        Around::Output(value) => vec![(0, value)],
        Around::Value(_) => Vec::new(),
    };
    values.sort_unstable();
    values.into_iter().map(|(_, value)| {
        (
            model
                .producer(value)
                .map_or(Around::Value(value), Around::Node),
            value,
        )
    })
}

/// The consumers of what a vertex produces, in order.
fn consumers(model: &Model, vertex: Around) -> impl Iterator<Item = Around> {
    let mut values: Vec<(u32, ValueId)> = match vertex {
        Around::Node(node) => model.outputs(node).collect(),
        Around::Value(value) => vec![(0, value)],
        Around::Output(_) => Vec::new(),
    };
    values.sort_unstable();
    values.into_iter().flat_map(|(_, value)| {
        let mut nodes: Vec<NodeId> = model
            .uses(value)
            .take(MOST_COUNTED)
            .map(|(node, _)| node)
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let outputs = model
            .scopes_that_output(value)
            .first()
            .map(|_| Around::Output(value));
        nodes.into_iter().map(Around::Node).chain(outputs)
    })
}

fn described(
    model: &Model,
    inferred: &(Inferred, DimensionNames),
    vertex: Around,
    is_here: bool,
) -> Vertex {
    let (kind, name, label, detail) = match vertex {
        Around::Node(node) => {
            let proto = model.node(node);
            let label = match domain_name(proto.domain()) {
                "ai.onnx" => proto.op_type().to_owned(),
                domain => format!("{domain}:{}", proto.op_type()),
            };
            let detail = if model.is_cast(node) {
                types_of_cast(model, inferred, node)
            } else {
                proto.name().to_owned()
            };
            (VertexKind::Node, model.node_path(node), label, detail)
        }
        Around::Value(value) | Around::Output(value) => {
            let kind = match model.origin(value) {
                _ if vertex == Around::Output(value) => VertexKind::Output,
                Origin::Initializer { .. } | Origin::SparseInitializer(_) => VertexKind::Constant,
                Origin::Missing => VertexKind::Missing,
                _ => VertexKind::Input,
            };
            (
                kind,
                model.name(value).to_owned(),
                model.name(value).to_owned(),
                type_of(model, inferred, value),
            )
        }
    };
    let (label, detail) = (line(&label), line(&detail));
    let longest = label.chars().count().max(detail.chars().count()) as u32;
    let size = (longest * 7 + 22, if detail.is_empty() { 28 } else { 44 });
    let name = title(&name);
    Vertex {
        kind: if is_here { VertexKind::Here } else { kind },
        at: (0, 0),
        size,
        label,
        detail,
        name,
        hidden: 0,
    }
}

fn types_of_cast(
    model: &Model,
    (inferred, _): &(Inferred, DimensionNames),
    node: NodeId,
) -> String {
    let dtype = |value: ValueId| {
        model
            .element_type(value)
            .or_else(|| inferred.of(value).dtype())
    };
    let [from, to] = [model.input(node, 0), model.output(node, 0)]
        .map(|value| value.and_then(dtype).map_or("?", DType::name));
    format!("{from} to {to}")
}

/// `FLOAT[2,batch,?]`, as far as it is known.
fn type_of(
    model: &Model,
    (inferred, names): &(Inferred, DimensionNames),
    value: ValueId,
) -> String {
    let name = |axis: usize| names.of(value).and_then(|names| names.get(axis)?.clone());
    let dim = |(axis, dim): (usize, Option<i64>)| {
        dim.map_or_else(
            || name(axis).unwrap_or_else(|| "?".to_owned()),
            |dim| dim.to_string(),
        )
    };
    let stored = model
        .initializer(value)
        .and_then(|tensor| Tensor::read(tensor).ok());
    let (dtype, dims): (Option<DType>, Option<Vec<String>>) = if let Some(tensor) = stored {
        (
            Some(tensor.dtype()),
            Some(tensor.dims().iter().map(i64::to_string).collect()),
        )
    } else {
        let known = inferred.of(value);
        let dims = known
            .shape
            .as_ref()
            .map(|shape| shape.iter().copied().enumerate().map(dim).collect());
        (model.element_type(value).or_else(|| known.dtype()), dims)
    };
    let dims = dims.map_or_else(String::new, |dims| format!("[{}]", dims.join(",")));
    dtype.map_or_else(String::new, |dtype| format!("{dtype}{dims}"))
}

/// A name that is not too long for a title: a drawing has many, and a name may have megabytes.
fn title(name: &str) -> String {
    match name.char_indices().nth(LONGEST_TITLE) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_owned(),
    }
}

/// Text that fits into a box: of a longer one, its end, in which names of one model differ most.
fn line(text: &str) -> String {
    let start: String = text.chars().rev().take(LONGEST_LINE * 2).collect();
    let text = printable::escaped(&if text.chars().nth(LONGEST_LINE).is_some() {
        start.chars().rev().collect()
    } else {
        text.to_owned()
    });
    let count = text.chars().count();
    if count <= LONGEST_LINE {
        return text;
    }
    let end: String = text.chars().skip(count - LONGEST_LINE + 1).collect();
    format!("…{end}")
}
