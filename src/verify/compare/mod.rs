//! Comparison of a constant with the casts of another one, element by element, without the kernels that computed it.
//!
//! The result of each element is that of [`convert_element`], the definition of the casts. Large tensors are compared by [`Rule`]s that
//! follow from it: a table for sources of at most 16 bits, conversions of the machine between its own types, and intervals of sources that
//! have the same result.

mod codes;
mod contents;
mod intervals;
mod native;
mod normals;
mod rule;

use codes::Elements;
pub(super) use contents::first_difference as first_difference_of_contents;

use crate::base::parallel;
use crate::elements::cast::Cast;
use rule::Rule;

/// Elements per unit of work.
const PART: usize = 1 << 20;

/// The first element of `found` that differs from `source` after `casts`. Both have `count` elements.
fn first_difference(source: &Elements, casts: &[Cast], found: &Elements, count: usize) -> Option<usize> {
    let rule = Rule::of(casts, source, count);
    let differing = |part: usize| {
        let first = part * PART;
        let count = PART.min(count - first);
        let index = rule.first_difference(&source.read(first, count), &found.read(first, count));
        source.release(first, count);
        found.release(first, count);
        index.map(|index| first + index)
    };
    parallel::map_and_join(count.div_ceil(PART), differing, Option::or)
}

#[cfg(test)]
mod tests;
