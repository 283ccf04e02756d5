//! The rule `noqa-names-no-rule`.

use crate::lint::subject::body_metadata;
use crate::lint::{Finding, FunctionRule, RuleFacts, Severity, Subject};
use crate::protobuf::schema::StringStringEntryProto;

const DOCS: &str = r#"`recast.noqa` contains a rule that does not exist.

## What it checks
The entries `recast.noqa` in the `metadata_props` of the model, its graphs, functions, nodes, initializers and declared
values. Their value is a list of codes or prefixes of codes, or ALL.

## Why is this bad?
The finding is not suppressed, because the code is misspelt or the rule does not exist.

## Example
```onnx
<ir_version: 9, opset_import: ["": 19], metadata_props: ["recast.noqa": "RC1000"]>
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

pub(super) static RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new("RC209", "noqa-names-no-rule", Severity::Warning, DOCS),
    check,
);

fn check(subject: &Subject) -> Vec<Finding> {
    let model = subject.model;
    let mut findings = Vec::new();
    let mut add = |entries: &[StringStringEntryProto], finding: &dyn Fn(String) -> Finding| {
        let unknown = (subject.unknown_rules)(entries).into_iter();
        findings.extend(unknown.map(|word| {
            finding(format!(
                "`recast.noqa` contains '{word}', which is not a rule"
            ))
        }));
    };
    add(&model.proto().metadata_props, &Finding::at_model);
    for scope in model.scopes() {
        add(body_metadata(model, scope), &|message| {
            Finding::at_model(format!("{}: {message}", model.scope_path(scope)))
        });
    }
    for node in subject.nodes() {
        add(&model.node(node).metadata_props, &|message| {
            Finding::at_node(node, message)
        });
    }
    for value in model.values() {
        let finding = |message| Finding::at_value(model, value, message);
        add(
            model
                .initializer(value)
                .map_or(&[], |tensor| &tensor.metadata_props),
            &finding,
        );
        add(
            model
                .declared(value)
                .map_or(&[], |info| &info.metadata_props),
            &finding,
        );
    }
    findings
}
