//! Operators on single elements: the shape is that of the input, or that to which the inputs
//! broadcast.

use std::iter::zip;
use std::sync::LazyLock;

use super::dims::{ONE, Shapes, broadcast};
use crate::base::hash::HashMap;
use crate::ops::inference::known::{Dim, Dims, Fact};
use crate::ops::inference::length::Length;
use crate::ops::inference::view::View;
use crate::ops::readings::{self, Readings};

pub(super) fn shapes(view: &View) -> Option<Shapes> {
    let input = || view.shape(0).cloned();
    Some(match (RULES.get(view.schema.name), view.schema.name) {
        (Some(Rule::KeepsShape), _) => vec![input()],
        (Some(Rule::Broadcasts), _) => vec![elementwise(view)],
        (None, "Dropout") => vec![input(); 2],
        (None, "PRelu") => vec![prelu(view)],
        (None, "DynamicQuantizeLinear") => vec![input(), Some(Vec::new()), Some(Vec::new())],
        (None, "StringSplit") => vec![
            input().map(|shape| shape.into_iter().chain([None]).collect()),
            input(),
        ],
        _ => return None,
    })
}

/// How the shape of the one output of an operator follows from its inputs.
#[derive(PartialEq)]
enum Rule {
    KeepsShape,
    Broadcasts,
}

static RULES: LazyLock<HashMap<&str, Rule>> = LazyLock::new(|| {
    let kept = KEEPS_SHAPE
        .split_whitespace()
        .map(|name| (name, Rule::KeepsShape));
    kept.chain(
        BROADCASTS
            .split_whitespace()
            .map(|name| (name, Rule::Broadcasts)),
    )
    .collect()
});

/// One output with the shape of the first input; sorted.
const KEEPS_SHAPE: &str = "
    Abs Acos Acosh Affine Asin Asinh Atan Atanh Bernoulli BitCast BitwiseNot Cast CastLike Ceil Celu Clip Cos Cosh CumProd CumSum
    DequantizeLinear Elu Erf Exp EyeLike Floor Gelu HardSigmoid HardSwish Hardmax Identity ImageScaler IsInf IsNaN LRN LeakyRelu Log
    LogSoftmax LpNormalization MeanVarianceNormalization Mish Neg Not ParametricSoftplus QuantizeLinear RandomNormalLike RandomUniformLike
    Reciprocal RegexFullMatch Relu ReverseSequence Round Scale ScaledTanh Scatter ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh
    Softmax Softplus Softsign Sqrt Swish Tan Tanh TensorScatter ThresholdedRelu Trilu
";

/// One output with the shape to which the inputs broadcast; sorted.
const BROADCASTS: &str = "
    Add And BitShift BitwiseAnd BitwiseOr BitwiseXor Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or
    Pow StringConcat Sub Sum Where Xor
";

/// Whether an operator has one output, with the shape to which its inputs broadcast.
pub(crate) fn broadcasts(operator: &str) -> bool {
    RULES.get(operator) == Some(&Rule::Broadcasts)
}

/// The shape to which two values broadcast.
pub(in crate::ops::inference) fn broadcast_known(left: &Fact, right: &Fact) -> Option<Dims> {
    Some(broadcast(left.shape.as_ref()?, right.shape.as_ref()?))
}

fn elementwise(view: &View) -> Option<Dims> {
    // Before opset 7 the second operand was broadcast to the shape of the first.
    if view.schema.attribute("broadcast").is_some() {
        return view.shape(0).cloned();
    }
    let (first, others) = view.inputs.split_first()?;
    others
        .iter()
        .try_fold(first.shape.clone()?, |shape, other| {
            Some(broadcast(&shape, other.shape.as_ref()?))
        })
}

/// The shape of the first input; if the slope is larger, onnxruntime broadcasts both.
fn prelu(view: &View) -> Option<Dims> {
    let text = view.shape(0)?.clone();
    let slope = view.shape(1).filter(|_| view.schema.since_version >= 7);
    let larger = slope.filter(|slope| is_larger(slope, &text));
    view.choose(Readings {
        runtime: larger.map_or_else(|| text.clone(), |slope| broadcast(&text, slope)),
        text,
        why: larger.map(|_| readings::LARGER_SLOPE),
    })
}

/// Whether a shape is known to have more elements along an axis than the shape to which it is
/// broadcast.
fn is_larger(shape: &[Dim], other: &[Dim]) -> bool {
    let is_longer = |(length, other): (&Dim, &Dim)| {
        *other == ONE && *length != ONE && matches!(length, Some(Length::Size(_)))
    };
    shape.len() > other.len() || zip(shape.iter().rev(), other.iter().rev()).any(is_longer)
}

#[cfg(test)]
#[test]
fn names_are_sorted_and_in_one_list() {
    let (kept, broadcast) = (
        KEEPS_SHAPE.split_whitespace(),
        BROADCASTS.split_whitespace(),
    );
    assert!(kept.clone().is_sorted() && broadcast.clone().is_sorted());
    assert_eq!(RULES.len(), kept.count() + broadcast.count());
}
