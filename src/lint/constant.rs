//! The values of constants, for the rules that need them.

use std::fmt;

use super::Subject;
use crate::cast::{self, Cast, Converter, Rules, Tally, convert_element};
use crate::dtype::{Class, DType};
use crate::graph::ValueId;
use crate::packed;
use crate::tensor::{Content, Data, Tensor, Values};

/// A constant whose values were read.
#[derive(Clone, Debug)]
pub struct ConstantValues {
    dtype: DType,
    dims: Vec<i64>,
    elements: usize,
    data: Data,
}

/// Elements that are looked at between two casts: few enough for the cache, and a whole number of bytes in every packing.
const BLOCK: usize = 8192;

impl Subject<'_> {
    /// The values of a constant; none of a value that is none, or whose values cannot be read.
    #[must_use]
    pub fn constant(&self, value: ValueId) -> Option<ConstantValues> {
        let constant = self.model.constant(value).ok()?;
        let tensor = Tensor::read(&constant.tensor).ok()?;
        let data = match tensor.values().ok()? {
            Values::Raw(raw) => Data::Numbers(raw, Vec::new()),
            Values::Strings(strings) => Data::Strings(strings),
            Values::External(reference) => Data::Numbers(reference.bytes(tensor.raw_bytes(), self.model.data()).ok()?, Vec::new()),
        };
        let elements = usize::try_from(tensor.elements()).ok()?;
        Some(ConstantValues { dtype: tensor.dtype(), dims: tensor.dims().to_vec(), elements, data })
    }
}

impl ConstantValues {
    /// How many elements there are.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The values, to be cast.
    #[must_use]
    pub fn content(&self) -> Content {
        Content::new(self.dtype, &self.dims, self.data.clone())
    }

    /// Counts the elements for which `is_meant` holds, of what a cast makes of it and of itself.
    #[must_use]
    pub fn tally(&self, cast: &Cast, is_meant: impl Fn(u64, u64) -> bool) -> Tally {
        let mut tally = Tally::default();
        let Data::Numbers(source, _) = &self.data else {
            return tally;
        };
        let (from, to) = (cast.from().bits(), cast.to().bits());
        let converter = Converter::new(*cast);
        let mut target = vec![0; size(to, BLOCK)];
        for first in (0..self.elements).step_by(BLOCK) {
            let elements = BLOCK.min(self.elements - first);
            let source = &source[size(from, first)..size(from, first + elements)];
            let target = &mut target[..size(to, elements)];
            converter.convert(source, elements, target);
            for index in 0..elements {
                if is_meant(packed::get(to, target, index), packed::get(from, source, index)) {
                    tally.count += 1;
                    tally.first = tally.first.or(Some((first + index) as u64));
                }
            }
        }
        tally
    }

    /// One element in words: a number in plain notation, a string in quotes.
    #[must_use]
    pub fn element(&self, index: u64) -> String {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        match &self.data {
            Data::Numbers(raw, _) => number(self.dtype, packed::get(self.dtype.bits(), raw, index)),
            Data::Strings(strings) => {
                format!("\"{}\"", strings.get(index).map_or_else(Default::default, |text| String::from_utf8_lossy(text)))
            }
        }
    }
}

/// A number of any numeric type: in plain notation, or scientific if that is long.
#[must_use]
pub fn number(dtype: DType, bits: u64) -> String {
    let text = || {
        let cast = Cast::new(dtype, DType::String, Rules::default());
        cast.map(|cast| cast::format_strings(&cast, &bits.to_le_bytes(), 1).0.concat())
    };
    let plain = match (dtype.class(), Cast::new(dtype, DType::Double, Rules::default())) {
        (Class::Float, _) if dtype == DType::Float => plain(f32::from_bits(bits as u32)),
        (Class::Float, Ok(cast)) => plain(f64::from_bits(convert_element(&cast, bits).0)),
        _ => text().unwrap_or_else(|_| format!("{bits:#x}")),
    };
    match plain.parse::<f64>() {
        Ok(value) if plain.len() > LONGEST_PLAIN && value.is_finite() => format!("{value:e}"),
        _ => plain,
    }
}

/// Infinities and NaN as ONNX's strings write them.
fn plain(number: impl fmt::Display) -> String {
    match number.to_string().as_str() {
        "inf" => "INF".to_owned(),
        "-inf" => "-INF".to_owned(),
        text => text.to_owned(),
    }
}

/// Digits that can be taken in at a glance.
const LONGEST_PLAIN: usize = 20;

fn size(bits: usize, elements: usize) -> usize {
    (elements * bits).div_ceil(8)
}
