//! The values of constants, for the rules that use them.

use std::fmt;

use bytes::Bytes;

use super::Subject;
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::graph::ValueId;
use crate::tensor::{Array, CASTS_OF_EACH, Content, Data};
use onnx_cast::{
    Cast, Class, Converter, DType, Rules, Tally, convert_element, format_strings,
    packed::{self, size},
    parse_strings,
};

/// Elements per block between two casts: few enough for the cache, and a whole number of bytes in
/// every packing.
const BLOCK: Threshold = Threshold::new("block of a tally", 8192).multiple_of(8);
/// The number of elements from which a table of all results of 16 bits pays.
const WORTH_A_TABLE: Threshold = Threshold::new("elements for a table of a tally", 16_384);
/// The number of elements per job of a thread.
const PART: Threshold = Threshold::new("part of a tally", 128 * BLOCK.usual()).multiple_of(8);

impl Subject<'_> {
    /// The values of a constant, or of the results of casts of a constant, if ONNX defines them;
    /// `None` if the value is neither, or if the budget for casts of constants is spent.
    #[must_use]
    pub fn known_values(&self, value: ValueId) -> Option<Array> {
        let mut kernels = Vec::new();
        let mut at = value;
        let constant = loop {
            if let Some(constant) = self.constant(at) {
                break constant;
            }
            let cast = self.producing_cast(at)?;
            if kernels.len() == CASTS_OF_EACH {
                return None;
            }
            kernels.push(cast.kernel()?);
            at = cast.input;
        };
        if kernels.is_empty() {
            return Some(constant);
        }
        let content =
            kernels
                .into_iter()
                .rev()
                .try_fold(constant.content().clone(), |content, kernel| {
                    let may_be_cast = self.budget.borrow_mut().try_spend(at, content.bytes());
                    let (content, summary) = may_be_cast.then(|| content.cast(kernel))?.ok()?;
                    summary.is_defined().then_some(content)
                })?;
        Some(Array::of(content.computed()))
    }

    /// The values of a constant; `None` if the value is not constant or cannot be read.
    #[must_use]
    pub fn constant(&self, value: ValueId) -> Option<Array> {
        let constant = self.model.constant(value).ok()?;
        self.model.read(&constant.tensor).ok()
    }
}

/// Counts the elements of a constant for which `is_source` is true and whose results satisfy
/// `is_result`. For a string, `is_source` receives its number as a DOUBLE.
#[must_use]
pub fn tally(
    constant: &Content,
    cast: &Cast,
    is_result: impl Fn(u64) -> bool + Sync,
    is_source: impl Fn(u64) -> bool + Sync,
) -> Tally {
    let source = match constant.data() {
        Data::Numbers(source, _) => source,
        Data::Strings(strings) => return tally_strings(strings, cast, is_result, is_source),
    };
    let (all, of_part) = (constant.elements(), PART.get());
    let converter = Converter::new(*cast);
    let results = CountedResults::new(cast.to(), all, is_result);
    let part = |first: usize| {
        if constant.is_cancelled() {
            return Tally::default();
        }
        let elements = of_part.min(all - first);
        let source = source.part(
            size(cast.from().bits(), first) as u64
                ..size(cast.from().bits(), first + elements) as u64,
        );
        let mut tally = tally_part(&converter, &source, elements, &results, &is_source);
        tally.first = tally.first.map(|index| first as u64 + index);
        tally
    };
    let join = |all: Tally, next: Tally| Tally {
        count: all.count + next.count,
        first: all.first.or(next.first),
        ..all
    };
    parallel::map_and_join(all.div_ceil(of_part), |index| part(index * of_part), join)
}

/// One element of a constant for messages: a number in plain notation, a string in quotes.
#[must_use]
pub fn element(constant: &Array, index: u64) -> String {
    let index = usize::try_from(index).unwrap_or(usize::MAX);
    match constant.content().data() {
        Data::Numbers(raw, _) => {
            // Eight elements of any packing begin and end at bytes.
            let (bits, first) = (constant.dtype().bits(), index / 8 * 8);
            let few = raw.part(
                size(bits, first) as u64..size(bits, constant.elements().min(first + 8)) as u64,
            );
            number(constant.dtype(), packed::get(bits, &few, index - first))
        }
        Data::Strings(strings) => {
            format!(
                "\"{}\"",
                strings
                    .get(index)
                    .map_or_else(Default::default, |text| String::from_utf8_lossy(text))
            )
        }
    }
}

