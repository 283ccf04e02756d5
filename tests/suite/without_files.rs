//! Models whose data files the caller reads, and models whose files stay in memory.

use std::io;
use std::sync::{Arc, Mutex};

use onnx_recast::{ErrorKind, FoldOptions, Model, OpenOptions, Placement, SaveOptions};
use prost::Message;

use crate::support::{expect_no_failures, model};

/// A model with a tensor of four floats at a location, cast to FLOAT16.
fn bytes(location: &str) -> Vec<u8> {
    model(&format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (h) <float[4] w = ["location": "{location}"]> {{ h = Cast <to = 10> (w) }}"#
    ))
    .encode_to_vec()
}

#[test]
fn the_caller_is_asked_for_locations_in_the_folder_of_the_model_only() {
    let cases = [
        ("w.bin", &["w.bin"][..], Ok("")),
        ("./a/w.bin", &["./a/w.bin"], Ok("")),
        (
            "missing",
            &["missing"],
            Ok("data file 'missing': does not exist"),
        ),
        ("../w.bin", &[], Ok("data file '../w.bin': ")),
        (
            "/etc/passwd",
            &[],
            Ok("data file '/etc/passwd': is an absolute path"),
        ),
        ("denied", &["denied"], Err("denied: permission denied")),
    ];
    let mut failures = Vec::new();
    for (location, expected, outcome) in cases {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let read = move |location: &str| {
            log.lock().unwrap().push(location.to_owned());
            match location {
                "missing" => Err(io::ErrorKind::NotFound.into()),
                "denied" => Err(io::ErrorKind::PermissionDenied.into()),
                _ => Ok(vec![0; 16].into()),
            }
        };
        let opened = OpenOptions::new()
            .data_files(read)
            .from_bytes(bytes(location));
        let asked = asked.lock().unwrap().clone();
        let is_expected = match (&opened, outcome) {
            (Ok(model), Ok(message)) => {
                let (_, tensor) = model.tensors().next().unwrap();
                match model.read(tensor) {
                    Ok(array) => message.is_empty() && array.to_vec::<f32>().unwrap() == [0.0; 4],
                    Err(error) => !message.is_empty() && error.message().contains(message),
                }
            }
            (Err(error), Err(message)) => {
                error.kind() == ErrorKind::BadExternalData && error.to_string() == message
            }
            _ => false,
        };
        if !is_expected || asked != expected {
            failures.push(format!("{location}: asked for {asked:?}, {opened:?}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_files_of_a_model_are_those_that_a_save_writes() {
    let mut original = Model::open("models/transformer_fp16.onnx").unwrap();
    original.fold(&FoldOptions::default()).unwrap();
    for placement in [
        Placement::Keep,
        Placement::Inline,
        Placement::File("sub/weights.bin".to_owned()),
    ] {
        let options = SaveOptions::default().placement(placement).threshold(0);
        let folder = tempfile::tempdir().unwrap();
        original
            .save_with(folder.path().join("model.onnx"), &options)
            .unwrap();
        let files = original.clone().into_files(&options).unwrap();
        assert!(files.contains_key("model.onnx"));
        for (name, bytes) in &files {
            let written = std::fs::read(folder.path().join(name)).unwrap();
            assert!(written == *bytes, "{name}, {options:?}");
        }
        let written = count(folder.path());
        assert_eq!(written, files.len(), "{options:?}");
    }
}

/// The number of files in a folder and below it.
fn count(folder: &std::path::Path) -> usize {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.map(|entry| {
        if entry.path().is_dir() {
            count(&entry.path())
        } else {
            1
        }
    });
    files.sum()
}
