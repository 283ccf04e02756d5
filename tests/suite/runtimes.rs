//! Conversion to what a runtime loads: the opset and the IR version that are chosen, and what is
//! refused.

use onnx_recast::convert::IrVersion;
use onnx_recast::graph::ScopeId;
use onnx_recast::proto::raw;
use onnx_recast::{ConvertOptions, ErrorKind, LATEST_OPSET, Model, Runtime};
use prost::Message;

use crate::command::recast;
use crate::support::{self, expect_no_failures};

/// A chain of operators of opset 1, in this IR version and opset.
fn text(ir_version: i64, opset: i64) -> String {
    format!(
        r#"<ir_version: {ir_version}, opset_import: ["": {opset}]> g (float[2] x) => (float[2] y) {{ h = Relu (x)  y = Relu (h) }}"#
    )
}

fn converted(
    model: &mut Model,
    runtime: Runtime,
    ir_version: IrVersion,
) -> Result<(i64, i64), onnx_recast::Error> {
    let options = ConvertOptions::to(LATEST_OPSET)
        .ir_version(ir_version)
        .for_runtime(runtime, model)?;
    let report = model.convert(&options)?;
    Ok((report.to["ai.onnx"], report.ir_version.to))
}

#[test]
fn a_runtime_lowers_opset_and_ir_version_only_as_far_as_it_needs() {
    let mut failures = Vec::new();
    for (ir_version, opset, runtime, expected) in [
        (10, 21, "onnxruntime@1.17", (20, 9)),
        (10, 19, "onnxruntime@1.17", (19, 9)),
        (8, 13, "onnxruntime@1.17", (13, 8)),
        (3, 7, "onnxruntime@1.17", (7, 3)),
        // Opset 12 is of IR version 7, which that runtime does not load.
        (8, 15, "onnxruntime@1.5.2", (11, 6)),
        // The source of the table does not state an IR version.
        (10, 21, "tensorrt@8.6", (17, 8)),
        (14, 16, "tensorrt@8.6", (16, 14)),
    ] {
        let mut model = Model::from_text(&text(ir_version, opset)).unwrap();
        let runtime: Runtime = runtime.parse().unwrap();
        match converted(&mut model, runtime, IrVersion::Auto) {
            Ok(found) if found == expected => {
                assert!(runtime.loads(model.opset(ScopeId::MAIN, ""), model.ir_version()));
            }
            other => failures.push(format!(
                "IR {ir_version}, opset {opset}, {runtime}: {other:?}, not {expected:?}"
            )),
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_model_that_no_conversion_makes_loadable_is_refused() {
    let runtime: Runtime = "onnxruntime@1.17".parse().unwrap();
    let mut with_metadata = support::model(&text(9, 21));
    let entry = raw::StringStringEntryProto {
        key: Some("key".to_owned()),
        value: Some("value".to_owned()),
    };
    with_metadata.graph.as_mut().unwrap().node[0]
        .metadata_props
        .push(entry.into());
    let with_metadata = Model::from_bytes(with_metadata.encode_to_vec()).unwrap();
    let newer = Model::from_text(&text(10, 19)).unwrap();
    let mut failures = Vec::new();
    for (model, ir_version, kind, message) in [
        (
            &with_metadata,
            IrVersion::Auto,
            ErrorKind::InvalidModel,
            "IR version 9 is too low: metadata_props of a node needs 10",
        ),
        (
            &newer,
            IrVersion::Keep,
            ErrorKind::Usage,
            "onnxruntime 1.17 loads IR versions up to 9; the options demand IR version 10",
        ),
        (
            &newer,
            IrVersion::Number(11),
            ErrorKind::Usage,
            "the options demand IR version 11",
        ),
    ] {
        match converted(&mut model.clone(), runtime, ir_version) {
            Err(error) if error.kind() == kind && error.to_string().contains(message) => {}
            other => failures.push(format!(
                "{ir_version:?}: {other:?}, not {kind:?}: {message}"
            )),
        }
    }
    assert_eq!(
        converted(&mut newer.clone(), runtime, IrVersion::Number(9)).unwrap(),
        (19, 9)
    );
    expect_no_failures(failures);
}

#[test]
fn the_command_refuses_an_ir_version_that_the_runtime_does_not_load() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("m.onnx"), folder.path().join("out.onnx"));
    std::fs::write(&input, support::model(&text(10, 19)).encode_to_vec()).unwrap();
    let [input, output] = [&input, &output].map(|path| path.to_str().unwrap());
    let run = |ir_version| {
        recast(&[
            "convert",
            input,
            "-o",
            output,
            "--target",
            "onnxruntime@1.17",
            "--ir-version",
            ir_version,
        ])
    };
    for refused in ["keep", "10"] {
        let done = run(refused);
        let expected = format!(
            "recast: {input}: onnxruntime 1.17 loads IR versions up to 9; the options demand IR version 10\n"
        );
        assert_eq!(
            (
                done.status.code(),
                String::from_utf8_lossy(&done.stderr).into_owned()
            ),
            (Some(2), expected)
        );
        assert!(!std::path::Path::new(output).exists());
    }
    assert!(run("auto").status.success());
}
