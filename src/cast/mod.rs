//! Casts of tensors, element by element, as ONNX's `Cast` defines them.
//!
//! A [`Cast`] is a pair of types with the rules of an opset. It surveys and converts elements in the layout of `raw_data`:
//!
//! ```
//! use onnx_recast::internals::cast::{Cast, Rules};
//! use onnx_recast::internals::dtype::DType;
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
mod half;
mod level;
mod number;
mod reference;
mod round;
mod sink;
mod small;
mod stage;
mod stream;
mod strings;
mod summary;
mod survey;
mod table;

pub use converter::Converter;
pub use level::Level;
pub(crate) use reference::FNUZ_SETTLED;
pub use reference::convert_element;
pub use strings::{BadLiteral, format_strings, parse_strings};
pub use summary::{Summary, Tally, Verdict};

use crate::dtype::{Class, DType};
use crate::minifloat::Format;
use crate::packed;
use survey::Survey;

/// The rounding of numbers between two powers of two to `FLOAT8E8M0`. Ignored for other types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RoundMode {
    /// To the next higher power, the default of `Cast`.
    Up,
    /// To the next lower power.
    Down,
    /// To the nearest power by value; ties round up.
    Nearest,
}

/// The result of contested elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contested {
    /// The value in the schema text of the opset or, if it has none, in ONNX's technical notes.
    Text,
    /// The value in ONNX's node tests and in runtimes.
    Runtime,
}

/// The rules of a cast, which define its result together with the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether float8 targets saturate on overflow.
    pub saturate: bool,
    /// The rounding to `FLOAT8E8M0`.
    pub round_mode: RoundMode,
    /// The version of the default operator set.
    pub opset: u32,
    /// The result of contested elements.
    pub contested: Contested,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { saturate: true, round_mode: RoundMode::Up, opset: 28, contested: Contested::Text }
    }
}

/// `Cast` of the opset does not support a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Cast does not support {dtype} {}", match .since {
    Some(since) => format!("before opset {since}; the opset is {opset}"),
    None => "in any opset".to_owned(),
})]
pub struct Unsupported {
    /// The unsupported type.
    pub dtype: DType,
    /// The requested opset.
    pub opset: u32,
    /// The first opset that supports the type.
    pub since: Option<u32>,
}

/// A cast from one type to another under the rules of an opset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cast {
    from: DType,
    to: DType,
    rules: Rules,
}

impl Cast {
    /// Creates a cast that the opset supports.
    ///
    /// # Errors
    /// If `Cast` of the opset does not support one of the types.
    pub fn new(from: DType, to: DType, rules: Rules) -> Result<Cast, Unsupported> {
        for dtype in [from, to] {
            let since = dtype.cast_since();
            if since.is_none_or(|since| rules.opset < since) {
                return Err(Unsupported { dtype, opset: rules.opset, since });
            }
        }
        Ok(Cast { from, to, rules })
    }

    /// The type of the source.
    #[must_use]
    pub fn from(&self) -> DType {
        self.from
    }

    /// The type of the target.
    #[must_use]
    pub fn to(&self) -> DType {
        self.to
    }

    /// The rules.
    #[must_use]
    pub fn rules(&self) -> Rules {
        self.rules
    }

    /// Whether ONNX defines the result of every possible element, so that no survey is needed.
    #[must_use]
    pub fn is_always_defined(&self) -> bool {
        match (self.from, self.to) {
            (from, to) if from == to => to != DType::Float8E5M2 || !self.rules.saturate,
            (DType::String, _) => false,
            (from, DType::String) => matches!(from.class(), Class::Signed | Class::Unsigned),
            (from, _) => probes(from).all(|bits| convert_element(self, bits).1 == Verdict::Defined),
        }
    }

    /// Counts the elements whose result ONNX does not define.
    ///
    /// # Panics
    /// If one of the types is not numeric, or `source` is shorter than `elements` elements.
    #[must_use]
    pub fn survey(&self, source: &[u8], elements: usize) -> Summary {
        self.check_source(source, elements);
        if elements < FEW {
            return self.survey_exactly(source, elements);
        }
        if self.is_always_defined() {
            return Summary::default();
        }
        Survey::for_level(*self, Level::detect()).count(source, elements)
    }

    /// Like [`Cast::survey`], one element at a time on the exact path.
    ///
    /// # Panics
    /// See [`Cast::survey`].
    #[must_use]
    pub fn survey_exactly(&self, source: &[u8], elements: usize) -> Summary {
        self.check_source(source, elements);
        let mut summary = Summary::default();
        for index in 0..elements {
            let (_, verdict) = convert_element(self, packed::get(self.from.bits(), source, index));
            summary.add(index as u64, verdict);
        }
        summary
    }

    /// Converts elements in the layout of `raw_data`: little-endian, packed, padding bits zero. Every element gets a value; use
    /// [`Cast::survey`] to find those that ONNX does not define.
    ///
    /// A tensor can be converted in parts: parts of a multiple of eight elements are byte-aligned in every type.
    ///
    /// # Panics
    /// If one of the types is not numeric, `source` is shorter than `elements` elements, or the length of `target` is not exactly theirs.
    pub fn convert(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        if elements < FEW {
            return self.convert_exactly(source, elements, target);
        }
        Converter::new(*self).convert(source, elements, target);
    }

    /// Like [`Cast::convert`], one element at a time on the exact path, against which the kernels are tested.
    ///
    /// # Panics
    /// See [`Cast::convert`].
    pub fn convert_exactly(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        self.check_source(source, elements);
        self.check_target(elements, target);
        target.fill(0);
        for index in 0..elements {
            let (bits, _) = convert_element(self, packed::get(self.from.bits(), source, index));
            packed::put(self.to.bits(), target, index, bits);
        }
    }

    fn check_source(&self, source: &[u8], elements: usize) {
        let needed = self.from.raw_bytes(elements as u64).expect("the source is numeric");
        assert!(source.len() as u64 >= needed, "{elements} elements of {} need {needed} bytes, not {}", self.from, source.len());
    }

    fn check_target(&self, elements: usize, target: &[u8]) {
        let needed = self.to.raw_bytes(elements as u64).expect("the target is numeric");
        assert!(target.len() as u64 == needed, "{elements} elements of {} take {needed} bytes, not {}", self.to, target.len());
    }
}

/// With fewer elements, filling tables takes longer than converting.
const FEW: usize = 64;

/// Representative elements of a type: if a cast defines these, it defines all elements. The rules depend on zeros, signs, fractions,
/// the range, infinities and NaNs; the probes contain one of each that the type has.
fn probes(dtype: DType) -> impl Iterator<Item = u64> {
    let all = packed::mask(dtype.bits());
    let (codes, sign) = match Format::of(dtype) {
        Some(format) => ([0, 1, format.largest(), format.infinity(), format.nan().unwrap_or(0)], format.sign_bit()),
        None => ([0, 1, all, all >> 1, all ^ (all >> 1)], 0),
    };
    codes.into_iter().flat_map(move |code| [code & all, (code | sign) & all])
}

#[cfg(test)]
mod tests;
