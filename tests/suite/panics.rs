//! A panic is an error of kind `internal` of the model in which it occurs: in the document, with
//! exit code 2, and the other models go on. The command of the tests has a defect that a model of a
//! certain name meets; passes, rules and adapters of other crates have their own.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use onnx_recast::convert::OperatorAdapter;
use onnx_recast::lint::{FunctionRule, RuleFacts, Selection, Severity};
use onnx_recast::passes::{DEFAULT, Pass, Plan};
use onnx_recast::{ConvertOptions, Error, ErrorKind, FoldOptions, Invalid, LintOptions, Model};
use serde_json::Value;

use crate::support::expect_no_failures;

#[derive(Debug)]
struct Panics;

impl Pass for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn docs(&self) -> &'static str {
        "Panics.\n"
    }

    fn plan(&self, model: &Model, _: &FoldOptions) -> Result<Plan, Invalid> {
        panic!("no plan for {} nodes", model.topological_order().len())
    }
}

static PANICKING_RULE: FunctionRule = FunctionRule::new(
    RuleFacts::new(
        "X201",
        "panicking-rule",
        Severity::Warning,
        "Panics.\n\n## Why is this bad?\nIt finds nothing.\n",
    ),
    |_| panic!("no finding"),
);

fn panicking_adapter() -> OperatorAdapter {
    OperatorAdapter::new("Relu", 6).on_downgrade(|_| panic!("no way down"))
}

fn model() -> Model {
    Model::from_text(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float[1] x) => (float16[1] y) <float[1] w = {2}>
        { h = Cast <to = 10> (w) r = Relu (x) c = Cast <to = 10> (r) y = Mul (c, h) }"#,
    )
    .unwrap()
}

#[test]
fn a_panic_in_a_pass_a_rule_or_an_adapter_is_an_error_and_leaves_the_model_as_it_was() {
    type Work = fn(&mut Model) -> Result<(), Error>;
    let operations: [(&str, Work); 5] = [
        ("no plan for 4 nodes", |model| {
            model
                .run_passes(&[&Panics], &FoldOptions::default())
                .map(drop)
        }),
        // The passes before it have changed the model.
        ("no plan for 3 nodes", |model| {
            model
                .run_passes(&[DEFAULT, &[&Panics]].concat(), &FoldOptions::default())
                .map(drop)
        }),
        ("no finding", |model| model.lint(&rules()).map(drop)),
        ("no finding", |model| {
            model
                .fix(
                    &rules(),
                    onnx_recast::lint::Safety::Safe,
                    &Default::default(),
                )
                .map(drop)
        }),
        ("no way down", |model| {
            model
                .convert(&ConvertOptions::to(5).adapters(vec![panicking_adapter()]))
                .map(drop)
        }),
    ];
    let mut failures = Vec::new();
    for (text, work) in operations {
        let mut changed = model();
        changed.freeze_initializers().unwrap();
        changed.convert(&ConvertOptions::to(22)).unwrap();
        for mut model in [model(), changed] {
            let before = model.to_bytes().unwrap();
            match work(&mut model) {
                Err(error)
                    if error.kind() == ErrorKind::Internal && error.message().starts_with(text) => {
                }
                other => failures.push(format!("{text}: {other:?}")),
            }
            if model.to_bytes().unwrap() != before || model.topological_order().len() != 4 {
                failures.push(format!("{text}: the model is another: {}", model.to_text()));
            }
            model.fold(&FoldOptions::default()).unwrap();
        }
    }
    expect_no_failures(failures);
}

fn rules() -> LintOptions {
    LintOptions::default().selection(Selection::default().with_rule(&PANICKING_RULE))
}

