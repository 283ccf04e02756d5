//! What `recast inspect` found.

use std::fmt::Write as _;

use serde::Serialize;

use super::words::{bytes, plural};
use crate::inspect::{CastFacts, Inspection};

/// One model of a run.
#[derive(Debug, Serialize)]
pub struct InspectedModel {
    /// The model, as it was named.
    pub path: String,
    /// What it holds.
    #[serde(flatten)]
    pub inspection: Inspection,
}

/// The report for people.
#[must_use]
pub fn inspect_text(model: &InspectedModel) -> String {
    let InspectedModel { path, inspection } = model;
    let Inspection { ir_version, opsets, producer, nodes, ops, casts, initializers, functions, external_data } = inspection;
    let mut text = String::new();
    writeln!(text, "{path}").ok();
    let opsets: Vec<String> = opsets.iter().map(|(domain, version)| format!("{domain} {version}")).collect();
    let opsets = if opsets.is_empty() { "none stated".to_owned() } else { opsets.join(", ") };
    writeln!(
        text,
        "  IR {ir_version}, opsets: {opsets}{}",
        if producer.is_empty() { "" } else { "; made by " }.to_owned() + producer
    )
    .ok();
    let mut by_count: Vec<(&String, &usize)> = ops.iter().collect();
    by_count.sort_by_key(|&(name, count)| (std::cmp::Reverse(*count), name));
    let ops: Vec<String> = by_count.into_iter().map(|(name, count)| format!("{name} {count}")).collect();
    writeln!(text, "  {}: {}", plural(*nodes, "node"), ops.join(", ")).ok();
    writeln!(text, "  {}, {}", plural(initializers.count, "initializer"), bytes(initializers.bytes)).ok();
    for (dtype, facts) in &initializers.by_type {
        writeln!(text, "    {dtype}: {}, {}", facts.count, bytes(facts.bytes)).ok();
    }
    for function in functions {
        let callers = plural(function.callers, "call");
        writeln!(text, "  function {}: {}, {callers}", function.name, plural(function.nodes, "node")).ok();
    }
    for file in external_data {
        writeln!(text, "  external data: {file}").ok();
    }
    if !casts.is_empty() {
        writeln!(text, "  {}", plural(casts.len(), "cast")).ok();
    }
    for cast in casts {
        writeln!(text, "    {}", cast_line(cast)).ok();
    }
    text
}

fn cast_line(cast: &CastFacts) -> String {
    let mut line = format!("{}: {} to {}", cast.node, cast.from.unwrap_or("?"), cast.to.unwrap_or("?"));
    if let Some(saturate) = cast.saturate {
        write!(line, ", saturate={}", u8::from(saturate)).ok();
    }
    if let Some(round_mode) = cast.round_mode {
        write!(line, ", round_mode={round_mode}").ok();
    }
    if cast.constant {
        line.push_str(", of a constant");
    }
    line
}
