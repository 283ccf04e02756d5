//! Operators that an older opset lacks, as nodes of that opset.

use onnx_recast::internals::convert::{Exactness, Expand, NotConverted, Options};
use onnx_recast::internals::onnx_text;

use super::{blockers, case, convert_text, run};
use crate::support::expect_no_failures;

#[test]
fn activations() {
    run(&[
        case(
            14,
            "(float[2] x) => (float[2] y)",
            "y = HardSwish (x)",
            13,
            "y_gate = HardSigmoid <alpha: float = 0.16666667, beta: float = 0.5> (x)
             y = Mul (x, y_gate)",
        ),
        case(
            28,
            "(float[2] x) => (float[2] y)",
            "y = Celu <alpha = 2.0> (x)",
            11,
            "y_alpha = Constant <value: tensor = float {2}> ()
             y_scaled = Div (x, y_alpha)
             y_elu = Elu <alpha: float = 1> (y_scaled)
             y = Mul (y_alpha, y_elu)",
        ),
        case(12, "(float[2] x) => (float[2] y)", "y = Celu <alpha = -0.5> (x)", 11, "no: `alpha` = -0.5 is not a positive number"),
        case(12, "(float[2] x) => (float[2] y)", "y = Celu <alpha = 0.0> (x)", 11, "no: `alpha` = 0 is not a positive number"),
        case(
            20,
            "(float16[2] x) => (float16[2] y)",
            "y = Gelu (x)",
            19,
            "y_sqrt_two = Constant <value: tensor = float16 {1.4140625}> ()
             y_one = Constant <value: tensor = float16 {1}> ()
             y_half = Constant <value: tensor = float16 {0.5}> ()
             y_scaled = Div (x, y_sqrt_two)
             y_erf = Erf (y_scaled)
             y_shifted = Add (y_erf, y_one)
             y_phi = Mul (y_shifted, y_half)
             y = Mul (x, y_phi)",
        ),
        case(
            20,
            "(float[2] x) => (float[2] y)",
            "y = Gelu <approximate = \"tanh\"> (x)",
            7,
            "y_cubic = Constant <value: tensor = float {0.044714998453855515}> ()
             y_sqrt_two_over_pi = Constant <value: tensor = float {0.7978845834732056}> ()
             y_one = Constant <value: tensor = float {1}> ()
             y_half = Constant <value: tensor = float {0.5}> ()
             y_square = Mul (x, x)
             y_cube = Mul (y_square, x)
             y_cube_scaled = Mul (y_cubic, y_cube)
             y_sum = Add (x, y_cube_scaled)
             y_scaled = Mul (y_sqrt_two_over_pi, y_sum)
             y_tanh = Tanh (y_scaled)
             y_shifted = Add (y_one, y_tanh)
             y_phi = Mul (y_half, y_shifted)
             y = Mul (x, y_phi)",
        ),
        case(20, "(float[2] x) => (float[2] y)", "y = Gelu (x)", 8, "no: its expansion contains Erf: Erf is new in opset 9"),
        case(
            18,
            "(float[2] x) => (float[2] y)",
            "y = Mish (x)",
            17,
            "y_softplus = Softplus (x)
             y_tanh = Tanh (y_softplus)
             y = Mul (x, y_tanh)",
        ),
        case(
            24,
            "(float[2] x) => (float[2] y)",
            "y = Swish (x)",
            23,
            "y_alpha = Constant <value: tensor = float {1}> ()
             y_scaled = Mul (y_alpha, x)
             y_gate = Sigmoid (y_scaled)
             y = Mul (x, y_gate)",
        ),
    ]);
}

#[test]
fn comparisons() {
    run(&[
        case(
            12,
            "(float[2] a, float[2] b) => (bool[2] y)",
            "y = GreaterOrEqual (a, b)",
            11,
            "y_greater = Greater (a, b)
             y_equal = Equal (a, b)
             y = Or (y_greater, y_equal)",
        ),
        case(
            16,
            "(int32[2] a, int32[2] b) => (bool[2] y)",
            "y = LessOrEqual (a, b)",
            9,
            "y_less = Less (a, b)
             y_equal = Equal (a, b)
             y = Or (y_less, y_equal)",
        ),
    ]);
}

