//! What is known of the numbers of a value.

use super::interval::Interval;
use crate::precision::reason::Code;
use onnx_cast::DType;

/// What is known of the numbers of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct State {
    /// An interval that contains them.
    pub interval: Interval,
    /// Why they may be out of the range of the type.
    pub hazard: Option<Hazard>,
    /// The least magnitude that a constant guarantees, where the type would make it zero.
    pub guard: Option<f64>,
}

/// Why numbers may be out of the range of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Hazard {
    pub kind: HazardKind,
    /// Whether they are reciprocals of such numbers.
    pub is_inverse: bool,
}

/// The origin of numbers that may be out of the range of a type, from the weakest to the strongest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HazardKind {
    /// Integers of 16 bits or more.
    Integer,
    /// A sum of many numbers.
    Sum,
    /// A constant beyond the range.
    Constant,
    /// The reciprocal of a guard.
    Guard,
    /// A square, or another product of such numbers.
    Square,
    /// An exponential.
    Exponential,
}

impl State {
    /// Nothing is known, and nothing speaks against the type.
    pub const PLAIN: State = State::within(Interval::ALL);

    /// Numbers of an interval, of which nothing speaks against the type.
    pub const fn within(interval: Interval) -> State {
        State {
            interval,
            hazard: None,
            guard: None,
        }
    }

    /// Numbers of a type, of which nothing else is known.
    pub fn of_type(dtype: DType) -> State {
        State::within(Interval::of_type(dtype))
    }

    /// Numbers of one of two values.
    pub fn or(self, other: State) -> State {
        State {
            interval: self.interval.and(other.interval),
            hazard: self.hazard.max(other.hazard),
            guard: least(self.guard, other.guard),
        }
    }

    /// The state with another interval.
    pub fn with(self, interval: Interval) -> State {
        State { interval, ..self }
    }

    /// The state with a hazard.
    pub fn with_hazard(self, kind: HazardKind) -> State {
        State {
            hazard: Some(Hazard {
                kind,
                is_inverse: false,
            }),
            ..self
        }
    }
}

/// The lesser one of two guards.
pub fn least(left: Option<f64>, right: Option<f64>) -> Option<f64> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.min(right)),
        (left, right) => left.or(right),
    }
}

impl Hazard {
    /// Whether a scale or a weight brings the numbers back into the range: they are not products of
    /// numbers of the range.
    pub fn is_linear(self) -> bool {
        self.kind < HazardKind::Square && !self.is_inverse
    }

    pub fn code(self) -> Code {
        match self.kind {
            HazardKind::Integer => Code::UnsafeInteger,
            HazardKind::Sum => Code::UnsafeSum,
            HazardKind::Constant => Code::UnsafeConstant,
            HazardKind::Guard => Code::UnsafeGuard,
            HazardKind::Square => Code::UnsafeSquare,
            HazardKind::Exponential => Code::UnsafeExponential,
        }
    }
}
