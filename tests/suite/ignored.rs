//! Files that git and `.ignore` files ignore: a lint of a folder leaves them out.

use std::fs;

use serde_json::{Value, json};

use crate::lint::command::{Folder, stderr};
use crate::support::expect_no_failures;

const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float16[2] y) { y = Cast <to = 10> (x) }"#;

/// A git repository with models, some of which are ignored.
fn repository() -> Folder {
    let folder = Folder::new();
    for name in [
        "a.onnx",
        "b.tmp.onnx",
        "keep.tmp.onnx",
        "build/c.onnx",
        "third_party/d.onnx",
        "sub/e.onnx",
        "sub/f.onnx",
        ".h/g.onnx",
    ] {
        folder.model(name, MODEL);
    }
    fs::create_dir(folder.path(".git")).unwrap();
    fs::write(
        folder.path(".gitignore"),
        "build/\n*.tmp.onnx\n!keep.tmp.onnx\n",
    )
    .unwrap();
    fs::write(folder.path("sub/.gitignore"), "f.onnx\n").unwrap();
    fs::write(folder.path(".ignore"), "third_party\n").unwrap();
    folder
}

#[test]
fn a_folder_is_checked_without_the_files_that_git_ignores() {
    let folder = repository();
    let all = [
        "a.onnx",
        "b.tmp.onnx",
        "build/c.onnx",
        "keep.tmp.onnx",
        "sub/e.onnx",
        "sub/f.onnx",
        "third_party/d.onnx",
    ];
    let cases: [(&[&str], &[&str]); 12] = [
        (&[], &["a.onnx", "keep.tmp.onnx", "sub/e.onnx"]),
        (&["."], &["a.onnx", "keep.tmp.onnx", "sub/e.onnx"]),
        (&["--no-ignore"], &all),
        (&[".", "--no-ignore"], &all),
        (&["sub"], &["sub/e.onnx"]),
        // Named explicitly: a file, and a folder.
        (
            &["b.tmp.onnx", "build/c.onnx", "sub/f.onnx"],
            &["b.tmp.onnx", "build/c.onnx", "sub/f.onnx"],
        ),
        (
            &["build", "third_party", ".h"],
            &["build/c.onnx", "third_party/d.onnx", ".h/g.onnx"],
        ),
        // Patterns find files as folders do.
        (&["*.onnx"], &["a.onnx", "keep.tmp.onnx"]),
        (&["**/*.onnx"], &["a.onnx", "keep.tmp.onnx", "sub/e.onnx"]),
        (&["**/*.onnx", "--no-ignore"], &all),
        (&["s*/**"], &["sub/e.onnx"]),
        (&["build/*.onnx"], &["build/c.onnx"]),
    ];
    let mut failures = Vec::new();
    for (arguments, expected) in cases {
        let output =
            folder.recast(&[&["lint", "--format", "json", "--exit-zero"], arguments].concat());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let found: Vec<&str> = document["models"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        if found != expected {
            failures.push(format!(
                "{arguments:?}: {found:?}, not {expected:?} {}",
                stderr(&output)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_folder_of_ignored_models_is_not_clean() {
    let folder = repository();
    fs::write(folder.path(".gitignore"), "*.onnx\n").unwrap();
    fs::write(folder.path("sub/.gitignore"), "").unwrap();
    let output = folder.recast(&["lint"]);
    let message = "recast: .: all .onnx files are ignored by git or a .ignore file; use --no-ignore, or --allow-empty if this is intended\n";
    assert_eq!(
        (output.status.code(), stderr(&output).as_str()),
        (Some(2), message)
    );
    assert_eq!(
        folder.recast(&["lint", "--allow-empty"]).status.code(),
        Some(0)
    );
}

#[test]
fn every_path_has_a_model_unless_all_of_its_models_are_left_out() {
    let folder = Folder::new();
    for name in [
        "a/m.onnx",
        "b/m.onnx",
        "excluded/m.onnx",
        "listed/m.onnx",
        "ignored/m.onnx",
    ] {
        folder.model(name, MODEL);
    }
    fs::create_dir(folder.path("empty")).unwrap();
    folder.write("none.txt", b"");
    folder.write("two.txt", b"empty\na\n");
    folder.write(".ignore", b"ignored/*.onnx\n");
    folder.write("recast.toml", b"[lint]\nexclude = [\"listed\"]\n");
    let empty = "empty: no .onnx files found; use --allow-empty if this is intended";
    let excluded = "excluded: all .onnx files are excluded by --exclude; use --allow-empty if this is intended";
    let listed = "listed: all .onnx files are excluded by `exclude` in recast.toml; use --allow-empty if this is intended";
    let ignored = "ignored: all .onnx files are ignored by git or a .ignore file; use --no-ignore, or --allow-empty if this is intended";
    let ignored_matches = "ign*/*.onnx: all files that match this pattern are ignored by git or a .ignore file; use --no-ignore, or --allow-empty if this is intended";
    let cases: [(&str, &[&str], &[&str]); 20] = [
        ("a b", &["a/m.onnx", "b/m.onnx"], &[]),
        ("a a/m.onnx ./a", &["a/m.onnx"], &[]),
        ("empty a", &["a/m.onnx"], &[empty]),
        ("a empty --allow-empty", &["a/m.onnx"], &[]),
        ("--file-list two.txt", &["a/m.onnx"], &[empty]),
        (
            "--file-list none.txt",
            &[],
            &["none.txt: no .onnx files found; use --allow-empty if this is intended"],
        ),
        ("excluded", &[], &[excluded]),
        ("listed", &[], &[listed]),
        ("listed --config recast.toml", &[], &[listed]),
        ("listed --isolated", &["listed/m.onnx"], &[]),
        ("ignored", &[], &[ignored]),
        ("ign*/*.onnx", &[], &[ignored_matches]),
        ("ign*/*.onnx --no-ignore", &["ignored/m.onnx"], &[]),
        ("ign*/*.onnx a", &["a/m.onnx"], &[]),
        (
            "none*.onnx a",
            &["a/m.onnx"],
            &["none*.onnx: no file matches this pattern"],
        ),
        ("none*.onnx a --allow-empty", &["a/m.onnx"], &[]),
        (
            "excluded listed ignored empty",
            &[],
            &[empty, excluded, listed, ignored],
        ),
        ("excluded listed ignored a", &["a/m.onnx"], &[]),
        ("excluded listed ignored --allow-empty", &[], &[]),
        // Named explicitly, as hooks do, also if a folder that is excluded has it.
        (
            "excluded excluded/m.onnx listed/m.onnx ignored/m.onnx",
            &["excluded/m.onnx", "listed/m.onnx", "ignored/m.onnx"],
            &[],
        ),
    ];
    let mut failures = Vec::new();
    for (line, models, errors) in cases {
        let arguments: Vec<&str> = [
            "lint",
            "--format",
            "json",
            "--exit-zero",
            "--exclude",
            "excluded",
        ]
        .into_iter()
        .chain(line.split(' '))
        .collect();
        let output = folder.recast(&arguments);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let said = stderr(&output);
        let said = said.lines().map(|line| line.trim_start_matches("recast: "));
        // Where nothing is excluded, that is told.
        let notes = [
            "no file matches 'excluded' of --exclude",
            "--exclude has no effect on files that are named",
        ];
        let said: Vec<&str> = said.filter(|line| !notes.contains(line)).collect();
        let code = if errors.is_empty() { 0 } else { 2 };
        if (output.status.code(), &document["models"], said.as_slice())
            != (Some(code), &json!(models), errors)
        {
            failures.push(format!(
                "{line}: {:?} {} {said:?}",
                output.status.code(),
                document["models"]
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn other_commands_read_ignored_models() {
    let folder = repository();
    let output = folder.recast(&[
        "fold",
        "**/*.tmp.onnx",
        "build/*.onnx",
        "third_party/**",
        "--out-dir",
        "folded",
    ]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    for name in ["b.tmp.onnx", "keep.tmp.onnx", "c.onnx", "d.onnx"] {
        assert!(folder.path("folded").join(name).exists(), "{name}");
    }
}
