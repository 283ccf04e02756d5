//! Models that name files which are not theirs, and folders that lead elsewhere: after every run
//! all other files are as they were, and nothing is there that was not asked for.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use onnx_recast::internals::tensor::{Reference, moved_to_file};
use prost::Message;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::recast;
use crate::support::{expect_no_failures, model};

const BYTES: usize = 2048;

const LINT_FIX: [&str; 6] = [
    "lint",
    "--isolated",
    "--select",
    "ALL",
    "--fix",
    "--unsafe-fixes",
];

/// A model with one initializer, which is cast: the first `bytes` of the file `location`. Another
/// cast gets a safe fix from the lint.
fn cast_of(location: &str, bytes: usize) -> Vec<u8> {
    let mut proto = model(&format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float[{bytes}] h, float8e5m2 q)
           <uint8[{bytes}] w = {{0}}> {{ h = Cast <to = 1> (w) q = Cast <to = 19> (x) }}"#
    ));
    let tensor = &mut proto.graph.as_mut().unwrap().initializer[0];
    *tensor = moved_to_file(
        tensor,
        &Reference {
            location: location.to_owned(),
            offset: 0,
            length: Some(bytes as u64),
        },
    );
    proto.encode_to_vec()
}

/// What a path leads to: a folder, a link, or the content of a file with its mode and number of
/// names.
type Tree = BTreeMap<PathBuf, (Vec<u8>, u32, u64)>;

fn tree(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let found = fs::symlink_metadata(&path).unwrap();
            let content = match found.file_type() {
                kind if kind.is_dir() => {
                    folders.push(path.clone());
                    continue;
                }
                kind if kind.is_symlink() => fs::read_link(&path)
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
                    .into_bytes(),
                _ => fs::read(&path).unwrap(),
            };
            tree.insert(path, (content, found.mode(), found.nlink()));
        }
    }
    tree
}

/// The paths below `folder` that differ between two trees.
fn changed(folder: &Path, before: &Tree, after: &Tree) -> Vec<String> {
    let paths: std::collections::BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let is_changed = |path: &&&PathBuf| before.get(**path) != after.get(**path);
    paths
        .iter()
        .filter(is_changed)
        .map(|path| path.strip_prefix(folder).unwrap().display().to_string())
        .collect()
}

fn put(path: PathBuf, content: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn message(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout)
}

/// A file that a model names.
const NAMED: [&str; 8] = [
    "weights.bin",
    "thesis.txt",
    ".git/config",
    "other.onnx",
    "model.safetensors",
    "disguised.bin",
    "twin.bin",
    "linked.bin",
];

/// A folder with the files of [`NAMED`], and `m.onnx`, which keeps its tensor in one of them.
fn world(location: &str) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    for name in NAMED {
        let content = match name {
            "other.onnx" | "disguised.bin" => {
                model("<ir_version: 10, opset_import: [\"\": 21]> g (float x) => (float y) { y = Neg (x) }").encode_to_vec()
            }
            _ => vec![7; BYTES],
        };
        if name != "linked.bin" {
            put(at(name), content);
        }
    }
    fs::hard_link(at("twin.bin"), at("twin2")).unwrap();
    put(at("far/data.bin"), vec![7; BYTES]);
    symlink("far/data.bin", at("linked.bin")).unwrap();
    let bytes = fs::metadata(at(location)).unwrap().len() as usize;
    put(at("m.onnx"), cast_of(location, bytes));
    place
}

