//! Data files under the names that users and models choose: what is written, replaced, refused and
//! removed.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::{Command, Output};

use onnx_recast::internals::tensor::{Tensor, Values};
use onnx_recast::proto::ModelProto;
use prost::Message;

use crate::support::{expect_no_failures, model};

/// A folder `here` with models in it, beside a link to it.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("here")).unwrap();
    symlink("here", folder.path().join("link")).unwrap();
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

/// Writes a model with a weight that has two elements of this value.
fn write(path: &Path, value: u8) {
    let text = format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[2] y) <float[2] w = {{{value}, {value}}}> {{ y = Identity (w) }}"#
    );
    fs::write(path, model(&text).encode_to_vec()).unwrap();
}

/// The value of the elements of a model's weight, wherever it is stored.
fn value(folder: &Path, path: &str) -> Result<u8, String> {
    let output = recast(
        folder,
        &[
            "fold",
            path,
            "-o",
            "inline.onnx",
            "--external-data",
            "inline",
            "--passes",
            "none",
        ],
    );
    if output.status.code() != Some(0) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let proto = ModelProto::decode(&*fs::read(folder.join("inline.onnx")).unwrap()).unwrap();
    let tensor = &proto.graph.as_ref().unwrap().initializer[0];
    let values = Tensor::read(tensor)
        .and_then(|tensor| tensor.values())
        .map_err(|error| error.to_string())?;
    let Values::Raw(bytes) = values else {
        return Err(format!("{values:?}"));
    };
    Ok(f32::from_le_bytes(bytes[..4].try_into().unwrap()) as u8)
}

