//! Names and patterns of the options that are those of nothing.

use std::collections::BTreeSet;

use globset::GlobSet;

use super::options::{Options, Selection};
use crate::base::choice::nearest;
use crate::base::error::{Error, ErrorKind, shortened};
use crate::base::printable::and_more;
use crate::graph::{Model, NodeId};
use crate::ops::schemas::{self, microsoft};

/// # Errors
/// If an option names an operator that neither ONNX nor onnxruntime nor the model has.
pub(super) fn expect_operators(model: &Model, options: &Options) -> Result<(), Error> {
    let named = [&options.keep_ops, &options.only_ops, &options.also_ops];
    if let Some(name) = named
        .into_iter()
        .flatten()
        .find(|name| !is_operator(model, name))
    {
        let known = schemas::all()
            .iter()
            .chain(schemas::all_of_onnxruntime())
            .map(|schema| schema.name)
            .chain(nodes(model).map(|node| model.node(node).op_type()));
        let hint = nearest(name, known)
            .map(|nearest| format!("; did you mean {nearest}?"))
            .unwrap_or_default();
        let message = format!(
            "'{}' is not an operator of ONNX or of the model{hint}",
            shortened(name)
        );
        return Err(Error::new(ErrorKind::Usage, message));
    }
    Ok(())
}

fn is_operator(model: &Model, name: &str) -> bool {
    schemas::all().iter().any(|schema| schema.name == name)
        || !schemas::versions_of_onnxruntime("", name).is_empty()
        || microsoft::signature(name).is_some()
        || nodes(model).any(|node| model.node(node).op_type() == name)
}

/// A pattern that matches nothing of the model, or a name of ranges that is not that of a value.
pub(super) struct Unmatched {
    /// As the option states it.
    pub what: String,
    /// The note in the report.
    note: String,
    /// Whether it is a name of ranges.
    is_of_ranges: bool,
}

/// All of them, in the order of the options.
pub(super) fn find(model: &Model, selection: &Selection) -> Vec<Unmatched> {
    let options = selection.options;
    let mut found = Vec::new();
    for (patterns, compiled) in [
        (&options.keep_nodes, &selection.keep_nodes),
        (&options.only_nodes, &selection.only_nodes),
        (&options.also_nodes, &selection.also_nodes),
    ] {
        let names = nodes(model)
            .flat_map(|node| [model.node(node).name().to_owned(), model.node_path(node)]);
        found.extend(unmatched("node", patterns, compiled, names));
    }
    found.extend(unmatched(
        "value",
        &options.keep_values,
        &selection.keep_values,
        model.values().map(|value| model.name(value)),
    ));
    let mut unknown: BTreeSet<&str> = options.ranges.keys().map(String::as_str).collect();
    if !unknown.is_empty() {
        for value in model.values() {
            unknown.remove(model.name(value));
        }
    }
    found.extend(unknown.into_iter().map(|name| Unmatched {
        what: name.to_owned(),
        note: format!(
            "'{}' of the observed ranges is not a value of the model",
            shortened(name)
        ),
        is_of_ranges: true,
    }));
    found
}

/// The notes of a report. Of names of ranges, only the first one is noted: ranges of another model
/// have many such names.
pub(super) fn notes(found: &[Unmatched]) -> Vec<String> {
    let mut notes: Vec<String> = found
        .iter()
        .filter(|one| !one.is_of_ranges)
        .map(|one| one.note.clone())
        .collect();
    let mut of_ranges = found.iter().filter(|one| one.is_of_ranges);
    if let Some(first) = of_ranges.next() {
        notes.push(format!(
            "{}{}",
            first.note,
            and_more(of_ranges.count(), "name")
        ));
    }
    notes
}

/// The patterns that match none of some names, in the order of the options.
fn unmatched(
    what: &str,
    patterns: &[String],
    compiled: &GlobSet,
    names: impl Iterator<Item = impl AsRef<str>>,
) -> impl Iterator<Item = Unmatched> {
    let mut is_matched = vec![false; patterns.len()];
    if !patterns.is_empty() {
        for name in names {
            compiled
                .matches(name.as_ref())
                .into_iter()
                .for_each(|index| is_matched[index] = true);
        }
    }
    let unmatched = patterns
        .iter()
        .zip(is_matched)
        .filter(|(_, is_matched)| !is_matched);
    unmatched.map(move |(pattern, _)| Unmatched {
        what: pattern.clone(),
        note: format!("no {what} matches '{}'", shortened(pattern)),
        is_of_ranges: false,
    })
}

fn nodes(model: &Model) -> impl Iterator<Item = NodeId> {
    model.scopes().flat_map(|scope| model.nodes(scope))
}
