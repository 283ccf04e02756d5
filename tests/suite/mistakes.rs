//! What the command answers to mistakes: `golden/mistakes.txt`. `RECAST_BLESS=1 cargo test` writes
//! it anew.
//!
//! Read each message as the person who made the mistake: does it say what is wrong, where, and what
//! to do?

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use prost::Message;
use tempfile::TempDir;

use crate::support::model;
use crate::wire_tree::{Node, Tree};

const GOLDEN: &str = "tests/suite/golden/mistakes.txt";

/// What was done, and the arguments; `< FILE` is standard input.
const MISTAKES: &[(&str, &[(&str, &str)])] = &[
    (
        "Files that are not models",
        &[
            ("a model compressed with gzip", "inspect model.onnx.gz"),
            ("a zip archive with the model in it", "inspect model.zip"),
            (
                "a repository cloned without Git LFS",
                "fold lfs.onnx -o out.onnx",
            ),
            ("a download that needed a sign-in", "lint page.onnx"),
            (
                "a download that the storage service refused",
                "inspect refused.onnx",
            ),
            (
                "a model as text with the name of a binary one",
                "fold text.onnx -o out.onnx",
            ),
            ("a model as text that has an error", "inspect wrong.onnxtxt"),
            (
                "a model as text, to be replaced",
                "fold right.onnxtxt --in-place",
            ),
            (
                "a model, to be written as text",
                "fold cast.onnx -o out.onnxtxt",
            ),
            ("a model as text, to be fixed", "lint right.onnxtxt --fix"),
            ("a model as JSON", "inspect model.json"),
            ("a model as textproto", "inspect model.textproto"),
            ("the configuration beside a model", "inspect config.json"),
            ("a note", "inspect README.md"),
            ("a PyTorch checkpoint", "fold model.pt -o out.onnx"),
            (
                "weights as safetensors",
                "fold model.safetensors -o out.onnx",
            ),
            (
                "a TensorFlow Lite model",
                "convert model.tflite --opset 21 -o out.onnx",
            ),
            (
                "a TensorFlow frozen graph",
                "convert frozen.pb --opset 21 -o out.onnx",
            ),
            (
                "the folder of a SavedModel",
                "convert saved_model --opset 21 -o out.onnx",
            ),
            ("a GGUF model", "inspect model.gguf"),
            ("a Keras model", "inspect model.h5"),
            ("a NumPy array", "inspect array.npy"),
            ("a tensor by itself", "inspect tensor.pb"),
            ("a scikit-learn pickle", "inspect model.pkl"),
            ("a model optimised by ONNX Runtime", "inspect model.ort"),
            ("the data file of a model", "fold weights.bin -o out.onnx"),
            ("an empty file", "lint empty.onnx"),
            ("a download that stopped", "fold half.onnx -o out.onnx"),
            ("a file of zeros", "inspect zeros.onnx"),
            ("bytes that are damaged", "inspect damaged.onnx"),
            (
                "several files, one of which is not a model",
                "inspect cast.onnx page.onnx",
            ),
        ],
    ),
    (
        "Paths",
        &[
            ("a file that does not exist", "fold none.onnx -o out.onnx"),
            ("a folder in place of a file", "fold models -o out.onnx"),
            ("a folder without models", "fold empty -o out.onnx"),
            ("a link to nothing", "inspect dangling.onnx"),
            ("a link to itself", "inspect loop.onnx"),
            (
                "a pattern that matches nothing",
                "fold 'none/*.onnx' --out-dir out",
            ),
            (
                "a pattern that is malformed",
                "fold 'models/[*.onnx' --out-dir out",
            ),
            (
                "several models for one output",
                "fold 'models/*.onnx' -o out.onnx",
            ),
            ("no output", "fold cast.onnx"),
            (
                "an output in a folder that does not exist",
                "fold cast.onnx -o missing/dir/out.onnx",
            ),
            (
                "an output in a file",
                "fold cast.onnx -o cast.onnx/out.onnx",
            ),
            ("a folder as output", "fold cast.onnx -o models"),
            (
                "two models of one name",
                "fold cast.onnx models/../cast.onnx --out-dir out",
            ),
            ("two outputs", "fold cast.onnx -o out.onnx --in-place"),
            (
                "an output over the data file of the model",
                "fold external.onnx -o weights.bin",
            ),
            (
                "an output that is its own data file",
                "fold cast.onnx -o out.onnx --external-data out.onnx",
            ),
            ("standard input in place", "fold - --in-place < cast.onnx"),
            ("an empty standard input", "inspect - < empty.onnx"),
            ("standard input twice", "diff - - < cast.onnx"),
            ("lint of a folder without models", "lint empty"),
            ("lint of a path that does not exist", "lint exports"),
            (
                "lint with a list that does not exist",
                "lint --file-list list.txt",
            ),
        ],
    ),
    (
        "Data files",
        &[
            (
                "a data file that was not copied along",
                "fold nodata.onnx -o out.onnx",
            ),
            (
                "a data file with an absolute path",
                "fold absolute.onnx -o out.onnx",
            ),
            (
                "a data file above the model's folder",
                "fold above.onnx -o out.onnx",
            ),
            (
                "a data file that is too short",
                "fold short.onnx -o out.onnx",
            ),
            (
                "external data into a pipe",
                "fold external.onnx -o - --external-data weights.data",
            ),
            (
                "a folder of data files that does not exist",
                "fold cast.onnx -o out.onnx --allow-data-dir nowhere",
            ),
        ],
    ),
    (
        "Options",
        &[
            ("a model without a command", "cast.onnx"),
            ("a command of another tool", "simplify cast.onnx"),
            ("another word for a command", "info cast.onnx"),
            ("a type as a command", "fp16 cast.onnx"),
            ("a command that is misspelt", "inspct cast.onnx"),
            (
                "a short name of a runtime",
                "convert cast.onnx --target ort@1.17 -o out.onnx",
            ),
            (
                "an operator in lower case",
                "precision cast.onnx --to FLOAT16 --keep-op softmax -o out.onnx",
            ),
            (
                "an operator that is misspelt",
                "precision cast.onnx --to FLOAT16 --only-op Rleu -o out.onnx",
            ),
            (
                "a rule that is misspelt",
                "explain flaot8-cast-missing-saturate",
            ),
            ("no command", ""),
            ("a command that does not exist", "optimize cast.onnx"),
            (
                "an option that does not exist",
                "fold cast.onnx --output-file out.onnx",
            ),
            ("no opset", "convert cast.onnx -o out.onnx"),
            (
                "an opset that does not exist",
                "convert cast.onnx --opset 99 -o out.onnx",
            ),
            (
                "an opset that is not a number",
                "convert cast.onnx --opset newest -o out.onnx",
            ),
            (
                "a negative opset",
                "convert cast.onnx --opset -1 -o out.onnx",
            ),
            (
                "an IR version that is too low",
                "convert cast.onnx --opset 21 --ir-version 3 -o out.onnx",
            ),
            (
                "an IR version that is not a number",
                "convert cast.onnx --opset 21 --ir-version new -o out.onnx",
            ),
            (
                "a pass that does not exist",
                "fold cast.onnx --passes constant-folding -o out.onnx",
            ),
            (
                "a size that is not a number",
                "fold cast.onnx --max-growth lots -o out.onnx",
            ),
            (
                "a type by the name of PyTorch",
                "cast array.npy -o out.npy --to fp16",
            ),
            (
                "a type that does not exist",
                "cast array.npy -o out.npy --to float7",
            ),
            ("a cast of a model", "cast cast.onnx -o out.pb --to FLOAT16"),
            ("a tensor without an output", "cast array.npy --to FLOAT16"),
            ("a tensor without a type", "cast array.npy -o out.npy"),
            ("a number that is none", "cast 3,14 --to FLOAT16"),
            (
                "a number in a type that has no such number",
                "cast 300 --to INT8",
            ),
            (
                "a rule that does not exist",
                "lint cast.onnx --select RC999",
            ),
            ("a rule that does not exist, explained", "explain RC999"),
            (
                "a severity that does not exist",
                "lint cast.onnx --severity RC101=fatal",
            ),
            (
                "a format that does not exist",
                "lint cast.onnx --format xml",
            ),
            (
                "a configuration that does not exist",
                "lint cast.onnx --config none.toml",
            ),
            (
                "a configuration with a misspelled key",
                "lint cast.onnx --config misspelled.toml",
            ),
            (
                "a configuration that is not TOML",
                "lint cast.onnx --config broken.toml",
            ),
            (
                "a baseline that does not exist",
                "lint cast.onnx --baseline none.json",
            ),
            (
                "a baseline that is not one",
                "lint cast.onnx --baseline config.json",
            ),
            ("a shell that has no completions", "completions cmd"),
        ],
    ),
    (
        "The first hour",
        &[
            ("a misspelt extension", "fold cast.onx -o out.onnx"),
            ("a misspelt name", "inspect cats.onnx"),
            ("a name without its extension", "lint cast"),
            ("a misspelt folder", "fold model/a.onnx -o out.onnx"),
            ("a name in another letter case", "diff Cast.onnx norm.onnx"),
            ("the output as an argument", "fold cast.onnx out.onnx"),
            ("no file for the output", "fold cast.onnx --output"),
            ("no model", "inspect"),
            ("one model of two", "diff cast.onnx"),
            (
                "a tier that is misspelt",
                "fold cast.onnx -o out.onnx --passes exat",
            ),
            (
                "a pass that is misspelt",
                "fold cast.onnx -o out.onnx --passes fold-cast",
            ),
            (
                "no pass, beside others",
                "fold cast.onnx -o out.onnx --passes none,exact",
            ),
            ("a pass that is misspelt, explained", "passes fold-cast"),
            ("a rule among the passes", "passes RC101"),
            ("a pass among the codes", "explain fold-casts"),
            ("a command among the codes", "explain fold"),
            ("a misspelt code", "explain not-fond"),
            ("a command whose help is misspelt", "help lnt"),
            ("the version as a command", "version"),
            ("the fleet without Python", "fleet convert zoo --opset 17"),
            ("another name of in-place", "fold cast.onnx --inplace"),
            (
                "an output that may be replaced",
                "fold cast.onnx -o cast.onnx --force",
            ),
            ("another name of the format", "inspect cast.onnx --json"),
            ("the format of ruff", "lint cast.onnx --output-format json"),
            (
                "a format of another tool",
                "fold cast.onnx -o out.onnx --format yaml",
            ),
            (
                "a verification that is left out",
                "fold cast.onnx -o out.onnx --skip-verify",
            ),
            (
                "a negative size",
                "fold cast.onnx -o out.onnx --max-growth -1",
            ),
            (
                "a size with another unit",
                "fold cast.onnx -o out.onnx --max-memory 10X",
            ),
            (
                "keys of metadata after a blank",
                "fold cast.onnx -o out.onnx --drop-metadata KEY",
            ),
            (
                "a page of another format",
                "fold cast.onnx -o out.onnx --report report.pdf",
            ),
            (
                "the option of another converter",
                "convert cast.onnx -o out.onnx --target-opset 21",
            ),
            (
                "an opset with its domain",
                "convert cast.onnx -o out.onnx --opset ai.onnx=21",
            ),
            (
                "an opset that is a decimal",
                "convert cast.onnx -o out.onnx --opset 21.0",
            ),
            (
                "no opset, which is an argument",
                "convert cast.onnx 21 -o out.onnx",
            ),
            (
                "a runtime without its version",
                "convert cast.onnx -o out.onnx --target onnxruntime",
            ),
            (
                "a runtime by its short name",
                "convert cast.onnx -o out.onnx --target ort",
            ),
            (
                "a runtime as pip names it",
                "convert cast.onnx -o out.onnx --target onnxruntime==1.17",
            ),
            (
                "a version with a letter",
                "convert cast.onnx -o out.onnx --target onnxruntime@v1.17",
            ),
            (
                "a version that is too old",
                "convert cast.onnx -o out.onnx --target onnxruntime@0.1",
            ),
            (
                "a runtime and an opset",
                "convert cast.onnx -o out.onnx --target onnxruntime@1.17 --opset 21",
            ),
            (
                "a lowest opset after a blank",
                "convert cast.onnx -o out.onnx --lowest any",
            ),
            (
                "an IR version that does not exist",
                "convert cast.onnx -o out.onnx --opset 21 --ir-version 99",
            ),
            (
                "a precision without a type",
                "precision cast.onnx -o out.onnx",
            ),
            (
                "a type as an option",
                "precision cast.onnx -o out.onnx --fp16",
            ),
            (
                "the type of NumPy",
                "precision cast.onnx -o out.onnx --to float32",
            ),
            (
                "a type of integers",
                "precision cast.onnx -o out.onnx --to INT8",
            ),
            (
                "the same type twice",
                "precision cast.onnx -o out.onnx --to FLOAT16 --from FLOAT16",
            ),
            (
                "operators of another converter",
                "precision norm.onnx -o out.onnx --to FLOAT16 --op-block-list Softmax",
            ),
            (
                "inputs of another converter",
                "precision norm.onnx -o out.onnx --to FLOAT16 --keep-io-types",
            ),
            (
                "an input that does not exist",
                "precision norm.onnx -o out.onnx --to FLOAT16 --io x=FLOAT",
            ),
            (
                "a node that does not exist",
                "precision norm.onnx -o out.onnx --to FLOAT16 --keep-node none --strict",
            ),
            (
                "ranges that do not exist",
                "precision norm.onnx -o out.onnx --to FLOAT16 --ranges none.json",
            ),
            ("rules of another tool", "lint cast.onnx --ignore E501"),
            (
                "a code with a letter in place of a digit",
                "lint cast.onnx --select RC1O1",
            ),
            (
                "another name of the selection",
                "lint cast.onnx --rules RC1",
            ),
            (
                "a severity without a rule",
                "lint cast.onnx --severity error",
            ),
            (
                "a severity that never fails",
                "lint cast.onnx --fail-on never",
            ),
            (
                "unsafe fixes that are not applied",
                "lint cast.onnx --unsafe-fixes",
            ),
            ("suppressions as in ruff", "lint cast.onnx --noqa"),
            ("suppressions and fixes", "lint cast.onnx --add-noqa --fix"),
            (
                "suppressions in an old model",
                "lint untold.onnx --add-noqa",
            ),
            (
                "a pattern that excludes nothing",
                "lint models --exclude none --strict",
            ),
            (
                "a file that is named and excluded",
                "lint cast.onnx --exclude cast.onnx",
            ),
            (
                "a lint for the newest version of a runtime",
                "lint cast.onnx --target tensorrt@11",
            ),
            ("a pattern that is not closed", "lint models --exclude '[a'"),
            (
                "a rule without its pattern",
                "lint models --per-file-ignores RC101",
            ),
            (
                "a new baseline without a name",
                "lint cast.onnx --write-baseline",
            ),
            ("findings over a model", "lint untold.onnx -o cast.onnx"),
            ("a page of JSON", "report cast.onnx -o report.json"),
            ("a type without its option", "cast 1.5 FLOAT16"),
            ("a type of one of four formats", "cast 1.5 --to FLOAT8"),
            ("bits that are too many", "cast 0x7E00 --from FLOAT8E4M3FN"),
            (
                "a type that is too new",
                "cast 300 --to FLOAT8E4M3FN --opset 13",
            ),
        ],
    ),
    (
        "Models",
        &[
            (
                "an operator that an older opset lacks",
                "convert norm.onnx --opset 16 --no-expand -o out.onnx",
            ),
            (
                "a newer opset than recast knows",
                "convert future.onnx --opset 21 -o out.onnx",
            ),
            ("a cycle", "fold cycle.onnx -o out.onnx"),
            (
                "a name that is defined twice",
                "fold twice.onnx -o out.onnx",
            ),
            ("a cast without its type", "fold untyped.onnx -o out.onnx"),
            (
                "a tensor of the wrong length",
                "fold length.onnx -o out.onnx",
            ),
            (
                "a number that does not fit its type",
                "fold range.onnx -o out.onnx",
            ),
            ("graphs nested without end", "fold nested.onnx -o out.onnx"),
        ],
    ),
];

