//! The rule `noqa-names-no-rule`.

use crate::graph::Body;
use crate::lint::{Finding, Rule, Selected, Severity, Subject};

const DOCS: &str = r#"`recast.noqa` contains a rule that does not exist.

## What it checks
The entries `recast.noqa` in the `metadata_props` of the model, its graphs, functions, nodes, initializers and declared
values. Their value is a list of codes or prefixes of codes, or ALL.

## Why is this bad?
The finding is not suppressed, because the code is misspelt or the rule does not exist.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19], metadata_props: ["recast.noqa": "RC999"]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 1, to = 17> (x)
}
```
Use instead:
```onnx
<ir_version: 9, opset_import: ["": 19], metadata_props: ["recast.noqa": "RC101"]>
quantize (float[n] x) => (float8e4m3fn[n] y) {
    y = Cast <saturate = 1, to = 17> (x)
}
```
"#;

pub(super) const RULE: Rule = Rule::new("RC209", "noqa-names-no-rule", Severity::Warning, Selected::ByDefault, DOCS, check);

fn check(subject: &Subject) -> Vec<Finding> {
    let (model, unknown) = (subject.model, subject.unknown_rules);
    let mut findings = Vec::new();
    findings.extend(unknown(&model.proto().metadata_props).into_iter().map(|word| Finding::at_model(message(word))));
    for scope in model.scopes() {
        let body = match model.body(scope) {
            Body::Graph(graph) => &graph.metadata_props,
            Body::Function(function) => &function.metadata_props,
        };
        findings.extend(
            unknown(body).into_iter().map(|word| Finding::at_model(format!("{}: {}", model.scope_path(scope), message(word)))),
        );
    }
    for node in subject.nodes() {
        findings.extend(unknown(&model.node(node).metadata_props).into_iter().map(|word| Finding::at_node(node, message(word))));
    }
    for value in model.values() {
        let tensor = model.initializer(value).map_or(&[][..], |tensor| &tensor.metadata_props);
        let declared = model.declared(value).map_or(&[][..], |info| &info.metadata_props);
        findings.extend(
            unknown(tensor).into_iter().chain(unknown(declared)).map(|word| Finding::at_value(model, value, message(word))),
        );
    }
    findings
}

fn message(word: &str) -> String {
    format!("`recast.noqa` contains '{word}', which is not a rule")
}
