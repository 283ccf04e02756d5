//! `Resize` of known lengths to known sizes: a `Gather` along each axis for nearest neighbours,
//! which moves elements, or a product with a matrix of weights, which computes what ONNX defines.
//!
//! For modes that the older version lacks, for sizes that keep the aspect ratio, and for runtimes
//! that compute something else.

use std::ops::{Add, Div, Mul, Sub};

use super::super::context::{Context, permuted};
use super::super::expanded::{Exactness, ExpandedOperator};
use super::super::make;
use super::super::reason::{
    AttributeUnsupported, BehaviourDiffers, ExpansionDisabled, ExpansionInexact, NodeInvalid,
    Reason, ShapeUnknown, TooLarge, TypeUnsupported,
};
use super::super::settings::AllowedExpansions;
use crate::ops::inference::Shape;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

/// The most weights, or indices, of an axis.
const MOST_WEIGHTS: i64 = 1 << 20;

/// An axis that is resized.
struct Axis {
    axis: usize,
    length: i64,
    size: i64,
    scale: f32,
}

/// Replaces the node. The reasons say why that is not possible.
pub(super) fn by_tables(cx: &mut Context) -> Result<(), Reason> {
    if cx.string("coordinate_transformation_mode")?.as_deref() == Some("align_corners")
        && axes(cx)?.iter().any(is_rounded)
    {
        return Err(Reason::new(
            BehaviourDiffers,
            "ONNX aligns the corners of a length before it is rounded, and runtimes of the rounded one",
        ));
    }
    as_defined(cx)
}

/// Replaces the node by what ONNX defines, also where all runtimes compute something else.
pub(in crate::convert) fn as_defined(cx: &mut Context) -> Result<(), Reason> {
    let mode = cx.string("mode")?.unwrap_or_else(|| "nearest".to_owned());
    let class = match (cx.source.settings.expansions, mode.as_str()) {
        (AllowedExpansions::None, _) => {
            return Err(Reason::new(ExpansionDisabled, "expansion is disabled"));
        }
        (_, "nearest") => Exactness::Exact,
        (AllowedExpansions::Exact, _) => {
            return Err(Reason::new(
                ExpansionInexact,
                "interpolation by products of matrices is not bit-exact",
            ));
        }
        (_, "linear" | "cubic") => Exactness::ByDefinition,
        (_, other) => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `mode` = '{other}'"),
            ));
        }
    };
    let mut steps = Vec::new();
    let rank = cx.rank(0)?;
    if class == Exactness::ByDefinition && cx.dtype(0)? != DType::Float {
        return Err(Reason::new(
            TypeUnsupported,
            "interpolation is expanded for FLOAT only",
        ));
    }
    for axis in axes(cx)? {
        if axis.size == axis.length && axis.scale == 1.0 {
            continue;
        }
        if axis.size < 0 {
            return Err(Reason::new(
                NodeInvalid,
                format!("the size {} of axis {} is negative", axis.size, axis.axis),
            ));
        }
        if axis
            .length
            .checked_mul(axis.size)
            .is_none_or(|weights| weights > MOST_WEIGHTS)
            || axis.length == 0
        {
            return Err(Reason::new(
                TooLarge,
                format!("an axis has no elements, or more than {MOST_WEIGHTS} weights"),
            ));
        }
        match class {
            Exactness::Exact => steps.push(ResizeStep::Gather {
                axis: axis.axis,
                places: nearest(cx, &axis)?,
            }),
            Exactness::ByDefinition => {
                steps.extend(product(rank, &axis, weights(cx, &axis, mode == "cubic")?))
            }
        }
    }
    apply(cx, steps, class)
}

/// A node that replaces a part of the work.
enum ResizeStep {
    Gather {
        axis: usize,
        places: Vec<i64>,
    },
    /// The product with a matrix of these dimensions, which is on the left or on the right.
    Product {
        is_left: bool,
        dims: [i64; 2],
        weights: Vec<f32>,
    },
    /// The axes in this order.
    Transpose(Vec<i64>),
}

