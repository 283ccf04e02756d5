//! The numbers of constants.

use super::effects::{Effect, effect};
use super::interval::Interval;
use super::state::{Kind, State};
use crate::base::hash::HashSet;
use crate::elements::cast::{Cast, Rules};
use crate::elements::dtype::DType;
use crate::graph::{Model, NodeId, ValueId};
use crate::precision::weights::Weight;
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Data, Tensor};

/// The most elements of a constant whose interval is computed.
const MOST_ELEMENTS: u64 = 1 << 17;

/// The constants of a model.
pub struct Numbers {
    /// By the value's index; none for values that are computed.
    states: Vec<Option<State>>,
}

impl Numbers {
    /// Reads the constants. Those of `beyond` stay beyond the range of the type.
    pub fn read(model: &Model, weights: &[Weight], beyond: &[ValueId]) -> Numbers {
        let vanishing = weights.iter().filter(|weight| weight.survey.became_zero > 0);
        let vanishing: HashSet<ValueId> = vanishing.map(|weight| weight.value).collect();
        let mut states = vec![None; model.value_bound()];
        for value in model.values() {
            let Ok(constant) = model.constant(value) else { continue };
            let numbers = if is_weight(model, value) { None } else { read(model, &constant.tensor) };
            let state = match numbers {
                Some((interval, least)) => {
                    let guard = vanishing.contains(&value).then_some(least);
                    State { guard, ..State::within(interval) }
                }
                None => State::PLAIN,
            };
            states[value.index()] = Some(state);
        }
        for value in beyond {
            let state = states[value.index()].unwrap_or(State::PLAIN);
            states[value.index()] = Some(state.because(Kind::Constant));
        }
        Numbers { states }
    }

    /// The state of a value, if it is a constant.
    pub fn of(&self, value: ValueId) -> Option<State> {
        self.states[value.index()]
    }

    /// Whether a value is a constant.
    pub fn is_constant(&self, value: ValueId) -> bool {
        self.of(value).is_some()
    }

    /// Whether a value is a constant of numbers above one.
    pub fn is_constant_above_one(&self, value: Option<ValueId>) -> bool {
        value.and_then(|value| self.of(value)).is_some_and(|state| state.interval.low > 1.0)
    }
}

/// Whether only products of matrices use a constant, whose results are in the range whatever its numbers are.
fn is_weight(model: &Model, constant: ValueId) -> bool {
    let is_product = |(user, _): (NodeId, u32)| {
        let operator = model.node(user).op_type();
        effect(operator).is_none_or(|effect| matches!(effect, Effect::Contracts)) && model.applies(user, operator)
    };
    model.output_of(constant).is_empty() && model.uses(constant).all(is_product)
}

/// The interval of the numbers of a tensor, and the least magnitude other than zero.
fn read(model: &Model, tensor: &TensorProto) -> Option<(Interval, f64)> {
    let tensor = Tensor::read(tensor).ok().filter(|tensor| tensor.elements() <= MOST_ELEMENTS)?;
    let cast = Cast::new(tensor.dtype(), DType::Double, Rules::default()).ok()?;
    let (doubles, _) = tensor.load(model.data()).ok()?.cast(cast).ok()?;
    let doubles = doubles.computed();
    let Data::Numbers(bytes, _) = doubles.data() else { return None };
    let bytes = bytes.to_bytes();
    let numbers = bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes));
    let (mut interval, mut least) = (Interval::new(f64::INFINITY, f64::NEG_INFINITY), f64::INFINITY);
    for number in numbers {
        if number.is_nan() {
            return None;
        }
        interval = interval.and(Interval::new(number, number));
        least = if number == 0.0 { least } else { least.min(number.abs()) };
    }
    (interval.low <= interval.high).then_some((interval, least))
}
