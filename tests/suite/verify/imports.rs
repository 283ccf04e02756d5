//! The verification shares with the code that it verifies what is listed here, and in
//! docs/verification.md, alone.

use crate::import_cycles::{sources, tokens};
use crate::support::expect_no_failures;

/// What `src/verify/` imports from other modules. A path stands for everything below it.
const ALLOWED: &[&str] = &[
    "base::ahead",
    "base::error",
    "base::hash",
    "base::parallel",
    "base::stored",
    "base::threshold",
    // The definition of the casts; strings have no second one.
    "onnx_cast::Cast",
    "onnx_cast::Contested",
    "onnx_cast::RoundMode",
    "onnx_cast::Rules",
    "onnx_cast::Summary",
    "onnx_cast::Verdict",
    "onnx_cast::convert_element",
    "onnx_cast::format_strings",
    "onnx_cast::parse_strings",
    "onnx_cast::Class",
    "onnx_cast::DType",
    // The selection of the instruction set.
    "onnx_cast::Features",
    "onnx_cast::Kernel",
    "onnx_cast::Level",
    // Comparison of messages.
    "diff::Difference",
    "diff::DifferenceKind",
    "diff::compare",
    "files::DataFolder",
    // Reading of the graph.
    "graph::Attribute",
    "graph::Body",
    "graph::Checkpoint",
    "graph::Model",
    "graph::NodeId",
    "graph::NonNodeUse",
    "graph::Origin",
    "graph::ScopeId",
    "graph::ScopeKind",
    "graph::TypeSource",
    "graph::ValueId",
    "graph::graph_mut",
    "graph::holds_graph",
    "graph::is_onnx_domain",
    "graph::set_element_type",
    "graph::tensor_type",
    "ops::inference::Deferred",
    "ops::inference::Inferred",
    "ops::inference::infer",
    "ops::schemas",
    "ops::validity::node_fault",
    // Pages that were read are released.
    "process::system::release",
    "protobuf::Field",
    "protobuf::Known",
    "protobuf::Lossless",
    "protobuf::Piece",
    "protobuf::ir_version",
    "protobuf::outline",
    "protobuf::raw",
    "protobuf::schema",
    "tensor::Tensor",
    "tensor::Values",
    "tensor::element_count",
    "tensor::raw_data",
    "tensor::without_values",
    // The options and reports of the runs that are verified.
    "passes::LOSSY",
    "passes::Options",
    "passes::Pass",
    "precision::AddedCast",
    "precision::AddedFunction",
    "precision::Report",
    "convert::Options",
    "lint::Baseline",
    "lint::Options",
    "lint::Safety",
];

/// What single files import beside that.
const ALLOWED_IN: &[(&str, &[&str])] = &[
    // Unit tests make elements with it.
    ("src/verify/compare/tests.rs", &["onnx_cast::packed"]),
    // The types of values that wider ones carry are set back, as the report names them.
    (
        "src/verify/carried.rs",
        &[
            "convert::CarriedValue",
            "convert::Report",
            "graph::Edit",
            "graph::TypePlace",
        ],
    ),
    // A conversion is made again.
    ("src/verify/conversion.rs", &["convert"]),
    // The copies of functions that a change of precision reports are added to the original.
    ("src/verify/function_copies.rs", &["graph::Edit"]),
    // The original is fixed again.
    ("src/verify/fixes.rs", &["lint"]),
    // The written model is linted.
    (
        "src/verify/noqa.rs",
        &["graph::MetadataPlace", "lint::name_of", "lint::run::lint"],
    ),
    // The function that rounds in an emulation has one definition, which is added to the original.
    ("src/verify/reported.rs", &["precision::rounding"]),
    (
        "src/verify/roundings.rs",
        &["graph::Edit", "precision::rounding"],
    ),
];

/// The paths below `crate` that a file imports, or uses in its code, and those of the crate with the
/// casts. Unit tests do not count.
fn paths(text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let tokens = tokens(text);
    let mut paths = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "crate" => drop(tree(&tokens[at + 1..], String::new(), &mut paths)),
            "onnx_cast" => drop(tree(&tokens[at + 1..], token.clone(), &mut paths)),
            _ => {}
        }
    }
    paths
}

/// Adds the paths of what follows a name: `::a::{b, c::d}`. Returns the number of tokens.
fn tree(tokens: &[String], mut path: String, paths: &mut Vec<String>) -> usize {
    let mut at = 0;
    while tokens.get(at).is_some_and(|token| token == "::") {
        at += 1;
        match tokens[at].as_str() {
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    if tokens[at] == "," {
                        at += 1;
                        continue;
                    }
                    let inner = format!("{path}::{}", tokens[at]);
                    at += 1;
                    at += tree(&tokens[at..], inner, paths);
                    // A name after `as`.
                    while !matches!(tokens[at].as_str(), "," | "}") {
                        at += 1;
                    }
                }
                return at + 1;
            }
            name => {
                path = format!("{path}::{name}");
                at += 1;
            }
        }
    }
    paths.push(path.trim_start_matches("::").to_owned());
    at
}

#[test]
fn the_verification_imports_nothing_else() {
    let is_below =
        |path: &str, allowed: &str| path == allowed || path.starts_with(&format!("{allowed}::"));
    let (mut failures, mut used) = (Vec::new(), std::collections::BTreeSet::new());
    let files: Vec<_> = sources()
        .into_iter()
        .filter(|(file, _)| file.starts_with("src/verify"))
        .collect();
    assert!(files.len() > 20);
    for (file, text) in files {
        let name = file.display().to_string();
        let more = ALLOWED_IN
            .iter()
            .filter(|(of, _)| *of == name)
            .flat_map(|(_, paths)| *paths);
        let allowed: Vec<&str> = ALLOWED.iter().chain(more).copied().collect();
        for path in paths(&text)
            .into_iter()
            .filter(|path| !path.is_empty() && !path.starts_with("verify"))
        {
            match allowed.iter().find(|allowed| is_below(&path, allowed)) {
                Some(allowed) => drop(used.insert(*allowed)),
                None => failures.push(format!("{name} uses {path}")),
            }
        }
    }
    let all = ALLOWED
        .iter()
        .chain(ALLOWED_IN.iter().flat_map(|(_, paths)| *paths));
    failures.extend(
        all.filter(|path| !used.contains(**path))
            .map(|path| format!("nothing uses {path}")),
    );
    expect_no_failures(failures);
}

#[test]
fn imports_are_found_in_every_form() {
    let forms: [(&str, &[&str]); 6] = [
        ("use crate::a::B;", &["a::B"]),
        (
            "use crate::a::{B, c::{D, E as F}};\nuse crate::g;",
            &["a::B", "a::c::D", "a::c::E", "g"],
        ),
        ("fn f() { crate::a::b::c(1) }", &["a::b::c"]),
        ("pub(crate) use crate::{a::B, c};", &["a::B", "c"]),
        ("// use crate::a;\nuse super::b;", &[]),
        (
            "use onnx_cast::{A, b::C};",
            &["onnx_cast::A", "onnx_cast::b::C"],
        ),
    ];
    let mut failures = Vec::new();
    for (text, expected) in forms {
        let found: Vec<String> = paths(text)
            .into_iter()
            .filter(|path| !path.is_empty())
            .collect();
        if found != expected {
            failures.push(format!("{text}: {found:?}, not {expected:?}"));
        }
    }
    expect_no_failures(failures);
}
