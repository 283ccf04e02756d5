//! Data files of a written model that are not those of the original.

use std::fs;

use onnx_recast::verify::Verification;
use onnx_recast::{ConvertOptions, FoldOptions, Model, Placement, SaveOptions, passes};

use crate::external_data::{MODEL, numbered};
use crate::support::expect_no_failures;

#[test]
fn a_written_model_has_the_bytes_of_the_original_in_its_data_files() {
    let folder = tempfile::tempdir().unwrap();
    let [before, after] =
        ["before", "after"].map(|name| folder.path().join(name).join("model.onnx"));
    [&before, &after]
        .iter()
        .for_each(|path| fs::create_dir(path.parent().unwrap()).unwrap());
    let in_data_file = SaveOptions::default()
        .placement(Placement::File("data".to_owned()))
        .threshold(1);
    Model::new(numbered(MODEL))
        .unwrap()
        .save_with(&before, &in_data_file)
        .unwrap();
    fs::copy(&before, &after).unwrap();
    let data = fs::read(before.with_file_name("data")).unwrap();
    let mut changed = data.clone();
    *changed.last_mut().unwrap() ^= 1;
    let mut failures = Vec::new();
    for (what, bytes, fault) in [
        (
            "is missing",
            None,
            Some("graph/large: external_data: data file 'data': No such file or directory"),
        ),
        ("is empty", Some(Vec::new()), Some("graph/large: ")),
        (
            "has another byte at its end",
            Some(changed),
            Some("graph/kept: has other bytes in its data file"),
        ),
        ("is a copy", Some(data), None),
    ] {
        if let Some(bytes) = bytes {
            fs::write(after.with_file_name("data"), bytes).unwrap();
        }
        let [original, written] = [&before, &after].map(|path| Model::open(path).unwrap());
        for verification in [
            Verification::of_passes(&original, passes::DEFAULT, &FoldOptions::default()),
            Verification::of_conversion(&original, &ConvertOptions::to(21)),
        ] {
            let found = verification
                .check(&written)
                .err()
                .map(|error| error.to_string());
            if found.is_some() != fault.is_some()
                || !found
                    .as_deref()
                    .unwrap_or_default()
                    .contains(fault.unwrap_or_default())
            {
                failures.push(format!("the data file {what}: {found:?}"));
            }
        }
    }
    expect_no_failures(failures);
}
