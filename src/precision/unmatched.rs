//! Names and patterns of the options that are those of nothing.

use std::collections::BTreeSet;

use globset::GlobSet;

use super::options::Options;
use crate::base::choice::nearest;
use crate::base::error::{Error, ErrorKind, shortened};
use crate::base::patterns;
use crate::base::printable::plural;
use crate::graph::{Model, NodeId};
use crate::ops::schemas::{self, microsoft};

/// # Errors
/// If an option names an operator that neither ONNX nor com.microsoft nor the model has.
pub(super) fn expect_operators(model: &Model, options: &Options) -> Result<(), Error> {
    let named = [&options.keep_ops, &options.only_ops, &options.also_ops];
    if let Some(name) = named.into_iter().flatten().find(|name| !is_operator(model, name)) {
        let known = schemas::all().iter().map(|schema| schema.name).chain(nodes(model).map(|node| model.node(node).op_type()));
        let hint = nearest(name, known).map(|nearest| format!("; did you mean {nearest}?")).unwrap_or_default();
        let message = format!("'{}' is not an operator of ONNX or of the model{hint}", shortened(name));
        return Err(Error::new(ErrorKind::Usage, message));
    }
    Ok(())
}

fn is_operator(model: &Model, name: &str) -> bool {
    schemas::all().iter().any(|schema| schema.name == name)
        || microsoft::signature(name).is_some()
        || nodes(model).any(|node| model.node(node).op_type() == name)
}

/// Patterns that match nothing of the model, and names of ranges that are not those of values.
///
/// # Errors
/// If a pattern is invalid.
pub(super) fn notes(model: &Model, options: &Options) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for pattern in [&options.keep_nodes, &options.only_nodes, &options.also_nodes].into_iter().flatten() {
        let is_match = compiled(pattern)?;
        if !nodes(model).any(|node| is_match.is_match(model.node(node).name()) || is_match.is_match(model.node_path(node))) {
            notes.push(format!("no node matches '{}'", shortened(pattern)));
        }
    }
    for pattern in &options.keep_values {
        let is_match = compiled(pattern)?;
        if !model.values().any(|value| is_match.is_match(model.name(value))) {
            notes.push(format!("no value matches '{}'", shortened(pattern)));
        }
    }
    let mut unknown: BTreeSet<&str> = options.ranges.keys().map(String::as_str).collect();
    if !unknown.is_empty() {
        for value in model.values() {
            unknown.remove(model.name(value));
        }
    }
    notes.extend(unknown.first().map(|first| {
        let others = match unknown.len() - 1 {
            0 => String::new(),
            others => format!(" (and {} more)", plural(others, "name")),
        };
        format!("'{}' of the observed ranges is not a value of the model{others}", shortened(first))
    }));
    Ok(notes)
}

fn compiled(pattern: &String) -> Result<GlobSet, Error> {
    patterns::of_names(std::slice::from_ref(pattern)).map_err(|bad| Error::new(ErrorKind::Usage, bad.to_string()))
}

fn nodes(model: &Model) -> impl Iterator<Item = NodeId> {
    model.scopes().flat_map(|scope| model.nodes(scope))
}
