//! The known type and shape of a value.

use std::fmt;

use super::length::{Agree, Length};
use crate::ops::schemas::ValueType;
use crate::protobuf::raw::{tensor_shape_proto, type_proto};
use crate::protobuf::schema::{TensorProto, TypeProto};
use crate::tensor::Tensor;
use onnx_cast::DType;

/// The dimensions of a tensor whose rank is known; `None` for one that is not known.
pub type Shape<L = i64> = Vec<Option<L>>;

/// The integers of a scalar or a list; `None` for one that is not known.
pub type Ints<L = i64> = Vec<Option<L>>;

/// A dimension during inference; `None` if nothing is known of it.
pub(super) type Dim = Option<Length>;

/// The dimensions of a tensor during inference.
pub(super) type Dims = Shape<Length>;

/// The integers of a scalar or a list during inference.
pub(super) type Numbers = Ints<Length>;

/// The known type and shape of a value during inference.
pub(super) type Fact = Known<Length>;

/// The maximum rank of an inferred shape: numpy and PyTorch have no tensors of higher rank. A model
/// that declares more could otherwise make every value that depends on it as large as its file.
pub const MOST_DIMENSIONS: usize = 64;

/// The known type and shape of a value. The default is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Known<L = i64> {
    /// Its type.
    pub value_type: Option<ValueType>,
    /// Its shape, if it is a tensor.
    pub shape: Option<Shape<L>>,
}

/// Neither type nor shape is known.
pub static NOTHING: Known = Known {
    value_type: None,
    shape: None,
};

/// Like [`NOTHING`], during inference.
pub(super) static UNKNOWN: Fact = Known {
    value_type: None,
    shape: None,
};

impl<L> Default for Known<L> {
    fn default() -> Known<L> {
        Known {
            value_type: None,
            shape: None,
        }
    }
}

impl Known {
    /// A tensor of this type without axes.
    #[must_use]
    pub(crate) fn scalar(dtype: DType) -> Known {
        Known {
            shape: Some(Vec::new()),
            ..Known::tensor(dtype)
        }
    }

    /// The shape, if every dimension is known.
    #[must_use]
    pub fn static_shape(&self) -> Option<Vec<i64>> {
        self.shape.as_ref()?.iter().copied().collect()
    }

    /// The type and shape of a tensor.
    #[must_use]
    pub fn of_tensor(proto: &TensorProto) -> Known {
        match Tensor::read(proto) {
            Ok(tensor) => Known {
                value_type: Some(ValueType::Tensor(tensor.dtype())),
                shape: is_kept(tensor.dims().len())
                    .then(|| tensor.dims().iter().map(|&dim| Some(dim)).collect()),
            },
            Err(_) => Known::default(),
        }
    }

    /// The type and shape of a declared type.
    #[must_use]
    pub fn of_type(proto: &TypeProto) -> Known {
        Known::of_type_with(proto, |_| None).without_symbols()
    }
}

/// `tensor(float)[2,?]`; `?` is not known.
impl fmt::Display for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.value_type {
            Some(value_type) => write!(f, "{value_type}")?,
            None => f.write_str("?")?,
        }
        let Some(shape) = &self.shape else {
            return Ok(());
        };
        let dim = |dim: &Option<i64>| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string());
        write!(
            f,
            "[{}]",
            shape.iter().map(dim).collect::<Vec<_>>().join(",")
        )
    }
}

impl Fact {
    /// A known type and shape as a fact of the inference.
    pub(super) fn with_sizes(known: Known) -> Fact {
        let sizes = |shape: Shape| shape.into_iter().map(|dim| dim.map(Length::Size)).collect();
        Known {
            value_type: known.value_type,
            shape: known.shape.map(sizes),
        }
    }

    /// The type and shape of a declared type; the function makes the symbol of a dimension with
    /// this name.
    pub(super) fn of_type_with<'m>(
        proto: &'m TypeProto,
        mut symbol: impl FnMut(&'m str) -> Dim,
    ) -> Fact {
        use tensor_shape_proto::dimension::Value;
        let shape = match &proto.value {
            Some(type_proto::Value::TensorType(tensor)) => {
                let shape = tensor
                    .shape
                    .as_ref()
                    .filter(|shape| is_kept(shape.dim.len()));
                shape.map(|shape| {
                    let dims = shape.dim.iter().map(|dim| match &dim.value {
                        Some(Value::DimValue(size)) if *size >= 0 => Some(Length::Size(*size)),
                        Some(Value::DimParam(name)) => symbol(name),
                        _ => symbol(""),
                    });
                    dims.collect()
                })
            }
            _ => None,
        };
        Known {
            value_type: value_type(proto),
            shape,
        }
    }

    /// The numbers that are known.
    pub(super) fn without_symbols(self) -> Known {
        let sizes = |shape: Dims| {
            shape
                .into_iter()
                .map(|dim| dim.and_then(Length::size))
                .collect()
        };
        Known {
            value_type: self.value_type,
            shape: self.shape.map(sizes),
        }
    }
}

