//! Axes, broadcasting, splits.

use super::{case, run};

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
        case(
            12,
            "(float[2,3,0] x) => (float[2,3,0] y)",
            "y = Softmax <axis = 1> (x)",
            13,
            "no: the input has no elements, and Reshape cannot restore a shape with a zero before opset 14",
        ),
        case(
            12,
            "(float[2,3,0] x) => (float[2,3,0] y)",
            "y = Softmax <axis = 1> (x)",
            14,
            "y_shape = Shape (x)
             y_flat = Flatten <axis: int = 1> (x)
             y_flat_result = Softmax <axis: int = -1> (y_flat)
             y = Reshape <allowzero: int = 1> (y_flat_result, y_shape)",
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
        // Before opset 11 they are removed and inserted in this order.
        case(
            12,
            "(float[1,3,1] x) => (float[3] y)",
            "y = Squeeze <axes = [-1, 0]> (x) z = Unsqueeze <axes = [2, 0]> (y)",
            10,
            "y = Squeeze <axes: ints = [0, 2]> (x)
             z = Unsqueeze <axes: ints = [0, 2]> (y)",
        ),
        case(
            13,
            "(float[1,3,1] x) => (float[3] y) <int64[2] a = {2, 0}>",
            "y = Squeeze (x, a) z = Unsqueeze (y, a)",
            9,
            "y = Squeeze <axes: ints = [0, 2]> (x)
             z = Unsqueeze <axes: ints = [0, 2]> (y)",
        ),
        case(
            12,
            "(float[1,3,1] x) => (float[3] y)",
            "y = Squeeze <axes = [2, 0]> (x)",
            11,
            "y = Squeeze <axes: ints = [2, 0]> (x)",
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
            "no: `noop_with_empty_axes` without axes is not supported by ReduceL1 before opset 18",
        ),
        case(
            18,
            "(float[n,3] x, int64[m] a) => (float y)",
            "y = ReduceMean (x, a)",
            17,
            "no: the number of computed axes must be known",
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
            "(float[n,3] x) => (int64 y)",
            "y = ArgMax <select_last_index = 1> (x)",
            11,
            "no: `select_last_index` is not supported by ArgMax before opset 12",
        ),
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
            12,
            "a_dims = Shape (x)
             a_axis = Constant <value: tensor = int64[1] {0}> ()
             a_others = Constant <value: tensor = int64[1] {1}> ()
             a_parts = Constant <value: tensor = int64[1] {2}> ()
             a_length = Gather (a_dims, a_axis)
             a_rounded_up = Add (a_length, a_others)
             a_part = Div (a_rounded_up, a_parts)
             a_before_last = Mul (a_part, a_others)
             a_last = Sub (a_length, a_before_last)
             a_split = Concat <axis: int = 0> (a_part, a_last)
             a_axes = Constant <value: tensor = int64[1] {0}> ()
             a_end_0 = Constant <value: tensor = int64[1] {0}> ()
             a_index_0 = Constant <value: tensor = int64[1] {0}> ()
             a_length_0 = Gather <axis: int = 0> (a_split, a_index_0)
             a_end_1 = Add (a_end_0, a_length_0)
             a = Slice (x, a_end_0, a_end_1, a_axes)
             a_index_1 = Constant <value: tensor = int64[1] {1}> ()
             a_length_1 = Gather <axis: int = 0> (a_split, a_index_1)
             a_end_2 = Add (a_end_1, a_length_1)
             b = Slice (x, a_end_1, a_end_2, a_axes)",
        ),
        case(
            18,
            "(float[N] x) => (float a, float b)",
            "a, b = Split <num_outputs = 2> (x)",
            17,
            "a_dims = Shape (x)
             a_axis = Constant <value: tensor = int64[1] {0}> ()
             a_others = Constant <value: tensor = int64[1] {1}> ()
             a_parts = Constant <value: tensor = int64[1] {2}> ()
             a_length = Gather (a_dims, a_axis)
             a_rounded_up = Add (a_length, a_others)
             a_part = Div (a_rounded_up, a_parts)
             a_before_last = Mul (a_part, a_others)
             a_last = Sub (a_length, a_before_last)
             a_split = Concat <axis: int = 0> (a_part, a_last)
             a, b = Split (x, a_split)",
        ),
        case(1, "(float[4] x) => (float a, float b)", "a, b = Split (x)", 2, "no: opset 1 does not define the default of `axis`"),
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
            "no: the rank of input 'h' is unknown",
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
            "(float[2,3,4] x, float[4] b) => (float y)",
            "y = Add (b, x)",
            6,
            "no: opset 6 broadcasts the second input to the shape of the first only, which these shapes do not allow",
        ),
        case(7, "(float[2,3] x, float[2,3] b) => (float[2,3] y)", "y = Add (x, b)", 6, "y = Add (x, b)"),
        case(7, "(float[2,3] x, float b) => (float[2,3] y)", "y = Add (x, b)", 6, "y = Add <broadcast: int = 1> (x, b)"),
        case(
            7,
            "(float[1,3] x, float[2,3] b) => (float[2,3] y)",
            "y = Add (x, b)",
            6,
            "no: opset 6 broadcasts the second input to the shape of the first only, which these shapes do not allow",
        ),
        case(
            8,
            "(float[1,3] x, float[2,3] b) => (float[2,3] y)",
            "y = Max (x, b)",
            7,
            "no: before opset 8 all inputs must have the same known shape",
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
