//! `Upsample` (versions 1 7 9) and its successor `Resize` (10 11 13 18 19) across opsets.
//!
//! Version 10 of `Resize` does not define its coordinate transformation. Runtimes scale coordinates
//! without an offset, and round nearest neighbours down, or up along an axis that shrinks.

use super::super::context::Context;
use super::super::reason::{
    AttributeUnsupported, InputUnsupported, NodeInvalid, Reason, ShapeUnsupported, TypeUnsupported,
};
use super::adapter::{
    Adapter, Becomes, DropIf, RenameValue, ReplacementKind, Run, ToAttribute, ToInput, Value,
    adapter,
};
use super::resize_tables::by_tables;
use crate::ops::inference::Known;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Upsample", 7)
        .up(&[
            Run(sides_become_scales),
            RenameValue("mode", "bilinear", "linear"),
        ])
        .down(&[
            Run(scales_become_sides),
            RenameValue("mode", "linear", "bilinear"),
        ]),
    adapter("Upsample", 9)
        .up(&[ToInput("scales", 1, ReplacementKind::Floats)])
        .down(&[ToAttribute(1, "scales", ReplacementKind::Floats)]),
    adapter("Upsample", 10).up(&[Becomes("Resize")]),
    adapter("Resize", 10).down(&[Run(must_not_shrink), Becomes("Upsample")]),
    adapter("Resize", 11)
        .up(&[Run(state_coordinate_mode)])
        .down(&[Run(|cx| {
            as_older_version(cx, coordinate_mode_must_be_that_of_10)
        })]),
    adapter("Resize", 13)
        .up(&[Run(half_pixel_for_nearest), Run(empty_scales_go)])
        .down(&[Run(write_empty_inputs)]),
    adapter("Resize", 18).down(&[Run(as_version_13)]),
    adapter("Resize", 19).down(&[Run(|cx| as_older_version(cx, not_half_pixel_symmetric))]),
];

fn as_version_13(cx: &mut Context) -> Result<(), Reason> {
    as_older_version(cx, |cx| {
        DropIf("antialias", Value::Int(0)).apply(cx)?;
        DropIf("keep_aspect_ratio_policy", Value::String("stretch")).apply(cx)?;
        resize_all_axes(cx)
    })
}

/// The older version is preferred to other operators. If neither is possible, the reason is that of
/// the older version.
fn as_older_version<'m>(
    cx: &mut Context<'_, 'm>,
    older: impl Fn(&mut Context<'_, 'm>) -> Result<(), Reason>,
) -> Result<(), Reason> {
    cx.attempt(older)
        .or_else(|reason| by_tables(cx).map_err(|_| reason))
}

fn sides_become_scales(cx: &mut Context) -> Result<(), Reason> {
    let (Some(height), Some(width)) = (cx.float("height_scale")?, cx.float("width_scale")?) else {
        return Err(Reason::new(
            NodeInvalid,
            "the attributes `height_scale` and `width_scale` are missing",
        ));
    };
    cx.remove_attribute("height_scale");
    cx.remove_attribute("width_scale");
    cx.set_attribute(AttributeProto::floats(
        "scales",
        vec![1.0, 1.0, height, width],
    ));
    Ok(())
}

fn scales_become_sides(cx: &mut Context) -> Result<(), Reason> {
    let scales = cx
        .attribute("scales")?
        .map(|attribute| attribute.floats.clone())
        .unwrap_or_default();
    let [batch, channels, height, width] = scales.as_slice() else {
        return Err(Reason::new(
            ShapeUnsupported,
            "Upsample supports inputs of rank 4 only before opset 7",
        ));
    };
    if *batch != 1.0 || *channels != 1.0 {
        return Err(Reason::new(
            InputUnsupported,
            "Upsample scales height and width only before opset 7",
        ));
    }
    cx.remove_attribute("scales");
    cx.set_float("height_scale", *height);
    cx.set_float("width_scale", *width);
    Ok(())
}

fn must_not_shrink(cx: &mut Context) -> Result<(), Reason> {
    if cx.read_floats(1)?.iter().all(|&scale| scale >= 1.0) {
        Ok(())
    } else {
        Err(Reason::new(
            InputUnsupported,
            "scales below 1 are not supported before opset 10",
        ))
    }
}

fn is_linear(cx: &Context) -> Result<bool, Reason> {
    match cx.string("mode")?.as_deref() {
        None | Some("nearest") => Ok(false),
        Some("linear") => Ok(true),
        Some(other) => Err(Reason::new(
            AttributeUnsupported,
            format!("`mode` = '{other}' is not supported before opset 11"),
        )),
    }
}

/// The `nearest_mode` of version 10 for these scales; none if one axis grows and another shrinks,
/// which it rounds differently.
fn nearest_of_version_10(scales: &[f32]) -> Option<&'static str> {
    if scales.iter().all(|&scale| scale >= 1.0) {
        Some("floor")
    } else if scales.iter().all(|&scale| scale <= 1.0) {
        Some("ceil")
    } else {
        None
    }
}

