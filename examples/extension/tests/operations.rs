//! Operations of the library as another crate uses them: options, progress, cancellation, files in
//! memory, a verified save.

use std::io;
use std::sync::{Arc, Mutex};

use onnx_recast::convert::{Explicit, IrVersion};
use onnx_recast::passes::EXACT;
use onnx_recast::verify::Verification;
use onnx_recast::{
    Array, Cancel, CastOptions, ConvertOptions, DType, ErrorKind, FoldOptions, Model, OpenOptions,
    Packing, Phase, Placement, Progress, ReadAt, RoundMode, SaveOptions, Stored, proto,
};

fn model() -> Model {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float16[2] x) => (float16[2] y) <float[2] w = {1, 2}>
        { [to_half] h = Cast <to = 10> (w) [add] y = Add (x, h) }"#;
    Model::from_text(text).unwrap()
}

#[test]
fn options_are_built_and_extended() {
    let strict = ConvertOptions::to(17).strict(true).exact_only(true);
    let lower = strict
        .clone()
        .opset(13)
        .ir_version(IrVersion::AtMost(8))
        .explicit(Explicit::Relevant);
    for (options, opset) in [(strict, 17), (lower, 13)] {
        let report = model().convert(&options).unwrap();
        assert_eq!(report.to["ai.onnx"], opset);
    }

    let options = CastOptions::default()
        .saturate(false)
        .round_mode(RoundMode::Down)
        .opset(25);
    let bytes = [1.5_f32, 1e9]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect::<Vec<u8>>();
    let array = Array::from_bytes(DType::Float, &[2], bytes, Packing::Packed).unwrap();
    let cast = array.cast(DType::Float8E4M3Fn, &options).unwrap();
    assert_eq!(cast.to_bytes(Packing::Packed).unwrap(), [0x3C, 0x7F]);
}

#[test]
fn a_progress_bar_reaches_its_end_in_each_phase() {
    let seen = Arc::new(Mutex::new(Vec::<Progress>::new()));
    let shown = Arc::clone(&seen);
    let mut model = model().with_progress(move |progress| shown.lock().unwrap().push(progress));
    model.fold(&FoldOptions::default()).unwrap();
    model.write_to(Vec::new()).unwrap();
    let seen = seen.lock().unwrap();
    for phase in [Phase::Planning, Phase::Writing] {
        let last = seen.iter().rfind(|progress| progress.phase == phase);
        assert!(
            last.is_some_and(|last| last.done == last.total),
            "{phase:?}: {seen:?}"
        );
    }
}

