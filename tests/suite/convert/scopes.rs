//! Subgraphs and functions.

use onnx_recast::Model;
use onnx_recast::convert::Options;
use onnx_recast::graph::Attribute;
use onnx_recast::internals::convert::NotConverted;
use onnx_recast::internals::onnx_text;

use super::{blockers, convert_text};
use crate::support::{expect_no_failures, model};

/// ONNX forbids it, but models have it: adapters ask by name.
#[test]
fn a_node_whose_output_shadows_its_input_is_a_blocker() {
    let source = r#"<ir_version: 9, opset_import: ["": 19]> g (float[2] x, bool c) => (float[2] y)
        { y = If (c) <then_branch = a () => (float[2] p) { [shadow] x = Cast <to = 17> (x) p = Cast <to = 1> (x) },
                      else_branch = b () => (float[2] q) { q = Identity (x) }> }"#;
    let (found, _) = blockers(source, 18);
    assert!(
        found[0].ends_with("/shadow (Cast), opset 19 to 18: 'x' names one value as an input and another as an output"),
        "{found:?}"
    );
}

/// Neither a long chain of calls nor one without an end takes long or fills the stack.
#[test]
fn calls_may_be_nested_deeply_but_not_in_a_circle() {
    let function = |name: usize, body: &str| {
        format!(
            r#"<domain: "local", opset_import: ["": 12, "local": 1]> F{name} (v) => (w) {{ s = Softmax <axis = 0> (v) {body} }}"#
        )
    };
    let source = |functions: String| {
        format!(
            r#"<ir_version: 8, opset_import: ["": 12, "local": 1]> g (float[2] x) => (float y) {{ y = local.F0 (x) }} {functions}"#
        )
    };
    let chain: String = (0..3000)
        .map(|name| function(name, &format!("w = local.F{} (s)", name + 1)))
        .collect();
    let chain = source(chain + &function(3000, "w = Relu (s)"));
    // Each function calls the next with two shapes: without a limit there would be 2^30 calls to
    // look at.
    let fan = (0..30).map(|name| {
        function(
            name,
            &format!(
                "d = Concat <axis = 0> (s, s) a = local.F{0} (s) b = local.F{0} (d) w = Add (a, b)",
                name + 1
            ),
        )
    });
    let fan = source(fan.collect::<String>() + &function(30, "w = Relu (s)"));
    let circle = source(function(0, "d = Concat <axis = 0> (s, s) w = local.F0 (d)"));
    for (source, functions) in [(chain, 3001), (fan, 31)] {
        let proto = convert_text(&source, &Options::to(13))
            .unwrap()
            .model
            .into_proto();
        assert_eq!(proto.functions.len(), functions);
    }
    let refused = convert_text(&circle, &Options::to(13))
        .map(drop)
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "function/local:F0: the function calls itself"
    );
}

#[test]
fn calls_that_give_a_function_different_values_do_not_agree_whatever_kind_of_value_it_is() {
    let values = [
        ("float", ["0.0", "-0.0"]),
        ("int", ["1", "2"]),
        ("string", ["\"a\"", "\"b\""]),
        ("tensor", ["float {1}", "float {2}"]),
        (
            "graph",
            ["a () => (p) { p = A () }", "a () => (p) { p = B () }"],
        ),
        ("floats", ["[1.0]", "[1.0, 2.0]"]),
        ("ints", ["[0]", "[2]"]),
        ("strings", ["[\"a\"]", "[\"b\"]"]),
    ];
    let mut failures = Vec::new();
    for (kind, [first, other]) in values {
        for (second, agree) in [(first, true), (other, false)] {
            let source = format!(
                r#"<ir_version: 8, opset_import: ["": 11, "local": 1]> g (float x) => (float y)
                {{ a = local.F <v: {kind} = {first}> (x) y = local.F <v: {kind} = {second}> (x) }}
                <domain: "local", opset_import: ["": 11]> F <v> (x) => (y) {{ y = my.Op <w: {kind} = @v> (x) }}"#
            );
            let model = Model::new(model(&source)).unwrap();
            let node = model
                .scopes()
                .flat_map(|scope| model.nodes(scope))
                .find(|&node| model.node(node).op_type() == "Op")
                .unwrap();
            match model.attribute(node, "w") {
                Attribute::Is(_) if agree => {}
                Attribute::Unclear if !agree => {}
                found => failures.push(format!("{kind} {first} and {second}: {found:?}")),
            }
        }
    }
    expect_no_failures(failures);
}

