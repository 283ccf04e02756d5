//! Verifies casts: the kernels against the exact path, the exact path against arbitrary-precision
//! integers.
//!
//! `cargo test -p onnx-cast --test exhaustive` tests a sample in seconds.
//! `EXHAUSTIVE=1 cargo test --release -p onnx-cast --test exhaustive` tests all 2^32 codes of FLOAT to every
//! float of at most 16 bits, all codes of narrower types to every type, and every breakpoint of the
//! wider types, in a few minutes; `EXHAUSTIVE=N` tests one in N of each.

mod chains;
mod oracle;

use onnx_cast::{
    Cast, Class, Contested, Converter, DType, Level, RoundMode, Rules, Verdict, convert_element,
    packed, parse_strings,
};
use oracle::Expected;
use proptest::prelude::*;
use rayon::prelude::*;

/// The `N` of `EXHAUSTIVE=N`, if set: one in N cases is tested.
fn one_in() -> Option<usize> {
    std::env::var("EXHAUSTIVE").ok().map(|text| {
        text.parse()
            .expect("EXHAUSTIVE is a number N: one in N cases is tested")
    })
}

/// The default share of cases, unless `EXHAUSTIVE` is set.
fn at_least_one_in(usual: usize) -> usize {
    one_in().map_or(usual, |asked| asked.min(usual))
}

fn numeric() -> impl Iterator<Item = DType> {
    DType::ALL
        .iter()
        .copied()
        .filter(|dtype| !matches!(dtype.class(), Class::String | Class::Complex))
}

fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

/// All casts between two types with rules that affect the result.
fn casts(from: DType, to: DType) -> Vec<Cast> {
    let is_fnuz = matches!(to, DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz);
    let is_narrow = to.bits() < 8 && !matches!(to, DType::Float6E2M3 | DType::Float6E3M2);
    let is_scale = to == DType::Float8E8M0;
    let round_modes = if is_scale {
        vec![RoundMode::Up, RoundMode::Down, RoundMode::Nearest]
    } else {
        vec![RoundMode::Up]
    };
    let readings = if is_fnuz || is_narrow || from == to {
        vec![Contested::Text, Contested::Runtime]
    } else {
        vec![Contested::Text]
    };
    let mut casts = Vec::new();
    for round_mode in round_modes {
        for saturate in if is_scale || to.is_float8() {
            vec![true, false]
        } else {
            vec![true]
        } {
            for opset in if is_fnuz { vec![23, 28] } else { vec![28] } {
                // Infinities cast to FNUZ types are contested only in the older text, and only with
                // saturation.
                let one_reading = is_fnuz && (opset == 28 || !saturate);
                for &contested in if one_reading {
                    &readings[..1]
                } else {
                    &readings
                } {
                    casts.extend(Cast::new(
                        from,
                        to,
                        Rules::default()
                            .saturate(saturate)
                            .round_mode(round_mode)
                            .opset(opset)
                            .contested(contested),
                    ));
                }
            }
        }
    }
    casts
}

fn raw(dtype: DType, codes: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; dtype.raw_bytes(codes.len() as u64).unwrap() as usize];
    codes
        .iter()
        .enumerate()
        .for_each(|(index, &code)| packed::put(dtype.bits(), &mut bytes, index, code));
    bytes
}

/// The first element for which a kernel differs from the exact path.
fn kernel_problem(cast: &Cast, source: &[u8], elements: usize) -> Option<String> {
    let bits = cast.to().bits();
    let mut exact = vec![0; (elements * bits).div_ceil(8)];
    cast.convert_exactly(source, elements, &mut exact);
    levels().find_map(|level| {
        let mut fast = vec![0xFF; exact.len()];
        Converter::for_level(*cast, level).convert(source, elements, &mut fast);
        if fast == exact {
            return None;
        }
        let index = (0..elements)
            .find(|&index| packed::get(bits, &fast, index) != packed::get(bits, &exact, index))?;
        let [fast, exact] = [&fast, &exact].map(|bytes| packed::get(bits, bytes, index));
        let source = packed::get(cast.from().bits(), source, index);
        Some(format!(
            "{cast:?} with {level:?}: {source:#x} becomes {fast:#x}, not {exact:#x}"
        ))
    })
}

/// The errors of the exact path and the survey for one element.
fn exact_problem(cast: &Cast, code: u64) -> Option<String> {
    let (result, verdict) = convert_element(cast, code);
    let expected = oracle::cast(cast.from(), cast.to(), cast.rules(), code);
    let same_kind = matches!(
        (verdict, expected),
        (Verdict::Defined, Expected::Defined(_))
            | (Verdict::Undefined(_), Expected::Undefined(_))
            | (Verdict::Contested(_), Expected::Contested(_))
    );
    let right = same_kind && result == expected.code();
    (!right)
        .then(|| format!("{cast:?}: {code:#x} becomes {result:#x}, {verdict:?}, not {expected:x?}"))
}

/// The first problem of a cast with these elements.
fn problem(cast: &Cast, codes: &[u64]) -> Option<String> {
    let source = raw(cast.from(), codes);
    let counted = cast.survey(&source, codes.len());
    let exactly = cast.survey_exactly(&source, codes.len());
    if counted != exactly {
        return Some(format!("{cast:?}: counted {counted:?}, not {exactly:?}"));
    }
    if cast.is_always_defined() && !exactly.is_defined() {
        return Some(format!("{cast:?} is not always defined: {exactly:?}"));
    }
    kernel_problem(cast, &source, codes.len())
        .or_else(|| codes.iter().find_map(|&code| exact_problem(cast, code)))
}

