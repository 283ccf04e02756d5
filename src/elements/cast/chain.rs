//! Selects the kernels of a cast: an optional decoding kernel and an optional converting kernel.

use super::pair::Cast;
use super::reference::integer_limit;
use super::round::{Rounding, Scaling};
use super::rules::Contested;
use super::stage::{Machine, Stage};
use super::table::Table;
use crate::elements::dtype::{Class, DType};

/// The kernels of a cast, in order: one or two.
pub(super) fn chain(cast: &Cast) -> Vec<Stage> {
    let mut stages = Vec::new();
    if cast.from == cast.to && cast.from != DType::Bool && cast.is_always_defined() {
        return vec![Stage::Copy];
    }
    if cast.from.bits() <= 8 {
        stages.extend((cast.from.bits() < 8).then(|| Stage::Unpack(cast.from.bits())));
        stages.push(Stage::Table(Box::new(Table::new(cast))));
    } else {
        let (decode, machine) = decode(cast.from);
        stages.extend(decode);
        match cast.to.class() {
            Class::Bool => stages.push(Stage::IsNotZero(machine)),
            Class::Signed | Class::Unsigned => stages.extend(to_integer(cast, machine)),
            _ => stages.extend(to_float(cast, machine)),
        }
    }
    if stages.is_empty() { vec![Stage::Copy] } else { stages }
}

/// The kernel that decodes elements of more than eight bits to machine numbers, and their type.
pub(super) fn decode(from: DType) -> (Option<Stage>, Machine) {
    match from {
        DType::Float16 => (Some(Stage::FromHalf), Machine::F32),
        DType::Bfloat16 => (Some(Stage::FromBrain), Machine::F32),
        from => (None, Machine::of(from)),
    }
}

/// The kernel that converts machine numbers to an `f32` that can be rounded again: exact, or rounded to odd.
pub(super) fn to_single(from: Machine) -> Option<Stage> {
    match from {
        Machine::F32 => None,
        Machine::U16 | Machine::I16 => Some(Stage::As(from, Machine::F32)),
        _ => Some(Stage::Odd(from)),
    }
}

fn to_integer(cast: &Cast, from: Machine) -> Option<Stage> {
    let narrow = cast.to.bits() < 8;
    match from {
        Machine::F32 | Machine::F64 if !narrow => Some(Stage::As(from, Machine::of(cast.to))),
        Machine::F32 | Machine::F64 if cast.rules.contested == Contested::Text => Some(Stage::NearestByte {
            from,
            above: (integer_limit(cast.to, true) - 1) as f32,
            below: (integer_limit(cast.to, false) + 1) as f32,
        }),
        Machine::F32 | Machine::F64 => Some(Stage::TruncatedByte(from)),
        // The signedness of the target does not affect the bits that are kept.
        _ if cast.from.bits() == cast.to.bits() => None,
        _ => Some(Stage::As(from, Machine::unsigned(cast.to.bits().max(8)))),
    }
}

fn to_float(cast: &Cast, from: Machine) -> Vec<Stage> {
    let rounding = || Rounding::new(cast.to, cast.rules);
    let last = match cast.to {
        DType::Float | DType::Double => {
            let to = Machine::of(cast.to);
            return if from == to { vec![] } else { vec![Stage::As(from, to)] };
        }
        DType::Float16 => Stage::ToHalf(rounding()),
        DType::Bfloat16 => Stage::ToBrain,
        DType::Float8E8M0 => Stage::Scale(Scaling::new(cast.rules)),
        _ => Stage::Round(rounding()),
    };
    Vec::from_iter(to_single(from).into_iter().chain([last]))
}
