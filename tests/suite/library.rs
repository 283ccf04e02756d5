//! The public interface of the library: whole tasks, and what is left when one fails.

use std::fs;
use std::sync::{Arc, Mutex};

use onnx_recast::graph::Edit;
use onnx_recast::lint::{Baseline, Safety};
use onnx_recast::passes::{self, Pass, Plan};
use onnx_recast::verify::Verification;
use onnx_recast::{
    Array, Cancel, CannotCast, CastOptions, Contested, ConvertOptions, DType, ErrorKind,
    FoldOptions, Invalid, LintOptions, Model, OpenOptions, Packing, Phase, Placement, Progress,
    RoundMode, SaveOptions, Unit, diff,
};
use prost::Message;

use crate::support::{self, expect_no_failures};

const CAST_OF_WEIGHT: &str = r#"<ir_version: 10, opset_import: ["": 19]>
g (float[2, 2] x) => (float16[2, 2] y)
<float[2, 2] w = {1, 2, 3, 4}>
{ [to_half] h = Cast <to = 10> (w)  [x_to_half] xh = Cast <to = 10> (x)  y = MatMul (xh, h) }"#;

/// GroupNormalization has no equivalent in opset 17 if the rank is unknown, and the cast of an INT4
/// none in opset 20.
const TOO_NEW: &str = r#"<ir_version: 10, opset_import: ["": 21]>
g (float[1] x) => (int4[1] y) { [to_int4] y = Cast <to = 22> (x) }"#;

/// `to` is missing.
const INVALID_CAST: &str = r#"<ir_version: 10, opset_import: ["": 21]>
g (float[1] x) => (float[1] y) <float[1] w = {1}> { [bad] h = Cast (w)  y = Add (x, h) }"#;

fn model(text: &str) -> Model {
    Model::from_bytes(support::model(text).encode_to_vec()).unwrap()
}

#[test]
fn a_model_with_external_data_is_opened_folded_converted_and_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (
        folder.path().join("in.onnx"),
        folder.path().join("elsewhere/out.onnx"),
    );
    let external = SaveOptions::default()
        .placement(Placement::File("weights.bin".into()))
        .threshold(0);
    model(CAST_OF_WEIGHT).save_with(&input, &external).unwrap();
    fs::create_dir(output.parent().unwrap()).unwrap();

    let mut model = Model::open(&input).unwrap();
    let folded = model.fold(&FoldOptions::default()).unwrap();
    model.convert(&ConvertOptions::to(21)).unwrap();
    let saved = model.save(&output).unwrap();

    assert_eq!(folded.folded()[0].node, "graph/to_half");
    assert_eq!(saved.notes, Vec::<String>::new());
    let again = Model::open(&output).unwrap();
    let comparison = diff(&model, &again).unwrap();
    assert_eq!(comparison.errors.len(), 0, "{:?}", comparison.errors);
    assert_eq!(
        comparison.differences,
        [],
        "the values can be read where the output says that they are"
    );
    assert_eq!(
        again.inspect().0.external_data,
        Vec::<String>::new(),
        "a folded constant of 8 bytes is stored in the model"
    );
}

#[test]
fn a_model_in_memory_reads_its_data_files_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let external = SaveOptions::default()
        .placement(Placement::File("weights.bin".into()))
        .threshold(0);
    model(CAST_OF_WEIGHT)
        .save_with(folder.path().join("in.onnx"), &external)
        .unwrap();
    let bytes = fs::read(folder.path().join("in.onnx")).unwrap();

    let mut with_folder = OpenOptions::new()
        .folder(folder.path())
        .from_bytes(bytes.clone())
        .unwrap();
    assert_eq!(
        with_folder
            .fold(&FoldOptions::default())
            .unwrap()
            .folded()
            .len(),
        1
    );

    let mut without = Model::from_reader(bytes.as_slice()).unwrap();
    let report = without.fold(&FoldOptions::default()).unwrap();
    assert_eq!(
        (report.folded().len(), report.kept()[0].reason.code()),
        (0, "data-unavailable")
    );
    assert_eq!(
        without.to_bytes().unwrap(),
        bytes,
        "a model that is not changed is written as it was read"
    );
}

