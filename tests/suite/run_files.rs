//! The files of one run: none that it writes is one that it reads, or another that it writes; and
//! what it leaves behind is named.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use onnx_recast::internals::tensor::{Reference, moved_to_file};
use prost::Message;
use serde_json::Value;

use crate::support::{expect_no_failures, model};

/// A model with one weight, a cast of it, and a cast for the linter, inline or with the weight in a
/// data file.
fn write(folder: &Path, name: &str, value: f32, data: Option<&str>) {
    let mut proto = model(&format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] v, float8e4m3fn[2] y) <float[2] w = {{{value}, {value}}}> {{
            v = Add (x, w)
            y = Cast <to = 17> (x)
        }}"#
    ));
    if let Some(data) = data {
        let tensor = &mut proto.graph.as_mut().unwrap().initializer[0];
        *tensor = moved_to_file(
            tensor,
            &Reference {
                location: data.to_owned(),
                offset: 0,
                length: Some(8),
            },
        );
        let values = [value.to_le_bytes(), value.to_le_bytes()].concat();
        fs::write(folder.join(name).with_file_name(data), values).unwrap();
    }
    fs::write(folder.join(name), proto.encode_to_vec()).unwrap();
}

fn recast(folder: &Path, line: &str, stdin: Option<&str>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command.args(line.split(' ')).current_dir(folder);
    if let Some(stdin) = stdin {
        command.stdin(File::open(folder.join(stdin)).unwrap());
    }
    command.output().unwrap()
}

