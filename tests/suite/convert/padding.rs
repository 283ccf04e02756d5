//! Pads, bounds and axes of reductions that the model computes, where older versions have an attribute.

use super::{case, run};

#[test]
fn computed_pads() {
    run(&[
        case(
            11,
            "(float[2,3] x, int64[4] p) => (float[a,b] y)",
            "y = Pad (x, p)",
            10,
            "y_dims = Shape (x)
             y_zero = Constant <value: tensor = int64[1] {0}> ()
             y_value = Constant <value: tensor = float {0}> ()
             y_axis_0 = Constant <value: tensor = int64[1] {0}> ()
             y_index_0 = Constant <value: tensor = int64[1] {0}> ()
             y_index_after_0 = Constant <value: tensor = int64[1] {2}> ()
             y_before_0 = Gather <axis: int = 0> (p, y_index_0)
             y_after_0 = Gather <axis: int = 0> (p, y_index_after_0)
             y_length_0 = Gather <axis: int = 0> (y_dims, y_axis_0)
             y_cuts_before_0 = Less (y_before_0, y_zero)
             y_cuts_after_0 = Less (y_after_0, y_zero)
             y_cut_before_0 = Where (y_cuts_before_0, y_before_0, y_zero)
             y_cut_after_0 = Where (y_cuts_after_0, y_after_0, y_zero)
             y_add_before_0 = Sub (y_before_0, y_cut_before_0)
             y_add_after_0 = Sub (y_after_0, y_cut_after_0)
             y_start_0 = Sub (y_zero, y_cut_before_0)
             y_end_0 = Add (y_length_0, y_cut_after_0)
             y_kept_0 = Slice (x, y_start_0, y_end_0, y_axis_0)
             y_kept_dims_0 = Shape (y_kept_0)
             y_places_1_0 = Constant <value: tensor = int64[1] {1}> ()
             y_dims_1_0 = Gather <axis: int = 0> (y_kept_dims_0, y_places_1_0)
             y_shape_before_0 = Concat <axis: int = 0> (y_add_before_0, y_dims_1_0)
             y_block_before_0 = Expand (y_value, y_shape_before_0)
             y_shape_after_0 = Concat <axis: int = 0> (y_add_after_0, y_dims_1_0)
             y_block_after_0 = Expand (y_value, y_shape_after_0)
             y_padded_0 = Concat <axis: int = 0> (y_block_before_0, y_kept_0, y_block_after_0)
             y_axis_1 = Constant <value: tensor = int64[1] {1}> ()
             y_index_1 = Constant <value: tensor = int64[1] {1}> ()
             y_index_after_1 = Constant <value: tensor = int64[1] {3}> ()
             y_before_1 = Gather <axis: int = 0> (p, y_index_1)
             y_after_1 = Gather <axis: int = 0> (p, y_index_after_1)
             y_length_1 = Gather <axis: int = 0> (y_dims, y_axis_1)
             y_cuts_before_1 = Less (y_before_1, y_zero)
             y_cuts_after_1 = Less (y_after_1, y_zero)
             y_cut_before_1 = Where (y_cuts_before_1, y_before_1, y_zero)
             y_cut_after_1 = Where (y_cuts_after_1, y_after_1, y_zero)
             y_add_before_1 = Sub (y_before_1, y_cut_before_1)
             y_add_after_1 = Sub (y_after_1, y_cut_after_1)
             y_start_1 = Sub (y_zero, y_cut_before_1)
             y_end_1 = Add (y_length_1, y_cut_after_1)
             y_kept_1 = Slice (y_padded_0, y_start_1, y_end_1, y_axis_1)
             y_kept_dims_1 = Shape (y_kept_1)
             y_places_0_1 = Constant <value: tensor = int64[1] {0}> ()
             y_dims_0_1 = Gather <axis: int = 0> (y_kept_dims_1, y_places_0_1)
             y_shape_before_1 = Concat <axis: int = 0> (y_dims_0_1, y_add_before_1)
             y_block_before_1 = Expand (y_value, y_shape_before_1)
             y_shape_after_1 = Concat <axis: int = 0> (y_dims_0_1, y_add_after_1)
             y_block_after_1 = Expand (y_value, y_shape_after_1)
             y = Concat <axis: int = 1> (y_block_before_1, y_kept_1, y_block_after_1)",
        ),
        case(
            11,
            "(int64[n] x) => (int64[m] y) <int64[2] p = {2, 0}>",
            "y = Pad (x, p)",
            10,
            "y_value = Constant <value: tensor = int64 {0}> ()
             y_index_0 = Constant <value: tensor = int64[1] {0}> ()
             y_index_after_0 = Constant <value: tensor = int64[1] {1}> ()
             y_before_0 = Gather <axis: int = 0> (p, y_index_0)
             y_after_0 = Gather <axis: int = 0> (p, y_index_after_0)
             y_shape_before_0 = Concat <axis: int = 0> (y_before_0)
             y_block_before_0 = Expand (y_value, y_shape_before_0)
             y_shape_after_0 = Concat <axis: int = 0> (y_after_0)
             y_block_after_0 = Expand (y_value, y_shape_after_0)
             y = Concat <axis: int = 0> (y_block_before_0, x, y_block_after_0)",
        ),
        case(
            11,
            "(float[3] x, int64[2] p) => (float[m] y)",
            "y = Pad <mode = \"reflect\"> (x, p)",
            10,
            "y_dims = Shape (x)
             y_zero = Constant <value: tensor = int64[1] {0}> ()
             y_one = Constant <value: tensor = int64[1] {1}> ()
             y_all = Constant <value: tensor = int64[1] {-1}> ()
             y_axis_0 = Constant <value: tensor = int64[1] {0}> ()
             y_index_0 = Constant <value: tensor = int64[1] {0}> ()
             y_index_after_0 = Constant <value: tensor = int64[1] {1}> ()
             y_before_0 = Gather <axis: int = 0> (p, y_index_0)
             y_after_0 = Gather <axis: int = 0> (p, y_index_after_0)
             y_length_0 = Gather <axis: int = 0> (y_dims, y_axis_0)
             y_cuts_before_0 = Less (y_before_0, y_zero)
             y_cuts_after_0 = Less (y_after_0, y_zero)
             y_cut_before_0 = Where (y_cuts_before_0, y_before_0, y_zero)
             y_cut_after_0 = Where (y_cuts_after_0, y_after_0, y_zero)
             y_add_before_0 = Sub (y_before_0, y_cut_before_0)
             y_add_after_0 = Sub (y_after_0, y_cut_after_0)
             y_start_0 = Sub (y_zero, y_cut_before_0)
             y_end_0 = Add (y_length_0, y_cut_after_0)
             y_kept_0 = Sub (y_end_0, y_start_0)
             y_longer_0 = Add (y_add_before_0, y_kept_0)
             y_total_0 = Add (y_longer_0, y_add_after_0)
             y_ones_0 = Expand (y_one, y_total_0)
             y_counted_0 = NonZero (y_ones_0)
             y_numbers_0 = Reshape (y_counted_0, y_all)
             y_number_0 = Sub (y_numbers_0, y_add_before_0)
             y_last_0 = Sub (y_kept_0, y_one)
             y_span_0 = Add (y_last_0, y_last_0)
             y_is_single_0 = Less (y_span_0, y_one)
             y_period_0 = Where (y_is_single_0, y_one, y_span_0)
             y_forth_0 = Mod (y_number_0, y_period_0)
             y_back_0 = Sub (y_span_0, y_forth_0)
             y_is_back_0 = Less (y_last_0, y_forth_0)
             y_repeated_0 = Where (y_is_back_0, y_back_0, y_forth_0)
             y_places_0 = Add (y_repeated_0, y_start_0)
             y = Gather <axis: int = 0> (x, y_places_0)",
        ),
        case(
            19,
            "(float[3] x) => (float[6] y) <int64[2] p = {-1, 4}>",
            "y = Pad <mode = \"wrap\"> (x, p)",
            18,
            "y_places_0 = Constant <value: tensor = int64[6] {1, 2, 1, 2, 1, 2}> ()
             y = Gather <axis: int = 0> (x, y_places_0)",
        ),
        case(11, "(float[1] x, int64[p] p) => (float[m] y)", "y = Pad (x, p)", 9, "no: its expansion contains Slice"),
        case(11, "(float[] x, int64[2] p) => (float[m] y)", "y = Pad (x, p)", 10, "no: the rank of input 'x' is unknown"),
        case(
            11,
            "(float[2] x, int64[2] p, float[2] v) => (float[m] y)",
            "y = Pad (x, p, v)",
            10,
            "no: `constant_value` must have one element",
        ),
        case(
            11,
            "(float[2] x) => (float[m] y) <int64[4] p = {0, 1, 2, 3}>",
            "y = Pad <mode = \"swirl\"> (x, p)",
            10,
            "no: unknown `mode` = 'swirl': Pad-11 has constant, reflect, edge, wrap",
        ),
    ]);
}

