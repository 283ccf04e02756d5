//! Models and data files in memory: the results are those on the disk.

use onnx_recast::internals::run_passes;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

use onnx_recast::front_ends::run_in_memory;
use onnx_recast::internals::files::folders::Folder;
use onnx_recast::internals::files::{self, DataFolder, SaveTarget};
use onnx_recast::internals::graph::with_data;
use onnx_recast::internals::protobuf::Layout;
use onnx_recast::internals::storage::plan_of;
use onnx_recast::passes::{self, DEFAULT};
use onnx_recast::proto::{ModelProto, Piece};
use onnx_recast::{Model, Phase, Placement, Progress, SaveOptions as Options, Stored};

use crate::external_data::{MODEL, numbered, write_external};
use crate::read_in_ranges::readable;
use crate::support::expect_no_failures;

/// Opens a model, folds it and saves it; returns the numbers of casts and of old data files.
fn fold(input: &Path, output: &Path, options: &Options) -> Result<String, String> {
    let (opened, data) = files::open_with_data(input).map_err(|error| error.to_string())?;
    let proto = ModelProto::from_bytes(opened.bytes).map_err(|error| error.to_string())?;
    let model = Model::new(proto).map_err(|error| error.to_string())?;
    let model = with_data(model, data);
    let (model, report) = run_passes(model, DEFAULT, &passes::Options::default())
        .map_err(|error| error.to_string())?;
    let plan = plan_of(model, input, &SaveTarget::File(output.to_owned()), options)
        .map_err(|error| error.to_string())?;
    let saved = plan.execute().map_err(|error| error.to_string())?;
    Ok(format!(
        "folded {}, unused {}",
        report.folded().len(),
        saved.unused_files.len()
    ))
}

/// All files of a folder of the disk and of the folders in it.
fn files_on_disk(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            files.extend(
                files_on_disk(&entry.path())
                    .into_iter()
                    .map(|(below, bytes)| (format!("{name}/{below}"), bytes)),
            )
        } else {
            drop(files.insert(name, fs::read(entry.path()).unwrap()))
        }
    }
    files
}

fn files_in_memory(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let name = |name: std::ffi::OsString| name.into_string().unwrap();
    folder
        .list()
        .unwrap()
        .into_iter()
        .map(name)
        .map(|name| (name.clone(), folder.bytes(&name).unwrap().to_vec()))
        .collect()
}

#[test]
fn a_model_with_external_data_is_folded_and_saved_in_memory_as_on_the_disk() {
    let file = |name: &str| Placement::File(name.to_owned());
    // The output, and where its tensors go.
    let cases = [
        ("out.onnx", Placement::Keep),
        ("out.onnx", Placement::Inline),
        ("out.onnx", file("second.data")),
        ("in.onnx", Placement::Keep),
        ("in.onnx", file("second.data")),
        ("in.onnx", file("weights.data")),
        ("in.onnx", Placement::Inline),
        ("out.onnx", file("weights.data")),
        ("out.onnx", file("../weights.data")),
        ("missing/out.onnx", Placement::Inline),
    ];
    let mut failures = Vec::new();
    for (output, placement) in cases {
        let options = Options::default().placement(placement);
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
        // Of a missing folder, the message is the system's, and the path is ours.
        let [on_disk, in_memory] = results.map(|result| {
            result.map_err(|error: String| {
                if output.starts_with("missing/") {
                    error.split(": ").next().unwrap().to_owned()
                } else {
                    error
                }
            })
        });
        let (expected, found) = (files_on_disk(disk.path()), files_in_memory(&memory));
        let lengths = |files: &BTreeMap<String, Vec<u8>>| {
            files
                .iter()
                .map(|(name, bytes)| (name.clone(), bytes.len()))
                .collect::<Vec<_>>()
        };
        if on_disk != in_memory {
            failures.push(format!(
                "{output}, {options:?}: {in_memory:?}, on the disk {on_disk:?}"
            ));
        }
        if found != expected {
            failures.push(format!(
                "{output}, {options:?}: {:?}, on the disk {:?}",
                lengths(&found),
                lengths(&expected)
            ));
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
        ("missing", Some("data file 'missing': does not exist")),
        ("../sub/w", Some("data file '../sub/w': does not exist")),
        (
            "/sub/w",
            Some(
                "data file '/sub/w': is an absolute path, and no folder outside the model's folder is allowed",
            ),
        ),
    ];
    for (location, expected) in cases {
        let error = data.open(location).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), expected, "{location}");
    }
    assert_eq!(data.open("sub/w").unwrap().bytes.to_bytes(), vec![1; 40]);
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
    assert_eq!(
        (input.bytes.as_ref(), files::open(&path).is_ok()),
        ([1, 2, 3].as_slice(), true)
    );
    drop(data);
    assert!(files::open(&path).is_err());
    assert_eq!(input.bytes.as_ref(), [1, 2, 3]);
}