#[test]
fn a_run_changes_only_what_was_asked_for() {
    let runs: [&[&str]; 8] = [
        &["fold", "m.onnx", "--in-place"],
        &["fold", "m.onnx", "--in-place", "-q"],
        &["fold", "m.onnx", "-o", "m.onnx"],
        &["fold", "m.onnx", "--in-place", "--external-data", "inline"],
        &[
            "fold",
            "m.onnx",
            "--in-place",
            "--external-data",
            "new.data",
        ],
        &["convert", "m.onnx", "--opset", "22", "--in-place"],
        &[
            "convert",
            "m.onnx",
            "--opset",
            "22",
            "--in-place",
            "--external-data",
            "inline",
        ],
        &[
            "lint",
            "m.onnx",
            "--isolated",
            "--select",
            "ALL",
            "--fix",
            "--unsafe-fixes",
        ],
    ];
    let mut failures = Vec::new();
    for location in NAMED {
        for run in runs {
            let world = world(location);
            let before = tree(world.path());
            let arguments: Vec<String> = run
                .iter()
                .map(|word| {
                    if *word == "m.onnx" {
                        text(&world.path().join(word)).to_owned()
                    } else {
                        (*word).to_owned()
                    }
                })
                .collect();
            let output = recast(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            let said = message(&output);
            let mut changed = changed(world.path(), &before, &tree(world.path()));
            changed.retain(|path| !["m.onnx", "m.onnx.data", "new.data"].contains(&path.as_str()));
            if !changed.is_empty() || output.status.code() == Some(2) {
                failures.push(format!(
                    "{run:?} with {location}: {:?}, changed {changed:?}: {said}",
                    output.status.code()
                ));
            }
            if run[0] == "fold"
                && !run.contains(&"-q")
                && !said.contains(&format!("{location} ("))
                && location != "linked.bin"
            {
                failures.push(format!(
                    "{run:?} with {location}: the report does not name it: {said}"
                ));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_run_and_its_dry_run_list_the_data_file_that_becomes_unused() {
    for more in [&[][..], &["--dry-run"]] {
        let world = world("thesis.txt");
        let input = world.path().join("m.onnx");
        let arguments = ["fold", text(&input), "--in-place", "--format", "json"];
        let output = recast(&[&arguments[..], more].concat());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let path = world.path().canonicalize().unwrap().join("thesis.txt");
        assert_eq!(
            report["models"][0]["unused_files"],
            json!([{ "path": path, "bytes": BYTES }]),
            "{more:?}: {report}"
        );
        assert!(path.exists(), "{more:?}");
    }
}

#[test]
fn data_files_are_copied_only_under_names_that_mean_nothing_else() {
    // The location, and a part of the message; nothing where the file is copied.
    let cases = [
        ("weights.bin", ""),
        ("sub/model.onnx_data", ""),
        ("layers.0.weight", ""),
        ("conftest.py", "does not have the name of a data file"),
        ("setup.cfg", "does not have the name of a data file"),
        (".git/hooks/pre-commit", "is hidden"),
        ("hooks/pre-commit", "does not have the name of a data file"),
        ("Makefile", "does not have the name of a data file"),
        ("NUL.bin", "is the name of a device on Windows"),
        ("linked/w.bin", "contains a link"),
    ];
    let mut failures = Vec::new();
    for (location, expected) in cases {
        for run in [
            &["fold", "--passes", "none"][..],
            &["convert", "--opset", "22"],
        ] {
            let place = tempfile::tempdir().unwrap();
            let data = put(place.path().join("in").join(location), vec![7; BYTES]);
            fs::set_permissions(&data, fs::Permissions::from_mode(0o600)).unwrap();
            let input = put(place.path().join("in/m.onnx"), cast_of(location, BYTES));
            fs::create_dir_all(place.path().join("out")).unwrap();
            put(place.path().join("elsewhere/keep"), "mine");
            symlink("../elsewhere", place.path().join("out/linked")).unwrap();
            let before = tree(place.path());
            let target = place.path().join("out/m.onnx");
            let output = recast(
                &[
                    run,
                    &[text(&input), "-o", text(&target), "--format", "json"],
                ]
                .concat(),
            );
            let (said, mut changed) = (
                message(&output),
                changed(place.path(), &before, &tree(place.path())),
            );
            changed.sort();
            let copy = format!("out/{location}");
            let mut asked = vec!["out/m.onnx".to_owned(), copy.clone()];
            asked.sort();
            let is_right = match expected {
                "" => {
                    let mode = fs::metadata(place.path().join(&copy))
                        .map_or(0, |found| found.mode() & 0o777);
                    output.status.code() == Some(0)
                        && changed == asked
                        && mode == 0o600
                        && said.contains("copied_files")
                }
                part => {
                    output.status.code() == Some(2)
                        && changed.is_empty()
                        && said.contains(part)
                        && said.contains("--external-data inline")
                }
            };
            if !is_right {
                failures.push(format!(
                    "{run:?} with {location}: {:?}, changed {changed:?}: {said}",
                    output.status.code()
                ));
            }
            let inline = recast(
                &[
                    run,
                    &[
                        text(&input),
                        "-o",
                        text(&target),
                        "--external-data",
                        "inline",
                    ],
                ]
                .concat(),
            );
            if inline.status.code() != Some(0) {
                failures.push(format!(
                    "{run:?} with {location}, inline: {}",
                    message(&inline)
                ));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn no_output_replaces_data_of_an_input_or_what_a_link_stands_for() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    put(at("w.bin"), vec![7; BYTES]);
    put(at("v.bin"), vec![7; BYTES]);
    fs::hard_link(at("v.bin"), at("hard.bin")).unwrap();
    symlink("w.bin", at("soft.bin")).unwrap();
    symlink("missing.onnx", at("dangling.onnx")).unwrap();
    let to_fix = r#"<ir_version: 10, opset_import: ["": 21]> g (float[1] x) => (float[1] y) { h = Cast <to = 1> (x) y = Neg (h) }"#;
    let to_fix = model(to_fix).encode_to_vec();
    // The 30 digits of an MD5 whose first two are the folder's name.
    let cached = "files/01/23456789abcdef0123456789abcdef";
    put(at(cached), &to_fix);
    symlink(cached, at("cached.onnx")).unwrap();
    fs::hard_link(put(at("linked.onnx"), &to_fix), at("linked2.onnx")).unwrap();
    put(at("m.onnx"), cast_of("w.bin", BYTES));
    put(at("v.onnx"), cast_of("v.bin", BYTES));
    put(at("evil.onnx"), cast_of("victim.onnx", 16));
    put(at("victim.onnx"), cast_of("w.bin", BYTES));
    let text_of_tensor = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[16] h) <uint8[16] w = {0}> { h = Cast <to = 1> (w) }"#;
    let proto = model(text_of_tensor);
    for (name, location) in [("t.pb", "w.bin"), ("u.pb", "v.bin")] {
        let reference = Reference {
            location: location.to_owned(),
            offset: 0,
            length: Some(16),
        };
        put(
            at(name),
            moved_to_file(&proto.graph.as_ref().unwrap().initializer[0], &reference)
                .encode_to_vec(),
        );
    }
    let cases: Vec<(Vec<&str>, &str, &str, &str)> = vec![
        (
            vec!["fold"],
            "m.onnx",
            "w.bin",
            "stores tensors in this file",
        ),
        (
            vec!["fold"],
            "v.onnx",
            "hard.bin",
            "has 2 names (hard links)",
        ),
        (
            vec!["fold"],
            "m.onnx",
            "soft.bin",
            "stores tensors in this file",
        ),
        (
            vec!["convert", "--opset", "22"],
            "m.onnx",
            "w.bin",
            "stores tensors in this file",
        ),
        (
            vec!["convert", "--opset", "22"],
            "v.onnx",
            "hard.bin",
            "has 2 names (hard links)",
        ),
        (
            vec!["convert", "--opset", "22"],
            "m.onnx",
            "soft.bin",
            "stores tensors in this file",
        ),
        (
            vec!["fold", "--external-data", "inline"],
            "m.onnx",
            "w.bin",
            "stores tensors in this file",
        ),
        (
            vec!["fold"],
            "m.onnx",
            "dangling.onnx",
            "which does not exist",
        ),
        (vec!["fold"], "m.onnx", "cached.onnx", "a file of a cache"),
        (
            vec!["fold", "--external-data", "x.onnx"],
            "m.onnx",
            "x.onnx",
            "is the output file",
        ),
    ];
    let before = tree(place.path());
    let mut failures = Vec::new();
    let mut expect = |arguments: &[&str], part: &str| {
        let output = recast(arguments);
        let changed = changed(place.path(), &before, &tree(place.path()));
        if output.status.code() != Some(2)
            || !changed.is_empty()
            || !message(&output).contains(part)
        {
            failures.push(format!(
                "{arguments:?}: {:?}, changed {changed:?}: {}",
                output.status.code(),
                message(&output)
            ));
        }
    };
    for (command, input, output, part) in &cases {
        expect(
            &[&command[..], &[text(&at(input)), "-o", text(&at(output))]].concat(),
            part,
        );
    }
    for (input, output) in [
        ("t.pb", "w.bin"),
        ("u.pb", "hard.bin"),
        ("t.pb", "soft.bin"),
    ] {
        expect(
            &[
                "cast",
                text(&at(input)),
                "--to",
                "FLOAT",
                "-o",
                text(&at(output)),
            ],
            "stores its values in this file",
        );
    }
    for command in [&["fold"][..], &["convert", "--opset", "22"]] {
        expect(
            &[
                command,
                &[
                    text(&at("evil.onnx")),
                    text(&at("victim.onnx")),
                    "--in-place",
                ],
            ]
            .concat(),
            "stores tensors in this file",
        );
    }
    for command in [
        &["fold", "--in-place"][..],
        &["convert", "--opset", "22", "--in-place"],
        &LINT_FIX,
    ] {
        for (input, part) in [
            ("linked.onnx", "has 2 names (hard links)"),
            ("cached.onnx", "a file of a cache"),
        ] {
            expect(&[command, &[text(&at(input))]].concat(), part);
        }
    }
    expect_no_failures(failures);
}
