//! `convert`, operator by operator, as nodes before and after; what stands in the way; what must not change.

use onnx_recast::convert::{self, Conversion, Explicit, IrVersion, NotConverted, Options};
use onnx_recast::graph::Model;
use onnx_recast::text;
use onnx_recast::wire::schema::ModelProto;

use crate::support::{difference, expect_no_failures, model};

/// A graph's interface and constants, its nodes in one opset, and what they are in another.
struct Case {
    from: i64,
    graph: &'static str,
    nodes: &'static str,
    to: i64,
    /// The nodes; or, after `no: `, a part of the reason why there are none.
    expected: &'static str,
}

const fn case(from: i64, graph: &'static str, nodes: &'static str, to: i64, expected: &'static str) -> Case {
    Case { from, graph, nodes, to, expected }
}

fn converted(case: &Case) -> Result<ModelProto, String> {
    let source = format!("<ir_version: 8, opset_import: [\"\": {}]> g {} {{ {} }}", case.from, case.graph, case.nodes);
    let model = Model::new(model(&source)).unwrap_or_else(|error| panic!("{error}\n{source}"));
    match convert::convert(model, &Options::to(case.to)) {
        Ok(conversion) => Ok(conversion.model.into_proto()),
        Err(NotConverted::Blocked { blockers, .. }) => Err(blockers.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")),
        Err(error) => panic!("{error}\n{source}"),
    }
}

fn run(cases: &[Case]) {
    let mut failures = Vec::new();
    for case in cases {
        let expected = case.expected.strip_prefix("no: ");
        match (converted(case), expected) {
            (Ok(proto), None) => {
                let nodes = proto.graph.as_ref().unwrap().node.iter().map(|node| without_name(&text::print_node(node)));
                let found = nodes.collect::<Vec<_>>().join("\n");
                let expected = case.expected.lines().map(str::trim).collect::<Vec<_>>().join("\n");
                if found != expected {
                    failures.push(format!("== {} to {}: {}\n{found}\n-- expected\n{expected}", case.from, case.to, case.nodes));
                }
                if proto.opset_import[0].version() != case.to {
                    failures.push(format!("== {}: the opset is {}", case.nodes, proto.opset_import[0].version()));
                }
            }
            (Err(reason), Some(expected)) if reason.contains(expected) => {}
            (Err(reason), _) => failures.push(format!("== {} to {}: {}\nrefused: {reason}", case.from, case.to, case.nodes)),
            (Ok(proto), Some(reason)) => {
                failures.push(format!("== {}: converted, but {reason}\n{}", case.nodes, text::print(&proto)));
            }
        }
    }
    expect_no_failures(failures);
}

/// New nodes are named after their outputs; that is not what these tests are about.
fn without_name(node: &str) -> String {
    match node.split_once("] ") {
        Some((name, rest)) if name.starts_with('[') => rest.to_owned(),
        _ => node.to_owned(),
    }
}

#[test]
fn softmax_works_on_one_axis_since_13() {
    run(&[
        case(11, "(float[2,3] x) => (float[2,3] y)", "y = Softmax (x)", 13, "y = Softmax <axis: int = -1> (x)"),
        case(
            12,
            "(float[2,3,4] x) => (float[2,3,4] y)",
            "y = Softmax <axis = 1> (x)",
            13,
            "y_shape = Shape (x)
             y_flat = Flatten <axis: int = 1> (x)
             y_flat_result = Softmax <axis: int = -1> (y_flat)
             y = Reshape (y_flat_result, y_shape)",
        ),
        case(
            13,
            "(float[2,3,4] x) => (float[2,3,4] y)",
            "y = LogSoftmax <axis = 1> (x)",
            12,
            "y_turned = Transpose <perm: ints = [0, 2, 1]> (x)
             y_turned_result = LogSoftmax <axis: int = -1> (y_turned)
             y = Transpose <perm: ints = [0, 2, 1]> (y_turned_result)",
        ),
        case(13, "(float[2,3] x) => (float[2,3] y)", "y = Hardmax (x)", 10, "y = Hardmax <axis: int = 1> (x)"),
        case(
            13,
            "(float x) => (float y)",
            "h = my.Op (x) y = Softmax <axis = 1> (h)",
            12,
            "no: the rank of the input must be known",
        ),
    ]);
}

#[test]
fn axes_move_between_attributes_and_inputs() {
    run(&[
        case(
            12,
            "(float[2,3] x) => (float y)",
            "y = ReduceSum <axes = [1], keepdims = 0> (x)",
            13,
            "y_axes = Constant <value: tensor = int64[1] {1}> ()
             y = ReduceSum <keepdims: int = 0> (x, y_axes)",
        ),
        case(
            17,
            "(float[2,3] x) => (float y)",
            "y = ReduceMean <axes = [-1]> (x)",
            18,
            "y_axes = Constant <value: tensor = int64[1] {-1}> ()
             y = ReduceMean (x, y_axes)",
        ),
        case(
            18,
            "(float[2,3] x) => (float y) <int64[1] a = {1}>",
            "y = ReduceMean <noop_with_empty_axes = 1> (x, a)",
            17,
            "y = ReduceMean <axes: ints = [1]> (x)",
        ),
        case(18, "(float[2,3] x) => (float y)", "y = ReduceMean (x)", 10, "y = ReduceMean (x)"),
        case(
            18,
            "(float[2,3] x) => (float y)",
            "y = ReduceMean <noop_with_empty_axes = 1, keepdims = 0> (x)",
            17,
            "y = Identity (x)",
        ),
        case(
            18,
            "(float[2,3] x) => (float y)",
            "y = ReduceL1 <noop_with_empty_axes = 1> (x)",
            17,
            "no: without axes to reduce it still computes, which cannot be said before",
        ),
        case(
            18,
            "(float[2,3] x, int64[1] a) => (float y)",
            "y = ReduceMean (x, a)",
            17,
            "no: input 'a' must be a constant: its input is not constant",
        ),
        case(
            18,
            "(float[2,3] x) => (float y) <int64[1] a = {-1}>",
            "y = ReduceMean (x, a)",
            10,
            "y = ReduceMean <axes: ints = [1]> (x)",
        ),
        case(
            13,
            "(float[2,1] x) => (float y) <int64[1] a = {1}>",
            "y = Squeeze (x, a) z = Unsqueeze (y, a)",
            12,
            "y = Squeeze <axes: ints = [1]> (x)
             z = Unsqueeze <axes: ints = [1]> (y)",
        ),
        case(
            13,
            "(float[2,3] x) => (float y) <int64[1] a = {-1}>",
            "y = Unsqueeze (x, a)",
            10,
            "y = Unsqueeze <axes: ints = [2]> (x)",
        ),
        case(12, "(float[2,1] x) => (float y)", "y = Squeeze (x)", 13, "y = Squeeze (x)"),
        case(11, "(float[2,3] x) => (int64 y)", "y = ArgMax <axis = -1> (x)", 10, "y = ArgMax <axis: int = 1> (x)"),
        case(
            12,
            "(float[2,3] x) => (int64 y)",
            "y = ArgMax <select_last_index = 1> (x)",
            11,
            "no: `select_last_index` has an effect that opset 11 cannot express",
        ),
    ]);
}

#[test]
fn constants_stand_where_the_version_wants_them() {
    run(&[
        case(
            10,
            "(float[2] x) => (float[2] y)",
            "y = Clip <min = 0.5> (x)",
            11,
            "y_min = Constant <value: tensor = float {0.5}> ()
             y = Clip (x, y_min)",
        ),
        case(
            10,
            "(double[2] x) => (double[2] y)",
            "y = Clip <min = 0.5, max = 2.0> (x)",
            11,
            "y_min = Constant <value: tensor = double {0.5}> ()
             y_max = Constant <value: tensor = double {2}> ()
             y = Clip (x, y_min, y_max)",
        ),
        case(
            10,
            "(double[2] x) => (double[2] y)",
            "y = Clip <min = 0.5> (x)",
            11,
            "no: a bound that is not given means different numbers in the versions for DOUBLE",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y) <float a = {0}, float b = {1}>",
            "y = Clip (x, a, b)",
            6,
            "y = Clip <max: float = 1, min: float = 0> (x)",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y) <float a = {2}, float b = {1}>",
            "y = Clip (x, a, b)",
            12,
            "no: a minimum above the maximum has no meaning before opset 13",
        ),
        case(
            13,
            "(int32[2] x) => (int32[2] y) <int32 a = {0}>",
            "y = Clip (x, a)",
            11,
            "no: input 'x' is tensor(int32), which Clip-11 does not admit",
        ),
        case(
            13,
            "(float[2] x, float a) => (float[2] y)",
            "y = Clip (x, a)",
            6,
            "no: input 'a' must be a constant: its input is not constant",
        ),
        case(
            10,
            "(float16[2,2] x) => (float16 y)",
            "y = Pad <pads = [0,1,0,1], value = 0.5> (x)",
            11,
            "y_pads = Constant <value: tensor = int64[4] {0, 1, 0, 1}> ()
             y_constant_value = Constant <value: tensor = float16 {0.5}> ()
             y = Pad (x, y_pads, y_constant_value)",
        ),
        case(
            10,
            "(float[2,2] x) => (float y)",
            "y = Pad <pads = [0,1,0,1]> (x)",
            11,
            "y_pads = Constant <value: tensor = int64[4] {0, 1, 0, 1}> ()
             y = Pad (x, y_pads)",
        ),
        case(
            18,
            "(float[2,2] x) => (float y) <int64[2] p = {1,2}, int64[1] a = {-1}>",
            "y = Pad (x, p, , a)",
            10,
            "y = Pad <pads: ints = [0, 1, 0, 2]> (x)",
        ),
        case(
            19,
            "(float[2,2] x) => (float y) <int64[4] p = {1,2,1,2}>",
            "y = Pad <mode = \"wrap\"> (x, p)",
            18,
            "no: `mode` = 'wrap' is new in opset 19",
        ),
        case(
            9,
            "(float[4] x) => (float y)",
            "y = Slice <starts = [0], ends = [2]> (x)",
            10,
            "y_starts = Constant <value: tensor = int64[1] {0}> ()
             y_ends = Constant <value: tensor = int64[1] {2}> ()
             y = Slice (x, y_starts, y_ends)",
        ),
        case(
            10,
            "(float[4] x) => (float y) <int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {0}, int64[1] o = {1}>",
            "y = Slice (x, s, e, a, o)",
            9,
            "y = Slice <axes: ints = [0], ends: ints = [2], starts: ints = [0]> (x)",
        ),
        case(
            10,
            "(float[4] x) => (float y) <int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {0}, int64[1] o = {2}>",
            "y = Slice (x, s, e, a, o)",
            9,
            "no: `steps` other than 1 are new in opset 10",
        ),
        case(
            13,
            "(float[4] x) => (float y) <int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {-1}>",
            "y = Slice (x, s, e, a)",
            10,
            "y_axes = Constant <value: tensor = int64[1] {0}> ()
             y = Slice (x, s, e, y_axes)",
        ),
        case(
            4,
            "(float[4] x) => (float y)",
            "y = Reshape <shape = [2,2]> (x)",
            9,
            "y_shape = Constant <value: tensor = int64[2] {2, 2}> ()
             y = Reshape (x, y_shape)",
        ),
        case(
            5,
            "(float[4] x) => (float y) <int64[2] s = {2,2}>",
            "y = Reshape (x, s)",
            4,
            "y = Reshape <shape: ints = [2, 2]> (x)",
        ),
        case(
            14,
            "(float[4] x) => (float y) <int64[2] s = {2,2}>",
            "y = Reshape <allowzero = 1> (x, s)",
            13,
            "no: `allowzero` has an effect that opset 13 cannot express",
        ),
        case(
            9,
            "(float[4] x) => (float y, int64 i)",
            "y, i = TopK <k = 2> (x)",
            11,
            "y_k = Constant <value: tensor = int64[1] {2}> ()
             y, i = TopK (x, y_k)",
        ),
        case(
            11,
            "(float[4] x) => (float y, int64 i) <int64[1] k = {2}>",
            "y, i = TopK <largest = 1> (x, k)",
            9,
            "y, i = TopK <k: int = 2> (x)",
        ),
        case(
            11,
            "(float[4] x) => (float y, int64 i) <int64[1] k = {2}>",
            "y, i = TopK <largest = 0> (x, k)",
            10,
            "no: `largest` has an effect that opset 10 cannot express",
        ),
        case(12, "() => (float y)", "y = Constant <value_float = 1.5> ()", 11, "y = Constant <value: tensor = float {1.5}> ()"),
        case(12, "() => (int64[2] z)", "y = Constant <value_ints = [1, 2]> () z = Identity (y)", 8, "z = Identity (y)"),
        case(
            15,
            "(float[2,3] x) => (int64[1] y)",
            "y = Shape <start = 1> (x)",
            14,
            "y_starts = Constant <value: tensor = int64[1] {1}> ()
             y_ends = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y_whole = Shape (x)
             y = Slice (y_whole, y_starts, y_ends)",
        ),
        case(15, "(float[2,3] x) => (int64[2] y)", "y = Shape <start = 0> (x)", 14, "y = Shape (x)"),
        case(
            19,
            "(float[2,3] x) => (float y)",
            "y = DFT <axis = 1> (x)",
            20,
            "y_axis = Constant <value: tensor = int64 {1}> ()
             y = DFT (x, \"\", y_axis)",
        ),
        case(20, "(float[2,3] x) => (float y)", "y = DFT (x)", 19, "y = DFT <axis: int = -2> (x)"),
    ]);
}

