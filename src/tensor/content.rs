//! A tensor that was read and validated once, with its pending moves and casts.

use std::sync::Arc;

use bytes::Bytes;

use super::element_map::ElementMap;
use super::elements::element_count;
use super::external::without_values;
use super::recipe::{CastRecipe, Packing, StoredNumbers};
use super::strings;
use super::typed::raw_data;
use crate::base::progress::Cancel;
use crate::base::stored::Stored;
use crate::protobuf::schema::TensorProto;
use crate::protobuf::{Piece, Recipe, raw};
use onnx_cast::{BadLiteral, Cast, DType, Summary, packed};

/// The maximum number of pending casts. Longer chains are materialized at this length, so that
/// their cost is linear in their length; their results no longer come from a data file, and are
/// stored in the model.
const LONGEST_SERIES: usize = 16;

/// A tensor's type, shape and values, read from a message or computed from one. Numbers are moved
/// and cast lazily, when the file is written: casts and data movement commute, so that all movement
/// comes first.
#[derive(Clone, Debug)]
pub struct Content {
    dims: Vec<i64>,
    elements: usize,
    dtype: DType,
    /// The storage of the numbers.
    packing: Packing,
    /// The element of the stored numbers that each element is, before the casts; without it, each
    /// is the one at its own index.
    map: Option<Arc<ElementMap>>,
    data: Data,
    /// Ends the computation of summaries and of casts from and to strings.
    cancel: Option<Cancel>,
}

/// The values of a [`Content`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Data {
    /// Numbers in the layout of `raw_data`, or one byte per element with [`Packing::Byte`], and
    /// their pending casts.
    Numbers(Stored, Vec<Cast>),
    /// One UTF-8 string per element.
    Strings(Vec<Bytes>),
}

/// A cast that cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A string that the cast cannot parse.
    #[error(transparent)]
    Literal(#[from] BadLiteral),
    /// The size of the result exceeds the address space.
    #[error("the result is too large for {0} on this machine")]
    TooLarge(DType),
}

impl Content {
    /// Creates a tensor of this type and shape.
    ///
    /// # Panics
    /// If the shape is invalid.
    #[must_use]
    pub fn new(dtype: DType, dims: &[i64], data: Data) -> Content {
        let elements = element_count(dims).and_then(|elements| usize::try_from(elements).ok());
        let elements = elements.expect("the shape was validated");
        Content {
            dims: dims.to_vec(),
            elements,
            dtype,
            packing: Packing::Packed,
            map: None,
            data,
            cancel: None,
        }
    }

    /// Like [`Content::new`], for numbers stored one per byte if their type is narrower than a
    /// byte.
    ///
    /// # Panics
    /// See [`Content::new`].
    #[must_use]
    pub(crate) fn unpacked(dtype: DType, dims: &[i64], numbers: Bytes) -> Content {
        Content {
            packing: Packing::Byte,
            ..Content::new(dtype, dims, Data::Numbers(numbers.into(), Vec::new()))
        }
    }

    /// The content with a token that ends the computation of summaries, and of casts from and to
    /// strings. Their results are then incomplete and must be discarded: there may be fewer strings
    /// than elements.
    #[must_use]
    pub(crate) fn with_cancel(mut self, cancel: &Cancel) -> Content {
        self.cancel = Some(cancel.clone());
        self
    }

