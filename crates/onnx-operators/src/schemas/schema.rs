//! One version of one operator.

use std::fmt;

use super::{TypeSet, ValueType};

/// One version of an operator.
#[derive(Debug)]
#[non_exhaustive]
pub struct Schema {
    /// The domain; empty for ai.onnx.
    pub domain: &'static str,
    /// The operator's name.
    pub name: &'static str,
    /// The first opset that has this version.
    pub since_version: i64,
    /// Whether the version only states that the operator is deprecated.
    pub deprecated: bool,
    /// Whether ONNX defines the operator as a function of other operators, at least for some
    /// attributes and types.
    pub function: bool,
    /// Whether the operator is one of onnxruntime in the domain ai.onnx, which ONNX does not define.
    pub of_onnxruntime: bool,
    /// The inputs; only the last may be variadic.
    pub inputs: &'static [Formal],
    /// The outputs; only the last may be variadic.
    pub outputs: &'static [Formal],
    /// The attributes, sorted by name.
    pub attributes: &'static [Attribute],
    /// The type variables, sorted by name.
    pub constraints: &'static [Constraint],
}

/// A formal input or output.
#[derive(Debug)]
#[non_exhaustive]
pub struct Formal {
    /// The name in the schema.
    pub name: &'static str,
    /// How often it occurs.
    pub occurrence: Occurrence,
    /// The type variable, or the type in ONNX's notation if there is no variable.
    pub type_name: &'static str,
    /// The supported types.
    pub types: TypeSet,
}

/// How often a formal input or output occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occurrence {
    /// Exactly once.
    Single,
    /// It may be omitted, or left empty if others follow.
    Optional,
    /// Any number of times.
    Variadic {
        /// The least number: 0 or 1.
        at_least: usize,
        /// Whether all have the same type.
        homogeneous: bool,
    },
}

/// An attribute of an operator.
#[derive(Debug)]
#[non_exhaustive]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// The kind of its value.
    pub kind: AttributeKind,
    /// Whether it is required.
    pub required: bool,
    /// The value if a node does not have the attribute.
    pub default: Option<DefaultValue>,
}

/// The kind of an attribute's value; the numbers are those of `AttributeProto.AttributeType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AttributeKind {
    Float = 1,
    Int = 2,
    String = 3,
    Tensor = 4,
    Graph = 5,
    Floats = 6,
    Ints = 7,
    Strings = 8,
    Tensors = 9,
    Graphs = 10,
    SparseTensor = 11,
    SparseTensors = 12,
    TypeProto = 13,
    TypeProtos = 14,
}

/// The value of a missing attribute.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DefaultValue {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// A string.
    String(&'static str),
    /// A list of integers.
    Ints(&'static [i64]),
    /// A list of strings.
    Strings(&'static [&'static str]),
}

/// A type variable and the types it ranges over.
#[derive(Debug)]
#[non_exhaustive]
pub struct Constraint {
    /// The variable.
    pub variable: &'static str,
    /// Its types.
    pub types: TypeSet,
}

impl fmt::Display for Schema {
    /// Writes the version as ONNX's documentation does: `Clip-11`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.name, self.since_version)
    }
}

impl Schema {
    /// The attribute of this name.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&'static Attribute> {
        let index = self
            .attributes
            .binary_search_by(|attribute| attribute.name.cmp(name))
            .ok()?;
        Some(&self.attributes[index])
    }

    /// The formal input for the actual input at this index.
    #[must_use]
    pub fn input(&self, index: usize) -> Option<&'static Formal> {
        nth_formal(self.inputs, index)
    }

    /// The formal output for the actual output at this index.
    #[must_use]
    pub fn output(&self, index: usize) -> Option<&'static Formal> {
        nth_formal(self.outputs, index)
    }

    /// The types that a type variable ranges over.
    #[must_use]
    pub fn constraint(&self, variable: &str) -> Option<TypeSet> {
        self.constraints
            .iter()
            .find(|constraint| constraint.variable == variable)
            .map(|constraint| constraint.types)
    }

    /// The minimum and the maximum number of inputs; `None` if there is no maximum.
    #[must_use]
    pub fn input_count(&self) -> (usize, Option<usize>) {
        count(self.inputs)
    }

    /// The minimum and the maximum number of outputs; `None` if there is no maximum.
    #[must_use]
    pub fn output_count(&self) -> (usize, Option<usize>) {
        count(self.outputs)
    }
}

impl Formal {
    /// The type, if the schema allows only one.
    #[must_use]
    pub fn fixed_type(&self) -> Option<ValueType> {
        self.types.only()
    }

    /// Whether it matches any number of actual inputs or outputs.
    #[must_use]
    pub fn is_variadic(&self) -> bool {
        matches!(self.occurrence, Occurrence::Variadic { .. })
    }

    /// Whether equal type variables require equal types here: everywhere except at a heterogeneous
    /// variadic formal.
    #[must_use]
    pub fn is_homogeneous(&self) -> bool {
        !matches!(
            self.occurrence,
            Occurrence::Variadic {
                homogeneous: false,
                ..
            }
        )
    }

    /// Whether a type variable requires equal types of both.
    #[must_use]
    pub fn shares_variable(&self, other: &Formal) -> bool {
        self.is_homogeneous() && other.is_homogeneous() && self.type_name == other.type_name
    }
}

fn nth_formal(formals: &'static [Formal], index: usize) -> Option<&'static Formal> {
    formals
        .get(index)
        .or_else(|| formals.last().filter(|last| last.is_variadic()))
}

fn count(formals: &[Formal]) -> (usize, Option<usize>) {
    let (mut least, mut most) = (0, 0);
    for formal in formals {
        match formal.occurrence {
            Occurrence::Single => {
                most += 1;
                least = most;
            }
            Occurrence::Optional => most += 1,
            Occurrence::Variadic { at_least, .. } => return (most + at_least, None),
        }
    }
    (least, Some(most))
}
