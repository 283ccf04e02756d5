//! Summarizes a model: opsets, operators, casts, initializers, functions. Weights are not read.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt;

use serde::Serialize;

use super::counts::{graphs, result_type};
use super::runtimes::{DifferingNode, LackingVersions, RuntimeVersions, Runtimes, runtimes};
use crate::base::error::Invalid;
use crate::base::hash::HashMap;
use crate::graph::{Body, Model, NodeId, ScopeId, ScopeKind, UnclearCast, ValueId, domain_name};
use crate::ops::inference::{DimensionNames, Inferred, Known, infer, infer_with_names};
use crate::protobuf::raw::{tensor_shape_proto, type_proto};
use crate::protobuf::schema::{TensorProto, TypeProto, ValueInfoProto};
use crate::tensor::{Reference, Tensor, is_external};
use onnx_cast::RoundMode;

/// The summary of a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Inspection {
    /// The inputs of the main graph, in order.
    pub inputs: Vec<InterfaceFacts>,
    /// The outputs of the main graph, in order.
    pub outputs: Vec<InterfaceFacts>,
    /// `ir_version`.
    pub ir_version: i64,
    /// The imported opset versions by domain.
    pub opsets: BTreeMap<String, i64>,
    /// Name and version of the producer.
    pub producer: String,
    /// The number of nodes in all scopes.
    pub nodes: usize,
    /// The number of nodes in all scopes by operator, qualified with its domain unless that is
    /// `ai.onnx`.
    pub ops: BTreeMap<String, usize>,
    /// Every `Cast` and `CastLike`.
    pub casts: Vec<CastFacts>,
    /// The initializers of all graphs.
    pub initializers: Initializers,
    /// The model-local functions.
    pub functions: Vec<FunctionFacts>,
    /// The data files referenced by tensors.
    pub external_data: Vec<String>,
    /// The runtimes that run the model, and those that load a model of this opset and IR version
    /// and whose kernels are not known.
    pub targets: Vec<RuntimeVersions>,
    /// The nodes for which runtimes that run the model compute something else than ONNX defines.
    pub(crate) differing: Vec<DifferingNode>,
    /// The versions of runtimes with known kernels that do not run the model, and why.
    pub(crate) lacking: Vec<LackingVersions>,
    /// The number of nodes whose kernels are not known, because their types or the operators of
    /// their domain are not; they count as run.
    pub(crate) undecided_nodes: usize,
}

/// An input or output of the main graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct InterfaceFacts {
    /// Its name.
    pub name: String,
    /// Its type and shape, as far as the model states them or they can be inferred.
    #[serde(flatten)]
    pub type_and_shape: TypeAndShape,
    /// Whether an initializer is its default.
    pub has_default: bool,
}

/// One cast.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CastFacts {
    /// Its path.
    pub node: String,
    /// Its scope's path.
    pub scope: String,
    /// The input type, if the model states it or it can be inferred.
    pub from: Option<&'static str>,
    /// The output type, if the model states it or it can be inferred.
    pub to: Option<&'static str>,
    /// `saturate`, if set explicitly.
    pub saturate: Option<bool>,
    /// `round_mode`, if set explicitly.
    pub round_mode: Option<&'static str>,
    /// Whether its input is a constant, or becomes one when the casts that produce it are folded.
    pub constant: bool,
}

/// The initializers of all graphs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Initializers {
    /// How many.
    pub count: usize,
    /// The bytes of their values, wherever they are.
    pub bytes: u64,
    /// By element type.
    pub by_type: BTreeMap<&'static str, TypeFacts>,
}

/// The initializers of one type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TypeFacts {
    /// How many.
    pub count: usize,
    /// The bytes of their values.
    pub bytes: u64,
}

/// A model-local function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FunctionFacts {
    /// Domain, name and overload: `my.domain:Fn`.
    pub name: String,
    /// The number of nodes in its body.
    pub nodes: usize,
    /// The number of nodes that call it.
    pub callers: usize,
}

/// The type and shape of a value, as far as the model states them or they can be inferred.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ValueFacts {
    /// The path of the scope that defines it.
    pub scope: String,
    /// Its name.
    pub value: String,
    /// Its type and shape, as far as the model states them or they can be inferred.
    #[serde(flatten)]
    pub type_and_shape: TypeAndShape,
    /// Left out unless the model declares something else than what is stored or follows from the
    /// node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<ContradictionFacts>,
}

/// A declaration that is wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ContradictionFacts {
    /// The type and shape that the model declares.
    pub declared: TypeAndShape,
    /// The type and shape that are stored, or that follow from the node.
    pub found: TypeAndShape,
}

