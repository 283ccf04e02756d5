//! Selects the kernels of a cast: an optional decoding kernel and an optional converting kernel.

use super::pair::Cast;
use super::reference::integer_limit;
use super::round::{Rounding, Scaling};
use super::rules::Contested;
use super::stage::Stage;
use super::table::Table;
use crate::dtype::{Class, DType};

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
    if stages.is_empty() {
        vec![Stage::Copy]
    } else {
        stages
    }
}

/// The kernel that decodes elements of more than eight bits to machine numbers, and their type.
pub(super) fn decode(from: DType) -> (Option<Stage>, DType) {
    match from {
        DType::Float16 => (Some(Stage::FromHalf), DType::Float),
        DType::Bfloat16 => (Some(Stage::FromBrain), DType::Float),
        from => (None, from),
    }
}

/// The kernel that converts machine numbers to an `f32` that can be rounded again: exact, or
/// rounded to odd.
pub(super) fn to_single(from: DType) -> Option<Stage> {
    match from {
        DType::Float => None,
        DType::Uint16 | DType::Int16 => Some(Stage::As(from, DType::Float)),
        _ => Some(Stage::Odd(from)),
    }
}

fn to_integer(cast: &Cast, from: DType) -> Option<Stage> {
    let narrow = cast.to.bits() < 8;
    match from {
        DType::Float | DType::Double if !narrow => Some(Stage::As(from, cast.to)),
        DType::Float | DType::Double if cast.rules.contested == Contested::Text => {
            Some(Stage::NearestByte {
                from,
                above: (integer_limit(cast.to, true) - 1) as f32,
                below: (integer_limit(cast.to, false) + 1) as f32,
            })
        }
        DType::Float | DType::Double => Some(Stage::TruncatedByte(from)),
        // The signedness of the target does not affect the bits that are kept.
        _ if cast.from.bits() == cast.to.bits() => None,
        _ => Some(Stage::As(from, unsigned(cast.to.bits()))),
    }
}

/// The natural numbers of a width, in whole bytes.
fn unsigned(bits: usize) -> DType {
    match bits {
        ..=8 => DType::Uint8,
        16 => DType::Uint16,
        32 => DType::Uint32,
        _ => DType::Uint64,
    }
}

fn to_float(cast: &Cast, from: DType) -> Vec<Stage> {
    let rounding = || Rounding::new(cast.to, cast.rules);
    let last = match cast.to {
        DType::Float | DType::Double => {
            return if from == cast.to {
                vec![]
            } else {
                vec![Stage::As(from, cast.to)]
            };
        }
        DType::Float16 => Stage::ToHalf(rounding()),
        DType::Bfloat16 => Stage::ToBrain,
        DType::Float8E8M0 => Stage::Scale(Scaling::new(cast.rules)),
        _ => Stage::Round(rounding()),
    };
    Vec::from_iter(to_single(from).into_iter().chain([last]))
}
