//! What each operator does to the range of numbers.

use super::interval::Interval;
use crate::graph::NodeId;
use crate::precision::operators::Operators;

/// What an operator does to the range of numbers. An operator that is not in the table brings them
/// back into the range.
#[derive(Clone, Copy)]
pub enum Effect {
    /// Its results consist of elements of its inputs.
    Moves,
    /// Of its first input, element by element or in windows: the range changes as this function
    /// says, which is monotonic.
    Carries(fn(f64) -> f64),
    /// Magnitudes.
    Absolute,
    /// Sums of its inputs.
    Adds,
    /// The difference of its inputs.
    Subtracts,
    /// The product of its inputs.
    Multiplies,
    /// The quotient of its inputs.
    Divides,
    /// Sums of products, as of a matrix and a weight.
    Contracts,
    /// The largest of its inputs.
    Larger,
    /// The smallest of its inputs.
    Smaller,
    /// Numbers between those of the second and third input, or of the attributes `min` and `max`.
    Clips,
    /// Means of many numbers.
    Means,
    /// Sums of many numbers.
    Sums,
    /// Sums of many magnitudes.
    SumsMagnitudes,
    /// Sums of many squares.
    SumsSquares,
    /// Products of many numbers.
    Products,
    /// A power.
    Powers,
    /// The exponential.
    Exponential,
    /// The square root.
    Root,
    /// The reciprocal.
    Reciprocal,
    /// The logarithm.
    Logarithm,
    /// A cast.
    Casts,
    /// Numbers that begin, end and step as the inputs say.
    Counts,
    /// The difference of its first and third input, times its second.
    Dequantizes,
    /// Numbers of an interval, whatever the inputs are.
    Within(Interval),
}

const SIGNED_UNIT: Interval = Interval::new(-1.0, 1.0);
const QUARTER_TURN: Interval = Interval::new(-1.6, 1.6);
const HALF_TURN: Interval = Interval::new(-3.2, 3.2);

/// The operators of ai.onnx, sorted.
const EFFECTS: &[(&str, Effect)] = &[
    ("Abs", Effect::Absolute),
    ("Acos", Effect::Within(HALF_TURN)),
    ("Add", Effect::Adds),
    ("And", Effect::Within(Interval::UNIT)),
    ("Asin", Effect::Within(QUARTER_TURN)),
    ("Atan", Effect::Within(QUARTER_TURN)),
    ("AveragePool", Effect::Means),
    ("Bernoulli", Effect::Within(Interval::UNIT)),
    ("Cast", Effect::Casts),
    ("CastLike", Effect::Casts),
    ("Ceil", Effect::Carries(f64::ceil)),
    ("Celu", Effect::Carries(unknown)),
    ("CenterCropPad", Effect::Moves),
    ("Clip", Effect::Clips),
    ("Compress", Effect::Moves),
    ("Concat", Effect::Moves),
    ("ConcatFromSequence", Effect::Moves),
    ("Conv", Effect::Contracts),
    ("ConvTranspose", Effect::Contracts),
    ("Cos", Effect::Within(SIGNED_UNIT)),
    ("CumProd", Effect::Products),
    ("CumSum", Effect::Sums),
    ("DepthToSpace", Effect::Moves),
    ("DequantizeLinear", Effect::Dequantizes),
    ("Div", Effect::Divides),
    ("Dropout", Effect::Carries(unknown)),
    ("Einsum", Effect::Contracts),
    ("Elu", Effect::Carries(unknown)),
    ("Equal", Effect::Within(Interval::UNIT)),
    ("Erf", Effect::Within(SIGNED_UNIT)),
    ("Exp", Effect::Exponential),
    ("Expand", Effect::Moves),
    ("Flatten", Effect::Moves),
    ("Floor", Effect::Carries(f64::floor)),
    ("Gather", Effect::Moves),
    ("GatherElements", Effect::Moves),
    ("GatherND", Effect::Moves),
    ("Gelu", Effect::Carries(at_least_minus_one)),
    ("Gemm", Effect::Contracts),
    ("GlobalAveragePool", Effect::Means),
    ("GlobalMaxPool", Effect::Carries(same)),
    ("Greater", Effect::Within(Interval::UNIT)),
    ("GreaterOrEqual", Effect::Within(Interval::UNIT)),
    ("HardSigmoid", Effect::Within(Interval::UNIT)),
    ("HardSwish", Effect::Carries(at_least_minus_one)),
    ("Hardmax", Effect::Within(Interval::UNIT)),
    ("Identity", Effect::Moves),
    ("IsInf", Effect::Within(Interval::UNIT)),
    ("IsNaN", Effect::Within(Interval::UNIT)),
    ("LeakyRelu", Effect::Carries(unknown)),
    ("Less", Effect::Within(Interval::UNIT)),
    ("LessOrEqual", Effect::Within(Interval::UNIT)),
    ("Log", Effect::Logarithm),
    ("MatMul", Effect::Contracts),
    ("Max", Effect::Larger),
    ("MaxPool", Effect::Carries(same)),
    ("Mean", Effect::Adds),
    ("Min", Effect::Smaller),
    ("Mish", Effect::Carries(at_least_minus_one)),
    ("Mul", Effect::Multiplies),
    ("Neg", Effect::Carries(negative)),
    ("Not", Effect::Within(Interval::UNIT)),
    ("OneHot", Effect::Moves),
    ("Optional", Effect::Moves),
    ("OptionalGetElement", Effect::Moves),
    ("Or", Effect::Within(Interval::UNIT)),
    ("PRelu", Effect::Carries(unknown)),
    ("Pad", Effect::Moves),
    ("Pow", Effect::Powers),
    ("Range", Effect::Counts),
    ("Reciprocal", Effect::Reciprocal),
    ("ReduceL1", Effect::SumsMagnitudes),
    ("ReduceMax", Effect::Carries(same)),
    ("ReduceMean", Effect::Means),
    ("ReduceMin", Effect::Carries(same)),
    ("ReduceProd", Effect::Products),
    ("ReduceSum", Effect::Sums),
    ("ReduceSumSquare", Effect::SumsSquares),
    ("Relu", Effect::Carries(not_negative)),
    ("Reshape", Effect::Moves),
    ("Resize", Effect::Carries(unknown)),
    ("ReverseSequence", Effect::Moves),
    ("Round", Effect::Carries(f64::round)),
    ("ScatterElements", Effect::Moves),
    ("ScatterND", Effect::Moves),
    ("Selu", Effect::Carries(unknown)),
    ("SequenceAt", Effect::Moves),
    ("SequenceConstruct", Effect::Moves),
    ("SequenceErase", Effect::Moves),
    ("SequenceInsert", Effect::Moves),
    ("Sigmoid", Effect::Within(Interval::UNIT)),
    ("Sign", Effect::Within(SIGNED_UNIT)),
    ("Sin", Effect::Within(SIGNED_UNIT)),
    ("Slice", Effect::Moves),
    ("Softmax", Effect::Within(Interval::UNIT)),
    ("Softplus", Effect::Carries(softplus)),
    ("Softsign", Effect::Within(SIGNED_UNIT)),
    ("SpaceToDepth", Effect::Moves),
    ("Split", Effect::Moves),
    ("SplitToSequence", Effect::Moves),
    ("Sqrt", Effect::Root),
    ("Squeeze", Effect::Moves),
    ("Sub", Effect::Subtracts),
    ("Sum", Effect::Adds),
    ("Tanh", Effect::Within(SIGNED_UNIT)),
    ("ThresholdedRelu", Effect::Carries(unknown)),
    ("Tile", Effect::Moves),
    ("TopK", Effect::Carries(same)),
    ("Transpose", Effect::Moves),
    ("Trilu", Effect::Moves),
    ("Unsqueeze", Effect::Moves),
    ("Upsample", Effect::Carries(same)),
    ("Where", Effect::Moves),
    ("Xor", Effect::Within(Interval::UNIT)),
];

