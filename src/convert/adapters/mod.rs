//! Adapters for every version of an operator that changes its meaning, attributes, inputs or
//! outputs; one file per family.
//!
//! A version that only changes types needs no adapter: the facts describe it. A test compares this
//! list with the facts, so that no version is missed.

pub(super) mod adapter;
mod attributes;
mod axes;
mod broadcast;
mod cast;
mod clip;
mod computed_axes;
mod constant;
mod control;
mod convolution;
mod gather;
mod normalize;
mod operator_adapter;
mod optional;
mod pad;
mod pool;
mod quantize;
mod recurrent;
mod reshape;
mod resize;
pub(super) mod resize_tables;
mod scan;
mod scatter;
mod sequence_map;
mod shape;
mod softmax;
mod split;
mod wider;

#[cfg(test)]
mod tests;

pub use operator_adapter::{NodeAdapter, OperatorAdapter};

use std::collections::BTreeSet;
use std::sync::OnceLock;

use self::adapter::Adapter;
use crate::base::hash::HashMap;
use crate::graph::{Model, is_onnx_domain};
use crate::ops::schemas::{self, Formal, Schema};

/// All adapters.
pub(super) const FAMILIES: &[&[Adapter]] = &[
    attributes::ADAPTERS,
    axes::ADAPTERS,
    broadcast::ADAPTERS,
    cast::ADAPTERS,
    clip::ADAPTERS,
    constant::ADAPTERS,
    control::ADAPTERS,
    convolution::ADAPTERS,
    gather::ADAPTERS,
    normalize::ADAPTERS,
    optional::ADAPTERS,
    pad::ADAPTERS,
    pool::ADAPTERS,
    quantize::ADAPTERS,
    recurrent::ADAPTERS,
    reshape::ADAPTERS,
    resize::ADAPTERS,
    scan::ADAPTERS,
    scatter::ADAPTERS,
    sequence_map::ADAPTERS,
    shape::ADAPTERS,
    softmax::ADAPTERS,
    split::ADAPTERS,
    wider::ADAPTERS,
];

/// The adapter between an operator's version `to` and the one before it.
pub(super) fn find(op: &str, to: i64) -> Option<&'static Adapter> {
    static BY_STEP: OnceLock<HashMap<(&str, i64), &Adapter>> = OnceLock::new();
    let by_step = BY_STEP.get_or_init(|| {
        let adapters = FAMILIES.iter().copied().flatten();
        adapters
            .flat_map(|adapter| {
                adapter
                    .ops
                    .split(' ')
                    .map(move |op| ((op, adapter.to), adapter))
            })
            .collect()
    });
    by_step.get(&(op, to)).copied()
}

/// The operators of a model of one opset that a later opset has in another form, or with another
/// meaning, in alphabetical order.
pub(crate) fn differing_operators(model: &Model, from: i64, to: i64) -> BTreeSet<&str> {
    let nodes = model
        .scopes()
        .flat_map(|scope| model.nodes(scope))
        .map(|node| model.node(node));
    let operators: BTreeSet<&str> = nodes
        .filter(|node| is_onnx_domain(node.domain()))
        .map(|node| node.op_type())
        .collect();
    let differs = |op: &&str| {
        let steps = schemas::versions("", op)
            .iter()
            .map(|schema| schema.since_version);
        steps
            .filter(|&step| from < step && step <= to)
            .any(|step| find(op, step).is_some_and(|adapter| !adapter.up.is_empty()))
    };
    operators.into_iter().filter(differs).collect()
}

/// Whether two versions of an operator differ only in the types they support.
pub(super) fn differ_in_types_only(left: &Schema, right: &Schema) -> bool {
    let occurrences = |formals: &'static [Formal]| formals.iter().map(|formal| formal.occurrence);
    let attributes = |schema: &Schema| {
        schema
            .attributes
            .iter()
            .map(|fact| (fact.name, fact.kind, fact.required, fact.default))
    };
    occurrences(left.inputs).eq(occurrences(right.inputs))
        && occurrences(left.outputs).eq(occurrences(right.outputs))
        && attributes(left).eq(attributes(right))
        && left.deprecated == right.deprecated
}