#[test]
fn a_progress_callback_can_cancel_the_operation_which_changes_nothing() {
    let cancel = Cancel::new();
    let token = cancel.clone();
    let mut model = model()
        .with_cancel(&cancel)
        .with_progress(move |_| token.cancel());
    let before = model.to_bytes().unwrap();
    assert_eq!(
        model.fold(&FoldOptions::default()).unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    assert_eq!(model.to_bytes().unwrap(), before);
}

/// All tensors in `weights.bin`.
fn in_data_file() -> SaveOptions {
    SaveOptions::default()
        .placement(Placement::File("weights.bin".into()))
        .threshold(0)
}

#[test]
fn files_in_memory_hold_the_model_and_its_data_file() {
    let files = model().into_files(&in_data_file()).unwrap();
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["model.onnx", "weights.bin"]
    );
    assert_eq!(files["weights.bin"][..8], [0, 0, 0x80, 0x3F, 0, 0, 0, 0x40]);
    let weights = files["weights.bin"].clone();
    let read = move |location: &str| match location {
        "weights.bin" => Ok(weights.clone().into()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    let options = OpenOptions::new().data_files(read);
    let mut opened = options.from_bytes(files["model.onnx"].clone()).unwrap();
    assert_eq!(
        opened.fold(&FoldOptions::default()).unwrap().folded().len(),
        1
    );
}

/// A file of another machine, of which ranges can be asked for.
#[derive(Debug)]
struct Remote(Vec<u8>);

impl ReadAt for Remote {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        out.copy_from_slice(&self.0[offset as usize..][..out.len()]);
        Ok(())
    }
}

#[test]
fn a_data_file_can_be_read_in_ranges() {
    let files = model().into_files(&in_data_file()).unwrap();
    let weights = Stored::of_file(Remote(files["weights.bin"].to_vec()));
    let given = weights.clone();
    let opened = OpenOptions::new()
        .data_files(move |_| Ok(given.clone()))
        .from_bytes(files["model.onnx"].clone())
        .unwrap();
    assert_eq!(opened.into_files(&SaveOptions::default()).unwrap(), files);
    assert_eq!(
        (
            weights.try_to_bytes().unwrap().len() as u64,
            weights.failure().is_none()
        ),
        (weights.len(), true)
    );
}

#[test]
fn a_save_is_verified_and_refuses_what_the_passes_did_not_do() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("folded.onnx");
    let (mut folded, options) = (model(), FoldOptions::default());
    let verification = Verification::of_passes(&folded, EXACT, &options);
    folded.run_passes(EXACT, &options).unwrap();
    let (_, verified) = folded
        .save_verified(&output, &SaveOptions::default(), &verification)
        .unwrap();
    assert_eq!(verified.constants, 1);

    let mut other = Model::from_text(&folded.to_text().replace("Add", "Mul")).unwrap();
    other.run_passes(EXACT, &options).unwrap();
    let error = other
        .save_verified(&output, &SaveOptions::default(), &verification)
        .unwrap_err();
    assert_eq!(
        (error.kind(), error.faults()[0].path.as_str()),
        (ErrorKind::NotVerified, "graph/add.op_type")
    );
    assert_eq!(
        std::fs::read(&output).unwrap(),
        folded.to_bytes().unwrap(),
        "the old file is still there"
    );
}

/// The numbers from 0, as FLOAT: a recipe of another crate.
#[derive(Debug)]
struct Ramp {
    elements: usize,
    source: Stored,
}

impl proto::Recipe for Ramp {
    fn bytes(&self) -> usize {
        4 * self.elements
    }

    fn source(&self) -> &Stored {
        &self.source
    }

    fn fill_grains(&self, start: usize, out: &mut [u8]) {
        for (element, bytes) in out.chunks_exact_mut(4).enumerate() {
            bytes.copy_from_slice(&((start / 4 + element) as f32).to_le_bytes());
        }
    }
}

#[test]
fn a_field_is_computed_while_it_is_written() {
    for elements in [0, 1, 95, 96, 97, 1_000, 300_001] {
        let expected: Vec<u8> = (0..elements)
            .flat_map(|number| (number as f32).to_le_bytes())
            .collect();
        let ramp = Arc::new(Ramp {
            elements,
            source: Vec::new().into(),
        });
        let made = proto::Value::Made(ramp.clone());
        assert_eq!(
            (made.length(), made.to_bytes().as_deref()),
            (Some(expected.len()), Some(&expected[..])),
            "{elements} elements"
        );
        let mut piece = vec![0; expected.len() / 3];
        proto::Piece::Made(ramp).fill(expected.len() as u64 / 2, &mut piece);
        assert_eq!(
            piece,
            expected[expected.len() / 2..][..piece.len()],
            "{elements} elements"
        );
    }
}

#[test]
fn messages_are_read_and_written_without_losses() {
    // Field 999 is unknown.
    let bytes: Vec<u8> = [&model().to_bytes().unwrap()[..], &[0xBA, 0x3E, 0x01, 0x2A]].concat();
    let mut message = proto::ModelProto::from_bytes(bytes.clone().into()).unwrap();
    assert_eq!(message.to_bytes(), bytes);
    message.producer_name = Some("another".to_owned());
    let changed = proto::ModelProto::from_bytes(message.to_bytes()).unwrap();
    assert_eq!(
        (changed.producer_name(), changed.rest().len()),
        ("another", 1)
    );
}
