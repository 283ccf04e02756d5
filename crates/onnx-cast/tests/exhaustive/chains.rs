//! Proves which casts are exact, and which chains of casts are one cast.

use onnx_cast::{
    Cast, Class, Converter, DType, Rules, collapses, convert_element, copies, embeds, packed,
};
use rayon::prelude::*;

use crate::{at_least_one_in, casts, expect_none, numeric, oracle, raw};

/// The elements of a tensor.
struct Elements {
    dtype: DType,
    count: usize,
    bytes: Vec<u8>,
}

impl Elements {
    fn of(dtype: DType, codes: &[u64]) -> Elements {
        Elements {
            dtype,
            count: codes.len(),
            bytes: raw(dtype, codes),
        }
    }

    fn cast(&self, cast: Cast) -> Elements {
        let mut bytes = vec![0; (self.count * cast.to().bits()).div_ceil(8)];
        Converter::new(cast).convert(&self.bytes, self.count, &mut bytes);
        Elements {
            dtype: cast.to(),
            count: self.count,
            bytes,
        }
    }

    /// The first index at which two results of casts differ. A NaN is equal to any other.
    fn first_difference(&self, other: &Elements) -> Option<usize> {
        let code =
            |elements: &Elements, index| packed::get(elements.dtype.bits(), &elements.bytes, index);
        let is_nan = |elements: &Elements, index| {
            let dtype = elements.dtype;
            dtype.class() == Class::Float && {
                let to_double = Cast::new(dtype, DType::Double, Rules::default()).unwrap();
                f64::from_bits(convert_element(&to_double, code(elements, index)).0).is_nan()
            }
        };
        if self.bytes == other.bytes {
            return None;
        }
        (0..self.count).find(|&index| {
            code(self, index) != code(other, index)
                && !(is_nan(self, index) && is_nan(other, index))
        })
    }
}

/// All values of a type of 16 bits and less; those at which results of casts to `to` change, of a
/// wider one.
fn codes(from: DType, to: DType) -> Vec<u64> {
    match from {
        DType::Bool => vec![0, 1],
        _ if from.bits() <= 8 => (0..=packed::mask(from.bits())).collect(),
        _ if from.bits() <= 16 => (0..=packed::mask(from.bits()))
            .step_by(at_least_one_in(13))
            .collect(),
        _ => {
            let mut codes = oracle::specials(from);
            for (numerator, denominator) in
                oracle::turning_points(to, at_least_one_in(if to.bits() <= 8 { 7 } else { 997 }))
            {
                codes.extend(oracle::codes_around(from, &numerator, denominator));
            }
            codes
        }
    }
}

/// A difference between a chain of casts and one cast, whatever the rules of the casts.
fn difference(from: DType, middle: DType, to: DType) -> Option<String> {
    let source = Elements::of(from, &codes(from, to));
    let middles: Vec<(Cast, Elements)> = casts(from, middle)
        .into_iter()
        .map(|first| (first, source.cast(first)))
        .collect();
    casts(middle, to).into_iter().find_map(|second| {
        // An older opset that does not support the first type.
        let direct = Cast::new(from, to, second.rules()).ok()?;
        let expected = if from == to {
            &source
        } else {
            &source.cast(direct)
        };
        middles.iter().find_map(|(first, middle)| {
            let index = middle.cast(second).first_difference(expected)?;
            let code = packed::get(from.bits(), &source.bytes, index);
            Some(format!(
                "{from} to {} to {to}, {:?}, {:?}: {code:#x}",
                first.to(),
                first.rules(),
                second.rules()
            ))
        })
    })
}

fn triples() -> Vec<(DType, DType, DType)> {
    let pairs = || numeric().flat_map(|from| numeric().map(move |middle| (from, middle)));
    pairs()
        .flat_map(|(from, middle)| numeric().map(move |to| (from, middle, to)))
        .collect()
}

