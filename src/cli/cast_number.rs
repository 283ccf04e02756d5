//! `recast cast NUMBER`: what a number becomes in a type, or in all types, and its bits.

use anyhow::{anyhow, bail};

use super::exit_code::ExitCode;
use super::streams::print;
use crate::base::printable::Shown;
use crate::cast::Cast;
use crate::{Array, CannotCast, CastOptions, DType, Error, Packing, RoundMode, Rules};
use onnx_cast::float_format::Format;

/// A number of the command line.
pub struct Number<'n> {
    /// As it was written.
    text: &'n str,
    array: Array,
}

/// The casts to show. An attribute that no option states is tried with each of its values.
pub struct Wanted {
    /// The type; none for all.
    pub to: Option<DType>,
    pub states_saturate: bool,
    pub states_round_mode: bool,
    pub options: CastOptions,
}

impl Number<'_> {
    /// The number that a text states: a DOUBLE, or an integer of 64 bits if DOUBLE does not
    /// represent it. With `from`, it is rounded to that type first, or has the bits that a text
    /// such as `0x7E` states. None for other texts.
    ///
    /// # Errors
    /// If the type has no such number, or not so many bits.
    pub fn read(text: &str, from: Option<DType>) -> Result<Option<Number<'_>>, Error> {
        let array = match (bits_of(text), from) {
            (Some(bits), Some(from)) => of_bits(from, bits),
            (Some(bits), None) => of_bits(DType::Uint64, bits),
            (None, _) => {
                let Some(number) = number_of(text) else {
                    return Ok(None);
                };
                match from {
                    Some(from) => number?.cast(from, &CastOptions::default()),
                    None => number,
                }
            }
        };
        Ok(Some(Number {
            text,
            array: array?,
        }))
    }

    /// Prints what it becomes. The exit code is 1 if ONNX does not define it, for a single type.
    ///
    /// # Errors
    /// If the opset does not support the type, or standard output cannot be written.
    pub fn print(&self, wanted: &Wanted) -> anyhow::Result<ExitCode> {
        let mut rows = Vec::new();
        for to in wanted
            .to
            .map_or_else(|| self.supported(wanted), |to| vec![to])
        {
            rows.extend(self.results(to, wanted)?);
        }
        print(table(&rows))?;
        let is_defined = wanted.to.is_none() || rows.iter().all(|(.., row)| row.bits.is_some());
        Ok(if is_defined {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(1)
        })
    }

    /// The types of numbers to which the opset casts it.
    fn supported(&self, wanted: &Wanted) -> Vec<DType> {
        let rules = Rules::default().opset(wanted.options.opset);
        all_numbers()
            .into_iter()
            .filter(|to| Cast::new(self.array.dtype(), *to, rules).is_ok())
            .collect()
    }

    /// What it becomes in a type: one result for each value of an attribute that matters.
    fn results(&self, to: DType, wanted: &Wanted) -> anyhow::Result<Vec<(DType, String, Row)>> {
        let mut found = Vec::new();
        for (label, options) in wanted.variants(to) {
            found.push((to, label, self.result(to, &options)?));
        }
        // A choice that changes nothing is not shown.
        if found.iter().all(|(.., row)| *row == found[0].2) {
            found.truncate(1);
            found.iter_mut().for_each(|(_, label, _)| label.clear());
        }
        Ok(found)
    }

    fn result(&self, to: DType, options: &CastOptions) -> anyhow::Result<Row> {
        match self.array.cast(to, options) {
            Ok(result) => row(&result),
            Err(error) => match error.cause() {
                Some(CannotCast::Undefined(tally)) => Ok(Row::without("undefined", tally.why)),
                Some(CannotCast::Contested(tally)) => Ok(Row::without("contested", tally.why)),
                _ => bail!("{}: {error}", self.text),
            },
        }
    }
}

impl Wanted {
    /// The options of each form, with its name.
    fn variants(&self, to: DType) -> Vec<(String, CastOptions)> {
        let one = vec![(String::new(), self.options)];
        if to.is_float8() && !self.states_saturate {
            let of = |saturate| {
                (
                    format!("saturate = {}", u8::from(saturate)),
                    CastOptions {
                        saturate,
                        ..self.options
                    },
                )
            };
            return vec![of(true), of(false)];
        }
        if to == DType::Float8E8M0 && !self.states_round_mode {
            let of = |name: &&str| {
                Some((
                    format!("round_mode = {name}"),
                    CastOptions {
                        round_mode: name.parse().ok()?,
                        ..self.options
                    },
                ))
            };
            return RoundMode::NAMES.iter().filter_map(of).collect();
        }
        one
    }
}

/// What a number becomes.
#[derive(PartialEq)]
struct Row {
    value: String,
    /// The bits, in groups, and as a hexadecimal number; none if there is no result.
    bits: Option<(String, String)>,
    /// Why there is none.
    why: &'static str,
}

impl Row {
    fn without(value: &str, why: &'static str) -> Row {
        Row {
            value: value.to_owned(),
            bits: None,
            why,
        }
    }
}