fn message(output: &Output) -> String {
    format!(
        "{:?} {}",
        output.status.code(),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// All files of a folder with their contents.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
    found
}

#[test]
fn no_file_that_a_run_writes_is_one_that_it_reads_or_another_that_it_writes() {
    let folder = "is a folder, not a file";
    let cases = [
        // After `/.` only a folder can have the name; without these, it is that of the data file.
        ("fold m.onnx -o w.data/.", None, folder),
        ("fold m.onnx -o w.data/./.", None, folder),
        (
            "fold m.onnx -o w.data/.. --external-data inline",
            None,
            folder,
        ),
        ("convert m.onnx --opset 22 -o w.data/.", None, folder),
        (
            "fold m.onnx -o m.onnx/. --external-data inline",
            None,
            folder,
        ),
        (
            "fold a/m.onnx -o w.data",
            None,
            "w.data: m.onnx stores tensors in this file",
        ),
        // The page of a run, and a data file that it makes.
        (
            "fold m.onnx -o o.onnx --external-data r.html --external-threshold 0 --report r.html",
            None,
            "r.html: is also an input or output of this run",
        ),
        (
            "fold m.onnx -o o.onnx --external-data out/r.html --external-threshold 0 --report out/./r.html",
            None,
            "is also an input or output of this run",
        ),
        (
            "fold m.onnx -o o.onnx --external-data r.html --external-threshold 0 --report r.html --dry-run",
            None,
            "is also an input or output of this run",
        ),
        // The output of one model is the input of another, under another name.
        (
            "fold b/k.onnx a/m.onnx --out-dir out",
            None,
            "out/m.onnx: the model that is written to out/k.onnx is read from this file",
        ),
        (
            "fold a/m.onnx b/k.onnx --out-dir out",
            None,
            "out/m.onnx: the model that is written to out/k.onnx is read from this file",
        ),
        (
            "convert a/m.onnx b/k.onnx --opset 22 --out-dir out --dry-run",
            None,
            "is read from this file",
        ),
        // The configuration that a lint has found.
        (
            "lint m.onnx --baseline recast.toml --write-baseline",
            None,
            "recast.toml: is also an input or output of this run",
        ),
        (
            "lint m.onnx --baseline ./recast.toml --write-baseline",
            None,
            "recast.toml: is also an input or output of this run",
        ),
        // A model beside the file, which the run does not read.
        (
            "lint a/m.onnx --baseline w.data --write-baseline",
            None,
            "w.data: m.onnx stores tensors in this file",
        ),
        (
            "lint a/m.onnx --baseline m.onnx --write-baseline",
            None,
            "m.onnx: is a model; use another name for the baseline",
        ),
        (
            "fold a/m.onnx --dry-run --report w.html",
            None,
            "w.html: page.onnx stores tensors in this file",
        ),
        (
            "report a/m.onnx -o w.html",
            None,
            "w.html: page.onnx stores tensors in this file",
        ),
        (
            "cast t.pb --to DOUBLE -o w.data",
            None,
            "w.data: m.onnx stores tensors in this file",
        ),
        (
            "cast t.pb --to DOUBLE -o m.onnx",
            None,
            "m.onnx: is a model; use another output",
        ),
        // The files of these names in the output's folder may be those of another model.
        (
            "convert - --opset 22 -o o.onnx --external-data w.data --external-threshold 0",
            Some("far/m.onnx"),
            "a model from a stream has no folder; give the model as a file",
        ),
        (
            "fold - -o o.onnx --external-data inline",
            Some("far/m.onnx"),
            "a model from a stream has no folder; give the model as a file",
        ),
    ];
    let mut failures = Vec::new();
    for (line, stdin, expected) in cases {
        let place = tempfile::tempdir().unwrap();
        let here = place.path();
        for folder in ["a", "b", "out", "far"] {
            fs::create_dir(here.join(folder)).unwrap();
        }
        write(here, "m.onnx", 1.0, Some("w.data"));
        write(here, "page.onnx", 1.0, Some("w.html"));
        write(here, "a/m.onnx", 2.0, None);
        write(here, "out/m.onnx", 3.0, None);
        symlink("../out/m.onnx", here.join("b/k.onnx")).unwrap();
        // A cast of the data, so that it would be arranged anew.
        let far = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[1] v, float[1] y) <float[1] w = {1}, float[1] u = {2}> {
            v = Identity (u) y = Identity (w) }"#;
        let mut far = model(far);
        fs::write(
            here.join("t.pb"),
            far.graph.as_ref().unwrap().initializer[0].encode_to_vec(),
        )
        .unwrap();
        for (tensor, offset) in far
            .graph
            .as_mut()
            .unwrap()
            .initializer
            .iter_mut()
            .zip([4, 0])
        {
            *tensor = moved_to_file(
                tensor,
                &Reference {
                    location: "w.data".to_owned(),
                    offset,
                    length: Some(4),
                },
            );
        }
        fs::write(here.join("far/m.onnx"), far.encode_to_vec()).unwrap();
        fs::write(
            here.join("recast.toml"),
            "[lint]\nextend-select = [\"ALL\"]\n",
        )
        .unwrap();
        let before = files(here);
        let done = recast(here, line, stdin);
        if done.status.code() != Some(2) || !message(&done).contains(expected) {
            failures.push(format!("{line}: {}", message(&done)));
        }
        if files(here) != before {
            failures.push(format!("{line}: changed {:?}", files(here).keys()));
        }
    }
    expect_no_failures(failures);
}

