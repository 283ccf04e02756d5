//! Which casts change nothing, and which casts of casts are one cast: from a table of the numbers
//! of each type.
//!
//! The passes derive the same from the bits of the formats. `tests/suite/verify/laws.rs` compares
//! both for all triples of types, and this table with the definition of the casts.

use onnx_cast::DType;

/// Whether a cast to the type of its input returns its input: by the text of ONNX, a saturating
/// cast changes the infinities of FLOAT8E5M2.
#[must_use]
pub fn is_own_input(from: DType, to: DType, saturate: bool) -> bool {
    let changes_infinities = to == DType::Float8E5M2 && saturate;
    from == to && !changes_infinities
}

/// Whether a cast to `middle` and a cast of its result to `to` have the result of one cast to `to`.
/// If `from` is `to`, the two casts return their input.
#[must_use]
pub fn are_one_cast(from: DType, middle: DType, to: DType) -> bool {
    if from == middle || middle == to {
        return false;
    }
    // Case 1. Integers keep their low bits.
    let are_integers = [from, middle, to]
        .iter()
        .all(|&dtype| integer_bits(dtype).is_some());
    if are_integers && integer_bits(to) <= integer_bits(middle) {
        return true;
    }
    // Case 2. The first cast is lossless, and the second one depends on the number alone, except in
    // these cases.
    let is_number_alone = match to {
        // Infinities of this type that are cast to it are contested.
        DType::Float8E5M2 => from != to,
        // Integers have the same string in all integer types; floats have another one in each type.
        DType::String => integer_bits(from).is_some() && integer_bits(middle).is_some(),
        // Integers that are too large lose high bits; the result of floats that are too large is
        // another one.
        _ if integer_bits(to).is_some() && integer_bits(middle).is_none() => {
            integer_bits(from).is_none() || is_lossless(from, to)
        }
        _ => true,
    };
    is_number_alone && is_lossless(from, middle)
}

/// Whether two casts that are not one cast have the same result with FLOAT in place of `middle`:
/// both have every number of `from`, and the second cast depends on that number and on `middle`
/// being a float.
#[must_use]
pub fn has_equal_middles(from: DType, middle: DType, to: DType) -> bool {
    // Infinities of this type that are cast to it are contested.
    let is_back = from == DType::Float8E5M2 && to == from;
    // Numbers that an integer type lacks: a float that is too large has another result than an
    // integer, which loses high bits.
    let is_out_of_range = integer_bits(from).is_some()
        && integer_bits(middle).is_none()
        && integer_bits(to).is_some();
    (is_back || is_out_of_range)
        && middle != from
        && middle != DType::Float
        && is_lossless(from, middle)
        && is_lossless(from, DType::Float)
}

/// Whether two casts are from a float to one of 16 bits and back, which lossy passes remove.
#[must_use]
pub fn is_lossy_round_trip(from: DType, middle: DType, to: DType) -> bool {
    let is_wide = matches!(from, DType::Float | DType::Double);
    let is_half = matches!(middle, DType::Float16 | DType::Bfloat16);
    is_wide && is_half && from == to
}

/// Whether a cast to a float of 16 bits, and a cast of its result, are one cast if lossy passes
/// were run: the first one is that of a wider float, which may be the result of a lossless cast,
/// and the second one that of the first one's result cast back.
#[must_use]
pub fn is_lossy_detour(from: DType, middle: DType, to: DType) -> bool {
    [DType::Float, DType::Double].into_iter().any(|wide| {
        let is_of_wide = from == wide || are_one_cast(from, wide, to);
        let is_back = wide == to || are_one_cast(middle, wide, to) && is_of_wide;
        is_lossless(from, wide) && is_lossy_round_trip(wide, middle, wide) && is_back
    })
}

/// Whether a type has every element of another one: its numbers, infinities and NaNs.
#[must_use]
pub fn is_lossless(from: DType, to: DType) -> bool {
    if from == to {
        return true;
    }
    let (Some(from), Some(to)) = (numbers(from), numbers(to)) else {
        return false;
    };
    let lacks_specials = from.specials & !to.specials != 0;
    !lacks_specials
        && from.digits <= to.digits
        && from.unit >= to.unit
        && from.largest <= to.largest
}

/// Whether `saturate` has an effect on casts to a type.
#[must_use]
pub fn has_saturate(to: DType) -> bool {
    use DType::{Float8E4M3Fn, Float8E4M3Fnuz, Float8E5M2, Float8E5M2Fnuz, Float8E8M0};
    matches!(
        to,
        Float8E4M3Fn | Float8E4M3Fnuz | Float8E5M2 | Float8E5M2Fnuz | Float8E8M0
    )
}

