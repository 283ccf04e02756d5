//! Passes: what their results have in common. `tests/cases/passes/` has models before and after.

use onnx_recast::internals::graph::Model;
use onnx_recast::internals::passes::{self, Options, Pass};

use crate::support::{expect_no_failures, model};

/// Runtimes differ in the definition that the branch uses. Each pass alone, and all exact ones together.
#[test]
fn both_definitions_of_a_name_are_kept() {
    const INNER: &str = "y = If (c) <then_branch = t () => (float[2] p) { v = Tanh (x) p = Neg (v) },
                                     else_branch = e () => (float[2] q) { q = Neg (x) }>";
    let nested = format!(
        "y = If (c) <then_branch = t () => (float[2] o) {{ v = Abs (x) {} o = Neg (k) }},
                     else_branch = f () => (float[2] s) {{ s = Neg (x) }}>",
        INNER.replace("y = If", "k = If")
    );
    let models = [
        ("a result that nothing uses", "", "v = Abs (x)", INNER),
        ("a result that is defined after the branch", "", INNER, "v = Abs (x)"),
        ("a result that a removed node uses", "", "v = Abs (x) u = Neg (v)", INNER),
        ("what a shadowed result is computed from", "", "u = Abs (x) v = Neg (u)", INNER),
        ("one of two results", "int64[1] k = {1}", "v, i = TopK (x, k)", INNER),
        ("a result in a branch", "", "", &nested),
        ("an initializer that nothing uses", "float[2] v = {1, 2}", "", INNER),
        (
            "an initializer that is equal to another",
            "float[2] u = {1, 2}, float[2] v = {1, 2}",
            "a = Add (x, u) z = Add (a, v)",
            INNER,
        ),
        ("an Identity", "", "v = Identity (x) z = Abs (v)", INNER),
        ("the input of an Identity", "", "v = Abs (x) z = Identity (v)", INNER),
        ("a cast to the same type", "", "v = Cast <to = 1> (x) z = Abs (v)", INNER),
        ("a cast that another one undoes", "", "v = Cast <to = 11> (x) w = Cast <to = 1> (v) z = Abs (w)", INNER),
        ("a narrower cast that another one undoes", "", "v = Cast <to = 10> (x) w = Cast <to = 1> (v) z = Abs (w)", INNER),
        (
            "the second of two equal casts",
            "",
            "u = Cast <to = 7> (x) v = Cast <to = 7> (x) a = Add (u, v) z = Cast <to = 1> (a)",
            INNER,
        ),
        ("a cast before a move", "int64[1] s = {2}", "v = Cast <to = 11> (x) r = Reshape (v, s) z = Cast <to = 1> (r)", INNER),
        ("a move between casts", "int64[1] s = {2}", "u = Cast <to = 11> (x) v = Reshape (u, s) z = Cast <to = 1> (v)", INNER),
        ("casts of a Concat", "", "u = Cast <to = 11> (x) v = Cast <to = 11> (x) z = Concat <axis = 0> (u, v)", INNER),
        (
            "casts of parts",
            "",
            "a, b = Split <num_outputs = 2> (x) v = Cast <to = 11> (a) w = Cast <to = 11> (b) z = Add (v, w)",
            INNER,
        ),
        ("a constant that is cast", "float[2] w = {1, 2}", "v = Cast <to = 11> (w) z = Neg (v)", INNER),
        ("a Constant of which a cast is folded", "", "v = Constant <value_floats = [1.0, 2.0]> () z = Cast <to = 11> (v)", INNER),
    ];
    let definitions = |model: &Model| model.values().filter(|&value| model.name(value) == "v").count();
    let names = passes::all().map(|(_, pass)| pass.name).chain(["exact"]);
    let mut failures = Vec::new();
    for name in names {
        let selected: Vec<Pass> = passes::selected([name]).unwrap();
        for (what, initializers, before, after) in models {
            let outputs = if before.contains("z = ") { "float[2] y, z" } else { "float[2] y" };
            let source = format!(
                r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x, bool c) => ({outputs}) <{initializers}> {{ {before} {after} }}"#
            );
            let model = Model::new(model(&source)).unwrap();
            let expected = definitions(&model);
            match passes::run(model, &selected, &Options::default()) {
                Ok((model, _)) if expected == 2 && definitions(&model) == expected => {}
                Ok((model, _)) => failures.push(format!("{name}: {what}: {} of {expected} definitions", definitions(&model))),
                Err(error) => failures.push(format!("{name}: {what}: {error}")),
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn every_pass_has_a_name_of_its_own_and_a_documentation() {
    let names: Vec<&str> = passes::all().map(|(_, pass)| pass.name).collect();
    let mut failures = Vec::new();
    for (_, pass) in passes::all() {
        let documentation = pass.docs;
        if names.iter().filter(|name| **name == pass.name).count() != 1 {
            failures.push(format!("{} is the name of several passes", pass.name));
        }
        if pass.summary().len() < 10 || pass.name != "fold-casts" && !documentation.contains("\n1. ") {
            failures.push(format!("{} has no cases in its documentation: {documentation}", pass.name));
        }
    }
    expect_no_failures(failures);
}

/// Several nodes may have one name, and then their subgraphs have one path; a value may have an empty name.
#[test]
fn folds_of_equal_paths_are_told_apart() {
    let branch = |output: &str, constant: &str, other: &str| {
        format!(
            "[n] {output} = If (c) <then_branch = a () => (float16[1] h) {{ {constant} }}, else_branch = b () => (float16[1] h) {{ {other} }}>"
        )
    };
    let folds = "w = Constant <value = float[1] {1}> () h = Cast <to = 10> (w)";
    let stays = "h = Cast <to = 10> (x)";
    let source = format!(
        r#"<ir_version: 8, opset_import: ["": 18]> g (bool c, float[1] x) => (float16[1] y, float16[1] z) {{ {} {} }}"#,
        branch("y", folds, stays),
        branch("z", stays, folds)
    );
    let (_, report) = passes::run(Model::new(model(&source)).unwrap(), passes::DEFAULT, &Options::default()).unwrap();
    assert_eq!(report.folded().len(), 2);

    let source = r#"<ir_version: 8, opset_import: ["": 18]> g (float[1] x) => (float[1] y)
        { w = Constant <value = float[1] {1}> () h = Cast <to = 10> (w) y = Relu (x) }"#;
    let mut proto = crate::support::model(source);
    let graph = proto.graph.as_mut().unwrap();
    graph.input[0].name = Some(String::new());
    graph.node[1].output[0] = String::new();
    graph.node[2].input[0] = "w".to_owned();
    passes::run(Model::new(proto).unwrap(), passes::DEFAULT, &Options::default()).unwrap();
}
