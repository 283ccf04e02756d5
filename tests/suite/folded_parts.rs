//! Nodes with several outputs, some of which are folded, used elsewhere, or not used at all.

use onnx_recast::Model;
use onnx_recast::internals::{all_passes, onnx_text, run_passes};
use onnx_recast::passes::{self, Options, Pass};
use onnx_recast::proto::ModelProto;
use proptest::prelude::*;

use crate::support::{difference, expect_no_failures, model};

/// The tiers, and each pass alone.
fn lists_of_passes() -> Vec<(&'static str, Vec<&'static dyn Pass>)> {
    let tiers = [
        ("default", passes::DEFAULT.to_vec()),
        ("exact", passes::EXACT.to_vec()),
    ];
    tiers
        .into_iter()
        .chain(all_passes().map(|(_, pass)| (pass.name(), vec![pass])))
        .collect()
}

/// What fails when passes run on a model, or are run again on their result.
fn failure(original: &ModelProto, passes: &[&dyn Pass], max_growth: Option<u64>) -> Option<String> {
    let options = &Options::default()
        .max_growth(max_growth)
        .undefined(max_growth.is_some());
    let run = |proto: ModelProto| {
        let model = Model::new(proto).map_err(|error| format!("invalid: {error}"))?;
        let (model, _) = run_passes(model, passes, options).map_err(|error| error.to_string())?;
        Ok::<_, String>(model.into_proto())
    };
    let first = match run(original.clone()) {
        Ok(first) => first,
        Err(error) => return Some(error),
    };
    match run(first.clone()) {
        // What a model may grow by, it may grow by in each run.
        Ok(_) if max_growth.is_some() => None,
        Ok(second) => difference(
            "a second run changes the result of the first",
            &first,
            &second,
        ),
        Err(error) => Some(error),
    }
}

fn failures(name: &str, original: &ModelProto) -> Vec<String> {
    let mut failures = Vec::new();
    for (list, passes) in lists_of_passes() {
        let failed = [None, Some(0)]
            .into_iter()
            .find_map(|max_growth| failure(original, &passes, max_growth));
        failures
            .extend(failed.map(|error| {
                format!("== {name}, {list}: {error}\n{}", onnx_text::print(original))
            }));
    }
    failures
}

#[test]
fn a_part_that_nothing_uses_does_not_keep_the_node() {
    let cases = [
        (
            "a part is cast",
            "a, b = Split <axis = 1, num_outputs = 2> (c) y = Cast <to = 10> (a)",
            true,
        ),
        (
            "the second part is cast",
            "b, a = Split <axis = 1, num_outputs = 2> (c) y = Cast <to = 10> (a)",
            true,
        ),
        (
            "a part is omitted",
            "a, \"\" = Split <axis = 1, num_outputs = 2> (c) y = Cast <to = 10> (a)",
            true,
        ),
        (
            "behind Identity",
            "a, b = Split <axis = 1, num_outputs = 2> (c) d = Identity (a) y = Cast <to = 10> (d)",
            true,
        ),
        (
            "behind Transpose",
            "i = Transpose (c) a, b = Split <num_outputs = 2> (i) y = Cast <to = 10> (a)",
            true,
        ),
        (
            "several casts of one part",
            "a, b = Split <axis = 1, num_outputs = 2> (c) y = Cast <to = 10> (a) z = Cast <to = 11> (a) u = Cast <to = 10> (a)",
            true,
        ),
        (
            "a Split of a part",
            "a, b = Split <axis = 1, num_outputs = 2> (c) d, e = Split <axis = 1, num_outputs = 2> (a) y = Cast <to = 10> (e)",
            true,
        ),
        (
            "a Split of an integer, behind Abs",
            "a, b = Split <num_outputs = 2> (k) d = Abs (a) y = Cast <to = 10> (d)",
            false,
        ),
        (
            "the other part is used",
            "a, b = Split <axis = 1, num_outputs = 2> (c) y = Cast <to = 10> (a) z = Neg (b)",
            false,
        ),
    ];
    let mut failed = Vec::new();
    for (name, nodes, removes_split) in cases {
        let original = model(&format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g () => (y) <float[2, 4] c = {{1, 2, 3, 4, 5, 6, 7, 8}}, int64[2] k = {{1, -2}}> {{ {nodes} }}"#
        ));
        failed.extend(failures(name, &original));
        let Ok((folded, _)) = run_passes(
            Model::new(original).unwrap(),
            passes::DEFAULT,
            &Options::default(),
        ) else {
            continue;
        };
        let graph = folded.proto().graph.as_ref().unwrap();
        let keeps_c = graph.initializer.iter().any(|tensor| tensor.name() == "c");
        let keeps_split = graph.node.iter().any(|node| node.op_type() == "Split");
        let splits_c = nodes.contains("(c)") || nodes.contains("(i)");
        if splits_c && (keeps_split == removes_split || keeps_c == removes_split) {
            failed.push(format!("{name}: {}", onnx_text::print(folded.proto())));
        }
    }
    expect_no_failures(failed);
}

