//! `recast report`, and `--report` of other commands: what the page contains, and what it refuses.
//!
//! `.ci/page` opens pages in a browser.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use prost::Message;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::recast;
use crate::support::{expect_no_failures, model};

/// One cast of a constant, one of an input.
const TWO_CASTS: &str = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float16[2] y) <float[2] w = {2, 3}>
    { [first] a = Cast <to = 10> (w) [second] b = Cast <to = 10> (x) y = Add (a, b) }"#;

/// A cast that opset 18 does not have.
const FLOAT8: &str = r#"<ir_version: 10, opset_import: ["": 19]> g (float[2] x) => (float8e4m3fn[2] y) { [eight] y = Cast <to = 17> (x) }"#;

const GOLDEN: &str = "tests/suite/golden/page.json";

fn folder_with(models: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in models {
        fs::write(folder.path().join(name), model(text).encode_to_vec()).unwrap();
    }
    folder
}

/// Runs a command in a folder whose path stands for `DIR` in the arguments; its exit code, and what
/// it says.
fn run(folder: &Path, arguments: &str) -> (Option<i32>, String) {
    let arguments: Vec<String> = arguments
        .split(' ')
        .map(|part| part.replace("DIR", folder.to_str().unwrap()))
        .collect();
    let output = recast(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    (
        output.status.code(),
        String::from_utf8(output.stderr)
            .unwrap()
            .replace(folder.to_str().unwrap(), "DIR"),
    )
}

/// The JSON of a page.
fn content(page: &str) -> Value {
    let (_, after) = page
        .split_once("<script type=\"application/json\" id=\"content\">")
        .expect("the page has its content");
    serde_json::from_str(after.split_once("</script>").expect("the content ends").0)
        .expect("the content is JSON")
}

fn read(path: &Path) -> Value {
    content(&fs::read_to_string(path).unwrap())
}

#[test]
fn the_content_of_a_page_is_as_it_was() {
    let folder = folder_with(&[("m.onnx", TWO_CASTS)]);
    let input = folder.path().join("m.onnx");
    let output = recast(&["report", input.to_str().unwrap(), "--format", "json"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found = String::from_utf8(output.stdout)
        .unwrap()
        .replace(folder.path().to_str().unwrap(), "DIR");
    let found = found.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    if std::env::var_os("RECAST_BLESS").is_some() {
        fs::write(GOLDEN, &found).unwrap();
    }
    assert_eq!(
        found,
        fs::read_to_string(GOLDEN).unwrap(),
        "RECAST_BLESS=1 rewrites {GOLDEN}"
    );
}

#[test]
fn a_page_has_the_documents_of_its_run() {
    let folder = folder_with(&[("a.onnx", TWO_CASTS), ("b.onnx", FLOAT8)]);
    let document = |arguments: &str| {
        let arguments: Vec<String> = arguments
            .split(' ')
            .map(|part| part.replace("DIR", folder.path().to_str().unwrap()))
            .collect();
        let output = recast(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        serde_json::from_slice::<Value>(&output.stdout).expect("the report is JSON")
    };
    let cases = [
        ("fold", "fold DIR/a.onnx DIR/b.onnx --out-dir DIR/out", 0),
        ("convert", "convert DIR/a.onnx --opset 13 --dry-run", 0),
        (
            "convert",
            "convert DIR/a.onnx DIR/b.onnx --opset 18 --dry-run",
            1,
        ),
        (
            "precision",
            "precision DIR/a.onnx DIR/b.onnx --to FLOAT16 --dry-run",
            0,
        ),
        (
            "lint",
            "lint DIR/a.onnx DIR/b.onnx --select ALL --isolated --exit-zero",
            0,
        ),
    ];
    let mut failures = Vec::new();
    for (command, arguments, code) in cases {
        let page = folder.path().join("page.html");
        let (found_code, said) = run(
            folder.path(),
            &format!("{arguments} --format json --report DIR/page.html"),
        );
        let (found, of_run) = (read(&page), document(&format!("{arguments} --format json")));
        let same = match command {
            "lint" => found["lint"]["findings"] == of_run["findings"],
            _ => found[command] == of_run["models"],
        };
        let sketched = found["models"].as_array().map_or(0, Vec::len);
        let expected = arguments.matches(".onnx").count();
        if (found_code, said.as_str()) != (Some(code), "recast: report written to DIR/page.html\n")
            || !same
            || sketched != expected
        {
            failures.push(format!(
                "{arguments}: {found_code:?}, same: {same}, {sketched} models, {said}"
            ));
        }
        fs::remove_file(page).unwrap();
    }
    expect_no_failures(failures);
}

#[test]
fn every_place_of_a_small_model_is_drawn() {
    let folder = folder_with(&[("a.onnx", TWO_CASTS)]);
    assert_eq!(
        run(
            folder.path(),
            "fold DIR/a.onnx -o DIR/b.onnx --report DIR/page.html"
        )
        .0,
        Some(0)
    );
    let page = read(&folder.path().join("page.html"));
    let drawings = &page["models"][0]["drawings"];
    let drawn: BTreeSet<&str> = drawings["nodes"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(drawn, BTreeSet::from(["graph/first", "graph/second"]));
    let first = &drawings["list"][drawings["nodes"]["graph/first"].as_u64().unwrap() as usize];
    let labels: Vec<&str> = first["vertices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|vertex| vertex["label"].as_str().unwrap())
        .collect();
    assert_eq!(labels, ["Cast", "w", "Add", "Cast", "y"]);
    let values: Vec<&String> = drawings["values"].as_object().unwrap().keys().collect();
    assert_eq!(values, ["graph/w"]);
    let edges: Vec<&str> = first["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| edge["value"].as_str().unwrap())
        .collect();
    assert_eq!(edges, ["w", "a", "b", "y"]);
}

#[test]
fn a_page_has_the_verification_the_refusal_and_the_names_of_dimensions() {
    let text = r#"<ir_version: 10, opset_import: ["": 21]> g (float[batch, 2] x) => (float16[batch, 2] y) <float[2] w = {2, 3}>
        { a = Cast <to = 10> (w) [second] b = Cast <to = 10> (x) y = Add (a, b) }"#;
    let folder = folder_with(&[("a.onnx", text), ("b.onnx", FLOAT8)]);
    assert_eq!(
        run(
            folder.path(),
            "fold DIR/a.onnx -o DIR/c.onnx --verify --report DIR/page.html"
        )
        .0,
        Some(0)
    );
    let page = read(&folder.path().join("page.html"));
    assert_eq!(
        page["fold"][0]["verified"],
        serde_json::json!({ "nodes": 2, "constants": 1, "elements": 2 })
    );
    let expected = serde_json::json!({
        "name": "x", "type": "tensor(float)", "shape": [null, 2], "dim_names": ["batch", null], "has_default": false
    });
    assert_eq!(
        page["models"][0]["before"]["inputs"],
        serde_json::json!([expected])
    );
    let types: BTreeSet<&str> = page["models"][0]["drawings"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|drawing| drawing["edges"].as_array().unwrap())
        .map(|edge| edge["type"].as_str().unwrap())
        .collect();
    assert!(
        types.is_superset(&BTreeSet::from(["FLOAT[batch,2]", "FLOAT16[batch,2]"])),
        "{types:?}"
    );
    assert_eq!(
        run(
            folder.path(),
            "convert DIR/b.onnx --opset 13 --dry-run --report DIR/page.html"
        )
        .0,
        Some(1)
    );
    let page = read(&folder.path().join("page.html"));
    let refused = &page["convert"][0];
    assert_eq!(
        (
            &refused["from"]["ai.onnx"],
            &refused["to"]["ai.onnx"],
            &refused["nearest_opset"]
        ),
        (&19.into(), &13.into(), &Value::Null)
    );
}

#[test]
fn a_page_shortens_names_of_megabytes() {
    const LONG: usize = 3_000_000;
    let mut proto = model(TWO_CASTS);
    let graph = proto.graph.as_mut().unwrap();
    let name = "n".repeat(LONG);
    graph.node[0].name = Some(name.clone());
    graph.node[0].input[0].clone_from(&name);
    graph.initializer[0].name = Some(name);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.onnx"), proto.encode_to_vec()).unwrap();
    let (code, said) = run(folder.path(), "report DIR/m.onnx -o DIR/page.html");
    assert_eq!(code, Some(0), "{said}");
    let length = fs::metadata(folder.path().join("page.html")).unwrap().len();
    assert!(length < LONG as u64 / 5, "{length} bytes");
    let page = read(&folder.path().join("page.html"));
    let place = page["fold"][0]["removals"][0]["path"].as_str().unwrap();
    assert!(
        place.starts_with("graph/nnnn") && place.ends_with(')') && place.contains(" bytes, hash "),
        "{}",
        &place[place.len() - 60..]
    );
    assert!(
        page["models"][0]["drawings"]["values"].get(place).is_some(),
        "the drawing is found by the same name"
    );
    assert_eq!(page["fold"][0]["removed_initializers"][0], place);
}

#[test]
fn two_models_are_compared_on_a_page() {
    let folder = folder_with(&[("a.onnx", TWO_CASTS)]);
    assert_eq!(
        run(folder.path(), "fold DIR/a.onnx -o DIR/b.onnx").0,
        Some(0)
    );
    assert_eq!(
        run(
            folder.path(),
            "report DIR/a.onnx DIR/b.onnx -o DIR/page.html"
        ),
        (Some(0), "recast: report written to DIR/page.html\n".into())
    );
    let page = read(&folder.path().join("page.html"));
    let kinds: Vec<&str> = page["diff"]["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["removed", "removed", "added"]);
    let bytes = |side: &str| page["models"][0][side]["tensors"]["by_type"].clone();
    assert_eq!(
        bytes("before"),
        serde_json::json!({ "FLOAT": { "count": 1, "bytes": 8 } })
    );
    assert_eq!(
        bytes("after"),
        serde_json::json!({ "FLOAT16": { "count": 1, "bytes": 4 } })
    );
}

#[test]
fn names_of_a_model_cannot_end_its_json_or_reorder_text() {
    let names = [
        "</script><img src=x onerror=alert(1)>",
        "<!--<script>",
        "a\u{202e}b\u{2028}c",
        "]]>&lt;{{script}}{{content}}",
    ];
    let mut proto = model(TWO_CASTS);
    let graph = proto.graph.as_mut().unwrap();
    for (node, name) in graph.node.iter_mut().zip(names) {
        node.name = Some(name.into());
    }
    graph.initializer[0].name = Some(names[3].into());
    graph.node[0].input[0] = names[3].into();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.onnx"), proto.encode_to_vec()).unwrap();
    let mut failures = Vec::new();
    for arguments in [
        "report DIR/m.onnx -o DIR/page.html",
        "fold DIR/m.onnx --dry-run --report DIR/page.html",
        "lint DIR/m.onnx --select ALL --exit-zero --report DIR/page.html",
        "convert DIR/m.onnx --opset 18 --dry-run --report DIR/page.html",
    ] {
        let (code, said) = run(folder.path(), arguments);
        let page = fs::read_to_string(folder.path().join("page.html")).unwrap_or_default();
        let text = content(&page).to_string();
        let hidden = page.chars().find(|c| matches!(c, '\u{202e}' | '\u{2028}'));
        // Those of the template.
        let ends = page.matches("</script>").count();
        if code != Some(0)
            || ends != 2
            || page.contains("<img")
            || hidden.is_some()
            || !text.contains("onerror")
        {
            failures.push(format!(
                "{arguments}: {code:?}, {ends} scripts end, {hidden:?}, {said}"
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_report_does_not_replace_a_model_or_anything_that_is_not_a_page() {
    let folder = folder_with(&[("a.onnx", TWO_CASTS), ("b.html", TWO_CASTS)]);
    let external = r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y)
        <float[2] w = ["location": "data.html", "offset": "0", "length": "8"]> { y = Add (x, w) }"#;
    fs::write(
        folder.path().join("external.onnx"),
        model(external).encode_to_vec(),
    )
    .unwrap();
    // Of what looks like a page, only the models of the run are known not to use it as data.
    fs::write(folder.path().join("data.html"), "<!DOCTYPE html>\n").unwrap();
    let cases = [
        (
            "fold DIR/a.onnx -o DIR/c.onnx --report DIR/page.txt",
            "DIR/page.txt: the report is an HTML page; use a name that ends in .html",
        ),
        (
            "fold DIR/a.onnx -o DIR/c.onnx --report -",
            "-: the report is an HTML page; use a name that ends in .html",
        ),
        (
            "report DIR/a.onnx -o DIR/a.onnx",
            "DIR/a.onnx: the report is an HTML page; use a name that ends in .html",
        ),
        (
            "lint DIR/b.html --report DIR/b.html",
            "DIR/b.html: is also an input or output of this run; use another name for the report",
        ),
        (
            "fold DIR/a.onnx -o DIR/c.html --report DIR/c.html",
            "DIR/c.html: is also an input or output of this run; use another name for the report",
        ),
        (
            "fold DIR/external.onnx -o DIR/c.onnx --report DIR/data.html",
            "DIR/data.html: DIR/external.onnx stores tensors in this file; use another name for the report",
        ),
        (
            "report DIR/a.onnx DIR/external.onnx -o DIR/data.html",
            "DIR/data.html: DIR/external.onnx stores tensors in this file; use another name for the report",
        ),
        (
            "fold DIR/a.onnx -o DIR/c.onnx --report DIR/missing/page.html",
            "DIR/missing/page.html: the folder DIR/missing does not exist; create it first",
        ),
        (
            "report - - -o DIR/page.html",
            "only one of the two models can be read from standard input",
        ),
    ];
    let files = || -> Vec<_> {
        let mut files: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (fs::read(&path).unwrap(), path))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let mut failures = Vec::new();
    for (arguments, message) in cases {
        let (code, said) = run(folder.path(), arguments);
        if code != Some(2) || said != format!("recast: {message}\n") {
            failures.push(format!("{arguments}: {code:?}, {said}"));
        }
        if files() != before {
            failures.push(format!("{arguments}: wrote a file"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_page_is_written_with_the_errors_of_a_run() {
    let folder = folder_with(&[("a.onnx", TWO_CASTS)]);
    fs::write(folder.path().join("bad.onnx"), b"\xff\xff").unwrap();
    let mut failures = Vec::new();
    for command in [
        "fold DIR/a.onnx DIR/bad.onnx --dry-run",
        "lint DIR/a.onnx DIR/bad.onnx",
    ] {
        let (code, _) = run(folder.path(), &format!("{command} --report DIR/page.html"));
        let page = read(&folder.path().join("page.html"));
        let [models, errors] =
            ["models", "errors"].map(|key| page[key].as_array().map_or(0, Vec::len));
        if (code, models, errors) != (Some(2), 1, 1) {
            failures.push(format!(
                "{command}: {code:?}, {models} models, {errors} errors"
            ));
        }
        fs::remove_file(folder.path().join("page.html")).unwrap();
    }
    // A page without a model would be empty.
    let (code, said) = run(folder.path(), "report DIR/bad.onnx -o DIR/page.html");
    if code != Some(2) || folder.path().join("page.html").exists() {
        failures.push(format!("report: {code:?}, {said}"));
    }
    expect_no_failures(failures);
}

#[test]
fn a_value_with_many_consumers_is_drawn_with_few_of_them() {
    let uses: String = (0..2000)
        .map(|index| format!("[n{index}] y{index} = Relu (a) "))
        .collect();
    let text = format!(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float16[2] y0) <float[2] w = {{2, 3}}>
        {{ [cast] a = Cast <to = 10> (w) {uses} }}"#
    );
    let folder = folder_with(&[("m.onnx", &text)]);
    assert_eq!(
        run(folder.path(), "report DIR/m.onnx -o DIR/page.html").0,
        Some(0)
    );
    let page = read(&folder.path().join("page.html"));
    let drawing = &page["models"][0]["drawings"]["list"][0];
    let vertices = drawing["vertices"].as_array().unwrap();
    assert!(vertices.len() <= 30, "{} vertices", vertices.len());
    assert!(
        vertices[0]["hidden"].as_u64() > Some(900),
        "{}",
        vertices[0]
    );
}