#[test]
fn splits() {
    run(&[
        case(
            11,
            "(float[4] x) => (float[1] a, float[3] b)",
            "a, b = Split <split = [1, 3]> (x)",
            18,
            "a_split = Constant <value: tensor = int64[2] {1, 3}> ()
             a, b = Split (x, a_split)",
        ),
        case(11, "(float[4] x) => (float[2] a, float[2] b)", "a, b = Split (x)", 18, "a, b = Split <num_outputs: int = 2> (x)"),
        case(18, "(float[4] x) => (float[2] a, float[2] b)", "a, b = Split <num_outputs = 2> (x)", 11, "a, b = Split (x)"),
        case(
            18,
            "(float[5] x) => (float[3] a, float[2] b)",
            "a, b = Split <num_outputs = 2> (x)",
            17,
            "a_split = Constant <value: tensor = int64[2] {3, 2}> ()
             a, b = Split (x, a_split)",
        ),
        case(
            18,
            "(float[N] x) => (float a, float b)",
            "a, b = Split <num_outputs = 2> (x)",
            17,
            "no: the length of the split axis must be known, for older versions split into equal parts only",
        ),
        case(
            1,
            "(float[4] x) => (float a, float b)",
            "a, b = Split (x)",
            2,
            "no: opset 1 does not say which axis is split when `axis` is absent",
        ),
    ]);
}