#[test]
fn nodes_whose_outputs_are_all_omitted_pass() {
    let mut failed = Vec::new();
    for node in [
        "Neg (k)",
        "Identity (k)",
        "Split <num_outputs = 2> (k)",
        "Shape (x)",
        "Shape (c)",
        "Cast <to = 1> (k)",
        "Add (k, k)",
        "Range (s, s, s)",
    ] {
        for outputs in ["\"\"", "a"] {
            let original = model(&format!(
                r#"<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (y)
                <float[2, 4] c = {{1, 2, 3, 4, 5, 6, 7, 8}}, int64[2] k = {{1, -2}}, int64 s = {{1}}>
                {{ {outputs} = {node} y = Cast <to = 10> (x) }}"#
            ));
            failed.extend(failures(node, &original));
        }
    }
    expect_no_failures(failed);
}

/// A node of a random model: which one, its inputs among the values so far, and its outputs that
/// are omitted.
type Step = (usize, [prop::sample::Index; 2], [bool; 3]);

/// Operators with their outputs; `A` and `B` are inputs.
const NODES: &[(usize, &str)] = &[
    (2, "Split <axis = 0, num_outputs = 2> (A)"),
    (2, "Split <axis = 1, num_outputs = 2> (A)"),
    (3, "Split <axis = 0, num_outputs = 3> (A)"),
    (2, "Split <axis = 0> (A, halves)"),
    (2, "TopK (A, one)"),
    (3, "Unique (A)"),
    (2, "Dropout (A)"),
    (
        2,
        "Loop <body = b (int64 n, bool t, p) => (bool u, q, r) { u = Identity (t) q = Cast <to = 10> (p) r, s = Split <num_outputs = 2> (B) }> (three, true, A)",
    ),
    (
        1,
        "If <then_branch = t () => (p) { o = Abs (A) p = Cast <to = 10> (o) }, else_branch = e () => (q) { q = Cast <to = 10> (B) }> (true)",
    ),
    (
        1,
        "If <then_branch = t () => (p) { p, o = Split <num_outputs = 2> (A) }, else_branch = e () => (q) { q = Identity (B) }> (true)",
    ),
    (
        1,
        "If <then_branch = t () => (p) { v0_0 = Abs (A) p = Cast <to = 10> (v0_0) }, else_branch = e () => (B) { }> (true)",
    ),
    (2, "local.Halves (A)"),
    (1, "Identity (A)"),
    (1, "Abs (A)"),
    (1, "Cast <to = 10> (A)"),
    (1, "Cast <to = 1> (A)"),
    (1, "Cast <to = 7> (A)"),
    (1, "Cast <to = 17> (A)"),
    (1, "CastLike (A, B)"),
    (1, "Concat <axis = 0> (A, B)"),
    (1, "Concat <axis = 1> (A, B)"),
    (1, "Transpose (A)"),
    (1, "Shape (A)"),
    (1, "Gather (A, one)"),
    (1, "Add (A, B)"),
    (1, "Reshape (A, flat)"),
];