/// A number of any numeric type for messages: in plain notation, or scientific if that is long.
#[must_use]
pub fn number(dtype: DType, bits: u64) -> String {
    let text = || {
        let cast = Cast::new(dtype, DType::String, Rules::default());
        cast.map(|cast| format_strings(&cast, &bits.to_le_bytes(), 1).0.concat())
    };
    let plain = match (
        dtype.class(),
        Cast::new(dtype, DType::Double, Rules::default()),
    ) {
        (Class::Float, _) if dtype == DType::Float => plain(f32::from_bits(bits as u32)),
        (Class::Float, Ok(cast)) => plain(f64::from_bits(convert_element(&cast, bits).0)),
        _ => text().unwrap_or_else(|_| format!("{bits:#x}")),
    };
    match plain.parse::<f64>() {
        Ok(value) if plain.len() > LONGEST_PLAIN && value.is_finite() => format!("{value:e}"),
        _ => plain,
    }
}

/// Writes infinities and NaN as ONNX's strings do.
fn plain(number: impl fmt::Display) -> String {
    match number.to_string().as_str() {
        "inf" => "INF".to_owned(),
        "-inf" => "-INF".to_owned(),
        text => text.to_owned(),
    }
}

/// The maximum length of a number in plain notation.
const LONGEST_PLAIN: usize = 20;

/// The results that are counted. They are rare: a table quickly shows whether a block has any. It
/// has an entry for each code, and is not made for a few elements of a type with many codes.
struct CountedResults<F> {
    bits: usize,
    table: Vec<bool>,
    is_meant: F,
}

impl<F: Fn(u64) -> bool> CountedResults<F> {
    fn new(dtype: DType, elements: usize, is_meant: F) -> CountedResults<F> {
        let bits = dtype.bits();
        let has_table = bits == 8 || (bits == 16 && elements >= WORTH_A_TABLE.get());
        let table = if has_table {
            (0..1 << bits).map(&is_meant).collect()
        } else {
            Vec::new()
        };
        CountedResults {
            bits,
            table,
            is_meant,
        }
    }

    /// Whether a block may have one.
    fn may_be_in(&self, block: &[u8]) -> bool {
        match self.bits {
            8 => block
                .iter()
                .fold(false, |found, &code| found | self.table[usize::from(code)]),
            16 if !self.table.is_empty() => {
                let codes = block
                    .chunks_exact(2)
                    .map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
                codes.fold(false, |found, code| found | self.table[usize::from(code)])
            }
            _ => true,
        }
    }
}

fn tally_part(
    converter: &Converter,
    source: &[u8],
    elements: usize,
    results: &CountedResults<impl Fn(u64) -> bool>,
    is_source: &impl Fn(u64) -> bool,
) -> Tally {
    let mut tally = Tally::default();
    let (from, to) = (converter.cast().from().bits(), converter.cast().to().bits());
    let block = BLOCK.get();
    let mut target = vec![0; size(to, block.min(elements))];
    for first in (0..elements).step_by(block) {
        let count = block.min(elements - first);
        let source = &source[size(from, first)..size(from, first + count)];
        let target = &mut target[..size(to, count)];
        converter.convert(source, count, target);
        if !results.may_be_in(target) {
            continue;
        }
        for index in 0..count {
            if (results.is_meant)(packed::get(to, target, index))
                && is_source(packed::get(from, source, index))
            {
                tally.count += 1;
                tally.first = tally.first.or(Some((first + index) as u64));
            }
        }
    }
    tally
}

/// `None` if a string is not a number.
fn tally_strings(
    strings: &[Bytes],
    cast: &Cast,
    is_result: impl Fn(u64) -> bool,
    is_source: impl Fn(u64) -> bool,
) -> Tally {
    let to_double = Cast::new(DType::String, DType::Double, Rules::default())
        .expect("the latest opset has this cast");
    let (Ok((sources, _)), Ok((results, _))) = (
        parse_strings(&to_double, strings),
        parse_strings(cast, strings),
    ) else {
        return Tally::default();
    };
    let is_meant = |&index: &usize| {
        let (source, result) = (
            packed::get(64, &sources, index),
            packed::get(cast.to().bits(), &results, index),
        );
        is_result(result) && is_source(source)
    };
    let mut meant = (0..strings.len())
        .filter(is_meant)
        .map(|index| index as u64)
        .peekable();
    let first = meant.peek().copied();
    Tally {
        first,
        count: meant.count() as u64,
        ..Tally::default()
    }
}