#[test]
fn normalizations() {
    run(&[
        case(
            17,
            "(float[2,3,4] x, float[3,4] s, float[3,4] b) => (float[2,3,4] y)",
            "y = LayerNormalization <axis = 1> (x, s, b)",
            10,
            "y_Mean = ReduceMean <axes: ints = [1, 2]> (x)
             y_deviation = Sub (x, y_Mean)
             y_square = Mul (y_deviation, y_deviation)
             y_variance = ReduceMean <axes: ints = [1, 2]> (y_square)
             y_epsilon = Constant <value: tensor = float {0.000009999999747378752}> ()
             y_variance_epsilon = Add (y_variance, y_epsilon)
             y_std_dev = Sqrt (y_variance_epsilon)
             y_normalized = Div (y_deviation, y_std_dev)
             y_scaled = Mul (y_normalized, s)
             y = Add (y_scaled, b)",
        ),
        // The rank is not needed; outputs keep their names; statistics are computed in float.
        case(
            17,
            "(float16[] x, float16[4] s) => (float16[] y, float[] m, float[] i)",
            "y, m, i = LayerNormalization <epsilon = 0.5> (x, s)",
            16,
            "y_x_stash = Cast <to: int = 1> (x)
             m = ReduceMean <axes: ints = [-1]> (y_x_stash)
             y_deviation = Sub (y_x_stash, m)
             y_square = Mul (y_deviation, y_deviation)
             y_variance = ReduceMean <axes: ints = [-1]> (y_square)
             y_epsilon = Constant <value: tensor = float {0.5}> ()
             y_variance_epsilon = Add (y_variance, y_epsilon)
             y_std_dev = Sqrt (y_variance_epsilon)
             y_normalized_stash = Div (y_deviation, y_std_dev)
             y_normalized = Cast <to: int = 10> (y_normalized_stash)
             i = Reciprocal (y_std_dev)
             y = Mul (y_normalized, s)",
        ),
        case(
            17,
            "(float[] x, float[4] s) => (float[] y)",
            "y = LayerNormalization <axis = 1> (x, s)",
            16,
            "no: LayerNormalization is new in opset 17, and cannot be expanded: the rank of input 'x' is unknown",
        ),
        case(
            23,
            "(float[2,4] x, float[4] s) => (float[2,4] y)",
            "y = RMSNormalization (x, s)",
            17,
            "y_square = Mul (x, x)
             y_mean_square = ReduceMean <axes: ints = [-1]> (y_square)
             y_epsilon = Constant <value: tensor = float {0.000009999999747378752}> ()
             y_mean_square_epsilon = Add (y_mean_square, y_epsilon)
             y_rms = Sqrt (y_mean_square_epsilon)
             y_normalized = Div (x, y_rms)
             y = Mul (y_normalized, s)",
        ),
        case(
            13,
            "(float[2,3,4,4] x) => (float[2,3,4,4] y)",
            "y = MeanVarianceNormalization (x)",
            8,
            "y_mean = ReduceMean <axes: ints = [0, 2, 3]> (x)
             y_deviation = Sub (x, y_mean)
             y_square = Mul (y_deviation, y_deviation)
             y_variance = ReduceMean <axes: ints = [0, 2, 3]> (y_square)
             y_std_dev = Sqrt (y_variance)
             y_epsilon = Constant <value: tensor = float {0.0000000009999999717180685}> ()
             y_std_dev_epsilon = Add (y_std_dev, y_epsilon)
             y = Div (y_deviation, y_std_dev_epsilon)",
        ),
    ]);
    let source = r#"<ir_version: 10, opset_import: ["": 21]> g (float16[2,4,5] x, float16[4] s, float16[4] b) => (float16[2,4,5] y)
        { y = GroupNormalization <num_groups = 2> (x, s, b) }"#;
    let proto = convert_text(source, &Options::to(12)).unwrap().model.into_proto();
    let ops: Vec<_> = proto.graph.as_ref().unwrap().node.iter().map(|node| node.op_type().to_owned()).collect();
    assert_eq!(ops.iter().filter(|op| *op == "Reshape").count(), 3, "{}", onnx_text::print(&proto));
}

