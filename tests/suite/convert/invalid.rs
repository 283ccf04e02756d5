//! Nodes that no valid model has: they are refused, whatever an adapter would have to do with them.

use onnx_recast::internals::convert::{NotConverted, Options};

use super::{case, convert_text, run};
use crate::support::expect_no_failures;

#[test]
fn nodes_without_required_inputs_or_outputs() {
    run(&[
        case(
            12,
            "(float[2,3] x) => (float z)",
            "= Softmax <axis = 0> (x) z = Relu (x)",
            13,
            "no: Softmax-11 needs an output, but the node has none",
        ),
        case(
            12,
            "(float[2,3] x) => (float z)",
            "\"\" = Softmax <axis = 0> (x) z = Relu (x)",
            13,
            "no: Softmax-11 requires at least 1 outputs, but the node has 0",
        ),
        case(
            12,
            "(float[2,3] x) => (float y)",
            "y = Softmax <axis = 0> ()",
            13,
            "no: Softmax-11 requires at least 1 inputs, but the node has 0",
        ),
        case(
            15,
            "(float[2,3] x) => (float z)",
            "= Shape <start = 1> (x) z = Relu (x)",
            14,
            "no: Shape-15 needs an output, but the node has none",
        ),
        case(
            9,
            "(float[2,3] x) => (float z)",
            "= Constant <value = int64 {1}> () z = Relu (x)",
            8,
            "no: Constant-9 needs an output, but the node has none",
        ),
        case(
            18,
            "(float[2,4,3] x) => (float y)",
            "y = GroupNormalization <num_groups = 2> (x)",
            21,
            "no: GroupNormalization-18 requires at least 3 inputs, but the node has 1",
        ),
        case(
            18,
            "(float[2,4,3] x, float[2] b) => (float y)",
            "y = GroupNormalization <num_groups = 2> (x, \"\", b)",
            21,
            "no: GroupNormalization-18 requires the input 'scale'",
        ),
        case(
            8,
            "(float[2,3] x) => (float y)",
            "y = Scan <num_scan_inputs = 1, body = b (float[2] i) => (float[2] o) { o = Identity (i) }> ()",
            9,
            "no: Scan-8 requires at least 2 inputs, but the node has 0",
        ),
        case(7, "(float[2,3] x) => (float y)", "y = PRelu (x)", 6, "no: PRelu-7 requires at least 2 inputs, but the node has 1"),
    ]);
}

#[test]
fn numbers_that_do_not_fit() {
    run(&[
        case(
            18,
            "(float[2,3] x) => (float y) <int64[2] p = {1, 1}, int64[1] a = {-100}>",
            "y = Pad (x, p, \"\", a)",
            17,
            "no: axis -100 is out of range for rank 2",
        ),
        case(11, "(float[2,3] x) => (float y)", "y = Concat <axis = -3> (x, x)", 10, "no: `axis` = -3 is out of range for rank 2"),
        case(11, "(float[2,3] x) => (float y)", "y = Unsqueeze <axes = [-4]> (x)", 10, "no: axis -4 is out of range for rank 3"),
        case(
            11,
            "(uint8[2] i, float[2] v) => (float y) <int64 d = {3}>",
            "y = OneHot <axis = -3> (i, d, v)",
            10,
            "no: axis -3 is out of range for rank 2",
        ),
        case(
            18,
            "(float[2199023255551] x) => (float a, float b)",
            "a, b = Split <num_outputs = 1099511627776> (x)",
            17,
            "no: `num_outputs` = 1099511627776, but the node has 2 outputs",
        ),
        case(
            18,
            "(float[9223372036854775807] x) => (float a, float b)",
            "a, b = Split <num_outputs = 2> (x)",
            17,
            "a_split = Constant <value: tensor = int64[2] {4611686018427387904, 4611686018427387903}> ()
             a, b = Split (x, a_split)",
        ),
        case(
            18,
            "(float[1] x) => (float a)",
            "a, b, c = Split <num_outputs = 3> (x)",
            17,
            "no: 1 cannot be split into 3 parts of 1",
        ),
        case(
            10,
            "(float[1,1,4] x, float[1,1,3] w) => (float y)",
            "y = ConvTranspose <output_shape = [-9223372036854775808], dilations = [-9223372036854775808]> (x, w)",
            11,
            "no: the lists of numbers must match the rank of the input, without negative values",
        ),
    ]);
}

