//! A node for which a version of a runtime has no kernel, and what helps.

use std::fmt;

use super::closest::closest_opset;
use super::operation::Operation;
use super::table::Table;
use crate::runtimes::Runtime;
use crate::schemas;

/// A node for which a version of a runtime has no kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MissingKernel {
    /// The operator with its version, and the types: `RoiAlign-22 of tensor(float), tensor(int64)`;
    /// with the attributes because of which a kernel is not enough, if there is one.
    pub operation: String,
    /// The opset closest to that of the node in which the runtime has a kernel for the operator and
    /// these types, if there is one.
    pub opset: Option<i64>,
    /// The versions of the runtime that have a kernel for the node, as text; empty if no known one
    /// has.
    pub versions: String,
    /// The runtime and the version.
    #[cfg_attr(feature = "serde", serde(skip))]
    runtime: Runtime,
}

/// The kernel that a version of a runtime lacks for an operation; none if it has it, or its kernels
/// are not known.
#[must_use]
pub fn missing_kernel(runtime: &Runtime, operation: &Operation) -> Option<MissingKernel> {
    let (table, version) = Table::of_runtime(runtime)?;
    let decision = table.support(operation);
    if decision.possible.contains(version) {
        return None;
    }
    // A message about a measured runtime names only versions in which a test of such a node ran.
    let known = if table.is_measured() {
        decision.certain
    } else {
        decision.possible
    };
    let opset = closest_opset((table, version), runtime, operation);
    let attributes = table.refused_attributes(operation, version);
    let with = if table.is_measured() && operation.satisfies("branches", "apart") == Some(true) {
        " with branches whose results have different ranks".to_owned()
    } else if attributes.is_empty() {
        String::new()
    } else {
        format!(" with {}", attributes.join(", "))
    };
    Some(MissingKernel {
        operation: format!("{operation}{with}"),
        opset,
        versions: table.describe(known),
        runtime: *runtime,
    })
}

/// The note that the kernels of a runtime are not known, if they are not.
#[must_use]
pub fn unknown_kernels(runtime: &Runtime) -> Option<String> {
    let is_unknown = Table::of_runtime(runtime).is_none();
    is_unknown.then(|| {
        format!(
            "the kernels of {} are not known: only opset and IR version are checked",
            runtime.named()
        )
    })
}

/// An operator for which a version of a runtime has no kernel in any type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct MissingOperator {
    /// The operator with its version: `RoiAlign-22`.
    pub operation: String,
    /// The newest opset in which the runtime has a kernel for the operator, in some type; none if
    /// there is none.
    pub opset: Option<i64>,
}

impl Runtime {
    /// The operators of ai.onnx, in the newest opset that the runtime loads, for which it has no
    /// kernel in any type; none if its kernels are not known.
    ///
    /// ```
    /// use onnx_operators::Runtime;
    ///
    /// let runtime: Runtime = "onnxruntime@1.31".parse()?;
    /// let missing = runtime.missing_operators().expect("its kernels are known");
    /// assert!(missing.iter().any(|missing| missing.operation == "GlobalLpPool-22" && missing.opset == Some(21)));
    /// # Ok::<(), onnx_operators::UnknownRuntime>(())
    /// ```
    #[must_use]
    pub fn missing_operators(&self) -> Option<Vec<MissingOperator>> {
        let (table, version) = Table::of_runtime(self)?;
        Some(missing_operators(table, version, self.newest_opset()))
    }
}

fn missing_operators(table: &Table, version: usize, newest: i64) -> Vec<MissingOperator> {
    let missing = schemas::operators()
        .filter(|all| all[0].domain.is_empty())
        .filter_map(|all| {
            let known = all.partition_point(|schema| schema.since_version <= newest);
            let (present, older) = all[..known].split_last()?;
            if present.deprecated || table.runs_in_some_type(present, newest, version) {
                return None;
            }
            let last_opset = |position: usize| all[position + 1].since_version - 1;
            let is_run = |&position: &usize| {
                !older[position].deprecated
                    && table.runs_in_some_type(&older[position], last_opset(position), version)
            };
            let opset = (0..older.len()).rev().find(is_run).map(last_opset);
            Some(MissingOperator {
                operation: present.to_string(),
                opset,
            })
        });
    missing.collect()
}

impl fmt::Display for MissingKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MissingKernel {
            operation,
            opset,
            versions,
            runtime,
        } = self;
        write!(f, "{} has no kernel for {operation}", runtime.named())?;
        if let Some(opset) = opset {
            write!(f, "; in opset {opset} it has one")?;
        }
        if !versions.is_empty() {
            write!(f, "; {} {versions} has one", runtime.name)
        } else if opset.is_none() {
            write!(f, "; no known version has one")
        } else {
            Ok(())
        }
    }
}
