//! What is printed: nothing that a model contains passes for output of the command, and scripts get
//! one document in any case.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use prost::Message;
use serde_json::Value;
use tempfile::TempDir;

use crate::support::{expect_no_failures, model};
use crate::wire_tree::{Made, Node, Schema, Tree};

/// Beginnings of names, each an attack on a log, a terminal or a reader.
const ATTACKS: [&str; 8] = [
    "::error file=forged.rs::",
    " \u{3000}::error::",
    "x\n::error::",
    "x\r::error::\r\n",
    "##[error]",
    "x ##vso[task.complete result=Succeeded]",
    "#\u{ad}#[error]\u{200b}\u{e0041}\u{fe0f}\u{feff}",
    "\x1b[31m\u{9b}2J\u{202e}\u{2066}\u{200f}\u{2028}\u{85}\x07\x08\u{7f}",
];

/// A model with a finding, a fold, a blocked conversion, a function, a subgraph and metadata.
const SOUND: &str = r#"<ir_version: 10, opset_import: ["": 19, "my": 3], producer_name: "maker", producer_version: "2",
        domain: "d", doc_string: "doc", metadata_props: ["key": "value"]>
    g (bool c, float x) => (float16 y, float8e4m3fn q, float z) <float[3] w = {1, 2, 3}>
    {
        [pick] y = If (c) <
            then_branch = t () => (float16 r) { [low] h = Cast <to = 10> (w) r = ReduceMax <axes = [0], keepdims = 0> (h) },
            else_branch = e () => (float16 r) { r = Cast <to = 10> (x) }>
        [quantize] q = Cast <to = 17> (x)
        [call] s = my.Fn <text = "string"> (x)
        z = Mish (s)
    }
    <domain: "my", opset_import: ["": 19]> Fn <text> (a) => (b) { b = Neg (a) }"#;

/// Texts that the model above needs as they are, so that its nodes mean something.
const KEPT: [&str; 12] = [
    "",
    "Cast",
    "If",
    "ReduceMax",
    "Mish",
    "Neg",
    "to",
    "then_branch",
    "else_branch",
    "axes",
    "keepdims",
    "ai.onnx",
];