#[test]
fn attributes_that_the_operator_does_not_have() {
    run(&[
        case(14, "(float[2] x) => (float y)", "y = Relu <foo = 1> (x)", 13, "no: graph/#0:Relu: Relu-14 has no attribute `foo`"),
        case(13, "(float[2] x) => (float y)", "y = Relu <foo = 1> (x)", 28, "no: graph/#0:Relu: Relu-13 has no attribute `foo`"),
        case(
            13,
            "(float[2] x) => (float y)",
            "y = Concat (x, x)",
            21,
            "no: graph/#0:Concat: Concat-13 requires the attribute `axis`",
        ),
        case(13, "(float[2] x) => (y)", "y = Cast (x)", 21, "no: graph/#0:Cast: Cast-13 requires the attribute `to`"),
        case(
            16,
            "(float[2] x) => (float y)",
            "y = LeakyRelu <alpha = 1> (x)",
            21,
            "no: graph/#0:LeakyRelu: the attribute `alpha` has another type in LeakyRelu-16",
        ),
        case(
            17,
            "(bool c, float[2] x) => (float[2] y)",
            "y = If (c) <then_branch = t () => (float[2] a) { a = Relu (x) }>",
            21,
            "no: graph/#0:If: If-16 requires the attribute `else_branch`",
        ),
        case(
            11,
            "(float[2,3] x) => (float y)",
            "y = Softmax <axis = 0, axis = 1> (x)",
            13,
            "no: graph/#0:Softmax: the attribute `axis` is stated twice",
        ),
        case(
            14,
            "(float[2,3] x) => (float y)",
            "y = com.microsoft.Gelu <__foo = 0, __foo = 0> (x)",
            13,
            "no: graph/#0:Gelu: the attribute `__foo` is stated twice",
        ),
        case(
            11,
            "(float[2,3] x) => (float y)",
            "y = Softmax <axis: int = @ax> (x)",
            13,
            "no: graph/#0:Softmax: `axis` refers to the attribute `ax` of a function, but the node is not in a function",
        ),
        // A name that begins with two underscores is of a tool's own use: onnx.checker and onnxruntime accept it.
        case(13, "(float[2] x) => (float y)", "y = Relu <__foo = 1> (x)", 14, "y = Relu <__foo: int = 1> (x)"),
        // An operator of no opset is not an error of the model alone: `--from-opset` may help.
        case(13, "(float[2] x) => (float y)", "y = Rleu <foo = 1> (x)", 14, "no: opset 13 of ai.onnx has no operator 'Rleu'"),
    ]);
}

#[test]
fn casts_and_branches_that_no_runtime_loads() {
    run(&[
        case(
            17,
            "(float[2] x) => (y)",
            "y = Cast <to = 99> (x)",
            21,
            "no: graph/#0:Cast: `to` = 99 is not the number of an element type",
        ),
        case(
            6,
            "(float[2] x) => (y)",
            "y = Cast <to = -1> (x)",
            9,
            "no: graph/#0:Cast: `to` = -1 is not the number of an element type",
        ),
        // Accepted by onnx.checker and onnxruntime.
        case(17, "(float[2] x) => (y)", "y = Cast <to = 0> (x)", 18, "y = Cast <to: int = 0> (x)"),
        case(
            17,
            "(bool c, float[2] x) => (float[2] y)",
            "y = If (c) <then_branch = t () => (float[2] a) { a = Relu (x) }, else_branch = e () => () { b = Relu (x) }>",
            21,
            "no: graph/#0:If: `else_branch` has 0 outputs, but the node has 1",
        ),
        case(
            7,
            "(bool c, float[2] x) => (float[2] y)",
            "y = If (c) <then_branch = t () => (float[2] a, float[2] b) { a = Relu (x) b = Neg (x) },
                        else_branch = e () => (float[2] a) { a = Relu (x) }>",
            8,
            "no: graph/#0:If: `then_branch` has 2 outputs, but the node has 1",
        ),
    ]);
}