#[test]
fn broadcasting() {
    run(&[
        case(
            6,
            "(float[2,3,4] x, float[3] b) => (float[2,3,4] y)",
            "y = Add <broadcast = 1, axis = 1> (x, b)",
            7,
            "y_aligned = Unsqueeze <axes: ints = [1]> (b)
             y = Add (x, y_aligned)",
        ),
        case(6, "(float[2,3,4] x, float[4] b) => (float[2,3,4] y)", "y = Mul <broadcast = 1> (x, b)", 7, "y = Mul (x, b)"),
        case(6, "(float[2,3] x, float[2,3] b) => (float[2,3] y)", "y = Sub (x, b)", 7, "y = Sub (x, b)"),
        case(
            6,
            "(float x, float b) => (float y)",
            "h = my.Op (x) y = Add <broadcast = 1, axis = 1> (h, b) z = Add <broadcast = 1, axis = 1> (h, h)",
            7,
            "no: the rank of input 'h' is not known",
        ),
        case(
            7,
            "(float[2,3,4] x, float[3,1] b) => (float[2,3,4] y)",
            "y = Add (x, b)",
            6,
            "y_aligned = Squeeze <axes: ints = [1]> (b)
             y = Add <broadcast: int = 1, axis: int = 1> (x, y_aligned)",
        ),
        case(
            7,
            "(float[2,3,4] x, float[3] b) => (float y)",
            "y = Add (b, x)",
            6,
            "no: opset 6 can only bring the second input to the shape of the first, and these shapes do not allow that",
        ),
        case(7, "(float[2,3] x, float[2,3] b) => (float[2,3] y)", "y = Add (x, b)", 6, "y = Add (x, b)"),
        case(7, "(float[2,3] x, float b) => (float[2,3] y)", "y = Add (x, b)", 6, "y = Add <broadcast: int = 1> (x, b)"),
        case(
            7,
            "(float[1,3] x, float[2,3] b) => (float[2,3] y)",
            "y = Add (x, b)",
            6,
            "no: opset 6 can only bring the second input to the shape of the first, and these shapes do not allow that",
        ),
        case(
            8,
            "(float[1,3] x, float[2,3] b) => (float[2,3] y)",
            "y = Max (x, b)",
            7,
            "no: before opset 8 all inputs must have one shape, which is not known of these",
        ),
        case(8, "(float[2,3] x, float[2,3] b) => (float[2,3] y)", "y = Max (x, b)", 6, "y = Max (x, b)"),
        case(
            6,
            "(float[2,3,4,4] x, float[3] s) => (float[2,3,4,4] y)",
            "y = PRelu (x, s)",
            7,
            "y_aligned = Unsqueeze <axes: ints = [1, 2]> (s)
             y = PRelu (x, y_aligned)",
        ),
        case(
            7,
            "(float[2,3,4,4] x, float[3,1,1] s) => (float[2,3,4,4] y)",
            "y = PRelu (x, s)",
            6,
            "y_aligned = Squeeze <axes: ints = [1, 2]> (s)
             y = PRelu (x, y_aligned)",
        ),
        case(7, "(float[2,3] x, float[1] s) => (float[2,3] y)", "y = PRelu (x, s)", 6, "y = PRelu (x, s)"),
        case(
            11,
            "(float[2,3] a, float[3,4] b) => (float[2,4] y)",
            "y = Gemm (a, b)",
            10,
            "y_c = Constant <value: tensor = float {-0}> ()
             y = Gemm (a, b, y_c)",
        ),
        case(
            7,
            "(float[2,3] a, float[3,4] b, float[1,4] c) => (float[2,4] y)",
            "y = Gemm (a, b, c)",
            6,
            "y_aligned = Squeeze <axes: ints = [0]> (c)
             y = Gemm <broadcast: int = 1> (a, b, y_aligned)",
        ),
        case(
            6,
            "(float[2,3] a, float[3,4] b, float[4] c) => (float[2,4] y)",
            "y = Gemm <broadcast = 1> (a, b, c)",
            7,
            "y = Gemm (a, b, c)",
        ),
    ]);
}

