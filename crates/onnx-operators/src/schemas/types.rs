//! The types of values, and sets of types.

use std::fmt;

use onnx_cast::DType;

/// The type of a value without its shape. Forms that no schema and no exporter uses (a map of
/// sequences, for example) are not represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueType {
    /// `tensor(T)`
    Tensor(DType),
    /// `seq(tensor(T))`
    Sequence(DType),
    /// `optional(tensor(T))`
    Optional(DType),
    /// `optional(seq(tensor(T)))`
    OptionalSequence(DType),
    /// `map(K,V)`, whose values are scalars.
    Map {
        /// The type of the keys.
        key: DType,
        /// The type of the values.
        value: DType,
    },
    /// `seq(map(K,V))`
    SequenceOfMaps {
        /// The type of the keys.
        key: DType,
        /// The type of the values.
        value: DType,
    },
    /// `sparse_tensor(T)`: no schema supports it.
    SparseTensor(DType),
}

impl ValueType {
    /// The type of the elements; none for maps, which have two.
    #[must_use]
    pub fn element(self) -> Option<DType> {
        match self {
            ValueType::Tensor(dtype)
            | ValueType::Sequence(dtype)
            | ValueType::Optional(dtype)
            | ValueType::OptionalSequence(dtype)
            | ValueType::SparseTensor(dtype) => Some(dtype),
            ValueType::Map { .. } | ValueType::SequenceOfMaps { .. } => None,
        }
    }
}

/// A set of value types, as in a type constraint.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeSet(u128);

/// The maps that schemas use, in the order of their bits.
const MAPS: [(DType, DType); 6] = [
    (DType::Int64, DType::Float),
    (DType::Int64, DType::String),
    (DType::Int64, DType::Double),
    (DType::String, DType::Float),
    (DType::String, DType::Int64),
    (DType::String, DType::Double),
];
const ELEMENTS: u32 = DType::ALL.len() as u32;
const FIRST_MAP: u32 = 4 * ELEMENTS;
const FIRST_SEQUENCE_OF_MAPS: u32 = FIRST_MAP + MAPS.len() as u32;

impl TypeSet {
    /// The set of these types. A type that no schema uses cannot be a member: in a constant it does
    /// not compile.
    #[must_use]
    pub const fn of(members: &[ValueType]) -> TypeSet {
        let mut bits = 0;
        let mut index = 0;
        while index < members.len() {
            bits |= 1 << bit(members[index]).expect("no schema uses this type");
            index += 1;
        }
        TypeSet(bits)
    }

    /// Whether the type is a member.
    #[must_use]
    pub fn contains(self, value_type: ValueType) -> bool {
        bit(value_type).is_some_and(|bit| self.0 & (1 << bit) != 0)
    }

    /// The set with one more member; `None` for a type that no schema uses.
    #[must_use]
    pub fn with(self, value_type: ValueType) -> Option<TypeSet> {
        bit(value_type).map(|bit| TypeSet(self.0 | 1 << bit))
    }

    /// Whether every member is a member of the other set too.
    #[must_use]
    pub fn is_subset(self, other: TypeSet) -> bool {
        self.0 & !other.0 == 0
    }

    /// The only member, if there is exactly one.
    #[must_use]
    pub fn only(self) -> Option<ValueType> {
        let is_single = self.0.is_power_of_two();
        is_single.then(|| self.iter().next()).flatten()
    }

    /// The members: tensors first, then sequences, optionals, optional sequences, maps; each by the
    /// number of its element type.
    pub fn iter(self) -> impl Iterator<Item = ValueType> {
        let tensors = DType::ALL.iter().copied();
        let maps = || MAPS.iter().copied();
        let every = (tensors.clone().map(ValueType::Tensor))
            .chain(tensors.clone().map(ValueType::Sequence))
            .chain(tensors.clone().map(ValueType::Optional))
            .chain(tensors.map(ValueType::OptionalSequence))
            .chain(maps().map(|(key, value)| ValueType::Map { key, value }))
            .chain(maps().map(|(key, value)| ValueType::SequenceOfMaps { key, value }));
        every.filter(move |&value_type| self.contains(value_type))
    }
}

const fn bit(value_type: ValueType) -> Option<u32> {
    let (kind, dtype) = match value_type {
        ValueType::Tensor(dtype) => (0, dtype),
        ValueType::Sequence(dtype) => (1, dtype),
        ValueType::Optional(dtype) => (2, dtype),
        ValueType::OptionalSequence(dtype) => (3, dtype),
        ValueType::Map { key, value } => return map_bit(FIRST_MAP, key, value),
        ValueType::SequenceOfMaps { key, value } => {
            return map_bit(FIRST_SEQUENCE_OF_MAPS, key, value);
        }
        ValueType::SparseTensor(_) => return None,
    };
    Some(kind * ELEMENTS + dtype as u32 - 1)
}

const fn map_bit(first: u32, key: DType, value: DType) -> Option<u32> {
    let mut index = 0;
    while index < MAPS.len() {
        if MAPS[index].0 as u8 == key as u8 && MAPS[index].1 as u8 == value as u8 {
            return Some(first + index as u32);
        }
        index += 1;
    }
    None
}

impl fmt::Display for ValueType {
    /// Writes the type in ONNX's notation.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |dtype: DType| dtype.name().to_lowercase();
        match *self {
            ValueType::Tensor(dtype) => write!(f, "tensor({})", name(dtype)),
            ValueType::Sequence(dtype) => write!(f, "seq(tensor({}))", name(dtype)),
            ValueType::Optional(dtype) => write!(f, "optional(tensor({}))", name(dtype)),
            ValueType::OptionalSequence(dtype) => {
                write!(f, "optional(seq(tensor({})))", name(dtype))
            }
            ValueType::Map { key, value } => write!(f, "map({},{})", name(key), name(value)),
            ValueType::SequenceOfMaps { key, value } => {
                write!(f, "seq(map({},{}))", name(key), name(value))
            }
            ValueType::SparseTensor(dtype) => write!(f, "sparse_tensor({})", name(dtype)),
        }
    }
}

impl fmt::Debug for TypeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.iter().map(|value_type| value_type.to_string()))
            .finish()
    }
}
