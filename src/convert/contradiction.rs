//! Nodes that contradict the inputs and initializers of the main graph, or their own bodies.
//!
//! Nothing is inferred, and no `value_info` is trusted, whose shapes exporters write wrongly. Only what both onnx.checker with full check
//! and onnxruntime 1.31 refuse to load may be refused here.

use crate::error::Invalid;
use crate::facts::infer::Known;
use crate::facts::{Schema, ValueType};
use crate::graph::{Attribute, Model, NodeId, Origin, ScopeId, ValueId};
use crate::wire::schema::GraphProto;

/// Operators whose `axis` counts the axes of the first input, and the first opset in which both refuse any other number.
const AXIS: &[(&str, i64)] = &[
    ("ArgMax", 11),
    ("ArgMin", 11),
    ("Compress", 11),
    ("Concat", 11),
    ("Gather", 1),
    ("Hardmax", 11),
    ("LogSoftmax", 11),
    ("Softmax", 11),
    ("Split", 2),
    ("SplitToSequence", 11),
    ("TopK", 1),
];

/// Checks a node of a graph that is to be converted to an opset.
pub(super) fn check(model: &Model, id: NodeId, schema: &'static Schema, to: i64) -> Result<(), Invalid> {
    let found = types(model, id, schema).or_else(|| match schema.name {
        "If" | "Loop" => bodies(model, id),
        _ => ranks(model, id, to.max(schema.since_version)),
    });
    found.map_or(Ok(()), |what| Err(Invalid::at(model.node_place(id), what)))
}

/// Whether a value is an input or initializer of the main graph.
fn is_stated(model: &Model, value: ValueId) -> bool {
    model.scope_of(value) == ScopeId::MAIN && matches!(model.origin(value), Origin::Input(_) | Origin::Initializer { .. })
}

/// What an input or initializer of the main graph states about itself.
fn stated(model: &Model, value: ValueId) -> Option<Known> {
    if !is_stated(model, value) {
        return None;
    }
    match model.origin(value) {
        Origin::Initializer { input: None, .. } => model.initializer(value).map(Known::of_tensor),
        _ => model.declared(value).and_then(|info| info.r#type.as_ref()).map(Known::of_type),
    }
}

/// A type variable stands for one type, and an output of the main graph has the type that the node gives it.
fn types(model: &Model, id: NodeId, schema: &'static Schema) -> Option<String> {
    // Most nodes have nothing that could differ.
    let is_output = |value: ValueId| model.output_of(value).contains(&ScopeId::MAIN);
    let facts =
        (0..model.node(id).input.len() as u32).filter_map(|index| model.input(id, index)).filter(|&value| is_stated(model, value));
    if facts.count() < 2 && !model.outputs(id).any(|(_, value)| is_output(value)) {
        return None;
    }
    let mut bound: Vec<(&str, ValueType, ValueId)> = Vec::new();
    let inputs = (0..model.node(id).input.len() as u32).filter_map(|index| Some((index, model.input(id, index)?)));
    for (index, value) in inputs {
        let Some(formal) = schema.input(index as usize).filter(|formal| formal.is_homogeneous()) else { continue };
        let Some(found) = stated(model, value).and_then(|known| known.value_type) else { continue };
        match bound.iter().find(|(variable, ..)| *variable == formal.type_name) {
            Some(&(_, other, first)) if other != found => {
                let (first, name) = (model.name(first), model.name(value));
                return Some(format!("{schema} requires the same type for '{first}' and '{name}', which are {other} and {found}"));
            }
            Some(_) => {}
            None => bound.push((formal.type_name, found, value)),
        }
    }
    model.outputs(id).find_map(|(index, value)| {
        let formal = schema.output(index as usize).filter(|formal| formal.is_homogeneous())?;
        let given = bound.iter().find(|(variable, ..)| *variable == formal.type_name).map(|&(_, given, _)| given);
        let given = formal.fixed_type().or(given)?;
        let info = model.declared(value).filter(|_| is_output(value))?;
        let declared = Known::of_type(info.r#type.as_ref()?).value_type.filter(|&declared| declared != given)?;
        Some(format!("output '{}' is declared {declared}, but {schema} gives {given}", model.name(value)))
    })
}

/// A body of a Loop takes the number of the iteration, the condition and what the node carries; a branch of an If takes nothing.
fn bodies(model: &Model, id: NodeId) -> Option<String> {
    let node = model.node(id);
    let expected = match (node.op_type(), node.input.len()) {
        ("Loop", 0 | 1) => return None,
        ("Loop", inputs) => inputs,
        _ => 0,
    };
    let is_initialized = |body: &GraphProto, name: &str| body.initializer.iter().any(|tensor| tensor.name() == name);
    let wrong = |body: &GraphProto| {
        let inputs = body.input.iter().filter(|input| !is_initialized(body, input.name())).count();
        (inputs != expected).then_some(inputs)
    };
    node.attribute.iter().find_map(|attribute| {
        let inputs = wrong(attribute.g.as_ref()?)?;
        Some(format!("the number of inputs of `{}` is {inputs}, not {expected}", attribute.name()))
    })
}

/// What the rank of the first input contradicts.
fn ranks(model: &Model, id: NodeId, opset: i64) -> Option<String> {
    let first = model.input(id, 0).filter(|&value| is_stated(model, value))?;
    let rank = || stated(model, first)?.rank();
    match model.node(id).op_type() {
        "Transpose" => permutation(model, id, rank()?),
        "Conv" | "ConvTranspose" => weights(model, id, rank()?),
        op => AXIS.iter().any(|&(name, since)| name == op && since <= opset).then(|| axis(model, id, rank()?))?,
    }
}

fn permutation(model: &Model, id: NodeId, rank: usize) -> Option<String> {
    let Attribute::Is(perm) = model.attribute(id, "perm") else { return None };
    let is_axis = |axis: &i64| usize::try_from(*axis).is_ok_and(|axis| axis < rank);
    let mut distinct = perm.ints.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let is_wrong = distinct.len() != perm.ints.len() || !distinct.iter().all(is_axis);
    is_wrong.then(|| format!("`perm` = {:?} is not a permutation of {rank} axes", perm.ints))
}

fn weights(model: &Model, id: NodeId, rank: usize) -> Option<String> {
    let [x, w] = [model.input(id, 0)?, model.input(id, 1)?];
    let other = stated(model, w)?.rank().filter(|&other| other != rank)?;
    Some(format!("input '{}' has rank {rank}, but '{}' has rank {other}", model.name(x), model.name(w)))
}

fn axis(model: &Model, id: NodeId, rank: usize) -> Option<String> {
    let Attribute::Is(axis) = model.attribute(id, "axis") else { return None };
    let rank = rank as i64;
    (!(-rank..rank).contains(&axis.i())).then(|| format!("`axis` = {} is out of range for rank {rank}", axis.i()))
}
