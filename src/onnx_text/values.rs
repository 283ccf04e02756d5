//! Elements of tensors as text.

use crate::elements::cast::{self, Cast, Rules};
use crate::elements::dtype::{Class, DType};
use crate::elements::packed;

/// The `raw_data` of these elements: integers and BOOL in decimal, floats in decimal or as codes in hexadecimal.
pub(super) fn pack(dtype: DType, elements: &[&str]) -> Result<Vec<u8>, String> {
    let bits = dtype.bits();
    let mut out = vec![0u8; (bits * elements.len()).div_ceil(8)];
    for (index, element) in elements.iter().enumerate() {
        let code = code(dtype, element).ok_or_else(|| format!("'{element}' is not an element of a {dtype} tensor"))?;
        for bit in (0..bits).filter(|bit| code >> bit & 1 == 1) {
            let place = index * bits + bit;
            out[place / 8] |= 1 << (place % 8);
        }
    }
    Ok(out)
}

fn code(dtype: DType, element: &str) -> Option<u64> {
    if let Some(hex) = element.strip_prefix("0x") {
        return u64::from_str_radix(hex, 16).ok();
    }
    match dtype.class() {
        Class::Bool | Class::Unsigned => element.parse().ok(),
        Class::Signed => element.parse::<i64>().ok().map(i64::cast_unsigned),
        Class::Float => {
            let cast = Cast::new(DType::String, dtype, Rules::default()).ok()?;
            let (raw, _) = cast::parse_strings(&cast, &[element]).ok()?;
            let mut code = [0; 8];
            code[..raw.len()].copy_from_slice(&raw);
            Some(u64::from_le_bytes(code))
        }
        Class::String | Class::Complex => None,
    }
}

/// The elements of these bytes, in the syntax that [`pack`] reads.
pub(super) fn unpack(dtype: DType, raw: &[u8], elements: usize) -> Vec<String> {
    let bits = dtype.bits();
    let texts = (0..elements).map(|index| match (dtype.class(), packed::get(bits, raw, index)) {
        (Class::Signed, code) => packed::integer(dtype, code).to_string(),
        (Class::Float, code) if dtype == DType::Float => float(f64::from(f32::from_bits(code as u32)), code),
        (Class::Float, code) if dtype == DType::Double => float(f64::from_bits(code), code),
        (Class::Float, code) if dtype == DType::Float16 => float(half::f16::from_bits(code as u16).to_f64(), code),
        (Class::Float, code) if dtype == DType::Bfloat16 => float(half::bf16::from_bits(code as u16).to_f64(), code),
        (Class::Float, code) => format!("{code:#x}"),
        (_, code) => code.to_string(),
    });
    texts.collect()
}

fn float(value: f64, code: u64) -> String {
    if value.is_nan() { format!("{code:#x}") } else { format!("{value}") }
}
