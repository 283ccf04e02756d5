//! Intervals that contain the numbers of a value.

use onnx_cast::{Class, DType};

/// The numbers from `low` to `high`; both may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    pub const ALL: Interval = Interval::new(f64::NEG_INFINITY, f64::INFINITY);
    pub const NOT_NEGATIVE: Interval = Interval::new(0.0, f64::INFINITY);
    pub const UNIT: Interval = Interval::new(0.0, 1.0);

    pub const fn new(low: f64, high: f64) -> Interval {
        Interval { low, high }
    }

    /// All numbers of an element type; of floats nothing is known.
    pub fn of_type(dtype: DType) -> Interval {
        let bits = dtype.bits() as i32;
        match dtype.class() {
            Class::Bool => Interval::UNIT,
            Class::Signed => Interval::new(
                -f64::from(bits - 1).exp2(),
                f64::from(bits - 1).exp2() - 1.0,
            ),
            Class::Unsigned => Interval::new(0.0, f64::from(bits).exp2() - 1.0),
            _ => Interval::ALL,
        }
    }

    /// The largest magnitude.
    pub fn magnitude(self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    pub fn contains(self, number: f64) -> bool {
        self.low <= number && number <= self.high
    }

    pub fn is_within(self, other: Interval) -> bool {
        other.low <= self.low && self.high <= other.high
    }

    /// The image of the interval under a monotonic function.
    pub fn map(self, function: impl Fn(f64) -> f64) -> Interval {
        Interval::of([function(self.low), function(self.high)])
    }

    /// The smallest interval with both.
    pub fn and(self, other: Interval) -> Interval {
        Interval::new(self.low.min(other.low), self.high.max(other.high))
    }

    pub fn plus(self, other: Interval) -> Interval {
        Interval::of([self.low + other.low, self.high + other.high])
    }

    pub fn minus(self, other: Interval) -> Interval {
        self.plus(other.map(|number| -number))
    }

    pub fn times(self, other: Interval) -> Interval {
        // An infinite bound stands for numbers that are finite: with 0, they give 0.
        let product = |left: f64, right: f64| {
            if left == 0.0 || right == 0.0 {
                0.0
            } else {
                left * right
            }
        };
        Interval::of([
            product(self.low, other.low),
            product(self.low, other.high),
            product(self.high, other.low),
            product(self.high, other.high),
        ])
    }

    /// The quotients; all numbers if the divisor can be zero.
    pub fn over(self, other: Interval) -> Interval {
        if other.contains(0.0) {
            return Interval::ALL;
        }
        // The quotient of two infinite bounds is between those of one of them.
        let quotient = |left: f64, right: f64| {
            if left.is_infinite() && right.is_infinite() {
                0.0
            } else {
                left / right
            }
        };
        Interval::of([
            quotient(self.low, other.low),
            quotient(self.low, other.high),
            quotient(self.high, other.low),
            quotient(self.high, other.high),
        ])
    }

    /// The squares.
    pub fn squared(self) -> Interval {
        let largest = self.magnitude() * self.magnitude();
        let least = if self.contains(0.0) {
            0.0
        } else {
            self.low.abs().min(self.high.abs()).powi(2)
        };
        Interval::new(least, largest)
    }

    /// The magnitudes.
    pub fn absolute(self) -> Interval {
        let least = if self.contains(0.0) {
            0.0
        } else {
            self.low.abs().min(self.high.abs())
        };
        Interval::new(least, self.magnitude())
    }

    /// The larger ones of pairs.
    pub fn larger(self, other: Interval) -> Interval {
        Interval::new(self.low.max(other.low), self.high.max(other.high))
    }

    /// The smaller ones of pairs.
    pub fn smaller(self, other: Interval) -> Interval {
        Interval::new(self.low.min(other.low), self.high.min(other.high))
    }

    /// The smallest interval with some bounds; of NaN nothing is known.
    fn of<const N: usize>(bounds: [f64; N]) -> Interval {
        if bounds.iter().any(|bound| bound.is_nan()) {
            return Interval::ALL;
        }
        Interval::new(
            bounds.into_iter().fold(f64::INFINITY, f64::min),
            bounds.into_iter().fold(f64::NEG_INFINITY, f64::max),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_contain_what_their_operators_give() {
        let bounds = [
            f64::NEG_INFINITY,
            -70000.0,
            -1.0,
            -1e-12,
            0.0,
            0.5,
            3.0,
            1e300,
            f64::INFINITY,
        ];
        let intervals = || {
            let pairs = bounds
                .iter()
                .flat_map(|low| bounds.iter().map(move |high| (*low, *high)));
            pairs
                .filter(|(low, high)| low <= high && low.is_finite() | high.is_finite())
                .map(|(low, high)| Interval::new(low, high))
        };
        let numbers = |interval: Interval| {
            bounds
                .into_iter()
                .filter(move |n| n.is_finite() && interval.contains(*n))
        };
        assert_eq!(numbers(Interval::ALL).count(), 7);
        assert_eq!(numbers(Interval::new(0.0, 0.5)).count(), 2);
        let mut failures = Vec::new();
        for left in intervals() {
            for right in intervals() {
                for (x, y) in numbers(left).flat_map(|x| numbers(right).map(move |y| (x, y))) {
                    let checks = [
                        ("and", left.and(right), x),
                        ("plus", left.plus(right), x + y),
                        ("minus", left.minus(right), x - y),
                        ("times", left.times(right), x * y),
                        ("over", left.over(right), if y == 0.0 { x } else { x / y }),
                        ("squared", left.squared(), x * x),
                        ("absolute", left.absolute(), x.abs()),
                        ("larger", left.larger(right), x.max(y)),
                        ("smaller", left.smaller(right), x.min(y)),
                    ];
                    let wrong = checks.into_iter().filter(|(name, found, result)| {
                        let is_defined = *name != "over" || y != 0.0;
                        is_defined && !found.contains(*result)
                    });
                    failures.extend(wrong.map(|(name, found, result)| {
                        format!("{name} {left:?} {right:?}: {result} not in {found:?}")
                    }));
                }
            }
        }
        assert!(failures.is_empty(), "{failures:#?}");
    }
}