#[test]
fn normalization_and_dropout() {
    run(&[
        case(
            6,
            "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)",
            "y = BatchNormalization <is_test = 1> (x, s, b, m, v)",
            14,
            "y = BatchNormalization (x, s, b, m, v)",
        ),
        case(
            6,
            "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)",
            "y = BatchNormalization (x, s, b, m, v)",
            7,
            "no: `is_test` = 0 asks for training, but the outputs of training are missing",
        ),
        case(
            7,
            "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)",
            "y = BatchNormalization <spatial = 0> (x, s, b, m, v)",
            9,
            "no: `spatial` has an effect that opset 9 cannot express",
        ),
        case(
            15,
            "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)",
            "y = BatchNormalization <training_mode = 0> (x, s, b, m, v)",
            5,
            "y = BatchNormalization <is_test: int = 1, consumed_inputs: ints = [0, 0, 0, 0, 0]> (x, s, b, m, v)",
        ),
        case(
            15,
            "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y, float[2] p, float[2] q)",
            "y, p, q = BatchNormalization <training_mode = 1> (x, s, b, m, v)",
            13,
            "no: `training_mode` has an effect that opset 13 cannot express",
        ),
        case(
            15,
            "(float16[1,2] x, float16[2] s, float16[2] b, float[2] m, float[2] v) => (float16[1,2] y)",
            "y = BatchNormalization (x, s, b, m, v)",
            13,
            "no: input 'x' is tensor(float16), but input 'm' is tensor(float): BatchNormalization-9 wants the same type",
        ),
        case(
            6,
            "(float[2] x) => (float[2] y)",
            "y, m = Dropout <is_test = 1, ratio = 0.3> (x)",
            13,
            "y_ratio = Constant <value: tensor = float {0.30000001192092896}> ()
             y = Dropout (x, y_ratio)",
        ),
        case(
            6,
            "(float[2] x) => (float[2] y)",
            "y = Dropout (x)",
            7,
            "no: `is_test` = 0 drops at random, which opset 7 cannot say",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y) <float r = {0.25}>",
            "y = Dropout <seed = 3> (x, r)",
            6,
            "y = Dropout <ratio: float = 0.25, is_test: int = 1> (x)",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y) <float r = {0.25}, bool t = {1}>",
            "y = Dropout (x, r, t)",
            11,
            "no: training mode drops at random, which cannot be asked for before opset 12",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y, bool[2] m)",
            "y, m = Dropout (x)",
            11,
            "no: the mask means different things in the versions",
        ),
        case(
            18,
            "(float[1,4,2] x) => (float[1,4,2] y) <float[2] s = {1,2}, float[2] b = {3,4}>",
            "y = GroupNormalization <num_groups = 2> (x, s, b)",
            21,
            "y_axes = Constant <value: tensor = int64[1] {1}> ()
             y_column = Unsqueeze (s, y_axes)
             y_shape = Constant <value: tensor = int64[2] {2, 2}> ()
             y_repeated = Expand (y_column, y_shape)
             y_shape_1 = Constant <value: tensor = int64[1] {4}> ()
             y_per_channel = Reshape (y_repeated, y_shape_1)
             y_axes_1 = Constant <value: tensor = int64[1] {1}> ()
             y_column_1 = Unsqueeze (b, y_axes_1)
             y_shape_2 = Constant <value: tensor = int64[2] {2, 2}> ()
             y_repeated_1 = Expand (y_column_1, y_shape_2)
             y_shape_3 = Constant <value: tensor = int64[1] {4}> ()
             y_per_channel_1 = Reshape (y_repeated_1, y_shape_3)
             y = GroupNormalization <num_groups: int = 2> (x, y_per_channel, y_per_channel_1)",
        ),
        case(
            21,
            "(float[1,4,2] x) => (float[1,4,2] y) <float[4] s = {1,2,1,1}, float[4] b = {3,4,1,1}>",
            "y = GroupNormalization <num_groups = 2> (x, s, b)",
            20,
            "no: GroupNormalization-18 is deprecated: no valid model has it",
        ),
    ]);
}