fn text_of(
    steps: &[Step],
    outputs: &[prop::sample::Index],
    overridable: bool,
    in_function: bool,
) -> String {
    let constants = [
        ("float[2, 4] c", "{1, 2, 3, 4, 5, 6, 7, 8}"),
        ("int64[2] k", "{1, -2}"),
        ("int64[4, 2] m", "{1, 2, 3, 4, 5, 6, 7, 300}"),
        ("int64[1] one", "{1}"),
        ("int64[2] halves", "{1, 1}"),
        ("int64[1] flat", "{-1}"),
        ("int64 three", "{3}"),
        ("bool true", "{1}"),
    ];
    let mut values: Vec<String> = ["c", "k", "m", "x"].map(str::to_owned).to_vec();
    let mut nodes = String::new();
    for (index, (which, [left, right], omitted)) in steps.iter().enumerate() {
        let (count, node) = NODES[which % NODES.len()];
        let [left, right] = [left, right].map(|input| values[input.index(values.len())].clone());
        let node = node
            .replace("(A", &format!("({left}"))
            .replace("B)", &format!("{right})"));
        let names: Vec<String> = (0..count)
            .map(|output| {
                if omitted[output] {
                    String::new()
                } else {
                    format!("v{index}_{output}")
                }
            })
            .collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        nodes.push_str(&format!("{} = {node}\n", quoted.join(", ")));
        values.extend(names.into_iter().filter(|name| !name.is_empty()));
    }
    let made: Vec<&String> = values[4..].iter().collect();
    let mut outputs: Vec<&str> = outputs
        .iter()
        .filter(|_| !made.is_empty())
        .map(|output| made[output.index(made.len())].as_str())
        .collect();
    outputs.sort_unstable();
    outputs.dedup();
    let outputs = outputs.join(", ");
    let halves = r#"<domain: "local", opset_import: ["": 21]> Halves (p) => (a, b)
        { i = Constant <value = float[4] {1, 2, 3, 4}> () a, o = Split <num_outputs = 2> (p) r, s = Split <num_outputs = 2> (i) b = Cast <to = 10> (r) }"#;
    let header = r#"<ir_version: 10, opset_import: ["": 21, "local": 1]>"#;
    if in_function {
        let constants: String = constants
            .iter()
            .map(|(name, list)| {
                let (dtype, name) = name.rsplit_once(' ').unwrap();
                format!("{name} = Constant <value = {dtype} {list}> ()\n")
            })
            .collect();
        let call = if outputs.is_empty() {
            "\"\"".to_owned()
        } else {
            outputs.clone()
        };
        return format!(
            r#"{header} g (float[2, 4] x) => ({outputs}) {{ {call} = local.F (x) }}
            <domain: "local", opset_import: ["": 21, "local": 1]> F (x) => ({outputs}) {{ {constants} {nodes} }} {halves}"#
        );
    }
    let input = if overridable { ", int64[4, 2] m" } else { "" };
    let initializers: Vec<String> = constants
        .iter()
        .map(|(name, list)| format!("{name} = {list}"))
        .collect();
    format!(
        "{header} g (float[2, 4] x{input}) => ({outputs}) <{}> {{ {nodes} }} {halves}",
        initializers.join(", ")
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, max_shrink_iters: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn passes_run_to_their_end_on_nodes_with_several_outputs(
        steps in prop::collection::vec(any::<Step>(), 1..12),
        outputs in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        (overridable, in_function) in any::<(bool, bool)>(),
    ) {
        let original = model(&text_of(&steps, &outputs, overridable, in_function));
        let failed = failures("random", &original);
        prop_assert!(failed.is_empty(), "{}", failed.join("\n"));
    }
}
