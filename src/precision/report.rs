//! The report: changed values, and kept nodes with reasons.

use serde::Serialize;

use super::options::Options;
use crate::base::reason::Reason;
use crate::graph::{Body, Model, ScopeId};
use onnx_cast::DType;

/// The results of a change of precision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The type that values had, if it was stated.
    #[serde(serialize_with = "by_name_if_stated")]
    pub from: Option<DType>,
    /// The type that values got.
    #[serde(serialize_with = "by_name")]
    pub to: DType,
    /// The number of values that got the type.
    pub changed_values: usize,
    /// The values that are rounded instead, if the model keeps its types.
    pub(crate) emulation: Option<Emulation>,
    /// Copies of functions of which some calls change their types and others do not.
    pub(crate) functions_added: Vec<AddedFunction>,
    /// Casts that were added, in document order.
    pub casts_added: Vec<AddedCast>,
    /// The paths of casts that were removed, because their input has the type now, or their
    /// consumers need the type of their input.
    pub casts_removed: Vec<String>,
    /// Constants that were cast, in document order.
    pub tensors: Vec<NarrowedTensor>,
    /// Nodes that compute values of the old type, with the reason.
    pub kept: Vec<KeptNode>,
    /// A later opset in which more operators support the type.
    pub(crate) later_opset: Option<LaterOpset>,
    /// Patterns of options that match nothing, and names of observed ranges that are not those of
    /// values.
    pub unmatched: Vec<String>,
    /// Notes: what is unmatched; a version of the runtime, or its kernels, are not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Report {
    /// A report of no change.
    pub(super) fn unchanged(options: &Options) -> Report {
        Report {
            from: options.from,
            to: options.dtype,
            changed_values: 0,
            emulation: None,
            functions_added: Vec::new(),
            casts_added: Vec::new(),
            casts_removed: Vec::new(),
            tensors: Vec::new(),
            kept: Vec::new(),
            later_opset: None,
            unmatched: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Whether the model is as it was.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        let is_rounded = match &self.emulation {
            Some(emulation) => !emulation.roundings.is_empty(),
            None => self.changed_values > 0,
        };
        !is_rounded
            && self.casts_added.is_empty()
            && self.casts_removed.is_empty()
            && self.tensors.is_empty()
    }
}

/// The roundings of a model that keeps its types.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Emulation {
    /// The function that rounds, with its domain.
    pub function: String,
    /// Its calls, in document order: casts from FLOAT to the type, and back.
    pub roundings: Vec<AddedCast>,
}

/// A copy of a function, for the calls whose types change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AddedFunction {
    /// Its domain, which is also that of the function of which it is a copy.
    pub domain: String,
    /// Its name.
    pub name: String,
    /// Its overload, which is also that of the function of which it is a copy.
    pub overload: String,
    /// The name of the function of which it is a copy.
    pub copy_of: String,
    /// The paths of the nodes that called that function, and call the copy now.
    pub calls: Vec<String>,
}

impl AddedFunction {
    /// Whether a scope is the copy.
    pub(super) fn is_copy(&self, model: &Model, scope: ScopeId) -> bool {
        self.is_named(model, scope, &self.name)
    }

    /// Whether a scope is the function of which it is a copy.
    pub(crate) fn is_original(&self, model: &Model, scope: ScopeId) -> bool {
        self.is_named(model, scope, &self.copy_of)
    }

    fn is_named(&self, model: &Model, scope: ScopeId, name: &str) -> bool {
        matches!(model.body(scope), Body::Function(function)
            if [function.domain(), function.name(), function.overload()] == [&self.domain, name, &self.overload])
    }
}

/// A cast that was added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AddedCast {
    /// The path of the cast.
    pub node: String,
    /// The name of its input.
    pub input: String,
    /// The name of its result.
    pub output: String,
    /// The name that the value has in the model before: that of the input, or of the result if it
    /// is an output.
    pub value: String,
    /// The type before the cast.
    #[serde(serialize_with = "by_name")]
    pub from: DType,
    /// The type after the cast.
    #[serde(serialize_with = "by_name")]
    pub to: DType,
}

/// A constant that was cast.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NarrowedTensor {
    /// The path of the tensor.
    pub tensor: String,
    /// The number of its elements.
    pub elements: u64,
    /// The type before.
    #[serde(serialize_with = "by_name")]
    pub from: DType,
    /// The type after.
    #[serde(serialize_with = "by_name")]
    pub to: DType,
    /// Finite numbers beyond the range of the type. They became infinite, or got the magnitude
    /// `bound`.
    pub overflowed: u64,
    /// The largest magnitude before, as FLOAT. `None` if a number is infinite there, or NaN.
    pub largest: Option<f64>,
    /// The magnitude that numbers beyond the range got instead of infinity.
    pub bound: Option<f32>,
    /// Numbers other than zero that became zero.
    pub became_zero: u64,
    /// Numbers that became subnormal.
    pub became_subnormal: u64,
    /// The largest relative error of a number that did not become zero or infinite.
    pub largest_relative_error: f64,
}

/// A node that computes values of the old type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct KeptNode {
    /// Its path.
    pub node: String,
    /// Its operator.
    pub op: String,
    /// Why.
    #[serde(flatten)]
    pub reason: Reason,
}

/// A later opset in which more operators support the type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LaterOpset {
    /// The opset of ai.onnx.
    pub opset: i64,
    /// The number of nodes that it would admit.
    pub nodes: usize,
}

fn by_name_if_stated<S: serde::Serializer>(
    dtype: &Option<DType>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_some(&dtype.map(DType::name))
}

fn by_name<S: serde::Serializer>(dtype: &DType, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(dtype.name())
}