/// Models with an attack in every text.
fn models(attack: &str) -> Vec<(&'static str, Vec<u8>)> {
    let schema = Schema::load();
    let hostile = |mut tree: Tree, kept: &[&str]| {
        schema.change_texts(".onnx.ModelProto", &mut tree, &|_, text: &[u8]| {
            match std::str::from_utf8(text) {
                Ok(text) if kept.contains(&text) => text.into(),
                _ => [attack.as_bytes(), text].concat(),
            }
        });
        tree
    };
    let sound = schema.read(".onnx.ModelProto", &model(SOUND).encode_to_vec());
    let with_tensor = |fields: Vec<(u32, Node)>| {
        let name = (8, Node::Bytes(b"w".to_vec()));
        let tensor = Node::Message(Tree(fields.into_iter().chain([name]).collect()));
        let node = ["w", "y"]
            .iter()
            .zip([1, 2])
            .map(|(name, field)| (field, Node::Bytes(name.as_bytes().to_vec())));
        let to = Node::Message(Tree(vec![
            (1, Node::Bytes(b"to".to_vec())),
            (3, Node::Varint(10)),
            (20, Node::Varint(2)),
        ]));
        let node = Node::Message(Tree(
            node.chain([(4, Node::Bytes(b"Cast".to_vec())), (5, to)])
                .collect(),
        ));
        let opset = Node::Message(Tree(vec![(2, Node::Varint(21))]));
        Tree(vec![
            (1, Node::Varint(10)),
            (8, opset),
            (7, Node::Message(Tree(vec![(1, node), (5, tensor)]))),
        ])
    };
    let float =
        |rest: Vec<(u32, Node)>| [vec![(1, Node::Varint(3)), (2, Node::Varint(1))], rest].concat();
    let entry = |key: &str| {
        let [key, value] = [key, "data.bin"].map(|text| Node::Bytes(text.as_bytes().to_vec()));
        (13, Node::Message(Tree(vec![(1, key), (2, value)])))
    };
    let twice = SOUND.replace("[call] s", "[call] q");
    let bad_cast = SOUND.replace("<to = 17>", "<to = \"text\">");
    let mut all = vec![
        ("sound", hostile(sound.clone(), &KEPT)),
        (
            "every operator, attribute and domain",
            hostile(sound, &[""]),
        ),
        (
            "every field",
            hostile(
                schema.full(".onnx.ModelProto", 7, &mut Made::default()),
                &[],
            ),
        ),
        (
            "a tensor of the wrong length",
            hostile(
                with_tensor(float(vec![(9, Node::Bytes(vec![0; 7]))])),
                &KEPT,
            ),
        ),
        (
            "a missing data file",
            hostile(
                with_tensor(float(vec![entry("location"), (14, Node::Varint(1))])),
                &["location", "to", "Cast"],
            ),
        ),
        (
            "an unknown key of external data",
            hostile(
                with_tensor(float(vec![entry("where"), (14, Node::Varint(1))])),
                &KEPT,
            ),
        ),
    ];
    for (name, text) in [
        ("a name that is defined twice", twice),
        ("a cast to a text", bad_cast),
    ] {
        all.push((
            name,
            hostile(
                schema.read(".onnx.ModelProto", &model(&text).encode_to_vec()),
                &KEPT,
            ),
        ));
    }
    let mut bytes: Vec<(&str, Vec<u8>)> = all
        .into_iter()
        .map(|(name, tree)| (name, tree.write()))
        .collect();
    bytes.push((
        "not a model",
        [b"\n\xff".as_slice(), attack.as_bytes()].concat(),
    ));
    bytes
}

/// Every command in every format.
fn commands(path: &str, other: &str) -> Vec<Vec<String>> {
    let lines = [
        "fold PATH --dry-run",
        "fold PATH --dry-run --verbose",
        "fold PATH --dry-run --format json",
        "fold PATH -o out.onnx --external-data PATH",
        "convert PATH --opset 24 --dry-run --verbose",
        "convert PATH --opset 12 --dry-run --format json",
        "convert PATH --opset 12 -o out.onnx",
        "lint PATH --select ALL --format concise",
        "lint PATH --select ALL --format full --color always",
        "lint PATH --select ALL --format json",
        "lint PATH --select ALL --format jsonl",
        "lint PATH --select ALL --format github",
        "lint PATH --select ALL --format gitlab",
        "lint PATH --select ALL --format junit",
        "lint PATH --select ALL --format sarif",
        "lint PATH --select ALL --diff --unsafe-fixes --color always",
        "lint PATH --baseline PATH",
        "lint PATH --select PATH",
        "inspect PATH",
        "inspect PATH --format json",
        "inspect PATH --format dot",
        "diff PATH OTHER",
        "diff OTHER PATH --format json",
        "cast PATH -o out.npy --to FLOAT16",
        "rule PATH",
        "rule PATH --format json",
    ];
    let part = |part: &str| part.replace("PATH", path).replace("OTHER", other);
    lines
        .iter()
        .map(|line| line.split(' ').map(part).collect())
        .collect()
}

fn recast(folder: &Path, arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_recast"))
        .current_dir(folder)
        .args(arguments)
        .output()
        .expect("the command starts")
}

/// Characters that give orders, reorder or hide.
fn is_dangerous(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{AD}' | '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}')
        || matches!(c, '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{E0000}'..='\u{E0FFF}')
}