    /// Whether [`Content::cast`] ends early.
    #[must_use]
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.as_ref().is_some_and(Cancel::is_cancelled)
    }

    /// The shape.
    #[must_use]
    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The number of elements.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The size of the values in a model, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.data {
            Data::Numbers(..) => self.dtype.raw_bytes(self.elements as u64).unwrap_or(0),
            Data::Strings(strings) => strings.iter().map(|string| string.len() as u64).sum(),
        }
    }

    /// Applies one more cast; also returns which values ONNX does not define.
    ///
    /// # Errors
    /// If the cast cannot parse a string, or the result is too large.
    pub fn cast(&self, cast: Cast) -> Result<(Content, Summary), Failure> {
        let (mut packing, mut map) = (Packing::Packed, None);
        let (data, summary) = match &self.data {
            Data::Strings(strings) if cast.to() == DType::String => {
                (Data::Strings(strings.clone()), Summary::default())
            }
            Data::Strings(strings) => {
                let (raw, summary) = strings::parse(&cast, strings, || self.is_cancelled())?;
                (Data::Numbers(raw.into(), Vec::new()), summary)
            }
            Data::Numbers(..) if cast.to() == DType::String => {
                let (strings, summary) =
                    strings::format(&cast, &self.numbers(), self.elements, || {
                        self.is_cancelled()
                    });
                (Data::Strings(strings), summary)
            }
            Data::Numbers(source, casts) => {
                if cast.to().addressable_bytes(self.elements as u64).is_none() {
                    return Err(Failure::TooLarge(cast.to()));
                }
                let summary = if cast.is_always_defined() {
                    Summary::default()
                } else {
                    self.recipe(source, casts, Packing::Packed)
                        .survey(&cast, || self.is_cancelled())
                };
                let data = if casts.len() >= LONGEST_SERIES {
                    Data::Numbers(self.numbers().into(), vec![cast])
                } else {
                    (packing, map) = (self.packing, self.map.clone());
                    Data::Numbers(
                        source.clone(),
                        casts.iter().copied().chain([cast]).collect(),
                    )
                };
                (data, summary)
            }
        };
        let (dims, elements, cancel) = (self.dims.clone(), self.elements, self.cancel.clone());
        Ok((
            Content {
                dims,
                elements,
                dtype: cast.to(),
                packing,
                map,
                data,
                cancel,
            },
            summary,
        ))
    }

    /// The elements in another shape with the same number of elements.
    ///
    /// # Panics
    /// If the shape has another number of elements.
    #[must_use]
    pub(crate) fn reshaped(&self, dims: &[i64]) -> Content {
        assert_eq!(
            element_count(dims),
            Some(self.elements as u64),
            "the shape was validated"
        );
        Content {
            dims: dims.to_vec(),
            ..self.clone()
        }
    }

    /// Elements of this tensor, in the shape `dims`: those that `select` takes from all of them. A
    /// run of elements is not copied, others are copied when the file is written.
    ///
    /// # Panics
    /// If the shape has another number of elements than the map.
    #[must_use]
    pub(crate) fn moved(
        &self,
        dims: &[i64],
        select: impl FnOnce(&ElementMap) -> ElementMap,
    ) -> Content {
        let shape: Vec<usize> = self
            .dims
            .iter()
            .map(|&dim| usize::try_from(dim).unwrap_or(0))
            .collect();
        if self.map.as_ref().is_some_and(|map| map.dims() != shape) {
            return self.clone().computed().moved(dims, select);
        }
        let map = select(
            &self
                .map
                .as_ref()
                .map_or_else(|| ElementMap::of(&shape), |map| (**map).clone()),
        );
        let elements = map.elements();
        assert_eq!(
            element_count(dims),
            Some(elements as u64),
            "the shape was validated"
        );
        let moved = Content {
            dims: dims.to_vec(),
            elements,
            ..self.clone()
        };
        match &self.data {
            Data::Strings(strings) => {
                let mut moved_strings = Vec::with_capacity(elements);
                map.visit(0, elements, |index| {
                    moved_strings.push(strings[index].clone())
                });
                Content {
                    data: Data::Strings(moved_strings),
                    ..moved
                }
            }
            Data::Numbers(source, casts) => {
                let stored = casts.first().map_or(self.dtype, Cast::from).bits();
                let (packing, source) = match self.packing {
                    Packing::Packed if stored < 8 => (
                        Packing::Byte,
                        unpacked(stored, &source.to_bytes(), self.elements),
                    ),
                    packing => (packing, source.clone()),
                };
                let width = stored.max(8) / 8;
                let (source, map) = match map.run() {
                    Some(first) => (
                        source.slice((first * width) as u64..((first + elements) * width) as u64),
                        None,
                    ),
                    None => (source.to_bytes().into(), Some(Arc::new(map))),
                };
                Content {
                    packing,
                    map,
                    data: Data::Numbers(source, casts.clone()),
                    ..moved
                }
            }
        }
    }

    /// The content with all pending moves and casts computed.
    #[must_use]
    pub(crate) fn computed(self) -> Content {
        let data = match &self.data {
            Data::Numbers(source, casts) if self.is_stored(casts, Packing::Packed) => {
                Data::Numbers(source.clone(), Vec::new())
            }
            Data::Numbers(..) => Data::Numbers(self.numbers().into(), Vec::new()),
            Data::Strings(strings) => Data::Strings(strings.clone()),
        };
        Content {
            packing: Packing::Packed,
            map: None,
            data,
            ..self
        }
    }

    /// The values.
    #[must_use]
    pub fn data(&self) -> &Data {
        &self.data
    }

    /// The numbers in their stored form; `None` for strings.
    #[must_use]
    pub(crate) fn piece(&self, packing: Packing) -> Option<Piece> {
        let Data::Numbers(source, casts) = &self.data else {
            return None;
        };
        Some(if self.is_stored(casts, packing) {
            Piece::Bytes(source.clone())
        } else {
            Piece::Made(Arc::new(self.recipe(source, casts, packing)))
        })
    }

    /// A `TensorProto` with these values; numbers are stored in `raw_data`.
    #[must_use]
    pub fn into_tensor(self, name: &str) -> TensorProto {
        let piece = self.piece(Packing::Packed);
        let mut tensor = TensorProto::from(raw::TensorProto {
            dims: self.dims,
            data_type: Some(self.dtype.number()),
            name: (!name.is_empty()).then(|| name.to_owned()),
            ..raw::TensorProto::default()
        });
        match (self.data, piece) {
            (Data::Strings(strings), _) => tensor.string_data = strings,
            (Data::Numbers(..), piece) => tensor.rest_mut().extend(piece.map(raw_data)),
        }
        tensor
    }

    /// A copy of a tensor with these numbers in place of its own; its name, documentation and
    /// metadata stay.
    #[must_use]
    pub(crate) fn replace_in(&self, tensor: &TensorProto) -> TensorProto {
        let mut replaced = without_values(tensor);
        replaced.data_type = Some(self.dtype.number());
        replaced.data_location = None;
        replaced
            .rest_mut()
            .extend(self.piece(Packing::Packed).map(raw_data));
        replaced
    }

    /// Computes all numbers, packed.
    fn numbers(&self) -> Bytes {
        match &self.data {
            Data::Numbers(source, casts) if self.is_stored(casts, Packing::Packed) => {
                source.to_bytes()
            }
            Data::Numbers(source, casts) => (&self.recipe(source, casts, Packing::Packed)
                as &dyn Recipe)
                .compute()
                .into(),
            Data::Strings(_) => Bytes::new(),
        }
    }

    /// Whether the stored numbers are the elements, in this form.
    fn is_stored(&self, casts: &[Cast], packing: Packing) -> bool {
        casts.is_empty()
            && self.map.is_none()
            && (self.packing == packing || self.dtype.bits() >= 8)
    }

    fn recipe(&self, source: &Stored, casts: &[Cast], packing: Packing) -> CastRecipe {
        let dtype = casts.first().map_or(self.dtype, Cast::from);
        let (bytes, map) = (source.clone(), self.map.clone());
        let source = StoredNumbers {
            bytes,
            dtype,
            packing: self.packing,
            map,
            elements: self.elements,
        };
        CastRecipe::new(source, casts.to_vec(), packing)
    }
}

/// Elements narrower than a byte, one per byte.
fn unpacked(bits: usize, source: &[u8], elements: usize) -> Stored {
    let mut codes = vec![0; elements];
    packed::unpack(bits, source, &mut codes);
    codes.into()
}
