//! The codes of the reasons why a node is not folded.

use crate::base::codes::codes;

codes! {
    /// The code of a [`NotFolded`](super::NotFolded).
    pub enum NotFoldedCode {
        NotConstant = "not-constant": "the input is computed at run time",
        Overridable = "overridable": "a caller can override the input",
        UpdatedByTraining = "updated-by-training": "training updates the input",
        Sparse = "sparse": "the constant is sparse",
        AttributeReference = "attribute-reference": "the value of the constant is an attribute of the function",
        InvalidConstant = "invalid-constant": "the `Constant` node has no value or more than one",
        CallersDisagree = "callers-disagree": "an attribute of the function has different values in its calls, or not all of them give it a value",
        ShadowedName = "shadowed-name": "the name of the input or output is also defined in an enclosing scope",
        TypeUnknown = "type-unknown": "the type that `CastLike` copies is unknown",
        OpsetUnknown = "opset-unknown": "the model imports an unsupported opset, or none",
        TypeUnsupported = "type-unsupported": "the operator of this opset does not support the types",
        ConstantTypeUnsupported = "constant-type-unsupported": "`Constant` of this opset does not support the type",
        UndefinedValue = "undefined-value": "ONNX leaves a result undefined",
        ContestedValue = "contested-value": "ONNX's text and its node tests disagree on a result of a cast",
        InvalidLiteral = "invalid-literal": "a string is not a number",
        TooLarge = "too-large": "the result is too large for this machine",
        ContestedResult = "contested-result": "ONNX's text and runtimes disagree on the result of a node other than a cast",
        UndefinedResult = "undefined-result": "ONNX does not define the result of the node, or the node is not valid",
        LeftToRuntimes = "left-to-runtimes": "arithmetic of floats, or a mode that runtimes compute",
        ResultTooLarge = "result-too-large": "the result exceeds the constants it is computed from by more than 1 MiB, or by more than the growth limit",
        InputNotComputed = "input-not-computed": "the input of the cast is the result of a node that is not computed",
        DataUnavailable = "data-unavailable": "the folder of the data file is unknown",
        CastLimit = "cast-limit": "the limit of casts per constant is reached",
        GrowthLimit = "growth-limit": "the model would grow by more than the growth limit, or by more than 1 KiB to save a node other than a cast",
    }
}