/// Each command, run in a folder of the disk and in memory: the exit code, the texts and the files
/// are the same. Those that open models or data on other threads are left out: the tests of the
/// page run them without threads. Files that are read in ranges are the same as well.
#[test]
fn a_command_in_memory_does_what_it_does_on_the_disk() {
    let commands = [
        "fold fp8_qdq.onnx -o folded.onnx --verify --report report.html",
        "fold fp8_qdq.onnx --in-place --format json",
        "fold fp8_qdq.onnx -o split.onnx --external-data weights.bin --external-threshold 0",
        "fold missing.onnx -o folded.onnx",
        "fold text.onnx -o folded.onnx --format json",
        "convert fp8_qdq.onnx --opset 25 -o converted.onnx --format json",
        "convert fp8_qdq.onnx --opset 11 -o converted.onnx",
        "precision transformer_fp16.onnx --to FLOAT -o wide.onnx --report report.html",
        "lint fp8_qdq.onnx --format json",
        "lint fp8_qdq.onnx --fix --report report.html",
        "lint fp8_qdq.onnx --baseline known.json --write-baseline",
        "report fp8_qdq.onnx transformer_fp16.onnx --format json",
        "inspect fp8_qdq.onnx",
        "explain RC101",
        "fold external.onnx -o folded.onnx --verify",
        "fold external.onnx -o sub/folded.onnx --passes exact",
        "fold external.onnx -o folded.onnx --external-data inline --verify",
        "fold external.onnx -o folded.onnx --external-data new.bin",
        "fold external.onnx --in-place --external-data weights.data",
        "convert external.onnx --opset 23 -o sub/converted.onnx --verify",
        "lint external.onnx --select ALL --format json",
        "report external.onnx -o report.html",
        "fold --no-such-option",
        "--version",
    ];
    let inputs = ["fp8_qdq.onnx", "transformer_fp16.onnx"].map(|name| {
        (
            name.to_owned(),
            fs::read(Path::new("models").join(name)).unwrap(),
        )
    });
    let external = tempfile::tempdir().unwrap();
    write_external(external.path(), "external.onnx", &numbered(MODEL));
    let others = files_on_disk(external.path()).into_iter().chain([
        ("text.onnx".to_owned(), b"no model".to_vec()),
        ("sub/other.txt".to_owned(), Vec::new()),
    ]);
    let inputs: BTreeMap<String, Vec<u8>> = inputs.into_iter().chain(others).collect();
    let mut failures = Vec::new();
    for command in commands {
        let disk = tempfile::tempdir().unwrap();
        for (name, bytes) in &inputs {
            let path = disk.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let arguments = || command.split_whitespace().map(OsString::from);
        let output = Command::new(env!("CARGO_BIN_EXE_recast"))
            .args(arguments())
            .current_dir(&disk)
            .output()
            .unwrap();
        let mut written = files_on_disk(disk.path());
        written.retain(|name, bytes| inputs.get(name) != Some(bytes));
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes).replace(
                &disk.path().canonicalize().unwrap().display().to_string(),
                "",
            )
        };
        let expected = (
            output.status.code().unwrap(),
            text(&output.stdout),
            text(&output.stderr),
            written,
        );

        for (what, stored) in [
            ("in memory", Stored::from as fn(Vec<u8>) -> Stored),
            ("in ranges", readable),
        ] {
            let files = inputs
                .iter()
                .map(|(name, bytes)| (name.into(), stored(bytes.clone())));
            let ran = run_in_memory(
                std::iter::once("recast".into()).chain(arguments()),
                files,
                |_| {},
            )
            .unwrap();
            let mut written: BTreeMap<String, Vec<u8>> = ran
                .written
                .into_iter()
                .map(|(path, pieces)| (path.display().to_string(), bytes_of(pieces)))
                .collect();
            written.retain(|name, bytes| inputs.get(name) != Some(bytes));
            let found = (
                i32::from(u8::from(ran.code)),
                ran.output,
                ran.errors,
                written,
            );
            if found == expected {
                continue;
            }
            let shown = |(code, output, errors, files): &(
                i32,
                String,
                String,
                BTreeMap<String, Vec<u8>>,
            )| {
                format!(
                    "code {code}\n{output}{errors}{:?}",
                    files
                        .iter()
                        .map(|(name, bytes)| (name, bytes.len()))
                        .collect::<Vec<_>>()
                )
            };
            failures.push(format!(
                "recast {command}\n{what}: {}\non the disk: {}",
                shown(&found),
                shown(&expected)
            ));
        }
    }
    expect_no_failures(failures);
}

/// All bytes of a file that a run wrote.
pub fn bytes_of(pieces: Vec<Piece>) -> Vec<u8> {
    let mut file = Vec::new();
    Layout::of_pieces(pieces).write_to(&mut file).unwrap();
    file
}

#[test]
fn a_run_reports_its_progress() {
    let phases = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&phases);
    let command = [
        "recast",
        "fold",
        "model.onnx",
        "-o",
        "folded.onnx",
        "--verify",
    ]
    .map(OsString::from);
    let model = fs::read("models/fp8_qdq.onnx").unwrap();
    let report = move |progress: Progress| {
        seen.lock()
            .unwrap()
            .push((progress.phase, progress.done <= progress.total))
    };
    run_in_memory(command, [("model.onnx".into(), model.into())], report).unwrap();
    let phases = phases.lock().unwrap();
    assert!(
        phases.iter().all(|(_, is_counted)| *is_counted),
        "{phases:?}"
    );
    for phase in [Phase::Planning, Phase::Writing, Phase::Verifying] {
        assert!(
            phases.iter().any(|(seen, _)| *seen == phase),
            "{phase:?} is not among {phases:?}"
        );
    }
}
