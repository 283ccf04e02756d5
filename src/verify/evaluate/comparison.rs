//! Comparison of two constants.

use super::super::compare::{self, Difference};
use super::value::{PART, Value};
use crate::base::parallel;

/// The first difference of a constant from the expected one, which has the same type and shape.
pub fn first_difference(expected: &Value, found: &Value) -> Option<Difference> {
    if let (Some(expected), Some(found)) = (expected.texts(), found.texts()) {
        return (0..expected.len())
            .find(|&index| expected[index] != found[index])
            .map(Difference::At);
    }
    let (source, casts) = expected.without_casts();
    if let (Some(bytes), Some(found)) = (source.stored(), found.stored()) {
        if casts.is_empty() && bytes.is_same(found) {
            return None;
        }
        return compare::first_difference(
            bytes,
            source.dtype(),
            &casts,
            found,
            expected.elements(),
        );
    }
    let elements = expected.elements();
    let of_part = |part: usize| {
        let range = part * PART..elements.min((part + 1) * PART);
        let pairs = expected
            .numbers(range.clone())
            .into_iter()
            .zip(found.numbers(range.clone()));
        for (index, pair) in range.zip(pairs) {
            match pair {
                (Err(why), _) | (_, Err(why)) => return Some(Difference::Undefined(index, why)),
                (Ok(expected), Ok(found)) if expected != found => {
                    return Some(Difference::At(index));
                }
                _ => {}
            }
        }
        None
    };
    parallel::map_and_join(elements.div_ceil(PART), of_part, Option::or)
}
