//! Comparison of tensors, one element at a time by the exact path of the casts.

use super::content::{Content, Data};
use super::recipe::Spread;
use crate::cast::{Cast, convert_element};
use crate::packed;
use crate::parallel;

/// Elements per unit of work.
const PART: usize = 1 << 14;

/// The first element in which a tensor differs from another of the same type and shape. The pending casts of `expected` are computed by
/// [`convert_element`], not by the kernels that write files.
#[must_use]
pub fn first_difference(expected: &Content, found: &Content) -> Option<usize> {
    if let (Data::Strings(expected), Data::Strings(found)) = (expected.data(), found.data()) {
        return (0..expected.len().max(found.len())).find(|&index| expected.get(index) != found.get(index));
    }
    let elements = expected.elements().max(found.elements());
    let differs = |part: usize| {
        let first = part * PART;
        let range = first..elements.min(first + PART);
        let (expected, found) = (elements_of(expected, first, range.len()), elements_of(found, first, range.len()));
        Earliest(
            range.zip(expected.into_iter().zip(found)).find(|(_, (expected, found))| expected != found).map(|(index, _)| index),
        )
    };
    parallel::map_and_join(elements.div_ceil(PART), differs, |before, after| Earliest(before.0.or(after.0))).0
}

#[derive(Default)]
struct Earliest(Option<usize>);

/// A range of elements.
fn elements_of(content: &Content, first: usize, count: usize) -> Vec<u128> {
    let Data::Numbers(stored, casts) = content.data() else { return Vec::new() };
    let bits = casts.first().map_or(content.dtype(), Cast::from).bits();
    let width = if content.spread_of_storage() == Spread::Byte { bits.max(8) } else { bits };
    let read = |index: usize| {
        let element = match width {
            128 => u128::from_le_bytes(stored.as_chunks().0[index]),
            _ => packed::get(width, stored, index).into(),
        };
        if width == bits { element } else { element & u128::from(packed::mask(bits)) }
    };
    let convert = |element: u128| {
        let cast = |element: u128, cast: &Cast| convert_element(cast, element as u64).0.into();
        casts.iter().fold(element, cast)
    };
    match content.map() {
        None => (first..first + count).map(|index| convert(read(index))).collect(),
        Some(map) => {
            let mut elements = Vec::with_capacity(count);
            map.visit(first, count, |index| elements.push(convert(read(index))));
            elements
        }
    }
}
