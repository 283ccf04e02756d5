//! Nodes that an older version supports in another form.

use super::{case, run};

#[test]
fn computed_axes_select_a_row_of_a_table() {
    run(&[
        case(
            18,
            "(float[2,3] x, int64[1] a) => (float[2,1] y)",
            "y = ReduceMean (x, a)",
            17,
            "y_rank = Constant <value: tensor = int64[1] {2}> ()
             y_from_zero = Add (a, y_rank)
             y_table = Constant <value: tensor = int64[4, 3] {1, 2, 3, 2, 3, 1, 1, 2, 3, 2, 3, 1}> ()
             y_selected = Gather <axis: int = 0> (y_table, y_from_zero)
             y_list = Constant <value: tensor = int64[1] {-1}> ()
             y_three = Reshape (y_selected, y_list)
             y_table_1 = Constant <value: tensor = int64[4, 2] {1, 3, 2, 1, 1, 3, 2, 1}> ()
             y_selected_1 = Gather <axis: int = 0> (y_table_1, y_from_zero)
             y_list_1 = Constant <value: tensor = int64[1] {-1}> ()
             y_shape = Reshape (y_selected_1, y_list_1)
             y_three_axes = Reshape (x, y_three)
             y_two_axes = ReduceMean <keepdims: int = 0, axes: ints = [1]> (y_three_axes)
             y = Reshape (y_two_axes, y_shape)",
        ),
        case(
            13,
            "(float[2,3] x, int64[1] a) => (float[] y)",
            "y = ReduceSum <keepdims = 0> (x, a)",
            7,
            "y_from_zero = Add (a, y_rank)
             y_selected = Gather <axis: int = 0> (y_table, y_from_zero)
             y_three = Reshape (y_selected, y_list)
             y_selected_1 = Gather <axis: int = 0> (y_table_1, y_from_zero)
             y_shape = Reshape (y_selected_1, y_list_1)
             y_three_axes = Reshape (x, y_three)
             y_two_axes = ReduceSum <keepdims: int = 0, axes: ints = [1]> (y_three_axes)
             y = Reshape (y_two_axes, y_shape)",
        ),
        case(13, "(float[2,3] x, int64[0] a) => (float[] y)", "y = ReduceSum (x, a)", 12, "y = ReduceSum (x)"),
        case(
            13,
            "(float[2,3] x, int64[0] a) => (float[] y)",
            "y = ReduceSum <noop_with_empty_axes = 1> (x, a)",
            12,
            "y = Identity (x)",
        ),
        case(13, "(float[3] x, int64[1] a) => (float[] y)", "y = ReduceSum (x, a)", 12, "y = ReduceSum (x)"),
        case(
            13,
            "(float[2,0] x, int64[1] a) => (float[] y)",
            "y = ReduceSum (x, a)",
            10,
            "no: before opset 11 the outputs of both branches must have the same shape",
        ),
        case(
            13,
            "(float[3,4] x, int64[1] a) => (float[] y)",
            "y = Unsqueeze (x, a)",
            12,
            "y_rank = Constant <value: tensor = int64[1] {3}> ()
             y_from_zero = Add (a, y_rank)
             y_table = Constant <value: tensor = int64[6, 3] {1, 3, 4, 3, 1, 4, 3, 4, 1, 1, 3, 4, 3, 1, 4, 3, ...}> ()
             y_selected = Gather <axis: int = 0> (y_table, y_from_zero)
             y_list = Constant <value: tensor = int64[1] {-1}> ()
             y_shape = Reshape (y_selected, y_list)
             y = Reshape (x, y_shape)",
        ),
        case(
            13,
            "(float[1,3] x, int64[2] a) => (float[] y)",
            "y = Unsqueeze (x, a)",
            12,
            "y_rank = Constant <value: tensor = int64[1] {4}> ()
             y_from_zero = Add (a, y_rank)
             y_weights = Constant <value: tensor = int64[2] {8, 1}> ()
             y_weighted = Mul (y_from_zero, y_weights)
             y_row = ReduceSum <keepdims: int = 1> (y_weighted)
             y_table = Constant <value: tensor = int64[64, 4] {1, 1, 3, 1, 1, 1, 1, 3, 1, 1, 1, 3, 1, 1, 3, 1, ...}> ()
             y_selected = Gather <axis: int = 0> (y_table, y_row)
             y_list = Constant <value: tensor = int64[1] {-1}> ()
             y_shape = Reshape (y_selected, y_list)
             y = Reshape (x, y_shape)",
        ),
        case(
            13,
            "(float[1,3] x, int64[1] a) => (float[3] y)",
            "y = Squeeze (x, a)",
            11,
            "y_rank = Constant <value: tensor = int64[1] {2}> ()
             y_from_zero = Add (a, y_rank)
             y_table = Constant <value: tensor = int64[4, 1] {3, 1, 3, 1}> ()
             y_selected = Gather <axis: int = 0> (y_table, y_from_zero)
             y_list = Constant <value: tensor = int64[1] {-1}> ()
             y_shape = Reshape (y_selected, y_list)
             y = Reshape (x, y_shape)",
        ),
        case(13, "(float[n,3] x, int64[1] a) => (float[] y)", "y = Unsqueeze (x, a)", 12, "no: input 'a' is not constant"),
    ]);
}

