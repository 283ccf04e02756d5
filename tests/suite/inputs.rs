//! What the command accepts as people write it: models as text, patterns, opsets, and what it says
//! of their content.

use std::fs;

use onnx_recast::Model;
use serde_json::Value;

use crate::lint::command::{Folder, stderr, stdout};
use crate::support::expect_no_failures;

const CAST: &str = r#"<ir_version: 10, opset_import: ["": 21]> g () => (float16[2] h) <float[2] w = {1, 2}> { h = Cast <to = 10> (w) }"#;

fn code_and_stderr(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = folder.recast(arguments);
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

#[test]
fn onnx_text_is_read_by_its_name_and_written_in_binary_form() {
    let folder = Folder::new();
    folder.model("binary.onnx", CAST);
    folder.model("binary.onnxtxt", CAST);
    folder.write("m.onnxtxt", CAST.as_bytes());
    folder.write("m.onnxtext", CAST.as_bytes());
    fs::create_dir(folder.path("out")).unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["fold", "m.onnxtxt", "-o", "a.onnx"], "a.onnx"),
        (&["fold", "m.onnxtext", "-o", "b.onnx"], "b.onnx"),
        (&["fold", "m.onnxtxt", "--out-dir", "out"], "out/m.onnx"),
        (&["fold", "binary.onnxtxt", "-o", "c.onnx"], "c.onnx"),
    ];
    folder.recast(&["fold", "binary.onnx", "-o", "expected.onnx"]);
    let mut failures = Vec::new();
    for (arguments, output) in cases {
        let (code, stderr) = code_and_stderr(&folder, arguments);
        if code != Some(0) {
            failures.push(format!("{arguments:?}: {code:?} {stderr}"));
        } else if folder.text(output) != folder.text("expected.onnx") {
            failures.push(format!("{arguments:?}: another model"));
        }
    }
    expect_no_failures(failures);
    assert_eq!(
        code_and_stderr(&folder, &["diff", "m.onnxtxt", "binary.onnx"]),
        (Some(0), String::new())
    );
    assert_eq!(fs::read(folder.path("m.onnxtxt")).unwrap(), CAST.as_bytes());
}