#[test]
fn images() {
    run(&[
        case(
            1,
            "(float[1,1,2,2] x) => (float y)",
            "y = Upsample <height_scale = 2.0, width_scale = 3.0, mode = \"bilinear\"> (x)",
            9,
            "y_scales = Constant <value: tensor = float[4] {1, 1, 2, 3}> ()
             y = Upsample <mode: string = \"linear\"> (x, y_scales)",
        ),
        case(
            9,
            "(float[1,1,2,2] x) => (float y) <float[4] s = {1,1,2,2}>",
            "y = Upsample (x, s)",
            11,
            "y_roi = Constant <value: tensor = float[0] {}> ()
             y = Resize <nearest_mode: string = \"floor\", coordinate_transformation_mode: string = \"asymmetric\"> (x, y_roi, s)",
        ),
        case(
            10,
            "(float[1,1,2,2] x) => (float y) <float[4] s = {1,1,0.5,0.5}>",
            "y = Resize (x, s)",
            13,
            "y_roi = Constant <value: tensor = float[0] {}> ()
             y = Resize <nearest_mode: string = \"ceil\", coordinate_transformation_mode: string = \"asymmetric\"> (x, y_roi, s)",
        ),
        case(
            10,
            "(float[1,1,2,2] x) => (float y) <float[4] s = {1,1,0.5,2}>",
            "y = Resize (x, s)",
            11,
            "no: an axis grows while another shrinks: opset 11 has one `nearest_mode` for both",
        ),
        case(
            10,
            "(float[1,1,2,2] x, float[4] s) => (float y)",
            "y = Resize <mode = \"linear\"> (x, s)",
            11,
            "y_roi = Constant <value: tensor = float[0] {}> ()
             y = Resize <mode: string = \"linear\", coordinate_transformation_mode: string = \"asymmetric\"> (x, y_roi, s)",
        ),
        case(
            13,
            "(float[1,1,2,2] x) => (float y) <float[4] s = {1,1,2,2}>",
            "y = Resize <coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"> (x, , s)",
            7,
            "y = Upsample <scales: floats = [1, 1, 2, 2]> (x)",
        ),
        case(
            13,
            "(float[1,1,2,2] x) => (float y) <float[4] s = {1,1,2,2}>",
            "y = Resize (x, , s)",
            10,
            "no: opset 10 scales coordinates in the asymmetric way only",
        ),
        case(
            13,
            "(float[1,1,2,2] x) => (float y) <int64[4] s = {1,1,4,4}>",
            "y = Resize (x, , , s)",
            11,
            "y_roi = Constant <value: tensor = float[0] {}> ()
             y_scales = Constant <value: tensor = float[0] {}> ()
             y = Resize (x, y_roi, y_scales, s)",
        ),
        case(
            11,
            "(float[1,1,2,2] x) => (float y) <float[0] e = {}, int64[4] s = {1,1,4,4}>",
            "y = Resize (x, e, e, s)",
            13,
            "y = Resize (x, e, \"\", s)",
        ),
        case(
            10,
            "(float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float y)",
            "y = RoiAlign (x, r, b)",
            16,
            "y = RoiAlign <coordinate_transformation_mode: string = \"output_half_pixel\"> (x, r, b)",
        ),
        case(
            16,
            "(float[1,1,4,4] x, float[1,4] r, int64[1] b) => (float y)",
            "y = RoiAlign (x, r, b)",
            15,
            "no: `coordinate_transformation_mode` has an effect that opset 15 cannot express",
        ),
        case(
            16,
            "(float[1,1,4,4] x, float[1,4,4,2] g) => (float y)",
            "y = GridSample <mode = \"bicubic\"> (x, g)",
            20,
            "y = GridSample <mode: string = \"cubic\"> (x, g)",
        ),
        case(
            20,
            "(float[1,1,4,4] x, float[1,4,4,2] g) => (float y)",
            "y = GridSample <mode = \"linear\"> (x, g)",
            19,
            "y = GridSample <mode: string = \"bilinear\"> (x, g)",
        ),
        case(
            19,
            "(float[1,1,4,4] x) => (float y)",
            "y = AveragePool <kernel_shape = [2,2], dilations = [1,1]> (x)",
            11,
            "y = AveragePool <kernel_shape: ints = [2, 2]> (x)",
        ),
        case(
            19,
            "(float[1,1,4,4] x) => (float y)",
            "y = AveragePool <kernel_shape = [2,2], dilations = [2,1]> (x)",
            11,
            "no: `dilations` has an effect that opset 18 cannot express",
        ),
        case(
            12,
            "(float[1,1,4,4] x) => (float y)",
            "y = MaxPool <kernel_shape = [2,2], strides = [3,3], ceil_mode = 1> (x)",
            22,
            "no: `ceil_mode` may start a window in the padding, which opset 22 leaves out",
        ),
        case(
            12,
            "(float[1,1,4,4] x) => (float y)",
            "y = MaxPool <kernel_shape = [3,3], strides = [2,2], ceil_mode = 1> (x)",
            22,
            "y = MaxPool <kernel_shape: ints = [3, 3], strides: ints = [2, 2], ceil_mode: int = 1> (x)",
        ),
        case(
            1,
            "(float[1,1,4,4] x) => (float y)",
            "y = LpPool <kernel_shape = [2,2], p = 3.0> (x)",
            18,
            "y = LpPool <kernel_shape: ints = [2, 2], p: int = 3> (x)",
        ),
        case(
            1,
            "(float[1,1,4,4] x) => (float y)",
            "y = LpPool <kernel_shape = [2,2], p = 2.5> (x)",
            18,
            "no: `p` = 2.5 is no integer, which it must be from opset 2 on",
        ),
    ]);
}

#[test]
fn indices() {
    run(&[
        case(13, "(float[4] x) => (float[2] y) <int64[2] i = {0, 3}>", "y = Gather (x, i)", 10, "y = Gather (x, i)"),
        case(
            13,
            "(float[4] x) => (float[2] y) <int64[2] i = {0, -1}>",
            "y = Gather (x, i)",
            10,
            "no: the negative index -1 is new in opset 11",
        ),
        case(
            13,
            "(float[4] x, int64[2] i) => (float[2] y)",
            "y = Gather (x, i)",
            10,
            "no: negative indices are new in opset 11, and input 'i' must be a constant: its input is not constant",
        ),
        case(
            9,
            "(float[4] x, int64[2] i, float[2] u) => (float[4] y)",
            "y = Scatter (x, i, u)",
            11,
            "y = ScatterElements (x, i, u)",
        ),
        case(
            13,
            "(float[4] x, float[2] u) => (float[4] y) <int64[2] i = {0, 3}>",
            "y = ScatterElements (x, i, u)",
            9,
            "y = Scatter (x, i, u)",
        ),
        case(
            18,
            "(float[4] x, int64[2] i, float[2] u) => (float[4] y)",
            "y = ScatterElements <reduction = \"max\"> (x, i, u)",
            16,
            "no: `reduction` = 'max' is new in opset 18",
        ),
        case(
            16,
            "(float[4] x, int64[2] i, float[2] u) => (float[4] y)",
            "y = ScatterElements <reduction = \"add\"> (x, i, u)",
            13,
            "no: `reduction` has an effect that opset 15 cannot express",
        ),
        case(
            11,
            "(uint8[4] i, float[2] v) => (float y) <int64 d = {5}>",
            "y = OneHot <axis = -2> (i, d, v)",
            9,
            "y = OneHot <axis: int = 0> (i, d, v)",
        ),
    ]);
}