#[test]
fn axes_that_follow_from_shapes_are_constant() {
    run(&[case(
        18,
        "(float[n,3,4] x) => (float[] y)",
        "s = Shape (x) r = Size (s) one = Constant <value_int = 1> () a = Range (one, r, one) y = ReduceMean (x, a)",
        17,
        "s = Shape (x)
             r = Size (s)
             one = Constant <value_int: int = 1> ()
             a = Range (one, r, one)
             y = ReduceMean <axes: ints = [1, 2]> (x)",
    )]);
}

#[test]
fn types_that_the_older_version_lacks_are_computed_wider() {
    run(&[
        case(
            14,
            "(uint8[2] x, uint8[2] z) => (uint8[2] y)",
            "y = Add (x, z)",
            13,
            "y_wider = Cast <to: int = 6> (x)
             y_wider_1 = Cast <to: int = 6> (z)
             y_wide = Add (y_wider, y_wider_1)
             y = Cast <to: int = 2> (y_wide)",
        ),
        case(
            12,
            "(int32[2] x, int32[2] z) => (int32[2] y)",
            "y = Max (x, z)",
            11,
            "y_wider = Cast <to: int = 11> (x)
             y_wider_1 = Cast <to: int = 11> (z)
             y_wide = Max (y_wider, y_wider_1)
             y = Cast <to: int = 6> (y_wide)",
        ),
        case(
            12,
            "(int64[2] x, int64[2] z) => (int64[2] y)",
            "y = Min (x, z)",
            11,
            "y_wins = Less (x, z)
             y = Where (y_wins, x, z)",
        ),
        case(
            12,
            "(int64[2] x, int64[2] z, int64[2] w) => (int64[2] y)",
            "y = Max (x, z, w)",
            11,
            "y_wins = Greater (x, z)
             y_best = Where (y_wins, x, z)
             y_wins_1 = Greater (y_best, w)
             y = Where (y_wins_1, y_best, w)",
        ),
        case(12, "(int64[2] x) => (int64[2] y)", "y = Max (x)", 11, "y = Identity (x)"),
        case(
            20,
            "(bool[2,3] x) => (bool[1,1] y)",
            "y = ReduceMax (x)",
            19,
            "y_wider = Cast <to: int = 6> (x)
             y_wide = ReduceMax (y_wider)
             y = Cast <to: int = 9> (y_wide)",
        ),
        case(
            20,
            "(float16[2] x) => (bool[2] y)",
            "y = IsInf <detect_negative = 0> (x)",
            19,
            "y_wider = Cast <to: int = 1> (x)
             y = IsInf <detect_negative: int = 0> (y_wider)",
        ),
        case(
            11,
            "(int16[2] x, int16[2] z) => (bool[2] y)",
            "y = Equal (x, z)",
            10,
            "y_wider = Cast <to: int = 6> (x)
             y_wider_1 = Cast <to: int = 6> (z)
             y = Equal (y_wider, y_wider_1)",
        ),
        case(
            11,
            "(float[2] x, float[2] z) => (bool[2] y)",
            "y = Equal (x, z)",
            10,
            "y_less = Less (x, z)
             y_greater = Greater (x, z)
             y_differs = Or (y_less, y_greater)
             y_is_no_order = Not (y_differs)
             y_zero = Constant <value: tensor = float {0}> ()
             y_one = Constant <value: tensor = float {1}> ()
             y_is_below_one = Less (x, y_one)
             y_is_above_zero = Greater (x, y_zero)
             y_is_number = Or (y_is_below_one, y_is_above_zero)
             y_is_below_one_1 = Less (z, y_one)
             y_is_above_zero_1 = Greater (z, y_zero)
             y_is_number_1 = Or (y_is_below_one_1, y_is_above_zero_1)
             y_is_equal_number = And (y_is_no_order, y_is_number)
             y = And (y_is_equal_number, y_is_number_1)",
        ),
        case(
            11,
            "(float[2] x) => (bool[2] y) <float z = {0}>",
            "y = Equal (x, z)",
            10,
            "y_less = Less (x, z)
             y_greater = Greater (x, z)
             y_differs = Or (y_less, y_greater)
             y_is_no_order = Not (y_differs)
             y_zero = Constant <value: tensor = float {0}> ()
             y_one = Constant <value: tensor = float {1}> ()
             y_is_below_one = Less (x, y_one)
             y_is_above_zero = Greater (x, y_zero)
             y_is_number = Or (y_is_below_one, y_is_above_zero)
             y = And (y_is_no_order, y_is_number)",
        ),
        case(
            11,
            "(float[2] x) => (bool[2] y) <float z = {nan}>",
            "y = Equal (x, z)",
            10,
            "y_less = Less (x, z)
             y_greater = Greater (x, z)
             y_differs = Or (y_less, y_greater)
             y_is_no_order = Not (y_differs)
             y_zero = Constant <value: tensor = float {0}> ()
             y_one = Constant <value: tensor = float {1}> ()
             y_is_below_one = Less (x, y_one)
             y_is_above_zero = Greater (x, y_zero)
             y_is_number = Or (y_is_below_one, y_is_above_zero)
             y_is_below_one_1 = Less (z, y_one)
             y_is_above_zero_1 = Greater (z, y_zero)
             y_is_number_1 = Or (y_is_below_one_1, y_is_above_zero_1)
             y_is_equal_number = And (y_is_no_order, y_is_number)
             y = And (y_is_equal_number, y_is_number_1)",
        ),
        case(
            11,
            "(uint64[2] x, uint64[2] z) => (bool[2] y)",
            "y = Equal (x, z)",
            10,
            "no: input 'x' is tensor(uint64), which Equal-7 does not support",
        ),
        case(
            9,
            "(int32[2] x, int32[2] z) => (bool[2] y)",
            "y = Less (x, z)",
            8,
            "y_wider = Cast <to: int = 11> (x)
             y_wider_1 = Cast <to: int = 11> (z)
             y = Less (y_wider, y_wider_1)",
        ),
        case(
            9,
            "(int64[2] x, int64[2] z) => (bool[2] y)",
            "y = Less (x, z)",
            8,
            "y_left = Cast <to: int = 11> (x)
             y_right = Cast <to: int = 11> (z)
             y_zero = Constant <value: tensor = double {0}> ()
             y_is_decided = Less (y_left, y_right)
             y_is_reversed = Greater (y_left, y_right)
             y_may_be_equal = Not (y_is_reversed)
             y_difference = Sub (x, z)
             y_difference_double = Cast <to: int = 11> (y_difference)
             y_by_difference = Less (y_difference_double, y_zero)
             y_is_narrow = And (y_may_be_equal, y_by_difference)
             y = Or (y_is_decided, y_is_narrow)",
        ),
        case(
            9,
            "(int64[2] x) => (bool[2] y) <int64 z = {5}>",
            "y = Greater (x, z)",
            8,
            "y_left = Cast <to: int = 11> (x)
             y_right = Cast <to: int = 11> (z)
             y = Greater (y_left, y_right)",
        ),
        case(
            9,
            "(uint64[2] x, uint64[2] z) => (bool[2] y)",
            "y = Less (x, z)",
            8,
            "no: input 'x' is tensor(uint64), which Less-7 does not support",
        ),
        case(
            12,
            "(int8[2] x, int8 low, int8 high) => (int8[2] y)",
            "y = Clip (x, low, high)",
            11,
            "y_wider = Cast <to: int = 1> (x)
             y_wider_1 = Cast <to: int = 1> (low)
             y_wider_2 = Cast <to: int = 1> (high)
             y_wide = Clip (y_wider, y_wider_1, y_wider_2)
             y = Cast <to: int = 3> (y_wide)",
        ),
        case(
            11,
            "(int16[3] x) => (int16[2] y, int64[2] i) <int64[1] k = {2}>",
            "y, i = TopK <largest = 0> (x, k)",
            10,
            "y_wider = Cast <to: int = 1> (x)
             y_wide_negated = Neg (y_wider)
             y_wide_negated_result, i = TopK (y_wide_negated, k)
             y_wide = Neg (y_wide_negated_result)
             y = Cast <to: int = 5> (y_wide)",
        ),
        case(
            11,
            "(float[3] x) => (float[2] y, int64[2] i) <int64[1] k = {2}>",
            "y, i = TopK <largest = 0, sorted = 0> (x, k)",
            10,
            "y_negated = Neg (x)
             y_negated_result, i = TopK (y_negated, k)
             y = Neg (y_negated_result)",
        ),
        case(
            11,
            "(int64[3] x) => (int64[2] y, int64[2] i) <int64[1] k = {2}>",
            "y, i = TopK (x, k)",
            10,
            "no: input 'x' is tensor(int64), which TopK-10 does not support",
        ),
    ]);
}

