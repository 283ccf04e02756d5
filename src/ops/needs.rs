//! The IR version that a model's contents require.

use super::inference::Known;
use super::operator_facts::type_attribute;
use super::schemas::{ValueType, ir_of_opset};
use crate::graph::{Body, Model, Origin, is_onnx_domain, read_type};
use crate::protobuf::ir_version;
use crate::protobuf::schema::{AttributeProto, SparseTensorProto, TensorProto, TypeProto};
use onnx_cast::DType;

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
        Need {
            ir: ir_of_opset(opset).unwrap_or(0),
            what: format!("opset {opset}"),
            is_metadata: false,
        }
    }
}

/// The prefix of the description of metadata.
pub const METADATA_PROPS: &str = "metadata_props";

/// The IR versions that a model's contents require, each with a feature that requires it: a feature
/// other than metadata, if there is one, and else metadata.
#[must_use]
pub fn contents(model: &Model) -> Vec<Need> {
    let mut needs = Needs::default();
    let proto = model.proto();
    needs.add_if(
        !proto.functions.is_empty(),
        ir_version::FUNCTIONS,
        "a model-local function",
    );
    needs.add_if(
        !proto.training_info.is_empty(),
        ir_version::TRAINING_INFO,
        "training_info",
    );
    needs.add_if(
        !proto.configuration.is_empty(),
        ir_version::DEVICE_CONFIGURATIONS,
        "a device configuration",
    );
    let imports_others = proto
        .opset_import
        .iter()
        .any(|import| !is_onnx_domain(import.domain()));
    needs.add_if(imports_others, ir_version::OPSET_IMPORT, "opset_import");
    for scope in model.scopes() {
        let body = model.body(scope);
        match body {
            Body::Graph(graph) => {
                let infos = || graph.input.iter().chain(&graph.output);
                let has_metadata = !graph.metadata_props.is_empty() || infos_with_metadata(infos());
                needs.add_if(
                    has_metadata,
                    ir_version::METADATA,
                    "metadata_props of a graph",
                );
                for sparse in &graph.sparse_initializer {
                    needs.add(ir_version::SPARSE_TENSORS, "a sparse initializer");
                    needs.sparse(sparse);
                }
                let has_quantization = !graph.quantization_annotation.is_empty();
                needs.add_if(
                    has_quantization,
                    ir_version::QUANTIZATION_ANNOTATIONS,
                    "a quantization annotation",
                );
                graph
                    .initializer
                    .iter()
                    .for_each(|tensor| needs.tensor(tensor));
                infos().for_each(|info| needs.stated(info.r#type.as_ref()));
            }
            Body::Function(function) => {
                let is_overloaded =
                    !function.overload().is_empty() || !function.value_info.is_empty();
                needs.add_if(
                    is_overloaded,
                    ir_version::METADATA,
                    "an overload or value_info of a function",
                );
                needs.add_if(
                    !function.metadata_props.is_empty(),
                    ir_version::METADATA,
                    "metadata_props of a function",
                );
                for default in &function.attribute_proto {
                    needs.add(
                        ir_version::FUNCTION_DEFAULTS,
                        "a default of a function's attribute",
                    );
                    needs.attribute(default);
                }
            }
        }
        needs.add_if(
            infos_with_metadata(body.value_info().iter()),
            ir_version::METADATA,
            "metadata_props of a value",
        );
        body.value_info()
            .iter()
            .for_each(|info| needs.stated(info.r#type.as_ref()));
        for id in model.nodes(scope) {
            let node = model.node(id);
            let has_devices = !node.device_configurations.is_empty();
            needs.add_if(
                !node.overload().is_empty(),
                ir_version::METADATA,
                "an overload of a node",
            );
            needs.add_if(
                !node.metadata_props.is_empty(),
                ir_version::METADATA,
                "metadata_props of a node",
            );
            needs.add_if(
                has_devices,
                ir_version::DEVICE_CONFIGURATIONS,
                "a device configuration of a node",
            );
            let is_of_onnx = is_onnx_domain(node.domain()) && model.callee(id).is_none();
            // An opset that is imported and not used requires nothing.
            if !is_onnx_domain(node.domain())
                && let Some(opset) = model.opset(scope, node.domain())
                && let Some(ir) = ir_of_other_opset(node.domain(), opset)
            {
                needs.add(ir, &format!("opset {opset} of {}", node.domain()));
            }
            for attribute in &node.attribute {
                needs.attribute(attribute);
                if is_of_onnx && let Some(dtype) = stated_type(node.op_type(), attribute) {
                    needs.dtype(dtype);
                }
            }
        }
    }
    let has_own_initializers = initializers_are_not_inputs(model);
    needs.add_if(
        has_own_initializers,
        ir_version::OWN_INITIALIZERS,
        "an initializer that is not an input",
    );
    needs.0
}

/// The needs that were found: the first of each IR version, and the first that is metadata.
#[derive(Default)]
struct Needs(Vec<Need>);

impl Needs {
    fn add(&mut self, ir: i64, what: &str) {
        let is_metadata = what.starts_with(METADATA_PROPS);
        if !self
            .0
            .iter()
            .any(|known| (known.ir, known.is_metadata) == (ir, is_metadata))
        {
            self.0.push(Need {
                ir,
                what: what.to_owned(),
                is_metadata,
            });
        }
    }

    fn add_if(&mut self, is_used: bool, ir: i64, what: &str) {
        if is_used {
            self.add(ir, what);
        }
    }

    fn dtype(&mut self, dtype: DType) {
        self.add(dtype.ir_since(), dtype.name());
    }

    fn tensor(&mut self, tensor: &TensorProto) {
        if let Some(dtype) = DType::from_number(tensor.data_type()) {
            self.dtype(dtype);
        }
        self.add_if(
            !tensor.metadata_props.is_empty(),
            ir_version::METADATA,
            "metadata_props of a tensor",
        );
    }

    fn stated(&mut self, proto: Option<&TypeProto>) {
        match proto.and_then(|proto| Known::of_type(proto).value_type) {
            Some(ValueType::Tensor(dtype) | ValueType::Sequence(dtype)) => self.dtype(dtype),
            Some(
                ValueType::Optional(dtype)
                | ValueType::OptionalSequence(dtype)
                | ValueType::SparseTensor(dtype),
            ) => {
                self.add(ir_version::OPTIONAL_TYPES, "an optional or sparse type");
                self.dtype(dtype);
            }
            Some(ValueType::Map { .. } | ValueType::SequenceOfMaps { .. }) | None => {}
        }
    }

    fn attribute(&mut self, attribute: &AttributeProto) {
        for tensor in attribute.t.iter().chain(&attribute.tensors) {
            self.tensor(tensor);
        }
        for sparse in attribute
            .tail()
            .sparse_tensor
            .iter()
            .chain(&attribute.tail().sparse_tensors)
        {
            self.add(ir_version::SPARSE_TENSORS, "a sparse tensor");
            self.sparse(sparse);
        }
        for stated in attribute.tp.iter().chain(&attribute.type_protos) {
            self.add(ir_version::OPTIONAL_TYPES, "a type in an attribute");
            self.stated(Some(stated));
        }
    }

    fn sparse(&mut self, sparse: &SparseTensorProto) {
        for tensor in sparse.values.iter().chain(&sparse.indices) {
            self.tensor(tensor);
        }
    }
}

/// The IR version of the release that introduced an opset of another domain of ONNX, by
/// onnx.helper.VERSION_TABLE.
fn ir_of_other_opset(domain: &str, opset: i64) -> Option<i64> {
    let irs: &[i64] = match domain {
        "ai.onnx.ml" => &[3, 6, 8, 9, 10],
        "ai.onnx.preview.training" => &[7],
        _ => return None,
    };
    irs.get(usize::try_from(opset).ok()?.checked_sub(1)?)
        .copied()
}

fn infos_with_metadata<'a>(
    mut infos: impl Iterator<Item = &'a crate::protobuf::schema::ValueInfoProto>,
) -> bool {
    infos.any(|info| !info.metadata_props.is_empty())
}

/// Before IR 4 each initializer was an input of its graph, and still constant; since then a caller
/// can override it.
fn initializers_are_not_inputs(model: &Model) -> bool {
    model.values().any(|value| match model.origin(value) {
        Origin::Initializer { input: None, .. } => true,
        Origin::Initializer { input: Some(_), .. } => {
            model.ir_version() >= ir_version::OWN_INITIALIZERS
        }
        _ => false,
    })
}

/// The type that an attribute of an operator of ai.onnx states.
fn stated_type(operator: &str, attribute: &AttributeProto) -> Option<DType> {
    if type_attribute(operator)?.name == attribute.name() {
        read_type(attribute).ok()
    } else {
        None
    }
}
