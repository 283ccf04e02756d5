//! The comparison of tensors with pending casts and moves.

use super::codes::{Elements, Positions};
use crate::base::stored::Stored;
use crate::elements::cast::Cast;
use crate::tensor::{Content, Data, SubByte};

/// The first element in which a tensor differs from another one of the same type and shape, which has no pending casts.
pub(in crate::verify) fn first_difference(expected: &Content, found: &Content) -> Option<usize> {
    match (expected.data(), found.data()) {
        (Data::Strings(expected), Data::Strings(found)) => {
            (0..expected.len().max(found.len())).find(|&index| expected.get(index) != found.get(index))
        }
        (Data::Numbers(source, casts), Data::Numbers(bytes, none)) if none.is_empty() => {
            let positions = |content: &Content| {
                content.map().map(|map| {
                    let map = map.clone();
                    move |first: usize, places: &mut [usize]| {
                        let mut places = places.iter_mut();
                        map.visit(first, places.len(), |place| {
                            if let Some(next) = places.next() {
                                *next = place;
                            }
                        });
                    }
                })
            };
            let (of_expected, of_found) = (positions(expected), positions(found));
            let from = casts.first().map_or(expected.dtype(), Cast::from).bits();
            let source = elements(source, from, expected, of_expected.as_ref().map(|positions| positions as &Positions));
            let bytes = elements(bytes, found.dtype().bits(), found, of_found.as_ref().map(|positions| positions as &Positions));
            super::first_difference(&source, casts, &bytes, expected.elements())
        }
        _ => Some(0),
    }
}

/// The stored elements of a tensor, of `bits` before its casts.
fn elements<'e>(bytes: &'e Stored, bits: usize, content: &Content, positions: Option<&'e Positions<'e>>) -> Elements<'e> {
    let is_spread = content.spread_of_storage() == SubByte::Byte;
    Elements { bytes, bits, stored_bits: if is_spread { bits.max(8) } else { bits }, positions }
}
