//! Changes of precision, as models before and after.

mod cases;
mod command;
mod emulate;
mod erasure;
mod fewest;
mod options;
mod reports;
mod target;

use onnx_recast::precision::{Options, Report};
use onnx_recast::verify::Verification;
use onnx_recast::{DType, FoldOptions, Model, passes};

use crate::support::{difference, model};

/// The model of a text, in opset 21 if it states none.
pub fn parsed(text: &str) -> Model {
    let header = r#"<ir_version: 10, opset_import: ["": 21]> "#;
    let text = if text.trim_start().starts_with('<') {
        text.to_owned()
    } else {
        format!("{header}{text}")
    };
    Model::new(model(&text)).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The options of most tests: FLOAT16 wherever it is possible.
pub fn all() -> Options {
    Options::to(DType::Float16).policy(onnx_recast::precision::Policy::All)
}

/// A model after a change, and the report. What every change must fulfil is checked.
pub fn changed(
    name: &str,
    before: &Model,
    options: &Options,
    failures: &mut Vec<String>,
) -> (Model, Report) {
    let mut after = before.clone();
    let report = after
        .change_precision(options)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    // The result as it is read from a file.
    let after = Model::from_bytes(after.to_bytes().unwrap()).unwrap();
    let text = || onnx_recast::internals::onnx_text::print(after.proto());
    if let Err(error) = Verification::of_precision(before, &report).check(&after) {
        failures.push(format!("== {name}: erasure\n{error}\n{}", text()));
    }
    let mut again = after.clone();
    let second = again
        .change_precision(options)
        .unwrap_or_else(|error| panic!("{name}, again: {error}"));
    if !second.is_unchanged() {
        failures.push(format!("== {name}: a second run changes it\n{second:?}"));
        failures.extend(difference(name, after.proto(), again.proto()));
    }
    let tidy = ["redundant-casts", "merge-casts", "sink-casts"];
    let tidy = passes::selected(tidy).unwrap();
    let fixpoint = |model: &Model| {
        let mut model = model.clone();
        let report = model.run_passes(&tidy, &FoldOptions::default()).unwrap();
        (model, report)
    };
    // What the passes do to the original is not asked here.
    if fixpoint(before).1.passes.is_empty() {
        let (tidied, _) = fixpoint(&after);
        failures.extend(difference(
            &format!("{name}: passes change it"),
            after.proto(),
            tidied.proto(),
        ));
    }
    (after, report)
}

/// The number of casts of a model.
pub fn casts(model: &Model) -> usize {
    model
        .scopes()
        .flat_map(|scope| model.nodes(scope))
        .filter(|&node| model.is_cast(node))
        .count()
}
