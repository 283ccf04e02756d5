//! The types that change, and the type that they become.

use crate::elements::dtype::DType;
use crate::ops::schemas::ValueType;

/// The change of the element types of values.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    /// The type that values get.
    pub to: DType,
}

impl Change {
    /// Whether values of an element type change their types.
    pub fn is_old(self, dtype: DType) -> bool {
        match self.to {
            DType::Float => matches!(dtype, DType::Float16 | DType::Bfloat16),
            _ => dtype == DType::Float,
        }
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
