//! Operators of which a newer version supports more, by other nodes in the older one.

use super::{case, run};

#[test]
fn shifts_by_all_bits() {
    run(&[
        case(
            28,
            "(uint8[2] a, uint8[2] b) => (uint8[2] y)",
            "y = BitShift <direction = \"RIGHT\"> (a, b)",
            27,
            "y_bits = Constant <value: tensor = uint8 {8}> ()
             y_zero = Constant <value: tensor = uint8 {0}> ()
             y_is_small = Less (b, y_bits)
             y_shift = Where (y_is_small, b, y_zero)
             y_shifted = BitShift <direction: string = \"RIGHT\"> (a, y_shift)
             y = Where (y_is_small, y_shifted, y_zero)",
        ),
        case(
            28,
            "(uint8[2] a) => (uint8[2] y) <uint8 b = {7}>",
            "y = BitShift <direction = \"RIGHT\"> (a, b)",
            11,
            "y = BitShift <direction: string = \"RIGHT\"> (a, b)",
        ),
        case(
            28,
            "(uint64[2] a) => (uint64[2] y) <uint64 b = {64}>",
            "y = BitShift <direction = \"LEFT\"> (a, b)",
            11,
            "y_bits = Constant <value: tensor = uint64 {64}> ()
             y_zero = Constant <value: tensor = uint64 {0}> ()
             y_is_small = Less (b, y_bits)
             y_shift = Where (y_is_small, b, y_zero)
             y_shifted = BitShift <direction: string = \"LEFT\"> (a, y_shift)
             y = Where (y_is_small, y_shifted, y_zero)",
        ),
        case(
            28,
            "(int8[2] a, int8[2] b) => (int8[2] y)",
            "y = BitShift <direction = \"RIGHT\"> (a, b)",
            27,
            "no: BitShift of opset 28 has no equivalent in opset 27, and cannot be expanded: shifts of INT8 are not supported before",
        ),
        case(
            28,
            "(uint8[2] a, uint8[2] b) => (uint8[2] y)",
            "y = BitShift <direction = \"UP\"> (a, b)",
            27,
            "no: unknown `direction` = 'UP': BitShift-28 has LEFT, RIGHT",
        ),
    ]);
}

#[test]
fn flattening_any_type() {
    run(&[
        case(9, "(int64[n,2,3] x) => (int64[n,6] y)", "y = Flatten (x)", 8, "y = Reshape (x, y_shape)"),
        case(13, "(uint64[4,n,3] x) => (uint64[4,m] y)", "y = Flatten <axis = -2> (x)", 8, "y = Reshape (x, y_shape)"),
        case(9, "(bool[2,3] x) => (bool[1,6] y)", "y = Flatten <axis = 0> (x)", 8, "y = Reshape (x, y_shape)"),
        case(9, "(float[n,m] x) => (float[n,m] y)", "y = Flatten (x)", 8, "y = Flatten (x)"),
        case(
            9,
            "(bool[n,m] x) => (bool[n,m] y)",
            "y = Flatten (x)",
            8,
            "no: Flatten of opset 9 has no equivalent in opset 8, and cannot be expanded: both dimensions of the result are unknown",
        ),
        case(9, "(bool[0,2] x) => (bool[0,2] y)", "y = Flatten (x)", 8, "no: the input has no elements"),
        case(9, "(bool[1,2] x) => (bool[1,2] y)", "y = Flatten <axis = 3> (x)", 8, "no: `axis` = 3 is out of range for rank 2"),
    ]);
}

#[test]
fn resizes_of_opset_10() {
    let shrink_and_grow = "y_one = Constant <value: tensor = float[1] {1}> ()
             y_shrinking = Min (s, y_one)
             y_growing = Max (s, y_one)
             y_no_region = Constant <value: tensor = float[0] {}> ()
             y_shrunk = Resize <nearest_mode: string = \"ceil\", coordinate_transformation_mode: string = \"asymmetric\"> (x, y_no_region, y_shrinking)
             y_roi = Constant <value: tensor = float[0] {}> ()
             y = Resize <nearest_mode: string = \"floor\", coordinate_transformation_mode: string = \"asymmetric\"> (y_shrunk, y_roi, y_growing)";
    run(&[
        case(10, "(float[1,1,2,2] x) => (float y) <float[4] s = {1,1,0.5,2}>", "y = Resize (x, s)", 11, shrink_and_grow),
        case(10, "(float[1,1,2,2] x, float[4] s) => (float y)", "y = Resize (x, s)", 28, shrink_and_grow),
    ]);
}

