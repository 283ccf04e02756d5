//! The rule `attribute-not-in-opset`.

use std::collections::HashSet;

use super::attributes::remove_attribute;
use crate::graph::{NodeId, domain_name};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::ops::schemas;
use crate::protobuf::schema::AttributeProto;

const DOCS: &str = r#"A node has an attribute that its operator does not have in the imported opset.

## What it checks
The attributes of every node whose operator ONNX defines, against the schema of the opset that the model or function imports.

## Why is this bad?
The model is not valid: runtimes reject it or ignore the attribute. Usually the model was moved to an older opset without
removing newer attributes: Cast has no `saturate` before opset 19 and no `round_mode` before opset 24.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
narrow (float[n] x) => (float16[n] y) {
    y = Cast <saturate = 1, to = 10> (x)
}
```
Use instead:
```onnx
<ir_version: 8, opset_import: ["": 18]>
narrow (float[n] x) => (float16[n] y) {
    y = Cast <to = 10> (x)
}
```

## Fix
Safe if the attribute states the behaviour of the older operator: `saturate` and `round_mode`, which only affect types that
the older operator does not support, and any attribute whose value equals the implied behaviour. That is mostly the default
of the newer opset. `RoiAlign` and `Resize` are exceptions: their older versions sample differently from the newer default.
Removes the attribute. Otherwise there is no fix.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC203", "attribute-not-in-opset", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let with_attributes = subject
        .nodes()
        .filter(|&node| !subject.model.node(node).attribute.is_empty());
    with_attributes
        .flat_map(|node| check_node(subject, node))
        .collect()
}

fn check_node(subject: &Subject, node: NodeId) -> Vec<Finding> {
    let model = subject.model;
    let proto = model.node(node);
    let Some(opset) = model.opset(node.scope, proto.domain()) else {
        return Vec::new();
    };
    let schema = match schemas::schema(proto.domain(), proto.op_type(), opset) {
        Some(schema) if model.callee(node).is_none() => schema,
        _ => return Vec::new(),
    };
    let mut seen = HashSet::new();
    let unknown = proto
        .attribute
        .iter()
        .filter(|attribute| schema.attribute(attribute.name()).is_none());
    let unknown = unknown.filter(|attribute| seen.insert(attribute.name()));
    let findings = unknown.map(|attribute| {
        let (op, name) = (proto.op_type(), attribute.name());
        let domain = domain_name(proto.domain());
        let mut elsewhere = schemas::versions(proto.domain(), op)
            .iter()
            .filter(|version| version.attribute(name).is_some());
        let was_there = elsewhere.clone().next().is_some();
        let newer = elsewhere.find(|version| version.since_version > opset);
        let history = match newer {
            Some(newer) => format!("it was added in opset {}", newer.since_version),
            None if was_there => format!("it was removed in opset {}", schema.since_version),
            None => "no opset has it".to_owned(),
        };
        let finding = Finding::at_node(
            node,
            format!("{op} of {domain} {opset} has no attribute `{name}`; {history}"),
        );
        let implied = newer.and_then(|_| schemas::implied(schema, name, proto.output.len()));
        if newer.is_some() && touches_newer_types(op, name)
            || implied.is_some_and(|implied| is(attribute, implied))
        {
            finding.with_safe_fix(
                format!("remove `{name}`"),
                vec![remove_attribute(model, node, name)],
            )
        } else {
            finding
        }
    });
    findings.collect()
}

/// Whether the attribute only affects element types that older versions of the operator do not
/// support.
fn touches_newer_types(op: &str, attribute: &str) -> bool {
    matches!(
        (op, attribute),
        ("Cast" | "CastLike" | "QuantizeLinear", "saturate") | ("Cast" | "CastLike", "round_mode")
    )
}

fn is(attribute: &AttributeProto, value: schemas::DefaultValue) -> bool {
    attribute.tail().ref_attr_name().is_empty()
        && match value {
            schemas::DefaultValue::Int(int) => attribute.i == Some(int),
            schemas::DefaultValue::Float(float) => attribute.f == Some(float),
            schemas::DefaultValue::String(string) => {
                attribute.s.as_deref() == Some(string.as_bytes())
            }
            schemas::DefaultValue::Ints(ints) => attribute.ints == ints,
            schemas::DefaultValue::Strings(strings) => attribute
                .strings
                .iter()
                .map(|string| &**string)
                .eq(strings.iter().map(|string| string.as_bytes())),
        }
}