#[test]
fn triangles() {
    run(&[
        case(
            14,
            "(float[N,M] x, int64 k) => (float[N,M] y)",
            "y = Trilu <upper = 0> (x, k)",
            11,
            "y_shape = Shape (x)
             y_row_axis = Constant <value: tensor = int64 {-2}> ()
             y_column_axis = Constant <value: tensor = int64 {-1}> ()
             y_rows = Gather (y_shape, y_row_axis)
             y_columns = Gather (y_shape, y_column_axis)
             y_first = Constant <value: tensor = int64 {0}> ()
             y_step = Constant <value: tensor = int64 {1}> ()
             y_row_range = Range (y_first, y_rows, y_step)
             y_column = Range (y_first, y_columns, y_step)
             y_row = Unsqueeze <axes: ints = [1]> (y_row_range)
             y_offset = Sub (y_column, y_row)
             y_drop = Greater (y_offset, k)
             y_keep = Not (y_drop)
             y_zero = Constant <value: tensor = float {0}> ()
             y = Where (y_keep, x, y_zero)",
        ),
        case(
            14,
            "(int32[2,3] x) => (int32[2,3] y) <int64 k = {1}>",
            "y = Trilu (x, k)",
            10,
            "y_keep = Constant <value: tensor = bool[2, 3] {0, 1, 1, 0, 0, 1}> ()
             y_zero = Constant <value: tensor = int32 {0}> ()
             y = Where (y_keep, x, y_zero)",
        ),
        case(
            14,
            "(float[N,M] x) => (float[N,M] y)",
            "y = Trilu (x)",
            8,
            "no: its expansion contains Where: Where is new in opset 9, and cannot be expanded: the shape of the result must be known",
        ),
        case(
            14,
            "(bfloat16[2,3] x) => (bfloat16[2,3] y)",
            "y = Trilu (x)",
            13,
            "no: its expansion contains Where: input 'x' is tensor(bfloat16), which Where-9 does not support",
        ),
        case(
            14,
            "(string[2,3] x) => (string[2,3] y)",
            "y = Trilu (x)",
            13,
            "no: Trilu is new in opset 14, and cannot be expanded: strings have no zero",
        ),
    ]);
}

#[test]
fn bits() {
    run(&[
        case(
            18,
            "(int16[2] x) => (int16[2] y)",
            "y = BitwiseNot (x)",
            17,
            "y_ones = Constant <value: tensor = int16 {-1}> ()
             y = Sub (y_ones, x)",
        ),
        case(
            18,
            "(uint8[2] x) => (uint8[2] y)",
            "y = BitwiseNot (x)",
            17,
            "y_ones = Constant <value: tensor = uint8 {255}> ()
             y = Sub (y_ones, x)",
        ),
    ]);
}

