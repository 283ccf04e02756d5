//! What a run says of files that it cannot leave as they were, or that an earlier run left.

use std::fs;
#[cfg(target_os = "linux")]
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use std::process::Command;
#[cfg(target_os = "linux")]
use std::process::Output;

use prost::Message;
use serde_json::{Value, json};

use crate::support::{expect_no_failures, model};
#[cfg(target_os = "linux")]
use crate::users::{Stranger, open_to_all};

const MODEL: &str = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[1] y) <float[1] x = {1}> { y = Cast <to = 10> (x) }"#;
/// A model that has a cast to fix: `saturate` is redundant.
#[cfg(target_os = "linux")]
const LINTED: &str = r#"<ir_version: 10, opset_import: ["": 21]> g (float[1] x) => (float8e4m3fn[1] y) { y = Cast <to = 17> (x) }"#;

fn folder(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.onnx"), model(text).encode_to_vec()).unwrap();
    folder
}

fn recast(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command.current_dir(folder);
    command
}

#[cfg(target_os = "linux")]
fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_of_another_user_is_replaced_with_a_note() {
    let cases: [(&str, &[&str]); 3] = [
        (MODEL, &["fold", "m.onnx", "--in-place"]),
        (MODEL, &["convert", "m.onnx", "--opset", "22", "--in-place"]),
        (LINTED, &["lint", "m.onnx", "--fix", "--select", "ALL"]),
    ];
    let stranger = Stranger::new();
    let mut failures = Vec::new();
    for (source, arguments) in cases {
        for is_own in [false, true] {
            let folder = stranger.folder();
            let path = folder.path().join("m.onnx");
            fs::write(&path, model(source).encode_to_vec()).unwrap();
            open_to_all(folder.path());
            // The users to whom the file belongs before and after. Without a second user, that of
            // the tests is another one to the command.
            let me = rustix::process::geteuid().as_raw();
            let (before, after) = stranger.user().map_or((me, me), |user| {
                (if is_own { user } else { user + 1 }, user)
            });
            chown(&path, Some(before), None).unwrap();
            let (code, said) = if is_own && stranger.user().is_none() {
                let output = recast(folder.path()).args(arguments).output().unwrap();
                (output.status.code(), text(&output))
            } else {
                stranger.run(folder.path(), arguments)
            };
            let note = format!(
                "m.onnx: belongs to user {before}; the new file belongs to the user who runs recast"
            );
            let found = (
                code,
                fs::metadata(&path).unwrap().uid(),
                said.contains(&note),
            );
            if found != (Some(0), after, !is_own) {
                failures.push(format!(
                    "{arguments:?}, own file: {is_own}: {found:?}, {said}"
                ));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_data_file_that_no_model_uses_is_reported_and_kept() {
    let mut failures = Vec::new();
    for (name, is_used, is_reported) in [
        ("m.onnx.data", false, true),
        ("m.onnx.1.data", false, true),
        ("m.onnx.data", true, false),
        ("m.data", false, false),
    ] {
        let folder = folder(MODEL);
        fs::write(folder.path().join(name), [1; 4]).unwrap();
        if is_used {
            let source = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[1] x) <float[1] x = {1}> { }"#;
            let mut other = model(source);
            let tensor = &mut other.graph.as_mut().unwrap().initializer[0];
            let reference = onnx_recast::internals::tensor::Reference {
                location: name.to_owned(),
                offset: 0,
                length: None,
            };
            *tensor = onnx_recast::internals::tensor::moved_to_file(tensor, &reference);
            fs::write(folder.path().join("other.onnx"), other.encode_to_vec()).unwrap();
        }
        let output = recast(folder.path())
            .args(["fold", "m.onnx", "--in-place", "--format", "json"])
            .output()
            .unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        let reason = "no model uses it; an interrupted run may have left it";
        let path = folder.path().canonicalize().unwrap().join(name);
        let expected = if is_reported {
            json!([{ "path": path, "bytes": 4, "reason": reason }])
        } else {
            Value::Null
        };
        let found = &document["models"][0]["unused_files"];
        if (found, folder.path().join(name).exists()) != (&expected, true) {
            failures.push(format!("{name}, used: {is_used}: {found}, not {expected}"));
        }
    }
    expect_no_failures(failures);
}
