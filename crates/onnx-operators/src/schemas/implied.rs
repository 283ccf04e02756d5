//! The behaviour of operators before they had an attribute.

use super::{DefaultValue, Schema, versions};

/// The behaviour of the versions of an operator without this attribute, as a value of the
/// attribute: the default of the later version, with few exceptions. `None` if no value of the
/// attribute describes it.
#[must_use]
pub fn implied(schema: &Schema, attribute: &str, outputs: usize) -> Option<DefaultValue> {
    match (schema.name, attribute) {
        // In versions 7 to 13, more than one output means training.
        ("BatchNormalization", "training_mode") if outputs > 1 => None,
        // Version 10 has one scale for the whole tensor.
        ("DequantizeLinear" | "QuantizeLinear", "axis") => None,
        // Version 18 computes in the type of its input.
        ("GroupNormalization", "stash_type") => None,
        // Version 10 takes the lower neighbour, or the upper one if an axis shrinks.
        ("Resize", "nearest_mode") => None,
        ("Resize", "coordinate_transformation_mode") => Some(DefaultValue::String("asymmetric")),
        ("RoiAlign", "coordinate_transformation_mode") => {
            Some(DefaultValue::String("output_half_pixel"))
        }
        _ => {
            versions(schema.domain, schema.name)
                .iter()
                .find_map(|version| version.attribute(attribute))?
                .default
        }
    }
}
