use std::path::Path;

use super::neighbours::DECODED;
use super::{Options, Placement, SavePlan, Saved};
use crate::files::folders::Folder;
use crate::files::{Input, SaveTarget, open_with_data, save};
use crate::graph::Model;
use crate::onnx_text;
use crate::protobuf::schema::ModelProto;
use crate::protobuf::{Layout, Piece};
use crate::tensor::{Reference, moved_to_file};

const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[8] y, float[4] z)
    <float[8] large = {1, 2, 3, 4, 5, 6, 7, 8}, float[4] small = {9, 10, 11, 12}> { y = Identity (large) z = Identity (small) }"#;

/// A plan for a model, and the model's file.
fn plan(input: &Path, output: &Path, options: &Options) -> (SavePlan, Input) {
    let (opened, data) = open_with_data(input).unwrap();
    let model = Model::new(ModelProto::from_bytes(opened.bytes.clone()).unwrap())
        .unwrap()
        .with_data(data);
    (
        SavePlan::new(model, input, &SaveTarget::File(output.to_owned()), options).unwrap(),
        opened,
    )
}

fn write(input: &Path, output: &Path, options: &Options) -> Saved {
    let (plan, input) = plan(input, output, options);
    drop(input);
    plan.write().unwrap()
}

/// Windows refuses to replace and to remove a mapped file.
#[test]
fn no_file_is_mapped_when_it_is_replaced_or_removed() {
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
        prune_data: false,
    };
    let inline = Options {
        placement: Placement::Inline,
        threshold: 0,
        prune_data: true,
    };

    let old = |saved: Saved| (saved.removed_files, saved.unused_files);
    let nothing = (Vec::new(), Vec::new());

    let (refused, input) = plan(&a, &a, &to_file(0));
    let error = refused.write().unwrap_err().to_string();
    assert!(error.ends_with("a.onnx: is mapped"), "{error}");
    assert_eq!(
        (folder.list().unwrap(), folder.bytes("a.onnx").unwrap()),
        (vec!["a.onnx".into()], input.bytes)
    );

    assert_eq!(old(write(&a, &b, &to_file(0))), nothing);
    assert_eq!(folder.bytes("w.data").unwrap().len(), 80);
    // Other content under the same name: the data file and the old model, which uses it, are
    // replaced.
    assert_eq!(old(write(&a, &b, &to_file(20))), nothing);
    assert_eq!(folder.bytes("w.data").unwrap().len(), 32);
    // In place; the data file is no longer used.
    assert_eq!(
        write(&b, &b, &inline).removed_files,
        [folder.path().join("w.data")]
    );
    assert_eq!(folder.list().unwrap(), ["a.onnx", "b.onnx"]);
}

/// The files that are decoded when a model with many data files goes into one file, and they are
/// removed, beside as many other models.
fn decoded_to_prune(many: usize) -> usize {
    let folder = Folder::memory();
    let list = |text: &dyn Fn(usize) -> String| (0..many).map(text).collect::<Vec<_>>().join(", ");
    let values = list(&|index| format!("float[2] w{index} = {{{index}, 1}}"));
    let outputs = list(&|index| format!("w{index}"));
    let model = folder.path().join("m.onnx");
    let text =
        format!(r#"<ir_version: 10, opset_import: ["": 21]> g () => ({outputs}) <{values}> {{ }}"#);
    let mut proto = onnx_text::parse(&text).unwrap();
    for (index, tensor) in proto
        .graph
        .as_mut()
        .unwrap()
        .initializer
        .iter_mut()
        .enumerate()
    {
        let name = format!("w{index}.data");
        let bytes = [(index as f32).to_le_bytes(), 1_f32.to_le_bytes()].concat();
        save(
            Layout::of_pieces(vec![Piece::Bytes(bytes.into())]),
            &SaveTarget::File(folder.path().join(&name)),
        )
        .unwrap();
        *tensor = moved_to_file(
            tensor,
            &Reference {
                location: name,
                offset: 0,
                length: Some(8),
            },
        );
        save(
            Layout::of(&onnx_text::parse(MODEL).unwrap()),
            &SaveTarget::File(folder.path().join(format!("other{index}.onnx"))),
        )
        .unwrap();
    }
    save(Layout::of(&proto), &SaveTarget::File(model.clone())).unwrap();
    let before = DECODED.get();
    let saved = write(
        &model,
        &model,
        &Options {
            placement: Placement::Inline,
            threshold: 0,
            prune_data: true,
        },
    );
    assert_eq!(
        (saved.removed_files.len(), saved.unused_files.len()),
        (many, 0),
        "{saved:?}"
    );
    DECODED.get() - before
}

#[test]
fn removing_data_files_decodes_each_neighbour_once() {
    let [few, twice, four_times] = [8, 16, 32].map(decoded_to_prune);
    assert!(
        few > 0 && four_times - twice == 2 * (twice - few),
        "{few}, {twice} and {four_times} files are decoded"
    );
}
