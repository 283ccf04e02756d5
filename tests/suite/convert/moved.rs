//! Operators that an older opset lacks and that only move elements.

use super::{case, run};

#[test]
fn gathering() {
    run(&[
        case(
            11,
            "(float[2,3] x, int64[2,2] i) => (float[2,2] y)",
            "y = GatherElements <axis = 1> (x, i)",
            10,
            "y_lengths = Constant <value: tensor = int64 {3}> ()
             y_given = Cast <to: int = 7> (i)
             y_sign = Cast <to: int = 1> (y_given)
             y_zero = Constant <value: tensor = float {0}> ()
             y_is_negative = Less (y_sign, y_zero)
             y_flag = Cast <to: int = 7> (y_is_negative)
             y_shift = Mul (y_flag, y_lengths)
             y_counted = Add (y_given, y_shift)
             y_stride = Constant <value: tensor = int64 {1}> ()
             y_index_2 = Mul (y_counted, y_stride)
             y_offset_0 = Constant <value: tensor = int64[2, 1] {0, 3}> ()
             y_index_0 = Add (y_index_2, y_offset_0)
             y_all = Constant <value: tensor = int64[1] {-1}> ()
             y_flat = Reshape (x, y_all)
             y = Gather <axis: int = 0> (y_flat, y_index_0)",
        ),
        case(
            11,
            "(float[2,3] x, int32[1,3] i) => (float[1,3] y)",
            "y = GatherElements (x, i)",
            8,
            "y_given = Cast <to: int = 7> (i)
             y_sign = Cast <to: int = 1> (y_given)
             y_zero = Constant <value: tensor = float {0}> ()
             y_is_negative = Less (y_sign, y_zero)
             y_flag = Cast <to: int = 7> (y_is_negative)
             y_shift = Mul (y_flag, y_lengths)
             y_counted = Add (y_given, y_shift)
             y_index_2 = Mul (y_counted, y_stride)
             y_index_1 = Add (y_index_2, y_offset_1)
             y_flat = Reshape (x, y_all)
             y = Gather <axis: int = 0> (y_flat, y_index_1)",
        ),
        case(
            11,
            "(float[n,3] x, int64[2,2] i) => (float[2,2] y)",
            "y = GatherElements <axis = 1> (x, i)",
            10,
            "no: GatherElements is new in opset 11, and cannot be expanded: the shape of input 'x' must be known",
        ),
        case(
            11,
            "(float[2,3,4] x, int64[5,2] i) => (float[5,4] y)",
            "y = GatherND (x, i)",
            10,
            "y_lengths = Constant <value: tensor = int64[2] {2, 3}> ()
             y_given = Cast <to: int = 7> (i)
             y_sign = Cast <to: int = 1> (y_given)
             y_zero = Constant <value: tensor = float {0}> ()
             y_is_negative = Less (y_sign, y_zero)
             y_flag = Cast <to: int = 7> (y_is_negative)
             y_shift = Mul (y_flag, y_lengths)
             y_counted = Add (y_given, y_shift)
             y_strides = Constant <value: tensor = int64[2] {3, 1}> ()
             y_weighted = Mul (y_counted, y_strides)
             y_number = ReduceSum <axes: ints = [1], keepdims: int = 0> (y_weighted)
             y_slices_shape = Constant <value: tensor = int64[2] {6, 4}> ()
             y_slices = Reshape (x, y_slices_shape)
             y = Gather <axis: int = 0> (y_slices, y_number)",
        ),
    ]);
}

