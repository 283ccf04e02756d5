//! `consumed_inputs` of the first opsets: a hint for runtimes without effect on the result.

use super::super::adapter::{Action::Drop, Adapter, adapter};

pub(super) const ADAPTERS: &[Adapter] = &[adapter("Abs Add Ceil Div Dropout Elu Exp Floor HardSigmoid InstanceNormalization LeakyRelu Log Max Mean Min Mul Neg PRelu Reciprocal Relu Sigmoid Sqrt Sub Sum Tanh",
    6,
)
.up(&[Drop("consumed_inputs")])];
