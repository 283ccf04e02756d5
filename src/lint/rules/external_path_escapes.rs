//! The rule `external-path-escapes`.

use crate::graph::{Body, Model};
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Reference, Tensor, is_external};

const DOCS: &str = r#"A tensor's external data is outside the model's folder, or is missing.

## What it checks
Every tensor with external data: its `location` must be a path inside the model's folder, no link may lead outside, and the
file must exist and be long enough. The file's contents are not read. For a model from standard input only the path is
checked.

## Why is this bad?
A path such as `/etc/passwd` or `../../key` lets a model read arbitrary files. Current runtimes reject such a path, older
ones did not. If the file is missing or too short, the model cannot be loaded: often it was moved without its weights.

## Example
```onnx
<ir_version: 8, opset_import: ["": 18]>
scale (float[2] x) => (float[2] y) <float[2] w = ["location": "../weights.bin"]> {
    y = Mul (x, w)
}
```
Use instead a file beside the model, or data in the model:
```onnx
<ir_version: 8, opset_import: ["": 18]>
scale (float[2] x) => (float[2] y) <float[2] w = {0.5, 2}> {
    y = Mul (x, w)
}
```
"#;

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC207", "external-path-escapes", Severity::Error, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let external = model.tensors().filter(|(_, tensor)| is_external(tensor));
    let findings = external.filter_map(|(place, tensor)| {
        let message = problem(model, tensor)?;
        if let Some(node) = place.node() {
            return Some(Finding::at_node(node, message));
        }
        // The indices of a sparse initializer have no name; in a function, the tensor is the default
        // of an attribute.
        let value = match model.body(place.scope()) {
            Body::Graph(_) => model.defined(place.scope(), tensor.name()),
            Body::Function(_) => None,
        };
        Some(match value {
            Some(value) => Finding::at_value(model, value, message),
            None => Finding::at_model(format!("{}: {message}", model.tensor_path(place))),
        })
    });
    findings.collect()
}

fn problem(model: &Model, tensor: &TensorProto) -> Option<String> {
    let reference = match Reference::read(tensor) {
        Ok(reference) => reference,
        Err(error) => return Some(error.to_string()),
    };
    if model.data().path().is_none() {
        return escapes(&reference.location).then(|| {
            format!(
                "data file '{}' is outside the model's folder",
                reference.location
            )
        });
    }
    let found = match model.data().locate(&reference.location) {
        Ok(found) => found.stat.bytes,
        Err(error) => return Some(error.to_string()),
    };
    let needs = reference
        .offset
        .saturating_add(Tensor::read(tensor).map_or(0, |tensor| tensor.raw_bytes()));
    (found < needs).then(|| {
        format!(
            "data file '{}' has {found} bytes, but the tensor ends at byte {needs}",
            reference.location
        )
    })
}

/// Checks the text of a path. Both separators count on every system, since the model may come from
/// another one.
fn escapes(location: &str) -> bool {
    let climbs = location.split(['/', '\\']).any(|part| part == "..");
    climbs || location.starts_with(['/', '\\']) || location.as_bytes().get(1) == Some(&b':')
}
