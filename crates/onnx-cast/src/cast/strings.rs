//! Casts from and to `STRING`, whose elements are UTF-8 bytes of any length.

use super::decimal::{Decimal, every_digit, shortest};
use super::pair::Cast;
use super::reference::{Value, decode, encode, integer_limit};
use super::summary::{Summary, Verdict};
use crate::dtype::{Class, DType};
use crate::float_format::{Format, Specials};
use crate::packed;

/// A string that cannot be cast: ONNX leaves the result undefined, and no substitute value is
/// sensible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("element {index}: '{literal}' cannot be cast to {to}: {why}")]
pub struct BadLiteral {
    /// The index of the element.
    pub index: u64,
    /// The string, truncated if it is long.
    pub literal: String,
    /// The target type.
    pub to: DType,
    /// The reason.
    pub why: &'static str,
}

/// Casts strings to a numeric type in the layout of `raw_data`.
///
/// # Errors
/// If a string is not a number or does not fit an integer type; always if the target is `BOOL`.
///
/// # Panics
/// If the cast is not from `STRING` to a numeric type.
pub fn parse_strings(
    cast: &Cast,
    strings: &[impl AsRef<[u8]>],
) -> Result<(Vec<u8>, Summary), BadLiteral> {
    assert!(
        cast.from == DType::String && cast.to != DType::String,
        "{cast:?} does not read numbers from strings"
    );
    let bytes = cast
        .to
        .raw_bytes(strings.len() as u64)
        .expect("the target is numeric and has no more elements than memory");
    let mut target = vec![0; usize::try_from(bytes).expect("the target fits memory")];
    let mut summary = Summary::default();
    for (index, string) in strings.iter().enumerate() {
        let literal = string.as_ref();
        let (bits, verdict) = parse(cast, literal).map_err(|why| BadLiteral {
            index: index as u64,
            literal: shown(literal),
            to: cast.to,
            why,
        })?;
        packed::put(cast.to.bits(), &mut target, index, bits);
        summary.add(index as u64, verdict);
    }
    Ok((target, summary))
}

const NOT_A_NUMBER: &str = "not a decimal or scientific literal";
const NOT_IN_RANGE: &str = "out of range of the integer type";
const NO_BOOLEAN: &str = "ONNX does not define which strings are true";
const NOT_AN_INTEGER: &str = "a string with a point or an exponent, cast to an integer type";

fn parse(cast: &Cast, literal: &[u8]) -> Result<(u64, Verdict), &'static str> {
    match cast.to.class() {
        Class::Bool => Err(NO_BOOLEAN),
        Class::Float => {
            let value = special(literal)
                .or_else(|| Some(Decimal::parse(literal)?.value()))
                .ok_or(NOT_A_NUMBER)?;
            Ok(encode(cast.to, &cast.rules, value))
        }
        _ => {
            let decimal = Decimal::parse(literal).ok_or(NOT_A_NUMBER)?;
            let range = integer_limit(cast.to, true)..=integer_limit(cast.to, false);
            let integer = decimal
                .truncated()
                .filter(|integer| range.contains(integer))
                .ok_or(NOT_IN_RANGE)?;
            let verdict = if decimal.is_plain_integer {
                Verdict::Defined
            } else {
                Verdict::Undefined(NOT_AN_INTEGER)
            };
            Ok((integer as u64, verdict))
        }
    }
}

/// The reserved words of ONNX, ignoring case.
fn special(literal: &[u8]) -> Option<Value> {
    let words = [
        ("inf", Value::Infinite { negative: false }),
        ("+inf", Value::Infinite { negative: false }),
        ("-inf", Value::Infinite { negative: true }),
        (
            "nan",
            Value::Nan {
                negative: false,
                payload: 0,
            },
        ),
    ];
    words
        .into_iter()
        .find(|(word, _)| literal.eq_ignore_ascii_case(word.as_bytes()))
        .map(|(_, value)| value)
}

fn shown(literal: &[u8]) -> String {
    let text = String::from_utf8_lossy(literal);
    let mut short: String = text.chars().take(40).flat_map(char::escape_debug).collect();
    if text.chars().count() > 40 {
        short.push('…');
    }
    short
}

const PLAIN_FLOAT: &str = "a float, cast to a string: ONNX requires plain notation but does not define the number of digits";
const BOOLEAN: &str = "a boolean, cast to a string: ONNX does not define the string";