#[test]
fn nodes_that_contradict_inputs_and_initializers() {
    run(&[
        case(
            13,
            "(float[2] x, int64[2] k) => (float[2] y)",
            "y = Add (x, k)",
            17,
            "no: graph/#0:Add: Add-13 requires the same type for 'x' and 'k', which are tensor(float) and tensor(int64)",
        ),
        case(
            13,
            "(float[2] x) => (int64[2] y)",
            "y = Relu (x)",
            14,
            "no: graph/#0:Relu: output 'y' is declared tensor(int64), but Relu-13 gives tensor(float)",
        ),
        case(
            13,
            "(float[2] x) => (float[1] y)",
            "y = Shape (x)",
            15,
            "no: output 'y' is declared tensor(float), but Shape-13 gives",
        ),
        case(
            13,
            "(float[2,3] x) => (float[a,b] y)",
            "y = Transpose <perm = [0, 0]> (x)",
            17,
            "no: graph/#0:Transpose: `perm` = [0, 0] is not a permutation of 2 axes",
        ),
        case(13, "(float[2,3] x) => (float[a,b] y)", "y = Transpose <perm = [0, 2]> (x)", 17, "no: is not a permutation of 2 axes"),
        case(13, "(float[2,3] x) => (float[a] y)", "y = Transpose <perm = [0]> (x)", 14, "y = Transpose <perm: ints = [0]> (x)"),
        case(
            12,
            "(float[2,3] x) => (float[2,3] y)",
            "y = Softmax <axis = 5> (x)",
            13,
            "no: graph/#0:Softmax: `axis` = 5 is out of range for rank 2",
        ),
        // Before opset 11 neither onnx.checker nor onnxruntime looks at it.
        case(
            9,
            "(float[2,3] x) => (float[2,3] y)",
            "y = Hardmax <axis = -3> (x)",
            11,
            "no: `axis` = -3 is out of range for rank 2",
        ),
        case(9, "(float[2,3] x) => (float[2,3] y)", "y = Softmax <axis = 5> (x)", 10, "y = Softmax <axis: int = 5> (x)"),
        case(
            13,
            "(float[1,1,5,5] x) => (float[a,b,c,d] y) <float[1,1,1] w = {1}>",
            "y = Conv (x, w)",
            17,
            "no: graph/#0:Conv: input 'x' has rank 4, but 'w' has rank 3",
        ),
        case(
            13,
            "(int64 m, bool c, float[2] x) => (float[2] y)",
            "y = Loop <body = b (int64 i, bool d) => (bool e, float[2] s) { e = Identity (d) s = Relu (x) }> (m, c, x)",
            17,
            "no: graph/#0:Loop: the number of inputs of `body` is 2, not 3",
        ),
        case(
            17,
            "(bool c, float[2] x) => (float[2] y)",
            "y = If (c) <then_branch = t (float[2] q) => (float[2] a) { a = Relu (q) }, else_branch = e () => (float[2] b) { b = Relu (x) }>",
            21,
            "no: graph/#0:If: the number of inputs of `then_branch` is 1, not 0",
        ),
    ]);
}

/// Exporters write wrong shapes there.
#[test]
fn shapes_of_value_info_are_not_trusted() {
    let source = r#"<ir_version: 8, opset_import: ["": 12]> g (float[2,3,4] x) => (float[2,3,4] y) <float[2] h>
        { h = Relu (x) y = ReduceSum <axes = [2]> (h) z = Concat <axis = 2> (h, h) }"#;
    convert_text(source, &Options::to(11)).unwrap();
}

