//! Which nodes runtimes run, and what conversion and passes make of it.

use onnx_recast::internals::onnx_text;
use std::fs;
use std::path::PathBuf;

use onnx_recast::internals::ops::kernels::Table;
use onnx_recast::{ConvertOptions, FoldOptions, LATEST_OPSET, Model, Runtime, Version, passes};

use crate::command::recast;
use crate::support::{expect_no_failures, trained};

fn runtime(name: &str) -> Runtime {
    name.parse().unwrap()
}

fn model(ir_version: i64, opset: i64, graph: &str) -> Model {
    let text = format!(
        r#"<ir_version: {ir_version}, opset_import: ["": {opset}, "com.microsoft": 1, "my": 1]> {graph}"#
    );
    Model::from_text(&text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The files with the facts about a runtime: of its kernels, or of each version that was run.
fn files_of(runtime: &str) -> Vec<String> {
    let facts = "crates/onnx-operators/facts";
    if let Ok(text) = fs::read_to_string(format!("{facts}/kernels/{runtime}.txt")) {
        return vec![text];
    }
    let files = fs::read_dir(format!("{facts}/runs")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let is_of = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let rest = name.strip_prefix(runtime);
        rest.is_some_and(|rest| rest.ends_with(".txt"))
    };
    paths
        .filter(is_of)
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

/// The versions that a file lists.
fn versions_in(text: &str) -> Vec<String> {
    let section = text.split("[versions]\n").nth(1).unwrap();
    let lines = section.lines().take_while(|line| !line.is_empty());
    lines
        .map(|line| line.split(' ').next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_line_of_the_tables_is_read() {
    for table in Table::all() {
        let read: Vec<String> = table.versions().iter().map(ToString::to_string).collect();
        let mut versions: Vec<String> = files_of(table.runtime)
            .iter()
            .flat_map(|text| versions_in(text))
            .collect();
        versions.sort_by_key(|version| Version::read(version));
        assert_eq!(read, versions, "{}", table.runtime);
        assert!(
            table.versions().is_sorted() && table.versions().len() <= 64,
            "{}",
            table.runtime
        );
    }
}

/// What a runtime says of a node: nothing if it runs it.
#[test]
fn nodes_are_matched_with_kernels_by_version_and_types() {
    let cases: &[(&str, i64, &str, &str)] = &[
        ("onnxruntime@1.31", 6, "g (float[2] x) => (float[2] y) { y = Relu (x) }", ""),
        (
            "onnxruntime@1.31",
            5,
            "g (float[2] x) => (float[2] y) { y = Relu (x) }",
            "onnxruntime 1.31 has no kernel for Relu-1 of tensor(float); in opset 6 it has one",
        ),
        // A type that one version of the operator supports, and another does not.
        ("onnxruntime@1.31", 14, "g (int32[2] x) => (int32[2] y) { y = Relu (x) }", ""),
        (
            "onnxruntime@1.31",
            14,
            "g (int16[2] x) => (int16[2] y) { y = Relu (x) }",
            "onnxruntime 1.31 has no kernel for Relu-14 of tensor(int16); no known version has one",
        ),
        (
            "onnxruntime@1.31",
            22,
            "g (float[1,2,4] x) => (float[1,2,1] y) { y = GlobalLpPool (x) }",
            "has no kernel for GlobalLpPool-22 of tensor(float); in opset 21 it has one",
        ),
        // A later version of the runtime has it.
        (
            "onnxruntime@1.22",
            22,
            "g (float[2,4] x) => (float[2,4] y) { y = LpNormalization (x) }",
            "LpNormalization-22 of tensor(float); in opset 21 it has one; onnxruntime 1.25 or later",
        ),
        // Casts are inserted around FLOAT16, of inputs, and not around BFLOAT16.
        ("onnxruntime@1.31", 21, "g (float16[2] x) => (float16[2] y) { y = Sqrt (x) }", ""),
        ("onnxruntime@1.31", 21, "g (bfloat16[2] x) => (bfloat16[2] y) { y = Sqrt (x) }", "no kernel for Sqrt-13 of tensor(bfloat16)"),
        ("onnxruntime@1.31", 21, "g (int64[2,2] x) => (float16[2,2] y) { y = EyeLike <dtype = 10> (x) }", "EyeLike-9"),
        // ONNX defines it as a function.
        ("onnxruntime@1.31", 18, "g (float[2] x) => (float[2] y) { y = Mish (x) }", ""),
        ("onnxruntime@1.31", 18, "g (bfloat16[2] x) => (bfloat16[2] y) { y = Mish (x) }", "no kernel for Mish-18 of tensor(bfloat16)"),
        // Refused in spite of a kernel.
        (
            "onnxruntime@1.31",
            21,
            "g (float[1,2,4] x, float[1,4,4] w, float[1,4,1] r) => (float[1,2,1,1] y) { y = LSTM <hidden_size = 1, layout = 1> (x, w, r) }",
            "no kernel for LSTM-14",
        ),
        ("onnxruntime@1.31", 21, "g (float[1,2,4] x, float[1,4,4] w, float[1,4,1] r) => (float[2,1,1,1] y) { y = LSTM <hidden_size = 1> (x, w, r) }", ""),
        // Constants become initializers, whatever their type is.
        ("onnxruntime@1.31", 21, "g () => (bfloat16 y) { y = Constant <value = bfloat16 {1}> () }", ""),
        // Inner graphs.
        (
            "onnxruntime@1.31",
            22,
            "g (bool c, float[1,2,4] x) => (float[1,2,1] y) {
                y = If <then_branch = t () => (a) { a = GlobalLpPool (x) }, else_branch = e () => (b) { b = GlobalAveragePool (x) }> (c) }",
            "GlobalLpPool-22",
        ),
        // Operators of other domains: one that onnxruntime has, one that it lacks, and one that is
        // not known.
        ("onnxruntime@1.31", 21, "g (float[2] x) => (float[2] y) { y = com.microsoft.Gelu (x) }", ""),
        ("onnxruntime@1.31", 21, "g (float[2] x) => (float[2] y) { y = com.microsoft.NoOperator (x) }", "com.microsoft:NoOperator"),
        ("onnxruntime@1.31", 21, "g (float[2] x) => (float[2] y) { y = my.Operator (x) }", ""),
        // A type that is not known is not refused.
        ("onnxruntime@1.31", 21, "g (float[2] x) => (float[2] y) { a = my.Operator (x) y = Relu (a) }", ""),
        // Kernels that are not known.
        ("rknn@2.0", 14, "g (int16[2] x) => (int16[2] y) { y = Relu (x) }", ""),
    ];
    let mut failures = Vec::new();
    for (name, opset, graph, expected) in cases {
        let found = model(10, *opset, graph).runs_on(&runtime(name));
        let text = found
            .missing
            .iter()
            .map(|missing| missing.kernel.to_string())
            .collect::<Vec<_>>()
            .join("\n");
        if !text.contains(expected)
            || text.is_empty() != expected.is_empty()
            || found.runs != expected.is_empty()
        {
            failures.push(format!("{name}, opset {opset}, {graph}: {text}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn functions_run_with_the_types_of_their_calls_in_their_own_opset() {
    let text = r#"<ir_version: 10, opset_import: ["": 21, "my": 1]>
        g (float[2] x, int16[2] z) => (float[2] y, int16[2] w) { y = my.f (x) w = my.f (z) }
        <domain: "my", opset_import: ["": 14]> f (a) => (b) { b = Relu (a) }
        <domain: "my", opset_import: ["": 5]> uncalled (a) => (b) { b = Relu (a) }"#;
    let found = Model::from_text(text)
        .unwrap()
        .runs_on(&runtime("onnxruntime@1.31"));
    let missing: Vec<_> = found
        .missing
        .iter()
        .map(|missing| (missing.node.as_str(), missing.kernel.operation.as_str()))
        .collect();
    assert_eq!(
        missing,
        [("function/my:f/#0:Relu", "Relu-14 of tensor(int16)")]
    );
}

/// onnxruntime has no ImageDecoder.
#[test]
fn a_runtime_does_not_run_the_nodes_of_training_graphs() {
    let graph = "g (uint8[n] x) => (uint8[h,w,3] y) { y = ImageDecoder (x) }";
    let found = model(10, 20, graph).runs_on(&runtime("onnxruntime@1.31"));
    assert_eq!((found.runs, found.missing.len()), (false, 1));

    let main = model(
        10,
        20,
        "g (uint8[n] x) => (uint8[n] y) { y = Identity (x) }",
    )
    .into_proto();
    let found = Model::new(trained(main, graph))
        .unwrap()
        .runs_on(&runtime("onnxruntime@1.31"));
    assert_eq!((found.runs, found.missing.len()), (true, 0));
}

#[test]
fn nodes_that_are_not_known_are_counted() {
    let graph = "g (float[2] x) => (y, float[2] z) { a = my.Operator (x) b = Relu (a) y = my.Operator (b) z = Abs (x) }";
    let found = model(10, 21, graph).runs_on(&runtime("onnxruntime@1.31"));
    assert_eq!(
        (found.runs, found.undecided_nodes, found.kernels_known),
        (true, 3, true)
    );
    let found = model(10, 21, graph).runs_on(&runtime("rknn@2.0"));
    assert_eq!(
        (found.runs, found.loads, found.kernels_known),
        (false, false, false)
    );
}

#[test]
fn a_newer_version_than_the_newest_is_treated_as_that_one() {
    let (newest, newer) = (
        Table::of("onnxruntime")
            .unwrap()
            .versions()
            .last()
            .unwrap()
            .to_string(),
        "onnxruntime@9.99",
    );
    let graph = "g (float[1,2,4] x) => (float[1,2,1] y) { y = GlobalLpPool (x) }";
    let found = model(10, 22, graph).runs_on(&runtime(newer));
    let expected = format!(
        "onnxruntime 9.99 is not known yet; it is treated as onnxruntime {newest}, the newest known version"
    );
    assert_eq!((found.runs, found.note), (false, Some(expected)));
    assert_eq!(
        runtime(newer).opset,
        runtime(&format!("onnxruntime@{newest}")).opset
    );
}

/// The opset that a target takes, and a part of the notes; or the code of the blockers and a part
/// of their text.
type Outcome = Result<(i64, &'static str), (&'static str, &'static str)>;

#[test]
fn a_target_takes_the_highest_opset_in_which_all_nodes_have_kernels() {
    let cases: &[(&str, i64, &str, Outcome)] = &[
        (
            "onnxruntime@1.31",
            21,
            "g (float[2] x) => (float[2] y) { y = Relu (x) }",
            Ok((21, "")),
        ),
        (
            "onnxruntime@1.17",
            21,
            "g (float[2] x) => (float[2] y) { y = Relu (x) }",
            Ok((20, "")),
        ),
        (
            "onnxruntime@1.31",
            26,
            "g (float[1,2,4] x) => (float[1,2,1] y) { [pool] y = GlobalLpPool (x) }",
            Ok((
                21,
                "opset 21 is used instead of 26: graph/pool: onnxruntime 1.31 has no kernel for GlobalLpPool-22 of tensor(float); in opset 21",
            )),
        ),
        // Two nodes, of which one has no kernel.
        (
            "onnxruntime@1.31",
            22,
            "g (float[1,2,4] x) => (float[1,2,1] y) { a = Round (x) y = GlobalLpPool (a) }",
            Ok((21, "opset 21 is used instead of 22")),
        ),
        // Raised.
        (
            "onnxruntime@1.31",
            5,
            "g (float[2] x) => (float[2] y) { y = Relu (x) }",
            Ok((6, "opset 6 is used instead of 5")),
        ),
        (
            "onnxruntime@1.31",
            13,
            "g (int32[2] x) => (int32[2] y) { y = Abs (x) z = Relu (y) }",
            Err(("node-invalid", "Relu-13")),
        ),
        // None: the operator has no kernel for the type in any version.
        (
            "onnxruntime@1.31",
            21,
            "g (bfloat16[2] x) => (bfloat16[2] y) { y = Sqrt (x) }",
            Err((
                "no-kernel",
                "onnxruntime 1.31 has no kernel for Sqrt-13 of tensor(bfloat16); no known version has one",
            )),
        ),
        // Another version of the runtime has it.
        (
            "onnxruntime@1.20",
            21,
            "g (uint32[2] a, uint32[2] b) => (uint32[2] y) { y = Sub (a, b) }",
            Err(("no-kernel", "onnxruntime 1.21 or later (known to ")),
        ),
        // An older version of a function runs.
        (
            "onnxruntime@1.31",
            22,
            "g (float[2] x) => (float[2] y) { y = Bernoulli (x) }",
            Ok((21, "no kernel for Bernoulli-22")),
        ),
        (
            "onnxruntime@1.31",
            21,
            "g (int16[2] x) => (int16[2] y) { y = Relu (x) }",
            Err((
                "no-kernel",
                "no kernel for Relu-14 of tensor(int16); no known version has one",
            )),
        ),
        // Nor has the expansion a kernel.
        (
            "onnxruntime@1.23",
            24,
            "g (bfloat16[2] x) => (bfloat16[2] y) { y = Swish (x) }",
            Err(("no-kernel", "no kernel for Mul-14 of tensor(bfloat16)")),
        ),
        (
            "onnxruntime@1.17",
            21,
            "g (float[2] x) => (float[2] y) { y = my.Operator (x) }",
            Ok((20, "the kernels of 1 node are not known")),
        ),
        (
            "rknn@2.0",
            21,
            "g (float[2] x) => (float[2] y) { y = Relu (x) }",
            Ok((19, "the kernels of rknn 2.0 are not known")),
        ),
    ];
    let mut failures = Vec::new();
    for (name, opset, graph, expected) in cases {
        let mut model = model(8, *opset, graph);
        let options = ConvertOptions::to(LATEST_OPSET)
            .for_runtime(runtime(name), &model)
            .unwrap();
        let found = match model.convert(&options) {
            Ok(report) => {
                assert!(model.runs_on(&runtime(name)).runs, "{name} {graph}");
                Ok((report.to["ai.onnx"], report.notes.join("\n")))
            }
            Err(error) => {
                let blocker = error
                    .blockers()
                    .first()
                    .unwrap_or_else(|| panic!("{graph}: {error}"));
                Err((blocker.reason.code(), blocker.to_string()))
            }
        };
        let is_expected = match (&found, expected) {
            (Ok((opset, notes)), Ok((wanted, part))) => {
                opset == wanted && notes.contains(part) && part.is_empty() == notes.is_empty()
            }
            (Err((code, text)), Err((wanted, part))) => code == wanted && text.contains(part),
            _ => false,
        };
        if !is_expected {
            failures.push(format!("{name}, opset {opset}, {graph}: {found:?}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_lowest_opset_is_one_that_a_runtime_runs() {
    let relu = "g (float[2] x) => (float[2] y) { y = Relu (x) }";
    let norm = "g (float[2,3] x, float[3] s) => (float[2,3] y) { y = LayerNormalization (x, s) }";
    let mut failures = Vec::new();
    // Graph, opset, runtime; the lowest of all, and the lowest that runs.
    for (graph, opset, name, any, runs) in [
        (relu, 21, "", 1, 6),
        (relu, 3, "", 1, 1),
        (relu, 21, "onnxruntime@1.31", 6, 6),
        (relu, 21, "onnxruntime@1.17", 6, 6),
        (norm, 21, "", 1, 7),
        // No listed version runs it: the lowest of all.
        (
            "g (bfloat16[2] x) => (bfloat16[2] y) { y = Sqrt (x) }",
            21,
            "",
            13,
            13,
        ),
    ] {
        let model = model(8, opset, graph);
        let options = match name {
            "" => ConvertOptions::to(LATEST_OPSET),
            name => ConvertOptions::to(LATEST_OPSET)
                .for_runtime(runtime(name), &model)
                .unwrap(),
        };
        let found = (
            model.lowest_opset(&options),
            model.lowest_running_opset(&options),
        );
        if found.0 != Some(any) || name.is_empty() && found.1 != Some(runs) {
            failures.push(format!(
                "{graph} of opset {opset}, {name}: {found:?}, not {any} and {runs}"
            ));
        }
    }
    expect_no_failures(failures);
}

/// Each would change the type of a node that runs to one for which a version of onnxruntime has no
/// kernel.
#[test]
fn passes_change_no_type_to_one_without_a_kernel() {
    let cases = [
        (
            21,
            "g (bfloat16[1,2] x, int64[2] s) => (bfloat16[a,b] y) { c = Cast <to = 1> (x) d = Expand (c, s) y = Cast <to = 16> (d) }",
        ),
        (
            21,
            "g (bfloat16[1,2] x, int64[2] s) => (bfloat16[a,b] y) { c = Cast <to = 1> (x) d = Tile (c, s) y = Cast <to = 16> (d) }",
        ),
        (
            21,
            "g (int16[1,4,2,2] x) => (int16[1,1,4,4] y) { c = Cast <to = 1> (x) d = DepthToSpace <blocksize = 2> (c) y = Cast <to = 5> (d) }",
        ),
        (
            21,
            "g (float8e4m3fn[2,2] x) => (float8e4m3fn[2,2] y) { c = Cast <to = 1> (x) d = Flatten (c) y = Cast <to = 17> (d) }",
        ),
    ];
    let moved = [
        (
            21,
            "g (float16[1,2] x, int64[2] s) => (float16[a,b] y) { c = Cast <to = 1> (x) d = Reshape (c, s) y = Cast <to = 10> (d) }",
        ),
        (
            21,
            "g (bfloat16[1,2] x, int64[2] s) => (bfloat16[a,b] y) { c = Cast <to = 1> (x) d = Reshape (c, s) y = Cast <to = 16> (d) }",
        ),
    ];
    let mut failures = Vec::new();
    let all = cases
        .into_iter()
        .map(|case| (case, true))
        .chain(moved.into_iter().map(|case| (case, false)));
    for ((opset, graph), stays) in all {
        let mut model = model(10, opset, graph);
        let before = onnx_text::print(model.proto());
        model
            .run_passes(passes::EXACT, &FoldOptions::default())
            .unwrap();
        let after = onnx_text::print(model.proto());
        if (before == after) != stays {
            failures.push(format!("{graph}\n{after}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_command_lists_the_operators_that_a_runtime_lacks() {
    let text = |arguments: &[&str]| {
        let done = recast(arguments);
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap()
    };
    let listed = text(&["targets", "onnxruntime@1.31"]);
    assert!(
        listed.starts_with("onnxruntime 1.31  opset 26, IR 13\n"),
        "{listed}"
    );
    assert!(
        listed.contains("    GlobalLpPool-22  (opset 21 has one)\n"),
        "{listed}"
    );
    assert!(!listed.contains("Relu-"), "{listed}");
    let newer = text(&["targets", "onnxruntime@9.99"]);
    assert!(
        newer.contains("onnxruntime 9.99 is not known yet; it is treated as"),
        "{newer}"
    );
    assert!(text(&["targets", "rknn@2.0"]).contains("its kernels are not known"));
    let json: serde_json::Value =
        serde_json::from_str(&text(&["targets", "onnxruntime@1.31", "--format", "json"])).unwrap();
    assert_eq!(
        (&json["runtime_version"], &json["target"]["opset"]),
        (&"1.31".into(), &26.into())
    );
    let operators = json["operators"].as_array().unwrap();
    assert!(
        operators.contains(&serde_json::json!({"operation": "GlobalLpPool-22", "opset": 21})),
        "{json}"
    );
}

#[test]
fn inspect_says_where_a_model_runs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let newest = Table::of("onnxruntime")
        .unwrap()
        .versions()
        .last()
        .unwrap()
        .to_string();
    let mut failures = Vec::new();
    for (ir_version, opset, graph, expected) in [
        (
            8,
            21,
            "g (float[2] x) => (float[2] y) { y = Relu (x) }",
            vec![
                format!("  runs on onnxruntime 1.18 or later (known to {newest}), openvino 2024.6 or later (known to 2026.4), opencv 4.12 or later (known to 5.0), tract 0.21 or later (known to 0.23), tensorrt "),
                "  does not run on onnxruntime 1.17: opset 20 is the newest that it loads\n".to_owned(),
            ],
        ),
        (
            8,
            5,
            "g (float[2] x) => (float[2] y) { y = Relu (x) }",
            vec![
                "  opset and IR version are supported by onnxruntime 1.15, ".to_owned(),
                format!("  does not run on onnxruntime 1.16 to {newest}: no kernel for Relu-1 of tensor(float)\n"),
            ],
        ),
        // The second node has the types of the first, and attributes that fewer versions support.
        (
            9,
            20,
            "g (float[1,4,2] x) => (float[1,4,2] y, float[1,4,1] z) { y = DFT (x) z = DFT <inverse = 1, onesided = 1> (x) }",
            vec![
                format!("  runs on onnxruntime 1.25 or later (known to {newest})"),
                "  does not run on onnxruntime 1.17 to 1.24: no kernel for DFT-20 of tensor(float)\n".to_owned(),
            ],
        ),
        (
            8,
            16,
            "g (float[2,4] x, float[4] s) => (float[2,4] y) { a = SimplifiedLayerNormalization (x, s) y = LayerNormalization (a, s) }",
            vec![
                format!("  runs on onnxruntime 1.16 or later (known to {newest}), openvino 2024.6 to 2026.4 (2 nodes uncertain), opencv 4.12 to 5.0 (2 nodes uncertain), tract 0.21 to 0.23 (2 nodes uncertain)\n"),
                "  does not run on tensorrt 10.15 to 11.5: no kernel for LayerNormalization-1 of tensor(float); no kernel for SimplifiedLayerNormalization-1 of tensor(float)\n"
                    .to_owned(),
            ],
        ),
        // As found by loading it: the first versions have kernels of FLOAT and DOUBLE only.
        (
            8,
            16,
            "g (bfloat16[2,4] x, bfloat16[4] s) => (bfloat16[2,4] y) { y = SimplifiedLayerNormalization (x, s) }",
            vec![format!("  runs on onnxruntime 1.30 or later (known to {newest}), openvino 2024.6 to 2026.4 (1 node uncertain), opencv 4.12 to 5.0 (1 node uncertain)\n")],
        ),
        (
            8,
            10,
            "g (float[2] x) => (float[2] y) { y = Affine (x) }",
            vec![format!("  does not run on onnxruntime 1.16 to {newest}: no kernel for Affine-10 of tensor(float)\n")],
        ),
        (
            8,
            16,
            "g (float[2] x) => (float[2] y) { a = my.Operator (x) y = Relu (a) }",
            vec!["    the kernels of 1 node are not known: types, or the operators of a domain, are unknown\n".to_owned()],
        ),
    ] {
        fs::write(&path, prost::Message::encode_to_vec(model(ir_version, opset, graph).proto())).unwrap();
        let done = recast(&["inspect", path.to_str().unwrap(), "--verbose"]);
        let found = String::from_utf8(done.stdout).unwrap();
        failures
            .extend(expected.iter().filter(|part| !found.contains(*part)).map(|part| format!("{graph}: no {part:?} in\n{found}")));
    }
    expect_no_failures(failures);
}
