//! Messages without what was compared already: encoded messages would contain copies of it.

use super::evaluate::{Value, first_difference};
use crate::graph::Model;
use crate::protobuf::raw;
use crate::protobuf::schema::{FunctionProto, GraphProto, ModelProto, TensorProto};
use crate::tensor::{Tensor, without_values};

/// Tensors from this size on, in bytes, are compared before messages are encoded.
const LARGE: u64 = 1 << 16;

/// Leaves the values of a tensor out.
pub(super) fn leave_values_out(tensor: &mut TensorProto) {
    *tensor = without_values(tensor);
    (tensor.data_location, tensor.dims) = (None, vec![0]);
}

/// Leaves the values of two large tensors out if they are equal.
pub(super) fn leave_equal_values_out(tensors: [&mut TensorProto; 2], models: [&Model; 2]) {
    let [left, right] = tensors;
    if !is_large(left) || !is_large(right) {
        return;
    }
    let values = (
        Value::load(left, models[0].data()),
        Value::load(right, models[1].data()),
    );
    let (Ok(one), Ok(other)) = values else { return };
    let is_same_type = (one.dtype(), one.dims()) == (other.dtype(), other.dims());
    if is_same_type && first_difference(&one, &other).is_none() {
        leave_values_out(left);
        leave_values_out(right);
    }
}

fn is_large(tensor: &TensorProto) -> bool {
    Tensor::read(tensor).is_ok_and(|tensor| tensor.stored_bytes() >= LARGE)
}

/// A model without the nodes of its graph and of its functions, and without some initializers, by
/// their positions.
pub(super) fn without_nodes(model: &ModelProto, is_left_out: impl Fn(usize) -> bool) -> ModelProto {
    let mut bare: ModelProto = raw::ModelProto {
        ir_version: model.ir_version,
        opset_import: model.opset_import.clone(),
        producer_name: model.producer_name.clone(),
        producer_version: model.producer_version.clone(),
        domain: model.domain.clone(),
        model_version: model.model_version,
        doc_string: model.doc_string.clone(),
        graph: model
            .graph
            .as_ref()
            .map(|graph| graph_without_nodes(graph, is_left_out)),
        metadata_props: model.metadata_props.clone(),
        training_info: model.training_info.clone(),
        functions: model.functions.iter().map(function_without_nodes).collect(),
        configuration: model.configuration.clone(),
    }
    .into();
    bare.rest_mut().extend_from_slice(model.rest());
    bare
}

fn graph_without_nodes(graph: &GraphProto, is_left_out: impl Fn(usize) -> bool) -> GraphProto {
    let kept = graph.initializer.iter().enumerate();
    let kept = kept.filter(|(index, _)| !is_left_out(*index));
    let mut bare: GraphProto = raw::GraphProto {
        node: Vec::new(),
        name: graph.name.clone(),
        initializer: kept.map(|(_, tensor)| tensor.clone()).collect(),
        sparse_initializer: graph.sparse_initializer.clone(),
        doc_string: graph.doc_string.clone(),
        input: graph.input.clone(),
        output: graph.output.clone(),
        value_info: graph.value_info.clone(),
        quantization_annotation: graph.quantization_annotation.clone(),
        metadata_props: graph.metadata_props.clone(),
    }
    .into();
    bare.rest_mut().extend_from_slice(graph.rest());
    bare
}

fn function_without_nodes(function: &FunctionProto) -> FunctionProto {
    let mut bare: FunctionProto = raw::FunctionProto {
        name: function.name.clone(),
        input: function.input.clone(),
        output: function.output.clone(),
        attribute: function.attribute.clone(),
        attribute_proto: function.attribute_proto.clone(),
        node: Vec::new(),
        doc_string: function.doc_string.clone(),
        opset_import: function.opset_import.clone(),
        domain: function.domain.clone(),
        overload: function.overload.clone(),
        value_info: function.value_info.clone(),
        metadata_props: function.metadata_props.clone(),
    }
    .into();
    bare.rest_mut().extend_from_slice(function.rest());
    bare
}