/// The files that the mistakes name.
fn make_files(folder: &Path) {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    };
    let text = |name: &str, text: &str| write(name, &model(text).encode_to_vec());
    const HEADER: &str = r#"<ir_version: 10, opset_import: ["": 21]> g"#;
    let graph = |name: &str, rest: &str| text(name, &format!("{HEADER} {rest}"));
    let zip = |name: &str| {
        [
            b"PK\x03\x04\x14\0\0\0\0\0".as_slice(),
            name.as_bytes(),
            b"PK\x05\x06",
        ]
        .concat()
    };

    let cast = format!(
        "{HEADER} () => (float16[2] h) <float[2] w = {{1, 2}}> {{ h = Cast <to = 10> (w) }}"
    );
    let bytes = model(&cast).encode_to_vec();
    text("cast.onnx", &cast);
    text("models/a.onnx", &cast);
    text("models/b.onnx", &cast);
    write("text.onnx", cast.as_bytes());
    write("right.onnxtxt", cast.as_bytes());
    write(
        "wrong.onnxtxt",
        b"<ir_version: 10, opset_import: [\"\": 21]>\ng (float x) => (float y)\n{ y = Neg (x }",
    );
    write("half.onnx", &bytes[..bytes.len() - 20]);
    let mut damaged = bytes.clone();
    let node = bytes.windows(4).position(|four| four == b"Cast").unwrap();
    damaged[node + 1] = 0xff;
    write("damaged.onnx", &damaged);

    write("model.onnx.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03");
    write("model.zip", &zip("model.onnx"));
    write(
        "lfs.onnx",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    );
    write(
        "page.onnx",
        b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n",
    );
    write(
        "refused.onnx",
        b"<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>\n",
    );
    write("model.json", b"{\"irVersion\": \"10\", \"graph\": {}}");
    write("model.textproto", b"ir_version: 10\ngraph {\n}\n");
    write("config.json", b"{\"architectures\": [\"Bert\"]}");
    write("README.md", b"# Models\n");
    write("model.pt", &zip("archive/data.pkl"));
    write(
        "model.safetensors",
        &[&16u64.to_le_bytes()[..], b"{\"__metadata__\":{}"].concat(),
    );
    write("model.tflite", b"\x1c\0\0\0TFL3\0\0");
    write("frozen.pb", b"\x0a\x09\x0a\x01x\x12\x04NoOp");
    write("saved_model/saved_model.pb", b"\x08\x01");
    write("model.gguf", b"GGUF\x03\0\0\0");
    write("model.h5", b"\x89HDF\r\n\x1a\n\0");
    let header = format!(
        "{:<117}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
    );
    write(
        "array.npy",
        &[b"\x93NUMPY\x01\0v\0".as_slice(), header.as_bytes(), &[0; 8]].concat(),
    );
    write(
        "tensor.pb",
        b"\x08\x02\x10\x01\x42\x01w\x4a\x08\0\0\0\0\0\0\0\0",
    );
    write("model.pkl", b"\x80\x04\x95\x10\0\0\0\0\0\0\0.");
    write("model.ort", b"\x18\0\0\0ORTM\0\0");
    write("empty.onnx", b"");
    write("zeros.onnx", &[0; 64]);
    fs::create_dir(folder.join("empty")).unwrap();
    symlink("nothing.onnx", folder.join("dangling.onnx")).unwrap();
    symlink("loop.onnx", folder.join("loop.onnx")).unwrap();

    let external = |name: &str, location: &str| {
        graph(
            name,
            &format!(
                "() => (float16[2] h) <float[2] w = [\"location\": \"{location}\"]> {{ h = Cast <to = 10> (w) }}"
            ),
        );
    };
    write("weights.bin", &[0, 0, 128, 63, 0, 0, 0, 64]);
    external("external.onnx", "weights.bin");
    external("nodata.onnx", "gone.bin");
    external("absolute.onnx", "/etc/weights.bin");
    external("above.onnx", "../weights.bin");
    write("short.bin", &[0; 4]);
    external("short.onnx", "short.bin");

    write("misspelled.toml", b"[lint]\nselct = [\"RC1\"]\n");
    write("broken.toml", b"[lint\n");

    let norm = |index: usize| {
        format!(
            "[norm_{index}] y{} = LayerNormalization (y{index}, s)",
            index + 1
        )
    };
    let norms = (0..19).map(norm).collect::<Vec<_>>().join(" ");
    text(
        "norm.onnx",
        &format!(
            "<ir_version: 8, opset_import: [\"\": 17]> g (float[2, 4] y0, float[4] s) => (float[2, 4] y19) {{ {norms} }}"
        ),
    );
    text(
        "untold.onnx",
        r#"<ir_version: 9, opset_import: ["": 19]> g (float x) => (float8e4m3fn y) { y = Cast <to = 17> (x) }"#,
    );
    text(
        "future.onnx",
        r#"<ir_version: 14, opset_import: ["": 99]> g (float x) => (float y) { y = Neg (x) }"#,
    );
    graph(
        "cycle.onnx",
        "() => (float a) { [first] a = Neg (b) [second] b = Neg (a) }",
    );
    graph(
        "twice.onnx",
        "(float x) => (float a) { a = Neg (x) a = Abs (x) }",
    );
    graph(
        "untyped.onnx",
        "() => (float16 h) <float w = {1}> { [half] h = Cast (w) }",
    );

    let tensor = |fields: Vec<(u32, Node)>| {
        let name = |name: &str| Node::Bytes(name.as_bytes().to_vec());
        let to = Node::Message(Tree(vec![
            (1, name("to")),
            (3, Node::Varint(1)),
            (20, Node::Varint(2)),
        ]));
        let node = Node::Message(Tree(vec![
            (1, name("w")),
            (2, name("h")),
            (3, name("widen")),
            (4, name("Cast")),
            (5, to),
        ]));
        let tensor = Node::Message(Tree(fields.into_iter().chain([(8, name("w"))]).collect()));
        let output = Node::Message(Tree(vec![(1, name("h"))]));
        let opset = Node::Message(Tree(vec![(2, Node::Varint(28))]));
        let graph = Node::Message(Tree(vec![(1, node), (5, tensor), (12, output)]));
        Tree(vec![(1, Node::Varint(14)), (7, graph), (8, opset)]).write()
    };
    write(
        "length.onnx",
        &tensor(vec![
            (1, Node::Varint(2)),
            (2, Node::Varint(10)),
            (9, Node::Bytes(vec![0; 7])),
        ]),
    );
    write(
        "range.onnx",
        &tensor(vec![
            (1, Node::Varint(1)),
            (2, Node::Varint(27)),
            (5, Node::Varint(64)),
        ]),
    );
    let mut nested = Tree(vec![]);
    for _ in 0..60 {
        let attribute = Tree(vec![
            (1, Node::Bytes(b"body".to_vec())),
            (6, Node::Message(nested)),
        ]);
        nested = Tree(vec![(
            1,
            Node::Message(Tree(vec![(5, Node::Message(attribute))])),
        )]);
    }
    write(
        "nested.onnx",
        &Tree(vec![(1, Node::Varint(10)), (7, Node::Message(nested))]).write(),
    );
}

