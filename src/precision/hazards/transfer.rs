//! The range of a node's result, from those of its inputs.

use super::effects::{Effect, NodeEffects};
use super::interval::Interval;
use super::numbers::Constants;
use super::state::{Hazard, HazardKind, State, least};
use crate::graph::{Model, NodeId, ValueId};
use crate::ops::inference::Inferred;
use crate::precision::masks::is_cast_of_mask;
use onnx_cast::{Class, DType};

/// The most numbers whose sum is taken for one in the range, as those of a matrix product are.
const FEW: f64 = 256.0;
/// Integers to this one are exact in FLOAT16.
const EXACT: Interval = Interval::new(-2048.0, 2048.0);

/// The data of the walk: the states of values, by their index, and the numbers of constants.
pub struct WalkData<'k, 'm> {
    pub model: &'m Model,
    pub effects: &'k NodeEffects<'k>,
    pub inferred: &'k Inferred,
    pub numbers: &'k Constants,
    pub states: &'k [State],
    /// The numbers that the type can have.
    pub range: Interval,
}

impl WalkData<'_, '_> {
    pub fn state(&self, value: ValueId) -> State {
        self.states[value.index()]
    }

    fn dtype(&self, value: ValueId) -> Option<DType> {
        self.inferred.of(value).dtype()
    }

    /// The state of an input; that of an omitted one is the interval of zero.
    fn input(&self, node: NodeId, index: u32) -> State {
        self.model
            .input(node, index)
            .map_or(State::within(Interval::new(0.0, 0.0)), |value| {
                self.state(value)
            })
    }

    /// The state of a result of a node.
    pub fn result(&self, node: NodeId, output: ValueId, index: u32) -> State {
        let of_type = self.dtype(output).map_or(Interval::ALL, Interval::of_type);
        let found = match self.effects.of_node(node) {
            Some(Effect::Moves) => self.moved(node, output),
            Some(effect) if index == 0 => self.computed(node, output, effect),
            _ => State::PLAIN,
        };
        // Integers beyond the range of their type wrap around.
        let interval = if found.interval.is_within(of_type) {
            found.interval
        } else {
            of_type
        };
        let is_safe =
            interval.is_within(self.range) && !found.hazard.is_some_and(|hazard| hazard.is_inverse);
        State {
            interval,
            hazard: found.hazard.filter(|_| !is_safe),
            guard: found.guard,
        }
    }

    /// Elements of the inputs of the same type, and zeros where there are others.
    fn moved(&self, node: NodeId, output: ValueId) -> State {
        let dtype = self.dtype(output);
        let inputs = self
            .model
            .inputs(node)
            .map(|(_, value)| value)
            .filter(|value| self.dtype(*value) == dtype);
        let joined = inputs
            .map(|value| self.state(value))
            .reduce(State::or)
            .unwrap_or(State::PLAIN);
        let operator = self.model.node(node).op_type();
        match operator {
            "Pad" | "Trilu" | "CenterCropPad" => {
                joined.with(joined.interval.and(Interval::new(0.0, 0.0)))
            }
            "ScatterElements" | "ScatterND"
                if self.model.attribute(node, "reduction").value().is_some() =>
            {
                joined.with(Interval::ALL)
            }
            _ => joined,
        }
    }

