//! For every rule: models with findings, and similar models without. They are cases of
//! `tests/cases/lint/`, except data files outside of the model's folder: those are not there when
//! the command opens them.

use onnx_recast::internals::all_rules;
use std::path::Path;

use super::case_file::{CaseFile, FOLDER, files_below};
use super::find;
use crate::support::expect_no_failures;

const OUTSIDE: &str = "RC207";

const BAD: &str = r#"<ir_version: 8, opset_import: ["": 18]>
    g (float[2] x) => (float[2] y) <float[2] up = ["location": "../up.bin"], float[2] root = ["location": "/etc/passwd"], float[2] inside = ["location": "w/../../x"]> {
        a = Mul (x, up)
        b = Mul (a, root)
        c = Mul (b, inside)
        [attribute] d = Constant <value = float[2] ["location": "C:\\weights.bin"]> ()
        y = Mul (c, d)
    }"#;

const GOOD: &str = r#"<ir_version: 8, opset_import: ["": 18]>
    g (float[2] x) => (float[2] y) <float[2] w = ["location": "weights/w..bin"]> { y = Mul (x, w) }"#;

/// A model of the cases of a rule.
pub struct Fixture {
    /// The rule.
    pub code: String,
    pub name: String,
    pub model: String,
    /// Whether the rule reports it.
    pub is_bad: bool,
}

/// The models of all rules.
pub fn fixtures() -> Vec<Fixture> {
    let outside = [("bad", BAD, true), ("correct", GOOD, false)].into_iter();
    let outside = outside.map(|(name, model, is_bad)| Fixture {
        code: OUTSIDE.into(),
        name: name.into(),
        model: model.into(),
        is_bad,
    });
    let files = files_below(&Path::new(FOLDER).join("lint"));
    let files = files.into_iter().filter(|path| {
        path.file_stem()
            .is_some_and(|name| name.to_string_lossy().starts_with("RC"))
    });
    let of_file = files.flat_map(|path| {
        let code = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let file = CaseFile::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        file.cases.into_iter().map(move |case| {
            let is_bad = case
                .steps
                .iter()
                .any(|step| step.answer.contains(&format!(": {code} ")));
            Fixture {
                code: code.clone(),
                name: case.name,
                model: case.model,
                is_bad,
            }
        })
    });
    outside.chain(of_file).collect()
}

#[test]
fn every_rule_has_models_with_findings_and_models_without() {
    let fixtures = fixtures();
    let has = |code: &str, is_bad: bool| {
        fixtures
            .iter()
            .any(|fixture| fixture.code == code && fixture.is_bad == is_bad)
    };
    let lacking = all_rules().filter(|rule| !has(rule.code, true) || !has(rule.code, false));
    expect_no_failures(lacking.map(|rule| rule.code.to_owned()).collect());
}

#[test]
fn data_files_outside_of_the_folder_are_found() {
    let found: Vec<String> = find(BAD, OUTSIDE)
        .iter()
        .map(|found| format!("{}: {}", found.place(), found.message))
        .collect();
    let expected = [
        "graph/up: data file '../up.bin' is outside the model's folder",
        "graph/root: data file '/etc/passwd' is outside",
        "graph/inside: data file 'w/../../x' is outside",
        "graph/attribute: data file 'C:\\weights.bin' is outside",
    ];
    assert!(
        found.len() == 4
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| found.starts_with(expected)),
        "{found:#?}"
    );
    assert!(find(GOOD, OUTSIDE).is_empty());
}