/// The faults of an output; `own` lines are commands that the command makes itself.
fn faults(output: &[u8], own: bool) -> Vec<String> {
    let Ok(text) = std::str::from_utf8(output) else {
        return vec!["is not UTF-8".to_owned()];
    };
    // The styles that the command uses itself.
    let styles = ["0", "1", "31", "32", "33", "36", "90"].map(|style| format!("\x1b[{style}m"));
    let plain = styles
        .iter()
        .fold(text.to_owned(), |text, style| text.replace(style, ""));
    let mut faults = Vec::new();
    for line in plain.split('\n') {
        let begin = line.trim_start();
        let is_own = own
            && ["::error ", "::warning ", "::notice "]
                .iter()
                .any(|own| line.starts_with(own));
        if begin.starts_with("::")
            && !(is_own && (line.contains(",title=RC") || line.contains(",title=recast::")))
        {
            faults.push(format!("a command: {line:?}"));
        }
        if ["##[", "##vso["]
            .iter()
            .any(|command| line.contains(command))
        {
            faults.push(format!("a command within: {line:?}"));
        }
        if let Some(c) = line.chars().find(|&c| is_dangerous(c)) {
            faults.push(format!("{c:?} in {line:?}"));
        }
    }
    faults
}

#[test]
fn nothing_in_a_model_passes_for_output_of_the_command() {
    let mut failures = Vec::new();
    let mut runs = 0;
    for attack in ATTACKS {
        for (number, (name, bytes)) in models(attack).into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let path = format!("{attack}.onnx");
            fs::write(folder.path().join(&path), &bytes).unwrap();
            fs::write(
                folder.path().join("other.onnx"),
                model(SOUND).encode_to_vec(),
            )
            .unwrap();
            for arguments in commands(&path, "other.onnx") {
                // What does not look at the model is tried once.
                if number > 0 && (arguments[0] == "explain" || arguments[0] == "cast") {
                    continue;
                }
                runs += 1;
                let output = recast(folder.path(), &arguments);
                let own = arguments.contains(&"github".to_owned());
                let mut found =
                    [faults(&output.stdout, own), faults(&output.stderr, false)].concat();
                if arguments
                    .iter()
                    .any(|part| matches!(part.as_str(), "json" | "gitlab" | "sarif"))
                    && serde_json::from_slice::<Value>(&output.stdout).is_err()
                {
                    found.push("stdout is not one JSON document".to_owned());
                }
                if !matches!(output.status.code(), Some(0..=2)) {
                    found.push(format!("{}", output.status));
                }
                failures.extend(
                    found
                        .into_iter()
                        .take(2)
                        .map(|fault| format!("{name}, {arguments:?}: {fault}")),
                );
            }
        }
    }
    assert!(runs > 1500, "{runs} runs");
    expect_no_failures(failures);
}

const FINE: &str = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16 h) <float[2] w = {1, 2}> { h = Cast <to = 10> (w) }"#;

/// A folder with a model that is fine, one with a tensor that is not, and a file that is not a
/// model.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let fine = model(FINE).encode_to_vec();
    fs::write(folder.path().join("fine.onnx"), &fine).unwrap();
    fs::write(
        folder.path().join("broken.onnx"),
        b"\x3a\x05\x0a\x09\x22\x03\x41",
    )
    .unwrap();
    fs::write(folder.path().join("empty.onnx"), b"").unwrap();
    let mut bad = Schema::load().read(".onnx.ModelProto", &fine);
    let Some((_, Node::Message(graph))) = bad.0.iter_mut().find(|(number, _)| *number == 7) else {
        panic!("no graph")
    };
    let Some((_, Node::Message(tensor))) = graph.0.iter_mut().find(|(number, _)| *number == 5)
    else {
        panic!("no tensor")
    };
    tensor.0.retain(|(number, _)| *number != 1);
    tensor.0.push((1, Node::Varint(3)));
    fs::write(folder.path().join("bad.onnx"), bad.write()).unwrap();
    folder
}