#[test]
fn indices_and_elements() {
    run(&[
        case(
            11,
            "(float[4] x, int64[2] i) => (float[2] y)",
            "y = Gather (x, i)",
            8,
            "y_is_negative_left = Cast <to: int = 11> (i)
             y_is_negative_right = Cast <to: int = 11> (y_zero)
             y_is_negative = Less (y_is_negative_left, y_is_negative_right)
             y_flag = Cast <to: int = 7> (y_is_negative)
             y_shift = Mul (y_flag, y_length)
             y_index = Add (i, y_shift)
             y = Gather (x, y_index)",
        ),
        case(
            12,
            "(float[2,3] x) => (int64[1,3] y)",
            "y = ArgMax <select_last_index = 1> (x)",
            11,
            "y_order = Constant <value: tensor = int64[2] {1, 0}> ()
             y_reversed = Gather <axis: int = 0> (x, y_order)
             y_last = Constant <value: tensor = int64 {1}> ()
             y_negated_reversed_index = ArgMax (y_reversed)
             y_negated = Neg (y_negated_reversed_index)
             y = Add (y_negated, y_last)",
        ),
        case(
            12,
            "(float[n,3] x) => (int64[1,3] y)",
            "y = ArgMin <select_last_index = 1> (x)",
            11,
            "no: `select_last_index` is not supported by ArgMin before opset 12, and the length of the axis is unknown or too large",
        ),
        case(
            9,
            "(int64[2] s) => (float[] y)",
            "y = ConstantOfShape (s)",
            8,
            "y_element = Constant <value: tensor = float {0}> ()
             y = Expand (y_element, s)",
        ),
        case(
            9,
            "(int64[2] s) => (int64[] y)",
            "y = ConstantOfShape <value = int64[1] {7}> (s)",
            7,
            "y_element_1 = Reshape (y_element, y_ones)
             y = Tile (y_element_1, s)",
        ),
        case(
            18,
            "(float[1,2,4,4] x) => (float[1,2,8,8] y) <float[2] s = {2, 2}>",
            "y = Resize <axes = [2, 3], mode = \"linear\"> (x, , s)",
            17,
            "y_fill = Constant <value: tensor = float[1] {1}> ()
             y_joined = Concat <axis: int = 0> (s, y_fill)
             y_order = Constant <value: tensor = int64[4] {2, 2, 0, 1}> ()
             y_scales = Gather (y_joined, y_order)
             y = Resize <mode: string = \"linear\"> (x, \"\", y_scales)",
        ),
        case(
            18,
            "(float[1,2,4,4] x, int64[2] s) => (float[] y)",
            "y = Resize <axes = [3, 2], mode = \"linear\"> (x, , , s)",
            17,
            "y_dims = Shape (x)
             y_joined = Concat <axis: int = 0> (s, y_dims)
             y_order = Constant <value: tensor = int64[4] {2, 3, 1, 0}> ()
             y_sizes = Gather (y_joined, y_order)
             y = Resize <mode: string = \"linear\"> (x, \"\", \"\", y_sizes)",
        ),
        case(18, "(float[2] x) => (bool y)", "y = OptionalHasElement (x)", 17, "y = Constant <value: tensor = bool {1}> ()"),
        case(18, "(optional(float) x) => (bool y)", "y = OptionalHasElement (x)", 17, "y = OptionalHasElement (x)"),
        case(18, "(seq(float) x) => (seq(float) y)", "y = OptionalGetElement (x)", 17, "y = Identity (x)"),
    ]);
}

