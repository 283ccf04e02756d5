//! The runtimes that run a model.

use serde::Serialize;

use crate::graph::{Model, ScopeId};
use crate::ops::inference::Inferred;
use crate::ops::kernels::{Differing, Lacking, Support, Table, Versions, support};
use crate::ops::runtimes::{Runtime, Version};

/// Consecutive versions of a runtime that run the model, or load it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RuntimeVersions {
    /// Its name.
    pub runtime: &'static str,
    /// The first version.
    pub first: String,
    /// The last version.
    pub last: String,
    /// Whether their kernels are known: otherwise they only support the opset and the IR version.
    pub kernels: bool,
    /// Whether the last version is the newest known one.
    pub newest: bool,
    /// The number of nodes of which it is not known whether they run, in runtimes whose kernels are
    /// known from running models: no model had the operator in this form, some of those that had it
    /// were right and some were not, or its types are unknown.
    pub(crate) untried_nodes: usize,
}

/// Consecutive versions of a runtime that do not run the model, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct LackingVersions {
    /// Its name.
    pub runtime: &'static str,
    /// The first version.
    pub first: String,
    /// The last version.
    pub last: String,
    /// The newest opset of ai.onnx that they load, if that of the model is newer.
    pub newest_opset: Option<i64>,
    /// The newest IR version that they load, if that of the model is newer.
    pub newest_ir_version: Option<i64>,
    /// The operators, with their types, for which they have no kernel.
    pub operators: Vec<String>,
}

/// A node for which consecutive versions of a runtime run the model, but compute something else than
/// ONNX defines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct DifferingNode {
    /// The name of the runtime.
    pub runtime: &'static str,
    /// The first version.
    pub first: String,
    /// The last version.
    pub last: String,
    /// The path of the node.
    pub node: String,
    /// Its operator with its types.
    pub operation: String,
    /// What the runtime computes.
    pub instead: &'static str,
}

/// Runtimes, and whether they run a model.
pub(super) struct Runtimes {
    /// The versions that run the model, or that load it if their kernels are not known.
    pub targets: Vec<RuntimeVersions>,
    /// The nodes for which versions that run the model compute something else.
    pub differing: Vec<DifferingNode>,
    /// The versions that do not run the model.
    pub lacking: Vec<LackingVersions>,
    /// The number of nodes whose kernels are not known in runtimes that list theirs.
    pub undecided: usize,
}

/// The runtimes that run a model, and those that do not.
pub(super) fn runtimes(model: &Model, inferred: &Inferred) -> Runtimes {
    let opset = model.opset(ScopeId::MAIN, "");
    let mut found = Runtimes {
        targets: Vec::new(),
        differing: Vec::new(),
        lacking: Vec::new(),
        undecided: 0,
    };
    let mut supports: Vec<(&Table, Support)> = Table::all()
        .iter()
        .zip(support(model, inferred, Table::all()))
        .collect();
    for rows in Runtime::all().chunk_by(|left, right| left.name == right.name) {
        let index = supports
            .iter()
            .position(|(table, _)| table.runtime == rows[0].name);
        let known = index.map(|index| supports.swap_remove(index));
        let oldest_known = known
            .as_ref()
            .and_then(|(table, _)| table.versions().first().copied());
        for &Runtime {
            name, first, last, ..
        } in rows
            .iter()
            .filter(|row| row.loads(opset, model.ir_version()))
        {
            let Some((first, last)) = before(oldest_known, first, last) else {
                continue;
            };
            match found
                .targets
                .last_mut()
                .filter(|versions| versions.runtime == name)
            {
                Some(versions) => versions.last = last,
                None => found.targets.push(RuntimeVersions {
                    runtime: name,
                    first,
                    last,
                    kernels: false,
                    newest: false,
                    untried_nodes: 0,
                }),
            }
        }
        if let Some((table, support)) = known {
            if !table.is_measured() {
                found.undecided = found.undecided.max(support.undecided);
            }
            let count = table.versions().len();
            let version = |index: usize| table.versions()[index].to_string();
            for Differing {
                node,
                operation,
                versions,
                instead,
            } in support.differing
            {
                let ranges = (versions & support.runs).ranges(count);
                found
                    .differing
                    .extend(ranges.iter().map(|&(first, last)| DifferingNode {
                        runtime: table.runtime,
                        first: version(first),
                        last: version(last),
                        node: model.node_path(node),
                        operation: operation.clone(),
                        instead,
                    }));
            }
            let ranges = equally_decided(support.runs, &support.undecided_in).into_iter();
            found
                .targets
                .extend(ranges.map(|(first, last)| RuntimeVersions {
                    runtime: table.runtime,
                    first: version(first),
                    last: version(last),
                    kernels: true,
                    newest: last + 1 == count,
                    untried_nodes: support.undecided_in[last],
                }));
            for Lacking {
                versions,
                newest_opset,
                newest_ir_version,
                operators,
            } in support.lacking
            {
                found
                    .lacking
                    .extend(versions.ranges(count).into_iter().map(|(first, last)| {
                        LackingVersions {
                            runtime: table.runtime,
                            first: version(first),
                            last: version(last),
                            newest_opset,
                            newest_ir_version,
                            operators: operators.clone(),
                        }
                    }));
            }
        }
    }
    found
}

/// The versions that run a model, in ranges in which as many nodes are undecided.
fn equally_decided(runs: Versions, undecided: &[usize]) -> Vec<(usize, usize)> {
    let mut ranges = Vec::new();
    for (first, last) in runs.ranges(undecided.len()) {
        let mut start = first;
        for part in undecided[first..=last].chunk_by(|left, right| left == right) {
            ranges.push((start, start + part.len() - 1));
            start += part.len();
        }
    }
    ranges
}

/// The versions of a row whose kernels are not known: those before the oldest of which they are.
fn before(oldest_known: Option<Version>, first: &str, last: &str) -> Option<(String, String)> {
    let Some(oldest) = oldest_known else {
        return Some((first.to_owned(), last.to_owned()));
    };
    if Version::read(first)? >= oldest {
        return None;
    }
    let is_before = Version::read(last)? < oldest;
    let last = if is_before {
        last.to_owned()
    } else {
        Version {
            minor: oldest.minor.checked_sub(1)?,
            ..oldest
        }
        .to_string()
    };
    Some((first.to_owned(), last))
}