    fn computed(&self, node: NodeId, output: ValueId, effect: Effect) -> State {
        let (first, second) = (self.input(node, 0), self.input(node, 1));
        match effect {
            Effect::Moves => self.moved(node, output),
            Effect::Carries(function) => first.with(first.interval.map(function)),
            Effect::Absolute => first.with(first.interval.absolute()),
            Effect::Adds => self.folded(node, Interval::plus),
            Effect::Subtracts => first.or(second).with(first.interval.minus(second.interval)),
            Effect::Larger => self.folded(node, Interval::larger),
            Effect::Smaller => self.folded(node, Interval::smaller),
            Effect::Clips => self.clipped(node, first),
            Effect::Multiplies => self.product(node, first, second),
            Effect::Divides => self.quotient(node, first, second),
            Effect::Contracts => self.contracted(node),
            Effect::Means => match first.hazard {
                Some(Hazard {
                    kind: HazardKind::Sum,
                    is_inverse: false,
                }) => State::within(first.interval),
                _ => State {
                    guard: None,
                    ..first
                },
            },
            Effect::Sums => self.sum(node, first, first.interval),
            Effect::SumsMagnitudes => self.sum(node, first, first.interval.absolute()),
            Effect::SumsSquares => self.sum(
                node,
                first.with_hazard(HazardKind::Square),
                first.interval.squared(),
            ),
            Effect::Products => {
                if first.interval.is_within(Interval::new(-1.0, 1.0)) {
                    State::within(Interval::new(-1.0, 1.0))
                } else {
                    State::PLAIN.with_hazard(HazardKind::Square)
                }
            }
            Effect::Powers => self.power(node, first, second),
            Effect::Exponential => {
                State::within(first.interval.map(f64::exp)).with_hazard(HazardKind::Exponential)
            }
            Effect::Root => root(first),
            Effect::Reciprocal => reciprocal(first),
            Effect::Logarithm => {
                State::within(first.interval.larger(Interval::NOT_NEGATIVE).map(f64::ln))
            }
            Effect::Casts => self.cast(node, output, first),
            Effect::Counts => {
                let (limit, step) = (second, self.input(node, 2));
                let counted = State::within(first.interval.and(limit.interval.plus(step.interval)));
                self.of_integers(counted)
            }
            Effect::Dequantizes => self.dequantized(node),
            Effect::Within(interval) => State::within(interval),
        }
    }

    /// Folds the intervals of all inputs with a function of two intervals.
    fn folded(&self, node: NodeId, function: fn(Interval, Interval) -> Interval) -> State {
        let inputs = self.model.inputs(node).map(|(_, value)| self.state(value));
        let join = |left: State, right: State| {
            left.or(right).with(function(left.interval, right.interval))
        };
        inputs.reduce(join).unwrap_or(State::PLAIN)
    }

    fn clipped(&self, node: NodeId, first: State) -> State {
        let bound = |index: u32, name: &str| {
            let of_input = self.model.input(node, index).map(|value| self.state(value));
            let of_attribute = || {
                let number = f64::from(self.model.attribute(node, name).value()?.f());
                Some(State::within(Interval::new(number, number)))
            };
            of_input.or_else(of_attribute)
        };
        let (low, high) = (bound(1, "min"), bound(2, "max"));
        let mut clipped = first;
        if let Some(low) = low {
            clipped = State {
                guard: least(clipped.guard, low.guard),
                ..clipped.with(clipped.interval.larger(low.interval))
            };
        }
        high.map_or(clipped, |high| {
            clipped.with(clipped.interval.smaller(high.interval))
        })
    }

    /// Whether an input is a constant all of whose magnitudes satisfy a condition.
    fn is_constant(&self, node: NodeId, index: u32, is_it: impl Fn(Interval) -> bool) -> bool {
        let value = self.model.input(node, index);
        value.is_some_and(|value| {
            self.numbers.is_constant(value) && is_it(self.state(value).interval)
        })
    }

    /// The guard of an input that is not a constant.
    fn guard_of(&self, node: NodeId, index: u32) -> Option<f64> {
        let value = self
            .model
            .input(node, index)
            .filter(|value| !self.numbers.is_constant(*value))?;
        self.state(value).guard
    }