/// A type and a shape, as far as they are known.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TypeAndShape {
    /// The type in ONNX's notation: `tensor(float)`.
    #[serde(rename = "type")]
    pub value_type: Option<String>,
    /// The dimensions of a tensor, of which some may be unknown; none if the rank is unknown.
    pub shape: Option<Vec<Option<i64>>>,
    /// The names of dimensions that are unknown: equal names have equal lengths. Left out if no
    /// dimension has a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dim_names: Option<Vec<Option<String>>>,
}

/// As ONNX text writes them: `tensor(float)[batch,3]`. What is not known is `?`.
impl fmt::Display for TypeAndShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.value_type.as_deref().unwrap_or("?"))?;
        let Some(shape) = &self.shape else {
            return Ok(());
        };
        let name = |axis: usize| self.dim_names.as_ref()?.get(axis)?.clone();
        let dims = shape.iter().enumerate().map(|(axis, dim)| match dim {
            Some(dim) => dim.to_string(),
            None => name(axis).unwrap_or_else(|| "?".to_owned()),
        });
        write!(f, "[{}]", dims.collect::<Vec<_>>().join(","))
    }
}

/// The types and shapes of all values, in document order.
#[must_use]
pub(crate) fn types(model: &Model) -> Vec<ValueFacts> {
    let (inferred, names) = infer_with_names(model);
    let mut contradictions = inferred.contradictions().iter().peekable();
    let facts = model.values().map(|value| {
        let contradiction = contradictions.next_if(|contradiction| contradiction.value == value);
        ValueFacts {
            scope: model.scope_path(model.scope_of(value)),
            value: model.name(value).to_owned(),
            type_and_shape: TypeAndShape {
                dim_names: names.of(value).map(<[_]>::to_vec),
                ..type_and_shape(inferred.of(value))
            },
            contradiction: contradiction.map(|contradiction| ContradictionFacts {
                declared: type_and_shape(&contradiction.declared),
                found: type_and_shape(&contradiction.found),
            }),
        }
    });
    facts.collect()
}

fn type_and_shape(known: &Known) -> TypeAndShape {
    TypeAndShape {
        value_type: known.value_type.map(|value_type| value_type.to_string()),
        shape: known.shape.clone(),
        dim_names: None,
    }
}

/// Summarizes a model. Invalid casts are returned separately.
#[must_use]
pub(crate) fn inspect(model: &Model) -> (Inspection, Vec<Invalid>) {
    let proto = model.proto();
    let imports = proto
        .opset_import
        .iter()
        .map(|import| (domain_name(import.domain()).to_owned(), import.version()));
    let nodes = || model.scopes().flat_map(|scope| model.nodes(scope));
    let mut counts: HashMap<(&str, &str), usize> = HashMap::default();
    for node in nodes().map(|node| model.node(node)) {
        *counts
            .entry((domain_name(node.domain()), node.op_type()))
            .or_default() += 1;
    }
    let mut ops = BTreeMap::new();
    #[expect(clippy::iter_over_hash_type, reason = "sums in a sorted table")]
    for ((domain, op), count) in counts {
        let name = if domain == "ai.onnx" {
            op.to_owned()
        } else {
            format!("{domain}:{op}")
        };
        *ops.entry(name).or_default() += count;
    }
    let (casts, faults) = casts(model);
    let inferred = LazyCell::new(|| infer_with_names(model));
    let [inputs, outputs] = interface(model, || &inferred);
    let Runtimes {
        targets,
        differing,
        lacking,
        undecided,
    } = runtimes(model, &inferred.0);
    let inspection = Inspection {
        inputs,
        outputs,
        ir_version: model.ir_version(),
        opsets: imports.collect(),
        producer: [proto.producer_name(), proto.producer_version()]
            .join(" ")
            .trim()
            .to_owned(),
        nodes: nodes().count(),
        ops,
        casts,
        initializers: initializers(model),
        functions: functions(model),
        external_data: external_files(model),
        targets,
        differing,
        lacking,
        undecided_nodes: undecided,
    };
    (inspection, faults)
}

/// The inputs and the outputs of the main graph. What the model does not declare is inferred.
fn interface<'i>(
    model: &Model,
    inferred: impl Fn() -> &'i (Inferred, DimensionNames),
) -> [Vec<InterfaceFacts>; 2] {
    let Body::Graph(graph) = model.body(ScopeId::MAIN) else {
        return [Vec::new(), Vec::new()];
    };
    [&graph.input, &graph.output].map(|values| {
        let facts = |info: &ValueInfoProto| {
            let value = model.lookup(ScopeId::MAIN, info.name());
            let declared = info.r#type.as_ref().map(Known::of_type).unwrap_or_default();
            let is_declared = declared.value_type.is_some() && declared.shape.is_some();
            let (known, dim_names) = match value.filter(|_| !is_declared) {
                None => (
                    type_and_shape(&declared),
                    info.r#type.as_ref().and_then(dim_names),
                ),
                Some(value) => (
                    type_and_shape(inferred().0.of(value)),
                    inferred().1.of(value).map(<[_]>::to_vec),
                ),
            };
            InterfaceFacts {
                name: info.name().to_owned(),
                type_and_shape: TypeAndShape { dim_names, ..known },
                has_default: value.is_some_and(|value| model.initializer(value).is_some()),
            }
        };
        values.iter().map(facts).collect()
    })
}

