//! Any model can be judged; fixes come to an end, in a model that loads and has nothing more to
//! fix.

use onnx_recast::internals::lint::Fixed;
use onnx_recast::internals::{fix_model, lint_model};
use onnx_recast::lint::{self, Baseline, Layer, Options, Safety, Selection};

pub fn run(bytes: &[u8]) {
    let all = Layer {
        select: Some(vec!["ALL".parse().expect("all rules have a name")]),
        ..Layer::default()
    };
    let selection = Selection::of([&all]);
    let options = Options::default()
        .selection(selection)
        .show_overlapping(true);
    for allowed in [Safety::Safe, Safety::Unsafe] {
        let Some(model) = super::model(bytes) else {
            return;
        };
        let found = lint_model(&model, "model.onnx", &options);
        let is_fixable =
            |one: &lint::Diagnostic| one.fix.as_ref().is_some_and(|fix| fix.safety <= allowed);
        let Fixed { model, fixed } =
            fix_model(model, "model.onnx", &options, allowed, &Baseline::default())
                .unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(found.iter().any(is_fixable), !fixed.is_empty());
        let file = super::written(model.proto());
        assert!(
            !fixed.is_empty() || file == bytes,
            "nothing was fixed, but the model is another"
        );
        let model = super::model(&file).expect("a fixed model loads");
        let left: Vec<_> = lint_model(&model, "model.onnx", &options)
            .into_iter()
            .filter(is_fixable)
            .collect();
        assert!(left.is_empty(), "a fixed model has more to fix: {left:?}");
    }
}