    fn product(&self, node: NodeId, first: State, second: State) -> State {
        let is_square = self.model.input(node, 0) == self.model.input(node, 1);
        let interval = if is_square {
            first.interval.squared()
        } else {
            first.interval.times(second.interval)
        };
        let product = State::within(interval);
        let of_one = |hazard: Hazard, other: u32| {
            let grows = self.is_constant(node, other, |numbers| numbers.magnitude() >= 1.0);
            let shrinks = self.is_constant(node, other, |numbers| numbers.magnitude() < 1.0);
            match hazard {
                Hazard {
                    is_inverse: true, ..
                }
                | Hazard {
                    kind: HazardKind::Guard,
                    ..
                } => product,
                Hazard {
                    kind: HazardKind::Constant,
                    ..
                } if !shrinks => State {
                    hazard: Some(hazard),
                    ..product
                },
                _ if hazard.is_linear() && !grows => product,
                _ => State {
                    hazard: Some(hazard),
                    ..product
                },
            }
        };
        match (first.hazard, second.hazard) {
            _ if is_square => State {
                guard: first.guard.map(|guard| guard * guard),
                ..product.with_hazard(HazardKind::Square)
            },
            // A constant that is a factor guards nothing.
            (None, None) => State {
                guard: least(self.guard_of(node, 0), self.guard_of(node, 1)),
                ..product
            },
            (Some(hazard), None) => of_one(hazard, 1),
            (None, Some(hazard)) => of_one(hazard, 0),
            (Some(left), Some(right)) if left.is_inverse && right.is_inverse => State {
                hazard: Some(left.max(right)),
                ..product
            },
            (Some(left), Some(right)) if left.is_inverse || right.is_inverse => product,
            (Some(_), Some(_)) => product.with_hazard(HazardKind::Square),
        }
    }

    fn quotient(&self, node: NodeId, first: State, second: State) -> State {
        let quotient = State::within(first.interval.over(second.interval));
        let Some(hazard) = first
            .hazard
            .filter(|_| second.hazard.is_none() && second.guard.is_none())
        else {
            return quotient;
        };
        let is_constant = self.is_constant(node, 1, |_| true);
        let shrinks = !self.is_constant(node, 1, |numbers| numbers.magnitude() <= 1.0);
        let is_kept = if hazard.is_linear() {
            !shrinks
        } else {
            is_constant
        };
        State {
            hazard: first.hazard.filter(|_| is_kept),
            ..quotient
        }
    }

    /// A product of matrices brings linear numbers back, as its weights were trained on them.
    /// Squares are only brought back behind it.
    fn contracted(&self, node: NodeId) -> State {
        let hazards = self
            .model
            .inputs(node)
            .filter_map(|(_, value)| self.state(value).hazard);
        let square = hazards
            .filter(|hazard| !hazard.is_linear() && !hazard.is_inverse)
            .max();
        let leads_back = || {
            self.model
                .output(node, 0)
                .is_some_and(|output| self.is_brought_back(output, 0))
        };
        State {
            hazard: square.filter(|_| leads_back()),
            ..State::PLAIN
        }
    }

    /// Whether all uses of a value bring squares back into the range, soon.
    fn is_brought_back(&self, value: ValueId, depth: usize) -> bool {
        let is_back = |(user, index): (NodeId, u32)| match self.effects.of_node(user) {
            Some(
                Effect::Root
                | Effect::Logarithm
                | Effect::Reciprocal
                | Effect::Powers
                | Effect::Within(_),
            ) => true,
            Some(Effect::Divides) => index == 1,
            Some(Effect::Contracts) => false,
            Some(_) => {
                depth < 8
                    && self
                        .model
                        .outputs(user)
                        .all(|(_, output)| self.is_brought_back(output, depth + 1))
            }
            None => matches!(self.model.node(user).op_type(), "ArgMax" | "ArgMin"),
        };
        let mut uses = self.model.uses(value).peekable();
        uses.peek().is_some() && uses.all(is_back)
    }

    fn sum(&self, node: NodeId, first: State, of_one: Interval) -> State {
        let count = self.count(node);
        let interval = if count.is_finite() {
            of_one.times(Interval::new(1.0, count))
        } else {
            of_one.times(Interval::ALL)
        };
        let sum = State::within(Interval::new(
            if of_one.low >= 0.0 { 0.0 } else { interval.low },
            if of_one.high <= 0.0 {
                0.0
            } else {
                interval.high
            },
        ));
        match first.hazard {
            Some(hazard) => State {
                hazard: Some(hazard),
                ..sum
            },
            None if count <= FEW => sum,
            None => sum.with_hazard(HazardKind::Sum),
        }
    }