#[test]
fn quantization() {
    run(&[
        case(
            10,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}, uint8 z = {3}>",
            "y = QuantizeLinear (x, s, z)",
            28,
            "y = QuantizeLinear (x, s, z)",
        ),
        case(
            13,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear <axis = 0> (x, s)",
            10,
            "y = QuantizeLinear (x, s)",
        ),
        case(
            13,
            "(float[4] x) => (uint8[4] y) <float[4] s = {1,2,3,4}>",
            "y = QuantizeLinear <axis = 0> (x, s)",
            10,
            "no: quantization along an axis is new in opset 13",
        ),
        case(
            19,
            "(float[4] x) => (float8e4m3fn[4] y) <float s = {0.5}, float8e4m3fn z = {0}>",
            "y = QuantizeLinear (x, s, z)",
            18,
            "no: input 'z' is tensor(float8e4m3fn), which QuantizeLinear-13 does not admit",
        ),
        case(
            19,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}, uint8 z = {0}>",
            "y = QuantizeLinear <saturate = 0> (x, s, z)",
            13,
            "y = QuantizeLinear (x, s, z)",
        ),
        case(
            21,
            "(float[4] x) => (int8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear <output_dtype = 3> (x, s)",
            13,
            "y_zero_point = Constant <value: tensor = int8 {0}> ()
             y = QuantizeLinear (x, s, y_zero_point)",
        ),
        case(
            21,
            "(float[4,4] x, float[2,4] s) => (uint8[4,4] y)",
            "y = QuantizeLinear <block_size = 2, axis = 0> (x, s)",
            19,
            "no: `block_size` has an effect that opset 20 cannot express",
        ),
        case(
            23,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear <precision = 1> (x, s)",
            21,
            "y = QuantizeLinear (x, s)",
        ),
        case(
            23,
            "(uint8[4] x) => (float16[4] y) <float s = {0.5}>",
            "y = DequantizeLinear <output_dtype = 10> (x, s)",
            21,
            "no: `output_dtype` is another type than that of the scale, which is new in opset 23",
        ),
        case(
            23,
            "(float16[4] x) => (uint8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear (x, s)",
            21,
            "no: input 'x' is tensor(float16), but input 's' is tensor(float): QuantizeLinear-21 wants the same type",
        ),
    ]);
}

#[test]
fn recurrent_networks_and_others() {
    run(&[
        case(
            1,
            "(float[1,1,1] x, float[1,4,1] w, float[1,4,1] r) => (float y)",
            "y = LSTM <hidden_size = 1, output_sequence = 1> (x, w, r)",
            14,
            "y = LSTM <hidden_size: int = 1> (x, w, r)",
        ),
        case(
            14,
            "(float[1,1,1] x, float[1,4,1] w, float[1,4,1] r) => (float y)",
            "y = LSTM <hidden_size = 1, layout = 0> (x, w, r)",
            6,
            "y = LSTM <hidden_size: int = 1, output_sequence: int = 1> (x, w, r)",
        ),
        case(
            14,
            "(float[1,1,1] x, float[1,3,1] w, float[1,3,1] r) => (float y, float h)",
            "y, h = GRU <hidden_size = 1> (x, w, r)",
            1,
            "y, h = GRU <hidden_size: int = 1, output_sequence: int = 1, direction: string = \"forward\"> (x, w, r)",
        ),
        case(
            14,
            "(float[1,1,1] x, float[1,1,1] w, float[1,1,1] r) => (float y)",
            "y = RNN <hidden_size = 1, layout = 1> (x, w, r)",
            7,
            "no: `layout` has an effect that opset 13 cannot express",
        ),
        case(
            5,
            "(float[2] x) => (float[2] y)",
            "y = Selu <consumed_inputs = [0]> (x)",
            6,
            "y = Selu <alpha: float = 1.6732, gamma: float = 1.0507> (x)",
        ),
        case(
            6,
            "(float[2] x) => (float[2] y)",
            "y = Selu (x)",
            5,
            "y = Selu <alpha: float = 1.6732632, gamma: float = 1.050701> (x)",
        ),
        case(3, "(float[2] x, float[2] z) => (float y)", "y = Concat (x, z)", 4, "y = Concat <axis: int = 1> (x, z)"),
        case(9, "(int32[2] x) => (int32[2] y)", "y = Erf (x)", 13, "no: input 'x' is tensor(int32), which Erf-13 does not admit"),
        case(
            28,
            "(float[2] x, float[2] z) => (float[2] y)",
            "y = Mod (x, z)",
            27,
            "no: floating-point inputs with `fmod` = 0 are new in opset 28",
        ),
        case(28, "(float[2] x, float[2] z) => (float[2] y)", "y = Mod <fmod = 1> (x, z)", 27, "y = Mod <fmod: int = 1> (x, z)"),
        case(15, "(float[2] x) => (float16[2] y) <float16 t = {0}>", "y = CastLike (x, t)", 13, "y = Cast <to: int = 10> (x)"),
        case(14, "(float[2] x) => (float[2] y)", "y = HardSwish (x)", 13, "no: HardSwish is new in opset 14"),
        case(18, "(float[2] x) => (float[2] y)", "y = Nonsense (x)", 13, "no: opset 18 of ai.onnx has no operator 'Nonsense'"),
        case(18, "(float[2] x) => (float[2] y)", "y = my.domain.Nonsense (x)", 7, "y = my.domain.Nonsense (x)"),
        case(
            18,
            "(bfloat16[2] x) => (bfloat16[2] y)",
            "h = my.domain.Op (x) y = Add (h, h)",
            12,
            "no: input 'h' is tensor(bfloat16), which Add-7 does not admit",
        ),
        case(
            7,
            "(float[2] x) => (float[1,1] y) <float y_axes = {1}>",
            "y_axes_1 = Identity (x) y = Unsqueeze <axes = [0]> (x)",
            13,
            "y_axes_1 = Identity (x)
             y_axes_2 = Constant <value: tensor = int64[1] {0}> ()
             y = Unsqueeze (x, y_axes_2)",
        ),
    ]);
}

fn convert_text(source: &str, options: &Options) -> Result<Conversion, NotConverted> {
    convert::convert(Model::new(model(source)).unwrap(), options)
}

