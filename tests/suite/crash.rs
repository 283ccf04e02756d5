//! Whatever ends a run, there is the old model or the new one, each with its data, and no litter.

use std::fs;
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use onnx_recast::internals::tensor::{Reference, is_external, moved_to_file, moved_to_model};
use onnx_recast::proto::ModelProto;
use prost::Message;

use crate::support::{expect_no_failures, model};

const WEIGHTS: usize = 8;
const ELEMENTS: usize = 32 * 1024;

/// Eight weights of 128 KiB, each cast to FLOAT16.
fn weights() -> ModelProto {
    let initializers: Vec<String> = (0..WEIGHTS)
        .map(|index| format!("float[{ELEMENTS}] w{index} = {{0}}"))
        .collect();
    let casts: Vec<String> = (0..WEIGHTS)
        .map(|index| format!("h{index} = Cast <to = 10> (w{index})"))
        .collect();
    let outputs: Vec<String> = (0..WEIGHTS)
        .map(|index| format!("float16[{ELEMENTS}] h{index}"))
        .collect();
    let text = format!(
        "<ir_version: 10, opset_import: [\"\": 21]> g () => ({}) <{}> {{ {} }}",
        outputs.join(", "),
        initializers.join(", "),
        casts.join(" ")
    );
    let mut model = model(&text);
    for (index, tensor) in model
        .graph
        .as_mut()
        .unwrap()
        .initializer
        .iter_mut()
        .enumerate()
    {
        let numbers =
            (0..ELEMENTS).flat_map(|element| ((element % 999 + index) as f32).to_le_bytes());
        *tensor = moved_to_model(tensor, numbers.collect::<Vec<u8>>().into());
    }
    model
}

/// The same with its weights in `w.data`, and that file.
fn external_weights() -> (ModelProto, Vec<u8>) {
    let mut model = weights();
    let mut data = Vec::new();
    for tensor in &mut model.graph.as_mut().unwrap().initializer {
        let raw = tensor.rest()[0].value.to_bytes().unwrap();
        let reference = Reference {
            location: "w.data".to_owned(),
            offset: data.len() as u64,
            length: None,
        };
        data.extend_from_slice(&raw);
        *tensor = moved_to_file(
            tensor,
            &Reference {
                length: Some(raw.len() as u64),
                ..reference
            },
        );
    }
    (model, data)
}

fn recast(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs recast under a shell that sets the scene first.
fn under(shell: &str, folder: &Path, arguments: &str) -> Output {
    let script = format!(
        "{shell}; exec '{}' {arguments}",
        env!("CARGO_BIN_EXE_recast")
    );
    Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder)
        .output()
        .unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The names of temporary files.
fn hidden(folder: &Path) -> Vec<String> {
    names(folder)
        .into_iter()
        .filter(|name| name.starts_with(".recast"))
        .collect()
}

/// All that a model says, with its data: files may differ where this does not.
pub fn content(path: &Path) -> Result<Vec<(String, Vec<u8>)>, String> {
    let bytes = fs::read(path).map_err(|error| error.to_string())?;
    let model = ModelProto::decode(bytes.as_slice()).map_err(|error| error.to_string())?;
    let mut content = Vec::new();
    for tensor in &model.graph.as_ref().ok_or("no graph")?.initializer {
        let raw = if is_external(tensor) {
            let Reference {
                location,
                offset,
                length,
            } = Reference::read(tensor).map_err(|error| error.to_string())?;
            let data = fs::read(path.parent().unwrap().join(&location))
                .map_err(|error| format!("{location}: {error}"))?;
            let end = (offset + length.unwrap()) as usize;
            data.get(offset as usize..end)
                .ok_or(format!("{location} is too short"))?
                .to_vec()
        } else {
            tensor.rest()[0]
                .value
                .to_bytes()
                .ok_or("no values")?
                .to_vec()
        };
        content.push((tensor.name().to_owned(), raw));
    }
    Ok(content)
}

/// Numbers that look random and are the same in every run.
fn numbers(mut state: u64) -> impl Iterator<Item = u64> {
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    })
}

/// Looks at a child until it ends or was looked at this often; returns how often that was.
fn watch(child: &mut Child, looks: u64) -> u64 {
    (0..looks)
        .take_while(|_| child.try_wait().unwrap().is_none())
        .count() as u64
}