    /// The number of elements that are summed to one; infinite if it is not known.
    fn count(&self, node: NodeId) -> f64 {
        let elements = |value: Option<ValueId>| {
            let shape = self.inferred.of(value?).static_shape()?;
            Some(shape.iter().map(|length| *length as f64).product::<f64>())
        };
        let (before, after) = (
            elements(self.model.input(node, 0)),
            elements(self.model.output(node, 0)),
        );
        match (before, after, self.model.node(node).op_type()) {
            (Some(before), _, "CumSum") => before,
            (Some(before), Some(after), _) if after > 0.0 => before / after,
            _ => f64::INFINITY,
        }
    }

    fn power(&self, node: NodeId, first: State, second: State) -> State {
        let exponent = second.interval;
        if !self.is_constant(node, 1, |numbers| numbers.low == numbers.high) {
            let is_proper = first.interval.is_within(Interval::UNIT) && exponent.low >= 0.0;
            return if is_proper {
                State::within(Interval::UNIT)
            } else {
                State::PLAIN.with_hazard(HazardKind::Exponential)
            };
        }
        match exponent.low {
            power if power < 0.0 => reciprocal(State {
                guard: first.guard.map(|guard| guard.powf(-power)),
                ..first
            }),
            power if power < 1.0 => root(first),
            2.0 => State::within(first.interval.squared()).with_hazard(HazardKind::Square),
            power if power > 1.0 => {
                let largest = first.interval.magnitude().powf(power);
                State::within(Interval::new(-largest, largest)).with_hazard(HazardKind::Square)
            }
            _ => first,
        }
    }

    fn cast(&self, node: NodeId, output: ValueId, first: State) -> State {
        let is_integer = |value: ValueId| {
            self.dtype(value).is_some_and(|dtype| {
                matches!(dtype.class(), Class::Signed | Class::Unsigned) && dtype.bits() >= 16
            })
        };
        let is_float = |value: ValueId| {
            self.dtype(value)
                .is_some_and(|dtype| dtype.class() == Class::Float)
        };
        match self.model.input(node, 0) {
            Some(input)
                if is_integer(input)
                    && is_float(output)
                    && !is_cast_of_mask(self.model, output) =>
            {
                self.of_integers(first)
            }
            Some(input) if is_float(input) && !is_float(output) => State::within(first.interval),
            _ => first,
        }
    }

    /// Scaled integers. Nothing speaks against those of an unknown scale, and those of a computed
    /// input of more than 8 bits: the scale of such an input was chosen for its numbers, not for
    /// its type.
    fn dequantized(&self, node: NodeId) -> State {
        let is_narrow = self
            .model
            .input(node, 0)
            .and_then(|value| self.dtype(value))
            .is_some_and(|dtype| dtype.bits() <= 8);
        let (quantized, scale, zero_point) = (
            self.input(node, 0),
            self.input(node, 1),
            self.input(node, 2),
        );
        let numbers = quantized
            .interval
            .minus(zero_point.interval)
            .times(scale.interval);
        let is_known =
            numbers.magnitude().is_finite() && (is_narrow || self.is_constant(node, 0, |_| true));
        if is_known {
            State::within(numbers).with_hazard(HazardKind::Integer)
        } else {
            State::PLAIN
        }
    }

    /// Integers as floats.
    fn of_integers(&self, integers: State) -> State {
        if integers.interval.is_within(EXACT) {
            State::within(integers.interval)
        } else {
            State::within(integers.interval).with_hazard(HazardKind::Integer)
        }
    }
}

/// The square root brings all numbers back, and makes a guard larger.
fn root(of: State) -> State {
    State {
        guard: of.guard.map(f64::sqrt),
        ..State::within(of.interval.larger(Interval::NOT_NEGATIVE).map(f64::sqrt))
    }
}

/// The reciprocal of a guard is beyond the range, that of numbers beyond the range may become zero.
fn reciprocal(of: State) -> State {
    let result = State::within(Interval::new(1.0, 1.0).over(of.interval));
    match (of.guard, of.hazard) {
        (Some(_), _) => result.with_hazard(HazardKind::Guard),
        (None, Some(hazard)) => State {
            hazard: Some(Hazard {
                is_inverse: !hazard.is_inverse,
                ..hazard
            }),
            ..result
        },
        (None, None) => result,
    }
}