/// If no call gives the function its attribute, the node is converted as one without the attribute.
/// The reference may stay.
#[test]
fn an_attribute_that_no_call_gives_is_absent() {
    let cases = [
        ("Softmax", "", "axis: int", "(x)", 11, 13),
        ("Softmax", "", "axis: int", "(x)", 13, 25),
        ("Softmax", "", "axis: int", "(x)", 13, 11),
        (
            "AveragePool",
            "kernel_shape = [2]",
            "dilations: ints",
            "(x)",
            19,
            18,
        ),
        ("Squeeze", "", "axes: ints", "(x)", 11, 13),
        ("Unsqueeze", "", "axes: ints", "(x)", 12, 13),
        ("ReduceMax", "keepdims = 0", "axes: ints", "(x)", 13, 18),
        ("TopK", "k = 1", "axis: int", "(x)", 9, 11),
        (
            "Upsample",
            "scales = [1.0, 1.0, 2.0]",
            "mode: string",
            "(x)",
            7,
            10,
        ),
        ("Clip", "max = 1.0", "min: float", "(x)", 6, 13),
        ("Dropout", "", "ratio: float", "(x)", 10, 13),
        (
            "Pad",
            "pads = [0, 0, 1, 0, 0, 1]",
            "value: float",
            "(x)",
            10,
            13,
        ),
        ("Reshape", "", "allowzero: int", "(x, s)", 14, 13),
        ("Shape", "", "end: int", "(x)", 15, 13),
        (
            "ScatterElements",
            "axis = 0",
            "reduction: string",
            "(x, i, x)",
            16,
            15,
        ),
        ("Gelu", "", "approximate: string", "(x)", 20, 19),
        ("LayerNormalization", "", "axis: int", "(x, x)", 17, 16),
        ("Cast", "to = 1", "saturate: int", "(x)", 19, 18),
        ("Cast", "to = 17", "saturate: int", "(x)", 19, 25),
        ("Cast", "", "to: int", "(x)", 9, 5),
        ("Split", "axis = 1", "split: ints", "(x)", 11, 18),
        ("ArgMax", "", "select_last_index: int", "(x)", 12, 11),
        ("Constant", "", "value_float: float", "()", 12, 11),
    ];
    let mut failures = Vec::new();
    for (op, attributes, absent, inputs, from, to) in cases {
        let nodes = |attributes: &[&str]| {
            let attributes: Vec<&str> = attributes
                .iter()
                .copied()
                .filter(|text| !text.is_empty())
                .collect();
            let attributes = if attributes.is_empty() {
                String::new()
            } else {
                format!("<{}>", attributes.join(", "))
            };
            let source = format!(
                r#"<ir_version: 10, opset_import: ["": {from}, "local": 1]> g (float[2,3,4] x, int64[3] s, int64[2,3,4] i) => (y, z)
                {{ y = local.F (x, s, i) z = local.F <other = 1> (x, s, i) }}
                <domain: "local", opset_import: ["": {from}]> F <v, other> (x, s, i) => (y) {{ y = {op} {attributes} {inputs} }}"#
            );
            let converted =
                convert_text(&source, &Options::to(to)).map_err(|error| error.to_string())?;
            let mut nodes = converted.model.into_proto().functions[0].node.clone();
            nodes.iter_mut().for_each(|node| {
                node.attribute
                    .retain(|attribute| attribute.tail().ref_attr_name().is_empty())
            });
            Ok::<_, String>(
                nodes
                    .iter()
                    .map(onnx_text::print_node)
                    .collect::<Vec<_>>()
                    .join("\n"),
            )
        };
        let reference = format!("{absent} = @v");
        match (nodes(&[attributes, &reference]), nodes(&[attributes])) {
            (Ok(found), Ok(expected)) if found == expected => {}
            (Err(found), Err(_)) if !found.contains("its calls do not all give it") => {}
            (found, expected) => {
                failures.push(format!("{op} {from} to {to}: {found:?}\nnot {expected:?}"))
            }
        }
    }
    expect_no_failures(failures);
}

