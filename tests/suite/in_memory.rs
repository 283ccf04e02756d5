//! Models and data files in memory: the results are those on the disk.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use onnx_recast::internals::files::folders::Folder;
use onnx_recast::internals::files::{self, DataFolder, Target};
use onnx_recast::internals::graph::Model;
use onnx_recast::internals::passes::{self, DEFAULT};
use onnx_recast::internals::protobuf::schema::ModelProto;
use onnx_recast::internals::storage::{Options, Placement, Plan};

use crate::external_data::{MODEL, numbered, write_external};
use crate::support::expect_no_failures;

/// Opens a model, folds it and saves it; returns the numbers of casts and of old data files.
fn fold(input: &Path, output: &Path, options: &Options) -> Result<String, String> {
    let (opened, data) = files::open_with_data(input).map_err(|error| error.to_string())?;
    let proto = ModelProto::from_bytes(opened.bytes).map_err(|error| error.to_string())?;
    let model = Model::new(proto).map_err(|error| error.to_string())?.with_data(data);
    let (model, report) = passes::run(model, DEFAULT, &passes::Options::default()).map_err(|error| error.to_string())?;
    let plan = Plan::new(model, input, &Target::File(output.to_owned()), options).map_err(|error| error.to_string())?;
    let saved = plan.write().map_err(|error| error.to_string())?;
    Ok(format!("folded {}, removed {}, unused {}", report.folded().len(), saved.removed_files.len(), saved.unused_files.len()))
}

/// All files of a folder of the disk.
fn files_on_disk(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries.map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap())).collect()
}

fn files_in_memory(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let name = |name: std::ffi::OsString| name.into_string().unwrap();
    folder.list().unwrap().into_iter().map(name).map(|name| (name.clone(), folder.bytes(&name).unwrap().to_vec())).collect()
}

#[test]
fn a_model_with_external_data_is_folded_and_saved_in_memory_as_on_the_disk() {
    let file = |name: &str| Placement::File(name.to_owned());
    // The output, where its tensors go, and whether old data files are removed.
    let cases = [
        ("out.onnx", Placement::Keep, false),
        ("out.onnx", Placement::Inline, false),
        ("out.onnx", file("second.data"), false),
        ("in.onnx", Placement::Keep, false),
        ("in.onnx", Placement::Keep, true),
        ("in.onnx", file("second.data"), true),
        ("in.onnx", file("weights.data"), false),
        ("in.onnx", Placement::Inline, true),
        ("out.onnx", file("weights.data"), false),
        ("out.onnx", file("../weights.data"), false),
        ("missing/out.onnx", Placement::Inline, false),
    ];
    let mut failures = Vec::new();
    for (output, placement, prune_data) in cases {
        let options = Options::default().placement(placement).prune_data(prune_data);
        let disk = tempfile::tempdir().unwrap();
        write_external(disk.path(), "in.onnx", &numbered(MODEL));
        let memory = Folder::memory();
        for (name, bytes) in files_on_disk(disk.path()) {
            memory.insert(name, bytes).unwrap();
        }
        let results = [disk.path(), memory.path()].map(|root| {
            let result = fold(&root.join("in.onnx"), &root.join(output), &options);
            result.map_err(|error| error.replace(&root.display().to_string(), ""))
        });
        // The message of a missing folder is the system's.
        let [on_disk, in_memory] =
            results.map(|result| result.map_err(|error| error.split(" (os error").next().unwrap().to_lowercase()));
        let (expected, found) = (files_on_disk(disk.path()), files_in_memory(&memory));
        let lengths =
            |files: &BTreeMap<String, Vec<u8>>| files.iter().map(|(name, bytes)| (name.clone(), bytes.len())).collect::<Vec<_>>();
        if in_memory.is_ok() != on_disk.is_ok() || (on_disk.is_ok() && on_disk != in_memory) {
            failures.push(format!("{output}, {options:?}: {in_memory:?}, on the disk {on_disk:?}"));
        }
        if found != expected {
            failures.push(format!("{output}, {options:?}: {:?}, on the disk {:?}", lengths(&found), lengths(&expected)));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn data_in_memory_is_found_by_paths_that_lead_down_only() {
    let folder = Folder::memory();
    folder.insert("sub/w", vec![1; 40]).unwrap();
    folder.insert("model.onnx", vec![0]).unwrap();
    let data = DataFolder::of_model(&folder.path().join("model.onnx"));
    let cases = [
        ("sub/w", None),
        ("sub/../sub/./w", None),
        ("sub", Some("data file 'sub': is not a regular file")),
        ("missing", Some("data file 'missing': entity not found")),
        ("../sub/w", Some("data file '../sub/w': entity not found")),
        ("/sub/w", Some("data file '/sub/w': is an absolute path, and no folder outside the model's folder is allowed")),
    ];
    for (location, expected) in cases {
        let error = data.open(location).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{location}");
    }
    assert_eq!(data.open("sub/w").unwrap().bytes, vec![1; 40]);
    for name in ["../w", "/w", "", "sub", "sub/w/x"] {
        assert!(folder.insert(name, vec![0]).is_err(), "'{name}'");
    }
}

#[test]
fn a_folder_in_memory_lives_as_long_as_it_is_used() {
    let folder = Folder::memory();
    folder.insert("m.onnx", vec![1, 2, 3]).unwrap();
    let path = folder.path().join("m.onnx");
    assert_eq!(files::open(&path).unwrap().bytes.as_ref(), [1, 2, 3]);
    let (input, data) = files::open_with_data(&path).unwrap();
    drop(folder);
    assert_eq!((input.bytes.as_ref(), files::open(&path).is_ok()), ([1, 2, 3].as_slice(), true));
    drop(data);
    assert!(files::open(&path).is_err());
    assert_eq!(input.bytes.as_ref(), [1, 2, 3]);
}