/// Splits a command line at blanks; `'` encloses an argument.
fn arguments(line: &str) -> Vec<&str> {
    line.split(' ')
        .filter(|word| !word.is_empty())
        .map(|word| word.trim_matches('\''))
        .collect()
}

fn run(folder: &Path, line: &str) -> Output {
    let (line, input) = line
        .split_once(" < ")
        .map_or((line, None), |(line, input)| (line, Some(input)));
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command
        .args(arguments(line))
        .current_dir(folder)
        .env("NO_COLOR", "1")
        .env_remove("COLUMNS");
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let input = input.map_or_else(Vec::new, |input| fs::read(folder.join(input)).unwrap());
    // A command that refuses its arguments is gone before it reads.
    let written = child.stdin.take().unwrap().write_all(&input);
    assert!(written.is_ok() || written.is_err_and(|error| error.kind() == ErrorKind::BrokenPipe));
    child.wait_with_output().unwrap()
}

#[test]
fn every_mistake_gets_the_answer_of_the_table() {
    let folder = TempDir::new().unwrap();
    make_files(folder.path());
    let before = files(folder.path());
    let mut found = String::new();
    for (title, mistakes) in MISTAKES {
        writeln!(found, "# {title}\n").unwrap();
        for (what, line) in *mistakes {
            let output = run(folder.path(), line);
            let code = output
                .status
                .code()
                .map_or("none: it was killed".to_owned(), |code| code.to_string());
            let (stdout, stderr) = (
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr),
            );
            writeln!(
                found,
                "## {what}\n$ recast {line}\nexit code {code}\n{stdout}{stderr}"
            )
            .unwrap();
            assert!(!stderr.contains("panicked"), "{line}: {stderr}");
        }
    }
    let machine = folder.path().to_str().unwrap();
    assert!(
        !found.contains(machine),
        "the table names a path of this machine"
    );
    // A mistake writes nothing, except that --out-dir makes its folder.
    fs::remove_dir(folder.path().join("out")).ok();
    assert_eq!(files(folder.path()), before, "a mistake wrote files");
    if std::env::var_os("RECAST_BLESS").is_some() {
        fs::create_dir_all(Path::new(GOLDEN).parent().unwrap()).unwrap();
        fs::write(GOLDEN, &found).unwrap();
    }
    let expected = fs::read_to_string(GOLDEN).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(&expected, &found)
        .unified_diff()
        .header(GOLDEN, "found")
        .to_string();
    assert!(
        found == expected,
        "RECAST_BLESS=1 writes {GOLDEN} anew\n{difference}"
    );
}

/// The names of the files in a folder and the folders in it.
fn files(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(
                files(&entry.path())
                    .into_iter()
                    .map(|inner| format!("{name}/{inner}")),
            );
        }
        names.push(name);
    }
    names.sort();
    names
}
