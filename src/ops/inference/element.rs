//! Infers the types of a node's outputs: from its schema's type variables, and by separate rules
//! for operators whose output types depend on an attribute or have another form.

use super::known::Known;
use super::ml;
use super::view::View;
use crate::graph::{ConstantValue, read_type};
use crate::ops::schemas::{Formal, ValueType};
use crate::protobuf::schema::AttributeProto;
use crate::tensor::Tensor;
use onnx_cast::DType;

/// The type of a node's output.
pub(super) fn output_type(view: &View, index: usize) -> Option<ValueType> {
    let formal = view.schema.output(index)?;
    if let Some(only) = formal.fixed_type() {
        return Some(only);
    }
    if !view.schema.domain.is_empty() {
        return ml::output_type(view, index).or_else(|| by_variable(view, formal));
    }
    let tensor = |dtype: Option<DType>| dtype.map(ValueType::Tensor);
    match view.schema.name {
        "Cast" | "BitCast" => tensor(type_attribute(view.attribute("to")??)),
        "CastLike" => view.input(1).value_type,
        "Constant" => tensor(
            ConstantValue::of_node(view.node)
                .ok()
                .and_then(|value| value.dtype()),
        ),
        "ConstantOfShape" => match view.attribute("value") {
            None => tensor(Some(DType::Float)),
            Some(attribute) => tensor(
                Tensor::read(attribute?.t.as_ref()?)
                    .ok()
                    .map(|value| value.dtype()),
            ),
        },
        "EyeLike" | "RandomNormalLike" | "RandomUniformLike" | "Bernoulli" => {
            match view.attribute("dtype") {
                None => view.input(0).value_type,
                Some(attribute) => tensor(type_attribute(attribute?)),
            }
        }
        "RandomNormal" | "RandomUniform" => tensor(type_or(view, "dtype", DType::Float)),
        "LayerNormalization" | "SimplifiedLayerNormalization" if index > 0 => {
            tensor(type_or(view, "stash_type", DType::Float))
        }
        "LinearAttention" if index > 0 && !view.has_input(3) => view.input(0).value_type,
        "Multinomial" => tensor(type_or(view, "dtype", DType::Int32)),
        "BlackmanWindow" | "HannWindow" | "HammingWindow" | "MelWeightMatrix" => {
            tensor(type_or(view, "output_datatype", DType::Float))
        }
        "QuantizeLinear" => tensor(quantized_type(view)),
        "DequantizeLinear" => match view.int_or("output_dtype", 0)? {
            0 => view.input(1).value_type,
            number => tensor(DType::from_number(i32::try_from(number).ok()?)),
        },
        "SequenceEmpty" => type_or(view, "dtype", DType::Float).map(ValueType::Sequence),
        "SequenceConstruct" | "SplitToSequence" => view.input(0).dtype().map(ValueType::Sequence),
        "SequenceAt" | "ConcatFromSequence" => match view.input(0).value_type? {
            ValueType::Sequence(dtype) => Some(ValueType::Tensor(dtype)),
            _ => None,
        },
        "Optional" => optional_type(view),
        "OptionalGetElement" => match view.input(0).value_type? {
            ValueType::Optional(dtype) => Some(ValueType::Tensor(dtype)),
            ValueType::OptionalSequence(dtype) => Some(ValueType::Sequence(dtype)),
            other => Some(other),
        },
        _ => by_variable(view, formal),
    }
}

/// The type of an input with the same type variable.
fn by_variable(view: &View, formal: &Formal) -> Option<ValueType> {
    let same = |index: &usize| {
        view.schema
            .input(*index)
            .is_some_and(|input| input.shares_variable(formal))
    };
    let known = |index: usize| view.inputs[index].value_type;
    (0..view.inputs.len()).filter(same).find_map(known)
}

/// A type that an attribute states.
fn type_attribute(attribute: &AttributeProto) -> Option<DType> {
    read_type(attribute).ok()
}

fn type_or(view: &View, name: &str, default: DType) -> Option<DType> {
    view.attribute(name)
        .map_or(Some(default), |attribute| type_attribute(attribute?))
}

fn quantized_type(view: &View) -> Option<DType> {
    match view.int_or("output_dtype", 0)? {
        0 if view.has_input(2) => view.input(2).dtype(),
        0 => Some(DType::Uint8),
        number => DType::from_number(i32::try_from(number).ok()?),
    }
}

fn optional_type(view: &View) -> Option<ValueType> {
    let inner = match view.attribute("type") {
        Some(attribute) => Known::of_type(attribute?.tp.as_ref()?).value_type,
        None => view.input(0).value_type,
    };
    match inner? {
        ValueType::Tensor(dtype) => Some(ValueType::Optional(dtype)),
        ValueType::Sequence(dtype) => Some(ValueType::OptionalSequence(dtype)),
        _ => None,
    }
}