/// The product along an axis: of the last two axes directly, of others as the last one.
fn product(rank: usize, axis: &Axis, weights: Vec<f32>) -> Vec<ResizeStep> {
    let &Axis {
        axis, length, size, ..
    } = axis;
    if axis + 2 == rank {
        return vec![ResizeStep::Product {
            is_left: true,
            dims: [size, length],
            weights,
        }];
    }
    let width = length as usize;
    let transposed = (0..width)
        .flat_map(|column| weights.iter().skip(column).step_by(width.max(1)).copied())
        .collect();
    let columns = ResizeStep::Product {
        is_left: false,
        dims: [length, size],
        weights: transposed,
    };
    if axis + 1 == rank {
        return vec![columns];
    }
    let mut order: Vec<i64> = (0..rank as i64).collect();
    order.swap(axis, rank - 1);
    vec![
        ResizeStep::Transpose(order.clone()),
        columns,
        ResizeStep::Transpose(order),
    ]
}

fn apply(cx: &mut Context, steps: Vec<ResizeStep>, class: Exactness) -> Result<(), Reason> {
    let mut known = cx.known_input(0);
    let mut current = cx.node.input[0].clone();
    for index in (1..cx.node.input.len()).rev() {
        cx.take_input(index);
    }
    cx.node.to_mut().input.truncate(1);
    cx.node.to_mut().attribute.clear();
    let count = steps.len();
    for (index, step) in steps.into_iter().enumerate() {
        let set = |shape: &mut Option<Shape>, axis: usize, size: i64| {
            if let Some(dim) = shape.as_mut().and_then(|shape| shape.get_mut(axis)) {
                *dim = Some(size);
            }
        };
        let last = known.rank().unwrap_or(1) - 1;
        let (op, inputs, attributes) = match step {
            ResizeStep::Gather { axis, places } => {
                set(&mut known.shape, axis, places.len() as i64);
                let places = cx.constant_int_list("places", &places);
                (
                    "Gather",
                    vec![current, places],
                    vec![AttributeProto::int("axis", axis as i64)],
                )
            }
            ResizeStep::Product {
                is_left,
                dims,
                weights,
            } => {
                let (axis, size) = if is_left {
                    (last - 1, dims[0])
                } else {
                    (last, dims[1])
                };
                set(&mut known.shape, axis, size);
                let weights = cx.add_constant("weights", make::float_tensor(&dims, &weights));
                (
                    "MatMul",
                    if is_left {
                        vec![weights, current]
                    } else {
                        vec![current, weights]
                    },
                    Vec::new(),
                )
            }
            ResizeStep::Transpose(order) => {
                known = permuted(known, &order);
                (
                    "Transpose",
                    vec![current],
                    vec![AttributeProto::ints("perm", order)],
                )
            }
        };
        if index + 1 == count {
            cx.node.to_mut().input = inputs;
            cx.node.to_mut().attribute = attributes;
            cx.rename_operator(op);
            break;
        }
        let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
        current = cx.add_before(op, &inputs, attributes, "resized", known.clone());
    }
    if count == 0 {
        cx.rename_operator("Identity");
    }
    let expanded = ExpandedOperator::new("Resize", class, count.max(1));
    cx.record.expanded.push(expanded);
    Ok(())
}

