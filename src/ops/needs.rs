//! The IR version that a model's contents require.

use super::inference::Known;
use super::schemas::{ValueType, ir_of_opset};
use crate::elements::dtype::DType;
use crate::graph::{Body, Model, Origin, is_onnx_domain, read_type};
use crate::protobuf::ir_version;
use crate::protobuf::schema::{AttributeProto, SparseTensorProto, TensorProto, TypeProto};

/// A feature of a model that requires an IR version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The first IR version that has it.
    pub ir: i64,
    /// A description of the feature.
    pub what: String,
    /// Whether it is `metadata_props`, which do not affect results.
    pub is_metadata: bool,
}

impl Need {
    /// The requirement of an opset of ai.onnx: the IR version of the release that introduced it.
    #[must_use]
    pub fn of_opset(opset: i64) -> Need {
        Need { ir: ir_of_opset(opset).unwrap_or(0), what: format!("opset {opset}"), is_metadata: false }
    }
}

/// The prefix of the description of metadata.
const METADATA_PROPS: &str = "metadata_props";

/// The IR versions that a model's contents require; for each version at least one feature, and one that is not metadata if
/// there is one.
#[must_use]
pub fn contents(model: &Model) -> Vec<Need> {
    let mut needs = Vec::new();
    let mut need = |ir: i64, what: &str| {
        let is_metadata = what.starts_with(METADATA_PROPS);
        if !needs.iter().any(|known: &Need| (known.ir, known.is_metadata) == (ir, is_metadata)) {
            needs.push(Need { ir, what: what.to_owned(), is_metadata });
        }
    };
    let proto = model.proto();
    if !proto.functions.is_empty() {
        need(ir_version::FUNCTIONS, "a model-local function");
    }
    if !proto.training_info.is_empty() {
        need(ir_version::TRAINING_INFO, "training_info");
    }
    if !proto.configuration.is_empty() {
        need(ir_version::DEVICE_CONFIGURATIONS, "a device configuration");
    }
    if proto.opset_import.iter().any(|import| !is_onnx_domain(import.domain())) {
        need(ir_version::OPSET_IMPORT, "opset_import");
    }
    for scope in model.scopes() {
        match model.body(scope) {
            Body::Graph(graph) => {
                if !graph.metadata_props.is_empty() || infos_with_metadata(graph.input.iter().chain(&graph.output)) {
                    need(ir_version::METADATA, "metadata_props of a graph");
                }
                for sparse in &graph.sparse_initializer {
                    need(ir_version::SPARSE_TENSORS, "a sparse initializer");
                    sparse_needs(sparse, &mut need);
                }
                if !graph.quantization_annotation.is_empty() {
                    need(ir_version::QUANTIZATION_ANNOTATIONS, "a quantization annotation");
                }
                for tensor in &graph.initializer {
                    tensor_needs(tensor, &mut need);
                }
                for info in graph.input.iter().chain(&graph.output) {
                    type_needs(info.r#type.as_ref(), &mut need);
                }
            }
            Body::Function(function) => {
                if !function.overload().is_empty() || !function.value_info.is_empty() {
                    need(ir_version::METADATA, "an overload or value_info of a function");
                }
                if !function.metadata_props.is_empty() {
                    need(ir_version::METADATA, "metadata_props of a function");
                }
                for default in &function.attribute_proto {
                    need(ir_version::FUNCTION_DEFAULTS, "a default of a function's attribute");
                    attribute_needs(default, &mut need);
                }
            }
        }
        let body = model.body(scope);
        if infos_with_metadata(body.value_info().iter()) {
            need(ir_version::METADATA, "metadata_props of a value");
        }
        for info in body.value_info() {
            type_needs(info.r#type.as_ref(), &mut need);
        }
        for id in model.nodes(scope) {
            let node = model.node(id);
            if !node.overload().is_empty() {
                need(ir_version::METADATA, "an overload of a node");
            }
            if !node.metadata_props.is_empty() {
                need(ir_version::METADATA, "metadata_props of a node");
            }
            if !node.device_configurations.is_empty() {
                need(ir_version::DEVICE_CONFIGURATIONS, "a device configuration of a node");
            }
            let is_of_onnx = is_onnx_domain(node.domain()) && model.callee(id).is_none();
            // An opset that is imported and not used requires nothing.
            if !is_onnx_domain(node.domain())
                && let Some(opset) = model.opset(scope, node.domain())
                && let Some(ir) = ir_of_other_opset(node.domain(), opset)
            {
                need(ir, &format!("opset {opset} of {}", node.domain()));
            }
            for attribute in &node.attribute {
                attribute_needs(attribute, &mut need);
                if let Some(dtype) = named_type(attribute).filter(|_| is_of_onnx) {
                    need(dtype.ir_since(), dtype.name());
                }
            }
        }
    }
    if initializers_are_not_inputs(model) {
        need(ir_version::OWN_INITIALIZERS, "an initializer that is not an input");
    }
    needs
}

/// The IR version of the release that introduced an opset of another domain of ONNX, by onnx.helper.VERSION_TABLE.
fn ir_of_other_opset(domain: &str, opset: i64) -> Option<i64> {
    let irs: &[i64] = match domain {
        "ai.onnx.ml" => &[3, 6, 8, 9, 10],
        "ai.onnx.preview.training" => &[7],
        _ => return None,
    };
    irs.get(usize::try_from(opset).ok()?.checked_sub(1)?).copied()
}

fn infos_with_metadata<'a>(mut infos: impl Iterator<Item = &'a crate::protobuf::schema::ValueInfoProto>) -> bool {
    infos.any(|info| !info.metadata_props.is_empty())
}

/// Before IR 4 each initializer was an input of its graph, and still constant; since then a caller can override it.
fn initializers_are_not_inputs(model: &Model) -> bool {
    model.values().any(|value| match model.origin(value) {
        Origin::Initializer { input: None, .. } => true,
        Origin::Initializer { input: Some(_), .. } => model.ir_version() >= ir_version::OWN_INITIALIZERS,
        _ => false,
    })
}

fn tensor_needs(tensor: &TensorProto, need: &mut impl FnMut(i64, &str)) {
    if let Some(dtype) = DType::from_number(tensor.data_type()) {
        need(dtype.ir_since(), dtype.name());
    }
    if !tensor.metadata_props.is_empty() {
        need(ir_version::METADATA, "metadata_props of a tensor");
    }
}

fn type_needs(proto: Option<&TypeProto>, need: &mut impl FnMut(i64, &str)) {
    match proto.and_then(|proto| Known::of_type(proto).value_type) {
        Some(ValueType::Tensor(dtype) | ValueType::Sequence(dtype)) => need(dtype.ir_since(), dtype.name()),
        Some(ValueType::Optional(dtype) | ValueType::OptionalSequence(dtype) | ValueType::SparseTensor(dtype)) => {
            need(ir_version::OPTIONAL_TYPES, "an optional or sparse type");
            need(dtype.ir_since(), dtype.name());
        }
        Some(ValueType::Map { .. } | ValueType::SequenceOfMaps { .. }) | None => {}
    }
}

fn attribute_needs(attribute: &AttributeProto, need: &mut impl FnMut(i64, &str)) {
    for tensor in attribute.t.iter().chain(&attribute.tensors) {
        tensor_needs(tensor, need);
    }
    for sparse in attribute.tail().sparse_tensor.iter().chain(&attribute.tail().sparse_tensors) {
        need(ir_version::SPARSE_TENSORS, "a sparse tensor");
        sparse_needs(sparse, need);
    }
    for stated in attribute.tp.iter().chain(&attribute.type_protos) {
        need(ir_version::OPTIONAL_TYPES, "a type in an attribute");
        type_needs(Some(stated), need);
    }
}

fn sparse_needs(sparse: &SparseTensorProto, need: &mut impl FnMut(i64, &str)) {
    for tensor in sparse.values.iter().chain(&sparse.indices) {
        tensor_needs(tensor, need);
    }
}

/// The type that an attribute of an ONNX operator states.
fn named_type(attribute: &AttributeProto) -> Option<DType> {
    match attribute.name() {
        "to" | "dtype" | "output_dtype" => read_type(attribute).ok(),
        _ => None,
    }
}
