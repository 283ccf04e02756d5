//! The values of a constant on their way through casts.

use std::sync::Arc;

use bytes::Bytes;

use super::recipe::CastRecipe;
use super::view::RAW_DATA;
use crate::cast::{self, Cast, Summary};
use crate::dtype::DType;
use crate::wire::schema::TensorProto;
use crate::wire::{Field, Value, raw};

/// Casts that are left for later. A longer chain is computed up to there, so that its cost stays in proportion to its length.
const LONGEST_SERIES: usize = 16;

/// A constant's values: of a tensor, or of casts of one. Numeric casts are not computed before the file is written.
#[derive(Clone, Debug)]
pub struct Content {
    dims: Vec<i64>,
    elements: usize,
    dtype: DType,
    data: Data,
}

/// What a [`Content`] is made of.
#[derive(Clone, Debug)]
pub enum Data {
    /// Numbers in the layout of `raw_data`, and the casts they are to go through.
    Numbers(Bytes, Vec<Cast>),
    /// One UTF-8 string an element.
    Strings(Vec<Bytes>),
}

/// Why values cannot be cast.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct Failure(pub String);

impl Content {
    /// The values of a tensor of this type and shape.
    ///
    /// # Panics
    /// Where the shape is none that [`Tensor::read`](super::Tensor::read) admits.
    #[must_use]
    pub fn new(dtype: DType, dims: &[i64], data: Data) -> Content {
        let elements = usize::try_from(dims.iter().product::<i64>()).expect("the shape of a tensor that was read");
        Content { dims: dims.to_vec(), elements, dtype, data }
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// How many elements there are.
    #[must_use]
    pub fn elements(&self) -> usize {
        self.elements
    }

    /// The bytes that the values take in a model.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        match &self.data {
            Data::Numbers(..) => self.dtype.raw_bytes(self.elements as u64).unwrap_or(0),
            Data::Strings(strings) => strings.iter().map(|string| string.len() as u64).sum(),
        }
    }

    /// The values after one more cast, and what of them ONNX does not define.
    ///
    /// # Errors
    /// Where a string is no number that the cast reads.
    pub fn cast(&self, cast: Cast) -> Result<(Content, Summary), Failure> {
        let (data, summary) = match &self.data {
            Data::Strings(strings) if cast.to() == DType::String => (Data::Strings(strings.clone()), Summary::default()),
            Data::Strings(strings) => {
                let (raw, summary) = cast::parse_strings(&cast, strings).map_err(|error| Failure(error.to_string()))?;
                (Data::Numbers(raw.into(), Vec::new()), summary)
            }
            Data::Numbers(..) if cast.to() == DType::String => {
                let (strings, summary) = cast::format_strings(&cast, &self.numbers(), self.elements);
                (Data::Strings(strings.into_iter().map(Bytes::from).collect()), summary)
            }
            Data::Numbers(source, casts) => {
                if cast.to().addressable_bytes(self.elements as u64).is_none() {
                    return Err(Failure(format!("the result is too large for {} on this machine", cast.to())));
                }
                let summary = if cast.is_always_defined() { Summary::default() } else { self.survey(&cast) };
                let data = match casts.len() {
                    LONGEST_SERIES => Data::Numbers(self.numbers(), vec![cast]),
                    _ => Data::Numbers(source.clone(), casts.iter().copied().chain([cast]).collect()),
                };
                (data, summary)
            }
        };
        Ok((Content { dims: self.dims.clone(), elements: self.elements, dtype: cast.to(), data }, summary))
    }

    /// The type, shape, number of elements and values, all casts done.
    #[must_use]
    pub fn computed(self) -> (DType, Vec<i64>, usize, Data) {
        let data = match &self.data {
            Data::Numbers(..) => Data::Numbers(self.numbers(), Vec::new()),
            Data::Strings(strings) => Data::Strings(strings.clone()),
        };
        (self.dtype, self.dims, self.elements, data)
    }

    /// A tensor with these values; numbers stand in `raw_data`.
    #[must_use]
    pub fn into_tensor(self, name: &str) -> TensorProto {
        let mut tensor = TensorProto::from(raw::TensorProto {
            dims: self.dims,
            data_type: Some(self.dtype.number()),
            name: (!name.is_empty()).then(|| name.to_owned()),
            ..raw::TensorProto::default()
        });
        let value = match self.data {
            Data::Strings(strings) => {
                tensor.string_data = strings;
                return tensor;
            }
            Data::Numbers(source, casts) if casts.is_empty() => Value::Len(source),
            Data::Numbers(source, casts) => Value::Made(Arc::new(CastRecipe::new(source, casts, self.elements))),
        };
        tensor.rest_mut().push(Field { tag: RAW_DATA, value });
        tensor
    }

    /// All the numbers, computed now.
    fn numbers(&self) -> Bytes {
        match &self.data {
            Data::Numbers(source, casts) if casts.is_empty() => source.clone(),
            Data::Numbers(source, casts) => CastRecipe::new(source.clone(), casts.clone(), self.elements).compute().into(),
            Data::Strings(_) => Bytes::new(),
        }
    }

    fn survey(&self, cast: &Cast) -> Summary {
        match &self.data {
            Data::Numbers(source, casts) => CastRecipe::new(source.clone(), casts.clone(), self.elements).survey(cast),
            Data::Strings(_) => Summary::default(),
        }
    }
}