fn expect_none(problems: Vec<String>) {
    assert!(
        problems.is_empty(),
        "{} casts are wrong\n{}",
        problems.len(),
        problems.join("\n")
    );
}

#[test]
fn single_floats_to_every_float_of_16_bits_and_fewer() {
    const BLOCK: u64 = 1 << 16;
    let targets = || numeric().filter(|to| to.class() == Class::Float && to.bits() <= 16);
    let casts: Vec<Cast> = targets().flat_map(|to| casts(DType::Float, to)).collect();
    let blocks: Vec<u64> = (0..1 << 16).step_by(one_in().unwrap_or(4099)).collect();
    let stride = if one_in().is_some() { 1 } else { 13 };
    let problems = blocks.par_iter().flat_map(|block| {
        let codes: Vec<u64> = (block * BLOCK..(block + 1) * BLOCK)
            .step_by(stride)
            .collect();
        let source = raw(DType::Float, &codes);
        casts
            .iter()
            .find_map(|cast| kernel_problem(cast, &source, codes.len()))
    });
    expect_none(problems.collect());
}

#[test]
fn every_code_of_16_bits_and_fewer_to_every_type() {
    let stride = |from: DType| {
        if from.bits() <= 8 {
            1
        } else {
            at_least_one_in(211)
        }
    };
    let problems = numeric()
        .filter(|from| from.bits() <= 16)
        .par_bridge()
        .flat_map_iter(|from| {
            let codes: Vec<u64> = (0..=packed::mask(from.bits()))
                .step_by(stride(from))
                .collect();
            numeric()
                .flat_map(move |to| casts(from, to))
                .filter_map(move |cast| problem(&cast, &codes))
                .collect::<Vec<String>>()
        });
    expect_none(problems.collect());
}

#[test]
fn wide_types_at_every_breakpoint_of_every_type() {
    let pairs: Vec<(DType, DType)> = numeric()
        .filter(|from| from.bits() > 16)
        .flat_map(|from| numeric().map(move |to| (from, to)))
        .collect();
    let problems = pairs.into_par_iter().flat_map_iter(|(from, to)| {
        let stride = at_least_one_in(if to.bits() <= 8 { 7 } else { 997 });
        let mut codes = oracle::specials(from);
        for (numerator, denominator) in oracle::turning_points(to, stride) {
            codes.extend(oracle::codes_around(from, &numerator, denominator));
        }
        casts(from, to)
            .into_iter()
            .filter_map(move |cast| problem(&cast, &codes))
            .collect::<Vec<String>>()
    });
    expect_none(problems.collect());
}

proptest! {
    #[test]
    fn any_elements_of_any_pair(from in 0..25_usize, to in 0..25_usize, codes in prop::collection::vec(any::<u64>(), 1..300)) {
        let types: Vec<DType> = numeric().collect();
        let (from, to) = (types[from], types[to]);
        let codes: Vec<u64> = codes.into_iter().map(|code| code & packed::mask(from.bits())).collect();
        for cast in casts(from, to) {
            prop_assert_eq!(problem(&cast, &codes), None);
        }
    }

    #[test]
    fn integers_of_any_length_are_cast_like_floats_of_any_size(to in 0..25_usize, integers in prop::collection::vec((any::<i64>(), 0..64_u32), 1..200)) {
        let to = numeric().nth(to).unwrap();
        let shifted: Vec<i64> = integers.into_iter().map(|(integer, shift)| integer >> shift).collect();
        for cast in casts(DType::Int64, to) {
            let codes: Vec<u64> = shifted.iter().map(|integer| integer.cast_unsigned()).collect();
            prop_assert_eq!(problem(&cast, &codes), None);
        }
        for cast in casts(DType::Double, to) {
            let codes: Vec<u64> = shifted.iter().map(|&integer| (integer as f64 / 1024.0).to_bits()).collect();
            prop_assert_eq!(problem(&cast, &codes), None);
        }
    }

    #[test]
    fn decimal_literals_are_rounded_once(digits in "[0-9]{1,40}", point in 0..40_usize, exponent in -60..60_i32, to in 0..25_usize) {
        let to = numeric().nth(to).unwrap();
        prop_assume!(to.class() == Class::Float && to != DType::Float8E8M0);
        let point = point.min(digits.len());
        let literal = format!("{}.{}e{exponent}", &digits[..point], &digits[point..]);
        let cast = Cast::new(DType::String, to, Rules::default()).unwrap();
        let (bytes, _) = parse_strings(&cast, &[&literal]).unwrap();
        let ten = |power: i32| num_bigint::BigUint::from(10_u32).pow(power.max(0).cast_unsigned());
        let power = exponent - (digits.len() - point) as i32;
        let numerator = (digits.parse::<num_bigint::BigUint>().unwrap() * ten(power)) << 1100_u32;
        let expected = oracle::nearest(to, &numerator, &ten(-power));
        let found = packed::get(to.bits(), &bytes, 0);
        // Beyond the largest number: infinity or the largest number.
        prop_assert!(expected.is_none_or(|code| code == found), "{} to {} is {:#x}, not {:#x?}", literal, to, found, expected);
        prop_assert!(expected.is_some() || oracle::is_edge(to, found), "{} to {} is {:#x}", literal, to, found);
    }
}
