//! What an operator did before it had an attribute.

use super::{Default, Schema, versions};

/// How the versions of an operator that do not have an attribute yet behave, as a value of that attribute: that is the default that
/// came with it, with few exceptions. None where no value of it says what they do.
#[must_use]
pub fn implied(schema: &Schema, attribute: &str, outputs: usize) -> Option<Default> {
    match (schema.name, attribute) {
        // Versions 7 to 13 train where the node has more than one output.
        ("BatchNormalization", "training_mode") if outputs > 1 => None,
        // Version 10 has one scale for the whole tensor.
        ("DequantizeLinear" | "QuantizeLinear", "axis") => None,
        // Version 18 computes in the type of its input.
        ("GroupNormalization", "stash_type") => None,
        // Version 10 takes the neighbour below, or the one above where an axis shrinks.
        ("Resize", "nearest_mode") => None,
        ("Resize", "coordinate_transformation_mode") => Some(Default::String("asymmetric")),
        ("RoiAlign", "coordinate_transformation_mode") => Some(Default::String("output_half_pixel")),
        _ => versions(schema.domain, schema.name).iter().find_map(|version| version.attribute(attribute))?.default,
    }
}
