//! Tensors in data files: where they may be, where they go, and what stays of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use onnx_recast::internals::files::folder_of;
use onnx_recast::internals::tensor::{Reference, Tensor, Values, is_external, moved_to_file};
use onnx_recast::proto::{
    GraphProto, ModelProto, NodeProto, StringStringEntryProto, TensorProto, raw,
};
use prost::Message;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::recast;
use crate::support::{expect_no_failures, model};
use crate::wire_tree::{Node, Tree};

/// Two weights that are cast, a large and a small one, and one that is not.
pub const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2000] x) => (float[2000] y, float16[2] z)
    <float[2000] large = {1.5}, float[2] small = {0.5, -2}, float[2000] kept = {3}>
    { a = Cast <to = 10> (large) z = Cast <to = 10> (small) b = Cast <to = 1> (a) c = Add (b, kept) y = Add (c, x) }"#;

/// The model of a text with `large` and `kept` filled up with numbers, so that no two of their
/// elements are alike.
pub fn numbered(text: &str) -> ModelProto {
    let mut model = model(&text.replace("= {1.5}", "= {0}").replace("= {3}", "= {0}"));
    let graph = model.graph.as_mut().unwrap();
    for (tensor, first) in graph.initializer.iter_mut().zip([1.5_f32, 0.0, 3.0]) {
        if tensor.name() != "small" {
            let raw = (0..2000)
                .flat_map(|index| (first + index as f32).to_le_bytes())
                .collect::<Vec<u8>>();
            *tensor = onnx_recast::internals::tensor::moved_to_model(tensor, raw.into());
        }
    }
    model
}

/// The values of every initializer of the main graph.
fn raw_values(model: &ModelProto) -> BTreeMap<String, Bytes> {
    let raw = |tensor: &TensorProto| match Tensor::read(tensor).unwrap().values().unwrap() {
        Values::Raw(raw) => raw,
        other => panic!("{other:?}"),
    };
    let graph = model.graph.as_ref().unwrap();
    graph
        .initializer
        .iter()
        .map(|tensor| (tensor.name().to_owned(), raw(tensor)))
        .collect()
}

/// Writes a model whose initializers all stand in `weights.data` beside it, one after the other.
pub fn write_external(folder: &Path, name: &str, model: &ModelProto) -> PathBuf {
    fs::create_dir_all(folder).unwrap();
    let mut model = model.clone();
    let values = raw_values(&model);
    let mut data = Vec::new();
    for tensor in &mut model.graph.as_mut().unwrap().initializer {
        let bytes = &values[tensor.name()];
        let reference = Reference {
            location: "weights.data".to_owned(),
            offset: data.len() as u64,
            length: Some(bytes.len() as u64),
        };
        data.extend_from_slice(bytes);
        *tensor = moved_to_file(tensor, &reference);
    }
    fs::write(folder.join("weights.data"), data).unwrap();
    write_model(folder.join(name), &model)
}

fn write_model(path: PathBuf, model: &ModelProto) -> PathBuf {
    fs::write(&path, model.encode_to_vec()).unwrap();
    path
}

fn read_model(path: &Path) -> ModelProto {
    ModelProto::decode(fs::read(path).unwrap().as_slice()).unwrap()
}

/// Where an initializer of a written model stands: `model` or the name of a file, and its values;
/// read with plain file access.
fn initializers(path: &Path) -> BTreeMap<String, (String, Vec<u8>)> {
    let model = read_model(path);
    let look = |tensor: &TensorProto| {
        if !is_external(tensor) {
            let Values::Raw(raw) = Tensor::read(tensor).unwrap().values().unwrap() else {
                panic!("no numbers")
            };
            return ("model".to_owned(), raw.to_vec());
        }
        let Reference {
            location,
            offset,
            length,
        } = Reference::read(tensor).unwrap();
        let data = fs::read(folder_of(path).join(&location)).unwrap();
        let end = length.map_or(data.len(), |length| (offset + length) as usize);
        (location, data[offset as usize..end].to_vec())
    };
    let graph = model.graph.as_ref().unwrap();
    graph
        .initializer
        .iter()
        .map(|tensor| (tensor.name().to_owned(), look(tensor)))
        .collect()
}

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// Runs `recast fold` and expects it to succeed.
fn fold(arguments: &[&str]) -> String {
    let output = recast(&[&["fold"], arguments].concat());
    let (stdout, stderr) = (
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    );
    assert_eq!(
        (output.status.code(), stderr.as_str()),
        (Some(0), ""),
        "fold {arguments:?}"
    );
    stdout
}

