//! Builds protobuf messages from plain values, and reads plain values from bytes.

use crate::ops::inference::Known;
use crate::protobuf::raw;
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::{
    AttributeProto, NodeProto, TensorProto, TensorShapeProto, TypeProto, ValueInfoProto,
    tensor_shape_proto, type_proto,
};
use crate::tensor::{Content, Data};
use onnx_cast::{DType, packed};

/// An input or output of a subgraph, whose type is inferred from the enclosing node.
pub(super) fn named(name: &str) -> ValueInfoProto {
    ValueInfoProto::from(raw::ValueInfoProto {
        name: Some(name.to_owned()),
        ..Default::default()
    })
}

/// An input or output of a subgraph that is a scalar.
pub(super) fn named_scalar(name: &str, dtype: DType) -> ValueInfoProto {
    typed(name, &Known::scalar(dtype))
}

/// The declaration of a value with its known type and shape; without a type if the value is known
/// not to be a tensor.
pub(super) fn typed(name: &str, known: &Known) -> ValueInfoProto {
    use raw::tensor_shape_proto::dimension::Value;
    let mut info = named(name);
    if known.value_type.is_some() && known.dtype().is_none() {
        return info;
    }
    let dim = |size: &Option<i64>| {
        tensor_shape_proto::Dimension::from(raw::tensor_shape_proto::Dimension {
            value: size.map(Value::DimValue),
            ..Default::default()
        })
    };
    let shape = |dims: &Vec<Option<i64>>| {
        TensorShapeProto::from(raw::TensorShapeProto {
            dim: dims.iter().map(dim).collect(),
        })
    };
    let tensor = type_proto::Tensor::from(raw::type_proto::Tensor {
        elem_type: known.dtype().map(DType::number),
        shape: known.shape.as_ref().map(shape),
    });
    info.r#type = Some(TypeProto::from(raw::TypeProto {
        value: Some(raw::type_proto::Value::TensorType(tensor)),
        ..Default::default()
    }));
    info
}

pub(super) fn node(
    op: &str,
    output: &str,
    inputs: &[&str],
    attributes: Vec<AttributeProto>,
) -> NodeProto {
    NodeProto::from(raw::NodeProto {
        op_type: Some(op.to_owned()),
        name: Some(output.to_owned()),
        input: inputs.iter().map(|name| (*name).to_owned()).collect(),
        output: vec![output.to_owned()],
        attribute: attributes,
        ..Default::default()
    })
}

pub(super) fn constant_node(output: &str, value: TensorProto) -> NodeProto {
    node(
        "Constant",
        output,
        &[],
        vec![AttributeProto::tensor("value", value)],
    )
}

pub(super) fn numbers(dtype: DType, dims: &[i64], bytes: Vec<u8>) -> TensorProto {
    Content::new(dtype, dims, Data::Numbers(bytes.into(), Vec::new())).into_tensor("")
}

pub(super) fn int64_tensor(dims: &[i64], values: &[i64]) -> TensorProto {
    numbers(
        DType::Int64,
        dims,
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
    )
}

pub(super) fn bool_scalar(value: bool) -> TensorProto {
    numbers(DType::Bool, &[], vec![u8::from(value)])
}

/// A list of int32 or int64. None for another type, or a value out of range of int32.
pub(super) fn indices(dtype: DType, values: &[i64]) -> Option<TensorProto> {
    let dims = [values.len() as i64];
    match dtype {
        DType::Int64 => Some(int64_tensor(&dims, values)),
        DType::Int32 => {
            let narrow: Result<Vec<i32>, _> =
                values.iter().map(|&value| value.try_into()).collect();
            Some(numbers(
                dtype,
                &dims,
                narrow
                    .ok()?
                    .into_iter()
                    .flat_map(i32::to_le_bytes)
                    .collect(),
            ))
        }
        _ => None,
    }
}

/// A scalar of one of the two types that indices have. None for another type, or a value out of
/// range of int32.
pub(super) fn index(dtype: DType, value: i64) -> Option<TensorProto> {
    let mut tensor = indices(dtype, &[value])?;
    tensor.dims.clear();
    Some(tensor)
}

pub(super) fn float_tensor(dims: &[i64], values: &[f32]) -> TensorProto {
    numbers(
        DType::Float,
        dims,
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect(),
    )
}

/// The largest size of a new tensor of zeros in bytes: declared shapes may exceed any memory, and
/// many nodes may need one.
const LARGEST_CONSTANT: u64 = 1 << 12;

/// A tensor of zeros: zero is all zero bytes in every type. None if it would be too large.
pub(super) fn zeros(dtype: DType, dims: &[i64]) -> Option<TensorProto> {
    let elements = dims.iter().try_fold(1u64, |product, &dim| {
        product.checked_mul(u64::try_from(dim).ok()?)
    })?;
    let bytes = usize::try_from(
        dtype
            .raw_bytes(elements)
            .filter(|&bytes| bytes <= LARGEST_CONSTANT)?,
    )
    .ok()?;
    Some(numbers(dtype, dims, vec![0; bytes]))
}

/// A scalar of a floating-point type that represents the value exactly.
pub(super) fn scalar(dtype: DType, value: f64) -> Option<TensorProto> {
    let bytes = match dtype {
        DType::Double => value.to_le_bytes().to_vec(),
        DType::Float if f64::from(value as f32) == value => (value as f32).to_le_bytes().to_vec(),
        DType::Float16 if half::f16::from_f64(value).to_f64() == value => {
            half::f16::from_f64(value).to_le_bytes().to_vec()
        }
        DType::Bfloat16 if half::bf16::from_f64(value).to_f64() == value => {
            half::bf16::from_f64(value).to_le_bytes().to_vec()
        }
        _ => return None,
    };
    Some(numbers(dtype, &[], bytes))
}

/// The values in bytes of a type whose values double represents exactly.
pub(super) fn doubles(dtype: DType, bytes: &[u8]) -> Option<Vec<f64>> {
    match dtype {
        DType::Double => Some(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|&chunk| f64::from_le_bytes(chunk))
                .collect(),
        ),
        DType::Float => Some(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|&chunk| f32::from_le_bytes(chunk).into())
                .collect(),
        ),
        DType::Float16 => Some(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|&chunk| half::f16::from_le_bytes(chunk).into())
                .collect(),
        ),
        DType::Bfloat16 => Some(
            bytes
                .as_chunks()
                .0
                .iter()
                .map(|&chunk| half::bf16::from_le_bytes(chunk).into())
                .collect(),
        ),
        DType::Int64 | DType::Uint64 => None,
        _ => Some(
            packed::integers(dtype, bytes)?
                .into_iter()
                .map(|value| value as f64)
                .collect(),
        ),
    }
}

/// An attribute's value as reports write it.
pub(super) fn text_of(attribute: &AttributeProto) -> String {
    match attribute.r#type() {
        AttributeType::Int => attribute.i().to_string(),
        AttributeType::Float => attribute.f().to_string(),
        AttributeType::String => format!("'{}'", String::from_utf8_lossy(attribute.s())),
        AttributeType::Ints => format!("{:?}", attribute.ints),
        AttributeType::Floats => format!("{:?}", attribute.floats),
        _ => "a new value".to_owned(),
    }
}
