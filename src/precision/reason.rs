//! Why values keep their types.

use std::fmt;

use crate::base::codes::codes;
use onnx_cast::DType;

codes! {
    /// Why a node keeps its types.
    pub enum Code {
        Option = "kept-by-option": "an option keeps the node, its operator or its value, or does not name it among those that change",
        Policy = "sensitive-operator": "its result commonly needs the range or the digits of a wider type; the policy `all` changes its types too",
        Range = "beyond-range": "its values were observed beyond the range of the type, below its normal numbers, or beyond the range limit",
        Signature = "signature": "an input or output of the model has the type",
        Operator = "type-not-supported": "the operator does not support the type in the opset",
        Domain = "foreign-domain": "the types of the operator are not known",
        Unknown = "type-unknown": "the type of a value is not known",
        Scale = "quantization-scale": "a scale has the same type as the value, and rounding it would move the whole grid",
        Unit = "quantized-operator": "it is between DequantizeLinear and QuantizeLinear, and runtimes fuse them to an operator of integers",
        Blocks = "quantized-blocks": "it dequantizes blocks, whose scale keeps its type; onnxruntime does not load results of another type",
        Fixed = "fixed-type": "an attribute fixes the type",
        Integers = "integers-in-floats": "its values are integers on their way to shapes, indices or integers, and would be rounded",
        Overflow = "constant-overflows": "a constant is beyond the range of the type",
        Underflow = "constant-underflows": "a constant would become zero",
        Training = "training": "a training graph uses it",
        Function = "function-of-many-types": "the function is called with more than one type, or is not called",
        Cast = "cast-not-supported": "Cast does not support the type in the opset, or ai.onnx is not imported",
        NoKernel = "no-kernel": "the target runtime has no kernel for the node in the type, or for casts to or from it",
        UnsafeInteger = "unsafe-integer": "its values come from integers, and leave the range",
        UnsafeSum = "unsafe-sum": "its values are sums of many numbers, and leave the range before they are scaled",
        UnsafeSquare = "unsafe-square": "its values are squares, or are squared, and leave the range before a root, a logarithm or a division",
        UnsafeExponential = "unsafe-exponential": "its values are exponentials, and leave the range before a division or a logarithm",
        UnsafeConstant = "unsafe-constant": "its values follow from a constant beyond the range",
        UnsafeGuard = "unsafe-guard": "a constant keeps its values from zero, and would become zero itself",
        UnsafeLogarithm = "unsafe-logarithm": "its values are probabilities, and small ones would become zero before a logarithm or a division",
        UnsafeAngle = "unsafe-angle": "its values are positions or angles, and of large ones the type has no fraction of a turn",
        Weights = "weights-only": "only constants change their type",
        Casts = "fewer-casts": "it only moves elements, and another type would need more casts",
    }
}

/// Why a value keeps its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeepReason {
    /// The kind of the reason.
    pub code: Code,
    /// The operator that does not support the type.
    pub operator: Option<Unsupported>,
}

/// An operator that does not support a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Unsupported {
    /// The operator.
    pub name: &'static str,
    /// The type.
    pub dtype: DType,
    /// The first opset in which it supports the type.
    pub since: Option<i64>,
}

impl From<Unsupported> for KeepReason {
    fn from(operator: Unsupported) -> KeepReason {
        KeepReason {
            code: Code::Operator,
            operator: Some(operator),
        }
    }
}

impl From<Code> for KeepReason {
    fn from(code: Code) -> KeepReason {
        KeepReason {
            code,
            operator: None,
        }
    }
}

impl fmt::Display for KeepReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.operator {
            Some(Unsupported {
                name,
                dtype,
                since: Some(since),
            }) => {
                write!(f, "{name} does not support {dtype} before opset {since}")
            }
            Some(Unsupported {
                name,
                dtype,
                since: None,
            }) => write!(f, "{name} does not support {dtype}"),
            None => {
                let meaning = Code::MEANINGS
                    .iter()
                    .find(|meaning| meaning.code == self.code.code());
                f.write_str(meaning.map_or("", |meaning| meaning.meaning))
            }
        }
    }
}
