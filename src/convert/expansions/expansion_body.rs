//! The nodes of an expansion under their local names: parsed, validated, and without what the exact
//! passes would remove.
//!
//! Types, shapes and constants of the node are known here, so that an expansion need not
//! distinguish them: a cast to the type that a value has, a reshape to its own shape and the
//! arithmetic of known lengths disappear.

use prost::Message;

use super::consistency::{expect_consistent, is_small};
use super::{local_name, local_output_name};
use crate::base::hash::{HashMap, HashSet};
use crate::convert::bodies::graphs_mut;
use crate::convert::context::Context;
use crate::convert::make;
use crate::convert::simplify::{CheckOfPasses, simplified};
use crate::graph::{Model, Origin, ScopeId, ValueId};
use crate::onnx_text;
use crate::ops::inference::{Ints, Known, infer};
use crate::protobuf::schema::{GraphProto, NodeProto, TensorProto};
use crate::tensor::is_external;

/// The nodes of an expansion, and what is known of the values that they compute.
#[derive(Clone)]
pub(in crate::convert) struct Body {
    pub nodes: Vec<NodeProto>,
    pub known: Facts,
}

/// By name: what is known of a value.
pub(super) type Facts = HashMap<String, (Known, Option<Ints>)>;

/// Bodies by what they are made of: nodes that are alike have the same one.
pub(in crate::convert) struct ExpansionBodies {
    bodies: HashMap<BodySource, Result<Body, String>>,
    check: Option<CheckOfPasses>,
}

#[derive(PartialEq, Eq, Hash)]
struct BodySource {
    text: String,
    /// By local name: inputs with known values, encoded.
    constants: Vec<(String, Vec<u8>)>,
    /// By local name: what is known of the outputs.
    outputs: Vec<(String, Known)>,
    opset: i64,
    /// Whether the nodes stay as the text has them.
    is_final: bool,
}

impl ExpansionBodies {
    /// No bodies yet. Each will be checked, if there is a check.
    pub fn new(check: Option<CheckOfPasses>) -> ExpansionBodies {
        ExpansionBodies {
            bodies: HashMap::default(),
            check,
        }
    }

    /// The body of a text for the node of the context; as the text has it, if it is final.
    ///
    /// # Errors
    /// If the text does not parse, contradicts what is known of the node, or is not what the check
    /// expects.
    pub fn get(&mut self, cx: &Context, text: &str, is_final: bool) -> Result<Body, String> {
        let source = BodySource {
            is_final,
            ..BodySource::of(cx, text)
        };
        self.bodies
            .entry(source)
            .or_insert_with_key(|source| body(source, self.check))
            .clone()
    }
}

impl BodySource {
    fn of(cx: &Context, body: &str) -> BodySource {
        let (mut inputs, mut constants) = (Vec::new(), Vec::new());
        for index in (0..cx.node.input.len()).filter(|&index| cx.input(index).is_some()) {
            let Some(name) = local_name(cx, index) else {
                continue;
            };
            match constant(cx, index) {
                Some(mut tensor) => {
                    tensor.name = Some(name.clone());
                    constants.push((name, tensor.encode_to_vec()));
                }
                None => inputs.push(typed_name(&cx.known_input(index), &name)),
            }
        }
        let present = (0..cx.node.output.len()).filter(|&index| cx.has_output(index));
        let outputs = present
            .filter_map(|index| Some((local_output_name(cx, index)?, cx.known_output(index))));
        let outputs: Vec<(String, Known)> = outputs.collect();
        let names = outputs
            .iter()
            .map(|(name, _)| name.as_str())
            .collect::<Vec<_>>()
            .join(", ");
        let text = format!(
            "<ir_version: 10, opset_import: [\"\": {}]> e ({}) => ({names}) {{ {body} }}",
            cx.to,
            inputs.join(", ")
        );
        BodySource {
            text,
            constants,
            outputs,
            opset: cx.to,
            is_final: false,
        }
    }
}

/// The values of an input, if they are few and known.
fn constant(cx: &Context, index: usize) -> Option<TensorProto> {
    if let Ok(tensor) = cx.constant(index) {
        return Some(tensor).filter(|tensor| is_small(tensor) && !is_external(tensor));
    }
    let known = cx.known_input(index);
    let mut tensor = make::indices(known.dtype()?, &cx.read_ints(index).ok()?)?;
    tensor.dims = known.static_shape()?;
    Some(tensor).filter(is_small)
}

fn typed_name(known: &Known, name: &str) -> String {
    let Some(dtype) = known.dtype() else {
        return name.to_owned();
    };
    let dim = |dim: &Option<i64>| dim.map_or_else(|| "?".to_owned(), |size| size.to_string());
    let dims = match &known.shape {
        None => "[]".to_owned(),
        Some(shape) if shape.is_empty() => String::new(),
        Some(shape) => format!("[{}]", shape.iter().map(dim).collect::<Vec<_>>().join(",")),
    };
    format!("{}{dims} {name}", dtype.name().to_lowercase())
}

fn body(source: &BodySource, check: Option<CheckOfPasses>) -> Result<Body, String> {
    let mut proto = onnx_text::parse(&source.text).map_err(|error| error.to_string())?;
    if let Some(graph) = proto.graph.as_mut() {
        for (_, constant) in &source.constants {
            graph
                .initializer
                .push(TensorProto::decode(constant.as_slice()).map_err(|error| error.to_string())?);
        }
    }
    let model = Model::new(proto).map_err(|error| error.to_string())?;
    let inferred = infer(&model);
    expect_consistent(
        &model,
        &inferred,
        source.opset,
        source.outputs.iter().cloned(),
    )?;
    // Runtimes differ on tensors without elements: the expansions are written for all of them.
    let is_empty = |known: &Known| {
        known
            .shape
            .as_ref()
            .is_some_and(|shape| shape.contains(&Some(0)))
    };
    let is_given = |value: &ValueId| {
        matches!(
            model.origin(*value),
            Origin::Input(_) | Origin::Initializer { .. }
        )
    };
    let has_empty = model
        .values()
        .filter(is_given)
        .any(|value| is_empty(inferred.of(value)));
    let model = if has_empty || source.is_final {
        model
    } else {
        simplified(model, None, check)?
    };
    let given: HashSet<&str> = source
        .constants
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    let mut proto = model.into_proto();
    if let Some(graph) = proto.graph.as_mut() {
        constants_to_nodes(graph, &given);
    }
    let model = Model::new(proto).map_err(|error| error.to_string())?;
    let inferred = infer(&model);
    let facts = |value| {
        (
            model.name(value).to_owned(),
            (inferred.of(value).clone(), inferred.ints(value).cloned()),
        )
    };
    let nodes = model.nodes(ScopeId::MAIN).map(|id| model.node(id).clone());
    Ok(Body {
        nodes: nodes.collect(),
        known: model.values().map(facts).collect(),
    })
}

/// Makes initializers `Constant` nodes, in inner graphs too, except those with given names.
fn constants_to_nodes(graph: &mut GraphProto, given: &HashSet<&str>) {
    let (kept, others): (Vec<TensorProto>, _) = std::mem::take(&mut graph.initializer)
        .into_iter()
        .partition(|tensor| given.contains(tensor.name()));
    graph.initializer = kept;
    let constants = others.into_iter().map(|mut tensor| {
        let name = tensor.name.take().unwrap_or_default();
        make::constant_node(&name, tensor)
    });
    graph.node.splice(..0, constants);
    for inner in graph.node.iter_mut().flat_map(|node| graphs_mut(node)) {
        constants_to_nodes(inner, given);
    }
}
