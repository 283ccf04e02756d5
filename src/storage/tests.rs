use std::path::Path;

use super::{Options, Placement, SavePlan, Saved, UnusedFile, plan_of};
use crate::files::folders::Folder;
use crate::files::{Input, SaveTarget, open_with_data, save};
use crate::graph::Model;
use crate::onnx_text;
use crate::protobuf::Layout;
use crate::protobuf::schema::ModelProto;

const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[8] y, float[4] z)
    <float[8] large = {1, 2, 3, 4, 5, 6, 7, 8}, float[4] small = {9, 10, 11, 12}> { y = Identity (large) z = Identity (small) }"#;

/// A plan for a model, and the model's file.
fn plan(input: &Path, output: &Path, options: &Options) -> (SavePlan, Input) {
    let (opened, data) = open_with_data(input).unwrap();
    let model = Model::new(ModelProto::from_bytes(opened.bytes.clone()).unwrap())
        .unwrap()
        .with_data(data);
    (
        plan_of(model, input, &SaveTarget::File(output.to_owned()), options).unwrap(),
        opened,
    )
}

fn write(input: &Path, output: &Path, options: &Options) -> Saved {
    let (plan, input) = plan(input, output, options);
    drop(input);
    plan.write_if(None).unwrap()
}

/// Windows refuses to replace a mapped file.
#[test]
fn no_file_is_mapped_when_it_is_replaced() {
    let folder = Folder::memory_that_keeps_files_in_use();
    let (a, b) = (folder.path().join("a.onnx"), folder.path().join("b.onnx"));
    save(
        Layout::of(&onnx_text::parse(MODEL).unwrap()),
        &SaveTarget::File(a.clone()),
    )
    .unwrap();
    let to_file = |threshold| Options {
        placement: Placement::File("w.data".to_owned()),
        threshold,
    };
    let inline = Options {
        placement: Placement::Inline,
        threshold: 0,
    };

    let (refused, input) = plan(&a, &a, &to_file(0));
    let error = refused.write_if(None).unwrap_err().to_string();
    assert!(error.ends_with("a.onnx: is mapped"), "{error}");
    assert_eq!(
        (folder.list().unwrap(), folder.bytes("a.onnx").unwrap()),
        (vec!["a.onnx".into()], input.bytes)
    );

    assert_eq!(write(&a, &b, &to_file(0)).unused_files, []);
    assert_eq!(folder.bytes("w.data").unwrap().len(), 80);
    // Other content under the same name: the data file and the old model, which uses it, are
    // replaced.
    assert_eq!(write(&a, &b, &to_file(20)).unused_files, []);
    assert_eq!(folder.bytes("w.data").unwrap().len(), 32);
    // In place; the data file is no longer used.
    let unused = UnusedFile {
        path: folder.path().join("w.data"),
        bytes: 32,
        reason: None,
    };
    assert_eq!(write(&b, &b, &inline).unused_files, [unused]);
    assert_eq!(folder.list().unwrap(), ["a.onnx", "b.onnx", "w.data"]);
}
