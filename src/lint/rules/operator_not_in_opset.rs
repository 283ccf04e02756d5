//! A node's operator does not exist in the opset that the model imports.
//!
//! ## What it checks
//! The operator of every node of a domain that ONNX defines, against the opset that the model or function imports: operators that a
//! later opset introduced, operators that are deprecated, and names that no opset has.
//!
//! ## Why is this bad?
//! The model is not valid: onnx.checker and runtimes refuse it. Either the opset is stated wrongly, or the name is misspelt, or the
//! operator is one of a domain that the node does not state. `recast convert --from-opset N` reads a model as one of opset N, which
//! mends an opset that is stated wrongly.
//!
//! ## Example
//! ```onnx
//! <ir_version: 7, opset_import: ["": 14]>
//! normalize (float[2, n] x, float[n] scale) => (float[2, n] y) {
//!     y = LayerNormalization (x, scale)
//! }
//! ```
//! Use instead the opset that introduced the operator:
//! ```onnx
//! <ir_version: 8, opset_import: ["": 17]>
//! normalize (float[2, n] x, float[n] scale) => (float[2, n] y) {
//!     y = LayerNormalization (x, scale)
//! }
//! ```

use std::collections::BTreeMap;

use crate::facts::{self, Schema, canonical_domain};
use crate::graph::{NodeId, domain_name};
use crate::lint::{Finding, Rule, Selected, Severity, Subject};

pub(super) const RULE: Rule = Rule {
    code: "RC210",
    name: "operator-not-in-opset",
    severity: Severity::Error,
    selected: Selected::ByDefault,
    source: include_str!("operator_not_in_opset.rs"),
    check,
};

/// How alike two names are of which one may be meant by the other, by Jaro and Winkler.
const ALIKE: f64 = 0.85;

fn check(subject: &Subject) -> Vec<Finding> {
    let mut messages = BTreeMap::new();
    let findings = subject.nodes().filter_map(|node| {
        let (domain, op, opset) = operator(subject, node)?;
        let message = messages.entry((domain, op, opset)).or_insert_with(|| check_operator(domain, op, opset));
        Some(Finding::at_node(node, message.clone()?))
    });
    findings.collect()
}

/// The domain, name and opset of a node's operator, if it is not a function of the model.
fn operator<'m>(subject: &Subject<'m>, node: NodeId) -> Option<(&'m str, &'m str, i64)> {
    let model = subject.model;
    let proto = model.node(node);
    let opset = model.opset(node.scope, proto.domain()).filter(|_| model.callee(node).is_none())?;
    Some((canonical_domain(proto.domain()), proto.op_type(), opset))
}

fn check_operator(domain: &str, op: &str, opset: i64) -> Option<String> {
    let place = domain_name(domain);
    match facts::schema(domain, op, opset) {
        Some(schema) if schema.deprecated => {
            Some(format!("{op} of {place} is deprecated since opset {}; this is opset {opset}", schema.since_version))
        }
        Some(_) => None,
        None => match facts::versions(domain, op).first() {
            Some(first) => Some(format!("{op} came with opset {} of {place}; this is opset {opset}", first.since_version)),
            None => unknown(domain, op, opset),
        },
    }
}

/// Nothing is said of a domain of which the tables have no operators.
fn unknown(domain: &str, op: &str, opset: i64) -> Option<String> {
    let mut operators = facts::all().iter().filter(|schema| schema.domain == domain).peekable();
    operators.peek()?;
    let closest = operators.filter_map(|schema| Some((alike(op, schema)?, schema.name)));
    let closest = closest.max_by(|(left, _), (right, _)| left.total_cmp(right)).map(|(_, name)| name);
    let place = domain_name(domain);
    Some(match closest.map(|name| (name, facts::schema(domain, name, opset))) {
        Some((name, Some(_))) => format!("no opset of {place} has an operator {op}; did you mean {name}?"),
        Some((name, None)) => {
            let since = facts::versions(domain, name).first().map_or(opset, |first| first.since_version);
            format!("no opset of {place} has an operator {op}; did you mean {name}, which came with opset {since}?")
        }
        None => format!("no opset of {place} has an operator {op}"),
    })
}

/// How alike a name and that of an operator are, if they are alike at all; letter case does not count.
fn alike(op: &str, schema: &Schema) -> Option<f64> {
    let alike = strsim::jaro_winkler(&op.to_ascii_lowercase(), &schema.name.to_ascii_lowercase());
    (alike >= ALIKE).then_some(alike)
}
