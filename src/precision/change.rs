//! The types that change, and the type that they become.

use crate::ops::schemas::ValueType;
use onnx_cast::DType;

/// The change of the element types of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct TypeChange {
    /// The type of the values that change; none for FLOAT, or for FLOAT16 and BFLOAT16 if they
    /// become FLOAT.
    pub from: Option<DType>,
    /// The type that values get.
    pub to: DType,
}

impl TypeChange {
    /// Whether values of an element type change their types.
    pub fn is_old(self, dtype: DType) -> bool {
        match (self.from, self.to) {
            (Some(from), _) => dtype == from,
            (None, DType::Float) => matches!(dtype, DType::Float16 | DType::Bfloat16),
            (None, _) => dtype == DType::Float,
        }
    }

    /// Whether the new type has 16 bits.
    pub fn is_to_half(self) -> bool {
        matches!(self.to, DType::Float16 | DType::Bfloat16)
    }

    /// Whether the new type has fewer digits, or a smaller range, than a type that changes.
    pub fn narrows(self) -> bool {
        self.is_to_half() || self.from == Some(DType::Double)
    }

    /// Whether numbers of a type that changes can be far beyond the range of FLOAT16.
    pub fn has_wide_range(self) -> bool {
        self.is_to_half() && self.from != Some(DType::Float16)
    }

    /// The element type of a tensor, a sequence or an optional value, if it changes.
    pub fn old(self, value_type: ValueType) -> Option<DType> {
        let dtype = match value_type {
            ValueType::Tensor(dtype)
            | ValueType::Sequence(dtype)
            | ValueType::Optional(dtype)
            | ValueType::OptionalSequence(dtype)
            | ValueType::SparseTensor(dtype) => dtype,
            ValueType::Map { .. } | ValueType::SequenceOfMaps { .. } => return None,
        };
        self.is_old(dtype).then_some(dtype)
    }

    /// The type with the new element type.
    pub fn changed(self, value_type: ValueType) -> ValueType {
        match value_type {
            ValueType::Tensor(_) => ValueType::Tensor(self.to),
            ValueType::Sequence(_) => ValueType::Sequence(self.to),
            ValueType::Optional(_) => ValueType::Optional(self.to),
            ValueType::OptionalSequence(_) => ValueType::OptionalSequence(self.to),
            ValueType::SparseTensor(_) => ValueType::SparseTensor(self.to),
            map @ (ValueType::Map { .. } | ValueType::SequenceOfMaps { .. }) => map,
        }
    }
}