/// The types of numbers: floats, then the others, each from wide to narrow.
fn all_numbers() -> Vec<DType> {
    let is_number =
        |dtype: &DType| !matches!(dtype, DType::String | DType::Complex64 | DType::Complex128);
    let mut all: Vec<DType> = DType::ALL.iter().copied().filter(is_number).collect();
    all.sort_by_key(|dtype| {
        (
            Format::of(*dtype).is_none(),
            std::cmp::Reverse(dtype.bits()),
        )
    });
    all
}

fn bits_of(text: &str) -> Option<u64> {
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))?;
    u64::from_str_radix(digits, 16).ok()
}

/// The element of a type with these bits.
fn of_bits(dtype: DType, bits: u64) -> Result<Array, Error> {
    let width = dtype.bits();
    if width > 64 || width == 0 || (width < 64 && bits >> width != 0) {
        return Err(Error::new(
            crate::ErrorKind::Usage,
            format!("{dtype} has no element of the bits {bits:#x}"),
        ));
    }
    let bytes = bits.to_le_bytes()[..width.div_ceil(8)].to_vec();
    Array::from_bytes(dtype, &[], bytes, Packing::Byte)
}

/// The number of a text, and none if it is not one.
fn number_of(text: &str) -> Option<Result<Array, Error>> {
    let double: f64 = text.parse().ok()?;
    let of = |dtype, bytes: [u8; 8]| {
        Some(Array::from_bytes(
            dtype,
            &[],
            bytes.to_vec(),
            Packing::Packed,
        ))
    };
    // Beyond these, not every integer is a DOUBLE.
    const EXACT: i128 = 1 << 53;
    match text.parse::<i128>() {
        Ok(integer) if integer.abs() <= EXACT => of(DType::Double, double.to_le_bytes()),
        Ok(integer) => match (i64::try_from(integer), u64::try_from(integer)) {
            (Ok(signed), _) => of(DType::Int64, signed.to_le_bytes()),
            (_, Ok(unsigned)) => of(DType::Uint64, unsigned.to_le_bytes()),
            _ => of(DType::Double, double.to_le_bytes()),
        },
        Err(_) => of(DType::Double, double.to_le_bytes()),
    }
}

/// The value and the bits of one element.
fn row(element: &Array) -> anyhow::Result<Row> {
    let dtype = element.dtype();
    if let Some([text]) = element.strings() {
        return Ok(Row {
            value: format!("\"{}\"", String::from_utf8_lossy(text)),
            bits: None,
            why: "",
        });
    }
    let mut word = [0; 8];
    let bytes = element.to_bytes(Packing::Byte)?;
    if bytes.len() > word.len() {
        bail!("{dtype} is no type of numbers");
    }
    word[..bytes.len()].copy_from_slice(&bytes);
    let bits = u64::from_le_bytes(word);
    let digits = format!("{bits:0width$b}", width = dtype.bits());
    let hexadecimal = format!("0x{bits:0width$x}", width = dtype.bits().div_ceil(4));
    Ok(Row {
        value: value(element, bits)?,
        bits: Some((grouped(dtype, &digits), hexadecimal)),
        why: "",
    })
}

/// The value, exactly.
fn value(element: &Array, bits: u64) -> anyhow::Result<String> {
    Ok(match element.dtype() {
        DType::Bool => (bits != 0).to_string(),
        DType::Uint64 => bits.to_string(),
        DType::Int64 => bits.cast_signed().to_string(),
        _ => {
            // Every number of the other types is a DOUBLE.
            let options = CastOptions {
                undefined: true,
                ..CastOptions::default()
            };
            let double = element
                .cast(DType::Double, &options)?
                .to_bytes(Packing::Packed)?;
            let double = double
                .try_into()
                .map_err(|_| anyhow!("DOUBLE has 8 bytes"))?;
            let number = f64::from_le_bytes(double);
            let is_plain =
                number == 0.0 || !number.is_finite() || (1e-5..1e17).contains(&number.abs());
            if is_plain {
                number.to_string()
            } else {
                format!("{number:e}")
            }
        }
    })
}

/// The bits of a float as its sign, exponent and mantissa.
fn grouped(dtype: DType, digits: &str) -> String {
    let Some(format) = Format::of(dtype) else {
        return digits.to_owned();
    };
    let (rest, mantissa) = digits.split_at(digits.len() - format.mantissa_bits as usize);
    let (sign, exponent) = rest.split_at(rest.len() - format.exponent_bits as usize);
    [sign, exponent, mantissa]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// One line for each result, in columns.
fn table(rows: &[(DType, String, Row)]) -> Shown {
    let width =
        |of: fn(&(DType, String, Row)) -> usize| rows.iter().map(of).max().unwrap_or_default();
    let (types, labels) = (
        width(|(dtype, ..)| dtype.name().len()),
        width(|(_, label, _)| label.len()),
    );
    let values = width(|(_, _, row)| row.value.len());
    let mut text = Shown::default();
    for (dtype, label, row) in rows {
        let label = if labels == 0 {
            String::new()
        } else {
            format!("  {label:labels$}")
        };
        let details = match &row.bits {
            Some((bits, hexadecimal)) => format!("{hexadecimal} = {bits}"),
            None => row.why.to_owned(),
        };
        let line = format!(
            "{:types$}{label}  {:>values$}  {details}",
            dtype.name(),
            row.value
        );
        text.push_line(format_args!("{}", line.trim_end()));
    }
    text
}
