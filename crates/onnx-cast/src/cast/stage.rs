//! The kernels. Each converts a chunk of elements of a fixed width to elements of another fixed
//! width.
//!
//! Conversions to floats of at most 16 bits use `f32` rounded *to odd* as intermediate: see
//! [`super::number`].

use super::level::{Features, Kernel, Level};
use super::number::*;
use super::round::{Rounding, Scaling, brain_from_single};
use super::sink::{Sink, Target};
use super::table::Table;
use super::{half, round_avx512};
use crate::dtype::DType;
use crate::packed;

/// One kernel with its parameters. Its types are those that the machine has: integers of at least
/// eight bits, FLOAT and DOUBLE.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// Copies bytes.
    Copy,
    /// Unpacks elements of 2, 4 or 6 bits to one byte each.
    Unpack(usize),
    /// Looks up one-byte codes in a table.
    Table(Box<Table>),
    /// Like Rust's `as`, which follows ONNX's rules: integers keep their low bits, floats are
    /// truncated (and saturated, which is our choice for values that ONNX leaves undefined), a
    /// float result is rounded once.
    As(DType, DType),
    /// 1 for all numbers except zero.
    IsNotZero(DType),
    /// To `f32`, rounded to odd.
    Odd(DType),
    /// `FLOAT16` to `f32`.
    FromHalf,
    /// `BFLOAT16` to `f32`.
    FromBrain,
    /// `f32` to `FLOAT16`.
    ToHalf(Rounding),
    /// `f32` to `BFLOAT16`.
    ToBrain,
    /// `f32` to a code of at most a byte.
    Round(Rounding),
    /// `f32` to `FLOAT8E8M0`.
    Scale(Scaling),
    /// The low byte of a truncated float.
    TruncatedByte(DType),
    /// Like [`Stage::TruncatedByte`], but numbers strictly between two limits are rounded to the
    /// nearest integer.
    NearestByte { from: DType, above: f32, below: f32 },
}

/// One loop for each pair of machine numbers.
macro_rules! each_pair {
    ($pair:expr, $source:expr, $sink:expr; $($from:ident $read:ty: $($to:ident $write:ty),*;)*) => {
        match $pair {
            $($((DType::$from, DType::$to) => {
                map($source, $sink, |number: $read| -> $write { each_pair!(@ $from $to number, $write) });
            })*)*
            pair => unreachable!("no cast needs {pair:?}"),
        }
    };
    (@ Double Float $number:expr, $write:ty) => { narrow($number) };
    (@ Float Double $number:expr, $write:ty) => { widen($number) };
    (@ Float $to:ident $number:expr, $write:ty) => { $number.saturate() };
    (@ Double $to:ident $number:expr, $write:ty) => { $number.saturate() };
    (@ $from:ident $to:ident $number:expr, $write:ty) => { $number as $write };
}

impl Stage {
    /// The size of a result element, for stages that can have a successor.
    pub(super) fn bytes_out(&self) -> usize {
        match self {
            Stage::Unpack(_)
            | Stage::Round(_)
            | Stage::TruncatedByte(_)
            | Stage::NearestByte { .. } => 1,
            Stage::Table(table) => table.bytes(),
            Stage::As(_, to) => to.bits() / 8,
            Stage::Odd(_) | Stage::FromHalf | Stage::FromBrain => 4,
            last => unreachable!("{last:?} has no successor"),
        }
    }

    /// Runs over all of `source`.
    pub(super) fn run(&self, level: Level, source: &[u8], target: Target) {
        level.run_available(Run {
            stage: self,
            source,
            target,
        });
    }
}

/// A stage with its source and target.
struct Run<'a> {
    stage: &'a Stage,
    source: &'a [u8],
    target: Target<'a>,
}

impl Kernel for Run<'_> {
    type Output = ();

    #[inline(always)]
    fn run<F: Features>(self) {
        let Run {
            stage,
            source,
            target,
        } = self;
        let sink = &mut Sink::<F>::new(target);
        match stage {
            Stage::Copy => map(source, sink, |byte: u8| byte),
            Stage::Unpack(bits) => packed::unpack(*bits, source, sink.between()),
            Stage::Table(table) => table.look_up::<F>(source, sink),
            Stage::As(from, to) => each_pair! { (*from, *to), source, sink;
                Uint16 u16: Uint8 u8, Uint32 u32, Uint64 u64, Float f32, Double f64;
                Int16 i16: Uint8 u8, Uint32 u32, Uint64 u64, Float f32, Double f64;
                Uint32 u32: Uint8 u8, Uint16 u16, Uint64 u64, Float f32, Double f64;
                Int32 i32: Uint8 u8, Uint16 u16, Uint64 u64, Float f32, Double f64;
                Uint64 u64: Uint8 u8, Uint16 u16, Uint32 u32, Float f32, Double f64;
                Int64 i64: Uint8 u8, Uint16 u16, Uint32 u32, Float f32, Double f64;
                Float f32: Uint8 u8, Int8 i8, Uint16 u16, Int16 i16, Uint32 u32, Int32 i32, Uint64 u64, Int64 i64, Double f64;
                Double f64: Uint8 u8, Int8 i8, Uint16 u16, Int16 i16, Uint32 u32, Int32 i32, Uint64 u64, Int64 i64, Float f32;
            },
            Stage::IsNotZero(DType::Float) => {
                map(source, sink, |number: f32| u8::from(number != 0.0))
            }
            Stage::IsNotZero(DType::Double) => {
                map(source, sink, |number: f64| u8::from(number != 0.0))
            }
            Stage::IsNotZero(integer) => match integer.bits() {
                8 => map(source, sink, |number: u8| u8::from(number != 0)),
                16 => map(source, sink, |number: u16| u8::from(number != 0)),
                32 => map(source, sink, |number: u32| u8::from(number != 0)),
                _ => map(source, sink, |number: u64| u8::from(number != 0)),
            },
            Stage::Odd(DType::Double) => map(source, sink, odd_from_double),
            Stage::Odd(DType::Int32) => map(source, sink, |number: i32| {
                odd_from_double(f64::from(number))
            }),
            Stage::Odd(DType::Uint32) => map(source, sink, |number: u32| {
                odd_from_double(f64::from(number))
            }),
            Stage::Odd(DType::Int64) => map(source, sink, |number: i64| {
                odd_from_double(double_with_sticky(number))
            }),
            Stage::Odd(DType::Uint64) => map(source, sink, |number: u64| {
                odd_from_double(unsigned_double_with_sticky(number))
            }),
            Stage::Odd(exact) => unreachable!("{exact} is exact in f32"),
            Stage::FromHalf => half::to_single::<F>(source, sink),
            Stage::FromBrain => map(source, sink, |code: u16| quiet(u32::from(code) << 16)),
            Stage::ToHalf(rounding) => half::from_single::<F>(rounding, source, sink),
            Stage::ToBrain => map(source, sink, brain_from_single),
            Stage::Round(rounding) => round_avx512::from_single::<F>(rounding, source, sink),
            Stage::Scale(scaling) => map(source, sink, |number: u32| scaling.round(number)),
            Stage::TruncatedByte(DType::Float) => map(source, sink, f32::low_byte),
            Stage::TruncatedByte(_) => map(source, sink, f64::low_byte),
            Stage::NearestByte {
                from: DType::Float,
                above,
                below,
            } => {
                map(source, sink, |number: f32| {
                    number.nearest_between(*above, *below).low_byte()
                });
            }
            Stage::NearestByte { above, below, .. } => {
                map(source, sink, |number: f64| {
                    number.nearest_between(*above, *below).low_byte()
                });
            }
        }
    }
}
