//! The operators whose range or sum commonly leaves FLOAT16: they keep their types with the policy `stable`.
//!
//! Source: the operators that PyTorch's automatic mixed precision runs in FLOAT32 (<https://docs.pytorch.org/docs/stable/amp.html>, "CUDA
//! Ops that can autocast to float32"), as far as ONNX has them as operators of their own and they are not fused kernels that accumulate in
//! FLOAT by themselves, such as Softmax and LayerNormalization.

use crate::graph::{Model, NodeId, ValueId};

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
    "ReduceMean",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
    "SoftmaxCrossEntropyLoss",
    "Softplus",
];

/// The operators that keep their types with the policy `stable`. It also keeps Mul of a value by itself, and the Sqrt, Reciprocal or Pow of
/// a mean or sum, with the Add or Max in between.
#[must_use]
pub fn sensitive_operators() -> &'static [&'static str] {
    SENSITIVE
}

/// Whether a node of ai.onnx is sensitive.
pub(super) fn is_sensitive(model: &Model, node: NodeId) -> bool {
    let operator = model.node(node).op_type();
    match operator {
        "Mul" => model.input(node, 0).is_some() && model.input(node, 0) == model.input(node, 1),
        "Sqrt" | "Reciprocal" => model.input(node, 0).is_some_and(|input| is_of_mean(model, input)),
        "Add" | "Max" => roots(model, node) && is_epsilon(model, node),
        _ => SENSITIVE.contains(&operator),
    }
}

/// Whether a value is a mean or sum, to which a scalar may be added.
fn is_of_mean(model: &Model, value: ValueId) -> bool {
    let Some(node) = model.producer(value) else { return false };
    match model.node(node).op_type() {
        "Add" | "Max" => is_epsilon(model, node),
        "Sqrt" => model.input(node, 0).is_some_and(|input| is_mean(model, input) || is_added(model, input)),
        _ => is_mean(model, value),
    }
}

fn is_added(model: &Model, value: ValueId) -> bool {
    model.producer(value).is_some_and(|node| matches!(model.node(node).op_type(), "Add" | "Max") && is_epsilon(model, node))
}

/// Whether a node adds something to a mean or sum.
fn is_epsilon(model: &Model, node: NodeId) -> bool {
    let inputs = [0, 1].map(|index| model.input(node, index));
    matches!(inputs, [Some(left), Some(right)]
        if (is_mean(model, left) && model.constant(right).is_ok()) || (is_mean(model, right) && model.constant(left).is_ok()))
}

/// Whether a value is a mean or sum, or a cast of one.
fn is_mean(model: &Model, value: ValueId) -> bool {
    let mut producer = model.producer(value);
    while let Some(cast) = producer.filter(|&node| model.is_cast(node)) {
        producer = model.input(cast, 0).and_then(|input| model.producer(input));
    }
    producer
        .map(|node| model.node(node).op_type())
        .is_some_and(|operator| matches!(operator, "ReduceMean" | "ReduceSum" | "ReduceSumSquare" | "GlobalAveragePool"))
}

/// Whether a root, a power or a reciprocal is made of the result of a node.
fn roots(model: &Model, node: NodeId) -> bool {
    let is_root = |(user, _): (NodeId, u32)| matches!(model.node(user).op_type(), "Sqrt" | "Reciprocal" | "Pow");
    model.output(node, 0).is_some_and(|output| model.uses(output).any(is_root))
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
