//! A conversion of anything ends in a model of the wanted opset that loads, or in blockers, or in an error; and always in the same.

use onnx_recast::convert::{Conversion, NotConverted, Options, convert};
use onnx_recast::facts::LATEST_OPSET;

pub fn run(bytes: &[u8]) {
    // To an opset that any change of the input changes.
    let sum: i64 = bytes.iter().map(|&byte| i64::from(byte)).sum();
    let options = Options::to(1 + sum % LATEST_OPSET);
    let Some(model) = super::model(bytes) else { return };
    let again = convert(super::model(bytes).expect("it was a model before"), &options);
    match (convert(model, &options), again) {
        (Ok(Conversion { model, report }), Ok(again)) => {
            let file = super::written(model.proto());
            assert_eq!(report, again.report);
            assert!(file == super::written(again.model.proto()), "a second conversion gives something else");
            let model = super::model(&file).expect("a converted model loads");
            let Conversion { model, report } = convert(model, &options).expect("a converted model is in the opset already");
            assert_eq!((report.from, report.to), (options.opset, options.opset));
            assert!(super::written(model.proto()) == file, "a conversion of a converted model changes it: {report:?}");
        }
        (Err(NotConverted::Blocked { blockers, .. }), Err(NotConverted::Blocked { blockers: again, .. })) => {
            assert!(!blockers.is_empty(), "refused without a reason");
            assert_eq!(blockers, again);
        }
        (Err(NotConverted::Invalid(error)), Err(NotConverted::Invalid(again))) => assert_eq!(error, again),
        (first, second) => panic!("two conversions end differently: {first:?}, {second:?}"),
    }
}
