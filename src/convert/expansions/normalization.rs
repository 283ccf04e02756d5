//! Normalizations. The variance is the mean of squared deviations, as in the text of the operators,
//! so that it is never negative.

use std::fmt::Display;

use super::{Expansion, axes_from, by_definition, exact, fill, list, number, type_name, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{
    AttributeUnsupported, BehaviourDiffers, NodeInvalid, OutputUnsupported, Reason,
    ShapeUnsupported, TypeUnsupported,
};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("BatchNormalization", 14, train_batch_normalization)
        .against(&[OutputUnsupported]),
    exact("Dropout", 12, infer_dropout).against(&[BehaviourDiffers]),
    by_definition("GroupNormalization", 18, group_normalization_of_groups),
    by_definition("GroupNormalization", 21, group_normalization),
    by_definition("LayerNormalization", 17, layer_normalization),
    by_definition("MeanVarianceNormalization", 9, mean_variance_normalization),
    by_definition("RMSNormalization", 23, rms_normalization),
];

/// The type that statistics are computed in.
fn stash_type(cx: &Context) -> Result<DType, Reason> {
    let number = cx.int_or("stash_type", 1)?;
    let dtype = i32::try_from(number).ok().and_then(DType::from_number);
    dtype.ok_or_else(|| {
        Reason::new(
            NodeInvalid,
            format!("unknown element type `stash_type` = {number}"),
        )
    })
}

/// A cast, or the same value under another name if it has the type.
fn cast(from: DType, to: DType, input: &str, output: &str) -> String {
    if from == to {
        format!("{output} = Identity ({input})\n")
    } else {
        format!("{output} = Cast <to = {}> ({input})\n", to.number())
    }
}

/// The statistics of the batch, and the running ones, in FLOAT for short floats (text of
/// BatchNormalization-14).
fn train_batch_normalization(cx: &Context) -> Result<String, Reason> {
    if cx.int_or("training_mode", 0)? == 0 {
        return Err(Reason::new(
            NodeInvalid,
            "outputs after the first are those of training mode",
        ));
    }
    let rank = cx.rank(0)?;
    if rank < 2 {
        return Err(Reason::new(
            ShapeUnsupported,
            "the input has no axis of channels",
        ));
    }
    let (dtype, running) = (cx.dtype(0)?, cx.dtype(3)?);
    let wide = match dtype {
        DType::Double => DType::Double,
        _ => DType::Float,
    };
    let momentum = cx.float("momentum")?.unwrap_or(0.9);
    let axes = (0..rank).filter(|&axis| axis != 1);
    let channels = list((0..rank).map(|axis| if axis == 1 { -1 } else { 1 }));
    let mut body = String::new();
    for (from, input, name) in [
        (dtype, "X", "x"),
        (cx.dtype(1)?, "scale", "wide_scale"),
        (cx.dtype(2)?, "B", "wide_bias"),
        (running, "input_mean", "mean_before"),
        (running, "input_var", "variance_before"),
    ] {
        body += &cast(from, wide, input, name);
    }
    body += "
        epsilon = Constant <value = $T {$epsilon}> ()
        momentum = Constant <value = $T {$momentum}> ()
        one = Constant <value = $T {1}> ()
        rest = Sub (one, momentum)
        list = Constant <value = int64[1] {-1}> ()
        channels = Constant <value = int64[$rank] {$channels}> ()
        mean = ReduceMean <axes: ints = [$axes], keepdims: int = 1> (x)
        deviation = Sub (x, mean)
        square = Mul (deviation, deviation)
        variance = ReduceMean <axes: ints = [$axes], keepdims: int = 1> (square)
        shifted = Add (variance, epsilon)
        spread = Sqrt (shifted)
        normalized = Div (deviation, spread)
        scale_column = Reshape (wide_scale, channels)
        bias_column = Reshape (wide_bias, channels)
        scaled = Mul (normalized, scale_column)
        y = Add (scaled, bias_column)
        mean_list = Reshape (mean, list)
        mean_part = Mul (mean_list, rest)
        mean_kept = Mul (mean_before, momentum)
        mean_after = Add (mean_kept, mean_part)
        variance_list = Reshape (variance, list)
        variance_part = Mul (variance_list, rest)
        variance_kept = Mul (variance_before, momentum)
        variance_after = Add (variance_kept, variance_part)\n";
    for (to, name, output) in [
        (dtype, "y", "Y"),
        (running, "mean_after", "running_mean"),
        (running, "variance_after", "running_var"),
    ] {
        body += &cast(wide, to, name, output);
    }
    Ok(fill(
        &body,
        &[
            ("T", &type_name(wide)),
            ("epsilon", &epsilon(cx)?),
            ("momentum", &number(momentum)),
            ("rank", &rank),
            ("axes", &list(axes)),
            ("channels", &channels),
        ],
    ))
}

