//! The rule `string-cast-not-portable`.

use crate::lint::{Finding, FunctionRule, ResolvedCast, RuleFacts, Selected, Severity, Subject};
use onnx_cast::{Class, DType};

const DOCS: &str = r#"A cast between strings and numbers has different results in different runtimes.

## What it checks
`Cast` and `CastLike` of floats or BOOL to STRING, and of STRING to BOOL.

## Why is this bad?
ONNX requires plain notation of floats but does not specify the number of digits: the same number is `1e-05` in one runtime
and `0.00001` in another, infinity is `inf` or `INF`, and eight digits are not enough to read most floats back. ONNX does
not specify the string of a BOOL, nor which strings are true.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
label (float[n] x) => (string[n] y) {
    y = Cast <to = 8> (x)
}
```
Use instead integers, which all runtimes format alike:
```onnx
<ir_version: 8, opset_import: ["": 18]>
label (float[n] x) => (string[n] y) {
    whole = Cast <to = 7> (x)
    y = Cast <to = 8> (whole)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC303", "string-cast-not-portable", Severity::Warning, DOCS)
        .selected(Selected::OnRequest),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    subject
        .casts()
        .filter_map(|cast| Some(Finding::at_node(cast.node, why(cast)?)))
        .collect()
}

fn why(cast: &ResolvedCast) -> Option<String> {
    match (cast.from?, cast.to) {
        (DType::Bool, DType::String) => {
            Some("ONNX does not define the conversion of BOOL to STRING".to_owned())
        }
        (DType::String, DType::Bool) => {
            Some("ONNX does not define which strings are true".to_owned())
        }
        (from, DType::String) if from.class() == Class::Float => Some(format!(
            "runtimes format {from} with different digits, exponents and infinities"
        )),
        _ => None,
    }
}
