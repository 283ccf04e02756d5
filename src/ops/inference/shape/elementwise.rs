//! Operators on single elements: the shape is that of the input, or that to which the inputs broadcast.

use std::sync::LazyLock;

use super::dims::{Shapes, broadcast};
use crate::base::hash::HashMap;
use crate::ops::inference::known::{Dims, Fact};
use crate::ops::inference::view::View;

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    match view.schema.name {
        name if let Some(rule) = RULES.get(name) => Some(vec![rule(view)]),
        "Dropout" => Some(vec![view.shape(0).cloned(); 2]),
        "DynamicQuantizeLinear" => Some(vec![view.shape(0).cloned(), Some(Vec::new()), Some(Vec::new())]),
        "StringSplit" => {
            let strings = view.shape(0).cloned();
            Some(vec![strings.clone().map(|shape| shape.into_iter().chain([None]).collect()), strings])
        }
        _ => None,
    }
}

type Rule = fn(&View) -> Option<Dims>;

/// How the shape of the one output of an operator follows from its inputs.
static RULES: LazyLock<HashMap<&str, Rule>> = LazyLock::new(|| {
    let kept = KEEPS_SHAPE.iter().map(|&name| (name, of_first as Rule));
    kept.chain(BROADCASTS.iter().map(|&name| (name, elementwise as _))).collect()
});

/// One output with the shape of the first input; sorted.
const KEEPS_SHAPE: &[&str] = &[
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "Bernoulli",
    "BitCast",
    "BitwiseNot",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "CumProd",
    "CumSum",
    "DequantizeLinear",
    "Elu",
    "Erf",
    "Exp",
    "EyeLike",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "IsInf",
    "IsNaN",
    "LRN",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "Mish",
    "Neg",
    "Not",
    "PRelu",
    "QuantizeLinear",
    "RandomNormalLike",
    "RandomUniformLike",
    "Reciprocal",
    "RegexFullMatch",
    "Relu",
    "ReverseSequence",
    "Round",
    "Scatter",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tan",
    "Tanh",
    "TensorScatter",
    "ThresholdedRelu",
    "Trilu",
];

/// One output with the shape to which the inputs broadcast; sorted.
const BROADCASTS: &[&str] = &[
    "Add",
    "And",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Or",
    "Pow",
    "StringConcat",
    "Sub",
    "Sum",
    "Where",
    "Xor",
];

/// Whether an operator has one output, with the shape to which its inputs broadcast.
pub(crate) fn broadcasts(operator: &str) -> bool {
    BROADCASTS.binary_search(&operator).is_ok()
}

/// The shape to which two values broadcast.
pub(in crate::ops::inference) fn broadcast_known(left: &Fact, right: &Fact) -> Option<Dims> {
    Some(broadcast(left.shape.as_ref()?, right.shape.as_ref()?))
}

fn of_first(view: &View) -> Option<Dims> {
    view.shape(0).cloned()
}

fn elementwise(view: &View) -> Option<Dims> {
    // Before opset 7 the second operand was broadcast to the shape of the first.
    if view.schema.attribute("broadcast").is_some() {
        return of_first(view);
    }
    let (first, others) = view.inputs.split_first()?;
    others.iter().try_fold(first.shape.clone()?, |shape, other| Some(broadcast(&shape, other.shape.as_ref()?)))
}

#[cfg(test)]
#[test]
fn names_are_sorted_and_in_one_list() {
    assert!(KEEPS_SHAPE.is_sorted() && BROADCASTS.is_sorted());
    assert_eq!(RULES.len(), KEEPS_SHAPE.len() + BROADCASTS.len());
}
