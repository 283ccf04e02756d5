//! Comparison of a constant with the casts of another one, without the kernels that computed it.
//!
//! The result of each element is that of
//! [`convert_element`](onnx_cast::convert_element), the definition of the casts. Large
//! tensors are compared by rules that follow from it: a table for sources of at most 16 bits,
//! conversions of the machine between its own types, and intervals of sources that have the same
//! result.

mod allowed;
mod blocks;
mod bounds;
mod codes;
mod confirmed;
mod definition;
mod difference;
mod intervals;
mod native;
mod normals;
mod rule;

pub use allowed::Allowed;
pub use confirmed::is_text_confirmed;
pub use definition::{CONTRADICTION, element_result};
pub use difference::Difference;

use crate::base::parallel;
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use codes::Elements;
use onnx_cast::{Cast, DType};
use rule::Rule;

/// The number of elements per job of a thread.
const PART: Threshold = Threshold::new("elements of a compared part", 1 << 18);

/// The first element of `found` that is not that of `source`, of type `from`, after casts. Both are
/// in the layout of `raw_data` and have `count` elements.
pub(super) fn first_difference(
    source: &Stored,
    from: DType,
    casts: &[(Cast, Allowed)],
    found: &Stored,
    count: usize,
) -> Option<Difference> {
    let rule = Rule::of(casts, from, count);
    let source = Elements {
        bytes: source,
        bits: from.bits(),
    };
    let found = Elements {
        bytes: found,
        bits: casts.last().map_or(from, |(last, _)| last.to()).bits(),
    };
    let length = PART.get();
    let of_part = |part: usize| {
        let first = part * length;
        let count = length.min(count - first);
        let difference =
            rule.first_difference(&source.read(first, count), &found.read(first, count));
        source.release(first, count);
        found.release(first, count);
        difference.map(|difference| difference.from(first))
    };
    parallel::map_and_join(count.div_ceil(length), of_part, Option::or)
}

#[cfg(test)]
mod tests;
