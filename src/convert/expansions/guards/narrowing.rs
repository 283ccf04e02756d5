//! Casts of integers to narrower ones.

use super::super::{fill, type_name};
use crate::convert::context::Context;
use crate::convert::reason::{Reason, TypeUnsupported};
use onnx_cast::{Class, DType};

/// A cast of integers keeps the low bits: the remainder by the number of values of the type, from
/// which a signed type subtracts that number if it is in the upper half.
///
/// OpenCV gives the largest or the smallest number instead.
pub(super) fn low_bits(cx: &Context) -> Result<String, Reason> {
    let to = cx.output_dtype(0)?;
    let from = cx.dtype(0)?;
    let unsupported =
        |dtype: DType| Reason::new(TypeUnsupported, format!("there is no guard for {dtype}"));
    // In which the remainders are computed.
    let wide = match from {
        DType::Int64 => from,
        DType::Int8 | DType::Uint8 | DType::Int16 | DType::Uint16 | DType::Int32 => DType::Int32,
        _ => return Err(unsupported(from)),
    };
    if !matches!(to.class(), Class::Signed | Class::Unsigned) || !matches!(to.bits(), 8 | 16) {
        return Err(unsupported(to));
    }
    let values = 1 << to.bits();
    let turned = "
        half = Constant <value = $wide {$half}> ()
        raised = Add (rest, half)
        place = Mod (raised, values)
        low = Sub (place, half)
        output = Cast <to: int = $to> (low)";
    let end = match to.class() {
        Class::Signed => turned,
        _ => "output = Cast <to: int = $to> (rest)",
    };
    let body = format!(
        "values = Constant <value = $wide {{$values}}> ()
         number = Cast <to: int = $number> (input)
         rest = Mod (number, values)
         {end}"
    );
    let parameters: &[(&str, &dyn std::fmt::Display)] = &[
        ("wide", &type_name(wide)),
        ("number", &wide.number()),
        ("values", &values),
        ("half", &(values / 2)),
        ("to", &to.number()),
    ];
    Ok(fill(&body, parameters))
}