fn blockers(source: &str, opset: i64) -> (Vec<String>, Option<i64>) {
    match convert_text(source, &Options::to(opset)) {
        Err(NotConverted::Blocked { blockers, nearest, .. }) => (blockers.iter().map(ToString::to_string).collect(), nearest),
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn all_blockers_are_listed_in_all_scopes_with_the_opset_that_can_be_reached() {
    let source = r#"<ir_version: 10, opset_import: ["": 21, "local": 1]> g (float[2] x, bool c) => (float[2] y)
        {
            [eight] e = Cast <to = 17> (x)
            [four] f = Cast <to = 22> (x)
            t = If (c) <then_branch = a () => (float[2] p) { [inner] p = Cast <to = 1> (e) },
                        else_branch = b () => (float[2] q) { q = Mish (x) }>
            y = local.F (t)
        }
        <domain: "local", opset_import: ["": 21]> F (v) => (w) { [in_function] k = Cast <to = 16> (v) w = Cast <to = 1> (k) }"#;
    let (found, nearest) = blockers(source, 12);
    let expected = [
        "graph/eight (Cast), opset 19 to 18: output 'e' is tensor(float8e4m3fn), which Cast-13 does not admit",
        "graph/four (Cast), opset 21 to 20: output 'f' is tensor(int4), which Cast-19 does not admit",
        "graph/#2:If.then_branch/inner (Cast), opset 19 to 18: input 'e' is tensor(float8e4m3fn), which Cast-13 does not admit",
        "graph/#2:If.else_branch/#0:Mish (Mish), opset 18 to 17: Mish is new in opset 18",
        "function/local:F/in_function (Cast), opset 13 to 12: output 'k' is tensor(bfloat16), which Cast-9 does not admit",
        "function/local:F/#1:Cast (Cast), opset 13 to 12: input 'k' is tensor(bfloat16), which Cast-9 does not admit",
    ];
    assert_eq!(found, expected);
    assert_eq!(nearest, None, "the int4 cast cannot leave opset 21");
    assert_eq!(blockers(&source.replace("Cast <to = 22>", "Cast <to = 6>"), 12).1, Some(19));
}

#[test]
fn a_function_is_converted_from_its_own_opset_and_by_the_types_of_its_callers() {
    let source = r#"<ir_version: 10, opset_import: ["": 18, "local": 1]> g (TYPE[2,3] x) => (float y)
        { y = local.F (x) }
        <domain: "local", opset_import: ["": 12]> F (v) => (w) { s = Softmax <axis = 0> (v) w = Cast <to = 1> (s) }"#;
    let float = convert_text(&source.replace("TYPE", "float"), &Options::to(21)).unwrap().model.into_proto();
    assert_eq!(float.functions[0].opset_import[0].version(), 21);
    let ops: Vec<_> = float.functions[0].node.iter().map(|node| node.op_type().to_owned()).collect();
    assert_eq!(ops, ["Shape", "Flatten", "Softmax", "Reshape", "Cast"]);
    let (found, _) =
        blockers(&source.replace("TYPE", "bfloat16").replace("\"\": 12", "\"\": 13").replace("axis = 0", "axis = 1"), 12);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].contains("input 'v' is tensor(bfloat16)"), "{found:?}");
}

#[test]
fn constants_go_with_their_last_use_and_are_read_where_nobody_can_change_them() {
    let shared = r#"<ir_version: 8, opset_import: ["": 13]> g (float[2,1] x) => (float y, int64[1] z) <int64[1] a = {1}>
        { b = Constant <value = int64[1] {1}> () h = Squeeze (x, a) y = Unsqueeze (h, b) z = Identity (a) }"#;
    let proto = convert_text(shared, &Options::to(12)).unwrap().model.into_proto();
    let graph = proto.graph.as_ref().unwrap();
    assert_eq!(graph.initializer.len(), 1, "the output z still uses the initializer");
    assert!(graph.node.iter().all(|node| node.op_type() != "Constant"), "nothing uses the constant any more");
    let overridable = r#"<ir_version: 8, opset_import: ["": 13]> g (float[2,1] x, int64[1] a) => (float y) <int64[1] a = {1}> { y = Squeeze (x, a) }"#;
    assert!(blockers(overridable, 12).0[0].contains("a caller may override"));
    let own = convert_text(&overridable.replace("ir_version: 8", "ir_version: 3"), &Options::to(12)).unwrap().model.into_proto();
    assert_eq!(own.graph.as_ref().unwrap().node[0].input, ["x"]);
}

#[test]
fn what_no_operator_change_touches_stays() {
    let source = r#"<ir_version: 10, opset_import: ["": 13, "local": 1, "my.domain": 3], producer_name: "p", doc_string: "d", model_version: 7, metadata_props: ["k": "v"]>
        g (float[2] x) => (float[2] y) <float[2] w = {1, 2}>
        {
            [a] h = Add (x, w)
            [b] i = my.domain.Op <deep = [1, 2], name = "n"> (h)
            [c] y = local.F (i)
        }
        <domain: "local", opset_import: ["": 13, "my.domain": 3]> F (v) => (z) { u = Relu (v) z = my.domain.Other (u) }"#;
    let mut before = model(source);
    let graph = before.graph.as_mut().unwrap();
    graph.doc_string = Some("graph".to_owned());
    graph.node[0].doc_string = Some("node".to_owned());
    graph.metadata_props.push(Default::default());
    graph.node[1].metadata_props.push(Default::default());
    graph.quantization_annotation.push(Default::default());
    let algorithm = graph.clone();
    before.training_info.push(Default::default());
    before.training_info[0].algorithm = Some(algorithm);
    if let Some(algorithm) = before.training_info[0].algorithm.as_mut() {
        algorithm.name = Some("training".to_owned());
    }
    for opset in [13, 14, 21, 28] {
        let options = Options { ir_version: IrVersion::Keep, ..Options::to(opset) };
        let mut after = convert::convert(Model::new(before.clone()).unwrap(), &options).unwrap().model.into_proto();
        after.opset_import[0].version = Some(13);
        after.functions[0].opset_import[0].version = Some(13);
        assert!(after == before, "{}", difference("opset", &before, &after).unwrap_or_default());
    }
}

