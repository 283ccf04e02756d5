//! Numbers of constants as values of Rust, wherever a model stores them.

use half::{bf16, f16};
use onnx_recast::{
    Array, DType, ErrorKind, FoldOptions, Model, Number, Placement, SaveOptions, proto::TensorProto,
};

use crate::support::expect_no_failures;

fn round_trip<T: Number + PartialEq + std::fmt::Debug>(numbers: &[T], failures: &mut Vec<String>) {
    let array = Array::from_slice(&[numbers.len() as i64], numbers).unwrap();
    let read = Array::from_tensor(&array.clone().into_tensor("w")).unwrap();
    for array in [array, read] {
        let found = array.to_vec::<T>().unwrap();
        if array.dtype() != T::DTYPE || found != numbers {
            failures.push(format!("{}: {found:?}, not {numbers:?}", T::DTYPE));
        }
    }
}

#[test]
fn numbers_of_every_type_are_written_and_read() {
    let mut failures = Vec::new();
    round_trip(&[0.1, -1e300, f64::INFINITY], &mut failures);
    round_trip(&[0.1_f32, -1e30, f32::MIN_POSITIVE], &mut failures);
    round_trip(
        &[f16::from_f32(0.1), f16::MIN, f16::NEG_INFINITY],
        &mut failures,
    );
    round_trip(
        &[bf16::from_f32(0.1), bf16::MAX, bf16::NEG_ZERO],
        &mut failures,
    );
    round_trip(&[i64::MIN, -1, 0x0102_0304_0506_0708], &mut failures);
    round_trip(&[i32::MIN, -1, 0x0102_0304], &mut failures);
    round_trip(&[i16::MIN, -1, 0x0102], &mut failures);
    round_trip(&[i8::MIN, -1, 1], &mut failures);
    round_trip(&[u64::MAX, 0, 0x0102_0304_0506_0708], &mut failures);
    round_trip(&[u32::MAX, 0, 0x0102_0304], &mut failures);
    round_trip(&[u16::MAX, 0, 0x0102], &mut failures);
    round_trip(&[u8::MAX, 0, 1], &mut failures);
    round_trip(&[true, false, true], &mut failures);
    expect_no_failures(failures);
}

fn constant<'m>(model: &'m Model, name: &str) -> &'m TensorProto {
    let mut tensors = model.tensors().map(|(_, tensor)| tensor);
    tensors.find(|tensor| tensor.name() == name).unwrap()
}

#[test]
fn constants_are_read_from_fields_data_files_and_casts_that_were_folded() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float16[2] h, float[2] y)
        <float[2] w = {1.5, -2}, float16[2] n = {0.5, 65504}> {
        h = Cast <to = 10> (w) y = Add (x, w) i = Identity (n)
    }"#;
    let mut model = Model::from_text(text).unwrap();
    assert_eq!(
        model
            .read(constant(&model, "w"))
            .unwrap()
            .to_vec::<f32>()
            .unwrap(),
        [1.5, -2.0]
    );
    model.fold(&FoldOptions::default()).unwrap();
    let folded = model.read(constant(&model, "h")).unwrap();
    assert_eq!(
        folded.to_vec::<f16>().unwrap(),
        [1.5, -2.0].map(f16::from_f32)
    );

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let options = SaveOptions::default()
        .placement(Placement::File("weights.bin".to_owned()))
        .threshold(0);
    model.save_with(&path, &options).unwrap();
    let model = Model::open(&path).unwrap();
    for (name, expected) in [("h", [1.5, -2.0]), ("n", [0.5, 65504.0])] {
        let tensor = constant(&model, name);
        assert_eq!(
            model.read(tensor).unwrap().to_vec::<f16>().unwrap(),
            expected.map(f16::from_f32),
            "{name}"
        );
        let error = Array::from_tensor(tensor).unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (
                ErrorKind::BadExternalData,
                "the elements are in a data file, which Model::read reads"
            )
        );
    }
}

#[test]
fn numbers_of_another_type_or_number_are_refused() {
    let array = Array::from_slice(&[2], &[1.0_f32, 2.0]).unwrap();
    assert_eq!(
        array.to_vec::<f64>().unwrap_err().message(),
        "the elements are of type FLOAT, not DOUBLE"
    );
    let error = Array::from_slice(&[3], &[1.0_f32, 2.0]).unwrap_err();
    assert_eq!(
        error.message(),
        "an array of shape [3] does not have 2 elements"
    );
    let strings = Array::from_strings(&[1], vec!["a".into()]).unwrap();
    assert_eq!(strings.dtype(), DType::String);
    assert!(strings.to_vec::<u8>().is_err());
}
