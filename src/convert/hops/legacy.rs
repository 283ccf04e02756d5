//! `consumed_inputs` of the first opsets: a hint for runtimes that never had an effect.

use super::super::hop::{Action::Drop, Hop, hop};

pub(super) const HOPS: &[Hop] = &[hop(
    &[
        "Abs",
        "Add",
        "Ceil",
        "Div",
        "Dropout",
        "Elu",
        "Exp",
        "Floor",
        "HardSigmoid",
        "InstanceNormalization",
        "LeakyRelu",
        "Log",
        "Max",
        "Mean",
        "Min",
        "Mul",
        "Neg",
        "PRelu",
        "Reciprocal",
        "Relu",
        "Sigmoid",
        "Sqrt",
        "Sub",
        "Sum",
        "Tanh",
    ],
    6,
)
.up(&[Drop("consumed_inputs")])];
