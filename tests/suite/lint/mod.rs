//! `recast lint`: rules, fixes, selection, formats, the command.

mod add_noqa;
#[path = "../../cases/file.rs"]
mod case_file;
pub mod command;
mod documentation;
mod fixes;
mod fixtures;
mod formats;
mod many;
mod noqa;
mod properties;
mod reports;
#[cfg(unix)]
mod rules_page;
mod selection;
mod targets;

use onnx_recast::Model;
use onnx_recast::internals::{all_rules, lint_model};
use onnx_recast::lint::{Diagnostic, Layer, Options, Selection};

use crate::support::model;

/// A selection of these codes alone; rules about runtimes have one.
pub fn selecting(codes: &str) -> Selection {
    let select = codes
        .split(',')
        .map(|code| code.parse().expect("a code"))
        .collect();
    let target = match codes {
        "RC501" => Some("onnxruntime@1.17"),
        "RC502" => Some("onnxruntime@1.31"),
        "RC504" => Some("openvino@2026.4"),
        _ => None,
    };
    let targets = target
        .map(|target| target.parse().expect("a runtime"))
        .into_iter()
        .collect();
    Selection::of([&Layer {
        select: Some(select),
        targets,
        ..Layer::default()
    }])
}

/// All findings of the rules of these codes.
pub fn options(codes: &str) -> Options {
    Options::default()
        .selection(selecting(codes))
        .show_overlapping(true)
}

/// What the rules of these codes find in a text.
pub fn find(text: &str, codes: &str) -> Vec<Diagnostic> {
    let model = Model::new(model(text)).unwrap_or_else(|error| panic!("{error}\n{text}"));
    lint_model(&model, "model.onnx", &options(codes))
}

#[test]
fn rules_are_sorted_and_codes_and_names_are_unique() {
    let codes: Vec<&str> = all_rules().map(|rule| rule.code).collect();
    assert!(codes.is_sorted_by(|left, right| left < right), "{codes:?}");
    let mut names: Vec<&str> = all_rules().map(|rule| rule.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all_rules().count());
    for rule in all_rules() {
        let file = format!("src/lint/rules/{}.rs", rule.name.replace('-', "_"));
        assert!(
            std::path::Path::new(&file).is_file(),
            "{} is not in {file}",
            rule.code
        );
        assert!(rule.docs.len() > 200, "{} has no documentation", rule.code);
    }
}
