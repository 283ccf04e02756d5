//! The report of `recast inspect`.

use std::fmt::Write as _;

use serde::Serialize;

use super::words::{bytes, plural};
use crate::inspect::{CastFacts, Inspection, RuntimeVersions, ValueFacts};
use crate::shown::Shown;

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct InspectedModel {
    /// The path of the model as given.
    pub path: String,
    /// Its contents.
    #[serde(flatten)]
    pub inspection: Inspection,
    /// The types and shapes of its values, if they are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub types: Option<Vec<ValueFacts>>,
}

/// The text report.
#[must_use]
pub fn inspect_text(model: &InspectedModel) -> Shown {
    let InspectedModel { path, inspection, types } = model;
    let Inspection { ir_version, opsets, producer, nodes, ops, casts, initializers, functions, external_data, targets } =
        inspection;
    let mut text = Shown::default();
    text.push_line(format_args!("{path}"));
    let opsets: Vec<String> = opsets.iter().map(|(domain, version)| format!("{domain} {version}")).collect();
    let opsets = if opsets.is_empty() { "none stated".to_owned() } else { opsets.join(", ") };
    let producer = if producer.is_empty() { String::new() } else { format!("; produced by {producer}") };
    text.push_line(format_args!("  IR {ir_version}, opsets: {opsets}{producer}"));
    let mut by_count: Vec<(&String, &usize)> = ops.iter().collect();
    by_count.sort_by_key(|&(name, count)| (std::cmp::Reverse(*count), name));
    let ops: Vec<String> = by_count.into_iter().map(|(name, count)| format!("{name} {count}")).collect();
    text.push_line(format_args!("  {}: {}", plural(*nodes, "node"), ops.join(", ")));
    text.push_line(format_args!("  {}, {}", plural(initializers.count, "initializer"), bytes(initializers.bytes)));
    for (dtype, facts) in &initializers.by_type {
        text.push_line(format_args!("    {dtype}: {}, {}", facts.count, bytes(facts.bytes)));
    }
    for function in functions {
        let callers = plural(function.callers, "call");
        text.push_line(format_args!("  function {}: {}, {callers}", function.name, plural(function.nodes, "node")));
    }
    for file in external_data {
        text.push_line(format_args!("  external data: {file}"));
    }
    let versions = |RuntimeVersions { runtime, first, last }: &RuntimeVersions| match first == last {
        true => format!("{runtime} {first}"),
        false => format!("{runtime} {first} to {last}"),
    };
    let targets: Vec<String> = targets.iter().map(versions).collect();
    if !targets.is_empty() {
        text.push_line(format_args!("  opset and IR version are supported by {}", targets.join(", ")));
    }
    if !casts.is_empty() {
        text.push_line(format_args!("  {}", plural(casts.len(), "cast")));
    }
    for cast in casts {
        text.push_line(format_args!("    {}", cast_line(cast)));
    }
    for ValueFacts { scope, value, value_type, shape } in types.iter().flatten() {
        let value_type = value_type.as_deref().unwrap_or("?");
        text.push_line(format_args!("  {scope}: {value}: {value_type}{}", shape.as_deref().map_or_else(String::new, dims)));
    }
    text
}

/// A shape as ONNX text writes it.
fn dims(shape: &[Option<i64>]) -> String {
    let dims: Vec<String> = shape.iter().map(|dim| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string())).collect();
    format!("[{}]", dims.join(","))
}

fn cast_line(cast: &CastFacts) -> String {
    let mut words = format!("{}: {} to {}", cast.node, cast.from.unwrap_or("?"), cast.to.unwrap_or("?"));
    if let Some(saturate) = cast.saturate {
        write!(words, ", saturate={}", u8::from(saturate)).ok();
    }
    if let Some(round_mode) = cast.round_mode {
        write!(words, ", round_mode={round_mode}").ok();
    }
    if cast.constant {
        words.push_str(", of a constant");
    }
    words
}
