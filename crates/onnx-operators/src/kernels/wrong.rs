//! A node for which a version of a runtime computes something else than ONNX defines, and what
//! helps.

use std::fmt;

use super::closest::closest_opset;
use super::operation::Operation;
use super::table::Table;
use crate::runtimes::Runtime;

/// What a version of a runtime computes for a node, other than ONNX defines.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct WrongResult {
    /// The operator with its version, and the types: `Softmax-11 of tensor(float)`.
    pub operation: String,
    /// What the runtime computes instead: `does not saturate`.
    pub instead: &'static str,
    /// The opset closest to that of the node in which the runtime computes what ONNX defines, if
    /// there is one.
    pub opset: Option<i64>,
    /// The runtime and the version.
    #[cfg_attr(feature = "serde", serde(skip))]
    runtime: Runtime,
}

/// What a version of a runtime computes for an operation, if it runs it and computes something else
/// than ONNX defines. None if this is not known.
#[must_use]
pub fn wrong_result(runtime: &Runtime, operation: &Operation) -> Option<WrongResult> {
    let (table, version) = Table::of_runtime(runtime)?;
    let instead = table.instead(operation, version)?;
    Some(WrongResult {
        operation: operation.to_string(),
        instead,
        // In another opset, the nodes before it are others, too.
        opset: if operation.is_combined() {
            None
        } else {
            closest_opset((table, version), runtime, operation)
        },
        runtime: *runtime,
    })
}

impl fmt::Display for WrongResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WrongResult {
            operation,
            instead,
            opset,
            runtime,
        } = self;
        write!(f, "{operation}: {} {instead}", runtime.named())?;
        match opset {
            Some(opset) => write!(f, "; in opset {opset} its results are right"),
            None => Ok(()),
        }
    }
}
