//! Files that cannot be read completely, or not be changed: what may be in use is neither replaced
//! nor called unused.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use onnx_recast::internals::tensor::{Reference, moved_to_file};
use prost::Message;
use tempfile::TempDir;

use crate::support::{expect_no_failures, model};
use crate::traced::Traced;
use crate::users::{Stranger, Unprivileged, open_to_all, set_mode};

/// Writes a model and its data file in place of others.
const REPLACE: [&str; 8] = [
    "fold",
    "in/in.onnx",
    "-o",
    "a.onnx",
    "--external-data",
    "w.data",
    "--external-threshold",
    "0",
];

/// A model that casts its tensor in `w.data`, and that file.
fn put(folder: &Path, name: &str) {
    let mut proto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[64] y, float[64] z)
           <float[64] x = {0}> { y = Cast <to = 10> (x) z = Neg (x) }"#,
    );
    let tensor = &mut proto.graph.as_mut().unwrap().initializer[0];
    *tensor = moved_to_file(
        tensor,
        &Reference {
            location: "w.data".to_owned(),
            offset: 0,
            length: Some(256),
        },
    );
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join(name), proto.encode_to_vec()).unwrap();
    fs::write(folder.join("w.data"), [7; 256]).unwrap();
}

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    put(folder.path(), "a.onnx");
    folder
}

fn recast(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command.args(arguments).current_dir(folder);
    command
}

/// Runs a command; returns its exit code and all that it prints.
fn said(mut command: Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (
        output.status.code(),
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    )
}

#[test]
fn data_of_another_model_stays_if_a_folder_can_be_listed_only_in_part() {
    let mut failures = Vec::new();
    for point in 0.. {
        let folder = folder();
        put(folder.path(), "b.onnx");
        put(&folder.path().join("in"), "in.onnx");
        let traced = Traced::spawn(recast(folder.path(), &REPLACE));
        let mut listed = 0;
        while let Some(call) = traced.next() {
            let is_failing = call.name == "getdents64" && listed >= point;
            listed += usize::from(call.name == "getdents64");
            if is_failing {
                traced.fail(call, libc::EIO)
            } else {
                traced.allow(call)
            }
        }
        let ended = traced.finish();
        if fs::read(folder.path().join("w.data")).unwrap() != [7; 256] {
            failures.push(format!(
                "failing from list {point} on: {:?}, {}",
                ended.status.code(),
                ended.stderr
            ));
        }
        if listed <= point {
            break;
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_link_with_the_name_of_a_model_that_leads_nowhere_may_refer_to_any_file() {
    let mut failures = Vec::new();
    for (link, target, is_refused) in [
        ("s/y.onnx", "/not/mounted/y.onnx", true),
        ("s/y.onnx", "y.onnx", true),
        ("s/.#a.onnx~", "user@host.1", false),
        ("s/y", "/not/mounted/y.onnx", false),
    ] {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("s");
        put(&folder, "a.onnx");
        put(&folder.join("in"), "in.onnx");
        symlink(target, place.path().join(link)).unwrap();
        let (code, said) = said(recast(&folder, &REPLACE));
        let is_told = said.contains("stores tensors in this file");
        if (code, is_told) != (Some(if is_refused { 2 } else { 0 }), is_refused) {
            failures.push(format!("{link} to {target}: {said}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_data_file_that_may_not_be_read_is_in_use() {
    let user = Unprivileged::new();
    let folder = user.folder();
    put(folder.path(), "a.onnx");
    set_mode(&folder.path().join("w.data"), 0);
    let mut command = user.recast();
    command
        .args(["convert", "a.onnx", "--opset", "22", "--in-place"])
        .current_dir(folder.path());
    let (code, said) = said(command);
    assert!(
        code == Some(0) && said.contains("opset 21 -> 22") && !said.contains("unused"),
        "{said}"
    );
}

#[test]
fn a_file_of_another_user_in_a_sticky_folder_is_refused_before_it_gets_another_name() {
    let stranger = Stranger::new();
    // The owners of the folder, the model and its data. Without a second user, `may_replace` is
    // tested with all of them.
    let cases = match stranger.user() {
        Some(user) => {
            let owner = user + 1;
            vec![
                ([owner, owner, owner], true),
                ([owner, user, owner], true),
                ([owner, owner, user], true),
                ([owner, user, user], false),
                ([user, owner, owner], false),
            ]
        }
        None => vec![([rustix::process::geteuid().as_raw(); 3], true)],
    };
    let mut failures = Vec::new();
    for (owners, is_refused) in cases {
        let folder = stranger.folder();
        put(folder.path(), "a.onnx");
        put(&folder.path().join("in"), "in.onnx");
        open_to_all(folder.path());
        set_mode(folder.path(), 0o1777);
        let at = |name: &str| folder.path().join(name);
        for (path, owner) in [folder.path().to_owned(), at("a.onnx"), at("w.data")]
            .iter()
            .zip(owners)
        {
            chown(path, Some(owner), None).unwrap();
        }
        let arguments = [
            "fold",
            "in/in.onnx",
            "-o",
            "a.onnx",
            "--external-data",
            "w.data",
            "--external-threshold",
            "0",
        ];
        let (code, said) = stranger.run(folder.path(), &arguments);
        let names = fs::read_dir(folder.path()).unwrap().count();
        let links = fs::metadata(at("w.data")).unwrap().nlink();
        let is_told = said.contains("belongs to another user, and only its owner can replace it")
            == is_refused;
        if (code, names, links, is_told) != (Some(if is_refused { 2 } else { 0 }), 3, 1, true) {
            failures.push(format!(
                "{owners:?}: {code:?}, {names} names, {links} links, {said}"
            ));
        }
    }
    expect_no_failures(failures);
}