/// Runs the command in a folder of three models, of which `bad.onnx` meets the defect.
fn recast(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command
        .args(arguments.split(' '))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env("RECAST_PANIC", "bad.onnx");
    let output = command
        .env_remove("RUST_BACKTRACE")
        .output()
        .expect("the command starts");
    crate::schemas::expect_valid(&arguments.split(' ').collect::<Vec<_>>(), &output);
    output
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.onnx", "bad.onnx", "c.onnx"] {
        fs::copy("models/fp8_qdq.onnx", folder.path().join(name)).unwrap();
    }
    folder
}

/// The document of a run, which is all that is in its stream.
fn document(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(bytes)))
}

#[test]
fn the_other_models_of_a_run_are_reported() {
    let folder = folder();
    let mut failures = Vec::new();
    for (arguments, key, count) in [
        (
            "fold a.onnx bad.onnx c.onnx --dry-run --format json",
            "models",
            2,
        ),
        (
            "fold a.onnx bad.onnx c.onnx --out-dir out --verify --format json",
            "models",
            2,
        ),
        (
            "fold a.onnx bad.onnx c.onnx --dry-run --report page.html --format json",
            "models",
            2,
        ),
        (
            "convert a.onnx bad.onnx c.onnx --opset 20 --dry-run --format json",
            "models",
            2,
        ),
        (
            "convert a.onnx bad.onnx c.onnx --lowest --dry-run --format json",
            "models",
            2,
        ),
        (
            "lint a.onnx bad.onnx c.onnx --select RC401 --format json",
            "findings",
            6,
        ),
        (
            "inspect a.onnx bad.onnx c.onnx --types --format json",
            "models",
            2,
        ),
        ("diff a.onnx bad.onnx --format json", "differences", 0),
        ("diff bad.onnx c.onnx --format json", "differences", 0),
        ("report bad.onnx --format json", "models", 0),
        ("report a.onnx bad.onnx --format json", "models", 0),
    ] {
        let output = recast(folder.path(), arguments);
        let found = document(&output.stdout);
        let errors = found["errors"].as_array().unwrap();
        let is_internal = |error: &Value| {
            let message = error["message"].as_str().unwrap();
            (error["path"].as_str(), error["code"].as_str()) == (Some("bad.onnx"), Some("internal"))
                && message.starts_with("this panic was requested (src/cli/files.rs:")
                && message.ends_with("); this is a bug, please report it")
        };
        let others = found[key].as_array().map_or(0, Vec::len);
        if errors.len() != 1
            || !is_internal(&errors[0])
            || others != count
            || output.status.code() != Some(2)
        {
            failures.push(format!(
                "{arguments}: {}, {others} {key}, {errors:?}",
                output.status
            ));
        }
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if !stderr.contains("bad.onnx: this panic was requested") || stderr.contains("panicked") {
            failures.push(format!("{arguments}: standard error is {stderr}"));
        }
    }
    assert_eq!(
        fs::read_dir(folder.path().join("out")).map_or(0, Iterator::count),
        0,
        "a run with an error writes no model"
    );
    expect_no_failures(failures);
}

#[test]
fn the_document_is_all_that_standard_error_has_if_the_model_goes_to_standard_output() {
    let output = recast(folder().path(), "fold bad.onnx -o - --format json");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert_eq!(document(&output.stderr)["errors"][0]["code"], "internal");
}

#[test]
fn text_names_the_model_and_the_place_of_the_panic() {
    let folder = folder();
    fs::rename(
        folder.path().join("bad.onnx"),
        folder.path().join("other.onnx"),
    )
    .unwrap();
    fs::write(folder.path().join("bad.onnx"), "").unwrap();
    for arguments in [
        "fold bad.onnx --dry-run",
        "lint bad.onnx",
        "inspect bad.onnx",
        "inspect bad.onnx --format dot",
        "cast bad.onnx -o out.npy --to FLOAT16",
    ] {
        let output = recast(folder.path(), arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(
            (output.status.code(), output.stdout.len()),
            (Some(2), 0),
            "{arguments}: {stderr}"
        );
        assert!(
            stderr.contains("this panic was requested (src/cli/files.rs:"),
            "{arguments}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
    }
}
