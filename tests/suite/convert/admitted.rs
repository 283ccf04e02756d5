//! Nodes that their own opset does not admit, and inputs that contradict each other: invalid models stay invalid, and are not converted.

use onnx_recast::internals::convert::{Code, NotConverted, Options};

use super::{case, convert_text, run};
use crate::support::expect_no_failures;

/// Opset, interface, nodes, the fault, and an opset to convert to.
type Invalid = (i64, &'static str, &'static str, &'static str, i64);

const TYPES: &[Invalid] = &[
    (
        18,
        "(float[2] x) => (float[2] y)",
        "y = BitwiseNot (x)",
        "input 'x' is tensor(float), which BitwiseNot-18 does not support",
        13,
    ),
    (13, "(int32[2] x) => (int32[2] y)", "y = Sqrt (x)", "input 'x' is tensor(int32), which Sqrt-13 does not support", 14),
    (
        12,
        "(bfloat16[2] x) => (bfloat16[2] y)",
        "y = Add (x, x)",
        "input 'x' is tensor(bfloat16), which Add-7 does not support; opset 13 is the first that does",
        13,
    ),
    (
        13,
        "(float[2] x) => (float[2] y)",
        "h = Cast <to = 6> (x) g = Sqrt (h) y = Cast <to = 1> (g)",
        "input 'h' is tensor(int32), which Sqrt-13 does not support",
        12,
    ),
    (
        17,
        "(int64 n) => (y)",
        "y = HannWindow <output_datatype = 9> (n)",
        "output 'y' is tensor(bool), which HannWindow-17 does not support",
        16,
    ),
    (
        17,
        "(int64 n) => (y)",
        "y = HammingWindow <output_datatype = -100> (n)",
        "`output_datatype` = -100 is not the number of an element type",
        16,
    ),
    (13, "() => (y)", "y = RandomNormal <shape = [2], dtype = 99> ()", "`dtype` = 99 is not the number of an element type", 12),
    (
        13,
        "() => (y)",
        "y = RandomNormal <shape = [2], dtype = 7> ()",
        "output 'y' is tensor(int64), which RandomNormal-1 does not support",
        12,
    ),
    (
        11,
        "(float a, int64 b) => (y)",
        "y = Range (a, a, b)",
        "Range-11 requires the same type for 'a' and 'b', which are tensor(float) and tensor(int64)",
        10,
    ),
    (
        13,
        "(float[2] x) => (y)",
        "c = Cast <to = 9> (x) y = Add (c, c)",
        "input 'c' is tensor(bool), which Add-13 does not support",
        14,
    ),
];

const WORDS: &[Invalid] = &[
    (
        13,
        "(float[1,1,2] x) => (y)",
        "y = MaxPool <kernel_shape = [1], auto_pad = \"SAME\"> (x)",
        "unknown `auto_pad` = 'SAME': MaxPool-12 has NOTSET, SAME_UPPER, SAME_LOWER, VALID",
        11,
    ),
    (
        20,
        "(float[2] x) => (y)",
        "y = Gelu <approximate = \"erf\"> (x)",
        "unknown `approximate` = 'erf': Gelu-20 has none, tanh",
        17,
    ),
    (
        16,
        "(float[2] x, int64[1,1] i, float[1] u) => (y)",
        "y = ScatterND <reduction = \"mean\"> (x, i, u)",
        "unknown `reduction` = 'mean': ScatterND-16 has none, add, mul, max, min",
        18,
    ),
    (13, "(float[2] x) => (float[2] y)", "c = Constant () y = Relu (x)", "Constant-13 has no value", 9),
    (
        13,
        "(float[2] x) => (float[2] y)",
        "c = Constant <value_int = 1, value_float = 1.0> () y = Relu (x)",
        "Constant-13 has 2 values",
        14,
    ),
];

const SHAPES: &[Invalid] = &[
    (23, "(float[1,2,4,8] q, float[2,4,8] k) => (y)", "y = Attention (q, k, q)", "input 'q' has rank 4, but 'k' has rank 3", 22),
    (16, "(float[1,1,2,2] x, float[1,2,2] g) => (y)", "y = GridSample (x, g)", "input 'x' has rank 4, but 'g' has rank 3", 15),
    (13, "(float[2,3] x) => (y) <int64[3] r = {1, 2, 3}>", "y = Tile (x, r)", "there are 3 repeats for 2 axes", 12),
    (
        17,
        "(float[2,3] x, float[3] s) => (y)",
        "y = LayerNormalization <axis = 5> (x, s)",
        "`axis` = 5 is out of range for rank 2",
        16,
    ),
    (13, "(float[2,3] x) => (y)", "y = Gemm (x, x)", "the product of 'x' and 'x' sums over 3 and 2 elements", 14),
    (13, "(float[2,3] x, float[4] z) => (y)", "y = Add (x, z)", "dimensions 3 and 4 cannot be broadcast", 14),
    (13, "(float[2,3] x, float[2,3,4] z) => (y)", "y = Concat <axis = 0> (x, z)", "input 'x' has rank 2, but 'z' has rank 3", 14),
    (13, "(float[2,3] x) => (y) <int64[1] a = {1}>", "y = Squeeze (x, a)", "axis 1 has length 3, not 1", 12),
    (11, "(float[2,3] x) => (y)", "y = Unsqueeze <axes = [0, 0]> (x)", "axis 0 is listed twice", 13),
    (13, "(float[2,3] x) => (y) <int64[1] s = {4}>", "y = Reshape (x, s)", "6 elements cannot be arranged as [4]", 14),
    (
        13,
        "(float[5] x) => (y, z) <int64[2] s = {2, 4}>",
        "y, z = Split (x, s)",
        "the parts have 6 elements, but the axis has 5",
        12,
    ),
    (11, "(float[2,3] x) => (y)", "y = ReduceMax <axes = [2]> (x)", "axis 2 is out of range for rank 2", 18),
    (
        11,
        "(float[1,1,4] x) => (y)",
        "y = AveragePool <kernel_shape = [2, 2]> (x)",
        "`kernel_shape` = [2, 2] does not fit 1 spatial axes",
        19,
    ),
    (
        13,
        "(float[2] x, bool c) => (y)",
        "y = If (c) <then_branch = t (float[2] q) => (float[2] a) { a = Relu (q) }, else_branch = e () => (float[2] b) { b = Relu (x) }>",
        "the number of inputs of `then_branch` is 1, not 0",
        14,
    ),
];

fn source((opset, graph, nodes, ..): &Invalid) -> String {
    format!("<ir_version: 8, opset_import: [\"\": {opset}]> g {graph} {{ {nodes} }}")
}

#[test]
fn they_are_blockers_whatever_the_target_is() {
    let mut failures = Vec::new();
    for case @ &(opset, _, nodes, expected, to) in [TYPES, WORDS, SHAPES].into_iter().flatten() {
        for target in [to, opset] {
            match convert_text(&source(case), &Options::to(target)) {
                Err(NotConverted::Blocked { blockers, nearest: None, .. })
                    if blockers.len() == 1 && blockers[0].code == Code::NodeInvalid && blockers[0].reason == expected => {}
                other => failures.push(format!("{nodes} to {target}: {other:?}, not {expected}")),
            }
        }
    }
    expect_no_failures(failures);
}

/// Before opset 9, Constant has floats only, but exporters write the shapes of Reshape with it.
#[test]
fn integers_of_a_constant_are_admitted_in_every_opset() {
    run(&[case(
        6,
        "(float[2,2] x) => (float[4] y)",
        "s = Constant <value = int64[1] {4}> () y = Reshape (x, s)",
        7,
        "s = Constant <value: tensor = int64[1] {4}> ()
         y = Reshape (x, s)",
    )]);
}

/// What only an expansion shows.
#[test]
fn expansions_that_contradict_themselves_are_not_accepted() {
    let cases = [
        (
            "caches as wide as the part that is rotated",
            23,
            "(float[1,2,4,8] q, float[1,4,4] c) => (y)",
            "y = RotaryEmbedding <rotary_embedding_dim = 4> (q, c, c)",
            17,
            "cannot be broadcast",
        ),
        (
            "a scale of another length",
            17,
            "(float[2,3] x, float[4] s) => (y)",
            "y = LayerNormalization (x, s)",
            13,
            "cannot be broadcast",
        ),
        (
            "a size below zero",
            18,
            "(float[1,1,4,4] x) => (y) <int64[4] s = {1, 1, -2, 3}>",
            "y = Resize <mode = \"linear\", antialias = 1> (x, \"\", \"\", s)",
            13,
            "",
        ),
        (
            "more elements than FLOAT counts",
            18,
            "() => (y) <int64 n = {9223372036854775807}>",
            "y = HannWindow (n)",
            16,
            "FLOAT does not count 9223372036854775807 elements",
        ),
        (
            "pads that crop more than there is",
            19,
            "(float[4] x) => (y) <int64[2] p = {-3, -2}>",
            "y = Pad <mode = \"wrap\"> (x, p)",
            18,
            "crop more than the 4 elements of axis 0",
        ),
    ];
    let mut failures = Vec::new();
    for (what, opset, graph, nodes, to, expected) in cases {
        match convert_text(&source(&(opset, graph, nodes, "", to)), &Options::to(to)) {
            Err(NotConverted::Blocked { blockers, .. }) if blockers[0].reason.contains(expected) => {}
            other => failures.push(format!("{what}: {other:?}")),
        }
    }
    expect_no_failures(failures);
}

/// A constant of a type that `Constant` of opset 8 does not have becomes an initializer, also in a body that is replaced.
#[test]
fn constants_of_a_body_that_is_replaced_are_part_of_it() {
    let source = r#"<ir_version: 6, opset_import: ["": 11]> g (float[2,3] x, float[3] s) => (float[3] o, int64[2,2] q) {
        o, q = Scan <num_scan_inputs = 1, body = b (float[3] a, float[3] ignored) => (float[3] c, int64[2] d) {
            t = Constant <value = int64[2] {1, 2}> ()
            c = Neg (a)
            d = Identity (t)
        }> (s, x)
    }"#;
    let conversion = convert_text(source, &Options::to(8)).unwrap();
    assert_eq!(conversion.report.ir_version.to, 4, "before IR 4 an initializer is an input");
    let graph = conversion.model.proto().graph.as_ref().unwrap();
    assert_eq!(graph.initializer.len(), 0);
    let scan = graph.node.iter().find(|node| node.op_type() == "Scan").unwrap();
    let body = scan.attribute.iter().find_map(|attribute| attribute.g.as_ref()).unwrap();
    assert_eq!((body.initializer[0].name(), body.node.len()), ("t", 2));
    let lowest = onnx_recast::Model::from_text(source).unwrap().lowest_opset(&Options::to(8)).unwrap();
    convert_text(source, &Options::to(lowest)).unwrap();
}