#[test]
fn losses() {
    run(&[
        case(
            13,
            "(float[3,5] x, int64[3] t) => (float y)",
            "y = NegativeLogLikelihoodLoss (x, t)",
            11,
            "y_column = Unsqueeze <axes: ints = [1]> (t)
             y_picked = GatherElements <axis: int = 1> (x, y_column)
             y_negative = Neg (y_picked)
             y = ReduceMean <keepdims: int = 0> (y_negative)",
        ),
        case(
            12,
            "(float[3,5,2] x, int32[3,2] t, float[5] w) => (float y)",
            "y = NegativeLogLikelihoodLoss <ignore_index = -1, reduction = \"mean\"> (x, t, w)",
            11,
            "y_column = Unsqueeze <axes: ints = [1]> (t)
             y_ignored_index = Constant <value: tensor = int32 {-1}> ()
             y_first_index = Constant <value: tensor = int32 {0}> ()
             y_zero = Constant <value: tensor = float {0}> ()
             y_is_ignored = Equal (y_column, y_ignored_index)
             y_index = Where (y_is_ignored, y_first_index, y_column)
             y_found = GatherElements <axis: int = 1> (x, y_index)
             y_picked = Where (y_is_ignored, y_zero, y_found)
             y_negative = Neg (y_picked)
             y_class_weight = Gather (w, y_index)
             y_factor = Where (y_is_ignored, y_zero, y_class_weight)
             y_each = Mul (y_negative, y_factor)
             y_sum = ReduceSum <keepdims: int = 0> (y_each)
             y_total = ReduceSum <keepdims: int = 0> (y_factor)
             y = Div (y_sum, y_total)",
        ),
        case(
            13,
            "(float[3,5] x, int64[3] t) => (float[3] y, float[3,5] p)",
            "y, p = SoftmaxCrossEntropyLoss <reduction = \"none\"> (x, t)",
            11,
            "y_shape = Shape (x)
             y_three_axes = Constant <value: tensor = int64[3] {0, 0, -1}> ()
             y_flat = Reshape (x, y_three_axes)
             y_classes_last = Transpose <perm: ints = [0, 2, 1]> (y_flat)
             y_log_softmax = LogSoftmax <axis: int = 2> (y_classes_last)
             y_classes_second = Transpose <perm: ints = [0, 2, 1]> (y_log_softmax)
             p = Reshape (y_classes_second, y_shape)
             y_column = Unsqueeze <axes: ints = [1]> (t)
             y_picked = GatherElements <axis: int = 1> (p, y_column)
             y_negative = Neg (y_picked)
             y = Squeeze <axes: ints = [1]> (y_negative)",
        ),
    ]);
}