/// Runs `recast fold` and expects it to fail; returns what it says.
fn refused(arguments: &[&str]) -> String {
    let output = recast(&[&["fold"], arguments].concat());
    assert_eq!(output.status.code(), Some(2), "fold {arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// What `large`, `small` and `kept` are after the fold: `b`, `z`, `kept`.
fn folded_values() -> BTreeMap<&'static str, Vec<u8>> {
    let float = |first: f32| {
        (0..2000)
            .flat_map(|index| (first + index as f32).to_le_bytes())
            .collect::<Vec<u8>>()
    };
    // FLOAT16 holds half numbers below 1024 and whole ones below 2048; ties go to the even one.
    let half = |number: f32| match number {
        ..1024.0 => number,
        _ => number.round_ties_even(),
    };
    let large = (0..2000)
        .flat_map(|index| half(1.5 + index as f32).to_le_bytes())
        .collect();
    BTreeMap::from([
        ("b", large),
        ("z", vec![0x00, 0x38, 0x00, 0xc0]),
        ("kept", float(3.0)),
    ])
}

#[test]
fn every_placement_puts_the_same_values_where_it_says() {
    type Case<'c> = (&'c str, &'c [&'c str], [(&'c str, &'c str); 3]);
    let cases: [Case; 8] = [
        (
            "in/out.onnx",
            &[],
            [
                ("b", "out.onnx.data"),
                ("z", "model"),
                ("kept", "weights.data"),
            ],
        ),
        (
            "out.onnx",
            &[],
            [
                ("b", "out.onnx.data"),
                ("z", "model"),
                ("kept", "out.onnx.data"),
            ],
        ),
        (
            "out.onnx",
            &["--external-threshold", "0"],
            [
                ("b", "out.onnx.data"),
                ("z", "out.onnx.data"),
                ("kept", "out.onnx.data"),
            ],
        ),
        (
            "in/out.onnx",
            &["--external-data", "inline"],
            [("b", "model"), ("z", "model"), ("kept", "model")],
        ),
        (
            "out.onnx",
            &["--external-data", "inline"],
            [("b", "model"), ("z", "model"), ("kept", "model")],
        ),
        (
            "out.onnx",
            &["--external-data", "d.bin"],
            [("b", "d.bin"), ("z", "model"), ("kept", "d.bin")],
        ),
        (
            "in/out.onnx",
            &["--external-data", "./sub/d"],
            [("b", "sub/d"), ("z", "model"), ("kept", "sub/d")],
        ),
        (
            "in/out.onnx",
            &["--external-data", "d", "--external-threshold", "8K"],
            [("b", "model"), ("z", "model"), ("kept", "model")],
        ),
    ];
    let mut failures = Vec::new();
    for (output, options, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let input = write_external(&folder.path().join("in"), "in.onnx", &numbered(MODEL));
        let output = folder.path().join(output);
        let before = fs::read(folder.path().join("in/weights.data")).unwrap();
        fold(&[&[text(&input), "-o", text(&output)], options].concat());
        let found = initializers(&output);
        let values = folded_values();
        for (name, place) in expected {
            match found.get(name) {
                Some((found, bytes)) if found == place && *bytes == values[name] => {}
                Some((found, _)) => failures.push(format!(
                    "{options:?}: {name} is in {found}, or has other values"
                )),
                None => failures.push(format!("{options:?}: {name} is missing")),
            }
        }
        if before != fs::read(folder.path().join("in/weights.data")).unwrap() {
            failures.push(format!("{options:?}: the input's data changed"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_new_data_file_is_aligned_and_holds_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(&folder.path().join("in"), "in.onnx", &numbered(MODEL));
    let output = folder.path().join("out.onnx");
    fold(&[
        text(&input),
        "-o",
        text(&output),
        "--external-threshold",
        "0",
    ]);
    let model = read_model(&output);
    let mut ranges: Vec<(u64, u64)> = (model.graph.as_ref().unwrap().initializer.iter())
        .map(|tensor| Reference::read(tensor).unwrap())
        .map(|reference| (reference.offset, reference.length.unwrap()))
        .collect();
    ranges.sort_unstable();
    let mut end = 0;
    for (offset, length) in ranges {
        let alignment = if length >= 4096 { 4096 } else { 64 };
        assert_eq!(offset, u64::next_multiple_of(end, alignment));
        end = offset + length;
    }
    assert_eq!(
        end,
        fs::metadata(folder.path().join("out.onnx.data"))
            .unwrap()
            .len()
    );
}

#[test]
fn a_model_that_nothing_changes_takes_its_data_files_along_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(&folder.path().join("in"), "in.onnx", &numbered(MODEL));
    let output = folder.path().join("out.onnx");
    for _ in 0..2 {
        fold(&[text(&input), "-o", text(&output), "--passes", "none"]);
        assert_eq!(fs::read(&output).unwrap(), fs::read(&input).unwrap());
        assert_eq!(files(folder.path()), ["in", "out.onnx", "weights.data"]);
        assert_eq!(
            fs::read(folder.path().join("weights.data")).unwrap(),
            fs::read(folder.path().join("in/weights.data")).unwrap()
        );
    }
    // Something else has the name: it stays, and the model gets a data file of its own.
    fs::write(folder.path().join("weights.data"), "mine").unwrap();
    fold(&[text(&input), "-o", text(&output), "--passes", "none"]);
    assert_eq!(
        fs::read(folder.path().join("weights.data")).unwrap(),
        b"mine"
    );
    assert_eq!(
        initializers(&output)["kept"],
        ("out.onnx.data".to_owned(), folded_values()["kept"].clone())
    );
}

#[test]
fn keys_of_a_tensor_that_stays_are_kept_and_those_of_one_that_moves_fit_its_new_place() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = numbered(MODEL);
    let input = write_external(&folder.path().join("in"), "in.onnx", &model);
    model = read_model(&input);
    let entry = |key: &str, value: &str| {
        StringStringEntryProto::from(raw::StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value.to_owned()),
        })
    };
    let kept = &mut model.graph.as_mut().unwrap().initializer[2];
    kept.external_data.extend([
        entry("checksum", "0badc0de"),
        entry("basepath", "x"),
        entry("vendor.note", "n"),
    ]);
    let kept = kept.clone();
    write_model(input.clone(), &model);
    let keys = |path: &Path| {
        let model = read_model(path);
        let tensor = model
            .graph
            .as_ref()
            .unwrap()
            .initializer
            .iter()
            .find(|tensor| tensor.name() == "kept")
            .unwrap()
            .clone();
        let keys: Vec<String> = tensor
            .external_data
            .iter()
            .map(|entry| entry.key().to_owned())
            .collect();
        (tensor, keys.join(" "))
    };
    let beside = folder.path().join("in/out.onnx");
    fold(&[text(&input), "-o", text(&beside)]);
    assert_eq!(keys(&beside).0, kept);
    let elsewhere = folder.path().join("out.onnx");
    fold(&[text(&input), "-o", text(&elsewhere)]);
    assert_eq!(keys(&elsewhere).1, "location offset length vendor.note");
    let inside = folder.path().join("inside.onnx");
    fold(&[
        text(&input),
        "-o",
        text(&inside),
        "--external-data",
        "inline",
    ]);
    assert_eq!(keys(&inside).1, "vendor.note");
}

