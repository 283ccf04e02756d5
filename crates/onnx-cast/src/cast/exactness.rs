//! Which casts are exact: which types represent every value of another type, and which casts of a
//! chain have no effect.
//!
//! The rules are derived from the formats. `tests/exhaustive/chains.rs` proves them for all triples
//! of types.

use crate::dtype::{Class, DType};
use crate::float_format::{Format, Specials};

/// Whether a cast between these types returns its input: every element, including infinities and
/// NaNs.
#[must_use]
pub fn copies(from: DType, to: DType, saturate: bool) -> bool {
    // By the text of ONNX, a saturating cast changes the infinities of this type.
    from == to && (to != DType::Float8E5M2 || !saturate)
}

/// Whether casting to `middle` and then to `to` has the result of one cast to `to`, for every value
/// of `from`: the first cast is lossless, and the result of the second depends on the value alone;
/// or the second takes low bits that the first keeps. If `from` is `to`, no cast is needed.
#[must_use]
pub fn collapses(from: DType, middle: DType, to: DType) -> bool {
    let is_float = |dtype: DType| dtype.class() == Class::Float;
    let is_integer = |dtype: DType| matches!(dtype.class(), Class::Signed | Class::Unsigned);
    if from == middle || middle == to {
        return false;
    }
    // Casts of integers keep the low bits.
    if [from, middle, to].into_iter().all(is_integer) && to.bits() <= middle.bits() {
        return true;
    }
    match to {
        _ if !embeds(from, middle) => false,
        // An infinity of this type, cast to itself, is contested.
        DType::Float8E5M2 if from == to => false,
        // Only integers have the same string for all integer types.
        DType::String => is_integer(from) && is_integer(middle),
        // Integers outside the range of an integer type wrap, floats do not.
        _ if is_integer(to) && is_float(middle) => is_float(from) || embeds(from, to),
        _ => true,
    }
}

/// Whether a cast from one type to the other is lossless, including infinities and NaNs.
#[must_use]
pub fn embeds(from: DType, to: DType) -> bool {
    match (from.class(), to.class()) {
        _ if from == to => true,
        (Class::String | Class::Complex, _) | (_, Class::String | Class::Complex | Class::Bool) => {
            false
        }
        (Class::Bool, Class::Signed | Class::Unsigned) => true,
        (Class::Bool, _) => to != DType::Float8E8M0,
        (Class::Unsigned, Class::Unsigned) | (Class::Signed, Class::Signed) => {
            from.bits() < to.bits()
        }
        (Class::Unsigned, Class::Signed) => from.bits() < to.bits(),
        (Class::Signed, Class::Unsigned) | (Class::Float, Class::Signed | Class::Unsigned) => false,
        (Class::Signed | Class::Unsigned, Class::Float) => {
            Format::of(to).is_some_and(|to| holds_integers(from, to))
        }
        (Class::Float, Class::Float) => match (Format::of(from), Format::of(to)) {
            (Some(from), Some(to)) => holds_floats(from, to),
            _ => false,
        },
    }
}

/// The smallest integer is a power of two: it takes one bit of mantissa, but the whole range.
fn holds_integers(from: DType, to: Format) -> bool {
    let digits = from.bits() as u32 - u32::from(from.class() == Class::Signed);
    to.specials != Specials::Scale
        && digits <= to.mantissa_bits + 1
        && from.bits() as i32 - 1 < highest_binade(to)
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