/// Whether `round_mode` has an effect on casts to a type.
#[must_use]
pub fn has_round_mode(to: DType) -> bool {
    to == DType::Float8E8M0
}

/// The bits of a signed or unsigned integer type.
fn integer_bits(dtype: DType) -> Option<u32> {
    use DType::{
        Int2, Int4, Int8, Int16, Int32, Int64, Uint2, Uint4, Uint8, Uint16, Uint32, Uint64,
    };
    match dtype {
        Int2 | Uint2 => Some(2),
        Int4 | Uint4 => Some(4),
        Int8 | Uint8 => Some(8),
        Int16 | Uint16 => Some(16),
        Int32 | Uint32 => Some(32),
        Int64 | Uint64 => Some(64),
        _ => None,
    }
}

/// The numbers of a type: all multiples of 2^`unit` with at most `digits` significant binary digits
/// and at most the magnitude `largest`.
pub(super) struct Representable {
    pub digits: u32,
    pub unit: i32,
    pub largest: f64,
    pub specials: u8,
}

const ZERO: u8 = 1;
const NEGATIVE: u8 = 2;
pub(super) const NEGATIVE_ZERO: u8 = 4;
pub(super) const INFINITY: u8 = 8;
pub(super) const NAN: u8 = 16;

/// Integers without and with a sign.
const NATURAL: u8 = ZERO;
const INTEGER: u8 = ZERO | NEGATIVE;
/// Floats without special values, with NaN, with one zero, and with infinities.
const FINITE: u8 = ZERO | NEGATIVE | NEGATIVE_ZERO;
const WITH_NAN: u8 = FINITE | NAN;
const WITH_ONE_ZERO: u8 = ZERO | NEGATIVE | NAN;
const IEEE: u8 = FINITE | INFINITY | NAN;

/// 2^127, and the largest number of BFLOAT16.
const TWO_TO_127: f64 = 1.701_411_834_604_692_3e38;
const LARGEST_BFLOAT16: f64 = 3.389_531_389_251_535_5e38;

/// The rows of the table; `None` for types that are not numbers.
pub(super) fn numbers(dtype: DType) -> Option<Representable> {
    let (digits, unit, largest, specials) = match dtype {
        DType::Double => (53, -1074, f64::MAX, IEEE),
        DType::Float => (24, -149, f32::MAX as f64, IEEE),
        DType::Float16 => (11, -24, 65504.0, IEEE),
        DType::Bfloat16 => (8, -133, LARGEST_BFLOAT16, IEEE),
        DType::Float8E4M3Fn => (4, -9, 448.0, WITH_NAN),
        DType::Float8E4M3Fnuz => (4, -10, 240.0, WITH_ONE_ZERO),
        DType::Float8E5M2 => (3, -16, 57344.0, IEEE),
        DType::Float8E5M2Fnuz => (3, -17, 57344.0, WITH_ONE_ZERO),
        DType::Float8E8M0 => (1, -127, TWO_TO_127, NAN),
        DType::Float6E2M3 => (4, -3, 7.5, FINITE),
        DType::Float6E3M2 => (3, -4, 28.0, FINITE),
        DType::Float4E2M1 => (2, -1, 6.0, FINITE),
        DType::Bool => (1, 0, 1.0, NATURAL),
        DType::Uint2 => (2, 0, 3.0, NATURAL),
        DType::Uint4 => (4, 0, 15.0, NATURAL),
        DType::Uint8 => (8, 0, 255.0, NATURAL),
        DType::Uint16 => (16, 0, 65535.0, NATURAL),
        DType::Uint32 => (32, 0, 4_294_967_295.0, NATURAL),
        DType::Uint64 => (64, 0, 18_446_744_073_709_551_615.0, NATURAL),
        // The lowest number has the largest magnitude, and one digit.
        DType::Int2 => (1, 0, 2.0, INTEGER),
        DType::Int4 => (3, 0, 8.0, INTEGER),
        DType::Int8 => (7, 0, 128.0, INTEGER),
        DType::Int16 => (15, 0, 32768.0, INTEGER),
        DType::Int32 => (31, 0, 2_147_483_648.0, INTEGER),
        DType::Int64 => (63, 0, 9_223_372_036_854_775_808.0, INTEGER),
        DType::String | DType::Complex64 | DType::Complex128 => return None,
    };
    Some(Representable {
        digits,
        unit,
        largest,
        specials,
    })
}
