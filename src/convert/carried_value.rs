//! Values that a wider type carries, for the report.

use serde::Serialize;

use super::Exactness;
use onnx_cast::DType;

/// A value whose element type the target lacks, and that has a wider type in the converted model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct CarriedValue {
    /// The path of the value.
    pub value: Box<str>,
    /// Its element type.
    pub from: DType,
    /// The wider type, which holds all of its values.
    pub to: DType,
    /// How the values compare with those before.
    pub class: Exactness,
    /// By how many bytes a constant grows; 0 for a computed value.
    pub bytes: u64,
    /// Where the model has the value.
    pub role: CarriedRole,
}

/// Where a model has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CarriedRole {
    /// Inside.
    Inner,
    /// It is an input of the model.
    Input,
    /// It is an output of the model.
    Output,
}
