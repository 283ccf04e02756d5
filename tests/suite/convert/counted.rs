//! Operators that an older opset lacks and that count, repeat or carry a state.

use super::{case, run};

#[test]
fn remainders_and_ranges() {
    run(&[
        case(10, "(int64[2] a, int64[2] b) => (int64[2] y)", "y = Mod (a, b)", 9,
            "y_quotient = Div (a, b)
             y_product = Mul (y_quotient, b)
             y_rest = Sub (a, y_product)
             y_zero = Constant <value: tensor = double {0}> ()
             y_rest_sign = Cast <to: int = 11> (y_rest)
             y_wanted_sign = Cast <to: int = 11> (b)
             y_rest_is_negative = Less (y_rest_sign, y_zero)
             y_rest_is_positive = Greater (y_rest_sign, y_zero)
             y_is_negative = Less (y_wanted_sign, y_zero)
             y_is_positive = Greater (y_wanted_sign, y_zero)
             y_is_below = And (y_rest_is_negative, y_is_positive)
             y_is_above = And (y_rest_is_positive, y_is_negative)
             y_differs = Or (y_is_below, y_is_above)
             y_flag = Cast <to: int = 7> (y_differs)
             y_shift = Mul (y_flag, b)
             y = Add (y_rest, y_shift)"),
        case(10, "(uint8[2] a, uint8[2] b) => (uint8[2] y)", "y = Mod <fmod = 1> (a, b)", 9,
            "y_a = Cast <to: int = 6> (a)
             y_b = Cast <to: int = 6> (b)
             y_quotient = Div (y_a, y_b)
             y_product = Mul (y_quotient, y_b)
             y_rest = Sub (y_a, y_product)
             y = Cast <to: int = 2> (y_rest)"),
        case(10, "(float[2] a, float[2] b) => (float[2] y)", "y = Mod <fmod = 1> (a, b)", 9,
            "no: Mod is new in opset 10, and cannot be expanded: the remainder of FLOAT has no equivalent"),
        case(11, "(int64 a, int64 b, int64 c) => (int64[n] y)", "y = Range (a, b, c)", 10,
            "y_goes = Constant <value: tensor = bool {1}> ()
             y_zero = Constant <value: tensor = double {0}> ()
             y_long_start = Cast <to: int = 7> (a)
             y_long_limit = Cast <to: int = 7> (b)
             y_long_delta = Cast <to: int = 7> (c)
             y_span = Sub (y_long_limit, y_long_start)
             y_quotient = Div (y_span, y_long_delta)
             y_covered = Mul (y_quotient, y_long_delta)
             y_rest = Sub (y_span, y_covered)
             y_rest_double = Cast <to: int = 11> (y_rest)
             y_delta_double = Cast <to: int = 11> (y_long_delta)
             y_signs = Mul (y_rest_double, y_delta_double)
             y_is_partial = Greater (y_signs, y_zero)
             y_partial = Cast <to: int = 7> (y_is_partial)
             y_rounded = Add (y_quotient, y_partial)
             y_rounded_double = Cast <to: int = 11> (y_rounded)
             y_is_positive = Greater (y_rounded_double, y_zero)
             y_positive = Cast <to: int = 7> (y_is_positive)
             y_count = Mul (y_rounded, y_positive)
             y_list = Constant <value: tensor = int64[1] {-1}> ()
             y_last, y_column = Loop <body: graph = y_body (int64 y_iteration, bool y_go, int64 y_present) => (y_goes_on, y_next, y_row) {
             [y_goes_on] y_goes_on = Identity (y_go)
             [y_next] y_next = Add (y_present, y_long_delta)
             [y_element] y_element = Cast <to: int = 7> (y_present)
             [y_row] y_row = Reshape (y_element, y_list)
             }> (y_count, y_goes, y_long_start)
             y = Reshape (y_column, y_list)"),
        case(11, "(float a, float b, float c) => (float[n] y)", "y = Range (a, b, c)", 10,
            "no: Range is new in opset 11, and cannot be expanded: a range of FLOAT has no equivalent whose elements are equal to the bit"),
        case(27, "(float16 a, float16 b, float16 c) => (float16[n] y)", "y = Range (a, b, c)", 26,
            "y_wide_start = Cast <to: int = 1> (a)
             y_wide_limit = Cast <to: int = 1> (b)
             y_wide_delta = Cast <to: int = 1> (c)
             y_wide = Range (y_wide_start, y_wide_limit, y_wide_delta)
             y = Cast <to: int = 10> (y_wide)"),
    ]);
}

#[test]
fn bits() {
    run(&[
        case(
            18,
            "(uint8[2] a, uint8[2] b) => (uint8[2] y)",
            "y = BitwiseAnd (a, b)",
            17,
            "y_last = Constant <value: tensor = int64[1] {-1}> ()
             y_values = Constant <value: tensor = int64[8] {1, 2, 4, 8, 16, 32, 64, 128}> ()
             y_moduli = Constant <value: tensor = int64[8] {2, 4, 8, 16, 32, 64, 128, 256}> ()
             y_weights = Constant <value: tensor = int64[8] {1, 2, 4, 8, 16, 32, 64, 128}> ()
             y_A_wide = Cast <to: int = 7> (a)
             y_A_column = Unsqueeze (y_A_wide, y_last)
             y_A_rest = Mod (y_A_column, y_moduli)
             y_A_clear = Less (y_A_rest, y_values)
             y_A_plain = Not (y_A_clear)
             y_B_wide = Cast <to: int = 7> (b)
             y_B_column = Unsqueeze (y_B_wide, y_last)
             y_B_rest = Mod (y_B_column, y_moduli)
             y_B_clear = Less (y_B_rest, y_values)
             y_B_plain = Not (y_B_clear)
             y_set = And (y_A_plain, y_B_plain)
             y_digits = Cast <to: int = 7> (y_set)
             y_parts = Mul (y_digits, y_weights)
             y_all_dims = Shape (y_set)
             y_start = Constant <value: tensor = int64[1] {0}> ()
             y_dims = Slice (y_all_dims, y_start, y_last)
             y_added = ReduceSum <keepdims: int = 0> (y_parts, y_last)
             y_sum = Reshape (y_added, y_dims)
             y = Cast <to: int = 2> (y_sum)",
        ),
        case(
            18,
            "(int8[2] a, int8[2] b) => (int8[2] y)",
            "y = BitwiseXor (a, b)",
            17,
            "y_last = Constant <value: tensor = int64[1] {-1}> ()
             y_zero = Constant <value: tensor = int64 {0}> ()
             y_values = Constant <value: tensor = int64[7] {1, 2, 4, 8, 16, 32, 64}> ()
             y_moduli = Constant <value: tensor = int64[7] {2, 4, 8, 16, 32, 64, 128}> ()
             y_weights = Constant <value: tensor = int64[8] {1, 2, 4, 8, 16, 32, 64, -128}> ()
             y_A_wide = Cast <to: int = 7> (a)
             y_A_column = Unsqueeze (y_A_wide, y_last)
             y_A_rest = Mod (y_A_column, y_moduli)
             y_A_clear = Less (y_A_rest, y_values)
             y_A_plain = Not (y_A_clear)
             y_A_sign = Less (y_A_column, y_zero)
             y_A_plain_digits = Cast <to: int = 7> (y_A_plain)
             y_A_sign_digit = Cast <to: int = 7> (y_A_sign)
             y_A_digits = Concat <axis: int = -1> (y_A_plain_digits, y_A_sign_digit)
             y_A_bits = Cast <to: int = 9> (y_A_digits)
             y_B_wide = Cast <to: int = 7> (b)
             y_B_column = Unsqueeze (y_B_wide, y_last)
             y_B_rest = Mod (y_B_column, y_moduli)
             y_B_clear = Less (y_B_rest, y_values)
             y_B_plain = Not (y_B_clear)
             y_B_sign = Less (y_B_column, y_zero)
             y_B_plain_digits = Cast <to: int = 7> (y_B_plain)
             y_B_sign_digit = Cast <to: int = 7> (y_B_sign)
             y_B_digits = Concat <axis: int = -1> (y_B_plain_digits, y_B_sign_digit)
             y_B_bits = Cast <to: int = 9> (y_B_digits)
             y_set = Xor (y_A_bits, y_B_bits)
             y_digits = Cast <to: int = 7> (y_set)
             y_parts = Mul (y_digits, y_weights)
             y_all_dims = Shape (y_set)
             y_start = Constant <value: tensor = int64[1] {0}> ()
             y_dims = Slice (y_all_dims, y_start, y_last)
             y_added = ReduceSum <keepdims: int = 0> (y_parts, y_last)
             y_sum = Reshape (y_added, y_dims)
             y = Cast <to: int = 3> (y_sum)",
        ),
        case(
            18,
            "(uint64[2] a, uint64[2] b) => (uint64[2] y)",
            "y = BitwiseOr (a, b)",
            17,
            "no: BitwiseOr is new in opset 18, and cannot be expanded: the highest bit of UINT64 has no modulus of type INT64",
        ),
    ]);
}

#[test]
fn states_along_an_axis() {
    run(&[
        case(26, "(float[2,3] x) => (float[2,3] y) <int64 a = {1}>", "y = CumProd (x, a)", 25,
            "y_dims = Shape (x)
             y_other_axes = Constant <value: tensor = int64[1] {0}> ()
             y_state_shape = Gather (y_dims, y_other_axes)
             y_start = ConstantOfShape <value: tensor = float[1] {1}> (y_state_shape)
             y_last, y = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [1], scan_output_axes: ints = [1], scan_input_directions: ints = [0], scan_output_directions: ints = [0], body: graph = y_body (y_previous, y_element) => (float[?] y_next, float[?] y_result) {
             [y_next] y_next = Mul (y_previous, y_element)
             [y_result] y_result = Identity (y_next)
             }> (y_start, x)"),
        case(26, "(int32[2,3] x, int64 a) => (int32[2,3] y)", "y = CumProd <exclusive = 1> (x, a)", 25,
            "y_wide_axis = Cast <to: int = 7> (a)
             y_rank = Constant <value: tensor = int64 {2}> ()
             y_row = Add (y_wide_axis, y_rank)
             y_table = Constant <value: tensor = int64[4, 3] {1, 2, 3, 2, 3, 1, 1, 2, 3, 2, 3, 1}> ()
             y_selected = Gather <axis: int = 0> (y_table, y_row)
             y_list = Constant <value: tensor = int64[1] {-1}> ()
             y_three = Reshape (y_selected, y_list)
             y_folded = Reshape (x, y_three)
             y_dims = Shape (y_folded)
             y_other_axes = Constant <value: tensor = int64[2] {0, 2}> ()
             y_state_shape = Gather (y_dims, y_other_axes)
             y_start = ConstantOfShape <value: tensor = int32[1] {1}> (y_state_shape)
             y_last, y_folded_result = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [1], scan_output_axes: ints = [1], scan_input_directions: ints = [0], scan_output_directions: ints = [0], body: graph = y_body (y_previous, y_element) => (int32[?, ?] y_next, int32[?, ?] y_result) {
             [y_next] y_next = Mul (y_previous, y_element)
             [y_result] y_result = Identity (y_previous)
             }> (y_start, y_folded)
             y_shape = Constant <value: tensor = int64[2] {2, 3}> ()
             y = Reshape (y_folded_result, y_shape)"),
        case(11, "(float[2,3] x) => (float[2,3] y) <int64 a = {0}>", "y = CumSum <reverse = 1> (x, a)", 10,
            "y_dims = Shape (x)
             y_other_axes = Constant <value: tensor = int64[1] {1}> ()
             y_state_shape = Gather (y_dims, y_other_axes)
             y_start = ConstantOfShape <value: tensor = float[1] {-0}> (y_state_shape)
             y_last, y = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [0], scan_output_axes: ints = [0], scan_input_directions: ints = [1], scan_output_directions: ints = [1], body: graph = y_body (y_previous, y_element) => (float[?] y_next, float[?] y_result) {
             [y_next] y_next = Add (y_previous, y_element)
             [y_result] y_result = Identity (y_next)
             }> (y_start, x)"),
        case(26, "(float[n] x, int64 a) => (float[n] y)", "y = CumProd (x, a)", 25,
            "no: CumProd is new in opset 26, and cannot be expanded: input 'a' is not constant, and the shape of the input is unknown or has no elements"),
        case(27, "(float[1,2,8] x, float[2,1,4] w) => (float[1,2,8] y, float[1,2,3] s)", "y, s = CausalConvWithState <activation = \"silu\"> (x, w)", 26,
            "y_pads = Constant <value: tensor = int64[6] {0, 0, 3, 0, 0, 0}> ()
             y_padded = Pad (x, y_pads)
             y_convolved = Conv <group: int = 2> (y_padded, w)
             y_gate = Sigmoid (y_convolved)
             y = Mul (y_convolved, y_gate)
             y_state_start = Constant <value: tensor = int64[1] {-3}> ()
             y_state_end = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y_state_axis = Constant <value: tensor = int64[1] {2}> ()
             s = Slice (y_padded, y_state_start, y_state_end, y_state_axis)"),
        case(27, "(float[1,2,8] x, float[2,1,1] w, float[2] b, float[1,2,0] p) => (float[1,2,8] y, float[1,2,0] s)", "y, s = CausalConvWithState (x, w, b, p)", 26,
            "y_padded = Concat <axis: int = 2> (p, x)
             y = Conv <group: int = 2> (y_padded, w, b)
             y_state_start = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y_state_end = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y_state_axis = Constant <value: tensor = int64[1] {2}> ()
             s = Slice (y_padded, y_state_start, y_state_end, y_state_axis)"),
        case(27, "(float16[1,3,8] q, float16[1,3,4] k, float16[1,3,4] v, float16[1,3,4] d, float16[1,3,2] b) => (float16[1,3,8] y, float16[1,2,2,2] s)", "y, s = LinearAttention <q_num_heads = 4, kv_num_heads = 2> (q, k, v, , d, b)", 26,
            "y_query_row_shape = Constant <value: tensor = int64[5] {0, 0, 2, 2, -1}> ()
             y_query_row_float = Cast <to: int = 1> (q)
             y_query_row_split = Reshape (y_query_row_float, y_query_row_shape)
             y_query_rows = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_query_row_split)
             y_key_column_shape = Constant <value: tensor = int64[5] {0, 0, 2, -1, 1}> ()
             y_key_column_float = Cast <to: int = 1> (k)
             y_key_column_split = Reshape (y_key_column_float, y_key_column_shape)
             y_key_columns = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_key_column_split)
             y_value_row_shape = Constant <value: tensor = int64[5] {0, 0, 2, 1, -1}> ()
             y_value_row_float = Cast <to: int = 1> (v)
             y_value_row_split = Reshape (y_value_row_float, y_value_row_shape)
             y_value_rows = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_value_row_split)
             y_decay_column_shape = Constant <value: tensor = int64[5] {0, 0, 2, -1, 1}> ()
             y_decay_column_float = Cast <to: int = 1> (d)
             y_decay_column_split = Reshape (y_decay_column_float, y_decay_column_shape)
             y_decay_columns = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_decay_column_split)
             y_rate_shape = Constant <value: tensor = int64[5] {0, 0, -1, 1, 1}> ()
             y_rate_float = Cast <to: int = 1> (b)
             y_rate_split = Reshape (y_rate_float, y_rate_shape)
             y_rates = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_rate_split)
             y_key_dims = Shape (k)
             y_value_dims = Shape (v)
             y_batch_axis = Constant <value: tensor = int64[1] {0}> ()
             y_width_axis = Constant <value: tensor = int64[1] {2}> ()
             y_heads = Constant <value: tensor = int64[1] {2}> ()
             y_batch = Gather (y_key_dims, y_batch_axis)
             y_all_keys = Gather (y_key_dims, y_width_axis)
             y_all_values = Gather (y_value_dims, y_width_axis)
             y_key_width = Div (y_all_keys, y_heads)
             y_value_width = Div (y_all_values, y_heads)
             y_state_shape = Concat <axis: int = 0> (y_batch, y_heads, y_key_width, y_value_width)
             y_state = ConstantOfShape (y_state_shape)
             y_scale = Constant <value: tensor = float {0.7071067690849304}> ()
             y_final, y_attended = Scan <num_scan_inputs: int = 5, body: graph = y_body (y_previous, y_query_row, y_key_column, y_value_row, y_decay_column, y_rate) => (y_next, y_result) {
             [y_factor] y_factor = Exp (y_decay_column)
             [y_kept] y_kept = Mul (y_previous, y_factor)
             [y_key_row] y_key_row = Transpose <perm: ints = [0, 1, 3, 2]> (y_key_column)
             [y_found] y_found = MatMul (y_key_row, y_kept)
             [y_difference] y_difference = Sub (y_value_row, y_found)
             [y_written] y_written = Mul (y_rate, y_difference)
             [y_update] y_update = MatMul (y_key_column, y_written)
             [y_next] y_next = Add (y_kept, y_update)
             [y_read] y_read = MatMul (y_query_row, y_next)
             [y_result] y_result = Mul (y_scale, y_read)
             }> (y_state, y_query_rows, y_key_columns, y_value_rows, y_decay_columns, y_rates)
             y_by_batch = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_attended)
             y_joined_shape = Constant <value: tensor = int64[3] {0, 0, -1}> ()
             y_joined = Reshape (y_by_batch, y_joined_shape)
             y = Cast <to: int = 10> (y_joined)
             s = Cast <to: int = 10> (y_final)"),
        case(27, "(float[1,3,4] q, float[1,3,4] k, float[1,3,4] v, float[1,2,2,2] p) => (float[1,3,4] y)", "y = LinearAttention <q_num_heads = 2, kv_num_heads = 2, update_rule = \"linear\", scale = 0.5> (q, k, v, p)", 26,
            "y_query_row_shape = Constant <value: tensor = int64[5] {0, 0, 2, 1, -1}> ()
             y_query_row_float = Cast <to: int = 1> (q)
             y_query_row_split = Reshape (y_query_row_float, y_query_row_shape)
             y_query_rows = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_query_row_split)
             y_key_column_shape = Constant <value: tensor = int64[5] {0, 0, 2, -1, 1}> ()
             y_key_column_float = Cast <to: int = 1> (k)
             y_key_column_split = Reshape (y_key_column_float, y_key_column_shape)
             y_key_columns = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_key_column_split)
             y_value_row_shape = Constant <value: tensor = int64[5] {0, 0, 2, 1, -1}> ()
             y_value_row_float = Cast <to: int = 1> (v)
             y_value_row_split = Reshape (y_value_row_float, y_value_row_shape)
             y_value_rows = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_value_row_split)
             y_state = Cast <to: int = 1> (p)
             y_scale = Constant <value: tensor = float {0.5}> ()
             y_final, y_attended = Scan <num_scan_inputs: int = 3, body: graph = y_body (y_previous, y_query_row, y_key_column, y_value_row) => (y_next, y_result) {
             [y_kept] y_kept = Identity (y_previous)
             [y_written] y_written = Identity (y_value_row)
             [y_update] y_update = MatMul (y_key_column, y_written)
             [y_next] y_next = Add (y_kept, y_update)
             [y_read] y_read = MatMul (y_query_row, y_next)
             [y_result] y_result = Mul (y_scale, y_read)
             }> (y_state, y_query_rows, y_key_columns, y_value_rows)
             y_by_batch = Transpose <perm: ints = [1, 0, 2, 3, 4]> (y_attended)
             y_joined_shape = Constant <value: tensor = int64[3] {0, 0, -1}> ()
             y_joined = Reshape (y_by_batch, y_joined_shape)
             y = Cast <to: int = 1> (y_joined)"),
    ]);
}

#[test]
fn pooling_and_gates() {
    run(&[
        case(
            19,
            "(float[1,2,6] x) => (float[1,2,4] y)",
            "y = AveragePool <kernel_shape = [2], dilations = [2]> (x)",
            18,
            "y_weights = Constant <value: tensor = float[2, 1, 2] {1, 1, 1, 1}> ()
             y_sum = Conv <group: int = 2, kernel_shape: ints = [2], dilations: ints = [2]> (x, y_weights)
             y_shape = Shape (x)
             y_elements = ConstantOfShape <value: tensor = float[1] {1}> (y_shape)
             y_count = Conv <group: int = 2, kernel_shape: ints = [2], dilations: ints = [2]> (y_elements, y_weights)
             y = Div (y_sum, y_count)",
        ),
        case(
            19,
            "(float[1,1,6] x) => (float[1,1,6] y)",
            "y = AveragePool <kernel_shape = [2], dilations = [2], pads = [1, 1], count_include_pad = 1> (x)",
            18,
            "y_weights = Constant <value: tensor = float[1, 1, 2] {1, 1}> ()
             y_sum = Conv <group: int = 1, kernel_shape: ints = [2], dilations: ints = [2], pads: ints = [1, 1]> (x, y_weights)
             y_area = Constant <value: tensor = float {2}> ()
             y = Div (y_sum, y_area)",
        ),
        case(
            19,
            "(float[1,1,6] x) => (float[1,1,6] y)",
            "y = AveragePool <kernel_shape = [2], dilations = [2], ceil_mode = 1> (x)",
            18,
            "y_weights = Constant <value: tensor = float[1, 1, 2] {1, 1}> ()
             y_sum = Conv <group: int = 1, kernel_shape: ints = [2], dilations: ints = [2]> (x, y_weights)
             y_shape = Shape (x)
             y_elements = ConstantOfShape <value: tensor = float[1] {1}> (y_shape)
             y_count = Conv <group: int = 1, kernel_shape: ints = [2], dilations: ints = [2]> (y_elements, y_weights)
             y = Div (y_sum, y_count)",
        ),
        case(
            28,
            "(float[2] a, float[2] b) => (float[2] y)",
            "y = SwiGLU (a, b)",
            27,
            "y_gate = Swish <alpha: float = 1> (a)
             y = Mul (y_gate, b)",
        ),
    ]);
}