/// A node in front of this one shrinks the axes that shrink, and leaves those that grow.
fn shrink_first(cx: &mut Context) -> Result<(), Reason> {
    let data = cx.node.input[0].clone();
    let scales = cx
        .input(1)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input `scales` is missing"))?
        .to_owned();
    let like_scales = Known {
        shape: cx.known_input(1).shape,
        ..Known::tensor(DType::Float)
    };
    let shape = cx.known_input(0).shape.map(|shape| vec![None; shape.len()]);
    let known = Known {
        shape,
        ..Known::tensor(cx.dtype(0)?)
    };
    let one = cx.constant_float_list("one", &[1.0]);
    let below = cx.add_before(
        "Min",
        &[&scales, &one],
        Vec::new(),
        "shrinking",
        like_scales.clone(),
    );
    let above = cx.add_before("Max", &[&scales, &one], Vec::new(), "growing", like_scales);
    let roi = cx.constant_float_list("no_region", &[]);
    let attributes = vec![
        AttributeProto::string("nearest_mode", "ceil"),
        AttributeProto::string("coordinate_transformation_mode", "asymmetric"),
    ];
    let shrunk = cx.add_before(
        "Resize",
        &[&data, &roi, &below],
        attributes,
        "shrunk",
        known,
    );
    cx.set_input(0, &shrunk);
    cx.set_input(1, &above);
    Ok(())
}

fn state_coordinate_mode(cx: &mut Context) -> Result<(), Reason> {
    if !is_linear(cx)? {
        // Upsample does not shrink, for any scales.
        let was_upsample = cx.source.model.node(cx.source.id).op_type() == "Upsample";
        let nearest = if was_upsample {
            Some("floor")
        } else {
            cx.read_floats(1)
                .ok()
                .and_then(|scales| nearest_of_version_10(&scales))
        };
        if nearest.is_none() {
            shrink_first(cx)?;
        }
        cx.set_string("nearest_mode", nearest.unwrap_or("floor"));
    }
    cx.set_string("coordinate_transformation_mode", "asymmetric");
    let scales = cx
        .input(1)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input `scales` is missing"))?
        .to_owned();
    let roi = cx.constant_float_list("roi", &[]);
    cx.set_input(2, &scales);
    cx.set_input(1, &roi);
    Ok(())
}

fn coordinate_mode_must_be_that_of_10(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_some() {
        return Err(Reason::new(
            InputUnsupported,
            "`sizes` is not supported before opset 11",
        ));
    }
    if cx.source.settings.opset < 10 && cx.read_floats(2)?.iter().any(|&scale| scale < 1.0) {
        return Err(Reason::new(
            InputUnsupported,
            "scales below 1 are not supported before opset 10",
        ));
    }
    let coordinates = cx.string("coordinate_transformation_mode")?;
    if coordinates.as_deref() != Some("asymmetric") {
        return Err(Reason::new(
            AttributeUnsupported,
            "opset 10 supports `coordinate_transformation_mode` = 'asymmetric' only",
        ));
    }
    if !is_linear(cx)? {
        let nearest = cx
            .string("nearest_mode")?
            .unwrap_or_else(|| "round_prefer_floor".to_owned());
        let scales = cx.read_floats(2)?;
        if scales.iter().any(|&scale| scale != 1.0)
            && Some(nearest.as_str()) != nearest_of_version_10(&scales)
        {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("opset 10 does not support `nearest_mode` = '{nearest}' for these scales"),
            ));
        }
    }
    for name in [
        "coordinate_transformation_mode",
        "nearest_mode",
        "cubic_coeff_a",
        "extrapolation_value",
    ] {
        cx.remove_attribute(name);
    }
    if cx.int_or("exclude_outside", 0)? != 0 {
        return Err(Reason::new(
            AttributeUnsupported,
            "`exclude_outside` is not supported before opset 11",
        ));
    }
    cx.remove_attribute("exclude_outside");
    let scales = cx
        .input(2)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input `scales` is missing"))?
        .to_owned();
    cx.take_input(1);
    cx.node.to_mut().input.truncate(1);
    cx.set_input(1, &scales);
    Ok(())
}

/// Coordinates of 'tf_half_pixel_for_nn' are greater by a half than those of 'half_pixel'; rounding
/// them down is rounding those to the nearest, and a half up.
fn half_pixel_for_nearest(cx: &mut Context) -> Result<(), Reason> {
    if cx.string("coordinate_transformation_mode")?.as_deref() != Some("tf_half_pixel_for_nn") {
        return Ok(());
    }
    if is_nearest(cx)? && cx.string("nearest_mode")?.as_deref() == Some("floor") {
        cx.set_string("coordinate_transformation_mode", "half_pixel");
        cx.set_string("nearest_mode", "round_prefer_ceil");
        return Ok(());
    }
    Err(Reason::new(
        AttributeUnsupported,
        "`coordinate_transformation_mode` = 'tf_half_pixel_for_nn' is not supported since opset 13, except with `nearest_mode` = 'floor'",
    ))
}

