//! `AffineGrid` and `GridSample`.

use super::{Expansion, by_definition, fill, list, type_name, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{
    AttributeUnsupported, BehaviourDiffers, NodeInvalid, Reason, ShapeUnknown, TypeUnsupported,
};
use onnx_cast::Class;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("AffineGrid", 20, affine_grid),
    by_definition("GridSample", 16, grid_sample),
    by_definition("GridSample", 20, grid_sample),
];

/// The names of the spatial axes, from the first.
const AXES: [&str; 3] = ["depth", "height", "width"];

/// Products of `theta` and the coordinates of each pixel: of its centre, or of its corner with
/// `align_corners`.
fn affine_grid(cx: &Context) -> Result<String, Reason> {
    let length = cx.dim(1, 0).map(|length| length - 2);
    let rank = match cx.dim(0, 1).or(length) {
        Some(2) => 2,
        Some(3) => 3,
        Some(_) => {
            return Err(Reason::new(
                NodeInvalid,
                "`theta` must be a list of 2 x 3 or 3 x 4 matrices",
            ));
        }
        None => {
            return Err(Reason::new(
                ShapeUnknown,
                "the shape of `theta` and the length of `size` are unknown",
            ));
        }
    };
    let aligned = cx.int_or("align_corners", 0)? != 0;
    if aligned
        && cx
            .read_ints(1)
            .is_ok_and(|size| size.iter().skip(2).any(|&length| length == 1))
    {
        return Err(Reason::new(
            BehaviourDiffers,
            "runtimes disagree on the corners of an image that is one pixel wide",
        ));
    }
    let mut body = "
        zero_int = Constant <value = int64 {0}> ()
        one_int = Constant <value = int64 {1}> ()
        two = Constant <value = $T {2}> ()
        one = Constant <value = $T {1}> ()
        minus_one = Constant <value = $T {-1}> ()
        zero = Constant <value = $T {0}> ()
        space_index = Constant <value = int64[$rank] {$space}> ()
        space = Gather <axis: int = 0> (size, space_index)
        one_dim = Constant <value = int64[1] {1}> ()
        grid_dims = Concat <axis: int = 0> (space, one_dim)\n"
        .to_owned();
    for (index, axis) in AXES[3 - rank..].iter().enumerate() {
        let step = match (aligned, *axis) {
            (false, _) => {
                "step_$a = Div (two, float_$a)
                 half_step_$a = Div (step_$a, two)
                 start_$a = Add (minus_one, half_step_$a)"
            }
            // A single layer is at the start; ONNX states this for the depth only.
            (true, "depth") => {
                "shorter_$a = Sub (float_$a, one)
                 wide_step_$a = Div (two, shorter_$a)
                 is_single = Equal (length_$a, one_int)
                 step_$a = Where (is_single, zero, wide_step_$a)
                 start_$a = Identity (minus_one)"
            }
            (true, _) => {
                "shorter_$a = Sub (float_$a, one)
                 step_$a = Div (two, shorter_$a)
                 start_$a = Identity (minus_one)"
            }
        };
        let axis_body = format!(
            "index_$a = Constant <value = int64 {{{}}}> ()
             length_$a = Gather <axis: int = 0> (size, index_$a)
             float_$a = Cast <to = $to> (length_$a)
             {step}
             numbers_$a = Range (zero_int, length_$a, one_int)
             float_numbers_$a = Cast <to = $to> (numbers_$a)
             distances_$a = Mul (float_numbers_$a, step_$a)
             line_$a = Add (start_$a, distances_$a)
             shape_$a = Constant <value = int64[{}] {{{}}}> ()
             oriented_$a = Reshape (line_$a, shape_$a)
             grid_$a = Expand (oriented_$a, grid_dims)\n",
            index + 2,
            rank + 1,
            list((0..=rank).map(|other| if other == index { -1 } else { 1 })),
        );
        body += &fill(&axis_body, &[("a", &axis)]);
    }
    body += "
        ones = Expand (one, grid_dims)
        points = Concat <axis: int = $rank> ($from_last, ones)
        flat_shape = Constant <value = int64[2] {-1, $columns}> ()
        flat_points = Reshape (points, flat_shape)
        point_columns = Transpose <perm: ints = [1, 0]> (flat_points)
        product = MatMul (theta, point_columns)
        product_rows = Transpose <perm: ints = [0, 2, 1]> (product)
        batch_index = Constant <value = int64[1] {0}> ()
        batch = Gather <axis: int = 0> (size, batch_index)
        coordinates = Constant <value = int64[1] {$rank}> ()
        result_shape = Concat <axis: int = 0> (batch, space, coordinates)
        grid = Reshape (product_rows, result_shape)";
    Ok(fill(
        &body,
        &[
            ("T", &type_of(cx, 0)?),
            ("to", &cx.dtype(0)?.number()),
            ("rank", &rank),
            ("columns", &(rank + 1)),
            ("space", &list(2..rank + 2)),
            (
                "from_last",
                &list(
                    AXES[3 - rank..]
                        .iter()
                        .rev()
                        .map(|axis| format!("grid_{axis}")),
                ),
            ),
        ],
    ))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// The pixels around each point are gathered from the image, whose pixels are rows of a matrix, and
/// weighted.
fn grid_sample(cx: &Context) -> Result<String, Reason> {
    let rank = [0, 1]
        .into_iter()
        .find_map(|index| cx.known_input(index).rank());
    let rank =
        rank.ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the inputs is unknown"))?;
    let rank = rank.checked_sub(2).filter(|rank| (1..=3).contains(rank));
    let rank = rank
        .ok_or_else(|| Reason::new(NodeInvalid, "the image must have one to three spatial axes"))?;
    let mode = cx.string("mode")?.unwrap_or_else(|| "linear".to_owned());
    let padding = match cx.string("padding_mode")?.as_deref() {
        None | Some("zeros") => Padding::Zeros,
        Some("border") => Padding::Border,
        Some("reflection") => Padding::Reflection,
        Some(other) => {
            return Err(Reason::new(
                NodeInvalid,
                format!("`padding_mode` = '{other}' is unknown"),
            ));
        }
    };
    let offsets: &[i64] = match mode.as_str() {
        "nearest" => &[0],
        "linear" | "bilinear" => &[0, 1],
        "cubic" | "bicubic" if rank <= 2 => &[-1, 0, 1, 2],
        "cubic" | "bicubic" => {
            return Err(Reason::new(
                AttributeUnsupported,
                "cubic interpolation of three axes has no expansion",
            ));
        }
        other => {
            return Err(Reason::new(
                NodeInvalid,
                format!("`mode` = '{other}' is unknown"),
            ));
        }
    };
    if offsets.len() == 4 && padding == Padding::Border {
        return Err(Reason::new(
            AttributeUnsupported,
            "cubic interpolation at the border differs between runtimes, and ONNX does not define it",
        ));
    }
    let (image, grid) = (cx.dtype(0)?, cx.dtype(1)?);
    if offsets.len() > 1 && (image != grid || image.class() != Class::Float) {
        return Err(Reason::new(
            TypeUnsupported,
            format!("{image} is interpolated at points of {grid}"),
        ));
    }
    let aligned = cx.int_or("align_corners", 0)? != 0;
    let mut body = constants(rank);
    for index in 0..rank {
        let axis = format!("axis_{index}");
        body += &fill(
            &point(offsets.len() == 1, aligned, padding),
            &[("a", &axis)],
        );
        for (tap, offset) in offsets.iter().enumerate() {
            body += &fill(
                &pixel(padding),
                &[
                    ("a", &axis),
                    ("t", &format!("{axis}_{tap}")),
                    ("offset", &offset),
                ],
            );
        }
        let weights = match offsets.len() {
            1 => "",
            2 => LINEAR_WEIGHTS,
            _ => CUBIC_WEIGHTS,
        };
        body += &fill(weights, &[("a", &axis)]);
        body = fill(
            &body,
            &[
                ("image_axis", &(index + 2)),
                ("coordinate", &(rank - 1 - index)),
            ],
        );
    }
    body += &weighted_sum(rank, offsets.len(), padding);
    Ok(fill(
        &body,
        &[
            ("T", &type_name(grid)),
            ("to", &grid.number()),
            ("image_type", &type_name(image)),
            ("last", &(rank + 1)),
            (
                "channels_last",
                &list(std::iter::once(0).chain(2..rank + 2).chain([1])),
            ),
            (
                "channels_second",
                &list([0, rank + 1].into_iter().chain(1..rank + 1)),
            ),
        ],
    ))
}

fn constants(rank: usize) -> String {
    format!(
        "zero = Constant <value = $T {{0}}> ()
         one = Constant <value = $T {{1}}> ()
         two = Constant <value = $T {{2}}> ()
         half = Constant <value = $T {{0.5}}> ()
         zero_int = Constant <value = int64 {{0}}> ()
         one_int = Constant <value = int64 {{1}}> ()
         dims = Shape (X)
         batch = Gather <axis: int = 0> (dims, zero_int)
         batch_numbers = Range (zero_int, batch, one_int)
         batch_shape = Constant <value = int64[{}] {{{}}}> ()
         batch_column = Reshape (batch_numbers, batch_shape)
         channel_index = Constant <value = int64[1] {{1}}> ()
         channels = Gather <axis: int = 0> (dims, channel_index)
         all_pixels = Constant <value = int64[1] {{-1}}> ()
         rows_shape = Concat <axis: int = 0> (all_pixels, channels)
         image_rows = Transpose <perm: ints = [$channels_last]> (X)
         rows = Reshape (image_rows, rows_shape)\n",
        rank + 1,
        list(std::iter::once(-1).chain(std::iter::repeat_n(1, rank)))
    )
}

/// The position of each point along an axis, in pixels, inside of the image unless what is outside
/// is zero. NaN selects the first pixel, and is its weight.
fn point(is_nearest: bool, aligned: bool, padding: Padding) -> String {
    let position = if aligned {
        "halves_$a = Div (from_zero_$a, two)
             position_$a = Mul (halves_$a, limit_$a)"
    } else {
        "scaled_$a = Mul (from_zero_$a, size_$a)
             doubled_$a = Sub (scaled_$a, one)
             position_$a = Div (doubled_$a, two)"
    };
    let borders = match (padding, aligned) {
        (Padding::Reflection, true) => {
            "low_$a = Identity (zero)
             high_$a = Identity (limit_$a)
             range_$a = Max (limit_$a, one)\n"
        }
        (Padding::Reflection, false) => {
            "low_$a = Neg (half)
             high_$a = Sub (size_$a, half)
             range_$a = Identity (size_$a)\n"
        }
        _ => "",
    };
    let rounded = if is_nearest {
        "rounded_$a = Round (position_$a)"
    } else {
        "rounded_$a = Identity (position_$a)"
    };
    let inside = match padding {
        Padding::Zeros => "inside_$a = Identity (rounded_$a)".to_owned(),
        Padding::Border => {
            "above_$a = Max (rounded_$a, zero) inside_$a = Min (above_$a, limit_$a)".to_owned()
        }
        Padding::Reflection => reflect("rounded_$a", "inside_$a", "point_$a"),
    };
    format!(
        "image_axis_$a = Constant <value = int64 {{$image_axis}}> ()
         length_$a = Gather <axis: int = 0> (dims, image_axis_$a)
         size_$a = Cast <to = $to> (length_$a)
         limit_$a = Sub (size_$a, one)
         coordinate_$a = Constant <value = int64 {{$coordinate}}> ()
         given_$a = Gather <axis: int = $last> (grid, coordinate_$a)
         from_zero_$a = Add (given_$a, one)
         {position}
         {borders}{rounded}
         {inside}
         is_small_$a = Less (inside_$a, one)
         is_large_$a = Greater (inside_$a, zero)
         is_number_$a = Or (is_small_$a, is_large_$a)
         known_$a = Where (is_number_$a, inside_$a, zero)
         floor_$a = Floor (known_$a)
         fraction_$a = Sub (inside_$a, floor_$a)\n"
    )
}

/// Reflects a position at the borders until it is between them.
fn reflect(from: &str, to: &str, name: &str) -> String {
    let body = "
        below_$r = Sub (low_$a, $from)
        beyond_$r = Sub ($from, high_$a)
        distance_$r = Max (below_$r, beyond_$r)
        ranges_$r = Div (distance_$r, range_$a)
        crossings_$r = Floor (ranges_$r)
        crossed_$r = Mul (crossings_$r, range_$a)
        rest_$r = Sub (distance_$r, crossed_$r)
        half_crossings_$r = Mul (crossings_$r, half)
        pairs_$r = Floor (half_crossings_$r)
        odd_$r = Sub (half_crossings_$r, pairs_$r)
        is_odd_$r = Greater (odd_$r, zero)
        is_below_$r = Greater (below_$r, zero)
        is_from_low_$r = Xor (is_below_$r, is_odd_$r)
        from_low_$r = Add (low_$a, rest_$r)
        from_high_$r = Sub (high_$a, rest_$r)
        reflected_$r = Where (is_from_low_$r, from_low_$r, from_high_$r)
        is_outside_$r = Greater (distance_$r, zero)
        $into = Where (is_outside_$r, reflected_$r, $from)\n";
    fill(body, &[("from", &from), ("into", &to), ("r", &name)])
}

/// A pixel at an offset from a point along an axis: whether it is in the image, and its number.
fn pixel(padding: Padding) -> String {
    let inside = match padding {
        Padding::Zeros => "is_early_$t = Less (pixel_$t, zero)
             is_late_$t = Greater (pixel_$t, limit_$a)
             is_outside_$t = Or (is_early_$t, is_late_$t)
             meant_$t = Identity (pixel_$t)"
            .to_owned(),
        Padding::Border => "meant_$t = Identity (pixel_$t)".to_owned(),
        Padding::Reflection => reflect("pixel_$t", "meant_$t", "pixel_$t"),
    };
    format!(
        "offset_$t = Constant <value = $T {{$offset}}> ()
         pixel_$t = Add (floor_$a, offset_$t)
         {inside}
         above_$t = Max (meant_$t, zero)
         valid_$t = Min (above_$t, limit_$a)
         number_$t = Cast <to = 7> (valid_$t)\n"
    )
}

const LINEAR_WEIGHTS: &str = "
    weight_$a_0 = Sub (one, fraction_$a)
    weight_$a_1 = Identity (fraction_$a)\n";

/// Keys' cubic convolution with the coefficient -0.75.
const CUBIC_WEIGHTS: &str = "
    alpha_$a = Constant <value = $T {-0.75}> ()
    five_alpha_$a = Constant <value = $T {-3.75}> ()
    eight_alpha_$a = Constant <value = $T {-6}> ()
    four_alpha_$a = Constant <value = $T {-3}> ()
    inner_square_$a = Constant <value = $T {1.25}> ()
    inner_line_$a = Constant <value = $T {2.25}> ()
    near_$a = Sub (one, fraction_$a)
    first_$a = Add (fraction_$a, one)
    last_$a = Sub (two, fraction_$a)
    first_1_$a = Mul (alpha_$a, first_$a)
    first_2_$a = Sub (first_1_$a, five_alpha_$a)
    first_3_$a = Mul (first_2_$a, first_$a)
    first_4_$a = Add (first_3_$a, eight_alpha_$a)
    first_5_$a = Mul (first_4_$a, first_$a)
    weight_$a_0 = Sub (first_5_$a, four_alpha_$a)
    second_1_$a = Mul (inner_square_$a, fraction_$a)
    second_2_$a = Sub (second_1_$a, inner_line_$a)
    second_3_$a = Mul (second_2_$a, fraction_$a)
    second_4_$a = Mul (second_3_$a, fraction_$a)
    weight_$a_1 = Add (second_4_$a, one)
    third_1_$a = Mul (inner_square_$a, near_$a)
    third_2_$a = Sub (third_1_$a, inner_line_$a)
    third_3_$a = Mul (third_2_$a, near_$a)
    third_4_$a = Mul (third_3_$a, near_$a)
    weight_$a_2 = Add (third_4_$a, one)
    last_1_$a = Mul (alpha_$a, last_$a)
    last_2_$a = Sub (last_1_$a, five_alpha_$a)
    last_3_$a = Mul (last_2_$a, last_$a)
    last_4_$a = Add (last_3_$a, eight_alpha_$a)
    last_5_$a = Mul (last_4_$a, last_$a)
    weight_$a_3 = Sub (last_5_$a, four_alpha_$a)\n";

/// The sum of all combinations of pixels along the axes.
fn weighted_sum(rank: usize, taps: usize, padding: Padding) -> String {
    let mut body = "behind = Constant <value = int64[1] {$last}> ()
                    nothing = Constant <value = $image_type {0}> ()\n"
        .to_owned();
    let count = taps.pow(rank as u32);
    for number in 0..count {
        let tap = |axis: usize| {
            format!(
                "axis_{axis}_{}",
                number / taps.pow((rank - 1 - axis) as u32) % taps
            )
        };
        let mut row = "batch_column".to_owned();
        for axis in 0..rank {
            body += &format!("before_{number}_{axis} = Mul ({row}, length_axis_{axis})\n");
            body += &format!(
                "row_{number}_{axis} = Add (before_{number}_{axis}, number_{})\n",
                tap(axis)
            );
            row = format!("row_{number}_{axis}");
        }
        body += &format!("pixels_{number} = Gather <axis: int = 0> (rows, {row})\n");
        let join = |op: &str, of: &str, into: &str| {
            let mut text = String::new();
            let mut joined = format!("{of}_{}", tap(0));
            for axis in 1..rank {
                text += &format!(
                    "{into}_{number}_{axis} = {op} ({joined}, {of}_{})\n",
                    tap(axis)
                );
                joined = format!("{into}_{number}_{axis}");
            }
            text + &format!("{into}_{number} = Unsqueeze ({joined}, behind)\n")
        };
        body += &match padding {
            Padding::Zeros => {
                join("Or", "is_outside", "is_missing")
                    + &format!(
                        "shown_{number} = Where (is_missing_{number}, nothing, pixels_{number})\n"
                    )
            }
            _ => format!("shown_{number} = Identity (pixels_{number})\n"),
        };
        body += &if taps == 1 {
            format!("sum_{number} = Identity (shown_{number})\n")
        } else {
            let part = format!("part_{number} = Mul (shown_{number}, factor_{number})\n");
            let sum = match number {
                0 => "sum_0 = Identity (part_0)\n".to_owned(),
                _ => format!("sum_{number} = Add (sum_{}, part_{number})\n", number - 1),
            };
            join("Mul", "weight", "factor") + &part + &sum
        };
    }
    body + &format!(
        "Y = Transpose <perm: ints = [$channels_second]> (sum_{})",
        count - 1
    )
}