/// Data files that a model no longer uses, or that an interrupted run left, are in the document of
/// every command.
#[test]
fn unused_data_files_are_named_however_the_model_was_written() {
    let cases = [
        // The output's old model had its own data file; the new one takes the data file of its
        // input along.
        (
            "convert in/m.onnx --opset 22 -o m.onnx",
            "/models/0/unused_files/0/path",
        ),
        (
            "fold m.onnx --in-place --external-data inline",
            "/models/0/unused_files/0/path",
        ),
        // Nothing changes, and a file is left over.
        (
            "fold left/m.onnx --in-place",
            "/models/0/unused_files/0/path",
        ),
        (
            "fold left/m.onnx --in-place --dry-run",
            "/models/0/unused_files/0/path",
        ),
        (
            "lint left/m.onnx --fix --select RC101",
            "/unused_files/left~1m.onnx/0/path",
        ),
    ];
    let mut failures = Vec::new();
    for (line, pointer) in cases {
        let place = tempfile::tempdir().unwrap();
        let here = place.path();
        for folder in ["in", "left"] {
            fs::create_dir(here.join(folder)).unwrap();
        }
        write(here, "in/m.onnx", 1.0, Some("w.data"));
        write(here, "m.onnx", 2.0, Some("m.onnx.data"));
        write(here, "left/m.onnx", 3.0, None);
        fs::write(here.join("left/m.onnx.data"), [0; 4]).unwrap();
        let done = recast(here, &format!("{line} --format json"), None);
        let document: Value = serde_json::from_slice(&done.stdout).unwrap_or_default();
        let found = document.pointer(pointer).and_then(Value::as_str);
        if done.status.code() != Some(0) || !found.is_some_and(|path| path.ends_with("m.onnx.data"))
        {
            failures.push(format!("{line}: {document} {}", message(&done)));
        }
    }
    expect_no_failures(failures);
}

/// A report that cannot be written: the models stay, or the error says that they are written.
#[test]
fn a_report_that_cannot_be_written_is_noticed_before_models_are_replaced() {
    // A file of more than 20 or 40 KiB, as the shell counts, is refused as by a full disk. The
    // models are smaller, the page is not.
    let small = "trap '' XFSZ; ulimit -f 40; exec \"$@\"";
    let runs = [
        (
            "fold m.onnx --passes exact --in-place",
            "1 model is written",
        ),
        (
            "fold m.onnx n.onnx --passes exact --in-place",
            "2 models are written",
        ),
        ("convert m.onnx --opset 22 --in-place", "1 model is written"),
        (
            "precision m.onnx --to FLOAT16 --in-place",
            "1 model is written",
        ),
        ("lint m.onnx --fix", "the models are written"),
    ];
    let mut failures = Vec::new();
    for (run, is_said) in runs {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "m.onnx", 1.0, None);
        write(folder.path(), "n.onnx", 2.0, None);
        let before = files(folder.path());
        let mut command = Command::new("sh");
        command
            .args(["-c", small, "sh", env!("CARGO_BIN_EXE_recast")])
            .args(run.split(' '))
            .args(["--report", "r.html"]);
        let output = command.current_dir(folder.path()).output().unwrap();
        let said = message(&output);
        if output.status.code() != Some(2)
            || !said.contains("r.html: File too large")
            || said.contains("written")
        {
            failures.push(format!("{run}, no room for the report: {said}"));
        }
        if files(folder.path()) != before {
            failures.push(format!(
                "{run}, no room for the report: the files are changed"
            ));
        }
        if cfg!(target_os = "linux") {
            symlink("/dev/full", folder.path().join("full.html")).unwrap();
            let output = recast(folder.path(), &format!("{run} --report full.html"), None);
            let said = message(&output);
            if output.status.code() != Some(2)
                || !said.contains("No space left")
                || !said.contains(is_said)
            {
                failures.push(format!("{run}, a full device: {said}"));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_name_that_nothing_defines_ends_a_run_before_any_model_is_written() {
    let mut failures = Vec::new();
    for run in [
        "fold --passes exact --verify",
        "convert --opset 22",
        "precision --to FLOAT16",
    ] {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "m.onnx", 1.0, None);
        let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { [sum] y = Add (x, nothing) }"#;
        fs::write(folder.path().join("n.onnx"), model(text).encode_to_vec()).unwrap();
        let before = files(folder.path());
        let output = recast(
            folder.path(),
            &format!("{run} m.onnx n.onnx --in-place"),
            None,
        );
        let said = message(&output);
        if said != "Some(2) recast: n.onnx: graph/sum: input 'nothing' is not defined\n" {
            failures.push(format!("{run}: {said}"));
        }
        if files(folder.path()) != before {
            failures.push(format!("{run}: a model is written"));
        }
    }
    expect_no_failures(failures);
}