#[test]
fn functions_that_no_runtime_loads() {
    let cases = [
        (
            "an attribute that the operator does not have",
            r#"<domain: "d", opset_import: ["": 17]> F (a) => (b) { b = Relu <foo = 1> (a) }"#,
            "function/d:F/#0:Relu: Relu-14 has no attribute `foo`",
        ),
        (
            "a reference of another type",
            r#"<domain: "d", opset_import: ["": 17]> F <al> (a) => (b) { b = LeakyRelu <alpha: int = @al> (a) }"#,
            "function/d:F/#0:LeakyRelu: the attribute `alpha` has another type in LeakyRelu-16",
        ),
        (
            "a reference",
            r#"<domain: "d", opset_import: ["": 17]> F <al> (a) => (b) { b = LeakyRelu <alpha: float = @al> (a) }"#,
            "",
        ),
        (
            "a required attribute that is a reference",
            r#"<domain: "d", opset_import: ["": 17]> F <ax> (a) => (b) { b = Concat <axis: int = @ax> (a, a) }"#,
            "",
        ),
        (
            "a domain that is not imported",
            r#"<domain: "d", opset_import: ["": 17]> F (a) => (b) { b = com.microsoft.Gelu (a) }"#,
            "function/d:F/#0:Gelu: Gelu is an operator of com.microsoft, which the function does not import",
        ),
        (
            "a domain that is not imported, in a branch",
            r#"<domain: "d", opset_import: ["": 17]> F (a) => (b) {
                c = Constant <value = bool {1}> ()
                b = If (c) <then_branch = t () => (p) { p = ai.onnx.ml.Scaler (a) }, else_branch = e () => (p) { p = Relu (a) }>
            }"#,
            "/#0:Scaler: Scaler is an operator of ai.onnx.ml, which the function does not import",
        ),
        (
            "a call of a function in a domain that is not imported",
            r#"<domain: "d", opset_import: ["": 17]> F (a) => (b) { b = d.G (a) }
            <domain: "d", opset_import: ["": 17]> G (a) => (b) { b = Relu (a) }"#,
            "",
        ),
        // Types of functions that nothing calls are not looked at by anyone.
        ("a type that does not exist", r#"<domain: "d", opset_import: ["": 17]> G (a) => (b) { b = Cast <to = 99> (a) }"#, ""),
        (
            "a function that calls itself",
            r#"<domain: "d", opset_import: ["": 17, "d": 1]> F (a) => (b) { b = d.F (a) }"#,
            "function/d:F: the function calls itself",
        ),
        (
            "functions that call each other, one of them in a branch",
            r#"<domain: "d", opset_import: ["": 17, "d": 1]> F (a, c) => (b) { b = d.G (a, c) }
            <domain: "d", opset_import: ["": 17, "d": 1]> G (a, c) => (b) {
                b = If (c) <then_branch = t () => (p) { p = d.F (a, c) }, else_branch = e () => (p) { p = Relu (a) }>
            }"#,
            ": the function calls itself through other functions",
        ),
        (
            "two functions of one name",
            r#"<domain: "d", opset_import: ["": 17]> F (a) => (b) { b = Relu (a) }
            <domain: "d", opset_import: ["": 17]> F (a) => (b) { b = Neg (a) }"#,
            "function/d:F: another function has the same domain, name and overload",
        ),
        (
            "an attribute that a call states twice",
            r#"<domain: "d", opset_import: ["": 17]> F <q> (a) => (b) { b = Relu (a) }
            <domain: "d", opset_import: ["": 17, "d": 1]> G (a) => (b) { b = d.F <q = 1, q = 1> (a) }"#,
            "function/d:G/#0:F: the attribute `q` is stated twice",
        ),
        (
            "an output that is listed twice",
            r#"<domain: "d", opset_import: ["": 17]> F (a) => (b, b) { b = Relu (a) }"#,
            "function/d:F: the function lists the output 'b' twice",
        ),
        (
            "an attribute that is listed twice",
            r#"<domain: "d", opset_import: ["": 17]> F <q, q> (a) => (b) { b = Relu (a) }"#,
            "function/d:F: the function lists the attribute 'q' twice",
        ),
        (
            "two overloads",
            r#"<domain: "d", opset_import: ["": 17], overload: "one"> F (a) => (b) { b = Relu (a) }
            <domain: "d", opset_import: ["": 17], overload: "two"> F (a) => (b) { b = Neg (a) }"#,
            "",
        ),
    ];
    let mut failures = Vec::new();
    for (what, functions, expected) in cases {
        let source = format!(
            r#"<ir_version: 10, opset_import: ["": 17, "d": 1]> g (float[2] x) => (float[2] y) {{ y = Relu (x) }} {functions}"#
        );
        match convert_text(&source, &Options::to(18)) {
            Ok(_) if expected.is_empty() => {}
            Err(error) if !expected.is_empty() && error.to_string().contains(expected) => {}
            Err(NotConverted::Blocked { blockers, .. }) if blockers.len() == 1 && blockers[0].to_string() == expected => {}
            other => failures.push(format!("{what}: {:?}, not {expected:?}", other.map(drop).map_err(|error| error.to_string()))),
        }
    }
    expect_no_failures(failures);
}

/// onnxruntime imports the domains that it knows, for graphs: such a model is converted as it is.
#[test]
fn graphs_need_not_import_other_domains() {
    run(&[case(17, "(float[2] x) => (float[2] y)", "y = com.microsoft.Gelu (x)", 18, "y = com.microsoft.Gelu (x)")]);
}
