//! Operators that onnxruntime has in the domain ai.onnx beside those of ONNX.
//!
//! What they compute was found by running models of one node in onnxruntime 1.17 and 1.32. In
//! FLOAT16, onnxruntime runs all except the normalizations of layers in FLOAT, with casts.
//! `stash_type` has no effect on the result of the normalizations: DOUBLE is normalized in DOUBLE.

use super::rounding::thresholded;
use super::{Expansion, axes_from, by_definition, exact, fill, list, number, type_name};
use crate::convert::context::Context;
use crate::convert::reason::{
    NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported, TypeUnsupported,
};
use onnx_cast::DType;

/// The opset of bodies whose nodes can be converted to every older and newer opset.
const ELEMENTWISE: i64 = 13;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("Affine", 1, affine).in_opset(ELEMENTWISE),
    exact("Crop", 1, crop).in_opset(ELEMENTWISE),
    exact("DynamicSlice", 1, dynamic_slice).in_opset(10),
    by_definition("ImageScaler", 1, image_scaler).in_opset(ELEMENTWISE),
    by_definition("LayerNormalization", 1, layer_normalization).in_opset(17),
    by_definition("MeanVarianceNormalization", 1, mean_variance_normalization).in_opset(9),
    by_definition("ParametricSoftplus", 1, parametric_softplus).in_opset(ELEMENTWISE),
    by_definition("Scale", 1, scale).in_opset(ELEMENTWISE),
    by_definition("ScaledTanh", 1, scaled_tanh).in_opset(ELEMENTWISE),
    by_definition("SimplifiedLayerNormalization", 1, simplified).in_opset(23),
    exact("ThresholdedRelu", 1, thresholded).in_opset(ELEMENTWISE),
];

/// The type in which the elements of the input are computed.
fn compute_type(cx: &Context) -> Result<DType, Reason> {
    Ok(match cx.dtype(0)? {
        DType::Float16 => DType::Float,
        dtype => dtype,
    })
}

/// A body for which `x` is the input in the type of the computation, `$T`, and `y` the result.
fn computed(
    cx: &Context,
    [input, output]: [&str; 2],
    body: &str,
    constants: &[(&str, f32)],
) -> Result<String, Reason> {
    let (dtype, compute) = (cx.dtype(0)?, compute_type(cx)?);
    let constants: String = constants
        .iter()
        .map(|(name, value)| {
            format!(
                "{name} = Constant <value = {} {{{}}}> ()\n",
                type_name(compute),
                number(*value)
            )
        })
        .collect();
    let casts = [("x", compute, input), (output, dtype, "y")]
        .map(|(to, dtype, from)| format!("{to} = Cast <to = {}> ({from})\n", dtype.number()));
    Ok(format!("{}{constants}{body}\n{}", casts[0], casts[1]))
}

fn float(cx: &Context, name: &str, default: f32) -> Result<f32, Reason> {
    Ok(cx.float(name)?.unwrap_or(default))
}

/// An attribute that the schema does not require, but the kernel does.
fn required_float(cx: &Context, name: &str) -> Result<f32, Reason> {
    cx.required(name, |attribute| Some(attribute.f()))
}

fn affine(cx: &Context) -> Result<String, Reason> {
    let body = "scaled = Mul (alpha, x) y = Add (scaled, beta)";
    let constants = [
        ("alpha", float(cx, "alpha", 1.0)?),
        ("beta", float(cx, "beta", 0.0)?),
    ];
    computed(cx, ["X", "Y"], body, &constants)
}

fn scale(cx: &Context) -> Result<String, Reason> {
    let constants = [("scale", float(cx, "scale", 1.0)?)];
    computed(cx, ["input", "output"], "y = Mul (x, scale)", &constants)
}

fn scaled_tanh(cx: &Context) -> Result<String, Reason> {
    let body = "inner = Mul (beta, x) tanh = Tanh (inner) y = Mul (alpha, tanh)";
    computed(cx, ["input", "output"], body, &alpha_and_beta(cx)?)
}

fn parametric_softplus(cx: &Context) -> Result<String, Reason> {
    let body = "inner = Mul (beta, x) softplus = Softplus (inner) y = Mul (alpha, softplus)";
    computed(cx, ["X", "Y"], body, &alpha_and_beta(cx)?)
}

