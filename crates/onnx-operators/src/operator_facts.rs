//! What operators of ai.onnx do that their schemas do not state: tables with a row per operator.
//!
//! ```
//! use onnx_operators::operator_facts::{Movement, Stated, movement, type_attribute};
//!
//! let cast = type_attribute("Cast").unwrap();
//! assert_eq!((cast.name, cast.of), ("to", Stated::Result));
//! assert_eq!(movement("Transpose"), Some(("Transpose", Movement::First)));
//! assert_eq!(movement("Relu"), None);
//! ```

/// An attribute that states an element type.
#[derive(Clone, Copy, Debug)]
pub struct TypeAttribute {
    /// The attribute: the number of the type (in Cast-1 its name), a tensor, or a `TypeProto`.
    pub name: &'static str,
    /// What has the type.
    pub of: Stated,
}

/// What has the element type that an attribute states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stated {
    /// The result, whose type follows a change of precision.
    Result,
    /// The result, whose type stays: bits, integers, and windows, which are computed in FLOAT.
    FixedResult,
    /// Intermediate values.
    Intermediate,
}

use Stated::{FixedResult, Intermediate, Result};

/// The attributes that state element types, in the order of the operators.
const TYPE_ATTRIBUTES: &[(&str, &str, Stated)] = &[
    ("Attention", "softmax_precision", Intermediate),
    ("Bernoulli", "dtype", Result),
    ("BitCast", "to", FixedResult),
    ("BlackmanWindow", "output_datatype", FixedResult),
    ("Cast", "to", Result),
    ("Constant", "value", Result),
    ("ConstantOfShape", "value", Result),
    ("DequantizeLinear", "output_dtype", Result),
    ("EyeLike", "dtype", Result),
    ("HammingWindow", "output_datatype", FixedResult),
    ("HannWindow", "output_datatype", FixedResult),
    ("MelWeightMatrix", "output_datatype", FixedResult),
    ("Multinomial", "dtype", FixedResult),
    ("Optional", "type", Result),
    ("QuantizeLinear", "output_dtype", FixedResult),
    ("RandomNormal", "dtype", Result),
    ("RandomNormalLike", "dtype", Result),
    ("RandomUniform", "dtype", Result),
    ("RandomUniformLike", "dtype", Result),
    ("SequenceEmpty", "dtype", Result),
];

/// The attribute by which an operator states an element type.
#[must_use]
pub fn type_attribute(operator: &str) -> Option<TypeAttribute> {
    let row = TYPE_ATTRIBUTES.binary_search_by_key(&operator, |row| row.0);
    let (_, name, of) = TYPE_ATTRIBUTES[row.ok()?];
    Some(TypeAttribute { name, of })
}

/// How the elements of a result come from the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Movement {
    /// All from the first input: a Cast of the result is a Cast of this input.
    First,
    /// From all inputs: a Cast of the result is a Cast of each of them.
    All,
    /// From inputs, together with padding, a choice, or containers; as they are, or in another type.
    Other,
}

/// The operators whose results consist of elements of their inputs, in order.
const MOVEMENTS: &[(&str, Movement)] = &[
    ("Cast", Movement::Other),
    ("CenterCropPad", Movement::Other),
    ("Compress", Movement::Other),
    ("Concat", Movement::All),
    ("ConcatFromSequence", Movement::Other),
    ("DepthToSpace", Movement::First),
    ("Expand", Movement::First),
    ("EyeLike", Movement::Other),
    ("Flatten", Movement::First),
    ("Gather", Movement::First),
    ("GatherElements", Movement::First),
    ("GatherND", Movement::First),
    ("Identity", Movement::Other),
    ("Optional", Movement::Other),
    ("OptionalGetElement", Movement::Other),
    ("Pad", Movement::Other),
    ("Reshape", Movement::First),
    ("ReverseSequence", Movement::Other),
    ("SequenceAt", Movement::Other),
    ("SequenceConstruct", Movement::Other),
    ("SequenceEmpty", Movement::Other),
    ("SequenceErase", Movement::Other),
    ("SequenceInsert", Movement::Other),
    ("Slice", Movement::First),
    ("SpaceToDepth", Movement::First),
    ("Split", Movement::First),
    ("SplitToSequence", Movement::Other),
    ("Squeeze", Movement::First),
    ("Tile", Movement::First),
    ("Transpose", Movement::First),
    ("Trilu", Movement::Other),
    ("Unsqueeze", Movement::First),
    ("Where", Movement::Other),
];

/// An operator whose results consist of elements of its inputs, and how; none for others.
#[must_use]
pub fn movement(operator: &str) -> Option<(&'static str, Movement)> {
    let row = MOVEMENTS.binary_search_by_key(&operator, |row| row.0);
    row.ok().map(|row| MOVEMENTS[row])
}

/// The operators with an attribute that states an element type by its number or name, and the
/// attribute.
pub fn named_types() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = TYPE_ATTRIBUTES.iter().map(|row| (row.0, row.1));
    rows.filter(|(_, name)| !matches!(*name, "value" | "type"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schemas::{self, Schema, is_onnx_domain};

    #[test]
    fn the_tables_are_sorted_and_name_operators() {
        assert!(TYPE_ATTRIBUTES.is_sorted_by_key(|row| row.0));
        assert!(MOVEMENTS.is_sorted_by_key(|row| row.0));
        for (operator, _) in MOVEMENTS {
            assert!(!schemas::versions("", operator).is_empty(), "{operator}");
        }
        for (operator, name, _) in TYPE_ATTRIBUTES {
            let stated = |schema: &Schema| schema.attribute(name).is_some();
            assert!(
                schemas::versions("", operator).iter().any(stated),
                "{operator}.{name}"
            );
        }
    }

    #[test]
    fn every_attribute_with_the_name_of_a_type_is_listed() {
        let names = [
            "dtype",
            "output_datatype",
            "output_dtype",
            "softmax_precision",
            "to",
        ];
        let mut found: Vec<(&str, &str)> = schemas::all()
            .iter()
            .filter(|schema| is_onnx_domain(schema.domain))
            .flat_map(|schema| {
                let has = |name: &&&str| schema.attribute(name).is_some();
                names.iter().filter(has).map(|name| (schema.name, *name))
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, named_types().collect::<Vec<_>>());
    }
}
