use super::survey::Survey;
use super::*;
use crate::dtype::{Class, DType};
use crate::float_format::Format;
use crate::packed;

/// Numbers and their codes.
type Codes<'a> = &'a [(f32, u64)];

/// Casts one `f32`; returns the code and the verdict.
fn from_f32(to: DType, rules: Rules, number: f32) -> (u64, Verdict) {
    convert_element(
        &Cast::new(DType::Float, to, rules).unwrap(),
        u64::from(number.to_bits()),
    )
}

#[test]
fn types_are_supported_from_their_first_opset() {
    let rules = |opset| Rules {
        opset,
        ..Rules::default()
    };
    assert!(Cast::new(DType::Float, DType::Float8E5M2, rules(19)).is_ok());
    let refused = Cast::new(DType::Float, DType::Float8E5M2, rules(18)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "Cast does not support FLOAT8E5M2 before opset 19; the opset is 18"
    );
    let never = Cast::new(DType::Complex64, DType::Float, rules(28)).unwrap_err();
    assert_eq!(
        never.to_string(),
        "Cast does not support COMPLEX64 in any opset"
    );
}

#[test]
fn documented_values_of_onnx() {
    use DType::*;
    let saturate = Rules::default();
    let not = Rules {
        saturate: false,
        ..saturate
    };
    let nearest = Rules {
        round_mode: RoundMode::Nearest,
        ..not
    };
    let infinity = f32::INFINITY;
    let cases: [(DType, Rules, Codes<'_>); 13] = [
        (
            Float8E4M3Fn,
            saturate,
            &[
                (464.0, 0x7E),
                (infinity, 0x7E),
                (-f32::NAN, 0xFF),
                (-0.0, 0x80),
            ],
        ),
        (
            Float8E4M3Fn,
            not,
            &[(464.0, 0x7E), (464.1, 0x7F), (-1e9, 0xFF)],
        ),
        (
            Float8E4M3Fnuz,
            saturate,
            &[(-0.0, 0x00), (-1e-30, 0x00), (-infinity, 0xFF)],
        ),
        (Float8E4M3Fnuz, not, &[(infinity, 0x80)]),
        (Float8E5M2, saturate, &[(infinity, 0x7B)]),
        (Float8E5M2, not, &[(-infinity, 0xFC), (f32::NAN, 0x7E)]),
        (
            Float4E2M1,
            saturate,
            &[(-8.0, 0xF), (0.25, 0x0), (0.75, 0x2)],
        ),
        (Float8E8M0, saturate, &[(1.5, 128), (0.0, 0), (1e-45, 0)]),
        (Float8E8M0, nearest, &[(0.0, 0xFF), (1.5, 128), (1.49, 127)]),
        (Float16, saturate, &[(65520.0, 0x7C00), (65519.9, 0x7BFF)]),
        (Bool, saturate, &[(-0.0, 0), (f32::NAN, 1)]),
        (Int8, saturate, &[(-128.9, 0x80)]),
        // The number rounds down to the largest one: overflow is detected after rounding.
        (Float6E2M3, saturate, &[(7.7499995, 0x1F)]),
    ];
    for (to, rules, elements) in cases {
        for &(number, code) in elements {
            assert_eq!(
                from_f32(to, rules, number),
                (code, Verdict::Defined),
                "{number} to {to}, {rules:?}"
            );
        }
    }
}

#[test]
fn undefined_elements_have_our_value() {
    use DType::*;
    let cases: [(DType, Codes<'_>); 8] = [
        (Int8, &[(200.0, 0x7F), (f32::NAN, 0)]),
        (Uint8, &[(-1.0, 0)]),
        (Int64, &[(f32::INFINITY, i64::MAX as u64)]),
        (Int4, &[(9.0, 0x9), (-9.5, 0x7)]),
        (Uint2, &[(1e30, 0), (f32::INFINITY, 0)]),
        (Float6E2M3, &[(f32::INFINITY, 0x1F), (-7.75, 0x3F)]),
        (Float6E3M2, &[(f32::NAN, 0x1F)]),
        (Float8E8M0, &[(-0.0, 0xFF), (-2.0, 0xFF)]),
    ];
    for (to, elements) in cases {
        for &(number, code) in elements {
            let (bits, verdict) = from_f32(to, Rules::default(), number);
            assert!(
                matches!(verdict, Verdict::Undefined(_)),
                "{number} to {to} is {verdict:?}"
            );
            assert_eq!(bits, code, "{number} to {to}");
        }
    }
}

#[test]
fn contested_elements_have_the_chosen_value() {
    use DType::*;
    let cases = [
        (Float8E5M2Fnuz, 23, f32::INFINITY, 0x80, 0x7F),
        (Float8E4M3Fnuz, 19, -f32::INFINITY, 0x80, 0xFF),
        (Float4E2M1, 23, f32::NAN, 0x7, 0x8),
        (Float4E2M1, 28, -f32::NAN, 0x7, 0x0),
        (Int4, 21, 2.5, 2, 2),
        (Int4, 21, -3.7, 0xC, 0xD),
        (Int4, 21, 7.5, 0x8, 0x7),
        (Uint2, 25, -0.5, 0, 0),
    ];
    for (to, opset, number, text, runtime) in cases {
        for (contested, code) in [(Contested::Text, text), (Contested::Runtime, runtime)] {
            let (bits, verdict) = from_f32(
                to,
                Rules {
                    opset,
                    contested,
                    ..Rules::default()
                },
                number,
            );
            assert!(
                matches!(verdict, Verdict::Contested(_)),
                "{number} to {to} is {verdict:?}"
            );
            assert_eq!(bits, code, "{number} to {to}, {contested:?}");
        }
    }
    let same = Cast::new(Float8E5M2, Float8E5M2, Rules::default()).unwrap();
    assert!(!same.is_always_defined());
    assert_eq!(convert_element(&same, 0xFC).0, 0xFB);
}

#[test]
fn casts_that_are_always_defined_define_every_code() {
    let rules = Rules::default();
    for &from in DType::ALL
        .iter()
        .filter(|dtype| (1..=16).contains(&dtype.bits()))
    {
        for &to in DType::ALL.iter().filter(|dtype| dtype.bits() > 0) {
            for opset in [23, 28] {
                for (saturate, round_mode) in [
                    (true, RoundMode::Up),
                    (false, RoundMode::Nearest),
                    (true, RoundMode::Down),
                ] {
                    let Ok(cast) = Cast::new(
                        from,
                        to,
                        Rules {
                            opset,
                            saturate,
                            round_mode,
                            ..rules
                        },
                    ) else {
                        continue;
                    };
                    let every = (0..=packed::mask(from.bits()))
                        .all(|code| convert_element(&cast, code).1 == Verdict::Defined);
                    assert_eq!(cast.is_always_defined(), every, "{cast:?}");
                }
            }
        }
    }
}

/// All rules that can affect a cast to a type.
fn rules_of(to: DType) -> Vec<Rules> {
    let (up, is_scale) = (RoundMode::Up, to == DType::Float8E8M0);
    let round_modes = if is_scale {
        vec![up, RoundMode::Down, RoundMode::Nearest]
    } else {
        vec![up]
    };
    let saturates = if is_scale || to.is_float8() {
        vec![true, false]
    } else {
        vec![true]
    };
    let opsets = if to.is_float8() {
        vec![23, 28]
    } else {
        vec![28]
    };
    let mut all = Vec::new();
    for contested in [Contested::Text, Contested::Runtime] {
        for &saturate in &saturates {
            for &opset in &opsets {
                all.extend(round_modes.iter().map(|&round_mode| Rules {
                    saturate,
                    round_mode,
                    opset,
                    contested,
                }));
            }
        }
    }
    all
}

/// A sample of a few thousand interesting elements; `tests/exhaustive/` tests all of them.
fn sample(dtype: DType) -> Vec<u64> {
    let all = adversaries(dtype);
    let stride = (all.len() / 2000) | 1;
    all.into_iter().step_by(stride).collect()
}

/// Interesting elements: all codes of up to 16 bits; for wider types, every exponent with mantissas
/// that are ties in a narrower type, and their neighbours, and integers next to powers of two.
fn adversaries(dtype: DType) -> Vec<u64> {
    let bits = dtype.bits();
    if bits <= 16 {
        return (0..=packed::mask(bits)).collect();
    }
    let mut all = Vec::new();
    if let Some(format) = Format::of(dtype) {
        let width = format.mantissa_bits;
        for exponent in 0..1_u64 << format.exponent_bits {
            for keep in 0..=11 {
                let (unit, half) = (1_u64 << (width - keep), 1_u64 << (width - keep) >> 1);
                for mantissa in [0, unit, half, unit | half, u64::MAX << (width - keep)] {
                    for near in [mantissa.wrapping_sub(1), mantissa, mantissa + 1] {
                        let code = exponent << width | near & packed::mask(width as usize);
                        all.extend([code, code | format.sign_bit()]);
                    }
                }
            }
        }
        return all;
    }
    for power in 0..64 {
        for bits in 0..12 {
            for near in -1..=1_i64 {
                let number = (1_i64 << power | 1_i64 << power >> bits | 1_i64 << power >> 9)
                    .wrapping_add(near);
                all.extend([
                    number.cast_unsigned(),
                    number.wrapping_neg().cast_unsigned(),
                ]);
            }
        }
    }
    all
}

fn raw(dtype: DType, elements: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; dtype.raw_bytes(elements.len() as u64).unwrap() as usize];
    elements
        .iter()
        .enumerate()
        .for_each(|(index, &element)| packed::put(dtype.bits(), &mut bytes, index, element));
    bytes
}

#[test]
fn kernels_match_the_exact_path() {
    let numeric = || {
        DType::ALL
            .iter()
            .filter(|dtype| !matches!(dtype.class(), Class::String | Class::Complex))
    };
    let mut failures = Vec::new();
    for &from in numeric() {
        let elements = sample(from);
        let source = raw(from, &elements);
        for &to in numeric() {
            for rules in rules_of(to) {
                let Ok(cast) = Cast::new(from, to, rules) else {
                    continue;
                };
                let mut exact = vec![0; to.raw_bytes(elements.len() as u64).unwrap() as usize];
                cast.convert_exactly(&source, elements.len(), &mut exact);
                let summary = cast.survey_exactly(&source, elements.len());
                for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                    let mut fail = |text: String| {
                        failures.push(format!("{from} to {to}, {rules:?}, {level:?}: {text}"))
                    };
                    let counted = Survey::for_level(cast, level).count(&source, elements.len());
                    if counted != summary {
                        fail(format!("counted {counted:?}, not {summary:?}"));
                    }
                    let mut fast = vec![0xFF; exact.len()];
                    Converter::for_level(cast, level).convert(&source, elements.len(), &mut fast);
                    let differs = elements.iter().enumerate().find_map(|(index, element)| {
                        let [got, expected] =
                            [&fast, &exact].map(|bytes| packed::get(to.bits(), bytes, index));
                        (got != expected)
                            .then(|| format!("{element:#x} became {got:#x}, not {expected:#x}"))
                    });
                    differs.into_iter().for_each(fail);
                }
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures[..failures.len().min(50)].join("\n")
    );
}

#[test]
fn a_zero_is_not_a_fraction() {
    for from in [
        DType::Float,
        DType::Double,
        DType::Float16,
        DType::Bfloat16,
        DType::Float8E5M2,
        DType::Float4E2M1,
    ] {
        let cast = Cast::new(from, DType::Int4, Rules::default()).unwrap();
        for zero in [0, Format::of(from).unwrap().sign_bit()] {
            assert_eq!(
                convert_element(&cast, zero),
                (0, Verdict::Defined),
                "{from}"
            );
        }
    }
}
