//! The laws of casts of the verification are those of the passes, and follow from the definition of
//! the casts.

use onnx_cast::{Cast, Class, DType, Rules, collapses, convert_element, copies, embeds};
use onnx_recast::verify::facts;

use crate::support::expect_no_failures;

#[test]
fn the_laws_are_those_of_the_passes() {
    let mut failures = Vec::new();
    for &from in DType::ALL {
        for &middle in DType::ALL {
            let saturate = [true, false];
            if saturate.iter().any(|&saturate| {
                facts::is_own_input(from, middle, saturate) != copies(from, middle, saturate)
            }) {
                failures.push(format!("a copy of {from} to {middle}"));
            }
            if facts::is_lossless(from, middle) != embeds(from, middle) {
                failures.push(format!(
                    "{from} to {middle} is lossless: {}",
                    embeds(from, middle)
                ));
            }
            for &to in DType::ALL {
                if facts::are_one_cast(from, middle, to) != collapses(from, middle, to) {
                    failures.push(format!(
                        "{from} to {middle} to {to} is one cast: {}",
                        collapses(from, middle, to)
                    ));
                }
            }
        }
        let has_effect = [facts::has_saturate(from), facts::has_round_mode(from)];
        if has_effect != [from.obeys_saturate(), from == DType::Float8E8M0] {
            failures.push(format!("attributes of casts to {from}"));
        }
    }
    expect_no_failures(failures);
}

/// Elements of a type: all of them up to 8 bits, and of wider types many, with those at the edges
/// of all narrower types.
fn elements(dtype: DType) -> Vec<u64> {
    let bits = dtype.bits();
    let mask = u64::MAX >> (64 - bits);
    if bits <= 8 {
        return (0..=mask).collect();
    }
    let mut elements: Vec<u64> = (0..400_u64)
        .map(|index| index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (64 - bits))
        .collect();
    for bit in 0..bits {
        let power = 1 << bit;
        elements.extend([power, power - 1, !power & mask, (mask << bit) & mask]);
    }
    elements
}

/// The result of a cast, by the rules of the latest opset.
fn cast(from: DType, to: DType, element: u64, saturate: bool) -> Option<u64> {
    let cast = Cast::new(from, to, Rules::default().opset(28).saturate(saturate)).ok()?;
    Some(convert_element(&cast, element).0)
}

#[test]
fn the_laws_follow_from_the_definition() {
    let is_number = |dtype: &&DType| !matches!(dtype.class(), Class::String | Class::Complex);
    let numbers: Vec<DType> = DType::ALL.iter().filter(is_number).copied().collect();
    let mut failures = Vec::new();
    let (mut laws, mut equal_middles) = (0, 0);
    for &from in &numbers {
        let elements = elements(from);
        for &middle in &numbers {
            // NaNs become quiet, as by every cast, and those of FLOAT8E5M2 lose their payload.
            let same = |&element: &u64| {
                let back = cast(from, middle, element, false)
                    .and_then(|number| cast(middle, from, number, false));
                let is_nan = |element| {
                    cast(from, DType::Double, element, false)
                        .is_some_and(|bits| f64::from_bits(bits).is_nan())
                };
                back == Some(element) || is_nan(element) && back.is_some_and(is_nan)
            };
            let is_checked =
                facts::is_lossless(from, middle) && from != middle && from != DType::Bool;
            if let Some(element) = elements.iter().find(|element| is_checked && !same(element)) {
                failures.push(format!(
                    "{from} to {middle} is not lossless for {element:#x}"
                ));
            }
            for &to in numbers
                .iter()
                .filter(|&&to| facts::are_one_cast(from, middle, to))
            {
                laws += 1;
                // Two casts that are none make NaNs quiet.
                let differs = |&&element: &&u64| {
                    [true, false].into_iter().any(|saturate| {
                        let first = cast(from, middle, element, saturate);
                        let twice = first.and_then(|number| cast(middle, to, number, saturate));
                        from != to && twice != cast(from, to, element, saturate)
                    })
                };
                if let Some(element) = elements.iter().find(differs) {
                    failures.push(format!(
                        "{from} to {middle} to {to} is not one cast for {element:#x}"
                    ));
                }
            }
            for &to in numbers
                .iter()
                .filter(|&&to| facts::has_equal_middles(from, middle, to))
            {
                equal_middles += 1;
                let differs = |&&element: &&u64| {
                    [true, false].into_iter().any(|saturate| {
                        let through = |middle| {
                            let first = cast(from, middle, element, saturate);
                            first.and_then(|number| cast(middle, to, number, saturate))
                        };
                        through(middle) != through(DType::Float)
                    })
                };
                if let Some(element) = elements.iter().find(differs) {
                    failures.push(format!(
                        "{from} to {middle} to {to} is another cast than through FLOAT for {element:#x}"
                    ));
                }
            }
        }
    }
    assert!(laws > 2000, "only {laws} chains are one cast");
    assert!(
        equal_middles > 100,
        "only {equal_middles} chains are the same through FLOAT"
    );
    expect_no_failures(failures);
}