#[test]
fn data_that_a_model_no_longer_needs_stays_and_is_reported() {
    let all_cast = MODEL
        .replace("Add (b, kept)", "Add (b, k) ")
        .replace("b = Cast", "k = Cast <to = 10> (kept) b = Cast");
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(folder.path(), "m.onnx", &numbered(&all_cast));
    let report = fold(&[text(&input), "--in-place"]);
    assert_eq!(
        files(folder.path()),
        ["m.onnx", "m.onnx.data", "weights.data"]
    );
    assert!(
        report.contains("unused data file")
            && report.contains("weights.data (15.6 KiB): delete it if no other model uses it"),
        "{report}"
    );
    assert_eq!(
        initializers(&input)["b"],
        ("m.onnx.data".to_owned(), folded_values()["b"].clone())
    );
    // Nothing to fold: nothing is touched.
    let before = fs::read(&input).unwrap();
    fold(&[text(&input), "--in-place"]);
    assert_eq!(
        (files(folder.path()).len(), fs::read(&input).unwrap()),
        (3, before)
    );
}

#[test]
fn a_model_that_is_its_own_data_file_is_not_removed_when_nothing_refers_to_it_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let mut own = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float w = {0}> { h = Cast <to = 10> (w) }"#,
    );
    let tensor = &mut own.graph.as_mut().unwrap().initializer[0];
    *tensor = moved_to_file(
        tensor,
        &Reference {
            location: "m.onnx".to_owned(),
            offset: 0,
            length: Some(4),
        },
    );
    let input = write_model(folder.path().join("m.onnx"), &own);
    fold(&[text(&input), "--in-place"]);
    assert_eq!(initializers(&input).len(), 1);
    assert_eq!(files(folder.path()), ["m.onnx"]);
}

#[test]
fn data_that_another_model_needs_stays() {
    let all_cast = MODEL
        .replace("Add (b, kept)", "Add (b, k) ")
        .replace("b = Cast", "k = Cast <to = 10> (kept) b = Cast");
    let folder = tempfile::tempdir().unwrap();
    let first = write_external(folder.path(), "first.onnx", &numbered(&all_cast));
    let second = write_external(folder.path(), "second.onnx", &numbered(&all_cast));
    let before = initializers(&second);
    fold(&[text(&first), "--in-place"]);
    assert_eq!(initializers(&second), before);
    fold(&[text(&second), "--in-place"]);
    assert_eq!(
        files(folder.path()),
        [
            "first.onnx",
            "first.onnx.data",
            "second.onnx",
            "second.onnx.data",
            "weights.data"
        ]
    );
    // Both in one run.
    let first = write_external(folder.path(), "first.onnx", &numbered(&all_cast));
    let second = write_external(folder.path(), "second.onnx", &numbered(&all_cast));
    fold(&[text(&first), text(&second), "--in-place"]);
    assert_eq!(
        initializers(&first),
        initializers(&second)
            .into_iter()
            .map(|(name, (file, bytes))| (name, (file.replace("second", "first"), bytes)))
            .collect()
    );
}

