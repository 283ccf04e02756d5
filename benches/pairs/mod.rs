//! The most common casts in models, and their test data.

use onnx_cast::DType;
use onnx_cast::DType::*;

/// The pairs quoted in the README.
pub const NAMED: [(DType, DType); 16] = [
    (Float, Float16),
    (Float, Bfloat16),
    (Float16, Float),
    (Double, Float),
    (Int64, Int32),
    (Float, Int8),
    (Float, Float8E4M3Fn),
    (Float, Float8E4M3Fnuz),
    (Float, Float8E5M2),
    (Float, Float8E5M2Fnuz),
    (Float8E4M3Fn, Float),
    (Float8E4M3Fnuz, Float),
    (Float8E5M2, Float),
    (Float8E5M2Fnuz, Float),
    (Float, Float4E2M1),
    (Float, Int4),
];

/// The size of elements in `raw_data`.
pub fn bytes(dtype: DType, elements: usize) -> usize {
    dtype
        .raw_bytes(elements as u64)
        .expect("numeric types have a size") as usize
}

/// Numbers around one in every format, of both signs, without special values.
pub fn numbers(bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|index| (index as u32).wrapping_mul(2_654_435_761).to_be_bytes()[0] & 0xBF)
        .collect()
}