/// The axes with their lengths before and after.
fn axes(cx: &Context) -> Result<Vec<Axis>, Reason> {
    let shape = cx.known_input(0).shape.unwrap_or_default();
    let chosen = match cx.ints("axes")? {
        Some(axes) => cx.axes_from_front(axes)?,
        None => (0..shape.len() as i64).collect(),
    };
    let length = |axis: i64| -> Result<(usize, Option<i64>), Reason> {
        let place = usize::try_from(axis)
            .ok()
            .filter(|&place| place < shape.len());
        let place = place.ok_or_else(|| Reason::new(NodeInvalid, "`axes` are out of range"))?;
        Ok((place, shape[place]))
    };
    let unknown = || Reason::new(ShapeUnknown, "the length of a resized axis is unknown");
    let has = |index: usize| {
        cx.input(index).is_some() && cx.known_input(index).static_shape() != Some(vec![0])
    };
    let mut axes = Vec::new();
    if has(3) {
        let sizes = cx
            .read_ints(3)
            .or_else(|reason| sizes_of_result(cx, &chosen)?.ok_or(reason))?;
        if sizes.len() != chosen.len() {
            return Err(Reason::new(NodeInvalid, "`sizes` and `axes` do not match"));
        }
        for (&axis, &size) in chosen.iter().zip(&sizes) {
            let (axis, length) = length(axis)?;
            let length = length.filter(|&length| length > 0).ok_or_else(unknown)?;
            axes.push(Axis {
                axis,
                length,
                size,
                scale: size as f32 / length as f32,
            });
        }
        let scales = axes.iter().map(|axis: &Axis| axis.scale);
        let policy = cx.string("keep_aspect_ratio_policy")?;
        let common = match policy.as_deref() {
            None | Some("stretch") => None,
            Some("not_larger") => scales.reduce(f32::min),
            Some("not_smaller") => scales.reduce(f32::max),
            Some(other) => {
                return Err(Reason::new(
                    AttributeUnsupported,
                    format!("unknown `keep_aspect_ratio_policy` = '{other}'"),
                ));
            }
        };
        if let Some(scale) = common {
            for axis in &mut axes {
                axis.scale = scale;
                axis.size = (f64::from(scale) * axis.length as f64 + 0.5).floor() as i64;
            }
        }
    } else {
        let scales = cx.read_floats(2)?;
        if scales.len() != chosen.len() {
            return Err(Reason::new(NodeInvalid, "`scales` and `axes` do not match"));
        }
        for (&axis, &scale) in chosen.iter().zip(&scales) {
            let (axis, length) = length(axis)?;
            if scale == 1.0 {
                continue;
            }
            let length = length.ok_or_else(unknown)?;
            let size = (scale * length as f32).floor();
            if f64::from(size) != (f64::from(scale) * length as f64).floor() {
                return Err(Reason::new(
                    BehaviourDiffers,
                    "the size of the result depends on how a runtime rounds",
                ));
            }
            axes.push(Axis {
                axis,
                length,
                size: size as i64,
                scale,
            });
        }
    }
    Ok(axes)
}

/// Computed sizes: those of the result, if they are known, which has the lengths that `sizes` states
/// unless it keeps the aspect ratio (Resize-18).
fn sizes_of_result(cx: &Context, axes: &[i64]) -> Result<Option<Vec<i64>>, Reason> {
    let policy = cx.string("keep_aspect_ratio_policy")?;
    if policy.is_some_and(|policy| policy != "stretch") {
        return Ok(None);
    }
    let shape = cx.known_output(0).shape.unwrap_or_default();
    let size = |&axis: &i64| shape.get(usize::try_from(axis).ok()?).copied().flatten();
    Ok(axes.iter().map(size).collect())
}

/// The position in the input of an element of the output, in single or in double precision. Lengths
/// are at most [`MOST_WEIGHTS`], which both represent; with sizes, the scale is their ratio, which
/// single precision rounds.
fn position<T>(cx: &Context, axis: &Axis, place: i64) -> Result<T, Reason>
where
    T: Copy + From<f32> + Add<Output = T> + Sub<Output = T> + Mul<Output = T> + Div<Output = T>,
{
    let mode = cx.string("coordinate_transformation_mode")?;
    let [at, length, size] = [place, axis.length, axis.size].map(|number| T::from(number as f32));
    let [zero, half, one, two] = [0.0, 0.5, 1.0, 2.0].map(T::from);
    let scale = T::from(axis.scale);
    Ok(match mode.as_deref().unwrap_or("half_pixel") {
        "asymmetric" => at / scale,
        "half_pixel" => (at + half) / scale - half,
        "pytorch_half_pixel" | "align_corners" if axis.size <= 1 => zero,
        "pytorch_half_pixel" => (at + half) / scale - half,
        "align_corners" if is_rounded(axis) => at * (length - one) / (length * scale - one),
        "align_corners" => at * (length - one) / (size - one),
        "half_pixel_symmetric" => {
            length / two * (one - size / (scale * length)) + (at + half) / scale - half
        }
        "tf_half_pixel_for_nn" => (at + half) / scale,
        other => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("`coordinate_transformation_mode` = '{other}' has no equivalent"),
            ));
        }
    })
}

