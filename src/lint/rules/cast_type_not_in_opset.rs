//! The rule `cast-type-not-in-opset`.

use crate::graph::{Model, NodeId, read_type};
use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Severity, Subject};
use crate::ops::schemas::{self, ValueType};
use crate::protobuf::raw::attribute_proto::AttributeType;
use onnx_cast::DType;

const DOCS: &str = r#"A cast has a type that the imported opset's cast does not support.

## What it checks
The types of the input and of the result of `Cast` and `CastLike`, if the model determines them; numbers in `to` that are
not element types; and `CastLike` before opset 15.

## Why is this bad?
The model is not valid. Cast supports STRING since opset 9, BFLOAT16 since 13, float8 since 19, INT4 and UINT4 since 21,
FLOAT4E2M1 since 23, FLOAT8E8M0 since 24, INT2 and UINT2 since 25, 6-bit floats since 28. Other runtimes may reject the
model.

## Example
```onnx
<ir_version: 9, opset_import: ["": 18]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <to = 17> (x)
}
```
Use instead an opset that supports the type:
```onnx
<ir_version: 9, opset_import: ["": 19]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 1, to = 17> (x)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC202", "cast-type-not-in-opset", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let numbers = subject
        .cast_nodes()
        .filter_map(|node| check_to(subject.model, node));
    subject
        .casts()
        .filter_map(check_types)
        .chain(numbers)
        .collect()
}

fn check_types(cast: &ResolvedCast) -> Option<Finding> {
    let (op, opset) = (cast.proto.op_type(), cast.opset);
    let Some(schema) = schemas::schema("", op, opset) else {
        let since = schemas::versions("", op).first()?.since_version;
        return Some(Finding::at_node(
            cast.node,
            format!("{op} requires opset {since}; the imported opset is {opset}"),
        ));
    };
    let result = (!schema.output(0)?.types.contains(ValueType::Tensor(cast.to))).then_some(cast.to);
    let input = cast.from.filter(|&from| !cast.admits(from));
    let dtype = result.or(input)?;
    let role = if result.is_some() { "result" } else { "input" };
    let since = match first_opset(op, dtype) {
        Some(since) => format!("opset {since} is the first that does"),
        None => "no opset does".to_owned(),
    };
    Some(Finding::at_node(
        cast.node,
        format!("{op} of opset {opset} does not support {dtype} as its {role}; {since}"),
    ))
}

fn first_opset(op: &str, dtype: DType) -> Option<i64> {
    let admits = |schema: &&schemas::Schema| {
        schema
            .output(0)
            .is_some_and(|formal| formal.types.contains(ValueType::Tensor(dtype)))
    };
    schemas::versions("", op)
        .iter()
        .find(admits)
        .map(|schema| schema.since_version)
}

fn check_to(model: &Model, node: NodeId) -> Option<Finding> {
    let attribute = model
        .attribute(node, "to")
        .value()
        .filter(|_| model.node(node).op_type() == "Cast")?;
    if read_type(attribute).is_ok() {
        return None;
    }
    let what = match attribute.r#type() {
        AttributeType::String => format!("'{}'", String::from_utf8_lossy(attribute.s())),
        _ => attribute.i().to_string(),
    };
    Some(Finding::at_node(
        node,
        format!("`to` = {what} is not an ONNX element type"),
    ))
}
