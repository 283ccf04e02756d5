//! The history of every operator whose meaning, attributes, inputs or outputs changed, one file for each family.
//!
//! A version that only admits other types needs no line here: the facts say all of it. A test holds this list against the facts,
//! so that no version is passed over in silence.

mod attributes;
mod axes;
mod broadcast;
mod cast;
mod clip;
mod constant;
mod control;
mod convolution;
mod gather;
mod legacy;
mod normalize;
mod pad;
mod pool;
mod quantize;
mod recurrent;
mod resize;
mod shape;
mod softmax;
mod split;

#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use super::hop::Hop;
use crate::facts::{Formal, Schema};
use crate::hash::HashMap;

/// All hops.
pub(super) const FAMILIES: &[&[Hop]] = &[
    attributes::HOPS,
    axes::HOPS,
    broadcast::HOPS,
    cast::HOPS,
    clip::HOPS,
    constant::HOPS,
    control::HOPS,
    convolution::HOPS,
    gather::HOPS,
    legacy::HOPS,
    normalize::HOPS,
    pad::HOPS,
    pool::HOPS,
    quantize::HOPS,
    recurrent::HOPS,
    resize::HOPS,
    shape::HOPS,
    softmax::HOPS,
    split::HOPS,
];

/// The hop of an operator to its version `to` and back.
pub(super) fn find(op: &str, to: i64) -> Option<&'static Hop> {
    static BY_STEP: OnceLock<HashMap<(&str, i64), &Hop>> = OnceLock::new();
    let by_step = BY_STEP.get_or_init(|| {
        let hops = FAMILIES.iter().copied().flatten();
        hops.flat_map(|hop| hop.ops.iter().map(move |&op| ((op, hop.to), hop))).collect()
    });
    by_step.get(&(op, to)).copied()
}

/// Whether two versions of an operator differ in nothing but the types they admit.
pub(super) fn differ_in_types_only(left: &Schema, right: &Schema) -> bool {
    let occurrences = |formals: &'static [Formal]| formals.iter().map(|formal| formal.occurrence);
    let attributes = |schema: &Schema| schema.attributes.iter().map(|fact| (fact.name, fact.kind, fact.required, fact.default));
    occurrences(left.inputs).eq(occurrences(right.inputs))
        && occurrences(left.outputs).eq(occurrences(right.outputs))
        && attributes(left).eq(attributes(right))
        && left.deprecated == right.deprecated
}