fn message(output: &Output) -> String {
    format!(
        "{:?} {}",
        output.status.code(),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Stores the weight of a model in a data file.
fn store(folder: &Path, from: &str, to: &str, data: &str) -> Output {
    recast(
        folder,
        &[
            "fold",
            from,
            "-o",
            to,
            "--external-data",
            data,
            "--external-threshold",
            "0",
        ],
    )
}

#[test]
fn a_data_file_is_replaced_whatever_its_name_and_the_path_of_the_model() {
    let mut failures = Vec::new();
    for data in [
        "w.bin",
        "sub/w.bin",
        "m.onnx.data",
        "m.onnx.1.data",
        "./m.onnx.data",
    ] {
        for place in ["", "./", "../here/", "../link/", "/"] {
            let root = folder();
            let here = root.path().join("here");
            let output = if place == "/" {
                here.join("m.onnx").display().to_string()
            } else {
                format!("{place}m.onnx")
            };
            for number in [5, 6, 7] {
                write(&here.join("in.onnx"), number);
                let done = store(&here, "in.onnx", &output, data);
                let found = value(&here, "m.onnx");
                if done.status.code() != Some(0) || found != Ok(number) || !here.join(data).exists()
                {
                    failures.push(format!(
                        "-o {output} --external-data {data}: {number}: {found:?}, {}",
                        message(&done)
                    ));
                }
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_data_file_does_not_replace_what_the_model_was_read_from() {
    let cases = [
        ("m.onnxtxt", "m.onnxtxt", "is a model"),
        (
            "n.onnxtxt",
            "w.bin",
            "n.onnxtxt stores tensors in this file",
        ),
    ];
    let mut failures = Vec::new();
    for (input, data, expected) in cases {
        let root = folder();
        let here = root.path().join("here");
        fs::write(here.join("w.bin"), [1; 16]).unwrap();
        let header = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[2] y)"#;
        let body = "{ y = Cast <to = 10> (w) }";
        fs::write(
            here.join("m.onnxtxt"),
            format!("{header} <float[2] w = {{1, 2}}> {body}"),
        )
        .unwrap();
        let stored = r#"["location": "w.bin", "offset": "0", "length": "8"]"#;
        fs::write(
            here.join("n.onnxtxt"),
            format!("{header} <float[2] w = {stored}> {body}"),
        )
        .unwrap();
        let before = fs::read(here.join(data)).unwrap();
        let done = store(&here, input, "out.onnx", data);
        if done.status.code() != Some(2)
            || !message(&done).contains(expected)
            || fs::read(here.join(data)).unwrap() != before
        {
            failures.push(format!(
                "{input} --external-data {data}: {}",
                message(&done)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_data_file_of_another_model_is_not_replaced() {
    let root = folder();
    let here = root.path().join("here");
    write(&here.join("other_in.onnx"), 3);
    store(&here, "other_in.onnx", "other.onnx", "w.bin");
    for output in ["out.onnx", "in.onnx"] {
        write(&here.join("in.onnx"), 4);
        let done = store(&here, "in.onnx", output, "w.bin");
        assert!(
            message(&done).contains("other.onnx stores tensors in this file"),
            "{}",
            message(&done)
        );
        assert_eq!(done.status.code(), Some(2));
        assert_eq!(value(&here, "other.onnx"), Ok(3));
    }
}

#[test]
fn an_error_of_a_tensor_that_is_moved_names_its_kind_and_place() {
    let root = folder();
    let here = root.path().join("here");
    write(&here.join("in.onnx"), 3);
    store(&here, "in.onnx", "m.onnx", "w.bin");
    fs::remove_file(here.join("w.bin")).unwrap();
    let options = [
        "--external-data",
        "inline",
        "--passes",
        "none",
        "--format",
        "json",
    ];
    let done = recast(
        &here,
        &[&["fold", "m.onnx", "-o", "out.onnx"], &options[..]].concat(),
    );
    let document: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
    let error = &document["errors"][0];
    assert_eq!(
        (&error["code"], &error["place"]),
        (&"bad-external-data".into(), &"graph/w".into()),
        "{error}"
    );
}

#[test]
fn a_link_to_a_model_elsewhere_gets_no_data_file_beside_it() {
    let mut failures = Vec::new();
    for (arguments, code) in [
        (
            &["--external-data", "d.bin", "--external-threshold", "0"][..],
            2,
        ),
        (&[], 0),
    ] {
        let root = folder();
        let at = |name: &str| root.path().join(name);
        fs::create_dir(at("view")).unwrap();
        write(&at("here/m.onnx"), 3);
        symlink("../here/m.onnx", at("view/m.onnx")).unwrap();
        let done = recast(
            root.path(),
            &[&["fold", "view/m.onnx", "--in-place"], arguments].concat(),
        );
        let says = message(&done).contains("recast: view/m.onnx: is a link to ") == (code == 2);
        if done.status.code() != Some(code)
            || !says
            || at("view/d.bin").exists()
            || value(root.path(), "here/m.onnx") != Ok(3)
        {
            failures.push(format!("{arguments:?}: {}", message(&done)));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn what_an_interrupted_run_left_beside_a_data_file_or_a_linked_model_is_removed() {
    let root = folder();
    let here = root.path().join("here");
    write(&here.join("in.onnx"), 1);
    assert_eq!(
        store(&here, "in.onnx", "m.onnx", "sub/w.bin").status.code(),
        Some(0)
    );
    // The second name of a data file that was being replaced.
    fs::hard_link(here.join("sub/w.bin"), here.join("sub/.recast-1-2.tmp")).unwrap();
    write(&here.join("in.onnx"), 2);
    let done = store(&here, "in.onnx", "m.onnx", "sub/w.bin");
    assert_eq!(done.status.code(), Some(0), "{}", message(&done));
    assert!(!here.join("sub/.recast-1-2.tmp").exists());
    assert_eq!(value(&here, "m.onnx"), Ok(2));

    fs::write(here.join(".recast-1-1.tmp"), "a part of a file").unwrap();
    symlink("here/in.onnx", root.path().join("in.onnx")).unwrap();
    let done = recast(
        root.path(),
        &["convert", "in.onnx", "--opset", "22", "--in-place"],
    );
    assert_eq!(done.status.code(), Some(0), "{}", message(&done));
    assert!(!here.join(".recast-1-1.tmp").exists());
}

#[test]
fn a_data_file_with_the_name_of_a_temporary_file_is_kept() {
    let root = folder();
    let here = root.path().join("here");
    write(&here.join("in.onnx"), 4);
    assert_eq!(
        store(&here, "in.onnx", "m.onnx", ".recast-1-2.tmp")
            .status
            .code(),
        Some(0)
    );
    let done = recast(&here, &["convert", "m.onnx", "--opset", "22", "--in-place"]);
    assert_eq!(done.status.code(), Some(0), "{}", message(&done));
    assert_eq!(value(&here, "m.onnx"), Ok(4));
}

#[test]
fn a_new_data_file_is_as_private_as_the_model() {
    let root = folder();
    let here = root.path().join("here");
    write(&here.join("m.onnx"), 4);
    fs::set_permissions(here.join("m.onnx"), fs::Permissions::from_mode(0o600)).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(here.join("m.onnx"), Some(12345), Some(54321)).unwrap();
    }
    let done = recast(
        &here,
        &[
            "fold",
            "m.onnx",
            "--in-place",
            "--external-data",
            "d.bin",
            "--external-threshold",
            "0",
        ],
    );
    assert_eq!(done.status.code(), Some(0), "{}", message(&done));
    let [model, data] = ["m.onnx", "d.bin"].map(|name| fs::metadata(here.join(name)).unwrap());
    assert_eq!(
        (data.mode(), data.uid(), data.gid()),
        (model.mode(), model.uid(), model.gid())
    );
    assert_eq!(model.mode() & 0o777, 0o600);
}

#[test]
fn a_data_file_is_a_regular_file() {
    let root = folder();
    let here = root.path().join("here");
    write(&here.join("m.onnx"), 4);
    assert!(
        Command::new("mkfifo")
            .arg(here.join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    let done = store(&here, "m.onnx", "out.onnx", "pipe");
    assert_eq!(done.status.code(), Some(2));
    assert!(
        message(&done).contains("'pipe': is not the path of a data file"),
        "{}",
        message(&done)
    );
}

/// Another model, its path and what it states as the location of its data.
const OTHERS: [(&str, &str); 5] = [
    ("here/p.ONNX", "w.bin"),
    ("here/p.pb", "w.bin"),
    ("here/other", "w.bin"),
    ("here/other.onnx", "/elsewhere/w.bin"),
    ("here/other.onnx", "nosuch/../w.bin"),
];

#[test]
fn data_that_another_model_may_use_is_not_replaced() {
    let mut failures = Vec::new();
    for (path, location) in OTHERS {
        let root = folder();
        let here = root.path().join("here");
        write(&here.join("in.onnx"), 4);
        assert_eq!(
            store(&here, "in.onnx", "m.onnx", "w.bin").status.code(),
            Some(0)
        );
        let text = format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[2] y) <float[2] w = ["location": "{location}"]> {{ y = Identity (w) }}"#
        );
        fs::write(root.path().join(path), model(&text).encode_to_vec()).unwrap();
        write(&here.join("in.onnx"), 5);
        let replaced = store(&here, "in.onnx", "b.onnx", "w.bin");
        if replaced.status.code() != Some(2)
            || !message(&replaced).contains("stores tensors in this file")
        {
            failures.push(format!(
                "{path} with {location}: replaced: {}",
                message(&replaced)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn models_that_share_a_data_file_are_written_into_one_folder() {
    let mut failures = Vec::new();
    for (arguments, other, code) in [
        (&[][..], "a", 0),
        (&["--verify"], "a", 0),
        (&[], "other/a", 2),
    ] {
        let root = folder();
        let here = root.path().join("here");
        fs::create_dir(here.join("other")).unwrap();
        write(&here.join("in.onnx"), 4);
        store(&here, "in.onnx", "a.onnx", "w.bin");
        fs::copy(here.join("a.onnx"), here.join("b.onnx")).unwrap();
        write(&here.join("in.onnx"), 5);
        store(&here, "in.onnx", "other/a.onnx", "w.bin");
        let second = if other == "a" {
            "b.onnx"
        } else {
            "other/a.onnx"
        };
        fs::rename(
            here.join(second),
            here.join(second.replace("a.onnx", "c.onnx")),
        )
        .unwrap();
        let second = second.replace("a.onnx", "c.onnx");
        let done = recast(
            &here,
            &[
                &[
                    "convert",
                    "a.onnx",
                    &second,
                    "--opset",
                    "22",
                    "--out-dir",
                    "out",
                ],
                arguments,
            ]
            .concat(),
        );
        let name = second.rsplit('/').next().unwrap();
        let found = [
            value(&here, "out/a.onnx"),
            value(&here, &format!("out/{name}")),
        ];
        if done.status.code() != Some(code) || code == 0 && found != [Ok(4), Ok(4)] {
            failures.push(format!(
                "{second} {arguments:?}: {found:?} {}",
                message(&done)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_name_that_ends_like_that_of_a_folder_is_not_that_of_a_file() {
    let root = folder();
    let here = root.path().join("here");
    write(&here.join("m.onnx"), 4);
    let done = recast(&here, &["fold", "m.onnx", "-o", "new/"]);
    assert!(
        message(&done).contains("new/: is a folder, not a file"),
        "{}",
        message(&done)
    );
    assert!(!here.join("new").exists());
}