#[test]
fn selecting() {
    run(&[
        case(
            9,
            "(bool[2] c, float[2] x, float z) => (float[2] y)",
            "y = Where (c, x, z)",
            8,
            "y_X_flat = Reshape (x, y_all)
             y_Y_wide = Expand (z, y_shape)
             y_Y_flat = Reshape (y_Y_wide, y_all)
             y_both = Concat <axis: int = 0> (y_Y_flat, y_X_flat)
             y_flag = Cast <to: int = 7> (c)
             y_block = Mul (y_flag, y_count)
             y_index = Add (y_block, y_places)
             y = Gather <axis: int = 0> (y_both, y_index)",
        ),
        case(
            9,
            "(bool[n] c, float[n] x, float[n] z) => (float[n] y)",
            "y = Where (c, x, z)",
            8,
            "no: Where is new in opset 9, and cannot be expanded: the shape of the result must be known",
        ),
        case(
            13,
            "(float[2] x, float low, float high) => (float[2] y)",
            "y = Clip (x, low, high)",
            12,
            "y_is_low = Less (x, low)
             y_raised = Where (y_is_low, low, x)
             y_is_high = Less (high, y_raised)
             y = Where (y_is_high, high, y_raised)",
        ),
        case(13, "(float[2] x, float high) => (float[2] y)", "y = Clip (x, , high)", 12, "y = Clip (x, \"\", high)"),
    ]);
}

#[test]
fn repeating() {
    run(&[
        case(
            8,
            "(float[2,1] x) => (float[2,3] y) <int64[2] s = {1, 3}>",
            "y = Expand (x, s)",
            7,
            "y_aligned = Reshape (x, y_aligned_shape)
             y = Tile (y_aligned, y_repeats)",
        ),
        case(
            8,
            "(float x, int64[2] s) => (float[] y)",
            "y = Expand (x, s)",
            7,
            "y_element = Reshape (x, y_ones)
             y = Tile (y_element, s)",
        ),
        case(
            8,
            "(float[2,1] x, int64[2] s) => (float[] y)",
            "y = Expand (x, s)",
            7,
            "no: Expand is new in opset 8, and cannot be expanded: input 's' is not constant",
        ),
    ]);
}

#[test]
fn scattering() {
    run(&[
        case(
            24,
            "(float[2,4,3] p, float[2,1,3] u, int64[2] w) => (float[2,4,3] y)",
            "y = TensorScatter <mode = \"circular\"> (p, u, w)",
            23,
            "y_update_shape = Shape (u)
             y_axis = Constant <value: tensor = int64 {1}> ()
             y_zero = Constant <value: tensor = int64 {0}> ()
             y_one = Constant <value: tensor = int64 {1}> ()
             y_length = Gather (y_update_shape, y_axis)
             y_order = Range (y_zero, y_length, y_one)
             y_order_shape = Constant <value: tensor = int64[3] {1, -1, 1}> ()
             y_steps = Reshape (y_order, y_order_shape)
             y_starts_shape = Constant <value: tensor = int64[3] {-1, 1, 1}> ()
             y_starts = Reshape (w, y_starts_shape)
             y_places = Add (y_starts, y_steps)
             y_cache_shape = Shape (p)
             y_cache_length = Gather (y_cache_shape, y_axis)
             y_wrapped = Mod (y_places, y_cache_length)
             y_index = Expand (y_wrapped, y_update_shape)
             y = ScatterElements <axis: int = 1> (p, y_index, u)",
        ),
        case(
            24,
            "(float[2,4,3] p, float[2,2,3] u) => (float[2,4,3] y)",
            "y = TensorScatter (p, u)",
            23,
            "y_update_shape = Shape (u)
             y_axis = Constant <value: tensor = int64 {1}> ()
             y_zero = Constant <value: tensor = int64 {0}> ()
             y_one = Constant <value: tensor = int64 {1}> ()
             y_length = Gather (y_update_shape, y_axis)
             y_order = Range (y_zero, y_length, y_one)
             y_order_shape = Constant <value: tensor = int64[3] {1, -1, 1}> ()
             y_steps = Reshape (y_order, y_order_shape)
             y_index = Expand (y_steps, y_update_shape)
             y = ScatterElements <axis: int = 1> (p, y_index, u)",
        ),
    ]);
}
