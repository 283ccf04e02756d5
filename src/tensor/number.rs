//! The Rust types of numbers.

use half::{bf16, f16};
use onnx_cast::DType;

/// A Rust type whose values are the elements of one element type. Types of less than 8 bits and
/// those of float8 have none.
pub trait Number: Bytes {
    /// The element type.
    const DTYPE: DType;
}

/// The bytes of numbers in a tensor. Other crates cannot implement it.
pub trait Bytes: Copy {
    /// Reads as many bytes as the type has, in little-endian order.
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Appends the bytes, in little-endian order.
    fn append_to(self, bytes: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($number:ty: $dtype:ident),*) => {
        $(
            impl Number for $number {
                const DTYPE: DType = DType::$dtype;
            }

            impl Bytes for $number {
                fn from_bytes(bytes: &[u8]) -> $number {
                    <$number>::from_le_bytes(bytes.try_into().expect("the bytes of one number"))
                }

                fn append_to(self, bytes: &mut Vec<u8>) {
                    bytes.extend_from_slice(&self.to_le_bytes());
                }
            }
        )*
    };
}

numbers!(
    f64: Double, f32: Float, f16: Float16, bf16: Bfloat16,
    i64: Int64, i32: Int32, i16: Int16, i8: Int8,
    u64: Uint64, u32: Uint32, u16: Uint16, u8: Uint8
);

impl Number for bool {
    const DTYPE: DType = DType::Bool;
}

/// Every byte but 0 is true.
impl Bytes for bool {
    fn from_bytes(bytes: &[u8]) -> bool {
        bytes != [0]
    }

    fn append_to(self, bytes: &mut Vec<u8>) {
        bytes.push(u8::from(self));
    }
}
