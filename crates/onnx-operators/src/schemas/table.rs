//! The tables that the build script generates from `facts/operators.txt` and
//! `facts/onnxruntime.txt`.

use super::{
    Attribute, AttributeKind, Constraint, DefaultValue, Formal, Occurrence, Schema, TypeSet,
    ValueType,
};
use onnx_cast::DType;

include!(concat!(env!("OUT_DIR"), "/facts.rs"));

/// The element type with this number; the types are stored in the order of their numbers.
const fn element(number: usize) -> DType {
    DType::ALL[number - 1]
}
