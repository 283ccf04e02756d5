//! Models from text, and what the tests do with them.

use onnx_recast::Model;
use onnx_recast::internals::{onnx_text, run_passes};
use onnx_recast::passes::{DEFAULT, Options, Pass, Report};
use onnx_recast::proto::{ModelProto, raw};

/// The model that a text describes.
pub fn model(text: &str) -> ModelProto {
    onnx_text::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A model with a training graph, which uses the names of the main graph.
pub fn trained(mut model: ModelProto, algorithm: &str) -> ModelProto {
    let algorithm = self::model(algorithm).graph.clone();
    model.training_info.push(
        raw::TrainingInfoProto {
            algorithm,
            ..Default::default()
        }
        .into(),
    );
    model
}

/// A model with its casts folded, and the report.
pub fn fold(model: ModelProto, options: &Options) -> (ModelProto, Report) {
    rewrite(model, DEFAULT, options)
}

/// A model after passes, and the report.
pub fn rewrite(model: ModelProto, passes: &[&dyn Pass], options: &Options) -> (ModelProto, Report) {
    let model = Model::new(model).expect("the test's model is sound");
    let (model, report) = run_passes(model, passes, options).expect("the passes run to their end");
    (model.into_proto(), report)
}

/// Two models as text, one below the other where they differ.
pub fn difference(name: &str, expected: &ModelProto, found: &ModelProto) -> Option<String> {
    let (expected, found) = (onnx_text::print(expected), onnx_text::print(found));
    (expected != found).then(|| format!("== {name}\n-- expected\n{expected}\n-- found\n{found}"))
}

/// Fails with all failures of a table at once.
pub fn expect_no_failures(failures: Vec<String>) {
    assert!(
        failures.is_empty(),
        "{} failed\n{}",
        failures.len(),
        failures.join("\n")
    );
}
