//! The report of `recast inspect`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;

use super::format::{bytes, plural};
use crate::base::printable::Shown;
use crate::inspect::{
    CastFacts, ContradictionFacts, DifferingNode, Inspection, InterfaceFacts, LackingVersions,
    RuntimeVersions, ValueFacts,
};

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

/// The inputs, and the outputs, that are listed without `verbose`.
const MOST_VALUES: usize = 20;

/// The text report; with `verbose`, every input, output and cast.
#[must_use]
pub fn inspect_text(model: &InspectedModel, verbose: bool) -> Shown {
    let InspectedModel {
        path,
        inspection,
        types,
    } = model;
    let Inspection {
        ir_version,
        opsets,
        producer,
        nodes,
        ops,
        casts,
        initializers,
        functions,
        external_data,
        ..
    } = inspection;
    let mut text = Shown::default();
    text.push_line(format_args!("{path}"));
    write_interface(&mut text, inspection, verbose);
    let opsets: Vec<String> = opsets
        .iter()
        .map(|(domain, version)| format!("{domain} {version}"))
        .collect();
    let opsets = if opsets.is_empty() {
        "none stated".to_owned()
    } else {
        opsets.join(", ")
    };
    let producer = if producer.is_empty() {
        String::new()
    } else {
        format!("; produced by {producer}")
    };
    text.push_line(format_args!(
        "  IR {ir_version}, opsets: {opsets}{producer}"
    ));
    let mut by_count: Vec<(&String, &usize)> = ops.iter().collect();
    by_count.sort_by_key(|&(name, count)| (std::cmp::Reverse(*count), name));
    let ops: Vec<String> = by_count
        .into_iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    text.push_line(format_args!(
        "  {}: {}",
        plural(*nodes, "node"),
        ops.join(", ")
    ));
    text.push_line(format_args!(
        "  {}, {}",
        plural(initializers.count, "initializer"),
        bytes(initializers.bytes)
    ));
    for (dtype, facts) in &initializers.by_type {
        text.push_line(format_args!(
            "    {dtype}: {}, {}",
            facts.count,
            bytes(facts.bytes)
        ));
    }
    for function in functions {
        let callers = plural(function.callers, "call");
        text.push_line(format_args!(
            "  function {}: {}, {callers}",
            function.name,
            plural(function.nodes, "node")
        ));
    }
    for file in external_data {
        text.push_line(format_args!("  external data: {file}"));
    }
    write_runtimes(&mut text, inspection, verbose);
    if !casts.is_empty() {
        text.push_line(format_args!("  {}", plural(casts.len(), "cast")));
    }
    write_casts(&mut text, casts, verbose);
    for ValueFacts {
        scope,
        value,
        type_and_shape,
        contradiction,
    } in types.iter().flatten()
    {
        match contradiction {
            None => text.push_line(format_args!("  {scope}: {value}: {type_and_shape}")),
            Some(ContradictionFacts { declared, found }) => text.push_line(format_args!(
                "  {scope}: {value}: declared as {declared}, but it is {found}"
            )),
        }
    }
    text
}

/// The inputs and outputs. Inputs with a default are counted only: before IR version 4, every
/// initializer is one.
fn write_interface(text: &mut Shown, inspection: &Inspection, verbose: bool) {
    for (kind, values) in [
        ("input", &inspection.inputs),
        ("output", &inspection.outputs),
    ] {
        let (optional, needed): (Vec<&InterfaceFacts>, Vec<_>) =
            values.iter().partition(|value| value.has_default);
        let listed = if verbose { needed.len() } else { MOST_VALUES };
        for InterfaceFacts {
            name,
            type_and_shape,
            ..
        } in needed.iter().take(listed)
        {
            text.push_line(format_args!("  {kind} {name}: {type_and_shape}"));
        }
        if needed.len() > listed {
            text.push_line(format_args!(
                "  {}; --verbose lists them",
                plural(needed.len() - listed, &format!("more {kind}"))
            ));
        }
        if !optional.is_empty() {
            text.push_line(format_args!(
                "  {} with an initializer as the default",
                plural(optional.len(), kind)
            ));
        }
    }
}

/// The operators without a kernel that are listed for a version without `verbose`.
const MOST_OPERATORS: usize = 3;

