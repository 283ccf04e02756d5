//! What a run writes does not depend on the seeds of hash tables, which every process chooses anew,
//! nor on the order in which threads end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use prost::Message;

use crate::support::{expect_no_failures, model};

/// Enough for an order of two things that is random to be the same in all runs once in half a
/// million.
const RUNS: usize = 20;

/// Several of everything that is listed: casts before one node, nodes that lose their uses,
/// constants that are merged, functions that call each other, operators of several domains,
/// findings, blockers and names of dimensions.
const MODELS: [(&str, &str); 3] = [
    (
        "casts.onnx",
        r#"<ir_version: 10, opset_import: ["": 21]>
        g (float[N, 2] a, float[N, 2] b, float[M, 2] c, float[M, 2] d) => (float16[K, 2] y, float[2] z, float8e4m3fn[2] q)
        <float[2] v = {1, 2}, float[2] w = {1, 2}, float[2] u = {1, 2}, float[2] big = {1e9, -1e9}, double[2] e = {3, 4}, double[2] f = {3, 4}>
        { a16 = Cast <to = 10> (a) b16 = Cast <to = 10> (b) c16 = Cast <to = 10> (c) d16 = Cast <to = 10> (d)
          y = Concat <axis = 0> (a16, b16, c16, d16)
          p = Cast <to = 10> (v) r = Cast <to = 10> (w) s = Cast <to = 16> (u) t = Cast <to = 11> (p) k = Cast <to = 1> (t)
          l = Cast <to = 1> (r) m = Cast <to = 1> (s) n = Cast <to = 1> (e) o = Cast <to = 1> (f)
          z = Sum (k, l, m, n, o) q = Cast <to = 17> (big) }"#,
    ),
    (
        "functions.onnx",
        r#"<ir_version: 10, opset_import: ["": 21, "l": 1, "com.microsoft": 1]>
        g (float[2] x) => (float[2] y) { a = l.even <to: int = 10> (x) b = l.odd <to: int = 16> (x) c = l.leaf <to: int = 1> (a)
                                        d = com.microsoft.Gelu (c) y = Sum (c, d) }
        <domain: "l", opset_import: ["": 21, "l": 1]>
        even <to> (x) => (y) { h = Cast <to: int = @to> (x) z = l.odd <to: int = @to> (x) k = l.leaf <to: int = @to> (z) y = Identity (h) }
        <domain: "l", opset_import: ["": 21, "l": 1]>
        odd <to> (x) => (y) { h = Cast <to: int = @to> (x) z = l.even <to: int = @to> (x) k = l.leaf <to: int = @to> (z) y = Identity (h) }
        <domain: "l", opset_import: ["": 21]>
        leaf <to> (x) => (y) { y = Cast <to: int = @to> (x) }"#,
    ),
    (
        "newer.onnx",
        r#"<ir_version: 11, opset_import: ["": 23]>
        g (float[2, 4, 8, 8] x, int4[4] i, uint4[4] j) => (float[2, 4, 8, 8] y, float[4] k, float[4] l)
        <float[4] scale = {1, 1, 1, 1}, float[4] bias = {0, 0, 0, 0}>
        { n = GroupNormalization <num_groups = 2> (x, scale, bias) g1 = Gelu (n) g2 = Mish (n) g3 = HardSwish (n)
          y = Sum (g1, g2, g3) k = Cast <to = 1> (i) l = Cast <to = 1> (j) }"#,
    ),
];

/// Each with a folder, in which its outputs are.
const COMMANDS: [&str; 10] = [
    "fold {models} --out-dir out --format json --report fold.html",
    "fold {models} --passes exact --out-dir exact --verbose",
    "fold {models} --passes exact,lossy-casts --undefined fold --contested text --dry-run --format json",
    "convert {models} --opset 25 --out-dir up --format json --report up.html",
    "convert casts.onnx newer.onnx --opset 14 --expand function --out-dir down --format json",
    "convert {models} --opset 9 --dry-run --format json --report blockers.html",
    "lint . --select ALL --show-overlapping --format json --report lint.html",
    "inspect {models} --types --format json",
    "diff casts.onnx newer.onnx --format json",
    "report casts.onnx -o report.html",
];

/// The output, the exit code and the files of a run of each command, in a folder of its own.
fn run(models: &[(String, Vec<u8>)]) -> BTreeMap<String, Vec<u8>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in models {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    let names: Vec<&str> = models.iter().map(|(name, _)| name.as_str()).collect();
    let mut found = BTreeMap::new();
    for command in COMMANDS {
        // Functions that call each other are not converted.
        let names = names
            .iter()
            .copied()
            .filter(|&name| name != "functions.onnx" || !command.starts_with("convert"));
        let arguments = command.replace("{models}", &names.collect::<Vec<_>>().join(" "));
        let mut process = Command::new(env!("CARGO_BIN_EXE_recast"));
        let output = process
            .args(arguments.split(' '))
            .current_dir(folder.path())
            .output()
            .expect("the command starts");
        let code = output.status.code().expect("the command is not killed");
        assert!(
            code < 2 || command.starts_with("lint"),
            "{command}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        found.insert(format!("{command}: exit code"), vec![code as u8]);
        found.insert(format!("{command}: standard output"), output.stdout);
        found.insert(format!("{command}: standard error"), output.stderr);
    }
    collect(folder.path(), &mut found);
    found
}

fn collect(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found)
        } else {
            drop(found.insert(
                path.file_name().unwrap().to_str().unwrap().to_owned(),
                fs::read(&path).unwrap(),
            ))
        }
    }
}

#[test]
fn all_runs_give_the_same_models_reports_and_pages() {
    let mut models: Vec<(String, Vec<u8>)> = MODELS
        .iter()
        .map(|&(name, text)| (name.to_owned(), model(text).encode_to_vec()))
        .collect();
    for name in [
        "annotated.onnx",
        "control_flow.onnx",
        "fp8_qdq.onnx",
        "subbyte_quant.onnx",
    ] {
        models.push((
            name.to_owned(),
            fs::read(Path::new("models").join(name)).unwrap(),
        ));
    }
    let first = run(&models);
    let mut failures = Vec::new();
    for _ in 1..RUNS {
        let next = run(&models);
        assert_eq!(
            first.keys().collect::<Vec<_>>(),
            next.keys().collect::<Vec<_>>()
        );
        failures.extend(
            first
                .iter()
                .filter(|(name, bytes)| next[*name] != **bytes)
                .map(|(name, _)| name.clone()),
        );
    }
    failures.sort();
    failures.dedup();
    expect_no_failures(failures);
}
