//! Comparison of tensors, one element at a time by the exact path of the casts.

use super::content::{Content, Data};
use super::monotone;
use super::recipe::SubByte;
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::elements::cast::{Cast, convert_element};
use crate::elements::packed;

/// Elements per unit of work.
const PART: Threshold = Threshold::new("part of an exact comparison", 1 << 14).multiple_of(8);

/// The first element in which a tensor differs from another of the same type and shape. The pending casts of `expected` are computed by
/// [`convert_element`], not by the kernels that write files.
#[must_use]
pub fn first_difference(expected: &Content, found: &Content) -> Option<usize> {
    if let (Data::Strings(expected), Data::Strings(found)) = (expected.data(), found.data()) {
        return (0..expected.len().max(found.len())).find(|&index| expected.get(index) != found.get(index));
    }
    let elements = expected.elements().max(found.elements());
    if let Some(fast) = monotone::Comparison::of(expected, found) {
        return parallel::map_and_join(fast.parts(), |part| fast.first_difference(part), Option::or);
    }
    let of_part = PART.get();
    let differs = |part: usize| {
        let first = part * of_part;
        let range = first..elements.min(first + of_part);
        let (expected, found) = (elements_of(expected, first, range.len()), elements_of(found, first, range.len()));
        range.zip(expected.into_iter().zip(found)).find(|(_, (expected, found))| expected != found).map(|(index, _)| index)
    };
    parallel::map_and_join(elements.div_ceil(of_part), differs, Option::or)
}

/// A range of elements.
fn elements_of(content: &Content, first: usize, count: usize) -> Vec<u128> {
    let Data::Numbers(stored, casts) = content.data() else { return Vec::new() };
    let bits = casts.first().map_or(content.dtype(), Cast::from).bits();
    let width = if content.spread_of_storage() == SubByte::Byte { bits.max(8) } else { bits };
    // `first` is a multiple of 8, so that it begins at a byte.
    let (begin, stored) = match content.map() {
        None => (first, stored.part(packed::size(width, first) as u64..packed::size(width, first + count) as u64)),
        Some(_) => (0, stored.to_bytes()),
    };
    let read = |index: usize| {
        let element = match width {
            128 => u128::from_le_bytes(stored.as_chunks().0[index - begin]),
            _ => packed::get(width, &stored, index - begin).into(),
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

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::elements::cast::Rules;
    use crate::elements::dtype::{Class, DType};

    /// Floats of all magnitudes and signs, infinities and NaN, in an order that widens intervals from both ends.
    fn floats() -> Vec<u32> {
        let step = 0x9E37_79B9_u32;
        let special = [0, 0x8000_0000, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0000, 0xFFC0_0001, 0x7F80_0001, 1, 0x8000_0001];
        (0..60_000_u32).map(|index| index.wrapping_mul(step)).chain(special).collect()
    }

    #[test]
    fn the_intervals_decide_as_the_conversion_of_each_element() {
        let sources = floats();
        let bytes: Bytes = sources.iter().flat_map(|source| source.to_le_bytes()).collect::<Vec<u8>>().into();
        let dims = [sources.len() as i64];
        for to in DType::ALL.iter().copied().filter(|to| to.class() == Class::Float && matches!(to.bits(), 8 | 16)) {
            for saturate in [true, false] {
                let Ok(cast) = Cast::new(DType::Float, to, Rules { saturate, opset: 25, ..Rules::default() }) else { continue };
                let width = to.bits() / 8;
                let code = |source: &u32| convert_element(&cast, (*source).into()).0;
                let codes: Vec<u8> = sources.iter().flat_map(|source| code(source).to_le_bytes()[..width].to_vec()).collect();
                let expected =
                    Content::new(DType::Float, &dims, Data::Numbers(bytes.clone().into(), Vec::new())).cast(cast).unwrap().0;
                let found = |codes: &[u8]| Content::new(to, &dims, Data::Numbers(codes.to_vec().into(), Vec::new()));
                assert_eq!(first_difference(&expected, &found(&codes)), None, "{to} {saturate}");
                assert_eq!(monotone::Comparison::of(&expected, &found(&codes)).is_some(), to != DType::Float8E8M0);
                for index in (0..sources.len()).step_by(997).chain([sources.len() - 1]) {
                    let mut codes = codes.clone();
                    codes[index * width] ^= 1;
                    assert_eq!(first_difference(&expected, &found(&codes)), Some(index), "{to} {saturate} {index}");
                }
            }
        }
    }
}
