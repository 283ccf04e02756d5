//! Passes: what their results have in common. `tests/cases/passes/` has models before and after.

use onnx_recast::Model;
use onnx_recast::internals::{all_passes, run_passes};
use onnx_recast::passes::{self, Options, Pass};
use onnx_recast::proto::raw;

use crate::support::{difference, expect_no_failures, model};

/// Runtimes differ in the definition that the branch uses. Each pass alone, and all exact ones
/// together.
#[test]
fn both_definitions_of_a_name_are_kept() {
    const INNER: &str =
        "y = If (c) <then_branch = t () => (float[2] p) { v = Tanh (x) p = Neg (v) },
                                     else_branch = e () => (float[2] q) { q = Neg (x) }>";
    let nested = format!(
        "y = If (c) <then_branch = t () => (float[2] o) {{ v = Abs (x) {} o = Neg (k) }},
                     else_branch = f () => (float[2] s) {{ s = Neg (x) }}>",
        INNER.replace("y = If", "k = If")
    );
    let models = [
        ("a result that nothing uses", "", "v = Abs (x)", INNER),
        (
            "a result that is defined after the branch",
            "",
            INNER,
            "v = Abs (x)",
        ),
        (
            "a result that a removed node uses",
            "",
            "v = Abs (x) u = Neg (v)",
            INNER,
        ),
        (
            "what a shadowed result is computed from",
            "",
            "u = Abs (x) v = Neg (u)",
            INNER,
        ),
        (
            "one of two results",
            "int64[1] k = {1}",
            "v, i = TopK (x, k)",
            INNER,
        ),
        ("a result in a branch", "", "", &nested),
        (
            "an initializer that nothing uses",
            "float[2] v = {1, 2}",
            "",
            INNER,
        ),
        (
            "an initializer that is equal to another",
            "float[2] u = {1, 2}, float[2] v = {1, 2}",
            "a = Add (x, u) z = Add (a, v)",
            INNER,
        ),
        ("an Identity", "", "v = Identity (x) z = Abs (v)", INNER),
        (
            "the input of an Identity",
            "",
            "v = Abs (x) z = Identity (v)",
            INNER,
        ),
        (
            "a cast to the same type",
            "",
            "v = Cast <to = 1> (x) z = Abs (v)",
            INNER,
        ),
        (
            "a cast that another one undoes",
            "",
            "v = Cast <to = 11> (x) w = Cast <to = 1> (v) z = Abs (w)",
            INNER,
        ),
        (
            "a narrower cast that another one undoes",
            "",
            "v = Cast <to = 10> (x) w = Cast <to = 1> (v) z = Abs (w)",
            INNER,
        ),
        (
            "the second of two equal casts",
            "",
            "u = Cast <to = 7> (x) v = Cast <to = 7> (x) a = Add (u, v) z = Cast <to = 1> (a)",
            INNER,
        ),
        (
            "a cast before a move",
            "int64[1] s = {2}",
            "v = Cast <to = 11> (x) r = Reshape (v, s) z = Cast <to = 1> (r)",
            INNER,
        ),
        (
            "a move between casts",
            "int64[1] s = {2}",
            "u = Cast <to = 11> (x) v = Reshape (u, s) z = Cast <to = 1> (v)",
            INNER,
        ),
        (
            "casts of a Concat",
            "",
            "u = Cast <to = 11> (x) v = Cast <to = 11> (x) z = Concat <axis = 0> (u, v)",
            INNER,
        ),
        (
            "casts of parts",
            "",
            "a, b = Split <num_outputs = 2> (x) v = Cast <to = 11> (a) w = Cast <to = 11> (b) z = Add (v, w)",
            INNER,
        ),
        (
            "a constant that is cast",
            "float[2] w = {1, 2}",
            "v = Cast <to = 11> (w) z = Neg (v)",
            INNER,
        ),
        (
            "a Constant of which a cast is folded",
            "",
            "v = Constant <value_floats = [1.0, 2.0]> () z = Cast <to = 11> (v)",
            INNER,
        ),
    ];
    let definitions = |model: &Model| {
        model
            .values()
            .filter(|&value| model.name(value) == "v")
            .count()
    };
    let names = all_passes().map(|(_, pass)| pass.name()).chain(["exact"]);
    let mut failures = Vec::new();
    for name in names {
        let selected: Vec<&dyn Pass> = passes::selected([name]).unwrap();
        for (what, initializers, before, after) in models {
            let outputs = if before.contains("z = ") {
                "float[2] y, z"
            } else {
                "float[2] y"
            };
            let source = format!(
                r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x, bool c) => ({outputs}) <{initializers}> {{ {before} {after} }}"#
            );
            let model = Model::new(model(&source)).unwrap();
            let expected = definitions(&model);
            match run_passes(model, &selected, &Options::default()) {
                Ok((model, _)) if expected == 2 && definitions(&model) == expected => {}
                Ok((model, _)) => failures.push(format!(
                    "{name}: {what}: {} of {expected} definitions",
                    definitions(&model)
                )),
                Err(error) => failures.push(format!("{name}: {what}: {error}")),
            }
        }
    }
    expect_no_failures(failures);
}

