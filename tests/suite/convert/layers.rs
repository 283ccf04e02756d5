//! Normalization, pooling, resizing, recurrent networks, and what else has one operator.

use onnx_recast::internals::convert::{NotConverted, Options};
use onnx_recast::internals::elements::cast::Contested;
use onnx_recast::internals::onnx_text;

use super::{case, convert_text, run, without_name};
use crate::support::expect_no_failures;

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
            "no: `is_test` = 0 with one output is contested: by its attribute the node trains, by its outputs it infers",
        ),
        case(
            7,
            "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)",
            "y = BatchNormalization <spatial = 0> (x, s, b, m, v)",
            9,
            "no: `spatial` is not supported by BatchNormalization since opset 9",
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
            "no: the outputs of training mode differ since opset 14",
        ),
        case(
            15,
            "(float16[1,2] x, float16[2] s, float16[2] b, float[2] m, float[2] v) => (float16[1,2] y)",
            "y = BatchNormalization (x, s, b, m, v)",
            13,
            "no: input 'x' is tensor(float16), but input 'm' is tensor(float): BatchNormalization-9 requires the same type",
        ),
        case(
            6,
            "(float[2] x) => (float[2] y)",
            "y, m = Dropout <is_test = 1, ratio = 0.3> (x)",
            13,
            "y_ratio = Constant <value: tensor = float {0.30000001192092896}> ()
             y = Dropout (x, y_ratio)",
        ),
        case(6, "(float[2] x) => (float[2] y)", "y = Dropout (x)", 7, "no: `is_test` = 0 is contested: by the text Dropout trains"),
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
            "no: Dropout has no training mode in opsets 7 to 11",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y, bool[2] m)",
            "y, m = Dropout (x)",
            11,
            "no: the mask of Dropout differs between the two versions",
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
            "(float[1,1,2,n] x) => (float y) <float[4] s = {1,1,2,2}>",
            "y = Resize (x, , s)",
            10,
            "no: opset 10 supports `coordinate_transformation_mode` = 'asymmetric' only",
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
            "no: `coordinate_transformation_mode` is not supported by RoiAlign before opset 16",
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
            "(float[1,c,4,4] x) => (float y)",
            "y = AveragePool <kernel_shape = [2,2], dilations = [2,1]> (x)",
            11,
            "no: the number of channels must be known",
        ),
        case(
            12,
            "(float[1,1,4,4] x) => (float y)",
            "y = MaxPool <kernel_shape = [2,2], strides = [4,4], ceil_mode = 1> (x)",
            22,
            "no: `ceil_mode`: windows that start in the padding are omitted since opset 22",
        ),
        case(
            12,
            "(float[1,1,4,4] x) => (float y)",
            "y = MaxPool <kernel_shape = [3,3], strides = [2,2], ceil_mode = 1> (x)",
            22,
            "y = MaxPool <kernel_shape: ints = [3, 3], strides: ints = [2, 2], ceil_mode: int = 1> (x)",
        ),
        case(
            10,
            "(float[1,1,3,3] x, float[1,2,3,3] w) => (float y)",
            "y = ConvTranspose <strides = [2,2], pads = [1,0,0,1]> (x, w)",
            11,
            "y = ConvTranspose <strides: ints = [2, 2], pads: ints = [1, 0, 0, 1]> (x, w)",
        ),
        case(
            11,
            "(float[1,1,3,3] x, float[1,2,3,3] w) => (float y)",
            "y = ConvTranspose <strides = [2,2], output_shape = [5,7]> (x, w)",
            10,
            "y = ConvTranspose <strides: ints = [2, 2], output_shape: ints = [5, 7]> (x, w)",
        ),
        case(
            10,
            "(float[1,1,3,3] x, float[1,2,3,3] w) => (float y)",
            "y = ConvTranspose <strides = [2,2], output_shape = [6,6]> (x, w)",
            11,
            "no: odd padding is placed on the other side since opset 11",
        ),
        case(
            10,
            "(float[1,1,N,3] x, float[1,2,3,3] w) => (float y)",
            "y = ConvTranspose <output_shape = [6,6]> (x, w)",
            11,
            "no: opset 11 places odd padding on the other side; whether the padding is odd depends on shapes that are unknown",
        ),
        case(
            11,
            "(float[1,1,3,3] x, float[1,2,3,3] w) => (float y)",
            "y = ConvTranspose <strides = [2,2], auto_pad = \"SAME_UPPER\"> (x, w)",
            10,
            "no: `auto_pad` with strides gives other output shapes since opset 11",
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
            "no: `p` = 2.5 is not an integer, as required since opset 2",
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
            "y_index = Constant <value: tensor = int64[2] {0, 3}> ()
             y = Gather (x, y_index)",
        ),
        case(
            13,
            "(float[4] x, int64[2] i) => (float[2] y)",
            "y = Gather (x, i)",
            10,
            "y_length = Constant <value: tensor = int64 {4}> ()
             y_zero = Constant <value: tensor = int64 {0}> ()
             y_is_negative = Less (i, y_zero)
             y_from_end = Add (i, y_length)
             y_index = Where (y_is_negative, y_from_end, i)
             y = Gather (x, y_index)",
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
            "no: `reduction` = 'max' is not supported before opset 18",
        ),
        case(
            16,
            "(float[4] x, int64[2] i, float[2] u) => (float[4] y)",
            "y = ScatterElements <reduction = \"add\"> (x, i, u)",
            13,
            "no: `reduction` = 'add' is not supported before opset 16, and input 'i' is not constant",
        ),
        case(
            11,
            "(uint8[4] i, float[2] v) => (float y) <int64 d = {5}>",
            "y = OneHot <axis = -2> (i, d, v)",
            9,
            "y = OneHot <axis: int = 0> (i, d, v)",
        ),
        case(
            11,
            "(float[2,3] x) => (float y) <int32[1] s = {0}, int32[1] e = {1}, int32[1] a = {-1}>",
            "y = Slice (x, s, e, a)",
            10,
            "y_axes = Constant <value: tensor = int32[1] {1}> ()
             y = Slice (x, s, e, y_axes)",
        ),
    ]);
    let source = |graph: &str| format!(r#"<ir_version: 6, opset_import: ["": 9]> g {graph} {{ y = OneHot (i, d, v) }}"#);
    let warnings = |graph: &str| convert_text(&source(graph), &Options::to(11)).unwrap().report.warnings.len();
    assert_eq!(warnings("(int64[4] i, float[2] v) => (float y) <int64 d = {5}>"), 1);
    assert_eq!(warnings("(float[2] v) => (float y) <int64 d = {5}, int64[2] i = {0, 4}>"), 0);
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
        case(5, "(float[2] x) => (float[2] y)", "y = Relu <consumed_inputs = [1]> (x)", 6, "y = Relu (x)"),
        case(1, "(float[2] x) => (float y)", "y = Pad <paddings = [1, 0]> (x)", 2, "y = Pad <pads: ints = [1, 0]> (x)"),
        case(2, "(float[2] x) => (float y)", "y = Pad <pads = [1, 0]> (x)", 1, "y = Pad <paddings: ints = [1, 0]> (x)"),
        case(
            5,
            "(float[2,3] x) => (float[2,6] y) <float t = {2}, float a = {1}>",
            "y = Tile (x, t, a)",
            6,
            "y = Tile (x, y_repeats)",
        ),
        case(
            1,
            "(float[1,1,1] x, float[1,3,1] w, float[1,3,1] r) => (float y)",
            "y = GRU <hidden_size = 1, direction = \"foward\"> (x, w, r)",
            3,
            "y = GRU <hidden_size: int = 1, direction: string = \"forward\"> (x, w, r)",
        ),
        case(3, "(float[2] x, float[2] z) => (float y)", "y = Concat (x, z)", 4, "y = Concat <axis: int = 1> (x, z)"),
        case(9, "(int32[2] x) => (int32[2] y)", "y = Erf (x)", 13, "no: input 'x' is tensor(int32), which Erf-13 does not support"),
        case(
            28,
            "(float[2] x, float[2] z) => (float[2] y)",
            "y = Mod (x, z)",
            27,
            "no: Mod supports floating-point inputs with `fmod` = 0 since opset 28 only",
        ),
        case(28, "(float[2] x, float[2] z) => (float[2] y)", "y = Mod <fmod = 1> (x, z)", 27, "y = Mod <fmod: int = 1> (x, z)"),
        case(15, "(float[2] x) => (float16[2] y) <float16 t = {0}>", "y = CastLike (x, t)", 13, "y = Cast <to: int = 10> (x)"),
        case(11, "(float[2] x) => (float[] y)", "y = Unique (x)", 10, "no: Unique is new in opset 11"),
        case(18, "(float[2] x) => (float[2] y)", "y = Nonsense (x)", 13, "no: opset 18 of ai.onnx has no operator 'Nonsense'"),
        case(18, "(float[2] x) => (float[2] y)", "y = my.domain.Nonsense (x)", 7, "y = my.domain.Nonsense (x)"),
        case(
            18,
            "(bfloat16[2] x) => (bfloat16[2] y)",
            "h = my.domain.Op (x) y = Add (h, h)",
            12,
            "no: input 'h' is tensor(bfloat16), which Add-7 does not support",
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

/// Versions 7 to 13 are in training mode if the node names the outputs of training, used or not.
#[test]
fn batch_normalization_in_training_is_never_taken_for_inference() {
    const GRAPH: &str = "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)";
    const TRAINS: &str = "no: the outputs of training mode differ since opset 14";
    const AMBIGUOUS: &str = "no: training mode is ambiguous: the node has some of the outputs of training mode, not all of them";
    run(&[
        case(
            9,
            GRAPH,
            "y, om, ov, sm, sv = BatchNormalization (x, s, b, m, v)",
            14,
            "y, y_running_mean, y_running_var = BatchNormalization <training_mode: int = 1> (x, s, b, m, v)",
        ),
        case(
            9,
            "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y, float[2] om)",
            "y, om, ov, sm, sv = BatchNormalization (x, s, b, m, v)",
            14,
            TRAINS,
        ),
        case(
            14,
            GRAPH,
            "y, p, q = BatchNormalization <training_mode = 1> (x, s, b, m, v)",
            9,
            "y, y_mean, y_var, y_saved_mean, y_saved_var = BatchNormalization (x, s, b, m, v)",
        ),
        case(7, GRAPH, "y, om = BatchNormalization (x, s, b, m, v)", 15, AMBIGUOUS),
        case(9, GRAPH, "y, , , , sv = BatchNormalization (x, s, b, m, v)", 14, AMBIGUOUS),
        case(
            9,
            GRAPH,
            "y, \"\", \"\", \"\", \"\" = BatchNormalization (x, s, b, m, v)",
            14,
            "y, \"\", \"\" = BatchNormalization (x, s, b, m, v)",
        ),
        case(
            9,
            GRAPH,
            "y, om, ov, sm, sv = BatchNormalization (x, s, b, m, v)",
            6,
            "y, om, ov, sm, sv = BatchNormalization (x, s, b, m, v)",
        ),
        case(9, GRAPH, "y, om = BatchNormalization (x, s, b, m, v)", 6, AMBIGUOUS),
        case(14, GRAPH, "y, p, q = BatchNormalization (x, s, b, m, v)", 13, "y = BatchNormalization (x, s, b, m, v)"),
    ]);
}

/// `--contested`: nodes of opset 6 that train by the text, and infer for runtimes.
#[test]
fn contested_nodes_are_read_as_requested() {
    const NORMALIZED: &str = "(float[1,2] x, float[2] s, float[2] b, float[2] m, float[2] v) => (float[1,2] y)";
    const ONE_OUTPUT: &str = "y = BatchNormalization (x, s, b, m, v)";
    const FIVE_OUTPUTS: &str = "y, y_mean, y_var, y_saved_mean, y_saved_var = BatchNormalization (x, s, b, m, v)";
    const DROPPED: &str = "(float[2] x) => (float[2] y)";
    let contested = [None, Some(Contested::Text), Some(Contested::Runtime)];
    let cases = [
        (NORMALIZED, ONE_OUTPUT, 7, ["no: is contested", FIVE_OUTPUTS, ONE_OUTPUT]),
        (NORMALIZED, ONE_OUTPUT, 9, ["no: is contested", FIVE_OUTPUTS, ONE_OUTPUT]),
        (
            NORMALIZED,
            "y = BatchNormalization <spatial = 0> (x, s, b, m, v)",
            9,
            ["no: is contested", "no: `spatial`", "no: `spatial`"],
        ),
        (
            NORMALIZED,
            ONE_OUTPUT,
            15,
            [
                "no: is contested",
                "y, y_running_mean, y_running_var = BatchNormalization <training_mode: int = 1> (x, s, b, m, v)",
                ONE_OUTPUT,
            ],
        ),
        (NORMALIZED, "y, q = BatchNormalization (x, s, b, m, v)", 9, ["no: requires all five outputs"; 3]),
        (DROPPED, "y = Dropout (x)", 9, ["no: is contested", "no: Dropout has no training mode", "y = Dropout (x)"]),
        (
            "(float[2] x) => (float[2] y, float[2] m)",
            "y, m = Dropout (x)",
            9,
            ["no: Dropout has no training mode", "no: Dropout has no training mode", "no: the mask of Dropout"],
        ),
    ];
    let mut failures = Vec::new();
    for (graph, nodes, to, expected) in cases {
        for (contested, expected) in contested.into_iter().zip(expected) {
            let source = format!("<ir_version: 3, opset_import: [\"\": 6]> g {graph} {{ {nodes} }}");
            let found = match convert_text(&source, &Options::to(to).contested(contested)) {
                Ok(done) => without_name(&onnx_text::print_node(&done.model.proto().graph.as_ref().unwrap().node[0])),
                Err(NotConverted::Blocked { blockers, .. }) => format!("no: {}", blockers[0]),
                Err(error) => error.to_string(),
            };
            let is_expected = match expected.strip_prefix("no: ") {
                Some(reason) => found.starts_with("no: ") && found.contains(reason),
                None => found == expected,
            };
            if !is_expected {
                failures.push(format!("{nodes} to {to}, {contested:?}: {found}, not {expected}"));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn attention_masks() {
    const NODES: &str = "y = Attention (q, k, v, m)";
    run(&[
        case(
            23,
            "(float[1,1,2,2] q, float[1,1,3,2] k, float[1,1,3,2] v, bool[2,1] m) => (float[1,1,2,2] y)",
            NODES,
            24,
            "no: an attention mask with one column applies to all keys in opset 23",
        ),
        case(23, "(float[1,1,2,2] q, float[1,1,1,2] k, float[1,1,1,2] v, bool[2,1] m) => (float[1,1,2,2] y)", NODES, 24, NODES),
        case(23, "(float[1,1,2,2] q, float[1,1,3,2] k, float[1,1,3,2] v, bool[2,3] m) => (float[1,1,2,2] y)", NODES, 24, NODES),
    ]);
    let source = r#"<ir_version: 11, opset_import: ["": 23]> g (float[1,1,2,2] q, float[1,1,N,2] k, float[1,1,N,2] v, bool[2,N] m) => (float y)
        { y = Attention (q, k, v, m) }"#;
    let warnings = convert_text(source, &Options::to(24)).unwrap().report.warnings;
    assert!(warnings[0].what.contains("the width of this mask is unknown"), "{warnings:?}");
}

#[test]
fn pools() {
    const X: &str = "(float[1,1,5] x) => (float y)";
    run(&[
        case(
            21,
            X,
            "y = LpPool <kernel_shape = [2], strides = [5], ceil_mode = 1> (x)",
            22,
            "no: `ceil_mode`: windows that start in the padding are omitted since opset 22",
        ),
        case(8, X, "y, i = MaxPool <kernel_shape = [2], storage_order = 1> (x)", 7, "y = MaxPool <kernel_shape: ints = [2]> (x)"),
        case(8, X, "y, i = MaxPool <kernel_shape = [2]> (x) j = Neg (i)", 7, "no: MaxPool has no output `Indices` before opset 8"),
    ]);
}
