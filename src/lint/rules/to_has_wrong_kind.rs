//! The rule `to-has-wrong-kind`.

use crate::graph::{Edit, NodeId, read_type};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::AttributeProto;

const DOCS: &str = r#"The attribute type of `to` is not the one that the opset requires.

## What it checks
The attribute `to` of `Cast`: a string with a type's name in opsets 1 to 5, an integer since opset 6.

## Why is this bad?
The model is not valid. Runtimes reject it, or read the missing integer as 0, which is not a type.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
narrow (float[n] x) => (float16[n] y) {
    y = Cast <to = "FLOAT16"> (x)
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
Safe: states the same type in the required form. If the name is not that of a type, there is no fix.
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC204", "to-has-wrong-kind", Severity::Error, DOCS),
    check,
);

/// The first opset in which `to` is a number.
const NUMBER_SINCE: i64 = 6;

fn check(subject: &Subject) -> Vec<Finding> {
    let casts = subject
        .cast_nodes()
        .filter(|&node| subject.model.node(node).op_type() == "Cast");
    casts.filter_map(|node| check_cast(subject, node)).collect()
}

fn check_cast(subject: &Subject, node: NodeId) -> Option<Finding> {
    let model = subject.model;
    let proto = model.node(node);
    let position = proto
        .attribute
        .iter()
        .position(|attribute| attribute.name() == "to")?;
    let attribute = &proto.attribute[position];
    let opset = model.opset(node.scope, "")?;
    let wanted = if opset < NUMBER_SINCE {
        AttributeType::String
    } else {
        AttributeType::Int
    };
    let found = kind(attribute)?;
    if found == wanted {
        return None;
    }
    let words = |kind: AttributeType| kind.as_str_name().to_lowercase();
    let finding = Finding::at_node(
        node,
        format!(
            "`to` has attribute type {}, but opset {opset} requires {}",
            words(found),
            words(wanted)
        ),
    );
    let is_type = matches!(found, AttributeType::String | AttributeType::Int);
    let Some(dtype) = read_type(attribute).ok().filter(|_| is_type) else {
        return Some(finding);
    };
    let mut changed = proto.clone();
    let to = &mut changed.attribute[position];
    (to.i, to.s, to.r#type) = match wanted {
        AttributeType::String => (None, Some(dtype.name().into()), Some(wanted.into())),
        _ => (Some(dtype.number().into()), None, Some(wanted.into())),
    };
    let what = if wanted == AttributeType::Int {
        format!("set `to = {}`", dtype.number())
    } else {
        format!("set `to = \"{dtype}\"`")
    };
    Some(finding.with_safe_fix(what, vec![Edit::replace_node(node, changed)]))
}

/// The stated attribute type; in IR 1 it is optional. `None` if the attribute refers to an
/// attribute of the function.
fn kind(attribute: &AttributeProto) -> Option<AttributeType> {
    if !attribute.tail().ref_attr_name().is_empty() {
        return None;
    }
    Some(match attribute.r#type() {
        AttributeType::Undefined if attribute.s.is_some() => AttributeType::String,
        AttributeType::Undefined => AttributeType::Int,
        stated => stated,
    })
}