#[test]
fn crops_and_windows() {
    run(&[
        case(
            18,
            "(float[4,5] x, int64[2] s) => (float[N,M] y)",
            "y = CenterCropPad (x, s)",
            17,
            "y_input_shape = Shape (x)
             y_target = Cast <to: int = 7> (s)
             y_two = Constant <value: tensor = int64 {2}> ()
             y_padded_shape = Max (y_input_shape, y_target)
             y_amount = Sub (y_padded_shape, y_input_shape)
             y_left = Div (y_amount, y_two)
             y_right = Sub (y_amount, y_left)
             y_pads = Concat <axis: int = 0> (y_left, y_right)
             y_padded = Pad (x, y_pads)
             y_excess = Sub (y_padded_shape, y_target)
             y_start = Div (y_excess, y_two)
             y_end = Add (y_start, y_target)
             y = Slice (y_padded, y_start, y_end)",
        ),
        case(
            18,
            "(float[4,5] x, int32[1] s) => (float[4,M] y)",
            "y = CenterCropPad <axes = [-1]> (x, s)",
            17,
            "y_input_shape = Shape (x)
             y_given = Cast <to: int = 7> (s)
             y_index_0 = Constant <value: tensor = int64[1] {0}> ()
             y_dim_0 = Gather <axis: int = 0> (y_input_shape, y_index_0)
             y_index_1 = Constant <value: tensor = int64[1] {0}> ()
             y_dim_1 = Gather <axis: int = 0> (y_given, y_index_1)
             y_target = Concat <axis: int = 0> (y_dim_0, y_dim_1)
             y_two = Constant <value: tensor = int64 {2}> ()
             y_padded_shape = Max (y_input_shape, y_target)
             y_amount = Sub (y_padded_shape, y_input_shape)
             y_left = Div (y_amount, y_two)
             y_right = Sub (y_amount, y_left)
             y_pads = Concat <axis: int = 0> (y_left, y_right)
             y_padded = Pad (x, y_pads)
             y_excess = Sub (y_padded_shape, y_target)
             y_start = Div (y_excess, y_two)
             y_end = Add (y_start, y_target)
             y = Slice (y_padded, y_start, y_end)",
        ),
        case(
            17,
            "(int64 n) => (float[N] y)",
            "y = HannWindow (n)",
            16,
            "y_length = Cast <to: int = 1> (n)
             y_zero = Constant <value: tensor = float {0}> ()
             y_one = Constant <value: tensor = float {1}> ()
             y_turn = Constant <value: tensor = float {6.2831854820251465}> ()
             y_a0 = Constant <value: tensor = float {0.5}> ()
             y_a1 = Constant <value: tensor = float {0.5}> ()
             y_step = Div (y_turn, y_length)
             y_index = Range (y_zero, y_length, y_one)
             y_angle = Mul (y_index, y_step)
             y_cos = Cos (y_angle)
             y_cos_part = Mul (y_a1, y_cos)
             y_difference = Sub (y_a0, y_cos_part)
             y = Cast <to: int = 1> (y_difference)",
        ),
        case(
            17,
            "(int32 n) => (double[N] y)",
            "y = BlackmanWindow <periodic = 0, output_datatype = 11> (n)",
            16,
            "y_length = Cast <to: int = 1> (n)
             y_zero = Constant <value: tensor = float {0}> ()
             y_one = Constant <value: tensor = float {1}> ()
             y_turn = Constant <value: tensor = float {6.2831854820251465}> ()
             y_a0 = Constant <value: tensor = float {0.41999998688697815}> ()
             y_a1 = Constant <value: tensor = float {0.5}> ()
             y_shorter = Sub (y_length, y_one)
             y_step = Div (y_turn, y_shorter)
             y_index = Range (y_zero, y_length, y_one)
             y_angle = Mul (y_index, y_step)
             y_cos = Cos (y_angle)
             y_cos_part = Mul (y_a1, y_cos)
             y_difference = Sub (y_a0, y_cos_part)
             y_a2 = Constant <value: tensor = float {0.07999999821186066}> ()
             y_two = Constant <value: tensor = float {2}> ()
             y_double_angle = Mul (y_angle, y_two)
             y_double_cos = Cos (y_double_angle)
             y_double_part = Mul (y_a2, y_double_cos)
             y_sum = Add (y_difference, y_double_part)
             y = Cast <to: int = 11> (y_sum)",
        ),
    ]);
}