#[test]
fn the_ir_version_is_what_opset_and_contents_need() {
    let source = |ir: i64, opset: i64, metadata: &str| {
        format!(
            r#"<ir_version: {ir}, opset_import: ["": {opset}]{metadata}> g (float[2] x) => (float[2] y) <float[2] w = {{1, 2}}> {{ y = Relu (x) }}"#
        )
    };
    let metadata = r#", metadata_props: ["k": "v"]"#;
    let cases = [
        (8, 13, 21, IrVersion::Auto, "", Ok(10)),
        (13, 13, 21, IrVersion::Auto, "", Ok(13)),
        (10, 21, 13, IrVersion::Auto, "", Ok(7)),
        (10, 21, 13, IrVersion::Auto, metadata, Ok(7)),
        (10, 21, 8, IrVersion::Auto, "", Ok(4)),
        // The initializer is no input.
        (3, 7, 8, IrVersion::Auto, "", Ok(4)),
        (10, 21, 13, IrVersion::Keep, "", Ok(10)),
        (8, 13, 21, IrVersion::Number(12), "", Ok(12)),
        (8, 13, 21, IrVersion::Number(9), "", Err("--ir-version 9 is too low: opset 21 needs 10")),
    ];
    let mut failures = Vec::new();
    for (ir, from, to, ir_version, metadata, expected) in cases {
        let options = Options { ir_version, ..Options::to(to) };
        let found = match convert_text(&source(ir, from, metadata), &options) {
            Ok(conversion) => Ok(conversion.model.ir_version()),
            Err(error) => Err(error.to_string()),
        };
        let same = match (&found, expected) {
            (Ok(found), Ok(expected)) => *found == expected,
            (Err(found), Err(expected)) => found.contains(expected),
            _ => false,
        };
        if !same {
            failures.push(format!("IR {ir}, opset {from} to {to}, {ir_version:?}: {found:?}, not {expected:?}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn defaults_of_casts_are_written_out_as_asked() {
    let source = r#"<ir_version: 9, opset_import: ["": 19]> g (float[2] x) => (float8e4m3fn[2] y, float16[2] z)
        { y = Cast <to = 17> (x) z = Cast <to = 10> (x) }"#;
    let written = |explicit| {
        let options = Options { explicit, ..Options::to(24) };
        let proto = convert_text(source, &options).unwrap().model.into_proto();
        proto.graph.as_ref().unwrap().node.iter().map(|node| node.attribute.len() - 1).collect::<Vec<_>>()
    };
    assert_eq!(written(Explicit::None), [0, 0]);
    assert_eq!(written(Explicit::Relevant), [1, 0]);
    assert_eq!(written(Explicit::All), [2, 2]);
}

#[test]
fn infinity_to_fnuz_is_a_warning_and_an_error_when_strict() {
    let source = |from: &str, attribute: &str| {
        format!(
            r#"<ir_version: 11, opset_import: ["": 23]> g ({from}[2] x) => (float8e5m2fnuz[2] y) {{ y = Cast <to = 20{attribute}> (x) }}"#
        )
    };
    let warnings =
        |from: &str, attribute: &str| convert_text(&source(from, attribute), &Options::to(24)).unwrap().report.warnings.len();
    assert_eq!(warnings("float", ""), 1);
    assert_eq!(warnings("float", ", saturate = 0"), 0);
    assert_eq!(warnings("int8", ""), 0);
    let strict = Options { strict: true, ..Options::to(24) };
    assert!(matches!(convert_text(&source("float", ""), &strict), Err(NotConverted::Blocked { .. })));
}

#[test]
fn requests_that_cannot_be_met_say_why() {
    let nodes = "g (float[2] x) => (float[2] y) { y = Relu (x) }";
    let cases = [
        (r#"<ir_version: 8, opset_import: ["": 13]>"#, 29, "there is no opset 29"),
        (r#"<ir_version: 8, opset_import: ["": 13]>"#, 0, "there is no opset 0"),
        (r#"<ir_version: 8, opset_import: ["": 99]>"#, 13, "opset 99 of ai.onnx is none"),
        (r#"<ir_version: 8, opset_import: ["": 13, "ai.onnx": 14]>"#, 15, "more than one opset"),
        (r#"<ir_version: 8, opset_import: ["my.domain": 1]>"#, 15, "states no opset of ai.onnx"),
    ];
    for (header, opset, expected) in cases {
        let error = convert_text(&format!("{header} {nodes}"), &Options::to(opset)).unwrap_err().to_string();
        assert!(error.contains(expected), "{header} to {opset}: {error}");
    }
    let old = convert_text(&format!("<ir_version: 2, opset_import: []> {nodes}"), &Options::to(9)).unwrap().model.into_proto();
    assert_eq!((old.ir_version(), old.opset_import[0].version()), (4, 9), "a model of IR 2 is one of opset 1");
    let alias = convert_text(&format!(r#"<ir_version: 8, opset_import: ["ai.onnx": 13]> {nodes}"#), &Options::to(14)).unwrap();
    assert_eq!(alias.model.proto().opset_import[0].version(), 14);
}

#[test]
fn a_scan_over_a_batch_becomes_a_scan_around_a_scan() {
    let source = r#"<ir_version: 4, opset_import: ["": 8]> g (float[2,3] s, float[2,4,3] x) => (float[2,3] r, float[2,4,3] y)
        { r, y = Scan <num_scan_inputs = 1, directions = [1], body = b (float[3] a, float[3] e) => (float[3] a2, float[3] o)
            { a2 = Add (a, e) o = Identity (a2) }> ("", s, x) }"#;
    let proto = convert_text(source, &Options::to(13)).unwrap().model.into_proto();
    let outer = &proto.graph.as_ref().unwrap().node[0];
    assert_eq!((outer.input.len(), outer.output.len()), (2, 2));
    let body = outer.attribute.iter().find_map(|attribute| attribute.g.as_ref()).unwrap();
    let printed = text::print_node(&body.node[0]);
    assert!(printed.contains("scan_input_directions: ints = [1]") && printed.contains("num_scan_inputs: int = 1"), "{printed}");
    assert_eq!(body.input.len(), 2);
}