#[test]
fn a_node_that_computes_other_used_values_stays() {
    run(&[case(
        15,
        "(float[4] x, int64[2] z) => (float[2] a, float[2] y)",
        "a, b = Split (x) y = CastLike (z, b)",
        14,
        "a, b = Split (x)
             y = Cast <to: int = 1> (z)",
    )]);
}

#[test]
fn scans_without_a_batch_are_a_batch_of_one() {
    run(&[
        case(9, "(float[3] s, float[2,3] x) => (float[3] f, float[2,3] y)", "f, y = Scan <num_scan_inputs = 1, body = step (float[3] a, float[3] b) => (float[3] c, float[3] d) { c = Add (a, b) d = Identity (c) }> (s, x)", 8,
            "f_batch = Unsqueeze <axes: ints = [0]> (s)
             f_batch_1 = Unsqueeze <axes: ints = [0]> (x)
             f_batch_result, f_batch_result_batch_result = Scan <num_scan_inputs: int = 1, body: graph = step (float[3] a, float[3] b) => (float[3] c, float[3] d) {
             c = Add (a, b)
             d = Identity (c)
             }> (\"\", f_batch, f_batch_1)
             y = Squeeze <axes: ints = [0]> (f_batch_result_batch_result)
             f = Squeeze <axes: ints = [0]> (f_batch_result)"),
        case(9, "(float[2] s, float[2,3] x) => (float[2] f, float[2,3] y)", "f, y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1], scan_input_directions = [1], body = step (float[2] a, float[2] b) => (float[2] c, float[2] d) { c = Add (a, b) d = Identity (c) }> (s, x)", 8,
            "f_batch = Unsqueeze <axes: ints = [0]> (s)
             f_turned = Transpose <perm: ints = [1, 0]> (x)
             f_batch_1 = Unsqueeze <axes: ints = [0]> (f_turned)
             f_batch_result, f_batch_result_batch_result = Scan <num_scan_inputs: int = 1, directions: ints = [1], body: graph = step (float[2] a, float[2] b) => (float[2] c, float[2] d) {
             c = Add (a, b)
             d = Identity (c)
             }> (\"\", f_batch, f_batch_1)
             f_batch_result_turned_result = Squeeze <axes: ints = [0]> (f_batch_result_batch_result)
             y = Transpose <perm: ints = [1, 0]> (f_batch_result_turned_result)
             f = Squeeze <axes: ints = [0]> (f_batch_result)"),
        case(9, "(float[3] s, float[2,3] x) => (float[3] f, float[2,3] y)", "f, y = Scan <num_scan_inputs = 1, scan_output_directions = [1], body = step (float[3] a, float[3] b) => (float[3] c, float[3] d) { c = Add (a, b) d = Identity (c) }> (s, x)", 8,
            "no: Scan requires a batch axis in opset 8, and cannot reverse its results"),
    ]);
}
