//! Verification of lint fixes.
//!
//! The original is fixed again, and the result compared with the written model in every field.
//! Independently of the rules, the original is compared with the written model: only nodes of
//! operators with fixed findings may have other attributes, only casts may be missing, and other
//! nodes may differ in the names of their inputs only.

use std::collections::BTreeSet;

use super::fault::Fault;
use super::matching::Matching;
use super::unchanged_fields::{compare_models, compare_nodes};
use super::value_fields;
use super::verified::Verified;
use crate::diff::DifferenceKind::{self, Removed};
use crate::graph::Model;
use crate::lint::fix::fix;
use crate::lint::{self, Baseline, Diagnostic, Options, Safety};

/// The options by which a model is fixed.
#[derive(Clone, Debug)]
pub(super) struct Fixes {
    pub options: Options,
    pub allowed: Safety,
    pub known: Baseline,
}

pub(super) fn verify(original: &Model, written: &Model, fixes: &Fixes) -> (Verified, Vec<Fault>) {
    let verified = Verified {
        nodes: written.topological_order().len(),
        ..Verified::default()
    };
    let path = lint::name_of(original);
    let again = match fix(
        original.clone(),
        &path,
        &fixes.options,
        fixes.allowed,
        &fixes.known,
    ) {
        Ok(again) => again,
        Err(error) => {
            return (
                verified,
                vec![Fault::at(
                    "graph",
                    format!("the original cannot be fixed again: {error}"),
                )],
            );
        }
    };
    let mut faults = compare_models(&again.model, written, |_, _, _| false);
    faults.extend(compare_models(original, written, of_fixes));
    faults.extend(nodes(original, written, &again.fixed));
    faults.extend(value_fields::ambiguous(&again.model, written));
    (verified, faults)
}

/// The fields that fixes may change, except in nodes.
fn of_fixes(message: &str, field: &str, kind: Option<DifferenceKind>) -> bool {
    match (message, field) {
        ("GraphProto" | "FunctionProto", "node" | "value_info") => true,
        ("ModelProto", "ir_version" | "opset_import") => true,
        // A declared type becomes that of the value.
        ("ValueInfoProto", "type") => true,
        // A result of a removed cast leaves with it, and bytes may get the type that they have.
        ("GraphProto", "initializer") => kind != Some(Removed),
        ("TensorProto", "data_type") => true,
        _ => false,
    }
}

/// Nodes that differ although nothing in them was fixed, and nodes other than casts that are
/// missing or new.
fn nodes(original: &Model, written: &Model, fixed: &[Diagnostic]) -> Vec<Fault> {
    let matching = Matching::by_results(original, written);
    let operators: BTreeSet<&str> = fixed.iter().filter_map(Diagnostic::op).collect();
    let mut faults = Vec::new();
    for (scope, counterpart) in matching.scopes() {
        let path = written.scope_path(scope);
        let Some(counterpart) = counterpart else {
            faults.push(Fault::at(path, "the original has no such scope"));
            continue;
        };
        let count = |model: &Model, scope| {
            model
                .nodes(scope)
                .filter(|&node| !model.is_cast(node))
                .count()
        };
        let (before, after) = (count(original, counterpart), count(written, scope));
        if before != after {
            faults.push(Fault::at(
                path,
                format!("has {after} nodes other than casts; must have {before}"),
            ));
        }
        for node in written.nodes(scope) {
            let Some(same) = matching.node(node) else {
                faults.push(Fault::at(
                    written.node_path(node),
                    "the original has no such node",
                ));
                continue;
            };
            let protos = [original.node(same), written.node(node)];
            let is_fixed = operators.contains(written.node(node).op_type());
            let may_change = if is_fixed { of_fixed_nodes } else { of_nodes };
            faults.extend(compare_nodes(
                &matching,
                || written.node_path(node),
                protos,
                may_change,
            ));
        }
    }
    faults
}

/// The fields of nodes that fixes may change anywhere.
fn of_nodes(message: &str, field: &str, kind: Option<DifferenceKind>) -> bool {
    of_fixes(message, field, kind) || (message, field) == ("NodeProto", "input")
}

/// The fields that fixes may change in nodes of an operator with findings.
fn of_fixed_nodes(message: &str, field: &str, kind: Option<DifferenceKind>) -> bool {
    of_nodes(message, field, kind)
        || message == "AttributeProto"
        || (message, field) == ("NodeProto", "attribute")
}