/// The names of the dimensions of a tensor, if one has a name.
fn dim_names(declared: &TypeProto) -> Option<Vec<Option<String>>> {
    let Some(type_proto::Value::TensorType(tensor)) = &declared.value else {
        return None;
    };
    let name = |dim: &tensor_shape_proto::Dimension| match &dim.value {
        Some(tensor_shape_proto::dimension::Value::DimParam(name)) if !name.is_empty() => {
            Some(name.clone())
        }
        _ => None,
    };
    let names: Vec<_> = tensor
        .shape
        .as_ref()?
        .dim
        .iter()
        .map(|dim| name(dim))
        .collect();
    names.iter().any(Option::is_some).then_some(names)
}

fn casts(model: &Model) -> (Vec<CastFacts>, Vec<Invalid>) {
    let mut faults = Vec::new();
    let mut facts: Vec<(NodeId, CastFacts)> = Vec::new();
    let mut folded: HashSet<ValueId> = HashSet::new();
    let inferred = LazyCell::new(|| infer(model));
    let element_type = |value: ValueId| {
        model
            .element_type(value)
            .or_else(|| inferred.of(value).dtype())
    };
    for &node in model
        .topological_order()
        .iter()
        .filter(|&&node| model.is_cast(node))
    {
        let path = model.node_path(node);
        let read = match model.cast_node(node) {
            Ok(cast) => Some(cast),
            Err(UnclearCast::CallersDisagree(_)) => None,
            Err(UnclearCast::Invalid(what)) => {
                faults.push(Invalid::at(model.node_place(node), what));
                None
            }
        };
        let input = model.input(node, 0);
        let constant = read.is_some()
            && input.is_some_and(|input| folded.contains(&input) || model.constant(input).is_ok());
        if constant {
            folded.extend(read.and_then(|cast| cast.output));
        }
        let to = read.and_then(|cast| result_type(&cast, element_type));
        let round_mode = read.and_then(|cast| cast.round_mode).map(RoundMode::name);
        let cast = CastFacts {
            node: path,
            scope: model.scope_path(node.scope),
            from: input.and_then(element_type).map(|from| from.name()),
            to: to.map(|to| to.name()),
            saturate: read.and_then(|cast| cast.saturate),
            round_mode,
            constant,
        };
        facts.push((node, cast));
    }
    facts.sort_by_key(|&(node, _)| node);
    (facts.into_iter().map(|(_, cast)| cast).collect(), faults)
}

fn initializers(model: &Model) -> Initializers {
    sums(graphs(model).flat_map(|graph| &graph.initializer))
}

/// All tensors: initializers and those in attributes, such as the values of `Constant` nodes.
#[must_use]
pub(crate) fn all_tensors(model: &Model) -> Initializers {
    sums(model.tensors().map(|(_, tensor)| tensor))
}

fn sums<'m>(tensors: impl Iterator<Item = &'m TensorProto>) -> Initializers {
    let mut all = Initializers::default();
    for tensor in tensors.filter_map(|tensor| Tensor::read(tensor).ok()) {
        let of_type = all.by_type.entry(tensor.dtype().name()).or_default();
        let bytes = tensor.stored_bytes();
        (of_type.count, of_type.bytes) = (of_type.count + 1, of_type.bytes.saturating_add(bytes));
        (all.count, all.bytes) = (all.count + 1, all.bytes.saturating_add(bytes));
    }
    all
}

fn functions(model: &Model) -> Vec<FunctionFacts> {
    let functions = model
        .scopes()
        .filter(|&scope| matches!(model.scope_kind(scope), ScopeKind::Function(_)));
    let facts = functions.map(|scope| FunctionFacts {
        name: model
            .scope_path(scope)
            .trim_start_matches("function/")
            .to_owned(),
        nodes: model.nodes(scope).len(),
        callers: model.callers(scope).len(),
    });
    facts.collect()
}

fn external_files(model: &Model) -> Vec<String> {
    let external = model
        .tensors()
        .map(|(_, tensor)| tensor)
        .filter(|tensor| is_external(tensor));
    let locations = external
        .filter_map(|tensor| Reference::read(tensor).ok())
        .map(|reference| reference.location);
    locations
        .collect::<BTreeSet<String>>()
        .into_iter()
        .collect()
}
