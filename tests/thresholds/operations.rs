//! What every operation makes of a random model is the same with small thresholds, and the
//! constants that it folds are what the definition of the casts makes of each element.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use onnx_cast::packed;
use onnx_recast::front_ends::run_in_memory;
use onnx_recast::internals::graph::data;
use onnx_recast::internals::protobuf::Layout;
use onnx_recast::internals::tensor::{Data, Tensor};
use onnx_recast::passes::EXACT;
use onnx_recast::proto::{NodeProto, Piece, TensorProto};
use onnx_recast::{DType, FoldOptions, Model, Placement, SaveOptions, Stored, diff};
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use prost::Message;

use crate::models::{Made, Reference64, Sketch, sketches};
use crate::{InRanges, with_thresholds};

/// Runs of the command on `in.onnx`, whose data file is `w.bin`.
const COMMANDS: &[&str] = &[
    "fold in.onnx -o out.onnx --format json --verify",
    "fold in.onnx -o sub/out.onnx --external-data inline",
    "fold in.onnx -o out.onnx --external-data new.bin --external-threshold 0 --undefined",
    "fold in.onnx -o sub/out.onnx --passes exact --verify",
    "precision in.onnx --to FLOAT16 -o out.onnx --format json --verify",
    "precision in.onnx --to BFLOAT16 --policy all -o out.onnx --external-data inline",
    "precision in.onnx --to FLOAT -o sub/out.onnx",
    "precision in.onnx --to FLOAT16 --weights-only -o out.onnx",
    "convert in.onnx --opset 28 -o out.onnx --verify",
    "convert in.onnx --opset 18 -o out.onnx --external-data inline",
    "lint in.onnx --select ALL --format json",
    "lint in.onnx --select ALL --fix",
    "report in.onnx --format json",
];

/// The texts and files of a run, by name.
type Outcome = BTreeMap<String, Vec<u8>>;

/// What the commands make of a model.
fn commands(made: &Made, in_ranges: bool) -> Outcome {
    let stored = |bytes: Vec<u8>| {
        if in_ranges {
            Stored::of_file(InRanges(bytes))
        } else {
            bytes.into()
        }
    };
    let mut outcome = Outcome::new();
    for command in COMMANDS {
        let files = [
            ("in.onnx", made.model.encode_to_vec()),
            ("w.bin", made.data.clone()),
            ("sub/other.txt", Vec::new()),
        ];
        let files = files.map(|(name, bytes)| (PathBuf::from(name), stored(bytes)));
        let arguments = std::iter::once("recast")
            .chain(command.split_whitespace())
            .map(OsString::from);
        let ran = run_in_memory(arguments, files, |_| {}).unwrap();
        let texts = format!("{:?}\n{}\n{}", ran.code, ran.output, ran.errors);
        outcome.insert(format!("{command}: texts"), texts.into_bytes());
        for (path, pieces) in ran.written {
            outcome.insert(format!("{command}: {}", path.display()), bytes_of(pieces));
        }
    }
    outcome
}

fn bytes_of(pieces: Vec<Piece>) -> Vec<u8> {
    let mut file = Vec::new();
    Layout::of_pieces(pieces).write_to(&mut file).unwrap();
    file
}

