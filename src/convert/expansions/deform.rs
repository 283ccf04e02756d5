//! `DeformConv`: the input is sampled at the moved places of each window, and the samples are
//! multiplied with the weights.

use super::{Expansion, by_definition, fill, list, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported, TooLarge};

pub(super) const EXPANSIONS: &[Expansion] = &[by_definition("DeformConv", 19, deform_conv)];

/// The longest axis, and the longest list of a constant.
const LONGEST: i64 = 1 << 16;

/// The lengths of a convolution of images.
struct Lengths {
    channels: i64,
    image: [i64; 2],
    kernel: [i64; 2],
    result: [i64; 2],
}

/// In `GridSample`, -1 and 1 are the borders of the image. The places along each axis of the window,
/// and of the result, are constants; their sum is exact.
fn deform_conv(cx: &Context) -> Result<String, Reason> {
    let Lengths {
        channels,
        image,
        kernel,
        result,
    } = lengths(cx)?;
    let strides = numbers::<2>(cx, "strides", 1)?;
    let dilations = numbers::<2>(cx, "dilations", 1)?;
    let pads = numbers::<4>(cx, "pads", 0)?;
    let [group, offset_group] = [cx.int_or("group", 1)?, cx.int_or("offset_group", 1)?];
    let divides = |count: i64| count > 0 && channels % count == 0;
    if !divides(group) || !divides(offset_group) {
        return Err(Reason::new(
            NodeInvalid,
            "the groups do not fit the channels of the input",
        ));
    }
    let outputs = length(cx, 1, 0, "the number of output channels")?;
    let [rows, columns] = kernel;
    let area = rows * columns;
    if area > LONGEST || outputs % group != 0 {
        return Err(Reason::new(
            TooLarge,
            format!("the kernel has more than {LONGEST} places, or its channels do not fit"),
        ));
    }
    let in_window = (0..area).map(|at| [at / columns * dilations[0], at % columns * dilations[1]]);
    let in_rows = (0..result[0]).map(|row| [row * strides[0] - pads[0], 0]);
    let in_columns = (0..result[1]).map(|column| [0, column * strides[1] - pads[1]]);
    let weighted = match cx.input(4) {
        Some(_) => {
            "mask_shape = Constant <value = int64[4] {-1, 1, $sample_rows, $width}> ()
             flat_mask = Reshape (mask, mask_shape)
             weighted = Mul (sampled, flat_mask)"
        }
        None => "weighted = Identity (sampled)",
    };
    let end = match cx.input(3) {
        Some(_) => {
            "bias_shape = Constant <value = int64[4] {1, $outputs, 1, 1}> ()
             bias = Reshape (B, bias_shape)
             Y = Add (convolved, bias)"
        }
        None => "Y = Identity (convolved)",
    };
    let body = format!(
        "window = Constant <value = $T[1, $area, 1, 1, 2] {{$in_window}}> ()
         rows = Constant <value = $T[1, 1, $height, 1, 2] {{$in_rows}}> ()
         columns = Constant <value = $T[1, 1, 1, $width, 2] {{$in_columns}}> ()
         in_row = Add (window, rows)
         unmoved = Add (in_row, columns)
         offset_shape = Constant <value = int64[5] {{-1, $area, 2, $height, $width}}> ()
         grouped_offset = Reshape (offset, offset_shape)
         pairs = Transpose <perm: ints = [0, 1, 3, 4, 2]> (grouped_offset)
         places = Add (unmoved, pairs)
         one = Constant <value = $T {{1}}> ()
         sizes = Constant <value = $T[2] {{$image}}> ()
         twice = Add (places, places)
         centres = Add (twice, one)
         shares = Div (centres, sizes)
         normalized = Sub (shares, one)
         x_first = Constant <value = int64[2] {{1, 0}}> ()
         swapped = Gather <axis: int = 4> (normalized, x_first)
         grid_shape = Constant <value = int64[4] {{-1, $sample_rows, $width, 2}}> ()
         grid = Reshape (swapped, grid_shape)
         image_shape = Constant <value = int64[4] {{-1, $channels_of_offset, $image}}> ()
         images = Reshape (X, image_shape)
         sampled = GridSample <align_corners: int = 0, mode: string = \"bilinear\", padding_mode: string = \"zeros\"> (images, grid)
         {weighted}
         sample_shape = Constant <value = int64[4] {{-1, $group, $inner, $pixels}}> ()
         samples = Reshape (weighted, sample_shape)
         weight_shape = Constant <value = int64[3] {{$group, $outputs_of_group, $inner}}> ()
         weights = Reshape (W, weight_shape)
         products = MatMul (weights, samples)
         result_shape = Constant <value = int64[4] {{-1, $outputs, $height, $width}}> ()
         convolved = Reshape (products, result_shape)
         {end}"
    );
    let parameters: &[(&str, &dyn std::fmt::Display)] = &[
        ("T", &type_of(cx, 0)?),
        ("area", &area),
        ("in_window", &list(in_window.flatten())),
        ("height", &result[0]),
        ("in_rows", &list(in_rows.flatten())),
        ("width", &result[1]),
        ("in_columns", &list(in_columns.flatten())),
        ("image", &list(image)),
        ("sample_rows", &(area * result[0])),
        ("channels_of_offset", &(channels / offset_group)),
        ("group", &group),
        ("inner", &(channels / group * area)),
        ("pixels", &(result[0] * result[1])),
        ("outputs_of_group", &(outputs / group)),
        ("outputs", &outputs),
    ];
    Ok(fill(&body, parameters))
}

fn lengths(cx: &Context) -> Result<Lengths, Reason> {
    if cx.rank(0)? != 4 {
        return Err(Reason::new(
            ShapeUnsupported,
            "the input is not a batch of images with two axes",
        ));
    }
    let lengths = |input: usize, what: &str| -> Result<[i64; 2], Reason> {
        Ok([length(cx, input, 2, what)?, length(cx, input, 3, what)?])
    };
    Ok(Lengths {
        channels: length(cx, 0, 1, "the number of channels")?,
        image: lengths(0, "the size of the images")?,
        kernel: lengths(1, "the size of the kernel")?,
        result: lengths(2, "the size of the result")?,
    })
}

/// The length of an axis of an input.
fn length(cx: &Context, input: usize, axis: usize, what: &str) -> Result<i64, Reason> {
    match cx.dim(input, axis) {
        Some(length) if (1..=LONGEST).contains(&length) => Ok(length),
        Some(length) => Err(Reason::new(TooLarge, format!("{what} is {length}"))),
        None => Err(Reason::new(ShapeUnknown, format!("{what} is unknown"))),
    }
}

/// An attribute with a number for each axis, or for both ends of each.
fn numbers<const N: usize>(cx: &Context, name: &str, default: i64) -> Result<[i64; N], Reason> {
    let numbers = cx.ints(name)?.unwrap_or_else(|| vec![default; N]);
    let numbers: Result<[i64; N], _> = numbers.try_into();
    let numbers = numbers.ok().filter(|numbers| {
        let is_small = |number: &i64| (default..=LONGEST).contains(number);
        numbers.iter().all(is_small)
    });
    numbers.ok_or_else(|| Reason::new(NodeInvalid, format!("`{name}` does not fit an image")))
}
