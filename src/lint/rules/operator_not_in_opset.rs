//! The rule `operator-not-in-opset`.

use std::sync::Arc;

use crate::base::choice::nearest;
use crate::base::hash::HashMap;
use crate::graph::{Body, domain_name};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::ops::schemas::{self, canonical_domain};

const DOCS: &str = r#"A node's operator does not exist in the imported opset.

## What it checks
The operator of every node of a domain that ONNX defines, against the opset that the model or function imports: operators
that were added in a later opset, deprecated operators, and names that do not exist in any opset. Operators and functions of
a domain that the model or function does not import; for graphs, onnxruntime imports the domains that it knows, as ai.onnx.ml and
com.microsoft. Operators that onnxruntime adds to ai.onnx are those of RC503.

## Why is this bad?
The model is not valid: onnx.checker and runtimes reject it. The imported opset is wrong or missing, the name is misspelt, or
the operator's domain is missing. `recast convert --from-opset N` reads a model as one of opset N, which corrects a wrong
import.

## Example
```onnx
<ir_version: 7, opset_import: ["": 14]>
activate (float[2, n] x) => (float[2, n] y) {
    y = Mish (x)
}
```
Use instead the opset that added the operator:
```onnx
<ir_version: 8, opset_import: ["": 18]>
activate (float[2, n] x) => (float[2, n] y) {
    y = Mish (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC210", "operator-not-in-opset", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let mut messages = HashMap::default();
    let findings = subject.nodes().filter_map(|node| {
        let model = subject.model;
        let proto = model.node(node);
        let (domain, op, opset) = (
            canonical_domain(proto.domain()),
            proto.op_type(),
            model.opset(node.scope, proto.domain()),
        );
        let is_call = model.callee(node).is_some();
        if is_call && opset.is_some() {
            return None;
        }
        let is_in_function = matches!(model.body(model.root(node.scope)), Body::Function(_));
        // By the name of the domain: see `schemas::versions`.
        let key = (domain_name(domain), op, opset, is_in_function, is_call);
        let check = || match opset {
            Some(opset) => check_operator(domain, op, opset),
            None => not_imported(domain, op, is_in_function, is_call),
        };
        let message = messages
            .entry(key)
            .or_insert_with(|| check().map(Arc::<str>::from));
        Some(Finding::at_node(node, message.clone()?))
    });
    findings.collect()
}

/// The beginnings of the domains, except ai.onnx, that onnxruntime adds to the imports of a model.
const ADDED_BY_ONNXRUNTIME: &[&str] = &["ai.onnx.", "com.microsoft", "com.ms.", "org.pytorch.aten"];

fn not_imported(domain: &str, op: &str, is_in_function: bool, is_call: bool) -> Option<String> {
    let is_added = ADDED_BY_ONNXRUNTIME
        .iter()
        .any(|&start| domain.starts_with(start));
    if is_added && !is_in_function && !is_call {
        return None;
    }
    let place = domain_name(domain);
    let kind = if is_call { "a function" } else { "an operator" };
    let scope = if is_in_function { "function" } else { "model" };
    Some(format!(
        "{op} is {kind} of {place}, which the {scope} does not import"
    ))
}

fn check_operator(domain: &str, op: &str, opset: i64) -> Option<String> {
    let place = domain_name(domain);
    match schemas::schema(domain, op, opset) {
        Some(schema) if schema.deprecated => Some(format!(
            "{op} of {place} is deprecated since opset {}; the imported opset is {opset}",
            schema.since_version
        )),
        Some(_) => None,
        None => match schemas::versions(domain, op).first() {
            Some(first) => Some(format!(
                "{op} requires opset {} of {place}; the imported opset is {opset}",
                first.since_version
            )),
            None => unknown(domain, op, opset),
        },
    }
}

/// Domains without operators in the tables are not checked.
fn unknown(domain: &str, op: &str, opset: i64) -> Option<String> {
    let mut operators = schemas::all()
        .iter()
        .filter(|schema| schema.domain == domain)
        .map(|schema| schema.name)
        .peekable();
    operators.peek()?;
    let place = domain_name(domain);
    Some(
        match nearest(op, operators).map(|name| (name, schemas::schema(domain, name, opset))) {
            Some((name, Some(_))) => {
                format!("{place} has no operator {op} in any opset; did you mean {name}?")
            }
            Some((name, None)) => {
                let since = schemas::versions(domain, name)
                    .first()
                    .map_or(opset, |first| first.since_version);
                format!(
                    "{place} has no operator {op} in any opset; did you mean {name}, which requires opset {since}?"
                )
            }
            None => format!("{place} has no operator {op} in any opset"),
        },
    )
}
