//! Runs on many models look at files in proportion to their number: pairs of models would be looked
//! at with its square.

use std::fs;
use std::path::Path;
use std::process::Command;

use onnx_recast::internals::tensor::{Reference, moved_to_file};
use prost::Message;

use crate::support::{expect_no_failures, model};
use crate::traced::Traced;

/// Writes models that have data files of their own, and one that all share.
fn write_models(folder: &Path, many: usize) -> Vec<String> {
    let values = |value: f32| [value.to_le_bytes(), 1_f32.to_le_bytes()].concat();
    fs::write(folder.join("shared.data"), values(0.5)).unwrap();
    let write = |index: usize| {
        let mut proto = model(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (float[2] v, float[2] w, float16[2] y)
            <float[2] v = {1, 2}, float[2] w = {1, 2}, float[2] c = {1, 2}> { y = Cast <to = 10> (c) }"#,
        );
        let own = format!("own{index}.data");
        fs::write(folder.join(&own), values(index as f32)).unwrap();
        let initializers = &mut proto.graph.as_mut().unwrap().initializer;
        for (tensor, location) in initializers.iter_mut().zip(["shared.data".to_owned(), own]) {
            *tensor = moved_to_file(
                tensor,
                &Reference {
                    location,
                    offset: 0,
                    length: Some(8),
                },
            );
        }
        let path = folder.join(format!("m{index}.onnx"));
        fs::write(&path, proto.encode_to_vec()).unwrap();
        path.to_str().unwrap().to_owned()
    };
    (0..many).map(write).collect()
}

/// The system calls of a run.
fn calls(many: usize, options: &[&str]) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let models = write_models(folder.path(), many);
    let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
    command
        .arg("fold")
        .args(models)
        .args(options)
        .current_dir(folder.path());
    let traced = Traced::spawn(command);
    let mut calls = 0;
    while let Some(call) = traced.next() {
        traced.allow(call);
        calls += 1;
    }
    let ended = traced.finish();
    assert!(ended.status.success(), "{}", ended.stderr);
    if options.contains(&"out") {
        assert_eq!(
            fs::read_dir(folder.path().join("out")).unwrap().count(),
            2 * many + 1
        );
    }
    calls
}

#[test]
fn a_run_makes_system_calls_in_proportion_to_its_models() {
    let mut failures = Vec::new();
    for options in [
        &["--out-dir", "out"][..],
        &["--dry-run", "--out-dir", "out2"],
    ] {
        let [few, twice, four_times] = [8, 16, 32].map(|many| calls(many, options));
        if few < 8 || four_times - twice > 2 * (twice - few) + 16 {
            failures.push(format!(
                "{options:?}: {few}, {twice} and {four_times} calls"
            ));
        }
    }
    expect_no_failures(failures);
}
