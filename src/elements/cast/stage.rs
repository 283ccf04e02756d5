//! The kernels. Each converts a chunk of elements of a fixed width to elements of another fixed width.
//!
//! Conversions to floats of at most 16 bits use `f32` rounded *to odd* as intermediate: see [`super::number`].

use super::level::{Features, Kernel, Level};
use super::number::*;
use super::round::{Rounding, Scaling, brain_from_single};
use super::sink::{Sink, Target};
use super::table::Table;
use super::{half, small};
use crate::elements::dtype::DType;
use crate::elements::packed;

/// The number types of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Machine {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

impl Machine {
    /// The machine type of an element type of at least eight bits.
    pub(super) fn of(dtype: DType) -> Machine {
        match dtype {
            DType::Uint8 => Machine::U8,
            DType::Int8 => Machine::I8,
            DType::Uint16 => Machine::U16,
            DType::Int16 => Machine::I16,
            DType::Uint32 => Machine::U32,
            DType::Int32 => Machine::I32,
            DType::Uint64 => Machine::U64,
            DType::Int64 => Machine::I64,
            DType::Float => Machine::F32,
            DType::Double => Machine::F64,
            _ => unreachable!("{dtype} is decoded first"),
        }
    }

    /// The natural numbers of a width.
    pub(super) fn unsigned(bits: usize) -> Machine {
        match bits {
            8 => Machine::U8,
            16 => Machine::U16,
            32 => Machine::U32,
            _ => Machine::U64,
        }
    }

    fn bytes(self) -> usize {
        match self {
            Machine::U8 | Machine::I8 => 1,
            Machine::U16 | Machine::I16 => 2,
            Machine::U32 | Machine::I32 | Machine::F32 => 4,
            Machine::U64 | Machine::I64 | Machine::F64 => 8,
        }
    }
}

/// One kernel with its parameters.
#[derive(Clone, Debug)]
pub(super) enum Stage {
    /// Copies bytes.
    Copy,
    /// Unpacks elements of 2, 4 or 6 bits to one byte each.
    Unpack(usize),
    /// Looks up one-byte codes in a table.
    Table(Box<Table>),
    /// Like Rust's `as`, which follows ONNX's rules: integers keep their low bits, floats are truncated (and saturated, which is our choice
    /// for values that ONNX leaves undefined), a float result is rounded once.
    As(Machine, Machine),
    /// 1 for all numbers except zero.
    IsNotZero(Machine),
    /// To `f32`, rounded to odd.
    Odd(Machine),
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
    TruncatedByte(Machine),
    /// Like [`Stage::TruncatedByte`], but numbers strictly between two limits are rounded to the nearest integer.
    NearestByte { from: Machine, above: f32, below: f32 },
}

/// One loop for each pair of machine numbers.
macro_rules! each_pair {
    ($pair:expr, $source:expr, $sink:expr; $($from:ident $read:ty: $($to:ident $write:ty),*;)*) => {
        match $pair {
            $($((Machine::$from, Machine::$to) => {
                map($source, $sink, |number: $read| -> $write { each_pair!(@ $from $to number) });
            })*)*
            pair => unreachable!("no cast needs {pair:?}"),
        }
    };
    (@ F64 F32 $number:expr) => { narrow($number) };
    (@ F32 F64 $number:expr) => { widen($number) };
    (@ F32 $to:ident $number:expr) => { $number.saturate() };
    (@ F64 $to:ident $number:expr) => { $number.saturate() };
    (@ $from:ident U8 $number:expr) => { $number as u8 };
    (@ $from:ident U16 $number:expr) => { $number as u16 };
    (@ $from:ident U32 $number:expr) => { $number as u32 };
    (@ $from:ident U64 $number:expr) => { $number as u64 };
    (@ $from:ident F32 $number:expr) => { $number as f32 };
    (@ $from:ident F64 $number:expr) => { $number as f64 };
}