#[test]
fn an_operation_that_fails_leaves_the_model_as_it_was() {
    type Operation = fn(&mut Model) -> Result<(), onnx_recast::Error>;
    #[derive(Debug)]
    struct Broken;

    impl Pass for Broken {
        fn name(&self) -> &'static str {
            "broken"
        }

        fn docs(&self) -> &'static str {
            "Defines a name twice.\n"
        }

        fn plan(&self, model: &Model, _: &FoldOptions) -> Result<Plan, Invalid> {
            let node = model.topological_order()[0];
            let with = vec![model.node(node).clone(), model.node(node).clone()];
            Ok(Plan {
                edits: vec![Edit::replace_node(node, with)],
                events: Vec::new(),
            })
        }
    }
    let operations: [(&str, &str, ErrorKind, Operation); 6] = [
        ("convert", TOO_NEW, ErrorKind::NotConvertible, |model| {
            model.convert(&ConvertOptions::to(20)).map(drop)
        }),
        (
            "convert with a stated opset",
            TOO_NEW,
            ErrorKind::NotConvertible,
            |model| {
                model
                    .convert(&ConvertOptions::to(20).from_opset(Some(22)))
                    .map(drop)
            },
        ),
        (
            "convert to nowhere",
            TOO_NEW,
            ErrorKind::InvalidModel,
            |model| model.convert(&ConvertOptions::to(99)).map(drop),
        ),
        ("fold", INVALID_CAST, ErrorKind::InvalidModel, |model| {
            model.fold(&FoldOptions::default()).map(drop)
        }),
        (
            "a pass with a bug",
            CAST_OF_WEIGHT,
            ErrorKind::Internal,
            |model| {
                model
                    .run_passes(&[&Broken], &FoldOptions::default())
                    .map(drop)
            },
        ),
        ("edits", CAST_OF_WEIGHT, ErrorKind::InvalidModel, |model| {
            let node = model.topological_order()[0];
            model.apply(vec![Edit::remove_node(node)])
        }),
    ];
    let mut failures = Vec::new();
    for (name, text, kind, operation) in operations {
        for is_changed in [false, true] {
            let mut model = model(text);
            if is_changed {
                model.apply(vec![Edit::SetIrVersion(11)]).unwrap();
            }
            let before = (
                model.to_bytes().unwrap(),
                model.topological_order().to_vec(),
            );
            match operation(&mut model) {
                Err(error) if error.kind() == kind => {}
                result => failures.push(format!("{name}: {result:?}")),
            }
            if (
                model.to_bytes().unwrap(),
                model.topological_order().to_vec(),
            ) != before
            {
                failures.push(format!(
                    "{name}: the model has changed (edited before: {is_changed})"
                ));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn cancelled_operations_end_with_an_error_and_change_nothing() {
    type Operation = fn(&mut Model) -> Result<(), onnx_recast::Error>;
    let operations: [(&str, Operation); 5] = [
        ("diff", |model| onnx_recast::diff(model, model).map(drop)),
        ("fold", |model| {
            model.fold(&FoldOptions::default()).map(drop)
        }),
        ("convert", |model| {
            model.convert(&ConvertOptions::to(21)).map(drop)
        }),
        ("lint", |model| {
            model.lint(&LintOptions::default()).map(drop)
        }),
        ("fix", |model| {
            model
                .fix(&LintOptions::default(), Safety::Safe, &Baseline::default())
                .map(drop)
        }),
    ];
    let mut failures = Vec::new();
    for (name, operation) in operations {
        let cancel = Cancel::new();
        let mut model = model(CAST_OF_WEIGHT).with_cancel(&cancel);
        let before = model.to_bytes().unwrap();
        cancel.cancel();
        let kind = operation(&mut model).map_err(|error| error.kind());
        if kind != Err(ErrorKind::Cancelled) || model.to_bytes().unwrap() != before {
            failures.push(format!("{name}: {kind:?}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_cancelled_cast_of_an_array_ends_with_an_error() {
    let (seen, cancel) = (Arc::new(Mutex::new(Vec::new())), Cancel::new());
    let noted = Arc::clone(&seen);
    let zeros =
        Array::from_bytes(DType::Float, &[1 << 20], vec![0; 4 << 20], Packing::Packed).unwrap();
    let zeros = zeros
        .with_cancel(&cancel)
        .with_progress(move |progress| noted.lock().unwrap().push(progress));
    let cast = |to| zeros.cast(to, &CastOptions::default());
    // The survey of undefined results can be cancelled, and the computation.
    let halves = cast(DType::Float16).unwrap();
    assert_eq!(halves.to_bytes(Packing::Packed).unwrap().len(), 2 << 20);
    let last = seen
        .lock()
        .unwrap()
        .iter()
        .map(|progress| progress.done)
        .max();
    assert_eq!(last, Some(2 << 20));
    assert!(
        seen.lock()
            .unwrap()
            .iter()
            .all(|progress| (progress.unit, progress.total) == (Unit::Bytes, 2 << 20))
    );
    cancel.cancel();
    assert_eq!(
        halves.to_bytes(Packing::Packed).unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    assert_eq!(cast(DType::Int8).unwrap_err().kind(), ErrorKind::Cancelled);
    assert_eq!(
        cast(DType::String).unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    // A cast that looks at the strings finds one that is not a number.
    let strings = Array::from_strings(&[2], vec!["1".into(), "x".into()]).unwrap();
    let parsed = |strings: Array| {
        strings
            .cast(DType::Double, &CastOptions::default())
            .unwrap_err()
            .kind()
    };
    assert_eq!(parsed(strings.clone()), ErrorKind::CannotCast);
    assert_eq!(parsed(strings.with_cancel(&cancel)), ErrorKind::Cancelled);
}

#[test]
fn options_have_the_names_of_the_command_line() {
    for name in Contested::NAMES {
        assert!(name.parse::<Contested>().is_ok(), "{name}");
    }
    assert_eq!("down".parse(), Ok(RoundMode::Down));
    let unknown = "sideways".parse::<RoundMode>().unwrap_err();
    assert_eq!(unknown.to_string(), "expected up, down or nearest");
    let unknown = passes::selected(["fold"]).unwrap_err();
    assert!(
        unknown.to_string().starts_with(
            "unknown pass 'fold'; did you mean fold-casts? available passes: fold-casts, identity, "
        ),
        "{unknown}"
    );
}

#[test]
fn a_model_that_is_cancelled_while_it_is_written_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let (output, cancel) = (folder.path().join("out.onnx"), Cancel::new());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (noted, cancels) = (Arc::clone(&seen), cancel.clone());
    let mut large = support::model(
        r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[3, 1048576] y) { y = Identity (w) }"#,
    );
    let weight = Array::from_bytes(
        DType::Float,
        &[3, 1 << 20],
        vec![0; 12 << 20],
        Packing::Packed,
    )
    .unwrap()
    .into_tensor("w");
    large.graph.as_mut().unwrap().initializer.push(weight);
    let model = Model::from_bytes(large.encode_to_vec())
        .unwrap()
        .with_cancel(&cancel)
        .with_progress(move |progress| {
            noted.lock().unwrap().push(progress);
            cancels.cancel();
        });
    let error = model.save(&output).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled, "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    let seen = seen.lock().unwrap();
    assert!(
        seen.iter().all(|seen| seen.unit == Unit::Bytes
            && seen.total == model.encoded_len()
            && seen.done < seen.total),
        "{seen:?}"
    );
}

#[test]
fn progress_reaches_the_total() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let mut model =
        model(CAST_OF_WEIGHT).with_progress(move |progress| noted.lock().unwrap().push(progress));
    model.fold(&FoldOptions::default()).unwrap();
    model.convert(&ConvertOptions::to(21)).unwrap();
    let nodes = |done, total| Progress {
        phase: Phase::Planning,
        unit: Unit::Nodes,
        done,
        total,
    };
    assert_eq!(*seen.lock().unwrap(), [nodes(3, 3), nodes(2, 2)]);
}

#[test]
fn a_save_has_phases_and_ends_with_all_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let mut model = model(CAST_OF_WEIGHT);
    let verification = Verification::of_passes(&model, passes::DEFAULT, &FoldOptions::default());
    model.fold(&FoldOptions::default()).unwrap();
    let model = model.with_progress(move |progress| noted.lock().unwrap().push(progress));
    model
        .save_verified(
            folder.path().join("out.onnx"),
            &SaveOptions::default(),
            &verification,
        )
        .unwrap();
    let seen = seen.lock().unwrap();
    let mut phases: Vec<Phase> = seen.iter().map(|seen| seen.phase).collect();
    phases.dedup();
    assert_eq!(
        phases,
        [
            Phase::Writing,
            Phase::Flushing,
            Phase::Verifying,
            Phase::Flushing
        ]
    );
    let last = seen.last().unwrap();
    assert_eq!(
        (last.done, last.total),
        (model.encoded_len(), model.encoded_len())
    );
}

#[test]
fn a_refused_conversion_lists_all_blockers() {
    let error = model(TOO_NEW).convert(&ConvertOptions::to(13)).unwrap_err();
    assert_eq!(error.to_string(), "1 node cannot be converted");
    let blocker = &error.blockers()[0];
    assert_eq!(
        (blocker.node.as_str(), blocker.opset_step),
        ("graph/to_int4", (21, 20))
    );
    assert_eq!(error.nearest_opset(), None);
}

#[test]
fn a_model_with_an_inconsistent_tensor_is_inspected_but_not_changed() {
    let mut proto = support::model(CAST_OF_WEIGHT);
    proto.graph.as_mut().unwrap().initializer[0].dims = vec![7];
    let mut model = Model::from_bytes(proto.encode_to_vec()).unwrap();
    assert_eq!(model.inspect().1.len(), 1);
    let errors = [
        model.fold(&FoldOptions::default()).map(drop),
        model.lint(&LintOptions::default()).map(drop),
    ]
    .map(Result::unwrap_err);
    for error in errors {
        assert_eq!(
            error.place().unwrap().to_string(),
            "graph initializer 'w'",
            "{error}"
        );
    }
}

#[test]
fn the_bytes_of_a_model_are_those_of_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.onnx");
    let mut model = model(CAST_OF_WEIGHT);
    model.fold(&FoldOptions::default()).unwrap();
    let saved = model.save(&path).unwrap();
    let file = fs::read(&path).unwrap();
    assert_eq!(model.to_bytes().unwrap(), file);
    assert_eq!(
        (saved.bytes, model.encoded_len()),
        (file.len() as u64, file.len() as u64)
    );
}

#[test]
fn an_array_that_cannot_be_cast_says_which_element() {
    let floats = |numbers: &[f32]| {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let array = Array::from_bytes(
        DType::Float,
        &[3],
        floats(&[1.0, 3e9, f32::NAN]),
        Packing::Packed,
    )
    .unwrap();
    let error = array
        .cast(DType::Int32, &CastOptions::default())
        .unwrap_err();
    let cause: &CannotCast = error.cause().unwrap();
    assert_eq!(
        (error.kind(), cause.element()),
        (ErrorKind::CannotCast, Some(1)),
        "{error}"
    );
    let allowed = CastOptions::default().undefined(true);
    assert_eq!(
        array
            .cast(DType::Int32, &allowed)
            .unwrap()
            .to_bytes(Packing::Packed)
            .unwrap()
            .len(),
        12
    );

    let fraction = Array::from_bytes(DType::Float, &[1], floats(&[2.6]), Packing::Packed).unwrap();
    let error = fraction
        .cast(DType::Int4, &CastOptions::default())
        .unwrap_err();
    assert!(
        matches!(error.cause(), Some(CannotCast::Contested(_))),
        "{error}"
    );
    let chosen = [Contested::Text, Contested::Runtime].map(|contested| {
        let options = CastOptions::default().contested(Some(contested));
        fraction
            .cast(DType::Int4, &options)
            .unwrap()
            .to_bytes(Packing::Byte)
            .unwrap()
    });
    assert_eq!(chosen, [[3], [2]]);

    let spread = array.cast(DType::Int4, &allowed).unwrap();
    assert_eq!(
        (
            spread.byte_length(Packing::Packed),
            spread.byte_length(Packing::Byte)
        ),
        (Some(2), Some(3))
    );
    let wrong = Array::from_bytes(DType::Float, &[4], floats(&[1.0]), Packing::Packed).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "an array of type FLOAT and shape [4] has 16 bytes, not 4"
    );
}
