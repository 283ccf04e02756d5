//! The opset closest to that of a node in which a runtime runs it.

use super::operation::Operation;
use super::table::Table;
use crate::runtimes::Runtime;
use crate::schemas::{self, Schema};

/// The opset closest to that of an operation of ai.onnx in which a version of a runtime runs it, and
/// computes what ONNX defines, if the operator has its attributes and inputs there: lower ones
/// first.
pub(super) fn closest_opset(
    (table, version): (&Table, usize),
    runtime: &Runtime,
    operation: &Operation,
) -> Option<i64> {
    let (domain, op) = (operation.domain(), operation.op());
    let all: Vec<&Schema> = schemas::all_versions(domain, op).collect();
    let newest = runtime.newest_opset();
    let mut opsets: Vec<i64> = Vec::new();
    for (index, &schema) in all.iter().enumerate() {
        let last = all
            .get(index + 1)
            .map_or(newest, |next| next.since_version - 1)
            .min(newest);
        let is_run = |opset: &i64| {
            let other = operation.in_version(schema, *opset);
            let decision = table.support(&other);
            operation.has_form_of(schema)
                && other.is_admitted()
                && decision.possible.contains(version)
                && !decision.wrong.contains(version)
        };
        // What depends on the opset and not on the version of the operator is found in the first
        // and the last opset only, which suffices for a hint.
        let ends = [schema.since_version, last]
            .into_iter()
            .filter(|_| !schema.deprecated && schema.since_version <= last);
        opsets.extend(ends.filter(is_run));
    }
    let older = opsets
        .iter()
        .copied()
        .filter(|&opset| opset < operation.opset())
        .max();
    let newer = opsets
        .iter()
        .copied()
        .filter(|&opset| opset > operation.opset())
        .min();
    older.or(newer).filter(|_| domain.is_empty())
}
