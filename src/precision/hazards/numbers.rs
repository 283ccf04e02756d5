//! The numbers of constants.

use super::effects::{Effect, NodeEffects};
use super::interval::Interval;
use super::state::{HazardKind, State};
use crate::base::hash::HashSet;
use crate::graph::{Model, NodeId, ValueId};
use crate::precision::weights::{Weight, floats};
use crate::protobuf::schema::TensorProto;
use onnx_cast::DType;

/// The most elements of a constant whose interval is computed.
const MOST_ELEMENTS: u64 = 1 << 17;

/// The constants of a model.
pub struct Constants {
    /// By the value's index: the position in `states` after 0; 0 for values that are computed.
    positions: Vec<u32>,
    states: Vec<State>,
}

impl Constants {
    /// Reads the constants. Those of `beyond` stay beyond the range of the type.
    pub fn read(
        model: &Model,
        effects: &NodeEffects,
        weights: &[Weight],
        beyond: &[ValueId],
    ) -> Constants {
        let vanishing = weights
            .iter()
            .filter(|weight| weight.survey.became_zero > 0);
        let vanishing: HashSet<ValueId> = vanishing.map(|weight| weight.value).collect();
        let mut constants = Constants {
            positions: vec![0; model.value_count()],
            states: Vec::new(),
        };
        for value in model.values() {
            let is_computed = |node: NodeId| effects.operators.of(node).name != "Constant";
            if model.producer(value).is_some_and(is_computed) {
                continue;
            }
            let Ok(constant) = model.constant(value) else {
                continue;
            };
            let numbers = if is_weight(model, effects, value) {
                None
            } else {
                read(model, &constant.tensor)
            };
            let state = match numbers {
                Some((interval, least)) => {
                    let guard = vanishing.contains(&value).then_some(least);
                    State {
                        guard,
                        ..State::within(interval)
                    }
                }
                None => of_type(&constant.tensor),
            };
            constants.add(value, state);
        }
        for &value in beyond {
            let state = constants.of(value).unwrap_or(State::PLAIN);
            constants.add(value, state.with_hazard(HazardKind::Constant));
        }
        constants
    }

    fn add(&mut self, value: ValueId, state: State) {
        self.states.push(state);
        self.positions[value.index()] = self.states.len() as u32;
    }

    /// The state of a value, if it is a constant.
    pub fn of(&self, value: ValueId) -> Option<State> {
        let position = self.positions[value.index()].checked_sub(1)?;
        Some(self.states[position as usize])
    }

    /// Whether a value is a constant.
    pub fn is_constant(&self, value: ValueId) -> bool {
        self.positions[value.index()] > 0
    }

    /// Whether a value is a constant of numbers above one.
    pub fn is_constant_above_one(&self, value: Option<ValueId>) -> bool {
        value
            .and_then(|value| self.of(value))
            .is_some_and(|state| state.interval.low > 1.0)
    }
}

/// The state of numbers of which only the type of their tensor is known.
fn of_type(tensor: &TensorProto) -> State {
    DType::from_number(tensor.data_type()).map_or(State::PLAIN, State::of_type)
}

/// Whether only products of matrices use a constant, whose results are in the range whatever its
/// numbers are.
fn is_weight(model: &Model, effects: &NodeEffects, constant: ValueId) -> bool {
    let is_product = |(user, _): (NodeId, u32)| {
        !effects.operators.of(user).name.is_empty()
            && matches!(effects.of_node(user), None | Some(Effect::Contracts))
    };
    model.scopes_that_output(constant).is_empty() && model.uses(constant).all(is_product)
}

/// The interval of the numbers of a tensor, and the least magnitude other than zero.
fn read(model: &Model, tensor: &TensorProto) -> Option<(Interval, f64)> {
    let numbers = floats(model, tensor, MOST_ELEMENTS)?;
    let (mut interval, mut least) = (
        Interval::new(f64::INFINITY, f64::NEG_INFINITY),
        f64::INFINITY,
    );
    for number in numbers {
        if number.is_nan() {
            return None;
        }
        interval = interval.and(Interval::new(number, number));
        least = if number == 0.0 {
            least
        } else {
            least.min(number.abs())
        };
    }
    (interval.low <= interval.high).then_some((interval, least))
}