/// Each pass alone, whose second run finds nothing that the first did not.
#[test]
fn a_pass_changes_nothing_in_its_result() {
    const DEPTH: usize = 12;
    let branch = |value: &str, used: &str| {
        format!(
            "If (c) <then_branch = t () => (float[2] p) {{ {value} = Tanh (x) p = Neg ({value}) }}, else_branch = e () => (float[2] q) {{ q = Neg ({used}) }}>"
        )
    };
    let chain = |first: &str, node: &dyn Fn(usize) -> String| -> String {
        std::iter::once(first.to_owned())
            .chain((1..DEPTH).map(node))
            .collect()
    };
    let models = [
        ("a name that an unused subgraph defines again", format!("v = Abs (x) z = {} y = Relu (x)", branch("v", "x"))),
        ("a name that an unused node of a subgraph defines again", "v = Abs (x) y = If (c) <then_branch = t () => (float[2] p) { v = Tanh (x) p = Neg (x) }, else_branch = e () => (float[2] q) { q = Neg (x) }>".to_owned()),
        (
            "a row of names that unused subgraphs define again",
            chain("v0 = Abs (x) ", &|index| {
                let before = format!("v{}", index - 1);
                format!("z{index} = {} v{index} = Neg (z{index}) ", branch(&before, "x"))
            }) + "y = Relu (x)",
        ),
        ("an unused branch that returns an outer value", "a = Abs (x) z = If (c) <then_branch = t () => (float[2] a) { }, else_branch = e () => (float[2] q) { q = Neg (x) }> y = Relu (x)".to_owned()),
        ("a used branch that returns an outer value", "a = Abs (x) y = If (c) <then_branch = t () => (float[2] a) { }, else_branch = e () => (float[2] q) { q = Neg (x) }>".to_owned()),
        ("a chain of Identity before an output", chain("v0 = Abs (x) ", &|index| format!("v{index} = Identity (v{}) ", index - 1)) + &format!("y = Identity (v{})", DEPTH - 1)),
        ("a chain of Identity of an input", chain("v0 = Identity (x) ", &|index| format!("v{index} = Identity (v{}) ", index - 1)) + &format!("y = Identity (v{})", DEPTH - 1)),
        ("a chain with other users", "a = Abs (x) b = Identity (a) d = Neg (b) e = Identity (b) f = Add (e, d) y = Identity (e)".to_owned()),
        ("casts before an output", "a = Cast <to = 1> (x) b = Cast <to = 1> (a) y = Cast <to = 1> (b)".to_owned()),
    ];
    let mut failures = Vec::new();
    for name in all_passes()
        .map(|(_, pass)| pass.name())
        .chain(["default", "exact"])
    {
        let selected: Vec<&dyn Pass> = passes::selected([name]).unwrap();
        for (what, nodes) in &models {
            let source = format!(
                r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x, bool c) => (float[2] y) {{ {nodes} }}"#
            );
            let run = |model: Model| {
                run_passes(model, &selected, &Options::default()).map(|(model, _)| model)
            };
            match run(Model::new(model(&source)).unwrap())
                .and_then(|first| Ok((first.clone(), run(first)?)))
            {
                Ok((first, second)) => failures.extend(difference(
                    &format!("{name}: {what}"),
                    first.proto(),
                    second.proto(),
                )),
                Err(error) => failures.push(format!("{name}: {what}: {error}")),
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn an_annotated_value_stays_whose_name_an_unused_subgraph_defines_again() {
    let mut proto = model(
        r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x, bool c) => (float[2] y) {
            v = Abs (x)
            z = If (c) <then_branch = t () => (float[2] p) { v = Tanh (x) p = Neg (v) }, else_branch = e () => (float[2] q) { q = Neg (x) }>
            y = Relu (x)
        }"#,
    );
    let annotation = raw::TensorAnnotation {
        tensor_name: Some("v".to_owned()),
        ..Default::default()
    };
    proto
        .graph
        .as_mut()
        .unwrap()
        .quantization_annotation
        .push(annotation.into());
    let selected = passes::selected(["dead-nodes"]).unwrap();
    let (model, _) =
        run_passes(Model::new(proto).unwrap(), &selected, &Options::default()).unwrap();
    let left: Vec<&str> = model
        .proto()
        .graph
        .as_ref()
        .unwrap()
        .node
        .iter()
        .map(|node| node.op_type())
        .collect();
    assert_eq!(left, ["Abs", "Relu"]);
}

#[test]
fn every_pass_has_a_name_of_its_own_and_a_documentation() {
    let names: Vec<&str> = all_passes().map(|(_, pass)| pass.name()).collect();
    let mut failures = Vec::new();
    for (_, pass) in all_passes() {
        let documentation = pass.docs();
        if names.iter().filter(|name| **name == pass.name()).count() != 1 {
            failures.push(format!("{} is the name of several passes", pass.name()));
        }
        if pass.summary().len() < 10
            || pass.name() != "fold-casts" && !documentation.contains("\n1. ")
        {
            failures.push(format!(
                "{} has no cases in its documentation: {documentation}",
                pass.name()
            ));
        }
    }
    expect_no_failures(failures);
}

/// Several nodes may have one name, and then their subgraphs have one path; a value may have an
/// empty name.
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
    let (_, report) = run_passes(
        Model::new(model(&source)).unwrap(),
        passes::DEFAULT,
        &Options::default(),
    )
    .unwrap();
    assert_eq!(report.folded().len(), 2);

    let source = r#"<ir_version: 8, opset_import: ["": 18]> g (float[1] x) => (float[1] y)
        { w = Constant <value = float[1] {1}> () h = Cast <to = 10> (w) y = Relu (x) }"#;
    let mut proto = crate::support::model(source);
    let graph = proto.graph.as_mut().unwrap();
    graph.input[0].name = Some(String::new());
    graph.node[1].output[0] = String::new();
    graph.node[2].input[0] = "w".to_owned();
    run_passes(
        Model::new(proto).unwrap(),
        passes::DEFAULT,
        &Options::default(),
    )
    .unwrap();
}