/// The runtimes that run the model, those that may, and those that do not.
fn write_runtimes(text: &mut Shown, inspection: &Inspection, verbose: bool) {
    let Inspection {
        targets,
        differing,
        lacking,
        undecided_nodes,
        ..
    } = inspection;
    let range = |first: &str, last: &str| {
        if first == last {
            first.to_owned()
        } else {
            format!("{first} to {last}")
        }
    };
    let versions = |versions: &RuntimeVersions| {
        let RuntimeVersions {
            runtime,
            first,
            last,
            kernels,
            newest,
            untried_nodes,
        } = versions;
        if *untried_nodes > 0 {
            let nodes = plural(*untried_nodes, "node");
            format!("{runtime} {} ({nodes} uncertain)", range(first, last))
        } else if !(kernels & newest) {
            format!("{runtime} {}", range(first, last))
        } else if first == last {
            format!("{runtime} {first} or later")
        } else {
            format!("{runtime} {first} or later (known to {last})")
        }
    };
    let differs = |target: &RuntimeVersions| {
        target.kernels && differing.iter().any(|node| node.runtime == target.runtime)
    };
    let all = |kernels: bool| {
        targets
            .iter()
            .filter(|target| target.kernels == kernels && !differs(target))
            .map(versions)
            .collect::<Vec<_>>()
            .join(", ")
    };
    for (what, runtimes) in [
        ("runs on", all(true)),
        ("opset and IR version are supported by", all(false)),
    ] {
        if !runtimes.is_empty() {
            text.push_line(format_args!("  {what} {runtimes}"));
        }
    }
    for target in targets.iter().filter(|target| differs(target)) {
        let nodes: Vec<&DifferingNode> = differing
            .iter()
            .filter(|node| node.runtime == target.runtime && node.first == target.first)
            .collect();
        text.push_line(format_args!(
            "  runs, but computes something else, on {} {}",
            target.runtime,
            range(&target.first, &target.last)
        ));
        let listed = if verbose { nodes.len() } else { MOST_OPERATORS };
        for DifferingNode {
            node,
            operation,
            instead,
            ..
        } in nodes.iter().take(listed)
        {
            text.push_line(format_args!("    {node}: {operation} {instead}"));
        }
        if nodes.len() > listed {
            let more = plural(nodes.len() - listed, "more node");
            text.push_line(format_args!("    {more}; --verbose lists them"));
        }
    }
    if *undecided_nodes > 0 {
        let nodes = plural(*undecided_nodes, "node");
        text.push_line(format_args!("    the kernels of {nodes} are not known: types, or the operators of a domain, are unknown"));
    }
    for LackingVersions {
        runtime,
        first,
        last,
        newest_opset,
        newest_ir_version,
        operators,
    } in lacking
    {
        // It is obvious that older versions do not load a newer opset.
        if !verbose && (newest_opset.is_some() || newest_ir_version.is_some()) {
            continue;
        }
        let listed = if verbose {
            operators.len()
        } else {
            MOST_OPERATORS
        };
        let mut reasons: Vec<String> = Vec::new();
        reasons.extend(
            newest_opset.map(|newest| format!("opset {newest} is the newest that it loads")),
        );
        reasons.extend(
            newest_ir_version.map(|newest| format!("IR {newest} is the newest that it loads")),
        );
        reasons.extend(
            operators
                .iter()
                .take(listed)
                .map(|operator| format!("no kernel for {operator}")),
        );
        if operators.len() > listed {
            reasons.push(format!(
                "{} more; --verbose lists them",
                operators.len() - listed
            ));
        }
        text.push_line(format_args!(
            "  does not run on {runtime} {}: {}",
            range(first, last),
            reasons.join("; ")
        ));
    }
}

/// The number of casts by their types, the most frequent first; with `verbose`, each of them.
fn write_casts(text: &mut Shown, casts: &[CastFacts], verbose: bool) {
    let mut pairs: BTreeMap<_, [usize; 2]> = BTreeMap::new();
    for cast in casts {
        let [all, constant] = pairs.entry((cast.from, cast.to)).or_default();
        (*all, *constant) = (*all + 1, *constant + usize::from(cast.constant));
    }
    let mut pairs: Vec<_> = pairs.into_iter().collect();
    pairs.sort_by_key(|(_, [all, _])| std::cmp::Reverse(*all));
    for ((from, to), [all, constant]) in pairs {
        let of_constants = match constant {
            0 => String::new(),
            1 => ", 1 of a constant".to_owned(),
            _ => format!(", {constant} of constants"),
        };
        text.push_line(format_args!(
            "    {} -> {}: {all}{of_constants}",
            from.unwrap_or("?"),
            to.unwrap_or("?")
        ));
        for cast in casts
            .iter()
            .filter(|cast| verbose && (cast.from, cast.to) == (from, to))
        {
            text.push_line(format_args!("      {}", cast_line(cast)));
        }
    }
}

fn cast_line(cast: &CastFacts) -> String {
    let mut words = cast.node.clone();
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