/// Outside of training, a dropout keeps all elements, and its mask says so.
fn infer_dropout(cx: &Context) -> Result<String, Reason> {
    if cx.input(2).is_some() && cx.read_bools(2)?.contains(&true) {
        return Err(Reason::new(
            AttributeUnsupported,
            "Dropout has no training mode in opsets 7 to 11",
        ));
    }
    Ok("output = Identity (data)
        shape = Shape (data)
        mask = ConstantOfShape <value = bool[1] {1}> (shape)"
        .to_owned())
}

fn epsilon(cx: &Context) -> Result<String, Reason> {
    Ok(number(cx.float("epsilon")?.unwrap_or(1e-5)))
}

/// A body that computes in the type of the statistics: `$x` is `X` in that type, and `$normalized`
/// becomes `normalized` in the type of `X`.
fn stashed(cx: &Context, body: &str, (dtype, stash): (DType, DType)) -> Result<String, Reason> {
    let [to_stash, from_stash] = if dtype == stash {
        [String::new(), String::new()]
    } else {
        [
            cast(dtype, stash, "X", "x_stash"),
            cast(stash, dtype, "normalized_stash", "normalized"),
        ]
    };
    let (x, normalized) = if dtype == stash {
        ("X", "normalized")
    } else {
        ("x_stash", "normalized_stash")
    };
    let axes = axes_from(cx, cx.int_or("axis", -1)?)?;
    let parameters: &[(&str, &dyn Display)] = &[
        ("to_stash", &to_stash),
        ("from_stash", &from_stash),
        ("axes", &list(&axes)),
        ("count", &axes.len()),
        ("x", &x),
        ("normalized", &normalized),
        ("epsilon", &epsilon(cx)?),
        ("U", &type_name(stash)),
    ];
    Ok(fill(body, parameters))
}

fn layer_normalization(cx: &Context) -> Result<String, Reason> {
    let types = (cx.dtype(0)?, stash_type(cx)?);
    let bias = if cx.input(2).is_some() {
        "scaled = Mul (normalized, Scale) Y = Add (scaled, B)"
    } else {
        "Y = Mul (normalized, Scale)"
    };
    let body = "$to_stash
        Mean = ReduceMean <axes: ints = [$axes]> ($x)
        deviation = Sub ($x, Mean)
        square = Mul (deviation, deviation)
        variance = ReduceMean <axes: ints = [$axes]> (square)
        epsilon = Constant <value = $U {$epsilon}> ()
        variance_epsilon = Add (variance, epsilon)
        std_dev = Sqrt (variance_epsilon)
        $normalized = Div (deviation, std_dev)
        $from_stash
        InvStdDev = Reciprocal (std_dev)\n";
    stashed(cx, &format!("{body}{bias}"), types)
}

fn rms_normalization(cx: &Context) -> Result<String, Reason> {
    let types = (cx.dtype(0)?, stash_type(cx)?);
    if cx.dtype(1)? != types.0 {
        return Err(Reason::new(
            TypeUnsupported,
            "X and scale must have the same type",
        ));
    }
    let body = "$to_stash
        square = Mul ($x, $x)
        axes = Constant <value = int64[$count] {$axes}> ()
        mean_square = ReduceMean (square, axes)
        epsilon = Constant <value = $U {$epsilon}> ()
        mean_square_epsilon = Add (mean_square, epsilon)
        rms = Sqrt (mean_square_epsilon)
        $normalized = Div ($x, rms)
        $from_stash
        Y = Mul (normalized, scale)";
    stashed(cx, body, types)
}

