//! ONNX's `Cast`, exactly: every pair of element types, in every opset.
//!
//! A [`Cast`] is a pair of types with the [`Rules`] of an opset. It surveys and converts elements
//! in the layout of `raw_data` of a `TensorProto`: little-endian, elements of 2, 4 and 6 bits
//! packed, the first element in the lowest bits.
//!
//! ```
//! use onnx_cast::{Cast, DType, Rules};
//!
//! let cast = Cast::new(DType::Float, DType::Float8E4M3Fn, Rules::default()).unwrap();
//! let source: Vec<u8> = [0.1_f32, 448.0, 1e9]
//!     .iter()
//!     .flat_map(|number| number.to_le_bytes())
//!     .collect();
//! let mut target = [0; 3];
//! assert!(cast.survey(&source, 3).is_defined());
//! cast.convert(&source, 3, &mut target);
//! assert_eq!(target, [0x1D, 0x7E, 0x7E]);
//! ```
//!
//! [`Cast::new`] decides whether an opset supports a pair of types, [`Cast::survey`] which results
//! ONNX defines, and [`Cast::convert`] computes them. [`copies`], [`embeds`] and [`collapses`]
//! decide which casts change nothing. [`convert_element`] is the definition, which the vector
//! kernels are proven against.

#[cfg(target_endian = "big")]
compile_error!("onnx-cast converts elements in place, which are little-endian");

mod cast;
mod dtype;
pub mod float_format;
mod names;
pub mod packed;
#[doc(hidden)]
pub mod threshold;

pub use cast::{
    BadLiteral, Cast, Contested, Converter, FNUZ_SETTLED, Features, Kernel, Level, RoundMode,
    Rules, Summary, Tally, Unsupported, Verdict, collapses, convert_element, copies, embeds,
    format_strings, parse_strings,
};
pub use dtype::{Class, DType, UnknownType};
pub use names::UnknownName;

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
