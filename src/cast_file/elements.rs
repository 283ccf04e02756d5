//! A tensor whose numbers stand in a mapped file, perhaps with a cast that they have yet to go through.

use std::sync::Arc;

use bytes::Bytes;
use rayon::prelude::*;

use crate::cast::{Cast, Converter, Summary, format_strings, parse_strings};
use crate::dtype::DType;
use crate::packed;
use crate::wire::schema::TensorProto;
use crate::wire::{Piece, Recipe};

/// Elements that are packed, surveyed or converted at a time: a multiple of eight, so that every block begins on a byte.
const BLOCK: usize = 1 << 16;

/// What is wrong with a file, or why it cannot be cast.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Failure {
    /// A failure for any reason that has words.
    pub fn new(why: impl ToString) -> Failure {
        Failure(why.to_string())
    }
}

/// How elements of less than a byte are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// As in `raw_data`: packed.
    Packed,
    /// A byte each, as in `.npy`; the high bits do not count.
    Byte,
}

/// A tensor.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its shape.
    pub dims: Vec<i64>,
    /// Whether the first index runs fastest.
    pub fortran_order: bool,
    /// The type of its elements, after the cast if there is one.
    pub dtype: DType,
    /// Its elements.
    pub data: Data,
    /// The message that it stood in, whose other fields stay as they are.
    pub message: Option<TensorProto>,
}

/// The elements of a tensor.
#[derive(Clone, Debug)]
pub enum Data {
    /// Numbers, and the cast that they are still to go through.
    Numbers(Bytes, Spread, Option<Cast>),
    /// One UTF-8 string an element.
    Strings(Vec<Bytes>),
}

impl Array {
    /// How many elements there are.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.dims.iter().product::<i64>() as usize
    }

    /// The tensor after a cast from its type, and which elements ONNX does not define. Numbers are not computed yet.
    ///
    /// # Errors
    /// Where a string is not one that the cast reads.
    pub fn cast(self, cast: Cast) -> Result<(Array, Summary), Failure> {
        let elements = self.elements();
        let (data, summary) = match self.data {
            Data::Strings(strings) if cast.to() == DType::String => (Data::Strings(strings), Summary::default()),
            Data::Strings(strings) => {
                let (raw, summary) = parse_strings(&cast, &strings).map_err(Failure::new)?;
                (Data::Numbers(raw.into(), Spread::Packed, None), summary)
            }
            Data::Numbers(bytes, spread, _) if cast.to() == DType::String => {
                let raw = packed_block(cast.from(), &bytes, spread, 0, elements);
                let (strings, summary) = format_strings(&cast, &raw, elements);
                (Data::Strings(strings.into_iter().map(Bytes::from).collect()), summary)
            }
            Data::Numbers(bytes, spread, _) => {
                if cast.to().addressable_bytes(elements as u64).is_none() {
                    return Err(Failure(format!("is too large for {} on this machine", cast.to())));
                }
                let summary = survey(&cast, &bytes, spread, elements);
                (Data::Numbers(bytes, spread, Some(cast)), summary)
            }
        };
        Ok((Array { dtype: cast.to(), data, ..self }, summary))
    }

    /// The numbers as they will stand in a file; none of strings.
    #[must_use]
    pub fn piece(&self, target: Spread) -> Option<Piece> {
        let Data::Numbers(source, spread, cast) = &self.data else {
            return None;
        };
        let is_narrow = self.dtype.bits() < 8;
        let cast = match cast {
            Some(cast) => *cast,
            None if !is_narrow || target == *spread => return Some(Piece::Bytes(source.clone())),
            // Numbers of strings are packed: what is left to do is a cast to the same type.
            None => Cast::new(self.dtype, self.dtype, crate::cast::Rules::default()).ok()?,
        };
        let source_spread = if cast.from().bits() < 8 { *spread } else { Spread::Packed };
        let target_spread = if is_narrow { target } else { Spread::Packed };
        let (source, converter, elements) = (source.clone(), Converter::new(cast), self.elements());
        Some(Piece::Made(Arc::new(Conversion { source, source_spread, converter, target_spread, elements })))
    }
}

/// Counts on all cores.
fn survey(cast: &Cast, bytes: &Bytes, spread: Spread, elements: usize) -> Summary {
    if cast.is_always_defined() {
        return Summary::default();
    }
    let blocks = (0..elements.div_ceil(BLOCK)).into_par_iter().map(|block| {
        let first = block * BLOCK;
        let count = BLOCK.min(elements - first);
        let part = packed_block(cast.from(), bytes, spread, first, count);
        Summary::default().followed_by(first as u64, cast.survey(&part, count))
    });
    blocks.reduce(Summary::default, |before, after| before.followed_by(0, after))
}

/// Some elements, packed.
fn packed_block(dtype: DType, bytes: &Bytes, spread: Spread, first: usize, count: usize) -> Bytes {
    match spread {
        Spread::Byte if dtype.bits() < 8 => {
            let mut packed = vec![0; packed::size(dtype.bits(), count)];
            packed::pack(dtype.bits(), &bytes[first..first + count], &mut packed);
            packed.into()
        }
        _ => bytes.slice_ref(packed::part(dtype.bits(), bytes, first, count)),
    }
}

/// A cast of numbers of a file, computed while another is written.
#[derive(Debug)]
struct Conversion {
    source: Bytes,
    source_spread: Spread,
    converter: Converter,
    target_spread: Spread,
    elements: usize,
}

impl Conversion {
    /// Bits that an element takes in the target.
    fn bits(&self) -> usize {
        let bits = self.converter.cast().to().bits();
        if self.target_spread == Spread::Byte { bits.max(8) } else { bits }
    }
}

impl Recipe for Conversion {
    fn bytes(&self) -> usize {
        packed::size(self.bits(), self.elements)
    }

    fn source(&self) -> &[u8] {
        &self.source
    }

    fn fill(&self, start: usize, out: &mut [u8]) {
        let cast = self.converter.cast();
        let begin = packed::elements(self.bits(), start);
        let end = self.elements.min(packed::elements(self.bits(), start + out.len()));
        for first in (begin..end).step_by(BLOCK) {
            let count = BLOCK.min(end - first);
            let source = packed_block(cast.from(), &self.source, self.source_spread, first, count);
            let target = packed::part_mut(self.bits(), out, first - begin, count);
            if self.target_spread == Spread::Packed {
                self.converter.convert(&source, count, target);
            } else {
                let mut packed = vec![0; packed::size(cast.to().bits(), count)];
                self.converter.convert(&source, count, &mut packed);
                packed::unpack(cast.to().bits(), &packed, target);
            }
        }
    }
}