#[test]
fn rotary_embeddings() {
    run(&[
        case(
            23,
            "(float[1,2,3,8] x, float[1,3,4] c, float[1,3,4] s) => (float[1,2,3,8] y)",
            "y = RotaryEmbedding (x, c, s)",
            22,
            "y_minus_one = Constant <value: tensor = int64[1] {-1}> ()
             y_head_axis = Constant <value: tensor = int64[1] {1}> ()
             y_cos = Unsqueeze (c, y_head_axis)
             y_sin = Unsqueeze (s, y_head_axis)
             y_first = Constant <value: tensor = int64[1] {0}> ()
             y_half = Constant <value: tensor = int64[1] {4}> ()
             y_whole = Constant <value: tensor = int64[1] {8}> ()
             y_x1 = Slice (x, y_first, y_half, y_minus_one)
             y_x2 = Slice (x, y_half, y_whole, y_minus_one)
             y_cos_x1 = Mul (y_cos, y_x1)
             y_sin_x2 = Mul (y_sin, y_x2)
             y_real = Sub (y_cos_x1, y_sin_x2)
             y_sin_x1 = Mul (y_sin, y_x1)
             y_cos_x2 = Mul (y_cos, y_x2)
             y_imaginary = Add (y_sin_x1, y_cos_x2)
             y = Concat <axis: int = -1> (y_real, y_imaginary)",
        ),
        case(
            23,
            "(float[1,3,16] x, float[9,2] c, float[9,2] s, int64[1,3] p) => (float[1,3,16] y)",
            "y = RotaryEmbedding <num_heads = 2, rotary_embedding_dim = 4, interleaved = 1> (x, c, s, p)",
            22,
            "y_minus_one = Constant <value: tensor = int64[1] {-1}> ()
             y_head_shape = Constant <value: tensor = int64[4] {0, 0, 2, -1}> ()
             y_split = Reshape (x, y_head_shape)
             y_head_axis = Constant <value: tensor = int64[1] {2}> ()
             y_cos_rows = Gather (c, p)
             y_sin_rows = Gather (s, p)
             y_cos = Unsqueeze (y_cos_rows, y_head_axis)
             y_sin = Unsqueeze (y_sin_rows, y_head_axis)
             y_begin = Constant <value: tensor = int64[1] {0}> ()
             y_end = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y_part = Constant <value: tensor = int64[1] {4}> ()
             y_rotated = Slice (y_split, y_begin, y_part, y_minus_one)
             y_kept = Slice (y_split, y_part, y_end, y_minus_one)
             y_even = Constant <value: tensor = int64[1] {0}> ()
             y_odd = Constant <value: tensor = int64[1] {1}> ()
             y_two = Constant <value: tensor = int64[1] {2}> ()
             y_last = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y_x1 = Slice (y_rotated, y_even, y_last, y_minus_one, y_two)
             y_x2 = Slice (y_rotated, y_odd, y_last, y_minus_one, y_two)
             y_cos_x1 = Mul (y_cos, y_x1)
             y_sin_x2 = Mul (y_sin, y_x2)
             y_real = Sub (y_cos_x1, y_sin_x2)
             y_sin_x1 = Mul (y_sin, y_x1)
             y_cos_x2 = Mul (y_cos, y_x2)
             y_imaginary = Add (y_sin_x1, y_cos_x2)
             y_real_column = Unsqueeze (y_real, y_minus_one)
             y_imaginary_column = Unsqueeze (y_imaginary, y_minus_one)
             y_pairs = Concat <axis: int = -1> (y_real_column, y_imaginary_column)
             y_rotated_shape = Shape (y_rotated)
             y_turned = Reshape (y_pairs, y_rotated_shape)
             y_joined = Concat <axis: int = -1> (y_turned, y_kept)
             y_shape = Shape (x)
             y = Reshape (y_joined, y_shape)",
        ),
    ]);
}