impl Stage {
    /// The size of a result element, for stages that can have a successor.
    pub(super) fn bytes_out(&self) -> usize {
        match self {
            Stage::Unpack(_) | Stage::Round(_) | Stage::TruncatedByte(_) | Stage::NearestByte { .. } => 1,
            Stage::Table(table) => table.bytes(),
            Stage::As(_, to) => to.bytes(),
            Stage::Odd(_) | Stage::FromHalf | Stage::FromBrain => 4,
            last => unreachable!("{last:?} has no successor"),
        }
    }

    /// Runs over all of `source`.
    pub(super) fn run(&self, level: Level, source: &[u8], target: Target) {
        level.run(Run { stage: self, source, target });
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
        let Run { stage, source, target } = self;
        let sink = &mut Sink::<F>::new(target);
        match stage {
            Stage::Copy => map(source, sink, |byte: u8| byte),
            Stage::Unpack(bits) => packed::unpack(*bits, source, sink.between()),
            Stage::Table(table) => table.look_up::<F>(source, sink),
            Stage::As(from, to) => each_pair! { (*from, *to), source, sink;
                U16 u16: U8 u8, U32 u32, U64 u64, F32 f32, F64 f64;
                I16 i16: U8 u8, U32 u32, U64 u64, F32 f32, F64 f64;
                U32 u32: U8 u8, U16 u16, U64 u64, F32 f32, F64 f64;
                I32 i32: U8 u8, U16 u16, U64 u64, F32 f32, F64 f64;
                U64 u64: U8 u8, U16 u16, U32 u32, F32 f32, F64 f64;
                I64 i64: U8 u8, U16 u16, U32 u32, F32 f32, F64 f64;
                F32 f32: U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F64 f64;
                F64 f64: U8 u8, I8 i8, U16 u16, I16 i16, U32 u32, I32 i32, U64 u64, I64 i64, F32 f32;
            },
            Stage::IsNotZero(Machine::F32) => map(source, sink, |number: f32| u8::from(number != 0.0)),
            Stage::IsNotZero(Machine::F64) => map(source, sink, |number: f64| u8::from(number != 0.0)),
            Stage::IsNotZero(machine) => match machine.bytes() {
                1 => map(source, sink, |number: u8| u8::from(number != 0)),
                2 => map(source, sink, |number: u16| u8::from(number != 0)),
                4 => map(source, sink, |number: u32| u8::from(number != 0)),
                _ => map(source, sink, |number: u64| u8::from(number != 0)),
            },
            Stage::Odd(Machine::F64) => map(source, sink, odd_from_double),
            Stage::Odd(Machine::I32) => map(source, sink, |number: i32| odd_from_double(f64::from(number))),
            Stage::Odd(Machine::U32) => map(source, sink, |number: u32| odd_from_double(f64::from(number))),
            Stage::Odd(Machine::I64) => map(source, sink, |number: i64| odd_from_double(double_with_sticky(number))),
            Stage::Odd(Machine::U64) => map(source, sink, |number: u64| odd_from_double(unsigned_double_with_sticky(number))),
            Stage::Odd(machine) => unreachable!("{machine:?} is exact in f32"),
            Stage::FromHalf => half::to_single::<F>(source, sink),
            Stage::FromBrain => map(source, sink, |code: u16| quiet(u32::from(code) << 16)),
            Stage::ToHalf(rounding) => half::from_single::<F>(rounding, source, sink),
            Stage::ToBrain => map(source, sink, brain_from_single),
            Stage::Round(rounding) => small::from_single::<F>(rounding, source, sink),
            Stage::Scale(scaling) => map(source, sink, |number: u32| scaling.round(number)),
            Stage::TruncatedByte(Machine::F32) => map(source, sink, f32::low_byte),
            Stage::TruncatedByte(_) => map(source, sink, f64::low_byte),
            Stage::NearestByte { from: Machine::F32, above, below } => {
                map(source, sink, |number: f32| number.nearest_between(*above, *below).low_byte());
            }
            Stage::NearestByte { above, below, .. } => {
                map(source, sink, |number: f64| number.nearest_between(*above, *below).low_byte());
            }
        }
    }
}
