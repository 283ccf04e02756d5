//! The runtimes that run a model.

use serde::Serialize;

use crate::graph::{Model, ScopeId};
use crate::ops::inference::Inferred;
use crate::ops::kernels::{Lacking, Table, support};
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
}

/// Consecutive versions of a runtime that do not run the model, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LackingVersions {
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

/// Runtimes, and whether they run a model.
pub(super) struct Runtimes {
    /// The versions that run the model, or that load it if their kernels are not known.
    pub targets: Vec<RuntimeVersions>,
    /// The versions that do not run the model.
    pub lacking: Vec<LackingVersions>,
    /// The number of nodes whose kernels are not known.
    pub undecided: usize,
}

/// The runtimes that run a model, and those that do not.
pub(super) fn runtimes(model: &Model, inferred: &Inferred) -> Runtimes {
    let opset = model.opset(ScopeId::MAIN, "");
    let mut found = Runtimes {
        targets: Vec::new(),
        lacking: Vec::new(),
        undecided: 0,
    };
    for rows in Runtime::all().chunk_by(|left, right| left.name == right.name) {
        let table = Table::of(rows[0].name);
        let oldest_known = table.and_then(|table| table.versions().first().copied());
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
                }),
            }
        }
        if let Some(table) = table {
            let support = support(model, inferred, table);
            found.undecided = found.undecided.max(support.undecided);
            let count = table.versions().len();
            let version = |index: usize| table.versions()[index].to_string();
            found
                .targets
                .extend(support.runs.ranges(count).into_iter().map(|(first, last)| {
                    RuntimeVersions {
                        runtime: table.runtime,
                        first: version(first),
                        last: version(last),
                        kernels: true,
                        newest: last + 1 == count,
                    }
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