#[test]
fn an_output_that_is_written_again_never_mixes_old_and_new() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(&folder.path().join("in"), "in.onnx", &numbered(MODEL));
    let output = folder.path().join("out/out.onnx");
    fs::create_dir(folder.path().join("out")).unwrap();
    let out = folder.path().join("out");
    let run = || fold(&[text(&input), "-o", text(&output)]);
    run();
    let first = fs::read(&output).unwrap();
    run();
    assert_eq!(
        (files(&out), fs::read(&output).unwrap()),
        (
            vec!["out.onnx".to_owned(), "out.onnx.data".to_owned()],
            first
        )
    );
    let other = numbered(&MODEL.replace(
        "c = Add (b, kept)",
        "k = Cast <to = 10> (kept) c = Add (b, k)",
    ));
    write_external(&folder.path().join("in"), "in.onnx", &other);
    run();
    assert_eq!(
        files(&out),
        ["out.onnx", "out.onnx.1.data", "out.onnx.data"],
        "new data gets a new name"
    );
    run();
    assert_eq!(files(&out).len(), 3);
    assert_eq!(initializers(&output)["b"].1, folded_values()["b"]);
    // A name that the user wants is taken from nobody else.
    fs::copy(&output, out.join("other.onnx")).unwrap();
    write_external(&folder.path().join("in"), "in.onnx", &numbered(MODEL));
    let message = refused(&[
        text(&input),
        "-o",
        text(&output),
        "--external-data",
        "out.onnx.1.data",
    ]);
    assert!(
        message.contains("other.onnx stores tensors in this file"),
        "{message}"
    );
    fs::remove_file(out.join("other.onnx")).unwrap();
    fold(&[
        text(&input),
        "-o",
        text(&output),
        "--external-data",
        "out.onnx.1.data",
    ]);
    assert_eq!(
        initializers(&output)["b"],
        ("out.onnx.1.data".to_owned(), folded_values()["b"].clone())
    );
    let message = refused(&[
        text(&output),
        "--in-place",
        "--external-data",
        "out.onnx.1.data",
        "--external-threshold",
        "0",
    ]);
    assert!(
        message.contains("out.onnx stores tensors in this file"),
        "{message}"
    );
}

#[test]
fn a_data_file_takes_the_place_of_no_model_and_of_no_other_data() {
    let folder = tempfile::tempdir().unwrap();
    let first = write_model(folder.path().join("first.onnx"), &numbered(MODEL));
    let second = write_model(
        folder.path().join("second.onnx"),
        &numbered(&MODEL.replace("-2", "4")),
    );
    fs::copy(&second, folder.path().join("unnamed")).unwrap();
    let before = [&first, &second].map(|path| fs::read(path).unwrap());
    let output = folder.path().join("out.onnx");
    for name in ["first.onnx", "second.onnx", "unnamed"] {
        let message = refused(&[text(&first), "-o", text(&output), "--external-data", name]);
        assert!(
            message.contains(&format!("'{name}': is a model")),
            "{message}"
        );
    }
    // With any spelling of the two paths.
    let other = folder.path().join(".").join("second.onnx");
    for inputs in [[text(&first), text(&other)], [text(&second), text(&other)]] {
        let message = refused(&[&inputs[..], &["--in-place", "--external-data", "w"]].concat());
        assert!(message.contains("two models would"), "{message}");
    }
    // An invalid name is an error, with or without tensors to be moved.
    let message = refused(&[
        text(&first),
        "-o",
        text(&output),
        "--external-data",
        "../w",
        "--external-threshold",
        "1G",
    ]);
    assert!(
        message.contains("'../w': is not the path of a data file"),
        "{message}"
    );
    assert_eq!(
        [&first, &second].map(|path| fs::read(path).unwrap()),
        before
    );
    assert_eq!(
        files(folder.path()),
        ["first.onnx", "second.onnx", "unnamed"]
    );
}

