//! Why a node is not folded.

use super::code::NotFoldedCode;
use crate::graph::NotConstant;
use crate::ops::compute::NotComputed;
use crate::ops::schemas::LATEST_OPSET;
use crate::tensor::{BadTensor, CASTS_OF_EACH, Failure};
use onnx_cast::{DType, Unsupported};

/// Why a cast, or another node with known inputs, is not folded. [`NotFolded::code`] is a stable
/// name of the variant.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotFolded {
    /// The input is not a readable constant.
    #[error(transparent)]
    NotConstant(#[from] NotConstant),
    /// The calls of the function do not all give one of its attributes the same value.
    #[error(
        "`{attribute}` refers to an attribute of the function, and its calls do not all give it the same value"
    )]
    CallersDisagree {
        /// The attribute of the cast.
        attribute: String,
    },
    /// The name of the input or output is also defined in an enclosing scope.
    #[error(
        "'{name}' shadows a name of an enclosing scope; runtimes differ in which of the two they use"
    )]
    ShadowedName {
        /// The name.
        name: String,
    },
    /// The type that `CastLike` copies is unknown.
    #[error("the type of '{like}', which CastLike copies, is unknown")]
    TypeUnknown {
        /// The second input.
        like: String,
    },
    /// The model imports an opset whose casts are not known, or no opset.
    #[error("{}", match .opset {
        Some(opset) => format!("the casts of opset {opset} are not known; the known opsets are 1 to {LATEST_OPSET}"),
        None => "no opset of ai.onnx is imported".to_owned(),
    })]
    OpsetUnknown {
        /// The opset of ai.onnx.
        opset: Option<i64>,
    },
    /// The opset's `Cast` does not support one of the types.
    #[error(transparent)]
    TypeUnsupported(#[from] Unsupported),
    /// The opset's operator does not support the types, though `Cast` does.
    #[error("{op} of opset {opset} does not support {from} to {to}")]
    PairUnsupported {
        /// `Cast` or `CastLike`.
        op: String,
        /// The opset.
        opset: u32,
        /// The type of the input.
        from: DType,
        /// The type of the result.
        to: DType,
    },
    /// The result would be stored in a `Constant`, which does not support the type in this opset.
    #[error("Constant of this opset does not support {to}")]
    ConstantTypeUnsupported {
        /// The type of the result.
        to: DType,
    },
    /// ONNX leaves some of the results undefined.
    #[error("{}", elements(*.count, "undefined", *.first, .why))]
    UndefinedValue {
        /// How many.
        count: u64,
        /// The index of the first.
        first: u64,
        /// Why the first is undefined.
        why: &'static str,
    },
    /// ONNX's text and its node tests disagree on some of the results.
    #[error("{}", elements(*.count, "contested", *.first, .why))]
    ContestedValue {
        /// How many.
        count: u64,
        /// The index of the first.
        first: u64,
        /// Why the first is contested.
        why: &'static str,
    },
    /// The values cannot be cast.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The node is bit-exact, and its inputs are known, but its result is not computed.
    #[error(transparent)]
    NotComputed(NotComputed),
    /// The input is the result of such a node.
    #[error("its input is the result of {node}, which is not computed: {why}")]
    InputNotComputed {
        /// The path of the node.
        node: String,
        /// Why its result is not computed.
        why: Box<NotComputed>,
    },
    /// The data file of the input cannot be read, since its folder is unknown.
    #[error(transparent)]
    DataUnavailable(Box<BadTensor>),
    /// Too many tensors were computed from a constant.
    #[error("the limit of {CASTS_OF_EACH} casts per large constant is reached for '{constant}'")]
    CastLimit {
        /// The constant.
        constant: String,
    },
    /// The folded tensors would exceed the tensors they replace by more than the limit.
    #[error("the model would grow by {growth} bytes; the limit is {limit}")]
    GrowthLimit {
        /// By how many bytes.
        growth: i64,
        /// The limit.
        limit: u64,
    },
    /// The result of a node other than a cast would take more bytes than the node is worth.
    #[error("the model would grow by {growth} bytes to save a node; at most {limit} are worth it")]
    NotWorthNode {
        /// By how many bytes.
        growth: i64,
        /// The limit, which is fixed.
        limit: u64,
    },
}

impl NotFolded {
    /// A stable name, in kebab case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        let code = match self {
            NotFolded::NotConstant(NotConstant::Computed) => NotFoldedCode::NotConstant,
            NotFolded::NotConstant(NotConstant::Overridable) => NotFoldedCode::Overridable,
            NotFolded::NotConstant(NotConstant::Trained) => NotFoldedCode::UpdatedByTraining,
            NotFolded::NotConstant(NotConstant::Sparse) => NotFoldedCode::Sparse,
            NotFolded::NotConstant(NotConstant::AttributeReference) => {
                NotFoldedCode::AttributeReference
            }
            NotFolded::NotConstant(NotConstant::NoValue) => NotFoldedCode::InvalidConstant,
            NotFolded::CallersDisagree { .. } => NotFoldedCode::CallersDisagree,
            NotFolded::ShadowedName { .. } => NotFoldedCode::ShadowedName,
            NotFolded::TypeUnknown { .. } => NotFoldedCode::TypeUnknown,
            NotFolded::OpsetUnknown { .. } => NotFoldedCode::OpsetUnknown,
            NotFolded::TypeUnsupported(_) | NotFolded::PairUnsupported { .. } => {
                NotFoldedCode::TypeUnsupported
            }
            NotFolded::ConstantTypeUnsupported { .. } => NotFoldedCode::ConstantTypeUnsupported,
            NotFolded::UndefinedValue { .. } => NotFoldedCode::UndefinedValue,
            NotFolded::ContestedValue { .. } => NotFoldedCode::ContestedValue,
            NotFolded::Failed(Failure::Literal(_)) => NotFoldedCode::InvalidLiteral,
            NotFolded::Failed(Failure::TooLarge(_)) => NotFoldedCode::TooLarge,
            NotFolded::NotComputed(NotComputed::Undefined(_)) => NotFoldedCode::UndefinedResult,
            NotFolded::NotComputed(NotComputed::Contested(_)) => NotFoldedCode::ContestedResult,
            NotFolded::NotComputed(NotComputed::LeftToRuntimes(_)) => NotFoldedCode::LeftToRuntimes,
            NotFolded::NotComputed(NotComputed::TooLarge { .. }) => NotFoldedCode::ResultTooLarge,
            NotFolded::InputNotComputed { .. } => NotFoldedCode::InputNotComputed,
            NotFolded::DataUnavailable(_) => NotFoldedCode::DataUnavailable,
            NotFolded::CastLimit { .. } => NotFoldedCode::CastLimit,
            NotFolded::GrowthLimit { .. } | NotFolded::NotWorthNode { .. } => {
                NotFoldedCode::GrowthLimit
            }
        };
        code.code()
    }
}

fn elements(count: u64, what: &str, first: u64, why: &str) -> String {
    let are = if count == 1 { "is" } else { "are" };
    format!("{count} of its results {are} {what}, the first at element {first}: {why}")
}
