//! `Cast` and `CastLike` from and to a type that a wider one carries.

use super::rounded::rounded;
use super::site::{Role, Site};
use onnx_cast::{Class, DType};

/// A number has the same result in both types. A float is printed with the digits of its type.
pub(super) fn role(site: &Site) -> Option<Role> {
    let carried = site.input(0).map(|wider| wider.from);
    let from = match carried {
        Some(from) => from,
        None => site.known_input(0)?.dtype()?,
    };
    if let Some(wider) = site.output(0) {
        let number = match from {
            DType::Float => "number = Identity (input)",
            _ if is_exact_in_float(from) => "number = Cast <to = 1> (input)",
            _ => return None,
        };
        let rounded = rounded(site, wider, site.int_or("saturate", 1)? != 0)?;
        return Some(Role::Replaced(format!(
            "{number}
             {rounded}
             output = Identity (rounded_number)"
        )));
    }
    let is_printed = site.output_type()? == DType::String && from.class() == Class::Float;
    (!is_printed).then_some(Role::Same)
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