#[test]
fn forms_that_onnxruntime_runs_without_elements() {
    run(&[
        case(11, "(float[0,3] x) => (float[0,3] y) <int64 a = {0}>", "y = CumSum (x, a)", 10, "y = Identity (x)"),
        case(
            26,
            "(float[n] x) => (float[n] y) <int64 a = {0}>",
            "y = CumProd (x, a)",
            25,
            "y_dims = Shape (x)
             y_other_axes = Constant <value: tensor = int64[0] {}> ()
             y_state_shape = Gather (y_dims, y_other_axes)
             y_start = ConstantOfShape <value: tensor = float[1] {1}> (y_state_shape)
             y_scanned_axis = Constant <value: tensor = int64[1] {0}> ()
             y_spare = Unsqueeze (y_start, y_scanned_axis)
             y_longer = Concat <axis: int = 0> (x, y_spare)
             y_last, y_longer_result = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [0], scan_output_axes: ints = [0], scan_input_directions: ints = [0], scan_output_directions: ints = [0], body: graph = y_body (y_previous, y_element) => (float y_next, float y_result) {
             [y_next] y_next = Mul (y_previous, y_element)
             [y_result] y_result = Identity (y_next)
             }> (y_start, y_longer)
             y_from = Constant <value: tensor = int64[1] {0}> ()
             y_to = Constant <value: tensor = int64[1] {-1}> ()
             y = Slice (y_longer_result, y_from, y_to, y_scanned_axis)",
        ),
        case(
            11,
            "(float[2,n] x) => (float[2,n] y) <int64 a = {1}>",
            "y = CumSum <reverse = 1> (x, a)",
            10,
            "y_dims = Shape (x)
             y_other_axes = Constant <value: tensor = int64[1] {0}> ()
             y_state_shape = Gather (y_dims, y_other_axes)
             y_start = ConstantOfShape <value: tensor = float[1] {-0}> (y_state_shape)
             y_scanned_axis = Constant <value: tensor = int64[1] {1}> ()
             y_spare = Unsqueeze <axes: ints = [1]> (y_start)
             y_longer = Concat <axis: int = 1> (y_spare, x)
             y_last, y_longer_result = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [1], scan_output_axes: ints = [1], scan_input_directions: ints = [1], scan_output_directions: ints = [1], body: graph = y_body (y_previous, y_element) => (float[?] y_next, float[?] y_result) {
             [y_next] y_next = Add (y_previous, y_element)
             [y_result] y_result = Identity (y_next)
             }> (y_start, y_longer)
             y_from = Constant <value: tensor = int64[1] {1}> ()
             y_to = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y = Slice (y_longer_result, y_from, y_to, y_scanned_axis)",
        ),
        case(
            13,
            "(float[0] x) => (float[0] y, float[0] z)",
            "y, z = Split (x)",
            18,
            "y_split = Constant <value: tensor = int64[2] {0, 0}> ()
             y, z = Split (x, y_split)",
        ),
        case(13, "(float[n] x) => (float[m] y, float[m] z)", "y, z = Split (x)", 18, "y, z = Split <num_outputs: int = 2> (x)"),
    ]);
}