fn is_nearest(cx: &Context) -> Result<bool, Reason> {
    Ok(cx.string("mode")?.is_none_or(|mode| mode == "nearest"))
}

/// Versions 11 and 12 take scales in any case, empty ones where sizes are given; later ones take
/// either.
fn empty_scales_go(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_none() {
        return Ok(());
    }
    let is_empty = |index: usize| {
        cx.known_input(index)
            .static_shape()
            .map(|shape| shape.contains(&0))
    };
    match (is_empty(2), is_empty(3)) {
        (_, Some(true)) => cx.take_input(3),
        (Some(false), _) => {
            return Err(Reason::new(
                NodeInvalid,
                "the node has both `scales` and `sizes`",
            ));
        }
        _ => cx.take_input(2),
    }
    Ok(())
}

fn write_empty_inputs(cx: &mut Context) -> Result<(), Reason> {
    for (index, suffix) in [(1, "roi"), (2, "scales")] {
        if cx.input(index).is_none() {
            let name = cx.constant_float_list(suffix, &[]);
            cx.set_input(index, &name);
        }
    }
    Ok(())
}

/// The other axes keep their length, by a scale of one. Every coordinate mode maps such an axis to
/// itself.
fn resize_all_axes(cx: &mut Context) -> Result<(), Reason> {
    let Some(axes) = cx.ints("axes")? else {
        return Ok(());
    };
    let rank = cx.rank(0)?;
    let axes = cx.axes_from_front(axes)?;
    if axes.iter().any(|&axis| axis >= rank as i64) {
        return Err(Reason::new(
            NodeInvalid,
            format!("`axes` = {axes:?} is out of range for rank {rank}"),
        ));
    }
    cx.remove_attribute("axes");
    if axes == (0..rank as i64).collect::<Vec<_>>() {
        return Ok(());
    }
    let place = |axis: usize| axes.iter().position(|&given| given == axis as i64);
    let count = axes.len();
    // Regions start at zero and end at one.
    let region = (0..2 * rank).map(|index| match place(index % rank) {
        Some(place) => (index / rank * count + place) as i64,
        None => (2 * count + index / rank) as i64,
    });
    let region: Vec<i64> = region.collect();
    let scales: Vec<i64> = (0..rank)
        .map(|axis| place(axis).unwrap_or(count) as i64)
        .collect();
    let sizes: Vec<i64> = (0..rank)
        .map(|axis| place(axis).unwrap_or(count + axis) as i64)
        .collect();
    let is_given = |cx: &Context, index: usize| {
        cx.input(index).is_some() && cx.known_input(index).static_shape() != Some(vec![0])
    };
    for (index, fill, order) in [(1, vec![0.0, 1.0], region), (2, vec![1.0], scales)] {
        if is_given(cx, index) {
            let dtype = cx.dtype(index)?;
            if dtype != DType::Float {
                return Err(Reason::new(
                    TypeUnsupported,
                    format!("`axes` with a region of {dtype} is not supported before opset 18"),
                ));
            }
            let fill = cx.constant_float_list("fill", &fill);
            select(cx, index, &fill, &order, dtype);
        }
    }
    if is_given(cx, 3) {
        let data = cx.node.input[0].clone();
        let known = Known {
            shape: Some(vec![Some(rank as i64)]),
            ..Known::tensor(DType::Int64)
        };
        let dims = cx.add_before("Shape", &[&data], Vec::new(), "dims", known);
        select(cx, 3, &dims, &sizes, DType::Int64);
    }
    Ok(())
}

/// An input whose elements are those of the present one and of another list, in this order.
fn select(cx: &mut Context, index: usize, others: &str, order: &[i64], dtype: DType) {
    let suffix = ["", "roi", "scales", "sizes"][index];
    let given = cx.node.input[index].clone();
    let joined = cx.add_before(
        "Concat",
        &[&given, others],
        vec![AttributeProto::int("axis", 0)],
        "joined",
        Known::tensor(dtype),
    );
    let order_name = cx.constant_int_list("order", order);
    let known = Known {
        shape: Some(vec![Some(order.len() as i64)]),
        ..Known::tensor(dtype)
    };
    let selected = cx.add_before("Gather", &[&joined, &order_name], Vec::new(), suffix, known);
    cx.set_input(index, &selected);
}

fn not_half_pixel_symmetric(cx: &mut Context) -> Result<(), Reason> {
    match cx.string("coordinate_transformation_mode")?.as_deref() {
        Some("half_pixel_symmetric") => Err(Reason::new(
            AttributeUnsupported,
            "`coordinate_transformation_mode` = 'half_pixel_symmetric' is not supported before opset 19",
        )),
        _ => Ok(()),
    }
}
