//! Comparison of two constants.

use super::large;
use super::value::{PART, Value};
use crate::base::parallel;

/// How a constant differs from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// At the element with this index.
    At(usize),
    /// ONNX does not define the element with this index.
    Undefined(usize, &'static str),
}

/// The first difference of a constant from the expected one, which has the same type and shape.
pub fn first_difference(expected: &Value, found: &Value) -> Option<Difference> {
    if let (Some(expected), Some(found)) = (expected.texts(), found.texts()) {
        return (0..expected.len()).find(|&index| expected[index] != found[index]).map(Difference::At);
    }
    if let (Some((source, cast, allowed)), Some(stored)) = (expected.as_cast(), found.stored())
        && let Some(source) = source.stored().filter(|_| large::is_possible(&cast, allowed))
    {
        return large::first_difference(source, cast, stored, expected.elements()).map(Difference::At);
    }
    if let (Some(expected), Some(found)) = (expected.stored(), found.stored())
        && expected.is_same(found)
    {
        return None;
    }
    let elements = expected.elements();
    let of_part = |part: usize| {
        let range = part * PART..elements.min((part + 1) * PART);
        let pairs = expected.numbers(range.clone()).into_iter().zip(found.numbers(range.clone()));
        for (index, pair) in range.zip(pairs) {
            match pair {
                (Err(why), _) | (_, Err(why)) => return Some(Difference::Undefined(index, why)),
                (Ok(expected), Ok(found)) if expected != found => return Some(Difference::At(index)),
                _ => {}
            }
        }
        None
    };
    parallel::map_and_join(elements.div_ceil(PART), of_part, Option::or)
}
