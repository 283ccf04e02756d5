//! Every rule decides as the definition does.

use super::blocks::Blocks;
use super::codes::Elements;
use super::confirmed::{is_confirmed, is_text_confirmed};
use super::{Allowed, Difference, first_difference, normals};
use crate::base::stored::Stored;
use onnx_cast::{
    Cast, Class, DType, Level, RoundMode, Rules, Verdict, convert_element, format_strings, packed,
    parse_strings,
};

/// Codes of a type: all of narrow ones; of others all magnitudes and signs, infinities and NaN, in
/// an order that widens intervals from both ends.
fn codes(dtype: DType, count: usize) -> Vec<u64> {
    let special: &[u64] = match dtype {
        DType::Float => &[
            0,
            1 << 31,
            0x7F80_0000,
            0xFF80_0000,
            0x7FC0_0000,
            0xFFC0_0001,
            0x7F80_0001,
            1,
            0x3F00_0000,
            0x4F00_0000,
        ],
        DType::Double => &[
            0,
            1 << 63,
            0x7FF0 << 48,
            0xFFF0 << 48,
            0x7FF8 << 48,
            (0x7FF0 << 48) | 1,
            1,
            0x3FE0 << 48,
            0x41E0 << 48,
        ],
        _ => &[0, 1, u64::MAX, 1 << 31, 1 << 63],
    };
    let mixed =
        |index: usize| (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (index as u64) << 3;
    let near_one = |index: usize| match dtype {
        DType::Float => u64::from((index as f32 / 64.0 - 300.0).to_bits()),
        DType::Double => (index as f64 / 64.0 - 300.0).to_bits(),
        _ => index as u64,
    };
    let codes = (0..count).map(|index| match index {
        _ if index < special.len() => special[index],
        _ if dtype.bits() <= 16 => index as u64,
        _ if index % 2 == 0 => near_one(index),
        _ => mixed(index),
    });
    codes
        .map(|code| code & packed::mask(dtype.bits()))
        .collect()
}

fn stored(dtype: DType, codes: &[u64]) -> Stored {
    let mut bytes = vec![0; packed::size(dtype.bits(), codes.len())];
    for (index, &code) in codes.iter().enumerate() {
        packed::put(dtype.bits(), &mut bytes, index, code);
    }
    bytes.into()
}

fn numeric() -> impl Iterator<Item = DType> {
    DType::ALL
        .iter()
        .copied()
        .filter(|dtype| !matches!(dtype.class(), Class::String | Class::Complex))
}

/// A wrong decision about the results of casts of these codes, if there is one.
fn failure(casts: &[Cast], codes: &[u64]) -> Option<String> {
    let allowed = Allowed::ALL;
    let allowing: Vec<(Cast, Allowed)> = casts.iter().map(|&cast| (cast, allowed)).collect();
    let (from, to) = (casts[0].from(), casts[casts.len() - 1].to());
    let source = stored(from, codes);
    let results: Vec<u64> = codes
        .iter()
        .map(|&code| {
            casts
                .iter()
                .fold(code, |element, cast| convert_element(cast, element).0)
        })
        .collect();
    let differing = |results: &[u64]| {
        first_difference(&source, from, &allowing, &stored(to, results), codes.len())
    };
    if let Some(difference) = differing(&results) {
        return Some(format!("{casts:?}: {difference:?}"));
    }
    for index in (0..codes.len())
        .step_by(codes.len() / 9 + 1)
        .chain([codes.len() - 1])
    {
        let mut results = results.clone();
        results[index] ^= 1;
        if differing(&results) != Some(Difference::At(index)) {
            return Some(format!(
                "{casts:?}: {:?} instead of element {index}, which is wrong",
                differing(&results)
            ));
        }
    }
    None
}

#[test]
fn all_casts_are_compared_as_they_are_defined() {
    let mut failed = Vec::new();
    for from in numeric() {
        for to in numeric() {
            let counts: &[usize] = match from {
                // Enough for the intervals of all results.
                DType::Float if to.is_float8() => &[40_000, 40_000],
                // More than the codes of 16 bits, so that these are compared by a table, too.
                _ if from.bits() > 8 && from.bits() <= 16 => &[300, 66_000],
                _ => &[300, 5000],
            };
            for (saturate, &count) in [true, false].into_iter().zip(counts) {
                let rules = Rules::default().opset(28).saturate(saturate);
                let Ok(cast) = Cast::new(from, to, rules) else {
                    continue;
                };
                failed.extend(failure(&[cast], &codes(from, count)));
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The types to which FLOAT is compared by arithmetic.
const BY_ARITHMETIC: [DType; 6] = [
    DType::Float16,
    DType::Bfloat16,
    DType::Float8E4M3Fn,
    DType::Float8E4M3Fnuz,
    DType::Float8E5M2,
    DType::Float8E5M2Fnuz,
];

/// Numbers around all ends of the intervals of FLOAT numbers with one result.
fn around_ends(cast: &Cast) -> Vec<u32> {
    let result = |magnitude: u32| convert_element(cast, magnitude.into()).0;
    let (mut around, mut first) = (Vec::new(), 0);
    while first < 0x7F80_0000 {
        let (mut last, mut end) = (first, 0x7F80_0000);
        while end - last > 1 {
            let middle = last + (end - last) / 2;
            if result(middle) == result(first) {
                last = middle
            } else {
                end = middle
            }
        }
        around.extend([
            first,
            first + 1,
            first.midpoint(last),
            last.saturating_sub(1),
            last,
        ]);
        first = last + 1;
    }
    around.extend([0x7F80_0000, 0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF]);
    around
        .iter()
        .flat_map(|magnitude| [*magnitude, magnitude | 1 << 31])
        .collect()
}

#[test]
fn arithmetic_shows_only_right_codes_to_be_right() {
    let mut failed = Vec::new();
    for to in BY_ARITHMETIC {
        let cast = Cast::new(DType::Float, to, Rules::default().opset(28)).unwrap();
        let leading = normals::of(&cast, Level::Portable).unwrap();
        let width = to.bits() / 8;
        let (mut right, mut shown) = (0, 0);
        for source in around_ends(&cast) {
            let result = convert_element(&cast, source.into()).0 as u16;
            let is_shown = |code: u16| {
                let found = &code.to_le_bytes()[..width];
                leading(blocks(&source.to_le_bytes(), found)) == 1
            };
            // All codes of 8 bits; of 16 bits the neighbours, zeros, the largest, and those that
            // differ in one bit.
            let wrong: Vec<u16> = if width == 1 {
                (0..=255).collect()
            } else {
                let near = [-2, -1, 1, 2].map(|step| result.wrapping_add_signed(step));
                let far = [0, 0x8000, 0x7BFF, 0x7C00, 0x7F7F, 0x7F80, 0x7FFF, 0xFFFF];
                let bits = (0..16).map(|bit| result ^ 1 << bit);
                bits.chain(near).chain(far).collect()
            };
            failed.extend(
                wrong
                    .into_iter()
                    .filter(|&code| code != result && is_shown(code))
                    .map(|code| format!("{source:#x} to {code:#x} of {to}")),
            );
            // FLOAT has no power of two for the spacing of these.
            let is_beyond = to == DType::Bfloat16 && result & 0x7FFF > 0x777F;
            right += usize::from(!is_beyond);
            shown += usize::from(is_shown(result));
        }
        if right < 1200 || shown * 100 < right * 98 {
            failed.push(format!(
                "{to}: {shown} of {right} results are shown to be right"
            ));
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// Blocks of FLOAT and of as many results.
fn blocks<'b>(source: &'b [u8], found: &'b [u8]) -> Blocks<'b> {
    Blocks {
        source,
        found,
        widths: (4, 4 * found.len() / source.len()),
        length: 64,
    }
}

#[test]
fn every_level_finds_a_wrong_code_at_any_place_of_a_block() {
    for to in BY_ARITHMETIC {
        let cast = Cast::new(DType::Float, to, Rules::default().opset(28)).unwrap();
        let width = to.bits() / 8;
        let numbers: Vec<f32> = (0..200).map(|index| (index as f32 - 99.5) / 70.0).collect();
        let codes = numbers.iter().map(|number| u64::from(number.to_bits()));
        let source: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        let right: Vec<u8> = codes
            .flat_map(|code| convert_element(&cast, code).0.to_le_bytes()[..width].to_vec())
            .collect();
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            let leading = normals::of(&cast, level).unwrap();
            assert_eq!(leading(blocks(&source, &right)), 4, "{to} {level:?}");
            for wrong in 0..numbers.len() {
                let mut found = right.clone();
                found[wrong * width] ^= 1;
                let shown = leading(blocks(&source, &found));
                assert_eq!(shown, wrong / 64, "{to} {level:?}: element {wrong}");
            }
        }
    }
}

#[test]
fn chains_of_casts_are_compared_as_they_are_defined() {
    use DType::{Double, Float, Float8E4M3Fn, Float16, Int4, Int8};
    let mut failed = Vec::new();
    for chain in [
        [Float, Float16, Double],
        [Float16, Int8, Float],
        [Double, Float, Float8E4M3Fn],
        [Int4, Float, Int8],
    ] {
        let casts: Vec<Cast> = chain
            .windows(2)
            .map(|pair| Cast::new(pair[0], pair[1], Rules::default().opset(28)).unwrap())
            .collect();
        failed.extend(failure(&casts, &codes(chain[0], 70_000)));
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn results_that_are_not_defined_are_found() {
    let nan = u64::from(f32::NAN.to_bits());
    let large = u64::from(300_f32.to_bits());
    let half = u64::from(0.5_f32.to_bits());
    let infinity = u64::from(f32::INFINITY.to_bits());
    let mut failed = Vec::new();
    for (to, source, opset) in [
        (DType::Int8, large, 25),
        (DType::Int8, nan, 25),
        (DType::Int64, infinity, 25),
        (DType::Int4, half, 25),
        (DType::Float8E4M3Fnuz, infinity, 19),
        (DType::Float4E2M1, nan, 25),
        (DType::Float6E2M3, large, 28),
    ] {
        let cast = Cast::new(DType::Float, to, Rules::default().opset(opset)).unwrap();
        let mut codes = codes(DType::Float, 0);
        codes.resize(500, 0);
        codes[321] = source;
        let results: Vec<u64> = codes
            .iter()
            .map(|&code| convert_element(&cast, code).0)
            .collect();
        let found = |is_allowed: bool| {
            let allowed = Allowed {
                undefined: is_allowed,
                contested: is_allowed,
                ..Allowed::ALL
            };
            first_difference(
                &stored(DType::Float, &codes),
                DType::Float,
                &[(cast, allowed)],
                &stored(to, &results),
                500,
            )
        };
        if !matches!(found(false), Some(Difference::Undefined(321, _))) || found(true).is_some() {
            failed.push(format!(
                "{to} at opset {opset}: {:?}, {:?}",
                found(false),
                found(true)
            ));
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// All rules that decide about casts to a type.
fn rules_of(to: DType) -> Vec<Rules> {
    let round_modes: &[RoundMode] = match to {
        DType::Float8E8M0 => &[RoundMode::Up, RoundMode::Down, RoundMode::Nearest],
        _ => &[RoundMode::Up],
    };
    let of = |&(opset, saturate): &(u32, bool)| {
        let rules = Rules::default().opset(opset).saturate(saturate);
        round_modes.iter().map(move |&mode| rules.round_mode(mode))
    };
    [(19, true), (28, true), (28, false)]
        .iter()
        .flat_map(of)
        .collect()
}

#[test]
fn both_implementations_of_the_casts_agree() {
    let mut failed = Vec::new();
    for from in numeric() {
        for to in numeric() {
            for rules in rules_of(to) {
                let Ok(cast) = Cast::new(from, to, rules) else {
                    continue;
                };
                for code in codes(from, 66_000)
                    .into_iter()
                    .chain(around_middles(from, to))
                {
                    let (result, verdict) = convert_element(&cast, code);
                    if verdict == Verdict::Defined && !is_confirmed(&cast, code, result) {
                        failed.push(format!("{cast:?}: {code:#x} to {result:#x}"));
                        break;
                    }
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

/// The codes of FLOAT and DOUBLE in the middle between two neighbours of a narrow float, and beside
/// it.
fn around_middles(from: DType, to: DType) -> Vec<u64> {
    let is_wide = matches!(from, DType::Float | DType::Double);
    if !is_wide || to.class() != Class::Float || to.bits() > 16 {
        return Vec::new();
    }
    let value = |code: u64, wide: DType| {
        convert_element(&Cast::new(to, wide, Rules::default()).unwrap(), code).0
    };
    let sum_and_half = |code: u64| {
        if from == DType::Float {
            let of = |code| f32::from_bits(value(code, from) as u32);
            u64::from((of(code) / 2.0 + of(code + 1) / 2.0).to_bits())
        } else {
            let of = |code| f64::from_bits(value(code, from));
            f64::midpoint(of(code), of(code + 1)).to_bits()
        }
    };
    let last = (1_u64 << (to.bits() - 1)) - 1;
    (0..last)
        .flat_map(|code| [-1, 0, 1].map(|step| sum_and_half(code).wrapping_add_signed(step)))
        .collect()
}

#[test]
fn the_neighbours_of_a_result_are_not_confirmed() {
    let mut failed = Vec::new();
    for from in numeric() {
        for to in numeric() {
            let Ok(cast) = Cast::new(from, to, Rules::default().opset(28)) else {
                continue;
            };
            for code in codes(from, 300) {
                let (result, verdict) = convert_element(&cast, code);
                let wrong = result ^ 1;
                let is_nan = |dtype: DType, code: u64| f64::from_bits(double(dtype, code)).is_nan();
                if verdict == Verdict::Defined
                    && !is_nan(from, code)
                    && is_confirmed(&cast, code, wrong)
                {
                    failed.push(format!("{cast:?}: {code:#x} to {wrong:#x}"));
                    break;
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn texts_have_the_numbers_of_their_codes_alone() {
    // Between them are numbers halfway between two of a type, and halfway beyond the largest.
    let literals = "0 -0 1 +7 -1.5e+2 .5 5. 0.1 1e400 -1e-400 465 65519.999999999999 INF nan 65520 -65520 464 -464 61440 7 2049 1.00390625 339617752923046005526922703901628039168";
    let mut failed = Vec::new();
    for dtype in numeric().filter(|&dtype| dtype != DType::Bool) {
        let written = Cast::new(dtype, DType::String, Rules::default().opset(28)).unwrap();
        for code in codes(dtype, 300) {
            let texts = format_strings(&written, &stored(dtype, &[code]).to_bytes(), 1).0;
            let is_confirmed =
                |code: u64| is_text_confirmed(dtype, false, texts[0].as_bytes(), code);
            let is_decided = dtype != DType::Float8E8M0 && texts[0] != "NaN";
            if !is_confirmed(code) || is_decided && is_confirmed(code ^ 1 << (dtype.bits() - 2)) {
                failed.push(format!("{code:#x} of {dtype} is {}", texts[0]));
            }
        }
        for saturate in [true, false] {
            let read = Cast::new(
                DType::String,
                dtype,
                Rules::default().opset(28).saturate(saturate),
            )
            .unwrap();
            for literal in literals.split(' ') {
                let Ok((bytes, summary)) = parse_strings(&read, &[literal]) else {
                    continue;
                };
                let code = packed::get(dtype.bits(), &bytes, 0);
                let is_defined = summary.undefined.count + summary.contested.count == 0;
                if is_defined && !is_text_confirmed(dtype, saturate, literal.as_bytes(), code) {
                    failed.push(format!("{literal} is {code:#x} of {dtype}"));
                }
            }
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
}

fn double(dtype: DType, code: u64) -> u64 {
    convert_element(
        &Cast::new(dtype, DType::Double, Rules::default()).unwrap(),
        code,
    )
    .0
}

#[test]
fn narrow_elements_are_read_at_any_place() {
    let source: Stored = vec![0x10, 0x32, 0x54].into();
    let read = |bits, first, count| {
        Elements {
            bytes: &source,
            bits,
        }
        .read(first, count)
        .to_vec()
    };
    assert_eq!(read(4, 1, 4), [1, 2, 3, 4]);
    assert_eq!(read(6, 0, 4), [0x10, 0x08, 0x03, 0x15]);
    assert_eq!(read(6, 2, 1), [0x03]);
    assert_eq!(read(2, 5, 2), [0, 3]);
    assert_eq!(read(8, 1, 2), [0x32, 0x54]);
}