/// The effects of the nodes of a model.
pub struct NodeEffects<'o> {
    pub operators: &'o Operators<'o>,
    /// By the operator's index.
    effects: Vec<Option<Effect>>,
}

impl<'o> NodeEffects<'o> {
    pub fn of(operators: &'o Operators) -> NodeEffects<'o> {
        let effect = |name: &str| {
            let row = EFFECTS.binary_search_by_key(&name, |row| row.0);
            row.ok().map(|row| EFFECTS[row].1)
        };
        let distinct = operators.distinct().iter();
        NodeEffects {
            operators,
            effects: distinct.map(|operator| effect(operator.name)).collect(),
        }
    }

    /// The effect of a node; none brings numbers back into the range.
    pub fn of_node(&self, node: NodeId) -> Option<Effect> {
        self.effects[self.operators.index(node)]
    }

    /// Whether a node has an effect for which a condition holds.
    pub fn has(&self, is_it: impl Fn(Effect) -> bool) -> bool {
        self.effects.iter().flatten().any(|effect| is_it(*effect))
    }
}

fn same(number: f64) -> f64 {
    number
}

fn negative(number: f64) -> f64 {
    -number
}

fn not_negative(number: f64) -> f64 {
    number.max(0.0)
}

fn at_least_minus_one(number: f64) -> f64 {
    number.max(-1.0)
}

fn softplus(number: f64) -> f64 {
    number.max(0.0) + (-number.abs()).exp().ln_1p()
}

/// Attributes and other inputs decide.
fn unknown(_: f64) -> f64 {
    f64::NAN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::schemas;

    #[test]
    fn the_table_is_sorted_and_names_operators() {
        assert!(EFFECTS.is_sorted_by_key(|row| row.0));
        for (operator, _) in EFFECTS {
            assert!(!schemas::versions("", operator).is_empty(), "{operator}");
        }
    }

    #[test]
    fn functions_give_what_their_operators_do() {
        for number in [-30.0, -2.0_f64, -0.5, 0.0, 0.5, 3.0] {
            assert_eq!((same(number), negative(number)), (number, -number));
            assert_eq!(
                not_negative(number),
                if number > 0.0 { number } else { 0.0 }
            );
            assert_eq!(
                at_least_minus_one(number),
                if number > -1.0 { number } else { -1.0 }
            );
            let expected = (1.0 + number.exp()).ln();
            assert!((softplus(number) - expected).abs() < 1e-12, "{number}");
        }
    }
}
