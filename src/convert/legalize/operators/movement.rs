//! Operators whose results consist of elements of their inputs.

use super::site::{Role, Site};
use crate::ops::operator_facts::{Movement, movement};

/// Operators that move elements together with others of the same type, which are inputs too.
const WITH_OTHERS: &[&str] = &[
    "CenterCropPad",
    "Compress",
    "Identity",
    "Pad",
    "ReverseSequence",
    "Trilu",
    "Where",
];

/// All results have the type of the elements.
pub(super) fn role(site: &Site) -> Option<Role> {
    let moves = match movement(site.model.node(site.node).op_type())? {
        (_, Movement::First | Movement::All) => true,
        (op, Movement::Other) => WITH_OTHERS.contains(&op),
    };
    let mut results = site.model.outputs(site.node);
    let are_carried = results.all(|(_, value)| site.found.contains_key(&value));
    (moves && are_carried).then_some(Role::Same)
}

/// The result depends on the shape of the input.
pub(super) fn reads_shapes(_: &Site) -> Option<Role> {
    Some(Role::Same)
}
