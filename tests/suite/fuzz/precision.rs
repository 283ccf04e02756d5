//! A change of precision of anything ends in a report or in an error, and always in the same. The
//! written model loads; without what was reported, it is the model before; and a second change
//! finds nothing to do.

use onnx_cast::DType;
use onnx_recast::precision::{Io, OnOverflow, OnUnderflow, Options, Policy, Quantized, Report};
use onnx_recast::verify::Verification;
use onnx_recast::{Model, Runtime};

pub fn run(bytes: &[u8]) {
    let options = options_of(bytes);
    let change = || super::model(bytes).and_then(|model| change(model, &options));
    let Some((report, file)) = change() else {
        return;
    };
    assert!(
        change() == Some((report.clone(), file.clone())),
        "a second change of the same model gives something else"
    );
    let before = super::model(bytes).expect("it was a model before");
    let after = || super::model(&file).expect("a changed model loads");
    if let Err(faults) = Verification::of_precision(&before, &report).check(&after()) {
        panic!("{faults}");
    }
    let (again, same) = self::change(after(), &options).expect("a changed model can be changed");
    assert!(
        again.is_unchanged() && same == file,
        "a change of a changed model changes it: {again:?}"
    );
}

/// The report and the file; none if the model or the options are invalid, or the options refuse a
/// constant.
fn change(mut model: Model, options: &Options) -> Option<(Report, Vec<u8>)> {
    match model.change_precision(options) {
        Ok(report) => Some((report, super::written(model.proto()))),
        Err(error) => {
            assert!(
                !error.to_string().contains("the edits are refused"),
                "{error}"
            );
            None
        }
    }
}

/// Options that any change of the input changes.
fn options_of(bytes: &[u8]) -> Options {
    let mut number = bytes.iter().map(|&byte| usize::from(byte)).sum::<usize>();
    let mut below = |end: usize| {
        let chosen = number % end;
        number /= end;
        chosen
    };
    Options::to([DType::Float16, DType::Bfloat16, DType::Float][below(3)])
        .policy([Policy::All, Policy::Stable][below(2)])
        .io([Io::Keep, Io::Convert][below(2)])
        .on_overflow(
            [
                OnOverflow::Mask,
                OnOverflow::Keep,
                OnOverflow::Saturate,
                OnOverflow::Infinity,
                OnOverflow::Refuse,
            ][below(5)],
        )
        .on_underflow([OnUnderflow::Allow, OnUnderflow::Keep, OnUnderflow::Refuse][below(3)])
        .weights_only(below(4) == 3)
        .quantized([Quantized::Keep, Quantized::Scales][below(2)])
        .target([None, runtime("onnxruntime@1.32"), runtime("tensorrt@11.5")][below(3)])
        .emulate(below(3) == 2)
}

fn runtime(name: &str) -> Option<Runtime> {
    Some(name.parse().expect("a runtime"))
}

/// The models, and one of each version of each operator.
pub fn seeds(models: &[Vec<u8>]) -> Vec<Vec<u8>> {
    super::convert::seeds(models)
}