#[test]
fn attention() {
    run(&[
        case(
            23,
            "(float[1,2,3,4] q, float[1,2,5,4] k, float[1,2,5,4] v) => (float[1,2,3,4] y)",
            "y = Attention (q, k, v)",
            22,
            "y_scale_sqrt = Constant <value: tensor = float {0.7071067690849304}> ()
             y_q_scaled = Mul (q, y_scale_sqrt)
             y_k_turned = Transpose <perm: ints = [0, 1, 3, 2]> (k)
             y_k_scaled = Mul (y_k_turned, y_scale_sqrt)
             y_scores = MatMul (y_q_scaled, y_k_scaled)
             y_softmax = Softmax <axis: int = -1> (y_scores)
             y = MatMul (y_softmax, v)",
        ),
        case(
            24,
            "(float[1,3,8] q, float[1,5,4] k, float[1,5,4] v, bool[3,5] m) => (float[1,3,8] y)",
            "y = Attention <q_num_heads = 2, kv_num_heads = 1, is_causal = 1, softcap = 2.0> (q, k, v, m)",
            17,
            "y_zero_index = Constant <value: tensor = int64[1] {0}> ()
             y_one_index = Constant <value: tensor = int64[1] {1}> ()
             y_two_index = Constant <value: tensor = int64[1] {2}> ()
             y_three_index = Constant <value: tensor = int64[1] {3}> ()
             y_minus_one = Constant <value: tensor = int64[1] {-1}> ()
             y_q_shape = Constant <value: tensor = int64[4] {0, 0, 2, -1}> ()
             y_k_shape = Constant <value: tensor = int64[4] {0, 0, 1, -1}> ()
             y_q_split = Reshape (q, y_q_shape)
             y_k_split = Reshape (k, y_k_shape)
             y_v_split = Reshape (v, y_k_shape)
             y_q = Transpose <perm: ints = [0, 2, 1, 3]> (y_q_split)
             y_k = Transpose <perm: ints = [0, 2, 1, 3]> (y_k_split)
             y_v = Transpose <perm: ints = [0, 2, 1, 3]> (y_v_split)
             y_q_dims = Shape (y_q)
             y_k_dims = Shape (y_k)
             y_v_dims = Shape (y_v)
             y_q_head_count = Gather (y_q_dims, y_one_index)
             y_k_head_count = Gather (y_k_dims, y_one_index)
             y_group = Div (y_q_head_count, y_k_head_count)
             y_expanded = Concat <axis: int = 0> (y_one_index, y_one_index, y_group, y_one_index, y_one_index)
             y_k_width = Gather (y_k_dims, y_three_index)
             y_v_width = Gather (y_v_dims, y_three_index)
             y_k_column = Unsqueeze (y_k, y_two_index)
             y_v_column = Unsqueeze (y_v, y_two_index)
             y_k_groups = Expand (y_k_column, y_expanded)
             y_v_groups = Expand (y_v_column, y_expanded)
             y_k_heads_shape = Concat <axis: int = 0> (y_zero_index, y_q_head_count, y_minus_one, y_k_width)
             y_v_heads_shape = Concat <axis: int = 0> (y_zero_index, y_q_head_count, y_minus_one, y_v_width)
             y_k_heads = Reshape (y_k_groups, y_k_heads_shape)
             y_v_heads = Reshape (y_v_groups, y_v_heads_shape)
             y_scale_sqrt = Constant <value: tensor = float {0.7071067690849304}> ()
             y_q_scaled = Mul (y_q, y_scale_sqrt)
             y_k_turned = Transpose <perm: ints = [0, 1, 3, 2]> (y_k_heads)
             y_k_scaled = Mul (y_k_turned, y_scale_sqrt)
             y_scores = MatMul (y_q_scaled, y_k_scaled)
             y_cap = Constant <value: tensor = float {2}> ()
             y_scores_by_cap = Div (y_scores, y_cap)
             y_scores_tanh = Tanh (y_scores_by_cap)
             y_capped = Mul (y_scores_tanh, y_cap)
             y_zero = Constant <value: tensor = float {0}> ()
             y_minus_infinity = Constant <value: tensor = float {-inf}> ()
             y_mask_short = Where (m, y_zero, y_minus_infinity)
             y_position_axis = Constant <value: tensor = int64 {2}> ()
             y_first = Constant <value: tensor = int64 {0}> ()
             y_step = Constant <value: tensor = int64 {1}> ()
             y_position_q_dims = Shape (y_q)
             y_position_k_dims = Shape (y_k)
             y_q_length = Gather (y_position_q_dims, y_position_axis)
             y_k_length = Gather (y_position_k_dims, y_position_axis)
             y_q_range = Range (y_first, y_q_length, y_step)
             y_k_position = Range (y_first, y_k_length, y_step)
             y_q_column = Unsqueeze (y_q_range, y_one_index)
             y_distance = Sub (y_k_position, y_q_column)
             y_causal_limit = Constant <value: tensor = int64 {0}> ()
             y_causal_masked = Greater (y_distance, y_causal_limit)
             y_causal_bias = Where (y_causal_masked, y_minus_infinity, y_zero)
             y_bias_0 = Add (y_mask_short, y_causal_bias)
             y_biased = Add (y_capped, y_bias_0)
             y_softmax = Softmax <axis: int = -1> (y_biased)
             y_bias_max = ReduceMax <keepdims: int = 1, axes: ints = [-1]> (y_bias_0)
             y_all_masked = Equal (y_bias_max, y_minus_infinity)
             y_weights = Where (y_all_masked, y_zero, y_softmax)
             y_attended = MatMul (y_weights, y_v_heads)
             y_by_position = Transpose <perm: ints = [0, 2, 1, 3]> (y_attended)
             y_joined_shape = Constant <value: tensor = int64[3] {0, 0, -1}> ()
             y = Reshape (y_by_position, y_joined_shape)",
        ),
        case(24, "(float[1,N] q) => (float[1,N] y)", "y = Attention (q, q, q)", 22, "no: Q must have rank 3 or 4, not 2"),
    ]);
}