#[test]
fn the_default_of_an_attribute_of_a_function_may_be_in_a_data_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut model = numbered(&format!(
        r#"{} <domain: "d", opset_import: ["": 21]> f <v: tensor = float[2] {{5, 6}}> () => (c) {{ c = Constant <value: tensor = @v> () }}"#,
        MODEL.replace("[\"\": 21]", "[\"\": 21, \"d\": 1]")
    ));
    let input = write_external(folder.path(), "m.onnx", &model);
    let default = |model: &mut ModelProto| model.functions[0].attribute_proto[0].t.clone().unwrap();
    let tensor = default(&mut model);
    let moved = moved_to_file(
        &tensor,
        &Reference {
            location: "weights.data".to_owned(),
            offset: 0,
            length: Some(8),
        },
    );
    let mut proto = read_model(&input);
    proto.functions[0].attribute_proto[0].t = Some(moved);
    write_model(input.clone(), &proto);
    let expected = fs::read(folder.path().join("weights.data")).unwrap()[..8].to_vec();
    // Elsewhere it follows; where it is, its file stays; inline it is in the model.
    let elsewhere = folder.path().join("elsewhere.d/m.onnx");
    fs::create_dir(elsewhere.parent().unwrap()).unwrap();
    fold(&[text(&input), "-o", text(&elsewhere)]);
    let Reference {
        location, offset, ..
    } = Reference::read(&default(&mut read_model(&elsewhere))).unwrap();
    assert_eq!(
        fs::read(elsewhere.with_file_name(location)).unwrap()[offset as usize..][..8],
        expected
    );
    fold(&[text(&input), "--in-place"]);
    assert!(
        files(folder.path()).contains(&"weights.data".to_owned()),
        "the default is still there"
    );
    let report = fold(&[text(&input), "--in-place", "--external-data", "inline"]);
    assert!(
        report.contains("unused data file") && report.contains("weights.data (15.6 KiB)"),
        "{report}"
    );
    let Values::Raw(raw) = Tensor::read(&default(&mut read_model(&input)))
        .unwrap()
        .values()
        .unwrap()
    else {
        panic!("no numbers")
    };
    assert_eq!(raw, expected);
}

#[test]
fn all_large_initializers_move_however_they_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    // Type, field and bytes of an element of 300 numbers that are stored one by one.
    let typed = [
        ("int32", 6, 5, 4),
        ("int8", 3, 5, 1),
        ("float16", 10, 5, 2),
        ("int64", 7, 7, 8),
        ("uint64", 13, 11, 8),
    ];
    let mut proto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[1] y) <float[1] x = {1}> { y = Neg (x) }"#,
    );
    for (name, dtype, field, _) in typed {
        let numbers = (0..300_u64).map(|number| (field, Node::Varint(number % 100)));
        let head = [
            (1, Node::Varint(300)),
            (2, Node::Varint(dtype)),
            (8, Node::Bytes(name.into())),
        ];
        let tensor = Tree(head.into_iter().chain(numbers).collect()).write();
        proto
            .graph
            .as_mut()
            .unwrap()
            .initializer
            .push(TensorProto::decode(tensor.as_slice()).unwrap());
    }
    let input = write_model(folder.path().join("m.onnx"), &proto);
    let output = folder.path().join("out.onnx");
    fold(&[
        text(&input),
        "-o",
        text(&output),
        "--external-data",
        "w",
        "--external-threshold",
        "300",
    ]);
    let found = initializers(&output);
    let mut failures = Vec::new();
    for (name, _, _, bytes) in typed {
        let raw = (0..300_u64).flat_map(|number| match name {
            "float16" => ((number % 100) as u16).to_le_bytes().to_vec(),
            _ => (number % 100).to_le_bytes()[..bytes].to_vec(),
        });
        if found[name] != ("w".to_owned(), raw.collect::<Vec<u8>>()) {
            failures.push(format!(
                "{name} is in {}, or has other values",
                found[name].0
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn data_that_stays_as_it_is_need_not_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(
        folder.path(),
        "m.onnx",
        &numbered(&MODEL.replace("a = Cast <to = 10> (large)", "a = Neg (large)")),
    );
    let mut proto = read_model(&input);
    let small = &mut proto.graph.as_mut().unwrap().initializer[1];
    *small = onnx_recast::internals::tensor::moved_to_model(small, vec![0; 8].into());
    write_model(input.clone(), &proto);
    fs::remove_file(folder.path().join("weights.data")).unwrap();
    let message = refused(&[text(&input), "-o", text(&folder.path().join("out.onnx"))]);
    assert!(message.contains("No such file"), "{message}");
    let before = proto.graph.clone().unwrap();
    let report = fold(&[text(&input), "--in-place"]);
    assert!(report.contains("folded 1 "), "{report}");
    let after = read_model(&input).graph.clone().unwrap();
    let casts_of = |name: &str| {
        let is_cast = |node: &&NodeProto| node.op_type() == "Cast" && node.input == [name];
        after.node.iter().filter(is_cast).count()
    };
    assert_eq!((casts_of("small"), casts_of("a")), (0, 1), "{report}");
    let large = |graph: &GraphProto| {
        let mut tensors = graph.initializer.iter();
        tensors.find(|one| one.name() == "large").cloned()
    };
    assert_eq!(large(&after), large(&before));
}

#[test]
fn shared_ranges_are_written_once() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(&folder.path().join("in"), "in.onnx", &numbered(MODEL));
    let mut proto = read_model(&input);
    let graph = proto.graph.as_mut().unwrap();
    // `kept` again under two more names, once a few elements later, and once a part of it.
    for (name, offset, elements) in [
        ("same", 8008, 2000),
        ("later", 8008 - 400, 1000),
        ("part", 8400, 10),
    ] {
        let mut tensor = graph.initializer[2].clone();
        tensor.name = Some(name.to_owned());
        tensor.dims = vec![elements];
        let length = Some(elements as u64 * 4);
        graph.initializer.push(moved_to_file(
            &tensor,
            &Reference {
                location: "weights.data".to_owned(),
                offset,
                length,
            },
        ));
    }
    write_model(input.clone(), &proto);
    let before = initializers(&input);
    let output = folder.path().join("out.onnx");
    fold(&[text(&input), "-o", text(&output)]);
    let after = initializers(&output);
    for name in ["kept", "same", "later", "part"] {
        assert_eq!(after[name].1, before[name].1, "{name}");
    }
    let length = fs::metadata(folder.path().join("out.onnx.data"))
        .unwrap()
        .len();
    assert!(length < 8000 + 400 + 8000 + 2 * 4096, "{length} bytes");
}

/// A model with one external tensor `w` of 10 floats that is cast, with these keys.
#[cfg(unix)]
fn with_keys(keys: &[(&str, &str)]) -> ModelProto {
    let mut proto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[10] h) <float[10] w = {0,0,0,0,0,0,0,0,0,0}>
        { h = Cast <to = 10> (w) }"#,
    );
    let tensor = &mut proto.graph.as_mut().unwrap().initializer[0];
    *tensor = moved_to_file(
        tensor,
        &Reference {
            location: "x".to_owned(),
            offset: 0,
            length: None,
        },
    );
    let entries = keys.iter().map(|(key, value)| {
        StringStringEntryProto::from(raw::StringStringEntryProto {
            key: Some((*key).to_owned()),
            value: Some((*value).to_owned()),
        })
    });
    tensor.external_data = entries.collect();
    proto
}

