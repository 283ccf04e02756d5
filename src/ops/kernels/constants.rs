//! The numbers of small constants, for lookups of kernels.

use crate::graph::{Model, ValueId};
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Tensor, Values};
use onnx_cast::{DType, packed};

/// The most numbers of a constant that is read: those of all axes.
const MOST_NUMBERS: u64 = 64;

/// The numbers of a value of a model, if it is a small constant.
#[must_use]
pub fn numbers_of(model: &Model, value: ValueId) -> Option<Vec<f64>> {
    numbers(&model.constant(value).ok()?.tensor)
}

/// The numbers of a small tensor.
#[must_use]
pub fn numbers(proto: &TensorProto) -> Option<Vec<f64>> {
    let tensor = Tensor::read(proto).ok()?;
    if tensor.elements() > MOST_NUMBERS {
        return None;
    }
    let Ok(Values::Raw(bytes)) = tensor.values() else {
        return None;
    };
    match tensor.dtype() {
        DType::Float => {
            let chunks = bytes.as_chunks().0.iter();
            Some(
                chunks
                    .map(|&chunk| f32::from_le_bytes(chunk).into())
                    .collect(),
            )
        }
        dtype @ (DType::Int64 | DType::Int32) => {
            let integers = packed::integers(dtype, &bytes)?;
            Some(integers.into_iter().map(|number| number as f64).collect())
        }
        _ => None,
    }
}