#[test]
fn nearest_pixels_of_tensorflow() {
    let nearest = "<coordinate_transformation_mode = \"tf_half_pixel_for_nn\", mode = \"nearest\", nearest_mode = \"floor\">";
    let linear = "<coordinate_transformation_mode = \"tf_half_pixel_for_nn\", mode = \"linear\", nearest_mode = \"floor\">";
    let graph = "(float[1,1,2,2] x) => (float y) <float[0] e = {}, float[4] s = {1,1,1.5,0.5}>";
    run(&[
        case(
            12,
            graph,
            format!("y = Resize {nearest} (x, e, s)").leak(),
            13,
            "y = Resize <coordinate_transformation_mode: string = \"half_pixel\", mode: string = \"nearest\", nearest_mode: string = \"round_prefer_ceil\"> (x, e, s)",
        ),
        case(12, graph, format!("y = Resize {linear} (x, e, s)").leak(), 13, "no: except with `nearest_mode` = 'floor'"),
    ]);
}

#[test]
fn contractions() {
    run(&[
        case(
            12,
            "(float[2,n,4] x, float[2,m,4] w) => (float[2,n,m] y)",
            "y = Einsum <equation = \"bik, bjk -> bij\"> (x, w)",
            11,
            "y_turned_1 = Transpose <perm: ints = [0, 2, 1]> (w)
             y = MatMul (x, y_turned_1)",
        ),
        case(
            12,
            "(float[2,3] x) => (float[3] y)",
            "y = Einsum <equation = \"ij->j\"> (x)",
            11,
            "y = ReduceSum <axes: ints = [0], keepdims: int = 0> (x)",
        ),
        case(
            28,
            "(float[n] x, float[n] w) => (float y)",
            "y = Einsum <equation = \"i,i\"> (x, w)",
            11,
            "y_matrix_1 = Unsqueeze <axes: ints = [0]> (x)
             y_matrix_2 = Unsqueeze <axes: ints = [1]> (w)
             y_product_3 = MatMul (y_matrix_1, y_matrix_2)
             y = Squeeze <axes: ints = [0, 1]> (y_product_3)",
        ),
        case(
            12,
            "(float[n,2] x, float[n,2] w) => (float[2,n] y)",
            "y = Einsum <equation = \"ij,ij->ji\"> (x, w)",
            11,
            "y_product_1 = Mul (x, w)
             y = Transpose <perm: ints = [1, 0]> (y_product_1)",
        ),
        case(
            12,
            "(float[n,2,3] x, float[2,3,5] w) => (float[n,5] y)",
            "y = Einsum <equation = \"nhd,hdo->no\"> (x, w)",
            11,
            "y_shape_1 = Constant <value: tensor = int64[2] {0, 6}> ()
             y_reshaped_2 = Reshape (x, y_shape_1)
             y_shape_3 = Constant <value: tensor = int64[2] {6, 5}> ()
             y_reshaped_4 = Reshape (w, y_shape_3)
             y = MatMul (y_reshaped_2, y_reshaped_4)",
        ),
        case(12, "(float[2,2] x) => (float[2] y)", "y = Einsum <equation = \"ii->i\"> (x)", 11, "no: repeats a letter in a term"),
        case(12, "(float[2,2] x) => (float[2,2] y)", "y = Einsum <equation = \"...i->...i\"> (x)", 11, "no: has an ellipsis"),
        case(
            12,
            "(float[2] x) => (float[2] y)",
            "y = Einsum <equation = \"ij->i\"> (x)",
            11,
            "no: input 'x' has rank 1, but 2 labels",
        ),
        case(
            12,
            "(float[2] x, float[3] w) => (float y)",
            "y = Einsum <equation = \"i,i->\"> (x, w)",
            11,
            "no: axes 'i' have 2 and 3 elements",
        ),
        case(
            12,
            "(float[n,a,b] x, float[a,b,5] w) => (float[n,5] y)",
            "y = Einsum <equation = \"nhd,hdo->no\"> (x, w)",
            11,
            "no: the length of axis 'h' is unknown or zero",
        ),
        case(12, "(float[2] x) => (float y)", "y = Einsum <equation = \"i->z\"> (x)", 11, "no: has a letter in its result only"),
        case(12, "(float[2] x) => (float y)", "y = Einsum <equation = \"\"> (x)", 11, "no: input 'x' has rank 1, but 0 labels"),
        case(12, "(float[2] x) => (float y)", "y = Einsum <equation = \"i,i->\"> (x)", 11, "no: does not match the inputs"),
    ]);
}

#[test]
fn short_ranges() {
    run(&[
        case(28, "(int16 a, int16 b) => (int16[n] y) <int16 c = {-3}>", "y = Range (a, b, c)", 26, "y = Range (a, b, c)"),
        case(
            11,
            "(uint8 a, uint8 b, uint8 c) => (uint8[n] y)",
            "y = Range (a, b, c)",
            10,
            "no: input 'a' is tensor(uint8), which Range-11 does not support",
        ),
    ]);
}
