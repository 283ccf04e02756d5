//! Why a node cannot be converted.

pub(super) use self::Code::*;
use crate::base::codes::codes;
pub(super) use crate::base::reason::Reason;

codes! {
    /// The kind of obstacle. JSON has its code.
    pub enum Code {
        OperatorTooNew = "operator-too-new": "the older opset has neither the operator nor an equivalent",
        OperatorDeprecated = "operator-deprecated": "the newer opset has removed the operator",
        OperatorUnknown = "operator-unknown": "the imported opset has no such operator",
        AttributeUnsupported = "attribute-unsupported": "the other version does not support an attribute, or its value",
        AttributeAmbiguous = "attribute-ambiguous": "the attribute of a function has different values in its calls, or only some of them give it a value",
        InputUnsupported = "input-unsupported": "the other version does not support an input, or its value",
        OutputUnsupported = "output-unsupported": "the other version does not support an output",
        TypeUnsupported = "type-unsupported": "the other version does not support an element type",
        TypeUnknown = "type-unknown": "the conversion depends on an element type that cannot be inferred",
        ShapeUnsupported = "shape-unsupported": "the other version does not support a rank or shape",
        ShapeUnknown = "shape-unknown": "the conversion depends on a rank or shape that cannot be inferred",
        NotConstant = "not-constant": "the conversion depends on a value that is computed at run time",
        Contested = "contested": "the text of ONNX contradicts itself, or onnx's converter, on the meaning of the node",
        Overridable = "overridable": "the conversion depends on an initializer that a caller can override",
        DataUnreadable = "data-unreadable": "the values of a constant cannot be read",
        BehaviourDiffers = "behaviour-differs": "the two versions define different results",
        NodeInvalid = "node-invalid": "the node does not satisfy the schema of the imported opset",
        NameAmbiguous = "name-ambiguous": "a name refers to two values",
        TooLarge = "too-large": "the result would exceed a limit",
        ExpansionDisabled = "expansion-disabled": "the operator can be expanded, but expansions are disabled",
        ExpansionInexact = "expansion-inexact": "the operator can be expanded, but not exactly, and only exact expansions are allowed",
        NoKernel = "no-kernel": "the target runtime has no kernel for the node and its types, in no opset that the model can be converted to",
        WrongInTarget = "wrong-in-target": "the target runtime computes something else for the node, in all opsets that the model can be converted to",
        Strict = "strict": "a warning, which is treated as an error",
    }
}

/// # Kinds of obstacles
impl Reason {
    /// Whether the obstacle is the runtime that has to run the result, not the conversion.
    pub(crate) fn is_about_runtime(&self) -> bool {
        self.is(NoKernel) || self.is(WrongInTarget)
    }

    /// Whether the obstacle is in the step from one opset to the next.
    pub(crate) fn is_about_step(&self) -> bool {
        !self.is(NodeInvalid) && !self.is_about_runtime()
    }

    /// Whether a type is unknown, or not supported.
    pub(super) fn is_about_type(&self) -> bool {
        self.is(TypeUnknown) || self.is(TypeUnsupported)
    }

    /// Whether a value is known only when the model runs.
    pub(super) fn is_about_computed_value(&self) -> bool {
        self.is(NotConstant) || self.is(Overridable)
    }
}