/// What the library makes of a model on the disk: files with the model folded, by both lists of
/// passes and in every storage, each of which is saved twice, and the differences.
fn files(made: &Made, folder: &Path) -> Outcome {
    let mut outcome = Outcome::new();
    fs::write(folder.join("in.onnx"), made.model.encode_to_vec()).unwrap();
    fs::write(folder.join("w.bin"), &made.data).unwrap();
    let original = Model::open(folder.join("in.onnx")).unwrap();
    for (number, placement) in [
        Placement::Keep,
        Placement::Inline,
        Placement::File("out.bin".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        let out = folder.join(format!("out{number}"));
        fs::create_dir_all(&out).unwrap();
        let mut folded = Model::open(folder.join("in.onnx")).unwrap();
        let report = match number {
            1 => folded.fold(&FoldOptions::default()),
            _ => folded.run_passes(EXACT, &FoldOptions::default()),
        };
        outcome.insert(
            format!("{number}: report"),
            format!("{report:?}").into_bytes(),
        );
        outcome.insert(
            format!("{number}: bytes"),
            folded
                .to_bytes()
                .map_or_else(|error| error.to_string().into(), |bytes| bytes.to_vec()),
        );
        outcome.insert(
            format!("{number}: differences"),
            format!("{:?}", diff(&original, &folded)).into_bytes(),
        );
        for _ in 0..2 {
            let options = SaveOptions::default()
                .placement(placement.clone())
                .threshold(100);
            let saved = folded.save_with(out.join("out.onnx"), &options);
            outcome.insert(
                format!("{number}: saved"),
                format!("{:?}", saved.map(|saved| saved.data_file.is_some())).into_bytes(),
            );
        }
        for entry in fs::read_dir(&out).unwrap() {
            let path = entry.unwrap().path();
            outcome.insert(
                format!("{number}: {}", path.file_name().unwrap().display()),
                fs::read(&path).unwrap(),
            );
        }
    }
    outcome
}

/// The names of the outcomes that differ.
fn differences(expected: &Outcome, found: &Outcome) -> Vec<String> {
    let names = expected
        .keys()
        .chain(found.keys().filter(|name| !expected.contains_key(*name)));
    names
        .filter(|name| expected.get(*name) != found.get(*name))
        .cloned()
        .collect()
}

/// Compares the constants of a model, as far as they have the names and types of known values, with
/// these values. Returns how many were compared, and the names of those that differ.
fn compare(model: &Model, expected: &Reference64) -> (usize, Vec<String>) {
    let (mut compared, mut wrong) = (0, Vec::new());
    for (name, tensor) in constants(model) {
        let Ok(content) = Tensor::read(&tensor).and_then(|tensor| tensor.load(data(model))) else {
            continue;
        };
        let (Data::Numbers(stored, _), Some((dtype, codes))) =
            (content.data(), expected.get(&name))
        else {
            continue;
        };
        if content.dtype() != *dtype {
            continue;
        }
        let (bytes, bits) = (stored.to_bytes(), dtype.bits());
        // A BOOL byte other than 0 and 1 counts as 1.
        let value = |code: u64| match dtype {
            DType::Bool => u64::from(code != 0),
            _ => code,
        };
        let is_wrong =
            |index: usize| value(packed::get(bits, &bytes, index)) != value(codes[index]);
        compared += 1;
        if content.elements() != codes.len() || (0..codes.len()).any(is_wrong) {
            wrong.push(name);
        }
    }
    (compared, wrong)
}

/// The tensors of all graphs and functions, by the names of their values.
fn constants(model: &Model) -> Vec<(String, TensorProto)> {
    let graph = model.proto().graph.as_ref().unwrap();
    let mut found = Vec::new();
    let mut graphs = vec![&**graph];
    let mut lists: Vec<&[NodeProto]> = model
        .proto()
        .functions
        .iter()
        .map(|function| &function.node[..])
        .collect();
    while let Some(graph) = graphs.pop() {
        found.extend(
            graph
                .initializer
                .iter()
                .map(|tensor| (tensor.name().to_owned(), tensor.clone())),
        );
        lists.push(&graph.node);
        graphs.extend(
            graph
                .node
                .iter()
                .flat_map(|node| &node.attribute)
                .filter_map(|attribute| attribute.g.as_deref()),
        );
    }
    for node in lists.into_iter().flatten() {
        let tensors = node
            .attribute
            .iter()
            .filter_map(|attribute| attribute.t.as_ref());
        found.extend(tensors.map(|tensor| (node.output[0].clone(), tensor.clone())));
    }
    found
}

/// What a sketch disproves, and the number of constants that were compared with their definition.
fn check(sketch: &Sketch) -> Result<usize, TestCaseError> {
    let made = sketch.build();
    let run = |seed: Option<u64>| {
        let folder = tempfile::tempdir().unwrap();
        with_thresholds(seed, || {
            let mut outcome = commands(&made, sketch.in_ranges);
            outcome.extend(files(&made, folder.path()));
            (outcome, folder)
        })
    };
    let (expected, _folder) = run(None);
    let (found, folder) = run(Some(sketch.seed));
    let different = differences(&expected, &found);
    if let Some(name) = different.first() {
        let text = |outcome: &Outcome| {
            outcome
                .get(name)
                .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
        };
        let texts = format!(
            "{:?}\nwith the usual thresholds: {:?}",
            text(&found),
            text(&expected)
        );
        return Err(TestCaseError::fail(format!(
            "{} differ\n{texts}",
            different.join(", ")
        )));
    }
    let mut compared = 0;
    for number in 0..3 {
        let Ok(model) = Model::open(folder.path().join(format!("out{number}/out.onnx"))) else {
            continue;
        };
        let (count, wrong) = compare(&model, &made.expected);
        compared += count;
        if !wrong.is_empty() {
            return Err(TestCaseError::fail(format!(
                "out{number}: wrong elements in {}",
                wrong.join(", ")
            )));
        }
    }
    Ok(compared)
}

/// Cases unless `PROPTEST_CASES` states another number.
const CASES: u32 = 16;

#[test]
fn operations_do_the_same_with_small_thresholds() {
    let cases = std::env::var("PROPTEST_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(CASES);
    let compared = std::cell::Cell::new(0);
    let mut runner = TestRunner::new(Config {
        cases,
        source_file: Some(file!()),
        ..Config::default()
    });
    let result = runner.run(&sketches(), |sketch| {
        compared.set(compared.get() + check(&sketch)?);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        compared.get() > cases as usize,
        "only {} constants were compared",
        compared.get()
    );
}