/// Casts a tensor of a numeric type, in the layout of `raw_data`, to strings. Floats are written in
/// plain notation with the fewest digits that round-trip in their type, `FLOAT8E8M0` with all its
/// digits; infinities and NaNs as `INF`, `-INF` and `NaN`.
///
/// # Panics
/// If the cast is not from a numeric type to `STRING`, or `source` is shorter than `elements`
/// elements.
#[must_use]
pub fn format_strings(cast: &Cast, source: &[u8], elements: usize) -> (Vec<String>, Summary) {
    assert!(
        cast.from != DType::String && cast.to == DType::String,
        "{cast:?} does not write strings"
    );
    cast.check_source(source, elements);
    let mut summary = Summary::default();
    let verdict = match cast.from.class() {
        Class::Bool => Verdict::Undefined(BOOLEAN),
        Class::Float => Verdict::Undefined(PLAIN_FLOAT),
        _ => Verdict::Defined,
    };
    let strings = (0..elements).map(|index| {
        summary.add(index as u64, verdict);
        written(cast.from, packed::get(cast.from.bits(), source, index))
    });
    (strings.collect(), summary)
}

fn written(dtype: DType, bits: u64) -> String {
    let sign = |negative: bool| if negative { "-" } else { "" };
    match (decode(dtype, bits), Format::of(dtype)) {
        (Value::Nan { .. }, _) => "NaN".to_owned(),
        (Value::Infinite { negative }, _) => format!("{}INF", sign(negative)),
        (
            Value::Finite {
                negative,
                magnitude,
                ..
            },
            None,
        ) => format!("{}{magnitude}", sign(negative)),
        (
            Value::Finite {
                negative,
                magnitude: 0,
                ..
            },
            _,
        ) => format!("{}0", sign(negative)),
        (Value::Finite { .. }, Some(_)) if dtype == DType::Double => {
            f64::from_bits(bits).to_string()
        }
        (Value::Finite { .. }, Some(_)) if dtype == DType::Float => {
            f32::from_bits(bits as u32).to_string()
        }
        (
            Value::Finite {
                negative,
                magnitude,
                exponent,
            },
            Some(format),
        ) => {
            let exact = magnitude as f64 * 2_f64.powi(exponent);
            let digits = match format.specials {
                // Fewer digits could be parsed as another power of two, depending on the round
                // mode.
                Specials::Scale => every_digit(exact),
                _ => shortest(format, bits & !format.sign_bit(), exact),
            };
            format!("{}{digits}", sign(negative))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::{Contested, Rules};

    fn cast(from: DType, to: DType) -> Cast {
        Cast::new(from, to, Rules::default()).unwrap()
    }

    #[test]
    fn literals_that_onnx_defines() {
        use DType::*;
        let cases: &[(DType, &str, u64)] = &[
            (Float, "3.25", 3.25_f32.to_bits().into()),
            (Float, "1E8", 1e8_f32.to_bits().into()),
            (Float, "-1e-5", (-1e-5_f32).to_bits().into()),
            (Float, "+INF", f32::INFINITY.to_bits().into()),
            (Float, "-iNf", f32::NEG_INFINITY.to_bits().into()),
            (Float, "nan", f32::NAN.to_bits().into()),
            (Float, "-0", (-0.0_f32).to_bits().into()),
            (Double, "0.1", 0.1_f64.to_bits()),
            // With DOUBLE as intermediate, this would round to a tie and then down.
            (Float, "1.00000005960464477540", 0x3F80_0001),
            (Float8E4M3Fn, "1e400", 0x7E),
            (Float8E4M3Fnuz, "-0.0", 0x00),
            (Float8E8M0, "1e999999999999999999999", 0xFE),
            (Float8E8M0, "1e-999999999999999999999", 0x00),
            (Int8, "-128", 0x80),
            (Int8, "+7", 7),
            (Uint64, "18446744073709551615", u64::MAX),
            (Int64, "-9223372036854775808", 1 << 63),
            (Int4, "-8", 0x8),
            (Uint8, "-0", 0),
            (Uint8, "0000000000000000000000012", 12),
        ];
        for &(to, literal, bits) in cases {
            let (raw, summary) = parse_strings(&cast(String, to), &[literal]).unwrap();
            assert_eq!(packed::get(to.bits(), &raw, 0), bits, "{literal} to {to}");
            assert!(summary.is_defined(), "{literal} to {to}");
        }
    }

    #[test]
    fn integers_from_fractions_and_exponents_are_undefined_but_have_a_value() {
        for (literal, integer) in [
            ("2.718", 2),
            ("-0.9", 0),
            ("1e2", 100),
            ("100.0", 100),
            ("255.999999999999999999999", 255),
        ] {
            let (raw, summary) =
                parse_strings(&cast(DType::String, DType::Uint8), &[literal]).unwrap();
            assert_eq!((raw[0], summary.undefined.count), (integer, 1), "{literal}");
        }
        let huge = parse_strings(
            &cast(DType::String, DType::Uint64),
            &["18446744073709551614.5"],
        )
        .unwrap();
        assert_eq!(huge.0, 18_446_744_073_709_551_614_u64.to_le_bytes());
    }

    #[test]
    fn other_strings_are_errors_that_name_the_element() {
        let literals = [
            "", "+", ".", "e5", "1e", "1e+", " 1", "1 ", "0x10", "1_000", "١", "1.2.3", "--1",
            "1e5.0", "1f", "3abc", "Hello!", "infinity", "-NaN", "true",
        ];
        for literal in literals {
            for to in [DType::Float, DType::Float8E4M3Fn, DType::Int32] {
                let error = parse_strings(&cast(DType::String, to), &["1", literal]).unwrap_err();
                assert_eq!((error.index, error.why), (1, NOT_A_NUMBER), "{literal:?}");
            }
        }
        for (to, literal) in [
            (DType::Int8, "128"),
            (DType::Uint4, "-1"),
            (DType::Int64, "1e30"),
            (DType::Uint64, "18446744073709551616"),
        ] {
            assert_eq!(
                parse_strings(&cast(DType::String, to), &[literal])
                    .unwrap_err()
                    .why,
                NOT_IN_RANGE,
                "{literal}"
            );
        }
        assert_eq!(
            parse_strings(&cast(DType::String, DType::Int8), &["inf"])
                .unwrap_err()
                .why,
            NOT_A_NUMBER
        );
        assert_eq!(
            parse_strings(&cast(DType::String, DType::Bool), &["1"])
                .unwrap_err()
                .why,
            NO_BOOLEAN
        );
        assert!(parse_strings(&cast(DType::String, DType::Bool), &[] as &[&str]).is_ok());
    }

    #[test]
    fn reserved_words_follow_the_rules_of_the_target() {
        let rules = Rules {
            opset: 20,
            contested: Contested::Runtime,
            ..Rules::default()
        };
        let cast = Cast::new(DType::String, DType::Float8E5M2Fnuz, rules).unwrap();
        let (raw, summary) = parse_strings(&cast, &["1", "inf"]).unwrap();
        assert_eq!(raw, [0x40, 0x7F]);
        assert_eq!(
            (summary.contested.count, summary.contested.first),
            (1, Some(1))
        );
    }

    #[test]
    fn numbers_are_written_in_plain_notation() {
        use DType::*;
        type Texts<'a> = &'a [(u64, &'a str)];
        let cases: [(DType, bool, Texts<'_>); 13] = [
            (Int8, true, &[(0x80, "-128")]),
            (Uint64, true, &[(u64::MAX, "18446744073709551615")]),
            (Int4, true, &[(0xF, "-1")]),
            (Bool, false, &[(2, "1")]),
            (
                Float,
                false,
                &[
                    (1e-5_f32.to_bits().into(), "0.00001"),
                    (100_f32.to_bits().into(), "100"),
                    (0x8000_0000, "-0"),
                ],
            ),
            (
                Double,
                false,
                &[(1e22_f64.to_bits(), "10000000000000000000000")],
            ),
            (
                Float16,
                false,
                &[(0x2E66, "0.1"), (0x7BFF, "65500"), (0x5640, "100")],
            ),
            (
                Float16,
                false,
                &[(0x1, "0.00000006"), (0x3554, "0.333"), (0x48FF, "9.99")],
            ),
            (Bfloat16, false, &[(0x3DCD, "0.1"), (0xFF80, "-INF")]),
            (Float8E4M3Fnuz, false, &[(0x80, "NaN")]),
            (Float8E8M0, false, &[(0x7E, "0.5"), (0x8A, "2048")]),
            (Float4E2M1, false, &[(0xF, "-6")]),
            (Float6E2M3, false, &[(0x01, "0.1")]),
        ];
        for (from, defined, elements) in cases {
            for &(bits, text) in elements {
                let mut raw = vec![0; from.bits().div_ceil(8)];
                packed::put(from.bits(), &mut raw, 0, bits);
                let (strings, summary) = format_strings(&cast(from, String), &raw, 1);
                assert_eq!(
                    (strings[0].as_str(), summary.is_defined()),
                    (text, defined),
                    "{from}"
                );
            }
        }
    }

    #[test]
    fn every_code_of_a_narrow_float_round_trips() {
        for &from in DType::ALL
            .iter()
            .filter(|dtype| dtype.class() == Class::Float && dtype.bits() <= 16)
        {
            let stride = if from == DType::Bfloat16 { 37 } else { 1 };
            for bits in (0..=packed::mask(from.bits())).step_by(stride) {
                if matches!(
                    decode(from, bits),
                    Value::Nan { .. } | Value::Infinite { .. }
                ) {
                    continue;
                }
                let text = written(from, bits);
                let back = parse_strings(&cast(DType::String, from), &[&text]).unwrap();
                assert_eq!(
                    packed::get(from.bits(), &back.0, 0),
                    bits,
                    "{text} of {from}"
                );
            }
        }
    }
}
