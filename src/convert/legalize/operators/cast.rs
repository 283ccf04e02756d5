//! `Cast` and `CastLike` from and to a type that a wider one carries.

use super::rounded::rounded;
use super::site::{Role, Site};
use super::types::Wider;
use crate::ops::low_bits::low_bits;
use crate::ops::rounding::to_power_of_two;
use onnx_cast::{Class, Contested, DType};

/// A number has the same result in both types. A float is printed with the digits of its type.
pub(super) fn role(site: &Site) -> Option<Role> {
    let carried = site.input(0).map(|wider| wider.from);
    let from = match carried {
        Some(from) => from,
        None => site.known_input(0)?.dtype()?,
    };
    if let Some(wider) = site
        .output(0)
        .filter(|wider| wider.from.class() != Class::Float)
    {
        return narrowed(site, from, wider).map(Role::Replaced);
    }
    if let Some(wider) = site.output(0) {
        let number = match from {
            DType::Float => "number = Identity (input)",
            _ if is_exact_in_float(from) => "number = Cast <to = 1> (input)",
            _ => return None,
        };
        let saturate = site.int_or("saturate", 1)? != 0;
        let rounded = match wider.from {
            DType::Float8E8M0 => {
                let mode = site.string_or("round_mode", "up")?;
                to_power_of_two(saturate, &mode, "number", "rounded_number")?
            }
            _ => rounded(site, wider, saturate)?,
        };
        return Some(Role::Replaced(format!(
            "{number}
             {rounded}
             output = Identity (rounded_number)"
        )));
    }
    let is_printed = site.output_type()? == DType::String && from.class() == Class::Float;
    (!is_printed).then_some(Role::Same)
}

/// The low bits of an integer, as a number of the type (Cast-21). INT32 keeps the low bits of wider
/// integers.
///
/// The result of a fraction is contested, and has to be chosen: the nearest number, or the one
/// towards zero. Numbers out of range have undefined results.
fn narrowed(site: &Site, from: DType, wider: &Wider) -> Option<String> {
    let whole = match (from.class(), site.contested) {
        (Class::Bool | Class::Signed | Class::Unsigned, _) => "whole = Identity (input)",
        (Class::Float, Some(contested)) if from != DType::Float8E8M0 => match (contested, from) {
            (Contested::Runtime, _) => "whole = Identity (input)",
            (Contested::Text, DType::Double) => "whole = Round (input)",
            (Contested::Text, _) => "number = Cast <to = 1> (input) whole = Round (number)",
        },
        _ => return None,
    };
    let low = low_bits(DType::Int32, wider.from, wider.to);
    Some(format!("{whole} integer = Cast <to = 6> (whole) {low}"))
}

/// Whether FLOAT has every number of a type.
fn is_exact_in_float(dtype: DType) -> bool {
    match dtype.class() {
        Class::Signed | Class::Unsigned => dtype.bits() <= 16,
        Class::Float => dtype != DType::Double,
        Class::Bool => true,
        _ => false,
    }
}