/// A type counts if a call has it that is in a graph, or in a function that a graph calls.
#[test]
fn a_version_has_to_support_the_types_of_all_calls() {
    let two =
        "g (float[2] x, int64[2] i) => (float[2] y, int64[2] j) { y = my.F (x) j = my.F (i) }";
    let one = "g (float[2] x) => (float[2] y) { y = my.F (x) }";
    let function = |name: &str, nodes: &str| {
        format!(
            r#"<domain: "my", opset_import: ["": 13, "my": 1]> {name} (v) => (w) {{ {nodes} }}"#
        )
    };
    let identity = function("F", "w = Identity (v)");
    let calling = |name: &str, callee: &str| function(name, &format!("w = my.{callee} (v)"));
    let in_branch = "g (float[2] x, bfloat16[2] b, bool c) => (float[2] y, float[2] z)
        { y = my.F (x) z = If (c) <then_branch = t () => (float[2] p) { h = my.F (b) p = Cast <to = 1> (h) },
                                   else_branch = e () => (float[2] q) { q = Relu (x) }> }";
    let shapes = |rest: &str| {
        let inputs: Vec<String> = (1..=70)
            .map(|size| format!("float[{size}] x{size}"))
            .collect();
        let outputs: Vec<String> = (1..=70)
            .map(|size| format!("float[{size}] y{size}"))
            .collect();
        let calls: String = (1..=70)
            .map(|size| format!("y{size} = my.F (x{size}) "))
            .collect();
        format!(
            "g ({}, bfloat16[2] b) => ({}, bfloat16[2] z) {{ {calls} {rest} }}",
            inputs.join(", "),
            outputs.join(", ")
        )
    };
    let unsupported = "input 'v' is tensor(bfloat16) in a call of the function, which Identity-1 does not support";
    let unknown = "the type of input 'v' is unknown, and Identity-1 does not support all types of Identity-13";
    let bfloat16 = two.replace("int64", "bfloat16");
    let cases = [
        ("one type", one.to_owned(), identity.clone(), ""),
        ("two types", two.to_owned(), identity.clone(), ""),
        (
            "one of two is not supported",
            bfloat16.clone(),
            identity.clone(),
            unsupported,
        ),
        (
            "the only one is not supported",
            one.replace("float", "bfloat16"),
            identity.clone(),
            "input 'v' is tensor(bfloat16), which",
        ),
        (
            "through another function",
            two.replace("y = my.F", "y = my.G"),
            identity.clone() + &calling("G", "F"),
            "",
        ),
        (
            "one of two through another function",
            bfloat16.replace("y = my.F", "y = my.G"),
            identity.clone() + &calling("G", "F"),
            unsupported,
        ),
        (
            "an unknown type",
            two.replace("my.F (i)", "my.F (k) k = my.Unknown (i)"),
            identity.clone(),
            unknown,
        ),
        (
            "a call in a branch",
            in_branch.to_owned(),
            identity.clone(),
            unsupported,
        ),
        (
            "more calls than are inferred",
            shapes("z = my.F (b)"),
            identity.clone(),
            unknown,
        ),
        ("no call", one.replace("my.F", "Relu"), identity.clone(), ""),
        (
            "no call of one of two",
            one.to_owned(),
            identity.clone() + &function("U", "w = Identity (v)"),
            "",
        ),
        (
            "calls in functions without calls",
            one.replace("my.F", "Relu"),
            identity.clone() + &calling("U", "W") + &calling("W", "F"),
            "",
        ),
        (
            "a call in a function without calls",
            two.to_owned(),
            identity.clone() + &calling("U", "F"),
            "",
        ),
        (
            "the same, and one is not supported",
            bfloat16,
            identity.clone() + &calling("U", "F"),
            unsupported,
        ),
        (
            "a type that is known without calls",
            one.replace("my.F", "Relu"),
            function("F", "c = Cast <to = 16> (v) w = Identity (c)"),
            "output 'c' is tensor(bfloat16), which Cast-9 does not support",
        ),
        (
            "types that must be equal, without calls",
            one.replace("my.F", "Relu"),
            function("F", "w = Pow (v, v)"),
            "",
        ),
    ];
    let mut failures = Vec::new();
    for (what, graph, functions, expected) in cases {
        let source =
            format!(r#"<ir_version: 8, opset_import: ["": 13, "my": 1]> {graph} {functions}"#);
        let found = match convert_text(&source, &Options::to(12)) {
            Ok(_) => String::new(),
            Err(NotConverted::Blocked { blockers, .. }) => blockers
                .iter()
                .map(|blocker| format!("{blocker}\n"))
                .collect(),
            Err(error) => error.to_string(),
        };
        if found.is_empty() != expected.is_empty() || !found.contains(expected) {
            failures.push(format!("{what}: {found:?}, not {expected:?}"));
        }
    }
    expect_no_failures(failures);
}
