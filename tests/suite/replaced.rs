//! What is at an output's path, and what becomes of it.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use onnx_recast::proto::ModelProto;
use prost::Message;

use crate::support::{expect_no_failures, model};

const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[1] y) <float[1] x = {1}> { y = Cast <to = 10> (x) }"#;

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.onnx"), model(MODEL).encode_to_vec()).unwrap();
    folder
}

fn recast(folder: &Path, arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_recast"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    crate::schemas::expect_valid(arguments, &output);
    output
}

fn is_folded(bytes: &[u8]) -> bool {
    ModelProto::decode(bytes).is_ok_and(|model| model.graph.as_ref().unwrap().node.is_empty())
}

/// Links from a name to a file, the arguments, and what the message says.
type Refused<'t> = (&'t [(Kind, &'t str, &'t str)], &'t [&'t str], &'t [&'t str]);

#[derive(Clone, Copy)]
enum Kind {
    Hard,
    Symbolic,
}

const HASH: &str = "cache/objects/0123456789abcdef0123456789ABCDEF";

const REFUSED: [Refused; 7] = [
    (
        &[(Kind::Hard, "m.onnx", "other.onnx")],
        &["fold", "m.onnx", "--in-place"],
        &["m.onnx: has 2 names", "write to another file"],
    ),
    (
        &[(Kind::Hard, "a.onnx", "out.onnx")],
        &["fold", "m.onnx", "-o", "out.onnx"],
        &["out.onnx: has 2 names"],
    ),
    (
        &[(Kind::Hard, "a.onnx", "w.bin")],
        &["cast", "t.pb", "--to", "FLOAT16", "-o", "w.bin"],
        &["w.bin: has 2 names"],
    ),
    (
        &[(Kind::Symbolic, "missing.onnx", "out.onnx")],
        &["fold", "m.onnx", "-o", "out.onnx"],
        &["out.onnx: is a link to", "missing.onnx", "does not exist"],
    ),
    (
        &[(Kind::Symbolic, HASH, "link.onnx")],
        &["fold", "link.onnx", "--in-place"],
        &["link.onnx: is a link to", "a file of a cache"],
    ),
    (
        &[(Kind::Symbolic, "cache/blobs/b", "link.onnx")],
        &["fold", "link.onnx", "--in-place"],
        &["link.onnx: is a link to", "a file of a cache"],
    ),
    (
        &[(Kind::Symbolic, "cache/blobs/b", "link.onnx")],
        &["convert", "m.onnx", "-o", "link.onnx", "--opset", "20"],
        &["link.onnx: is a link to"],
    ),
];

#[test]
fn links_are_not_broken_silently() {
    let mut failures = Vec::new();
    for (links, arguments, expected) in REFUSED {
        let folder = folder();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("cache/blobs")).unwrap();
        fs::create_dir_all(at("cache/objects")).unwrap();
        for name in ["a.onnx", HASH, "cache/blobs/b"] {
            fs::copy(at("m.onnx"), at(name)).unwrap();
        }
        let tensor = &model(MODEL).graph.as_ref().unwrap().initializer[0].clone();
        fs::write(at("t.pb"), tensor.encode_to_vec()).unwrap();
        for (kind, to, link) in links {
            match kind {
                Kind::Hard => fs::hard_link(at(to), at(link)).unwrap(),
                Kind::Symbolic => symlink(to, at(link)).unwrap(),
            }
        }
        let listed = || {
            let output = Command::new("ls")
                .args(["-lRi", "--time-style=full-iso"])
                .current_dir(folder.path())
                .output()
                .unwrap();
            assert!(output.status.success());
            output.stdout
        };
        let before = listed();
        let output = recast(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(2) || !expected.iter().all(|part| message.contains(part)) {
            failures.push(format!(
                "{arguments:?}: {:?} {message}",
                output.status.code()
            ));
        }
        if listed() != before {
            failures.push(format!("{arguments:?}: changes a file"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn owner_group_mode_and_attributes_of_a_replaced_file_are_kept() {
    let folder = folder();
    let path = folder.path().join("m.onnx");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
    // Only root may give a file away; others keep what they have.
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(&path, Some(12345), Some(54321)).unwrap();
    }
    #[cfg(target_os = "linux")]
    let has_attributes = rustix::fs::setxattr(
        &path,
        "user.origin",
        b"trained",
        rustix::fs::XattrFlags::empty(),
    )
    .is_ok();
    let before = fs::metadata(&path).unwrap();
    let output = recast(folder.path(), &["fold", "m.onnx", "--in-place"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let after = fs::metadata(&path).unwrap();
    assert!(is_folded(&fs::read(&path).unwrap()));
    assert_eq!(
        (after.uid(), after.gid(), after.mode()),
        (before.uid(), before.gid(), before.mode())
    );
    #[cfg(target_os = "linux")]
    if has_attributes {
        let mut value = [0; 16];
        let bytes = rustix::fs::getxattr(&path, "user.origin", &mut value[..]).unwrap();
        assert_eq!(&value[..bytes], b"trained");
    }
}

#[test]
fn a_report_is_not_written_after_a_model_on_standard_output() {
    let mut failures = Vec::new();
    for output in [
        "/dev/stdout",
        "/dev/fd/1",
        "/proc/self/fd/1",
        "out.onnx",
        "link.onnx",
    ] {
        if !Path::new(output).is_absolute() || Path::new(output).exists() {
            let folder = folder();
            symlink("out.onnx", folder.path().join("link.onnx")).unwrap();
            let stdout = fs::File::create(folder.path().join("out.onnx")).unwrap();
            let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
            command
                .args(["fold", "m.onnx", "-o", output])
                .current_dir(folder.path())
                .stdout(stdout);
            let ended = command.stderr(Stdio::piped()).output().unwrap();
            let found = fs::read(folder.path().join("out.onnx")).unwrap();
            let report = String::from_utf8_lossy(&ended.stderr).into_owned();
            if ended.status.code() != Some(0)
                || !is_folded(&found)
                || !report.contains("folded 1 cast")
            {
                failures.push(format!(
                    "file, -o {output}: {:?} {} bytes, {report}",
                    ended.status.code(),
                    found.len()
                ));
            }
            let piped = recast(folder.path(), &["fold", "m.onnx", "-o", output]);
            let is_standard = output.starts_with('/');
            if is_standard && !is_folded(&piped.stdout) {
                failures.push(format!("pipe, -o {output}: {} bytes", piped.stdout.len()));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn temporary_files_of_interrupted_runs_are_removed_by_the_next_run_that_writes() {
    let runs: [(&[&str], bool); 4] = [
        (&["fold", "m.onnx", "--in-place"], true),
        (&["lint", "m.onnx", "--isolated", "--fix"], true),
        (&["lint", "m.onnx", "--isolated"], false),
        (&["fold", "m.onnx", "--in-place", "--dry-run"], false),
    ];
    let mut failures = Vec::new();
    for (arguments, is_removed) in runs {
        let folder = folder();
        let left = folder.path().join(".recast-1-0.tmp");
        fs::write(&left, "a part of a file").unwrap();
        let output = recast(folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        let is_told =
            message.contains(".recast-1-0.tmp: removed a temporary file of an interrupted run");
        if output.status.code() != Some(0) || left.exists() == is_removed || is_told != is_removed {
            failures.push(format!(
                "{arguments:?}: {:?} {message}",
                output.status.code()
            ));
        }
    }
    expect_no_failures(failures);
}
