//! Casts of tensors, element by element, as ONNX's `Cast` defines them.
//!
//! [`Cast::new`] decides whether an opset supports a pair of types, [`Cast::survey`] which results
//! are defined, [`Cast::convert`] computes them, and `exactness` decides which casts change
//! nothing. `docs/cast.md` is the specification, `reference` implements it line by line, and the
//! vector kernels are verified against that.
//!
//! Fewer than 64 elements are computed by `reference`. More are computed by the kernels of `stage`
//! that `chain` selects: roundings have the parameters of `Rounding::new` in `round`; `round_avx512`
//! and `half` compute the same with vector instructions. The tests compare all of them.

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
mod round_avx512;
mod rules;
mod sink;
mod stage;
mod stream;
mod strings;
mod summary;
mod survey;
mod table;

pub use converter::Converter;
pub use exactness::{collapses, copies, embeds};
pub use level::{Features, Kernel, Level};
pub use pair::{Cast, Unsupported};
pub use reference::{FNUZ_SETTLED, convert_element};
pub use rules::{Contested, RoundMode, Rules};
pub use strings::{BadLiteral, format_strings, parse_strings};
pub use summary::{Summary, Tally, Verdict};

#[cfg(test)]
mod tests;
