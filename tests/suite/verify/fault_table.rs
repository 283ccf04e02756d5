//! A fault in every field of every message of several models is found, except those that change
//! nothing.

use onnx_recast::internals::run_passes;
use std::collections::BTreeMap;
use std::thread;

use onnx_recast::internals::graph::with_unchecked_tensors;
use onnx_recast::passes::{DEFAULT, EXACT, Options};
use onnx_recast::proto::ModelProto;
use onnx_recast::verify::Verification;
use onnx_recast::{ConvertOptions, Model};

use super::faults::{self, Fault};
use super::models;
use crate::kept::written;
use crate::support::expect_no_failures;
use crate::wire_tree::Schema;

/// What is verified: the result of passes or of a conversion, and how.
struct Result {
    name: String,
    verification: Verification,
    bytes: Vec<u8>,
}

fn results(failures: &mut Vec<String>) -> Vec<Result> {
    let mut results = Vec::new();
    for case in models::all() {
        let original = Model::new(case.model).unwrap();
        for (name, list) in [("fold", DEFAULT), ("exact", EXACT)] {
            let model = run_passes(original.clone(), list, &Options::default())
                .unwrap()
                .0;
            let verification = Verification::of_passes(&original, list, &Options::default());
            results.push(Result {
                name: format!("{} {name}", case.name),
                verification,
                bytes: written(model.proto()),
            });
        }
        let options = ConvertOptions::to(case.opset);
        let mut model = original.clone();
        if let Err(error) = model.convert(&options) {
            failures.push(format!("{}: {error:?}", case.name));
            continue;
        }
        let verification = Verification::of_conversion(&original, &options);
        results.push(Result {
            name: format!("{} convert", case.name),
            verification,
            bytes: written(model.proto()),
        });
    }
    results
}

/// Opens a written model as it is opened for verification.
fn check(verification: &Verification, bytes: Vec<u8>) -> std::result::Result<(), String> {
    let proto = ModelProto::from_bytes(bytes.into()).map_err(|error| error.to_string())?;
    let model = with_unchecked_tensors(proto).map_err(|error| error.to_string())?;
    verification
        .check(&model)
        .map(drop)
        .map_err(|error| error.to_string())
}

#[test]
fn a_fault_in_any_field_is_found() {
    let schema = Schema::load();
    let mut failures = Vec::new();
    let results = results(&mut failures);
    let outcomes: Vec<Outcome> = thread::scope(|scope| {
        let threads: Vec<_> = results
            .iter()
            .map(|result| scope.spawn(|| plant_each(&schema, result)))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let mut missed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (Result { name, .. }, outcome) in results.iter().zip(&outcomes) {
        failures.extend(
            outcome
                .refused
                .iter()
                .map(|error| format!("{name}: {error}")),
        );
        outcome
            .missed
            .iter()
            .for_each(|fault| missed.entry(fault).or_default().push(name));
    }
    for (fault, names) in &missed {
        if !HARMLESS.iter().any(|(harmless, _)| harmless == fault) {
            failures.push(format!("{fault}: was not found in {names:?}"));
        }
    }
    let unused = HARMLESS
        .iter()
        .filter(|(harmless, _)| !missed.contains_key(harmless));
    failures.extend(unused.map(|(harmless, _)| {
        format!("{harmless}: is always found, so that it need not be listed")
    }));
    let faults: usize = outcomes.iter().map(|outcome| outcome.faults).sum();
    assert!(faults > 8000, "only {faults} faults were planted");
    expect_no_failures(failures);
}

/// Kinds of faults that are not always found, and why they change nothing. Beside these, other
/// encodings of the same message are not faults: a value that occurs twice, of which the last one
/// counts.
const HARMLESS: &[(&str, &str)] = &[
    (
        "GraphProto.initializer Swapped",
        "two new initializers: their order means nothing, and the original does not have it",
    ),
    (
        "GraphProto.input Swapped",
        "the inputs that list two new initializers, up to IR 3",
    ),
    (
        "GraphProto.node Swapped",
        "two nodes that passes made, of which neither uses the other",
    ),
    (
        "NodeProto.input Swapped",
        "two inputs of a Concat that are equal values",
    ),
    (
        "TensorProto.int32_data Changed",
        "a BOOL other than 0 and 1, which is read as 1",
    ),
];

/// What came of the faults in one result.
#[derive(Default)]
struct Outcome {
    faults: usize,
    same: usize,
    refused: Option<String>,
    missed: Vec<String>,
}

/// So many faults of each kind are planted in each result.
const MOST_OF_A_KIND: usize = 3;

fn plant_each(
    schema: &Schema,
    Result {
        verification,
        bytes,
        ..
    }: &Result,
) -> Outcome {
    let mut outcome = Outcome {
        refused: check(verification, bytes.clone()).err(),
        ..Outcome::default()
    };
    if outcome.refused.is_some() {
        return outcome;
    }
    let right = schema.read(".onnx.ModelProto", bytes);
    let canonical = schema.canonical(".onnx.ModelProto", &right);
    let mut planted: BTreeMap<String, usize> = BTreeMap::new();
    faults::each(schema, &right, &mut |fault: Fault| {
        let of_kind = planted.entry(fault.name()).or_default();
        *of_kind += 1;
        if *of_kind > MOST_OF_A_KIND {
            return;
        }
        if schema.canonical(".onnx.ModelProto", &fault.tree) == canonical {
            outcome.same += 1;
            return;
        }
        outcome.faults += 1;
        if check(verification, fault.tree.write()).is_ok() {
            outcome.missed.push(fault.name());
        }
    });
    outcome
}