#[test]
fn chains_that_collapse_are_one_cast() {
    let collapsing: Vec<_> = triples()
        .into_iter()
        .filter(|&(from, middle, to)| collapses(from, middle, to))
        .collect();
    assert!(collapsing.len() > 2000, "{}", collapsing.len());
    expect_none(
        collapsing
            .into_par_iter()
            .filter_map(|(from, middle, to)| difference(from, middle, to))
            .collect(),
    );
}

#[test]
fn a_cast_that_copies_changes_nothing() {
    let mut problems = Vec::new();
    for cast in numeric().flat_map(|dtype| casts(dtype, dtype)) {
        let source = Elements::of(cast.from(), &codes(cast.from(), cast.to()));
        let is_copy = source.cast(cast).bytes == source.bytes;
        if copies(cast.from(), cast.to(), cast.rules().saturate) && !is_copy {
            problems.push(format!("{cast:?}"));
        }
    }
    expect_none(problems);
}

/// Every code of every type of up to 16 bits keeps its value exactly if, and only if, `embeds` is
/// true.
#[test]
fn a_type_that_embeds_another_has_all_its_values() {
    let value = |dtype, code| {
        let cast = Cast::new(dtype, DType::Double, Rules::default()).unwrap();
        Some(f64::from_bits(convert_element(&cast, code).0))
            .filter(|value| !value.is_nan())
            .map(f64::to_bits)
    };
    let mut wrong = Vec::new();
    for from in numeric().filter(|from| from.bits() <= 16) {
        for to in numeric() {
            let cast = Cast::new(from, to, Rules::default().saturate(false)).unwrap();
            let codes = if from == DType::Bool {
                2
            } else {
                1_u64 << from.bits()
            };
            let kept = (0..codes)
                .all(|code| value(from, code) == value(to, convert_element(&cast, code).0));
            if kept != embeds(from, to) {
                wrong.push(format!(
                    "{from} to {to} {} every value",
                    if kept { "keeps" } else { "does not keep" }
                ));
            }
        }
    }
    expect_none(wrong);
}

/// Of the chains through a type that has all values of the first type, only those are left out
/// whose result wraps.
#[test]
fn every_chain_through_a_lossless_type_collapses_unless_its_result_wraps() {
    let is_integer =
        |dtype: DType| matches!(dtype.class(), Class::Signed | Class::Unsigned | Class::Bool);
    let lossless = triples().into_iter().filter(|&(from, middle, to)| {
        from.bits() <= 8
            && from != middle
            && middle != to
            && embeds(from, middle)
            && !collapses(from, middle, to)
    });
    let missed: Vec<_> = lossless.collect();
    let problems = missed.into_par_iter().filter(|&(from, middle, to)| {
        let wraps = is_integer(from)
            && middle.class() == Class::Float
            && is_integer(to)
            && !embeds(from, to);
        !wraps && difference(from, middle, to).is_none()
    });
    expect_none(
        problems
            .map(|(from, middle, to)| format!("{from} to {middle} to {to} is one cast"))
            .collect(),
    );
}

/// A chain of integer types that has the result of one cast for every value collapses, also if a
/// cast between wraps.
#[test]
fn every_chain_of_integers_that_is_one_cast_collapses() {
    let is_integer = |dtype: DType| matches!(dtype.class(), Class::Signed | Class::Unsigned);
    let chains: Vec<_> = triples()
        .into_iter()
        .filter(|&(from, middle, to)| {
            from.bits() <= 8
                && from != middle
                && middle != to
                && [from, middle, to].into_iter().all(is_integer)
        })
        .collect();
    let problems = chains.into_par_iter().filter(|&(from, middle, to)| {
        difference(from, middle, to).is_none() != collapses(from, middle, to)
    });
    expect_none(
        problems
            .map(|(from, middle, to)| format!("{from} to {middle} to {to}"))
            .collect(),
    );
}
