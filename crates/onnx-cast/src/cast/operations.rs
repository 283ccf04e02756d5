//! The operations of a cast on elements.

use super::converter::Converter;
use super::exactness::copies;
use super::level::Level;
use super::pair::Cast;
use super::reference::convert_element;
use super::summary::{Summary, Verdict};
use super::survey::Survey;
use crate::dtype::{Class, DType};
use crate::float_format::Format;
use crate::packed;
use crate::threshold::Threshold;

/// With fewer elements, filling tables takes longer than converting.
const FEW: Threshold = Threshold::new("few elements", 64).or_zero();

impl Cast {
    /// Whether ONNX defines the result of every possible element, so that no survey is needed.
    #[must_use]
    pub fn is_always_defined(&self) -> bool {
        match (self.from, self.to) {
            (from, to) if from == to => copies(from, to, self.rules.saturate),
            (DType::String, _) => false,
            (from, DType::String) => matches!(from.class(), Class::Signed | Class::Unsigned),
            // Each number rounds to one of theirs or to an infinity, and a NaN to a NaN.
            (_, DType::Double | DType::Float | DType::Float16 | DType::Bfloat16) => true,
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
        if elements < FEW.get() {
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

    /// Converts elements in the layout of `raw_data`: little-endian, packed, padding bits zero.
    /// Every element gets a value; use [`Cast::survey`] to find those that ONNX does not define.
    ///
    /// A tensor can be converted in parts: parts of a multiple of eight elements are byte-aligned
    /// in every type.
    ///
    /// # Panics
    /// If one of the types is not numeric, `source` is shorter than `elements` elements, or the
    /// length of `target` is not exactly theirs.
    pub fn convert(&self, source: &[u8], elements: usize, target: &mut [u8]) {
        if elements < FEW.get() {
            return self.convert_exactly(source, elements, target);
        }
        Converter::new(*self).convert(source, elements, target);
    }

    /// Like [`Cast::convert`], one element at a time on the exact path, against which the kernels
    /// are tested.
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
}

/// Representative elements of a type: if a cast defines these, it defines all elements. The rules
/// depend on zeros, signs, fractions, the range, infinities and NaNs; the probes contain one of
/// each that the type has.
fn probes(dtype: DType) -> impl Iterator<Item = u64> {
    let all = packed::mask(dtype.bits());
    let (codes, sign) = match Format::of(dtype) {
        Some(format) => (
            [
                0,
                1,
                format.largest(),
                format.infinity(),
                format.nan().unwrap_or(0),
            ],
            format.sign_bit(),
        ),
        None => ([0, 1, all, all >> 1, all ^ (all >> 1)], 0),
    };
    codes
        .into_iter()
        .flat_map(move |code| [code & all, (code | sign) & all])
}
