//! The operators whose range or sum commonly leaves FLOAT16: they keep their types with the policy
//! `stable`.
//!
//! Source: the operators that PyTorch's automatic mixed precision runs in FLOAT32
//! (<https://docs.pytorch.org/docs/stable/amp.html>, "CUDA Ops that can autocast to float32"), if
//! ONNX has the operator. Operators with fused kernels that accumulate in FLOAT, such as Softmax
//! and LayerNormalization, are not listed.

/// The operators, sorted.
const SENSITIVE: &[&str] = &[
    "CumProd",
    "CumSum",
    "Exp",
    "Log",
    "MeanVarianceNormalization",
    "NegativeLogLikelihoodLoss",
    "Pow",
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "SoftmaxCrossEntropyLoss",
    "Softplus",
];

/// The operators that keep their types with the policy `stable`. It also keeps values that leave
/// the range of FLOAT16 until another operator brings them back.
#[must_use]
pub fn sensitive_operators() -> &'static [&'static str] {
    SENSITIVE
}

/// Whether an operator of ai.onnx is sensitive.
pub(super) fn is_sensitive(operator: &str) -> bool {
    SENSITIVE.contains(&operator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::schemas;

    #[test]
    fn every_sensitive_operator_exists() {
        assert!(SENSITIVE.is_sorted());
        for operator in SENSITIVE {
            assert!(!schemas::versions("", operator).is_empty(), "{operator}");
        }
    }
}