fn alpha_and_beta(cx: &Context) -> Result<[(&'static str, f32); 2], Reason> {
    Ok([
        ("alpha", required_float(cx, "alpha")?),
        ("beta", required_float(cx, "beta")?),
    ])
}

/// The kernels of images refuse other ranks.
fn expect_image(cx: &Context) -> Result<(), Reason> {
    match cx.rank(0)? {
        4 => Ok(()),
        rank => Err(Reason::new(
            ShapeUnsupported,
            format!("onnxruntime requires an input of rank 4, not {rank}"),
        )),
    }
}

fn image_scaler(cx: &Context) -> Result<String, Reason> {
    expect_image(cx)?;
    let bias = cx.required("bias", |bias| Some(bias.floats.clone()))?;
    if cx
        .dim(0, 1)
        .is_some_and(|channels| channels != bias.len() as i64)
    {
        return Err(Reason::new(
            NodeInvalid,
            "`bias` does not have a number for each channel",
        ));
    }
    let body = format!(
        "bias = Constant <value = {}[{}, 1, 1] {{{}}}> ()
        scaled = Mul (x, scale)
        y = Add (scaled, bias)",
        type_name(compute_type(cx)?),
        bias.len(),
        list(bias.iter().map(|&value| number(value)))
    );
    let constants = [("scale", float(cx, "scale", 1.0)?)];
    computed(cx, ["input", "output"], &body, &constants)
}

/// `border` is left, top, right, bottom; with `scale`, the height and the width of the result are
/// given.
fn crop(cx: &Context) -> Result<String, Reason> {
    expect_image(cx)?;
    let border = cx.required("border", |border| Some(border.ints.clone()))?;
    let scale = cx.ints("scale")?.unwrap_or_default();
    let wrong = || Reason::new(NodeInvalid, "`border` or `scale` is invalid");
    let &[left, top, right, bottom] = border.as_slice() else {
        return Err(wrong());
    };
    if border.iter().chain(&scale).any(|&length| length < 0) {
        return Err(wrong());
    }
    // Counted from the end, and beyond it if nothing is cut off there.
    let end = |cut: i64| if cut == 0 { i64::MAX } else { -cut };
    let ends = match scale.as_slice() {
        [] => [end(bottom), end(right)],
        &[height, width] => [
            top.checked_add(height).ok_or_else(wrong)?,
            left.checked_add(width).ok_or_else(wrong)?,
        ],
        _ => return Err(wrong()),
    };
    let needed = match scale.as_slice() {
        &[height, width] => [top.checked_add(height), left.checked_add(width)],
        _ => [top.checked_add(bottom), left.checked_add(right)],
    };
    for (axis, needed) in (2_usize..).zip(needed) {
        if cx
            .dim(0, axis)
            .is_some_and(|dim| needed.is_none_or(|needed| needed > dim))
        {
            return Err(Reason::new(
                NodeInvalid,
                format!("the image is smaller than `border` and `scale` along axis {axis}"),
            ));
        }
    }
    let body = "
        starts = Constant <value = int64[2] {$starts}> ()
        ends = Constant <value = int64[2] {$ends}> ()
        axes = Constant <value = int64[2] {2, 3}> ()
        output = Slice (input, starts, ends, axes)";
    Ok(fill(
        body,
        &[("starts", &list([top, left])), ("ends", &list(ends))],
    ))
}

fn dynamic_slice(cx: &Context) -> Result<String, Reason> {
    let axes = if cx.input(3).is_some() { ", axes" } else { "" };
    Ok(format!("output = Slice (data, starts, ends{axes})"))
}

/// ONNX's operator adds 1e-9 to the deviation, onnxruntime's kernel does not.
fn mean_variance_normalization(cx: &Context) -> Result<String, Reason> {
    let of_channels = cx.int_or("across_channels", 0)? == 0;
    // Beyond rank 4, the kernel leaves axes out.
    let rank = cx.rank(0)?;
    if rank > 4 {
        return Err(Reason::new(
            ShapeUnsupported,
            format!("the input has rank {rank}, not 4 or less"),
        ));
    }
    let axes = list((0..rank).filter(|&axis| !of_channels || axis != 1));
    let body = if cx.int_or("normalize_variance", 1)? == 0 {
        "mean = ReduceMean <axes: ints = [$axes]> (x) y = Sub (x, mean)"
    } else {
        "y = MeanVarianceNormalization <axes: ints = [$axes]> (x)"
    };
    computed(
        cx,
        ["input", "output"],
        &fill(body, &[("axes", &axes)]),
        &[],
    )
}

/// The type of the computation: that of the input and of the scale, or the type that has the values
/// of both.
fn common_type(cx: &Context) -> Result<DType, Reason> {
    Ok(match [cx.dtype(0)?, cx.dtype(1)?] {
        [left, right] if left == right => left,
        types if types.contains(&DType::Double) => DType::Double,
        _ => DType::Float,
    })
}

/// The inputs of these names in the type of the computation, as `x`, `s` and `b`.
fn cast_inputs(dtype: DType, names: &[&str]) -> String {
    let casts = ["x", "s", "b"].into_iter().zip(names);
    casts
        .map(|(to, from)| format!("{to} = Cast <to = {}> ({from})\n", dtype.number()))
        .collect()
}

/// onnxruntime 1.17 takes a scale of any shape with as many elements as are
/// normalized, 1.32 only what ONNX broadcasts.
fn expect_broadcast(cx: &Context) -> Result<(), Reason> {
    let axis = cx.int_or("axis", -1)?;
    let normalized = match axis {
        -1 => 1,
        ..0 => axis.unsigned_abs() as usize,
        0.. => cx.rank(0)?.saturating_sub(axis as usize),
    };
    match cx.known_input(1).rank() {
        _ if normalized <= 1 => Ok(()),
        Some(rank) if rank >= normalized => Ok(()),
        Some(_) if cx.last_dim(1).is_some() && cx.last_dim(0) == cx.last_dim(1) => Ok(()),
        Some(_) => Err(Reason::new(
            ShapeUnsupported,
            "the scale has fewer axes than are normalized",
        )),
        None => Err(Reason::new(
            ShapeUnknown,
            "the rank of the scale is unknown",
        )),
    }
}

/// The type of mean and deviation: DOUBLE is normalized in DOUBLE.
fn statistics_type(dtype: DType) -> DType {
    if dtype == DType::Double {
        dtype
    } else {
        DType::Float
    }
}

/// The attributes `axis`, `epsilon` and `stash_type`.
fn attributes(cx: &Context, dtype: DType) -> Result<String, Reason> {
    Ok(format!(
        "axis: int = {}, epsilon: float = {}, stash_type: int = {}",
        cx.int_or("axis", -1)?,
        number(float(cx, "epsilon", 1e-5)?),
        statistics_type(dtype).number()
    ))
}

fn layer_normalization(cx: &Context) -> Result<String, Reason> {
    expect_broadcast(cx)?;
    let (dtype, result) = (common_type(cx)?, cx.dtype(1)?);
    let names: &[&str] = if cx.input(2).is_some() {
        &["X", "Scale", "B"]
    } else {
        &["X", "Scale"]
    };
    if dtype == DType::Double && (cx.has_output(1) || cx.has_output(2)) {
        return Err(Reason::new(
            TypeUnsupported,
            "LayerNormalization of ONNX has no statistics of DOUBLE",
        ));
    }
    let outputs = match (cx.has_output(1), cx.has_output(2)) {
        (_, true) => "y, Mean, InvStdDev",
        (true, false) => "y, Mean",
        (false, false) => "y",
    };
    Ok(format!(
        "{}{outputs} = LayerNormalization <{}> ({})
        Y = Cast <to = {}> (y)",
        cast_inputs(dtype, names),
        attributes(cx, dtype)?,
        list(["x", "s", "b"].iter().take(names.len())),
        result.number()
    ))
}

fn simplified(cx: &Context) -> Result<String, Reason> {
    expect_broadcast(cx)?;
    let (dtype, result) = (common_type(cx)?, cx.dtype(1)?);
    let inputs = cast_inputs(dtype, &["X", "scale"]);
    let cast = format!("Y = Cast <to = {}> (y)", result.number());
    let attributes = attributes(cx, dtype)?;
    let normalized = format!("{inputs}y = RMSNormalization <{attributes}> (x, s)\n{cast}\n");
    if !cx.has_output(1) {
        return Ok(normalized);
    }
    let axes = axes_from(cx, cx.int_or("axis", -1)?)?;
    let statistics = statistics_type(dtype);
    let body = "
        wide = Cast <to = $number> (X)
        square = Mul (wide, wide)
        axes = Constant <value = int64[$count] {$axes}> ()
        mean_square = ReduceMean (square, axes)
        epsilon = Constant <value = $U {$epsilon}> ()
        mean_square_epsilon = Add (mean_square, epsilon)
        rms = Sqrt (mean_square_epsilon)
        inverse = Reciprocal (rms)
        inv_std_var = Cast <to = $stash> (inverse)";
    let stash = cx.output_dtype(1)?;
    Ok(normalized
        + &fill(
            body,
            &[
                ("number", &statistics.number()),
                ("U", &type_name(statistics)),
                ("count", &axes.len()),
                ("axes", &list(&axes)),
                ("epsilon", &number(float(cx, "epsilon", 1e-5)?)),
                ("stash", &stash.number()),
            ],
        ))
}
