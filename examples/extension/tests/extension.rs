//! The pass, the rule and the adapter at work.

use onnx_recast::lint::{Baseline, Safety, Selection};
use onnx_recast::passes::{DEFAULT, Pass};
use onnx_recast::{ConvertOptions, ErrorKind, FoldOptions, LintOptions, Model};
use recast_extension::{
    RemoveIdentities, RequireKnownDomains, UNNAMED_NODE, UnknownDomain, gelu_of_runtime,
};

fn model(nodes: &str) -> Model {
    let text = format!(
        r#"<ir_version: 9, opset_import: ["": 20, "my.runtime": 1]> g (float[2] x) => (float[2] y) {{ {nodes} }}"#
    );
    Model::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn nodes(model: &Model) -> Vec<String> {
    model
        .to_text()
        .lines()
        .filter(|line| line.contains(" = "))
        .map(|line| line.trim().to_owned())
        .collect()
}

#[test]
fn the_pass_runs_with_those_of_the_library() {
    let mut model = model("[copy] a = Identity (x) [relu] y = Relu (a)");
    let report = model
        .run_passes(
            &[&[&RemoveIdentities as &dyn Pass], DEFAULT].concat(),
            &FoldOptions::default(),
        )
        .unwrap();
    assert_eq!(report.events().count(), 1);
    assert_eq!(
        (report.passes[0].pass, nodes(&model)),
        ("remove-identities", vec!["[relu] y = Relu (x)".to_owned()])
    );
}

#[test]
fn the_rule_reports_nodes_of_its_pattern() {
    let options = LintOptions::default().selection(Selection::default().with_rule(&UNNAMED_NODE));
    let found = model("[relu] a = Relu (x) y = Neg (a)")
        .lint(&options)
        .unwrap();
    let found: Vec<(&str, String)> = found
        .iter()
        .map(|found| (found.code(), found.place().as_str().to_owned()))
        .collect();
    assert_eq!(found, [("X101", "graph/#1:Neg".to_owned())]);
}

#[test]
fn the_fix_of_the_rule_is_applied_and_reported() {
    let options = LintOptions::default().selection(Selection::default().with_rule(&UNNAMED_NODE));
    let mut model = model("[relu] a = Relu (x) y = Neg (a)");
    let fixed = model
        .fix(&options, Safety::Safe, &Baseline::default())
        .unwrap();
    let fixes: Vec<&str> = fixed
        .iter()
        .filter_map(|found| found.fix.as_ref())
        .map(|fix| fix.what.as_str())
        .collect();
    assert_eq!(fixes, ["use the name of the first output"]);
    assert_eq!(nodes(&model), ["[relu] a = Relu (x)", "[y] y = Neg (a)"]);
}

#[test]
fn a_pass_that_fails_returns_its_own_error_and_the_place() {
    let mut model = Model::from_text(
        r#"<ir_version: 9, opset_import: ["": 20, "other": 1]> g (float x) => (float y) { [foreign] y = other.Relu (x) }"#,
    )
    .unwrap();
    let error = model
        .run_passes(&[&RequireKnownDomains], &FoldOptions::default())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "graph/foreign: the runtime has no domain \"other\""
    );
    assert_eq!(error.kind(), ErrorKind::InvalidModel);
    assert_eq!(error.cause(), Some(&UnknownDomain("other".to_owned())));
}

#[test]
fn the_adapter_replaces_the_one_of_the_library() {
    let options = ConvertOptions::to(17).adapters(vec![gelu_of_runtime("my.runtime")]);
    let mut exact = model("y = Gelu (x)");
    exact.convert(&options).unwrap();
    assert_eq!(nodes(&exact), ["y = my.runtime.Gelu (x)"]);
}

#[test]
fn a_refusal_of_the_adapter_is_followed_by_the_expansion_of_the_library() {
    let options = ConvertOptions::to(17).adapters(vec![gelu_of_runtime("my.runtime")]);
    let mut approximate = model(r#"y = Gelu <approximate = "tanh"> (x)"#);
    let report = approximate.convert(&options).unwrap();
    assert_eq!(
        (report.expansions.len(), report.expansions[0].op.to_string()),
        (1, "Gelu".to_owned())
    );
}