#[test]
fn computed_bounds_of_floats() {
    run(&[
        case(
            11,
            "(float[2] x, float h) => (float[2] y)",
            "y = Clip (x, , h)",
            10,
            "y_low = Constant <value: tensor = float {-340282346638528860000000000000000000000}> ()
             y_is_low = Less (x, y_low)
             y_raised = Where (y_is_low, y_low, x)
             y_is_high = Less (h, y_raised)
             y = Where (y_is_high, h, y_raised)",
        ),
        case(
            11,
            "(float[2] x, float l) => (float[2] y) <float h = {3}>",
            "y = Clip (x, l, h)",
            10,
            "y_is_low = Less (x, l)
             y_raised = Where (y_is_low, l, x)
             y_is_high = Less (h, y_raised)
             y = Where (y_is_high, h, y_raised)",
        ),
    ]);
}

#[test]
fn several_computed_axes() {
    run(&[
        case(
            18,
            "(float[a,b,c] x, int64[2] a) => (float[d] y)",
            "y = ReduceMax <keepdims = 0> (x, a)",
            17,
            "y_rank = Constant <value: tensor = int64[1] {3}> ()
             y_powers = Constant <value: tensor = int64[6] {1, 2, 4, 1, 2, 4}> ()
             y_places = Add (a, y_rank)
             y_chosen = Gather <axis: int = 0> (y_powers, y_places)
             y_sum = ReduceSum <keepdims: int = 0> (y_chosen)
             y_sum_0 = Constant <value: tensor = int64 {3}> ()
             y_is_0 = Equal (y_sum, y_sum_0)
             y_sum_1 = Constant <value: tensor = int64 {5}> ()
             y_is_1 = Equal (y_sum, y_sum_1)
             y = If <then_branch: graph = y_body () => (y_reduced_0) {
             [y_reduced_0] y_reduced_0 = ReduceMax <axes: ints = [0, 1], keepdims: int = 0> (x)
             }, else_branch: graph = y_body_1 () => (y_chosen_1) {
             [y_chosen_1] y_chosen_1 = If <then_branch: graph = y_body_2 () => (y_reduced_1) {
             [y_reduced_1] y_reduced_1 = ReduceMax <axes: ints = [0, 2], keepdims: int = 0> (x)
             }, else_branch: graph = y_body_3 () => (y_reduced_2) {
             [y_reduced_2] y_reduced_2 = ReduceMax <axes: ints = [1, 2], keepdims: int = 0> (x)
             }> (y_is_1)
             }> (y_is_0)",
        ),
        // One combination.
        case(
            18,
            "(float[a,b] x, int64[2] a) => (float[c,d] y)",
            "y = ReduceMax (x, a)",
            17,
            "y = ReduceMax <axes: ints = [0, 1], keepdims: int = 1> (x)",
        ),
        case(
            13,
            "(float[a,b] x, int64[1] a) => (float[c] y)",
            "y = ReduceSum <keepdims = 0, noop_with_empty_axes = 1> (x, a)",
            12,
            "y_rank = Constant <value: tensor = int64[1] {2}> ()
             y_powers = Constant <value: tensor = int64[4] {1, 2, 1, 2}> ()
             y_places = Add (a, y_rank)
             y_chosen = Gather <axis: int = 0> (y_powers, y_places)
             y_sum = ReduceSum <keepdims: int = 0> (y_chosen)
             y_sum_0 = Constant <value: tensor = int64 {1}> ()
             y_is_0 = Equal (y_sum, y_sum_0)
             y = If <then_branch: graph = y_body () => (y_reduced_0) {
             [y_reduced_0] y_reduced_0 = ReduceSum <axes: ints = [0], keepdims: int = 0> (x)
             }, else_branch: graph = y_body_1 () => (y_reduced_1) {
             [y_reduced_1] y_reduced_1 = ReduceSum <axes: ints = [1], keepdims: int = 0> (x)
             }> (y_is_0)",
        ),
        case(
            18,
            "(float[a,b] x, int64[n] a) => (float[c,d] y)",
            "y = ReduceMax (x, a)",
            17,
            "no: the number of computed axes must be known",
        ),
        case(18, "(float[] x, int64[2] a) => (float[c,d] y)", "y = ReduceMax (x, a)", 17, "no: the rank of input 'x' is unknown"),
        case(
            18,
            "(float[a,b,c,d,e,f,g,h] x, int64[4] a) => (float[p,q,r,s] y)",
            "y = ReduceMax <keepdims = 0> (x, a)",
            17,
            "no: 4 computed axes of 8 have more than 20 combinations",
        ),
        case(
            18,
            "(float[a,b,c] x, int64[2] a) => (float[d] y)",
            "y = ReduceMax <keepdims = 0> (x, a)",
            10,
            "no: before opset 11 the outputs of both branches must have the same shape",
        ),
    ]);
}