#[cfg(unix)]
#[test]
fn a_location_leads_to_a_regular_file_in_the_models_folder_or_nowhere() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::create_dir(&outside).unwrap();
    for file in [inside.join("w"), inside.join("sub/w"), outside.join("w")] {
        fs::write(file, [0; 40]).unwrap();
    }
    fs::write(inside.join("empty"), []).unwrap();
    symlink(inside.join("w"), inside.join("link to w")).unwrap();
    symlink(outside.join("w"), inside.join("link out")).unwrap();
    symlink(&outside, inside.join("folder out")).unwrap();
    symlink("loop", inside.join("loop")).unwrap();
    symlink("/dev/zero", inside.join("zero")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(inside.join("fifo"))
            .status()
            .unwrap()
            .success()
    );
    let absolute = outside.join("w").display().to_string();
    let absolute_inside = inside.join("w").display().to_string();
    let at = |location: &str| vec![("location".to_owned(), location.to_owned())];
    let with =
        |key: &str, value: &str| [at("w"), vec![(key.to_owned(), value.to_owned())]].concat();
    let long = "a/".repeat(3000) + "w";
    // What the message contains; nothing where the tensor is read.
    let cases: Vec<(Vec<(String, String)>, &str)> = vec![
        (at("w"), ""),
        (at("./w"), ""),
        (at("sub/w"), ""),
        (at("sub/../w"), ""),
        (at("link to w"), ""),
        (at("../inside/w"), ""),
        (with("length", "40"), ""),
        (with("checksum", "of something else"), ""),
        (at("../outside/w"), "outside the model's folder"),
        (at("sub/../../outside/w"), "outside the model's folder"),
        (at("link out"), "outside the model's folder"),
        (at("folder out/w"), "outside the model's folder"),
        (at(&absolute), "is an absolute path"),
        (at(&absolute_inside), "is an absolute path"),
        (at("/dev/zero"), "is an absolute path"),
        (at("zero"), "outside the model's folder"),
        (at("fifo"), "is not a regular file"),
        (at("sub"), "is not a regular file"),
        (at("."), "is not a regular file"),
        (at(".."), "outside the model's folder"),
        (at("loop"), "symbolic links"),
        (at("missing"), "No such file"),
        (at("missing/../w"), "No such file"),
        (at("w/w"), "Not a directory"),
        (at("w\0x"), "data file 'w\\0x'"),
        (at(&long), "a/a/…': No such file"),
        (at(""), "'location' is missing"),
        (
            vec![("offset".to_owned(), "0".to_owned())],
            "'location' is missing",
        ),
        (
            at("empty"),
            "takes 40 bytes from byte 0 on, but the file 'empty' has 0",
        ),
        (
            with("offset", "1"),
            "takes 40 bytes from byte 1 on, but the file 'w' has 40",
        ),
        (
            with("offset", "-1"),
            "'offset' is '-1', not a number of bytes",
        ),
        (
            with("offset", "18446744073709551615"),
            "takes 40 bytes from byte 18446744073709551615 on",
        ),
        (
            with("offset", "18446744073709551616"),
            "'offset' is '18446744073709551616', not a number of bytes",
        ),
        (
            with("offset", "0x0"),
            "'offset' is '0x0', not a number of bytes",
        ),
        (
            with("length", "39"),
            "'length' holds 39 bytes, but FLOAT[10] needs 40",
        ),
        (
            with("length", "41"),
            "'length' holds 41 bytes, but FLOAT[10] needs 40",
        ),
        (
            with("length", "-40"),
            "'length' is '-40', not a number of bytes",
        ),
    ];
    let mut failures = Vec::new();
    for (keys, expected) in cases {
        let keys: Vec<(&str, &str)> = keys
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_str()))
            .collect();
        let input = write_model(inside.join("m.onnx"), &with_keys(&keys));
        let output = folder.path().join("out.onnx");
        for arguments in [
            &["fold"][..],
            &["convert", "--opset", "22", "--external-data", "inline"],
        ] {
            let run = recast(&[arguments, &[text(&input), "-o", text(&output)]].concat());
            let message = String::from_utf8_lossy(&run.stderr);
            match (expected, run.status.code(), output.exists()) {
                ("", Some(0), true) => fs::remove_file(&output).unwrap(),
                (part, Some(2), false)
                    if !part.is_empty() && message.contains(part) && message.contains("m.onnx") => {
                }
                (_, code, written) => failures.push(format!(
                    "{arguments:?} {keys:?}: exit {code:?}, written: {written}: {message}"
                )),
            }
            fs::remove_file(folder.path().join("out.onnx.data")).ok();
        }
        // A look at the header opens no data file; a rule says which would not be opened.
        let inspected = recast(&["inspect", text(&input)]).status.code();
        let run = recast(&[
            "lint",
            text(&input),
            "--isolated",
            "--select",
            "ALL",
            "--ignore",
            "RC4",
            "--format",
            "concise",
        ]);
        let finding = String::from_utf8_lossy(&run.stdout).contains("RC207");
        match (expected, inspected, run.status.code(), finding) {
            ("", Some(0), Some(0), false) | (_, Some(0), Some(1), true) => {}
            // Keys that contradict the tensor are an error of the model for every command.
            (part, Some(2), Some(2), false) if part.starts_with('\'') => {}
            (_, inspected, code, finding) => {
                failures.push(format!("{keys:?}: inspect exits with {inspected:?}, lint with {code:?}, RC207: {finding}"));
            }
        }
    }
    expect_no_failures(failures);
}

