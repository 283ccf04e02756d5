//! Casts of tensors, element by element, as ONNX's `Cast` defines them.
//!
//! A [`Cast`] is a pair of types with the rules of an opset. It judges and converts elements in `raw_data` layout on both sides:
//!
//! ```
//! use onnx_recast::cast::{Cast, Rules};
//! use onnx_recast::dtype::DType;
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

/// How numbers between two powers of two become `FLOAT8E8M0`. Other types do not look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RoundMode {
    /// To the power above: what `Cast` does unless told.
    Up,
    /// To the power below.
    Down,
    /// To the nearer in value; from the middle, up.
    Nearest,
}

/// Which value a contested element takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contested {
    /// What the schema text of the opset says, or else ONNX's technical notes.
    Text,
    /// What ONNX's node tests expect and runtimes do.
    Runtime,
}

/// What a cast's result depends on beside the types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Whether float8 targets take the largest number for anything beyond it.
    pub saturate: bool,
    /// How numbers become `FLOAT8E8M0`.
    pub round_mode: RoundMode,
    /// The version of the default operator set.
    pub opset: u32,
    /// Which value a contested element takes.
    pub contested: Contested,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules { saturate: true, round_mode: RoundMode::Up, opset: 28, contested: Contested::Text }
    }
}

/// The opset's `Cast` does not support a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Cast of opset {opset} does not support {dtype}: {}", match .since {
    Some(since) => format!("opset {since} is the first that does"),
    None => "no opset does".to_owned(),
})]
pub struct Unsupported {
    /// The type that is not supported.
    pub dtype: DType,
    /// The opset asked for.
    pub opset: u32,
    /// The first opset that admits the type.
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
    /// A cast that the opset admits.
    ///
    /// # Errors
    /// When the opset's `Cast` does not support one of the types.
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

    /// Whether ONNX defines the result whatever the source holds: then there is no need for a survey.
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
    /// When one of the types is not numeric, or `source` is shorter than `elements` elements.
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

    /// Counts as [`Cast::survey`] does, one element at a time along the exact path.
    ///
    /// # Panics
    /// As [`Cast::survey`].
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

    /// Converts elements in `raw_data` layout: little-endian, packed, padding bits zero. Every element gets a value; which of
    /// them ONNX does not define, [`Cast::survey`] tells.
    ///
    /// A tensor may be converted part by part: parts of a multiple of eight elements begin on a byte in every type.
    ///
    /// # Panics
    /// When one of the types is not numeric, `source` is shorter than `elements` elements, or `target` has not exactly their length.
    pub fn convert(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        if elements < FEW {
            return self.convert_exactly(source, elements, target);
        }
        Converter::new(*self).convert(source, elements, target);
    }

    /// Converts as [`Cast::convert`] does, one element at a time along the exact path that the kernels are tested against.
    ///
    /// # Panics
    /// As [`Cast::convert`].
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

/// With fewer elements than this, making tables ready takes longer than converting.
const FEW: usize = 64;

/// Elements of a type such that a cast defines all elements if it defines these. Rules speak of zeros, signs, fractions, the
/// range, infinities and NaNs: among the probes is one of each that the type has.
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
