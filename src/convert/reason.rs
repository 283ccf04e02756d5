//! Why a node cannot be converted.

use std::fmt;

use serde::Serialize;

/// Why a node cannot be converted: a code for programs and a sentence for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// The kind of obstacle.
    pub code: Code,
    /// The obstacle.
    pub text: String,
}

/// The kind of obstacle. The names are stable; JSON writes them in kebab-case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Code {
    /// The operator does not exist in the older opset, and has no equivalent there.
    OperatorTooNew,
    /// The operator was removed in a newer opset.
    OperatorDeprecated,
    /// ONNX has no such operator in the opset that the model imports.
    OperatorUnknown,
    /// An attribute, or its value, does not exist in the other version.
    AttributeUnsupported,
    /// The attribute belongs to a function whose calls give different values.
    AttributeAmbiguous,
    /// An input, or its value, is not supported by the other version.
    InputUnsupported,
    /// An output is not supported by the other version.
    OutputUnsupported,
    /// An element type is not supported by the other version.
    TypeUnsupported,
    /// The conversion depends on an element type that cannot be inferred.
    TypeUnknown,
    /// A rank or shape is not supported by the other version.
    ShapeUnsupported,
    /// The conversion depends on a rank or shape that cannot be inferred.
    ShapeUnknown,
    /// The conversion depends on a value that is computed at run time.
    NotConstant,
    /// The conversion depends on an initializer that a caller can override.
    Overridable,
    /// The values of a constant cannot be read.
    DataUnreadable,
    /// The two versions define different results.
    BehaviourDiffers,
    /// The text of ONNX contradicts itself, or onnx's converter, on the meaning of the node.
    Contested,
    /// The node does not satisfy the schema of the opset that the model imports.
    NodeInvalid,
    /// A name denotes two values.
    NameAmbiguous,
    /// The result would exceed a limit.
    TooLarge,
    /// The operator can be expanded, but expansion is disabled.
    ExpansionDisabled,
    /// The operator can be expanded, but not exactly, as required by the options.
    ExpansionInexact,
    /// A warning is treated as an error.
    Strict,
}

impl Reason {
    /// A reason of an adapter.
    pub fn new(code: Code, text: impl Into<String>) -> Reason {
        Reason { code, text: text.into() }
    }

    /// Whether a value is known only when the model runs.
    pub(super) fn is_about_computed_value(&self) -> bool {
        matches!(self.code, Code::NotConstant | Code::Overridable)
    }
}

impl Code {
    /// A reason of this kind.
    pub(super) fn because(self, text: impl Into<String>) -> Reason {
        Reason { code: self, text: text.into() }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
