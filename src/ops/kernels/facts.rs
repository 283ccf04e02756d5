//! What is known of the inputs of nodes besides their types, for lookups of kernels.

use crate::graph::{Model, ValueId};
use crate::ops::inference::Known;
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Tensor, Values};
use onnx_cast::{DType, packed};
use onnx_operators::kernels::InputFacts;

/// The most numbers of a constant that is read: those of all axes.
const MOST_NUMBERS: u64 = 64;

/// What is known of a value, and the tensor that it is, if it is constant.
#[must_use]
pub fn facts_of_input(known: &Known, constant: Option<&TensorProto>) -> InputFacts {
    InputFacts {
        shape: known.shape.clone(),
        constant: constant.and_then(numbers),
    }
}

/// What is known of a value of a model.
#[must_use]
pub fn facts_of_value(model: &Model, known: &Known, value: ValueId) -> InputFacts {
    let constant = model.constant(value).ok();
    facts_of_input(known, constant.as_ref().map(|constant| &*constant.tensor))
}

fn numbers(proto: &TensorProto) -> Option<Vec<f64>> {
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