/// The number of groups of an input with elements.
fn groups(cx: &Context) -> Result<i64, Reason> {
    let groups = cx.required("num_groups", |groups| Some(groups.i()))?;
    if cx
        .known_input(0)
        .shape
        .is_some_and(|shape| shape.contains(&Some(0)))
    {
        return Err(Reason::new(ShapeUnsupported, "the input has no elements"));
    }
    Ok(groups)
}

/// Version 18 has a scale and a bias of each group, and computes in the type of its input.
fn group_normalization_of_groups(cx: &Context) -> Result<String, Reason> {
    let body = "
        shape = Shape (X)
        groups_shape = Constant <value = int64[3] {0, $groups, -1}> ()
        grouped = Reshape (X, groups_shape)
        mean = ReduceMean <axes: ints = [2]> (grouped)
        deviation = Sub (grouped, mean)
        square = Mul (deviation, deviation)
        variance = ReduceMean <axes: ints = [2]> (square)
        epsilon = Constant <value = $T {$epsilon}> ()
        variance_epsilon = Add (variance, epsilon)
        std_dev = Sqrt (variance_epsilon)
        normalized = Div (deviation, std_dev)
        column = Constant <value = int64[1] {1}> ()
        scale_column = Unsqueeze (scale, column)
        bias_column = Unsqueeze (bias, column)
        scaled = Mul (normalized, scale_column)
        biased = Add (scaled, bias_column)
        Y = Reshape (biased, shape)";
    Ok(fill(
        body,
        &[
            ("groups", &groups(cx)?),
            ("epsilon", &epsilon(cx)?),
            ("T", &type_of(cx, 0)?),
        ],
    ))
}

/// The groups become the second of three axes; scale and bias are applied with the channels there.
fn group_normalization(cx: &Context) -> Result<String, Reason> {
    let (dtype, stash) = (cx.dtype(0)?, stash_type(cx)?);
    let groups = groups(cx)?;
    let body = "$to_stash
        shape = Shape (X)
        groups_shape = Constant <value = int64[3] {0, $groups, -1}> ()
        grouped = Reshape (x_stash, groups_shape)
        last = Constant <value = int64[1] {2}> ()
        mean = ReduceMean (grouped, last)
        deviation = Sub (grouped, mean)
        square = Mul (deviation, deviation)
        variance = ReduceMean (square, last)
        epsilon = Constant <value = $U {$epsilon}> ()
        variance_epsilon = Add (variance, epsilon)
        std_dev = Sqrt (variance_epsilon)
        normalized_stash = Div (deviation, std_dev)
        $from_stash
        zero = Constant <value = int64[1] {0}> ()
        rest = Constant <value = int64[1] {-1}> ()
        channels = Shape (scale)
        channels_shape = Concat <axis = 0> (zero, channels, rest)
        by_channel = Reshape (normalized, channels_shape)
        column = Constant <value = int64[1] {1}> ()
        scale_column = Unsqueeze (scale, column)
        bias_column = Unsqueeze (bias, column)
        scaled = Mul (by_channel, scale_column)
        biased = Add (scaled, bias_column)
        Y = Reshape (biased, shape)";
    Ok(fill(
        body,
        &[
            ("to_stash", &cast(dtype, stash, "X", "x_stash")),
            (
                "from_stash",
                &cast(stash, dtype, "normalized_stash", "normalized"),
            ),
            ("groups", &groups),
            ("epsilon", &epsilon(cx)?),
            ("U", &type_name(stash)),
        ],
    ))
}

fn mean_variance_normalization(cx: &Context) -> Result<String, Reason> {
    let axes = cx.ints("axes")?.unwrap_or_else(|| vec![0, 2, 3]);
    let axes = cx.axes_from_front(axes)?;
    let body = "
        mean = ReduceMean <axes: ints = [$axes]> (X)
        deviation = Sub (X, mean)
        square = Mul (deviation, deviation)
        variance = ReduceMean <axes: ints = [$axes]> (square)
        std_dev = Sqrt (variance)
        epsilon = Constant <value = $T {1e-9}> ()
        std_dev_epsilon = Add (std_dev, epsilon)
        Y = Div (deviation, std_dev_epsilon)";
    Ok(fill(
        body,
        &[("T", &type_of(cx, 0)?), ("axes", &list(&axes))],
    ))
}
