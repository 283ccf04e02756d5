//! Operators in terms of operators of older opsets, one file per family.
//!
//! A body is ONNX text: the inputs and outputs have the names of the schema, everything else is local. It is written for the opset
//! before the one that introduced the operator; adapters convert its nodes further down. `$name` stands for a parameter.

mod activation;
mod arithmetic;
mod attention;
mod bitwise;
mod comparison;
mod crop;
mod gather;
mod layout;
mod loss;
mod normalization;
mod pooling;
mod recurrence;
mod rotary;
mod scatter;
mod trilu;
mod window;

use super::context::Context;
use super::expand::Exactness;
use super::reason::Reason;
use crate::facts::Schema;

/// An operator in terms of others.
pub(super) struct Expansion {
    /// The operator.
    pub op: &'static str,
    /// The version that it expands; the opset before that has all operators of the body.
    pub version: i64,
    /// How the results compare with those of the operator.
    pub class: Exactness,
    /// The nodes for a node with these attributes, types and shapes.
    pub body: fn(&Context) -> Result<String, Reason>,
}

const fn exact(op: &'static str, version: i64, body: fn(&Context) -> Result<String, Reason>) -> Expansion {
    Expansion { op, version, class: Exactness::Exact, body }
}

const fn by_definition(op: &'static str, version: i64, body: fn(&Context) -> Result<String, Reason>) -> Expansion {
    Expansion { op, version, class: Exactness::ByDefinition, body }
}

/// All expansions.
pub(super) const FAMILIES: &[&[Expansion]] = &[
    activation::EXPANSIONS,
    arithmetic::EXPANSIONS,
    attention::EXPANSIONS,
    bitwise::EXPANSIONS,
    comparison::EXPANSIONS,
    crop::EXPANSIONS,
    gather::EXPANSIONS,
    layout::EXPANSIONS,
    loss::EXPANSIONS,
    normalization::EXPANSIONS,
    pooling::EXPANSIONS,
    recurrence::EXPANSIONS,
    rotary::EXPANSIONS,
    scatter::EXPANSIONS,
    trilu::EXPANSIONS,
    window::EXPANSIONS,
];

/// The expansion of a version of an operator.
pub(super) fn find(schema: &Schema) -> Option<&'static Expansion> {
    let mut all = FAMILIES.iter().copied().flatten();
    all.find(|expansion| expansion.op == schema.name && expansion.version == schema.since_version)
}

/// A body with its parameters filled in.
fn fill(body: &str, parameters: &[(&str, &str)]) -> String {
    let mut longest_first = parameters.to_vec();
    longest_first.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    longest_first.iter().fold(body.to_owned(), |body, (name, value)| body.replace(&format!("${name}"), value))
}

/// The element type of an input as the text writes it.
fn type_of(cx: &Context, input: usize) -> Result<String, Reason> {
    Ok(cx.dtype(input)?.name().to_lowercase())
}

/// A float as the text writes it.
fn number(value: f32) -> String {
    if value.is_nan() { "nan".to_owned() } else { format!("{value:?}") }
}

/// The axes from `axis` to the last one.
fn axes_from(cx: &Context, axis: i64) -> Result<String, Reason> {
    let end = if axis < 0 { 0 } else { cx.rank(0)? as i64 };
    Ok((axis..end).map(|axis| axis.to_string()).collect::<Vec<_>>().join(", "))
}
