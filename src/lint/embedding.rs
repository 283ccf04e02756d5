//! Which types represent every value of another type.

use crate::dtype::{Class, DType};
use crate::minifloat::{Format, Specials};

/// Whether a cast from one type to the other is lossless, including infinities and NaNs.
#[must_use]
pub fn embeds(from: DType, to: DType) -> bool {
    match (from.class(), to.class()) {
        _ if from == to => true,
        (Class::String | Class::Complex, _) | (_, Class::String | Class::Complex | Class::Bool) => false,
        (Class::Bool, Class::Signed | Class::Unsigned) => true,
        (Class::Bool, _) => to != DType::Float8E8M0,
        (Class::Unsigned, Class::Unsigned) | (Class::Signed, Class::Signed) => from.bits() < to.bits(),
        (Class::Unsigned, Class::Signed) => from.bits() < to.bits(),
        (Class::Signed, Class::Unsigned) | (Class::Float, Class::Signed | Class::Unsigned) => false,
        (Class::Signed | Class::Unsigned, Class::Float) => Format::of(to).is_some_and(|to| holds_integers(from, to)),
        (Class::Float, Class::Float) => match (Format::of(from), Format::of(to)) {
            (Some(from), Some(to)) => holds_floats(from, to),
            _ => false,
        },
    }
}

/// The smallest integer is a power of two: it takes one bit of mantissa, but the whole range.
fn holds_integers(from: DType, to: Format) -> bool {
    let digits = from.bits() as u32 - u32::from(from.class() == Class::Signed);
    to.specials != Specials::Scale && digits <= to.mantissa_bits + 1 && from.bits() as i32 - 1 < highest_binade(to)
}

fn holds_floats(from: Format, to: Format) -> bool {
    let has_edges = match to.specials {
        Specials::Ieee => true,
        Specials::TopIsNan | Specials::AllFinite => from.specials == Specials::AllFinite,
        Specials::NegativeZeroIsNan | Specials::Scale => false,
    };
    has_edges
        && from.mantissa_bits <= to.mantissa_bits
        && lowest_step(to) <= lowest_step(from)
        && highest_binade(from) <= highest_binade(to)
}

/// The exponent of the largest number.
fn highest_binade(format: Format) -> i32 {
    (format.largest() >> format.mantissa_bits) as i32 - format.bias
}

/// The exponent of the smallest positive number.
fn lowest_step(format: Format) -> i32 {
    match format.specials {
        Specials::Scale => -format.bias,
        _ => format.lowest_exponent() - format.mantissa_bits as i32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cast::{Cast, Rules, convert_element};

    /// Every code of every type of up to 16 bits keeps its value exactly if `embeds` is true.
    #[test]
    fn the_casts_agree() {
        let numeric = || DType::ALL.iter().copied().filter(|dtype| !matches!(dtype.class(), Class::String | Class::Complex));
        let cast = |from, to, code| {
            let rules = Rules { saturate: false, ..Rules::default() };
            convert_element(&Cast::new(from, to, rules).unwrap(), code).0
        };
        let value =
            |dtype, code| Some(f64::from_bits(cast(dtype, DType::Double, code))).filter(|value| !value.is_nan()).map(f64::to_bits);
        let mut wrong = Vec::new();
        for from in numeric().filter(|from| from.bits() <= 16) {
            for to in numeric() {
                let codes = if from == DType::Bool { 2 } else { 1_u64 << from.bits() };
                let is_kept = |code| value(from, code) == value(to, cast(from, to, code));
                let kept = (0..codes).all(is_kept);
                if kept != embeds(from, to) {
                    wrong.push(format!("{from} to {to} {} every value", if kept { "keeps" } else { "does not keep" }));
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
