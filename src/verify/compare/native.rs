//! Casts between types that the machine has: its own conversions truncate, round and saturate as
//! `docs/cast.md` defines.
//!
//! Where they may differ (the payload of a NaN), and where a result is not defined, the definition
//! decides: a block is only shown to be right here, never to be wrong.

use super::blocks::LeadingShown;
use onnx_cast::{Cast, DType};

/// Whether all results of a block are shown to be right: sources, and what is found.
type AreResults = fn(&[u8], &[u8]) -> bool;

/// A number of the machine.
trait Number: Copy {
    const BYTES: usize;

    /// Floats that are greater than the first number and less than the second one can be truncated
    /// to this type.
    const LIMITS: (f64, f64);

    fn read(bytes: &[u8]) -> Self;

    fn bits(self) -> u64;
}

/// A conversion of the machine.
trait ConvertTo<To> {
    fn convert(self) -> To;
}

macro_rules! numbers {
    ($($number:ident: $bits:expr;)*) => {
        $(
            impl Number for $number {
                const BYTES: usize = size_of::<$number>();
                const LIMITS: (f64, f64) = ($number::MIN as f64 - 1.0, $number::MAX as f64 + 1.0);

                #[inline(always)]
                fn read(bytes: &[u8]) -> $number {
                    let mut array = [0; size_of::<$number>()];
                    array.copy_from_slice(bytes);
                    $number::from_le_bytes(array)
                }

                #[inline(always)]
                fn bits(self) -> u64 {
                    $bits(self)
                }
            }

            conversions! { $number: u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }
        )*
    };
}

macro_rules! conversions {
    ($from:ident: $($to:ident)*) => {
        $(impl ConvertTo<$to> for $from {
            #[inline(always)]
            fn convert(self) -> $to {
                self as $to
            }
        })*
    };
}

numbers! {
    u8: u64::from;
    i8: |number: i8| u64::from(number.cast_unsigned());
    u16: u64::from;
    i16: |number: i16| u64::from(number.cast_unsigned());
    u32: u64::from;
    i32: |number: i32| u64::from(number.cast_unsigned());
    u64: u64::from;
    i64: i64::cast_unsigned;
    f32: |number: f32| u64::from(number.to_bits());
    f64: f64::to_bits;
}

/// The comparison of a cast, if the machine has both types.
pub(super) fn of(cast: &Cast) -> Option<LeadingShown> {
    let are_results = match cast.from() {
        DType::Uint8 => from::<u8>(cast.to(), false),
        DType::Int8 => from::<i8>(cast.to(), false),
        DType::Uint16 => from::<u16>(cast.to(), false),
        DType::Int16 => from::<i16>(cast.to(), false),
        DType::Uint32 => from::<u32>(cast.to(), false),
        DType::Int32 => from::<i32>(cast.to(), false),
        DType::Uint64 => from::<u64>(cast.to(), false),
        DType::Int64 => from::<i64>(cast.to(), false),
        DType::Float => from::<f32>(cast.to(), true),
        DType::Double => from::<f64>(cast.to(), true),
        _ => None,
    }?;
    Some(Box::new(move |blocks| blocks.leading(are_results)))
}

fn from<From>(to: DType, is_float: bool) -> Option<AreResults>
where
    From: Number
        + ConvertTo<u8>
        + ConvertTo<i8>
        + ConvertTo<u16>
        + ConvertTo<i16>
        + ConvertTo<u32>
        + ConvertTo<i32>
        + ConvertTo<u64>
        + ConvertTo<i64>
        + ConvertTo<f32>
        + ConvertTo<f64>,
{
    Some(match to {
        DType::Uint8 if is_float => are_truncated::<From, u8>,
        DType::Uint8 => are_results::<From, u8>,
        DType::Int8 if is_float => are_truncated::<From, i8>,
        DType::Int8 => are_results::<From, i8>,
        DType::Uint16 if is_float => are_truncated::<From, u16>,
        DType::Uint16 => are_results::<From, u16>,
        DType::Int16 if is_float => are_truncated::<From, i16>,
        DType::Int16 => are_results::<From, i16>,
        DType::Uint32 if is_float => are_truncated::<From, u32>,
        DType::Uint32 => are_results::<From, u32>,
        DType::Int32 if is_float => are_truncated::<From, i32>,
        DType::Int32 => are_results::<From, i32>,
        DType::Uint64 if is_float => are_truncated::<From, u64>,
        DType::Uint64 => are_results::<From, u64>,
        DType::Int64 if is_float => are_truncated::<From, i64>,
        DType::Int64 => are_results::<From, i64>,
        DType::Float => are_results::<From, f32>,
        DType::Double => are_results::<From, f64>,
        DType::Bool => are_truths::<From>,
        _ => return None,
    })
}

/// Without branches, which vector instructions lack.
fn are_results<From: Number + ConvertTo<To>, To: Number>(source: &[u8], found: &[u8]) -> bool {
    let pairs = source
        .chunks_exact(From::BYTES)
        .zip(found.chunks_exact(To::BYTES));
    let differing = pairs.fold(0, |differing, (source, found)| {
        let result: To = From::read(source).convert();
        differing | (result.bits() ^ To::read(found).bits())
    });
    differing == 0
}

/// The results of floats, all of which can be truncated to the type.
fn are_truncated<From: Number + ConvertTo<To> + ConvertTo<f64>, To: Number>(
    source: &[u8],
    found: &[u8],
) -> bool {
    let (least, most) = To::LIMITS;
    let is_inside = source.chunks_exact(From::BYTES).fold(true, |all, source| {
        let number: f64 = From::read(source).convert();
        all & (number > least) & (number < most)
    });
    is_inside && are_results::<From, To>(source, found)
}

/// A number is true if it is not zero; the sign of a zero does not matter.
fn are_truths<From: Number + ConvertTo<f64>>(source: &[u8], found: &[u8]) -> bool {
    let pairs = source.chunks_exact(From::BYTES).zip(found);
    pairs.fold(true, |all, (source, &found)| {
        let number: f64 = From::read(source).convert();
        all & (u8::from(number != 0.0) == found)
    })
}