impl<L: Agree> Known<L> {
    /// A tensor of this type; its shape is unknown.
    #[must_use]
    pub(crate) fn tensor(dtype: DType) -> Known<L> {
        Known {
            value_type: Some(ValueType::Tensor(dtype)),
            shape: None,
        }
    }

    /// The element type, if the value is known to be a tensor.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        match self.value_type {
            Some(ValueType::Tensor(dtype)) => Some(dtype),
            _ => None,
        }
    }

    /// The number of dimensions.
    #[must_use]
    pub(crate) fn rank(&self) -> Option<usize> {
        self.shape.as_ref().map(Vec::len)
    }

    /// Combines two sources: a fact from either source is known. If they contradict each other, it
    /// is unknown.
    #[must_use]
    pub(crate) fn and(self, other: &Known<L>) -> Known<L> {
        let value_type = match (self.value_type, other.value_type) {
            (Some(left), Some(right)) => (left == right).then_some(left),
            (left, right) => left.or(right),
        };
        let shape = match (self.shape, &other.shape) {
            (Some(left), Some(right)) => both(left, right),
            (left, right) => left.or_else(|| right.clone()),
        };
        Known { value_type, shape }
    }

    /// Whether both cannot be true of the same value.
    pub(crate) fn contradicts(&self, other: &Known<L>) -> bool {
        let types = self
            .value_type
            .zip(other.value_type)
            .is_some_and(|(left, right)| left != right);
        let shapes = self
            .shape
            .as_ref()
            .zip(other.shape.as_ref())
            .is_some_and(|(left, right)| both(left.clone(), right).is_none());
        types || shapes
    }

    /// Joins two alternatives: only facts that hold in both are known.
    #[must_use]
    pub(crate) fn or(self, other: &Known<L>) -> Known<L> {
        let value_type = self
            .value_type
            .filter(|&left| other.value_type == Some(left));
        let shape = match (self.shape, &other.shape) {
            (Some(left), Some(right)) if left.len() == right.len() => Some(
                left.into_iter()
                    .zip(right)
                    .map(|(left, right)| left.filter(|_| left == *right))
                    .collect(),
            ),
            _ => None,
        };
        Known { value_type, shape }
    }
}

/// These lengths.
pub(super) fn sizes(lengths: &[i64]) -> Dims {
    lengths
        .iter()
        .map(|&length| Some(Length::Size(length)))
        .collect()
}

/// Whether a shape of this rank is kept.
pub(super) fn is_kept(rank: usize) -> bool {
    rank <= MOST_DIMENSIONS
}

/// The shape that satisfies both; `None` if they contradict each other.
fn both<L: Agree>(left: Shape<L>, right: &Shape<L>) -> Option<Shape<L>> {
    if left.len() != right.len() {
        return None;
    }
    let dim = |(left, &right): (Option<L>, &Option<L>)| match (left, right) {
        (Some(left), Some(right)) => left.agree(right).map(Some),
        (left, right) => Some(left.or(right)),
    };
    left.into_iter().zip(right).map(dim).collect()
}

/// The type of a `TypeProto`; `None` for the forms that [`ValueType`] does not represent.
fn value_type(proto: &TypeProto) -> Option<ValueType> {
    use type_proto::Value;
    let element = |proto: &TypeProto| match &proto.value {
        Some(Value::TensorType(tensor)) => DType::from_number(tensor.elem_type()),
        _ => None,
    };
    let map = |map: &crate::protobuf::raw::type_proto::Map| {
        Some((
            DType::from_number(map.key_type())?,
            element(map.value_type.as_deref()?)?,
        ))
    };
    match proto.value.as_ref()? {
        Value::TensorType(tensor) => DType::from_number(tensor.elem_type()).map(ValueType::Tensor),
        Value::SparseTensorType(tensor) => {
            DType::from_number(tensor.elem_type()).map(ValueType::SparseTensor)
        }
        Value::SequenceType(sequence) => {
            let inner = sequence.elem_type.as_deref()?;
            match &inner.value {
                Some(Value::MapType(inner)) => {
                    map(inner).map(|(key, value)| ValueType::SequenceOfMaps { key, value })
                }
                _ => element(inner).map(ValueType::Sequence),
            }
        }
        Value::MapType(inner) => map(inner).map(|(key, value)| ValueType::Map { key, value }),
        Value::OptionalType(optional) => {
            let inner = optional.elem_type.as_deref()?;
            match &inner.value {
                Some(Value::SequenceType(sequence)) => {
                    element(sequence.elem_type.as_deref()?).map(ValueType::OptionalSequence)
                }
                _ => element(inner).map(ValueType::Optional),
            }
        }
        Value::OpaqueType(_) => None,
    }
}