/// Whether the length is not a whole number before it is rounded. That of a given size is, except
/// for the rounding of its scale.
fn is_rounded(axis: &Axis) -> bool {
    let exact = axis.length as f32 * axis.scale;
    (exact - axis.size as f32).abs() > 1e-4 * exact
}

/// The index of the nearest element for each element of the output. It must not depend on the
/// precision of the computation.
fn nearest(cx: &Context, axis: &Axis) -> Result<Vec<i64>, Reason> {
    let mode = cx.string("nearest_mode")?;
    let round = |position: f64| -> Result<i64, Reason> {
        Ok(match mode.as_deref().unwrap_or("round_prefer_floor") {
            "round_prefer_floor" => (position - 0.5).ceil(),
            "round_prefer_ceil" => (position + 0.5).floor(),
            "floor" => position.floor(),
            "ceil" => position.ceil(),
            other => {
                return Err(Reason::new(
                    AttributeUnsupported,
                    format!("unknown `nearest_mode` = '{other}'"),
                ));
            }
        } as i64)
    };
    let index = |place: i64| {
        let (first, second) = (
            round(position::<f32>(cx, axis, place)?.into())?,
            round(position(cx, axis, place)?)?,
        );
        if first == second {
            Ok(first.clamp(0, axis.length - 1))
        } else {
            Err(Reason::new(
                BehaviourDiffers,
                "the nearest element depends on how a runtime rounds",
            ))
        }
    };
    (0..axis.size).map(index).collect()
}

/// A row of weights for each element of the output; elements outside have the value at the border.
fn weights(cx: &Context, axis: &Axis, is_cubic: bool) -> Result<Vec<f32>, Reason> {
    let excludes = cx.int_or("exclude_outside", 0)? != 0;
    let sharpness = f64::from(cx.float("cubic_coeff_a")?.unwrap_or(-0.75));
    // A smooth filter is as wide as the elements that become one.
    let stretch = if cx.int_or("antialias", 0)? != 0 {
        f64::from(axis.scale).min(1.0)
    } else {
        1.0
    };
    let reach = if is_cubic { 2.0 } else { 1.0 } / stretch;
    let filter = |distance: f64| {
        if is_cubic {
            cubic(distance.abs(), sharpness)
        } else {
            (1.0 - distance.abs()).max(0.0)
        }
    };
    let mut all = Vec::with_capacity((axis.length * axis.size) as usize);
    for place in 0..axis.size {
        let position: f64 = position(cx, axis, place)?;
        let mut row = vec![0.0; axis.length as usize];
        let mut sum = 0.0;
        for index in (position - reach).floor() as i64..=(position + reach).ceil() as i64 {
            let weight = filter((index as f64 - position) * stretch);
            if excludes && !(0..axis.length).contains(&index) {
                continue;
            }
            row[index.clamp(0, axis.length - 1) as usize] += weight;
            sum += weight;
        }
        if sum == 0.0 {
            return Err(Reason::new(
                BehaviourDiffers,
                "an element of the result has no weights",
            ));
        }
        all.extend(row.into_iter().map(|weight| (weight / sum) as f32));
    }
    Ok(all)
}

/// Keys's cubic convolution.
fn cubic(distance: f64, a: f64) -> f64 {
    match distance {
        ..=1.0 => ((a + 2.0) * distance - (a + 3.0)) * distance * distance + 1.0,
        ..2.0 => ((a * distance - 5.0 * a) * distance + 8.0 * a) * distance - 4.0 * a,
        _ => 0.0,
    }
}
