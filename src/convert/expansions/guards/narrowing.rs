//! Casts of integers to narrower ones.

use crate::convert::context::Context;
use crate::convert::reason::{Reason, TypeUnsupported};
use crate::ops::low_bits::low_bits;
use onnx_cast::{Class, DType};

/// A cast of integers keeps the low bits.
///
/// OpenCV gives the largest or the smallest number instead.
pub(super) fn wrapped(cx: &Context) -> Result<String, Reason> {
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
    Ok(format!(
        "integer = Cast <to: int = {}> (input) {}",
        wide.number(),
        low_bits(wide, to, to)
    ))
}