#[test]
fn a_run_in_place_can_be_killed_at_any_point() {
    let folder = tempfile::tempdir().unwrap();
    let (external, data) = external_weights();
    let mut failures = Vec::new();
    for (kind, model, data) in [
        ("inline", weights(), None),
        ("external", external, Some(data)),
    ] {
        let place = folder.path().join(kind);
        let path = place.join("m.onnx");
        let bytes = model.encode_to_vec();
        let set_up = || {
            fs::remove_dir_all(&place).ok();
            fs::create_dir(&place).unwrap();
            fs::write(&path, &bytes).unwrap();
            data.iter()
                .for_each(|data| fs::write(place.join("w.data"), data).unwrap());
        };
        set_up();
        let before = content(&path).unwrap();
        let mut child = recast(&place, &["fold", "m.onnx", "--in-place"])
            .spawn()
            .unwrap();
        let mut whole_run = watch(&mut child, u64::MAX);
        let after = content(&path).unwrap();
        let (mut old, mut new) = (0, 0);
        for number in numbers(4).take(100) {
            set_up();
            let mut child = recast(&place, &["fold", "m.onnx", "--in-place"])
                .spawn()
                .unwrap();
            let looks = number % (whole_run + whole_run / 4 + 1);
            // How long a run takes changes with what else the machine does.
            whole_run = match watch(&mut child, looks) {
                ended if ended < looks => ended,
                _ => whole_run + whole_run / 20,
            };
            child.kill().unwrap();
            child.wait().unwrap();
            match content(&path) {
                Ok(found) if found == before => old += 1,
                Ok(found) if found == after => new += 1,
                Ok(_) => failures.push(format!(
                    "{kind}: the model is neither the old one nor the new one"
                )),
                Err(error) => failures.push(format!("{kind}: {error}")),
            }
            // Between the two calls that replace a file, the complete new file has a hidden name.
            let is_whole = |name: &String| content(&place.join(name)).as_ref() == Ok(&after);
            let litter = hidden(&place)
                .into_iter()
                .find(|name| !is_whole(name) && !has_no_unnamed_files(&place));
            failures.extend(litter.map(|litter| format!("{kind}: {litter} is left")));
        }
        if old == 0 || new == 0 {
            failures.push(format!(
                "{kind}: {old} old and {new} new models: the points are not spread over the run"
            ));
        }
        // The next run ends well whatever is left.
        assert!(
            recast(&place, &["fold", "m.onnx", "--in-place"])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(content(&path).unwrap(), after);
        assert_eq!(hidden(&place), Vec::<String>::new());
    }
    expect_no_failures(failures);
}

/// Whether files of this folder have names from the start: what a killed run leaves there cannot be
/// helped.
fn has_no_unnamed_files(folder: &Path) -> bool {
    tempfile::tempfile_in(folder).is_err()
}

/// What stops a run, as the shell says it; the arguments, and a part of the message.
const STOPS: [(&str, &str, &str); 6] = [
    ("ulimit -f 100", "fold m.onnx --in-place", "File too large"),
    ("ulimit -f 100", "fold m.onnx -o out.onnx", "File too large"),
    ("ulimit -f 100", "fold w.onnx --in-place", "File too large"),
    (
        "ulimit -f 100",
        "fold w.onnx -o out.onnx --external-data inline",
        "File too large",
    ),
    (":", "fold m.onnx -o /dev/full", "No space left"),
    (
        ":",
        "fold m.onnx -o missing/out.onnx",
        "the folder missing does not exist",
    ),
];

#[test]
fn a_run_that_cannot_write_leaves_everything_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let (external, data) = external_weights();
    let files = [
        ("m.onnx", weights().encode_to_vec()),
        ("w.data", data),
        ("w.onnx", external.encode_to_vec()),
    ];
    for (name, bytes) in &files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let mut failures = Vec::new();
    for (shell, arguments, expected) in STOPS {
        let output = under(shell, folder.path(), arguments);
        let message = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(2) || !message.contains(expected) {
            failures.push(format!(
                "{shell}; {arguments}: {:?} {message}",
                output.status
            ));
        }
        if names(folder.path()) != ["m.onnx", "w.data", "w.onnx"] {
            failures.push(format!(
                "{shell}; {arguments}: leaves {:?}",
                names(folder.path())
            ));
        }
        if files
            .iter()
            .any(|(name, bytes)| fs::read(folder.path().join(name)).unwrap() != *bytes)
        {
            failures.push(format!("{shell}; {arguments}: changed a file"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn an_input_that_becomes_shorter_ends_the_run_with_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let (mut model, data) = external_weights();
    let tensor = &mut model.graph.as_mut().unwrap().initializer[0];
    // One weight of 64 MiB: the file has a hole.
    tensor.dims = vec![1 << 24];
    *tensor = moved_to_file(
        tensor,
        &Reference {
            location: "w.data".to_owned(),
            offset: 0,
            length: Some(1 << 26),
        },
    );
    for (passes, expected) in [
        ("fold-casts", "w.data: became shorter while it was read"),
        ("none", "became shorter while it was read"),
    ] {
        fs::write(folder.path().join("w.onnx"), model.encode_to_vec()).unwrap();
        fs::write(folder.path().join("w.data"), &data).unwrap();
        let file = fs::File::options()
            .write(true)
            .open(folder.path().join("w.data"))
            .unwrap();
        file.set_len(1 << 27).unwrap();
        let arguments = [
            "fold",
            "w.onnx",
            "-o",
            "-",
            "--external-data",
            "inline",
            "--passes",
            passes,
            "-q",
        ];
        let mut child = recast(folder.path(), &arguments).spawn().unwrap();
        // The pipe holds less than the model: the child waits with most of it unread.
        let mut out = child.stdout.take().unwrap();
        out.read_exact(&mut [0; 1]).unwrap();
        file.set_len(0).unwrap();
        std::io::copy(&mut out, &mut std::io::sink()).unwrap();
        let output = child.wait_with_output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{passes}: {message}");
        assert!(message.contains(expected), "{passes}: {message}");
    }
}