/// The options, and what the report says of an exact expansion and of one by definition.
#[test]
fn expansions_can_be_refused_and_are_reported() {
    let source = |node: &str| format!(r#"<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y) {{ {node} }}"#);
    let exact = source("[swish] y = HardSwish (x)");
    let by_definition = source("[mish] y = Mish (x)");
    let mut failures = Vec::new();
    for (source, expand, expected) in [
        (&exact, Expand::All, Ok(("graph/swish", Exactness::Exact, 2))),
        (&exact, Expand::Exact, Ok(("graph/swish", Exactness::Exact, 2))),
        (&exact, Expand::None, Err("HardSwish is new in opset 14, and expansion is disabled")),
        (&by_definition, Expand::All, Ok(("graph/mish", Exactness::ByDefinition, 3))),
        (&by_definition, Expand::Exact, Err("Mish is new in opset 18, and its expansion is not bit-exact")),
        (&by_definition, Expand::None, Err("Mish is new in opset 18, and expansion is disabled")),
    ] {
        let found = match convert_text(source, &Options::to(13).expand(expand)) {
            Ok(conversion) => {
                let expanded = conversion.report.expansions;
                Ok(expanded.iter().map(|expanded| (expanded.node.to_string(), expanded.class, expanded.nodes)).collect::<Vec<_>>())
            }
            Err(NotConverted::Blocked { blockers, .. }) => Err(blockers[0].reason.clone()),
            Err(error) => panic!("{error}"),
        };
        let expected = expected.map(|(node, class, nodes)| vec![(node.to_owned(), class, nodes)]).map_err(str::to_owned);
        if found != expected {
            failures.push(format!("{expand:?} {source}: {found:?}, not {expected:?}"));
        }
    }
    expect_no_failures(failures);
}

/// Without known shapes `Where` needs opset 9, and `GatherElements` opset 11: the lowest opset that works for all of the expansion is reported.
#[test]
fn the_nearest_opset_works_for_every_node_of_an_expansion() {
    let source = r#"<ir_version: 8, opset_import: ["": 13]> g (float[n,5] x, int64[n] t) => (float y)
        { y = NegativeLogLikelihoodLoss <ignore_index = 1> (x, t) }"#;
    let (found, nearest) = blockers(source, 8);
    assert_eq!(nearest, Some(11), "{found:?}");
    assert!(convert_text(source, &Options::to(11)).is_ok());
}

/// The node that computes the result keeps name, doc string and metadata; new names differ from all that the model has.
#[test]
fn names_and_metadata_stay() {
    let source = r#"<ir_version: 10, opset_import: ["": 18]> g (float[2] x, float[2] y_tanh) => (float[2] y, float[2] z)
        { [mine] y = Mish (x) [y_softplus] z = Add (x, y_tanh) }"#;
    let proto = convert_text(source, &Options::to(17)).unwrap().model.into_proto();
    let nodes = proto.graph.as_ref().unwrap().node.iter().map(onnx_text::print_node).collect::<Vec<_>>();
    assert_eq!(
        nodes,
        [
            "[y_softplus_1] y_softplus_1 = Softplus (x)",
            "[y_tanh_1] y_tanh_1 = Tanh (y_softplus_1)",
            "[mine] y = Mul (x, y_tanh_1)",
            "[y_softplus] z = Add (x, y_tanh)",
        ]
    );
}
