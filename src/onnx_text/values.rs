//! Elements of tensors as text.

use onnx_cast::{
    Cast, Class, DType, Rules,
    packed::{self, mask, size},
    parse_strings,
};

/// The `raw_data` of these elements: integers and BOOL in decimal, floats in decimal or as codes in
/// hexadecimal.
pub(super) fn pack(dtype: DType, elements: &[&str]) -> Result<Vec<u8>, String> {
    let bits = dtype.bits();
    let mut out = vec![0; size(bits, elements.len())];
    for (index, element) in elements.iter().enumerate() {
        let code = code(dtype, element)
            .ok_or_else(|| format!("'{element}' is not an element of a {dtype} tensor"))?;
        packed::put(bits, &mut out, index, code);
    }
    Ok(out)
}

/// The bits of an element; none if the type has no such element.
fn code(dtype: DType, element: &str) -> Option<u64> {
    let fits = |code: &u64| code & !mask(dtype.bits()) == 0;
    if let Some(hex) = element
        .strip_prefix("0x")
        .filter(|_| dtype != DType::Complex128)
    {
        return u64::from_str_radix(hex, 16).ok().filter(fits);
    }
    match dtype.class() {
        Class::Bool | Class::Unsigned => element.parse().ok().filter(fits),
        Class::Signed => {
            let integer: i64 = element.parse().ok()?;
            let code = integer.cast_unsigned() & mask(dtype.bits());
            (packed::integer(dtype, code) == integer.into()).then_some(code)
        }
        Class::Float => {
            let cast = Cast::new(DType::String, dtype, Rules::default()).ok()?;
            let (raw, _) = parse_strings(&cast, &[element]).ok()?;
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
    let texts = (0..elements).map(
        |index| match (dtype.class(), packed::get(bits, raw, index)) {
            (Class::Signed, code) => packed::integer(dtype, code).to_string(),
            (Class::Float, code) if dtype == DType::Float => {
                float(f64::from(f32::from_bits(code as u32)), code)
            }
            (Class::Float, code) if dtype == DType::Double => float(f64::from_bits(code), code),
            (Class::Float, code) if dtype == DType::Float16 => {
                float(half::f16::from_bits(code as u16).to_f64(), code)
            }
            (Class::Float, code) if dtype == DType::Bfloat16 => {
                float(half::bf16::from_bits(code as u16).to_f64(), code)
            }
            (Class::Float, code) => format!("{code:#x}"),
            (_, code) => code.to_string(),
        },
    );
    texts.collect()
}

fn float(value: f64, code: u64) -> String {
    if value.is_nan() {
        format!("{code:#x}")
    } else {
        format!("{value}")
    }
}