#[cfg(unix)]
#[test]
fn folders_can_be_allowed_and_a_linked_model_has_two() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
    fs::create_dir(&inside).unwrap();
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("w"), [0; 40]).unwrap();
    let out = folder.path().join("out.onnx");
    let beside = write_model(outside.join("m.onnx"), &with_keys(&[("location", "w")]));
    for location in [
        "../outside/w".to_owned(),
        outside.join("w").display().to_string(),
    ] {
        let input = write_model(
            inside.join("m.onnx"),
            &with_keys(&[("location", &location)]),
        );
        let message = refused(&[text(&input), "-o", text(&out)]);
        assert!(
            message.ends_with("; use --allow-data-dir DIR to allow its folder\n"),
            "{message}"
        );
        let json = recast(&["fold", text(&input), "--dry-run", "--format", "json"]).stdout;
        assert!(
            String::from_utf8(json)
                .unwrap()
                .contains(r#""code": "bad-external-data""#),
            "fold of {location}"
        );
        fold(&[
            text(&input),
            "-o",
            text(&out),
            "--allow-data-dir",
            text(&outside),
        ]);
        refused(&[
            text(&input),
            "-o",
            text(&out),
            "--allow-data-dir",
            text(&inside),
        ]);
        let code = |arguments: &[&str]| recast(arguments).status.code();
        let (lint, diff) = (
            ["lint", text(&input), "--isolated", "--select", "RC207"],
            ["diff", text(&input), text(&beside)],
        );
        let allow = ["--allow-data-dir", text(&outside)];
        assert_eq!(
            [code(&lint), code(&[&lint[..], &allow].concat())],
            [Some(1), Some(0)],
            "lint of {location}"
        );
        let message = String::from_utf8(recast(&diff).stderr).unwrap();
        assert!(
            message.ends_with("; use --allow-data-dir DIR to allow its folder\n"),
            "{message}"
        );
        assert_eq!(
            [code(&diff), code(&[&diff[..], &allow].concat())],
            [Some(2), Some(1)],
            "diff of {location}"
        );
    }
    let message = refused(&[
        text(&inside.join("m.onnx")),
        "-o",
        text(&out),
        "--allow-data-dir",
        "missing",
    ]);
    assert!(message.contains("the data folder missing"), "{message}");
    // As in a cache of downloads: the model and its data are links to files with other names.
    write_model(outside.join("blob"), &with_keys(&[("location", "data")]));
    symlink("../outside/blob", inside.join("linked.onnx")).unwrap();
    symlink("../outside/w", inside.join("data")).unwrap();
    fold(&[text(&inside.join("linked.onnx")), "-o", text(&out)]);
}