/// A command, its exit code, the errors of its document (path, place, code), and the paths of the
/// models in it.
type Case<'a> = (&'a str, i32, Vec<[&'a str; 3]>, Vec<&'a str>);

#[test]
fn a_document_lists_errors_beside_the_results_of_the_other_models() {
    let tensor = "graph initializer 'w'";
    let broken = [
        "broken.onnx",
        "`graph.node[0]` at byte 2",
        "malformed-protobuf",
    ];
    let empty = ["empty.onnx", "", "not-a-model"];
    let bad = ["bad.onnx", tensor, "bad-tensor"];
    let gone = ["gone.onnx", "", "not-found"];
    let usage = ["", "", "usage"];
    let cases: Vec<Case> = vec![
        ("fold fine.onnx --dry-run", 0, vec![], vec!["fine.onnx"]),
        (
            "fold broken.onnx fine.onnx bad.onnx gone.onnx empty.onnx --out-dir out",
            2,
            vec![broken, bad, gone, empty],
            vec!["fine.onnx"],
        ),
        (
            "fold fine.onnx bad.onnx -o out.onnx",
            2,
            vec![usage],
            vec![],
        ),
        (
            "fold . -o out.onnx",
            2,
            vec![[".", "", "is-a-folder"]],
            vec![],
        ),
        (
            "convert broken.onnx fine.onnx --opset 22 --out-dir out",
            2,
            vec![broken],
            vec!["fine.onnx"],
        ),
        (
            "inspect broken.onnx fine.onnx bad.onnx",
            2,
            vec![broken, bad],
            vec!["fine.onnx", "bad.onnx"],
        ),
        ("inspect gone.onnx", 2, vec![gone], vec![]),
        ("diff fine.onnx broken.onnx", 2, vec![broken], vec![]),
        ("diff fine.onnx bad.onnx", 2, vec![bad], vec![]),
        ("diff fine.onnx fine.onnx", 0, vec![], vec![]),
        (
            "lint broken.onnx fine.onnx",
            2,
            vec![broken],
            vec!["fine.onnx"],
        ),
        (
            "lint fine.onnx --config gone.toml",
            2,
            vec![["gone.toml", "", "bad-configuration"]],
            vec![],
        ),
        ("rule RC999", 2, vec![usage], vec![]),
        ("explain", 0, vec![], vec![]),
    ];
    let mut failures = Vec::new();
    for (line, code, errors, models) in cases {
        let folder = folder();
        let arguments: Vec<String> = line
            .split(' ')
            .chain(["--format", "json"])
            .map(str::to_owned)
            .collect();
        let output = recast(folder.path(), &arguments);
        let written = folder.path().join("out").join("fine.onnx").exists()
            || folder.path().join("out.onnx").exists();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.code() != Some(code) || written {
            failures.push(format!(
                "{line}: {}, written: {written}, {stderr}",
                output.status
            ));
        }
        let Ok(document) = serde_json::from_slice::<Value>(&output.stdout) else {
            failures.push(format!(
                "{line}: {}",
                String::from_utf8_lossy(&output.stdout)
            ));
            continue;
        };
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let listed = document["errors"]
            .as_array()
            .expect("errors are always a list");
        let found: Vec<[String; 3]> = listed
            .iter()
            .map(|error| ["path", "place", "code"].map(|key| text(&error[key])))
            .collect();
        let found_models: Vec<String> = match &document["models"] {
            Value::Array(models) => models
                .iter()
                .map(|model| {
                    text(if model.is_string() {
                        model
                    } else {
                        &model["path"]
                    })
                })
                .collect(),
            _ => Vec::new(),
        };
        if found != errors || found_models != models {
            failures.push(format!("{line}: {document:#}"));
        }
        let lines = stderr
            .lines()
            .filter(|line| line.starts_with("recast: "))
            .count();
        if lines != errors.len()
            || listed
                .iter()
                .any(|error| !stderr.contains(error["message"].as_str().unwrap_or("?")))
        {
            failures.push(format!(
                "{line}: each error is a line of standard error: {stderr}"
            ));
        }
        let outputs = document["models"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|model| model.get("output"));
        if !errors.is_empty() && outputs.into_iter().any(|output| !output.is_null()) {
            failures.push(format!("{line}: an output beside errors: {document:#}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn arguments_that_cannot_be_parsed_are_an_error_in_the_document_that_they_ask_for() {
    let cases = [
        (
            "convert m.onnx --format json",
            "the following required arguments were not provided: <--opset",
        ),
        (
            "--max-memory 1G convert m.onnx --opset v21x --format json",
            "invalid value 'v21x' for '--opset <N>'",
        ),
        (
            "fold m.onnx --format=json --bad\n##[error]",
            "unexpected argument '--bad\\n\\u{23}#[error]' found",
        ),
        (
            "inspect --format json",
            "the following required arguments were not provided: <MODEL>...",
        ),
        (
            "diff m.onnx --format json",
            "the following required arguments were not provided: <B>",
        ),
        (
            "lint m.onnx --select NOPE --format json",
            "unknown rule or prefix 'NOPE'",
        ),
        (
            "lint m.onnx --select NOPE --format sarif",
            "unknown rule or prefix 'NOPE'",
        ),
        (
            "fold -o - m.onnx --bad --format json",
            "unexpected argument '--bad' found",
        ),
        (
            "precision -o - m.onnx --bad --format json",
            "unexpected argument '--bad' found",
        ),
        (
            "precision m.onnx --format json",
            "the following required arguments were not provided: --to",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    let mut failures = Vec::new();
    for (line, expected) in cases {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let output = recast(folder.path(), &arguments);
        let document = if line.contains("-o -") {
            &output.stderr
        } else {
            &output.stdout
        };
        let document: Option<Value> = serde_json::from_slice(document).ok();
        let has_models = ["convert", "fold", "precision"]
            .iter()
            .any(|command| line.contains(command));
        let has_message = |document: &Value| {
            document
                .to_string()
                .contains(&expected.replace('\\', "\\\\"))
                && (!has_models || document["models"].is_array())
        };
        if output.status.code() != Some(2) || !document.as_ref().is_some_and(has_message) {
            failures.push(format!("{line}: {}, {document:?}", output.status));
        }
    }
    for line in [
        "fold --bad",
        "lint --bad --format full",
        "lint --bad --format concise",
    ] {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        if !recast(folder.path(), &arguments).stdout.is_empty() {
            failures.push(format!("{line}: prints a document"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_run_that_writes_its_model_to_standard_output_has_its_one_document_on_standard_error() {
    let folder = folder();
    for (line, code, errors) in [
        ("fold fine.onnx -o - --format json", 0, 0),
        ("fold broken.onnx -o - --format json", 2, 1),
        (
            "convert fine.onnx bad.onnx --opset 22 -o - --format json",
            2,
            1,
        ),
    ] {
        let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let output = recast(folder.path(), &arguments);
        let document: Value = serde_json::from_slice(&output.stderr).expect(line);
        assert_eq!(
            (
                output.status.code(),
                document["errors"].as_array().map(Vec::len)
            ),
            (Some(code), Some(errors)),
            "{line}"
        );
    }
}

#[test]
fn inspect_and_diff_show_the_rest_of_a_model_with_a_bad_tensor_or_cast() {
    let folder = folder();
    let text = FINE.replace("<to = 10>", "<to = \"text\">");
    fs::write(
        folder.path().join("cast.onnx"),
        model(&text).encode_to_vec(),
    )
    .unwrap();
    let run = |line: &str| {
        let output = recast(
            folder.path(),
            &line.split(' ').map(str::to_owned).collect::<Vec<String>>(),
        );
        assert_eq!(output.status.code(), Some(2), "{line}");
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [shown, errors] = run("inspect bad.onnx cast.onnx");
    assert!(
        shown.starts_with("bad.onnx\n  output h: tensor(float16)[]\n  IR 10, opsets: ai.onnx 21\n  1 node: Cast 1\n")
            && shown.contains("\ncast.onnx\n"),
        "{shown}"
    );
    let expected = "recast: bad.onnx: graph initializer 'w': raw_data holds 8 bytes, but FLOAT[3] needs 12\nrecast: cast.onnx: graph/#0:Cast: ";
    assert!(errors.starts_with(expected), "{errors}");
    let [shown, errors] = run("diff bad.onnx cast.onnx");
    assert!(
        shown.contains("~ graph/#0:Cast.to: int = 10 -> string = \"text\"\n"),
        "{shown}"
    );
    assert!(
        errors.contains("recast: bad.onnx: graph initializer 'w': "),
        "{errors}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_reader_that_goes_away_ends_a_model_and_no_report() {
    let folder = tempfile::tempdir().unwrap();
    let values = vec!["1"; 100_000].join(", ");
    let large = format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[100000] w) <float[100000] w = {{{values}}}> {{ }}"#
    );
    fs::write(
        folder.path().join("large.onnx"),
        model(&large).encode_to_vec(),
    )
    .unwrap();
    let casts: String = (0..3000)
        .map(|number| format!("[cast{number}] y{number} = Cast <to = 17> (x) "))
        .collect();
    let many = format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float8e4m3fn y0) {{ {casts} }}"#
    );
    fs::write(
        folder.path().join("many.onnx"),
        model(&many).encode_to_vec(),
    )
    .unwrap();
    fs::write(folder.path().join("fine.onnx"), model(FINE).encode_to_vec()).unwrap();
    // The reader is gone before the command is started.
    let piped = |arguments: &str| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
        let output = command
            .args(arguments.split(' '))
            .current_dir(folder.path())
            .stdout(writer)
            .output()
            .unwrap();
        (
            output
                .status
                .code()
                .map_or("killed".to_owned(), |code| code.to_string()),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let full = |arguments: &str| {
        let script = format!("'{}' {arguments} >/dev/full", env!("CARGO_BIN_EXE_recast"));
        let output = Command::new("sh")
            .args(["-c", &script])
            .current_dir(folder.path())
            .output()
            .unwrap();
        (
            output
                .status
                .code()
                .map_or("killed".to_owned(), |code| code.to_string()),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let mut failures = Vec::new();
    let mut expect =
        |what: String, (code, message): (String, String), expected: &str, part: &str| {
            if code != expected
                || !message.contains(part)
                || (part.is_empty() && message.contains("recast:"))
            {
                failures.push(format!(
                    "{what}: exit code {code}, expected {expected}: {message}"
                ));
            }
        };
    for line in [
        "fold large.onnx --passes none -o -",
        "convert large.onnx --opset 22 -o -",
        "fold fine.onnx -o -",
    ] {
        expect(
            format!("{line} | true"),
            piped(line),
            "2",
            "recast: -: the reader of standard output closed it",
        );
    }
    for (line, code) in [
        ("lint many.onnx", "1"),
        ("lint many.onnx --exit-zero --format sarif", "0"),
        ("inspect many.onnx", "0"),
        ("inspect many.onnx --format dot", "0"),
        ("diff many.onnx fine.onnx", "1"),
        ("explain", "0"),
        ("rule RC101 --format json", "0"),
        ("fold many.onnx --dry-run --verbose", "0"),
        ("convert many.onnx --opset 13 --dry-run", "1"),
        ("completions bash", "0"),
        ("--help", "0"),
        ("--version", "0"),
    ] {
        expect(format!("{line} | true"), piped(line), code, "");
        expect(
            format!("{line} >/dev/full"),
            full(line),
            "2",
            "recast: standard output: No space left on device",
        );
    }
    expect_no_failures(failures);
}
