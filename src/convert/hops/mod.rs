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

use std::collections::HashMap;
use std::sync::OnceLock;

use super::hop::Hop;
use crate::facts::{self, Formal, Schema};

/// All hops.
pub(super) const FAMILIES: &[&[Hop]] = &[
    attributes::HOPS,
    axes::HOPS,
    broadcast::HOPS,
    cast::HOPS,
    clip::HOPS,
    constant::HOPS,
    control::HOPS,
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

/// Whether a version differs from the one before it in nothing but the types it admits.
pub(super) fn is_types_only(op: &str, to: i64) -> bool {
    let versions = facts::versions("", op);
    let Some(index) = versions.iter().position(|schema| schema.since_version == to) else { return false };
    index > 0 && same_signature(&versions[index - 1], &versions[index])
}

fn same_signature(old: &Schema, new: &Schema) -> bool {
    let formals = |formals: &'static [Formal]| formals.iter().map(|formal| formal.occurrence).collect::<Vec<_>>();
    let attributes = |schema: &Schema| {
        schema.attributes.iter().map(|fact| (fact.name, fact.kind, fact.required, fact.default)).collect::<Vec<_>>()
    };
    formals(old.inputs) == formals(new.inputs)
        && formals(old.outputs) == formals(new.outputs)
        && attributes(old) == attributes(new)
        && old.deprecated == new.deprecated
}
