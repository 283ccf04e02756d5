//! Casts of tensors, element by element, as ONNX's `Cast` defines them.
//!
//! [`Cast::new`] decides whether an opset supports a pair of types, [`Cast::survey`] which results
//! are defined, [`Cast::convert`] computes them, and `exactness` decides which casts change
//! nothing. `docs/cast.md` is the specification, `reference` implements it line by line, and the
//! vector kernels are verified against that.
//!
//! A [`Cast`] is a pair of types with the rules of an opset. It surveys and converts elements in
//! the layout of `raw_data`:
//!
//! ```
//! use onnx_recast::internals::elements::cast::{Cast, Rules};
//! use onnx_recast::internals::elements::dtype::DType;
//!
//! let cast = Cast::new(DType::Float, DType::Float8E4M3Fn, Rules::default()).unwrap();
//! let source: Vec<u8> = [0.1_f32, 448.0, 1e9].iter().flat_map(|number| number.to_le_bytes()).collect();
//! let mut target = [0; 3];
//! assert!(cast.survey(&source, 3).is_defined());
//! cast.convert(&source, 3, &mut target);
//! assert_eq!(target, [0x1D, 0x7E, 0x7E]);
//! ```

mod chain;
mod converter;
mod decimal;
mod exactness;
mod half;
mod level;
mod number;
mod operations;
mod pair;
mod reference;
mod round;
mod rules;
mod sink;
mod small;
mod stage;
mod stream;
mod strings;
mod summary;
mod survey;
mod table;

pub use converter::Converter;
pub use exactness::{collapses, copies, embeds};
#[allow(unused_imports, reason = "for tests and benchmarks")]
pub use level::Level;
pub(crate) use level::{Features, Kernel};
pub use pair::{Cast, Unsupported};
pub(crate) use reference::FNUZ_SETTLED;
pub use reference::convert_element;
pub use rules::{Contested, RoundMode, Rules};
pub use strings::{BadLiteral, format_strings, parse_strings};
#[allow(unused_imports, reason = "for tests and benchmarks")]
pub use summary::Verdict;
pub use summary::{Summary, Tally};

#[cfg(test)]
mod tests;
