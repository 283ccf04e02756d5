//! A fold of anything ends in a model that loads and has nothing more to fold, or in an error; and
//! always in the same bytes. Constants grow no more than allowed.

use onnx_cast::Contested;
use onnx_recast::Model;
use onnx_recast::internals::passes::PassError;
use onnx_recast::internals::run_passes;
use onnx_recast::internals::tensor::Tensor;
use onnx_recast::passes::{DEFAULT, Options, Report};

pub fn run(bytes: &[u8]) {
    let everything = Options::default()
        .undefined(true)
        .contested(Some(Contested::Runtime));
    let all = [
        (Options::default(), None),
        (everything, None),
        (Options::default().max_growth(Some(0)), Some(0)),
    ];
    for (options, max_growth) in all {
        let Some((file, report)) = super::model(bytes).and_then(|model| fold(model, &options))
        else {
            continue;
        };
        let again = super::model(bytes).and_then(|model| fold(model, &options));
        assert!(
            again == Some((file.clone(), report)),
            "a second fold of the same model gives something else"
        );
        let model = super::model(&file).expect("a folded model loads");
        if let Some(growth) = max_growth {
            let before = super::model(bytes).expect("it was folded");
            assert!(
                constants(&model) <= constants(&before) + growth,
                "constants grow by more than {growth} bytes"
            );
        } else {
            let (again, report) = fold(model, &options).expect("a folded model can be folded");
            assert!(
                report.folded().is_empty(),
                "a folded model has more to fold: {:?}",
                report.folded()
            );
            assert!(again == file, "a fold of a folded model changes it");
        }
    }
}

/// The bytes of all constants.
fn constants(model: &Model) -> u64 {
    let constants = model
        .values()
        .filter_map(|value| model.constant(value).ok());
    constants
        .filter_map(|constant| Some(Tensor::read(&constant.tensor).ok()?.stored_bytes()))
        .sum()
}

fn fold(model: Model, options: &Options) -> Option<(Vec<u8>, Report)> {
    match run_passes(model, DEFAULT, options) {
        Ok((model, report)) => Some((super::written(model.proto()), report)),
        Err(PassError::Invalid(_)) => None,
        Err(fault @ (PassError::Refused { .. } | PassError::Contract { .. })) => panic!("{fault}"),
    }
}