#[test]
fn a_pipe_has_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(&folder.path().join("in"), "in.onnx", &numbered(MODEL));
    let from_pipe = |output: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_recast"));
        command
            .args(["fold", "-", "-o", output, "--format", "json"])
            .stdin(fs::File::open(&input).unwrap());
        command.output().unwrap()
    };
    // From a pipe to a pipe: the model passes, and its casts stay.
    let piped = from_pipe("-");
    assert_eq!(
        (
            piped.status.code(),
            piped.stdout == fs::read(&input).unwrap()
        ),
        (Some(0), true)
    );
    let report: Value = serde_json::from_slice(&piped.stderr).unwrap();
    let reason = report["models"][0]["skipped"][0]["reason"]
        .as_str()
        .unwrap();
    assert!(
        reason.contains("data file 'weights.data': a model from a stream has no folder"),
        "{reason}"
    );
    // Into a file: the data must be where it will be looked for.
    let beside = from_pipe(text(&folder.path().join("in/out.onnx")));
    let report: Value = serde_json::from_slice(&beside.stdout).unwrap();
    let note = report["models"][0]["notes"][0].as_str().unwrap();
    let data = folder.path().join("in/weights.data");
    assert_eq!(beside.status.code(), Some(0));
    assert!(
        note.starts_with(&format!(
            "{}: taken for the data file that the model refers to",
            data.display()
        )),
        "{note}"
    );
    let elsewhere = from_pipe(text(&folder.path().join("out.onnx")));
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(!folder.path().join("out.onnx").exists());
    // Out of a file into a pipe: only whole.
    assert!(refused(&[text(&input), "-o", "-"]).contains("--external-data inline"));
    assert!(
        refused(&[text(&input), "-o", "-", "--external-data", "d"])
            .contains("a data file cannot be written to a stream; use -o FILE")
    );
    let whole = recast(&[
        "fold",
        text(&input),
        "-o",
        "-",
        "--external-data",
        "inline",
        "-q",
    ]);
    let (whole, path) = (whole.stdout, folder.path().join("whole.onnx"));
    fs::write(&path, whole).unwrap();
    assert_eq!(
        initializers(&path)["b"],
        ("model".to_owned(), folded_values()["b"].clone())
    );
}

#[test]
fn names_of_data_files_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let input = write_external(folder.path(), "in.onnx", &numbered(MODEL));
    let output = folder.path().join("out.onnx");
    fs::create_dir(folder.path().join("sub")).unwrap();
    let mut failures = Vec::new();
    let mut expect = |arguments: &[&str], part: &str| {
        let before = files(folder.path());
        let message = refused(arguments);
        if !message.contains(part) || files(folder.path()) != before {
            failures.push(format!(
                "{arguments:?}: {message} {:?}",
                files(folder.path())
            ));
        }
    };
    let absolute = folder.path().join("d").display().to_string();
    for name in ["../d", "/d", "sub", ".", "sub/../d", &absolute] {
        expect(
            &[text(&input), "-o", text(&output), "--external-data", name],
            "is not the path of a data file in",
        );
    }
    // Its folders could be created one by one, and no program could open it by its path.
    if cfg!(target_os = "linux") {
        let deep = format!("{}{}.bin", "deep/".repeat(790), "w".repeat(250));
        expect(
            &[text(&input), "-o", text(&output), "--external-data", &deep],
            "deep/…': File name too long",
        );
    }
    expect(
        &[
            text(&input),
            "-o",
            text(&output),
            "--external-data",
            "out.onnx",
        ],
        "is the output file",
    );
    expect(
        &[
            text(&input),
            "-o",
            text(&output),
            "--external-data",
            "weights.data",
        ],
        "in.onnx stores tensors in this file",
    );
    expect(
        &[
            text(&input),
            "-o",
            text(&folder.path().join("weights.data")),
        ],
        "the model stores tensors in this file",
    );
    let other = write_model(folder.path().join("other.onnx"), &read_model(&input));
    let out_dir = folder.path().join("sub");
    expect(
        &[
            text(&input),
            text(&other),
            "--out-dir",
            text(&out_dir),
            "--external-data",
            "d",
        ],
        "two models would write",
    );
    expect_no_failures(failures);
}

#[test]
fn inspect_and_dry_runs_do_not_need_the_data_unless_they_cast_it() {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let input = write_external(folder.path(), "in.onnx", &numbered(MODEL));
    fs::remove_file(folder.path().join("weights.data")).unwrap();
    let output = recast(&["inspect", text(&input), "--format", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["external_data"], serde_json::json!(["weights.data"]));
    assert_eq!(report["initializers"]["bytes"], 16008);
    assert!(
        refused(&[text(&input), "--dry-run"]).contains("data file 'weights.data': No such file")
    );
}