/// Elements of every class at the ends of their ranges, and just beyond.
#[test]
fn an_element_in_onnx_text_that_its_type_does_not_have_is_an_error() {
    let cases = [
        ("int8", "-128", true),
        ("int8", "127", true),
        ("int8", "128", false),
        ("int8", "-129", false),
        ("int64", "-9223372036854775808", true),
        ("int64", "9223372036854775808", false),
        ("uint64", "18446744073709551615", true),
        ("int4", "-8", true),
        ("int4", "8", false),
        ("uint4", "15", true),
        ("uint4", "99", false),
        ("uint2", "3", true),
        ("uint2", "-1", false),
        ("bool", "1", true),
        ("bool", "256", false),
        ("float8e4m3fn", "0xff", true),
        ("float8e4m3fn", "0x100", false),
        ("float6e2m3", "0x40", false),
        ("complex64", "0x3f80000000000000", true),
        ("complex128", "0x1", false),
    ];
    let mut failures = Vec::new();
    for (element_type, element, is_read) in cases {
        let model = format!(
            r#"<ir_version: 14, opset_import: ["": 28]> g () => ({element_type}[1] y) <{element_type}[1] w = {{{element}}}> {{ y = Identity (w) }}"#
        );
        match Model::from_text(&model) {
            Ok(_) if is_read => {}
            Err(error)
                if !is_read
                    && error
                        .to_string()
                        .contains(&format!("'{element}' is not an element of a ")) => {}
            found => failures.push(format!("{element_type} {element}: {:?}", found.err())),
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_pattern_that_matches_nothing_leaves_the_results_of_other_models() {
    let folder = Folder::new();
    folder.model("a.onnx", CAST);
    let unmatched = "none*.onnx: no file matches this pattern";
    let malformed = "[.onnx: is not a valid pattern: unclosed character class; missing ']'";
    let cases: [(&str, &[&str], &[&str]); 6] = [
        ("inspect a.onnx none*.onnx", &["a.onnx"], &[unmatched]),
        ("inspect none*.onnx", &[], &[unmatched]),
        (
            "inspect none*.onnx a*.onnx [.onnx",
            &["a.onnx"],
            &[unmatched, malformed],
        ),
        (
            "fold a.onnx none*.onnx --dry-run",
            &["a.onnx"],
            &[unmatched],
        ),
        (
            "fold a.onnx none*.onnx --out-dir out",
            &["a.onnx"],
            &[unmatched],
        ),
        (
            "convert none*.onnx a.onnx --opset 22 --out-dir out",
            &["a.onnx"],
            &[unmatched],
        ),
    ];
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let mut failures = Vec::new();
    for (line, models, errors) in cases {
        let arguments: Vec<&str> = line.split(' ').chain(["--format", "json"]).collect();
        let output = folder.recast(&arguments);
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let listed = |key: &str| document[key].as_array().cloned().unwrap_or_default();
        let paths: Vec<String> = listed("models")
            .iter()
            .map(|model| text(&model["path"]))
            .collect();
        let found: Vec<String> = listed("errors")
            .iter()
            .map(|error| format!("{}: {}", text(&error["path"]), text(&error["message"])))
            .collect();
        if output.status.code() != Some(2)
            || !document["models"].is_array()
            || paths != models
            || found != errors
        {
            failures.push(format!("{line}: {:?} {document}", output.status.code()));
        }
        if folder.path("out").exists() {
            failures.push(format!("{line}: made the folder of the output"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn patterns_in_quotes_name_models() {
    let folder = Folder::new();
    for name in [
        "exports/a.onnx",
        "exports/deep/b.onnx",
        "exports/c.txt",
        "[x].onnx",
    ] {
        folder.model(name, CAST);
    }
    let inspected = |arguments: &[&str]| {
        let output = folder.recast(&[&["inspect", "--format", "json"], arguments].concat());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let models = document["models"]
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![document]);
        models
            .iter()
            .map(|model| model["path"].as_str().unwrap_or("none").to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        inspected(&["exports/**/*.onnx"]),
        ["exports/a.onnx", "exports/deep/b.onnx"]
    );
    assert_eq!(inspected(&["exports/?.onnx"]), ["exports/a.onnx"]);
    assert_eq!(
        inspected(&["[x].onnx"]),
        ["[x].onnx"],
        "a file of that name comes before the pattern"
    );
    assert_eq!(
        code_and_stderr(
            &folder,
            &["fold", "exports/**/*.onnx", "--out-dir", "folded"]
        )
        .0,
        Some(0)
    );
    assert!(folder.path("folded/a.onnx").exists() && folder.path("folded/b.onnx").exists());
    assert_eq!(
        code_and_stderr(
            &folder,
            &["convert", "exports/*.onnx", "--opset", "v22", "--in-place"]
        )
        .0,
        Some(0)
    );
    let converted = folder.text("exports/a.onnx");
    assert!(
        converted.contains(r#"opset_import: ["": 22]"#),
        "{converted}"
    );
    assert_eq!(
        code_and_stderr(&folder, &["fold", "none/*.onnx", "--in-place"]),
        (
            Some(2),
            "recast: none/*.onnx: no file matches this pattern\n".to_owned()
        )
    );
}

#[test]
fn the_latest_opset_has_a_name() {
    let folder = Folder::new();
    folder.model("m.onnx", CAST);
    let output = folder.recast(&[
        "convert",
        "m.onnx",
        "--opset",
        "latest",
        "--dry-run",
        "--format",
        "json",
    ]);
    let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        document["models"][0]["to"]["ai.onnx"],
        onnx_recast::LATEST_OPSET
    );
}

#[test]
fn a_missing_output_folder_is_named_before_the_model_is_read() {
    let folder = Folder::new();
    folder.write("broken.onnx", b"\xff");
    let hint = ", or use --out-dir, which creates it";
    for (command, hint) in [
        (vec!["fold"], hint),
        (vec!["convert", "--opset", "21"], hint),
        (vec!["cast", "--to", "INT8"], ""),
    ] {
        let (code, stderr) = code_and_stderr(
            &folder,
            &[&command[..], &["broken.onnx", "-o", "none/out.onnx"]].concat(),
        );
        assert_eq!(code, Some(2));
        assert_eq!(
            stderr,
            format!(
                "recast: none/out.onnx: the folder none does not exist; create it first{hint}\n"
            ),
            "{command:?}"
        );
    }
}

#[test]
fn inspect_infers_types_that_the_model_does_not_declare() {
    let folder = Folder::new();
    folder.model(
        "m.onnx",
        r#"<ir_version: 10, opset_import: ["": 21]> g (double[2] x, float[2] y) => (float16[2] a, float[2] b) {
            h = Neg (x) [narrow] a = Cast <to = 10> (h) k = Relu (y) [like] b = CastLike (h, k) }"#,
    );
    let document: Value = serde_json::from_str(&stdout(
        &folder.recast(&["inspect", "m.onnx", "--format", "json"]),
    ))
    .unwrap();
    let casts: Vec<_> = document["casts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|cast| (cast["from"].as_str(), cast["to"].as_str()))
        .collect();
    assert_eq!(
        casts,
        [
            (Some("DOUBLE"), Some("FLOAT16")),
            (Some("DOUBLE"), Some("FLOAT"))
        ]
    );
}

#[test]
fn equal_blockers_are_one_line_of_text_and_single_entries_of_json() {
    let folder = Folder::new();
    let nodes = "[a] p = Mish (x) [b] q = Mish (p) [c] y = LayerNormalization (q, s)";
    folder.model(
        "m.onnx",
        &format!("<ir_version: 8, opset_import: [\"\": 18]> g (float[2] x, float[2] s) => (float[2] y) {{ {nodes} }}"),
    );
    let convert = |option: &[&str]| {
        stdout(
            &folder.recast(
                &[
                    &[
                        "convert",
                        "m.onnx",
                        "--opset",
                        "15",
                        "--no-expand",
                        "-o",
                        "out.onnx",
                    ],
                    option,
                ]
                .concat(),
            ),
        )
    };
    let text = convert(&[]);
    assert!(
        text.contains(
            "    Mish (2 nodes, the first is graph/a), opset 18 to 17: Mish is new in opset 18, and expansion is disabled\n"
        ),
        "{text}"
    );
    assert!(
        text.contains("    graph/c (LayerNormalization), opset 17 to 16: "),
        "{text}"
    );
    let verbose = convert(&["--verbose"]);
    assert!(
        verbose.contains("    graph/a (Mish), ") && verbose.contains("    graph/b (Mish), "),
        "{verbose}"
    );
    let document: Value = serde_json::from_str(&convert(&["--format", "json"])).unwrap();
    assert_eq!(
        document["models"][0]["blockers"].as_array().unwrap().len(),
        3
    );
}

#[test]
fn keys_of_metadata_that_match_nothing_are_told() {
    let folder = Folder::new();
    let text = r#"<ir_version: 10, opset_import: ["": 21], metadata_props: ["origin": "here"]> g (float x) => (float y) { y = Relu (x) }"#;
    folder.model("m.onnx", text);
    let commands: [&[&str]; 3] = [
        &["fold", "m.onnx"],
        &["convert", "m.onnx", "--opset", "20"],
        &["precision", "m.onnx", "--to", "FLOAT16"],
    ];
    for command in commands {
        let run = |more: &[&str]| folder.recast(&[command, &["--dry-run"], more].concat());
        let keys = "--drop-metadata=orig*,stage";
        let text = stdout(&run(&[keys]));
        assert!(
            text.contains(
                "\n  dropped 1 entry of metadata_props\n  no metadata has the key 'stage'\n"
            ),
            "{text}"
        );
        let output = run(&[keys, "--format", "json"]);
        let document: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!(
            document["models"][0]["dropped_metadata"],
            serde_json::json!({"entries": 1, "keys": {"origin": 1}, "unmatched": ["stage"]})
        );
        // Beside a document, a note.
        let note = "recast: m.onnx: nothing matches 'stage'\n";
        assert_eq!(stderr(&output), note);
        let quiet = run(&[keys, "--format", "json", "--quiet"]);
        assert_eq!(stderr(&quiet), "");
        let strict = run(&[keys, "--strict"]);
        let message =
            "recast: m.onnx: no metadata has the key 'stage', which --strict does not permit\n";
        assert_eq!(
            (
                strict.status.code(),
                &*String::from_utf8_lossy(&strict.stderr)
            ),
            (Some(2), message)
        );
        for known in ["--drop-metadata=origin", "--drop-metadata"] {
            let output = run(&[known, "--strict"]);
            assert_eq!(output.status.code(), Some(0), "{known}: {output:?}");
        }
    }
}
