//! The elements of tensors as numbers.

use super::result::{NotComputed, undefined};
use crate::tensor::{Content, Data};
use onnx_cast::{Cast, Class, DType, Rules, packed};

/// The bits of the elements of a numeric tensor of at most 64 bits.
pub(super) fn codes(content: &Content) -> Result<Vec<u64>, NotComputed> {
    let bits = content.dtype().bits();
    match content.clone().computed().data() {
        Data::Numbers(bytes, _) if bits <= 64 => {
            let bytes = bytes.to_bytes();
            Ok((0..content.elements())
                .map(|index| packed::get(bits, &bytes, index))
                .collect())
        }
        _ => Err(left(content.dtype())),
    }
}

/// The elements of a tensor of integers or truth values.
pub(super) fn integers(content: &Content) -> Result<Vec<i128>, NotComputed> {
    let dtype = content.dtype();
    match dtype.class() {
        Class::Bool | Class::Signed | Class::Unsigned => Ok(codes(content)?
            .into_iter()
            .map(|bits| packed::integer(dtype, bits))
            .collect()),
        _ => Err(left(dtype)),
    }
}

/// The elements of a tensor of floats.
pub(crate) fn floats(content: &Content) -> Result<Vec<f64>, NotComputed> {
    // Most floats are FLOAT, and each of these is a DOUBLE.
    if content.dtype() == DType::Float {
        let floats = codes(content)?.into_iter();
        return Ok(floats
            .map(|code| f32::from_bits(code as u32).into())
            .collect());
    }
    let cast = Cast::new(content.dtype(), DType::Double, Rules::default())
        .map_err(|_| left(content.dtype()))?;
    let (doubles, _) = content
        .cast(cast)
        .map_err(|error| undefined(error.to_string()))?;
    Ok(codes(&doubles)?.into_iter().map(f64::from_bits).collect())
}

/// A tensor of these bits.
pub(super) fn of_codes(
    dtype: DType,
    dims: &[i64],
    codes: impl ExactSizeIterator<Item = u64>,
) -> Content {
    let bits = dtype.bits();
    let mut bytes = vec![0; packed::size(bits, codes.len())];
    codes
        .enumerate()
        .for_each(|(index, code)| packed::put(bits, &mut bytes, index, code & packed::mask(bits)));
    Content::new(dtype, dims, Data::Numbers(bytes.into(), Vec::new()))
}

/// A tensor of these integers.
///
/// # Errors
/// If the type cannot represent one of the integers.
pub(super) fn of_integers(
    dtype: DType,
    dims: &[i64],
    integers: &[i128],
) -> Result<Content, NotComputed> {
    let bits = dtype.bits() as u32;
    let (least, greatest) = match dtype.class() {
        Class::Bool => (0, 1),
        Class::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        _ => (0, (1_i128 << bits) - 1),
    };
    match integers
        .iter()
        .find(|&&integer| integer < least || integer > greatest)
    {
        Some(integer) => Err(undefined(format!(
            "{integer} is out of the range of {dtype}, and ONNX does not define the result"
        ))),
        None => Ok(of_codes(
            dtype,
            dims,
            integers.iter().map(|&integer| integer as u64),
        )),
    }
}

/// A tensor of truth values.
pub(super) fn of_bools(dims: &[i64], bools: &[bool]) -> Content {
    of_codes(DType::Bool, dims, bools.iter().map(|&bool| u64::from(bool)))
}

/// The error for a type that is left to runtimes.
pub(super) fn left(dtype: DType) -> NotComputed {
    NotComputed::LeftToRuntimes(format!("arithmetic of {dtype} is left to the runtime"))
}
