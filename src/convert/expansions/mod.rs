//! Operators in terms of operators of older opsets, one file per family.
//!
//! A body is ONNX text: the inputs and outputs have the names of the schema, everything else is
//! local. A repeated input is `NAME`, `NAME_1`, `NAME_2` and so on. The body is written for the
//! opset before the one that introduced the operator; adapters convert its nodes further down. The
//! body of an operator of onnxruntime is in an opset of its own.
//! `$name` denotes a parameter.

mod activation;
mod arithmetic;
mod attention;
mod bitwise;
mod blocks;
mod comparison;
pub(super) mod consistency;
mod crop;
mod deform;
mod determinant;
mod einsum;
pub(super) mod expand;
mod expansion;
pub(super) mod expansion_body;
mod fourier;
mod gather;
mod grid;
mod guards;
mod hyperbolic;
mod layout;
mod loss;
mod normalization;
mod onnxruntime;
mod order;
mod pad;
mod pooling;
mod quantize;
mod random;
mod recurrence;
mod reduce;
mod rotary;
mod rounding;
mod scatter;
mod selection;
mod trilu;
mod window;

use std::sync::OnceLock;

pub(super) use expansion::{Expansion, local_name, local_output_name};
use expansion::{
    axes_from, by_definition, element_count, exact, fill, list, number, type_name, type_of,
};

use crate::base::hash::HashMap;
use crate::ops::schemas::Schema;

/// All expansions.
pub(super) const FAMILIES: &[&[Expansion]] = &[
    activation::EXPANSIONS,
    arithmetic::EXPANSIONS,
    attention::EXPANSIONS,
    bitwise::EXPANSIONS,
    blocks::EXPANSIONS,
    comparison::EXPANSIONS,
    crop::EXPANSIONS,
    deform::EXPANSIONS,
    determinant::EXPANSIONS,
    einsum::EXPANSIONS,
    fourier::EXPANSIONS,
    gather::EXPANSIONS,
    grid::EXPANSIONS,
    hyperbolic::EXPANSIONS,
    layout::EXPANSIONS,
    loss::EXPANSIONS,
    normalization::EXPANSIONS,
    onnxruntime::EXPANSIONS,
    order::EXPANSIONS,
    pad::EXPANSIONS,
    pooling::EXPANSIONS,
    quantize::EXPANSIONS,
    random::EXPANSIONS,
    recurrence::EXPANSIONS,
    reduce::EXPANSIONS,
    rotary::EXPANSIONS,
    rounding::EXPANSIONS,
    scatter::EXPANSIONS,
    selection::EXPANSIONS,
    trilu::EXPANSIONS,
    window::EXPANSIONS,
];

/// The guard of an operator: nodes around it that make a runtime compute what ONNX defines.
pub(super) fn guard(op: &str, runtime: &str) -> Option<&'static Expansion> {
    guards::GUARDS.iter().find(|guard| {
        guard.ops.split(' ').any(|guarded| guarded == op)
            && guard.runtime.is_none_or(|guarded| guarded == runtime)
    })
}

/// The expansion of a version of an operator.
pub(super) fn find(schema: &Schema) -> Option<&'static Expansion> {
    static BY_VERSION: OnceLock<HashMap<(&str, i64), &Expansion>> = OnceLock::new();
    let by_version = BY_VERSION.get_or_init(|| {
        let all = FAMILIES.iter().copied().flatten();
        all.flat_map(|expansion| {
            expansion
                .ops
                .split(' ')
                .map(move |op| ((op, expansion.version), expansion))
        })
        .collect()
    });
    by_version
        .get(&(schema.name, schema.since_version))
        .copied()
}
