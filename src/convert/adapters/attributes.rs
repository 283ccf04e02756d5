//! Operators that gained or lost an attribute, and little else.

use super::super::context::Context;
use super::super::make;
use super::super::reason::{
    BehaviourDiffers, InputUnsupported, NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported,
    TypeUnsupported,
};
use super::adapter::{
    Adapter, Drop, DropIf, RenameValue, ReplacementKind, Run, ToInput, Value, Write, adapter,
};
use super::computed_axes;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::Class;

/// Operators whose first version has `consumed_inputs`: a hint for runtimes without effect on the
/// result.
const CONSUMERS: &str = "Abs Add Ceil Div Dropout Elu Exp Floor HardSigmoid InstanceNormalization LeakyRelu Log Max Mean Min Mul \
    Neg PRelu Reciprocal Relu Sigmoid Sqrt Sub Sum Tanh";

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter(CONSUMERS, 6).up(&[Drop("consumed_inputs")]),
    adapter("ArgMax ArgMin", 12).down(&[Run(last_index_is_first_reversed)]),
    adapter("Attention", 24)
        .up(&[Run(mask_must_not_be_padded)])
        .down(&[Run(mask_must_cover_all_keys)]),
    adapter("Attention", 25).down(&[
        DropIf("left_window_size", Value::Int(-1)),
        DropIf("right_window_size", Value::Int(-1)),
    ]),
    adapter("BitShift", 28).down(&[Run(shift_must_be_small)]),
    adapter("DFT", 20)
        .up(&[
            Write("axis", Value::Int(1)),
            ToInput("axis", 2, ReplacementKind::Int),
        ])
        .down(&[Run(axis_becomes_attribute)]),
    adapter("DepthToSpace", 11).down(&[DropIf("mode", Value::String("DCR"))]),
    adapter("GatherND", 12).down(&[DropIf("batch_dims", Value::Int(0))]),
    adapter("GridSample", 20)
        .up(&[
            RenameValue("mode", "bilinear", "linear"),
            RenameValue("mode", "bicubic", "cubic"),
        ])
        .down(&[
            Run(grid_must_have_two_axes),
            RenameValue("mode", "linear", "bilinear"),
            RenameValue("mode", "cubic", "bicubic"),
        ]),
    // The default is the same, but ONNX's function body of version 13 refers to the attribute,
    // which must be present.
    adapter("MeanVarianceNormalization", 13).up(&[Run(write_axes)]),
    adapter("Mod", 13).up(&[Run(warn_of_integers_with_fmod)]),
    adapter("Mod", 28).down(&[Run(floats_need_fmod), Run(warn_of_integers_with_fmod)]),
    adapter("ConstantOfShape", 9).down(&[Run(one_element_is_expanded)]),
    // It affects only types that the older version does not support.
    adapter("Range", 27).down(&[Drop("stash_type")]),
    adapter("RoiAlign", 16)
        .up(&[Write(
            "coordinate_transformation_mode",
            Value::String("output_half_pixel"),
        )])
        .down(&[
            Write(
                "coordinate_transformation_mode",
                Value::String("half_pixel"),
            ),
            DropIf(
                "coordinate_transformation_mode",
                Value::String("output_half_pixel"),
            ),
        ]),
    adapter("Selu", 6)
        .up(&[
            Drop("consumed_inputs"),
            Write("alpha", Value::Float(1.6732)),
            Write("gamma", Value::Float(1.0507)),
        ])
        .down(&[
            Write("alpha", Value::Float(1.673_263_2)),
            Write("gamma", Value::Float(1.050_701)),
        ]),
    adapter("SpaceToDepth", 28).down(&[DropIf("mode", Value::String("DCR"))]),
];

/// Version 23 broadcasts a mask with one column over all keys; version 24 pads it, so that every
/// key except the first is masked.
fn mask_must_not_be_padded(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_none() {
        return Ok(());
    }
    match cx.last_dim(3) {
        Some(1) if cx.input(4).is_some() || keys(cx) != Some(1) => {
            Err(Reason::new(BehaviourDiffers, "an attention mask with one column applies to all keys in opset 23, and to the first key only in opset 24"))
        }
        Some(_) => Ok(()),
        None => {
            cx.warn("an attention mask with one column applies to all keys in opset 23, and to the first key only in opset 24; the width of this mask is unknown")
        }
    }
}

/// The number of keys, not counting past keys.
fn keys(cx: &Context) -> Option<i64> {
    match cx.known_input(1).shape?.as_slice() {
        [_, keys, _] | [_, _, keys, _] => *keys,
        _ => None,
    }
}

/// Since version 24 the mask may be shorter than the keys.
fn mask_must_cover_all_keys(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(3).is_none() {
        return Ok(());
    }
    match (cx.last_dim(3), keys(cx)) {
        (Some(last), Some(keys)) if last == keys && cx.input(4).is_none() => Ok(()),
        _ => Err(Reason::new(
            ShapeUnsupported,
            "before opset 24 the attention mask must cover all keys; the length of this mask is unknown or differs",
        )),
    }
}

/// The result of a shift by the width of the type or more is defined since version 28 only.
fn shift_must_be_small(cx: &mut Context) -> Result<(), Reason> {
    let bits = cx.dtype(0)?.bits() as i64;
    let shifts = cx.read_ints(1)?;
    if shifts.iter().all(|shift| (0..bits).contains(shift)) {
        Ok(())
    } else {
        Err(Reason::new(
            InputUnsupported,
            format!("a shift by {bits} bits or more is undefined before opset 28"),
        ))
    }
}

/// The last of equal elements is the first one in the reversed input.
fn last_index_is_first_reversed(cx: &mut Context) -> Result<(), Reason> {
    let is_last = cx.int_or("select_last_index", 0)? != 0;
    cx.remove_attribute("select_last_index");
    if !is_last {
        return Ok(());
    }
    let axis = cx.axes_from_front(vec![cx.int_or("axis", 0)?])?[0];
    let known = cx.known_input(0);
    let length = cx
        .dim(0, axis)
        .filter(|&length| length <= LONGEST_REVERSED)
        .ok_or_else(|| {
            let what = format!(
                "`select_last_index` is not supported by {} before opset 12",
                cx.node.op_type()
            );
            Reason::new(
                ShapeUnknown,
                format!("{what}, and the length of the axis is unknown or too large"),
            )
        })?;
    let data = cx.node.input[0].clone();
    let order: Vec<i64> = (0..length).rev().collect();
    let order = cx.constant_int_list("order", &order);
    let reversed = cx.add_before(
        "Gather",
        &[&data, &order],
        vec![AttributeProto::int("axis", axis)],
        "reversed",
        known,
    );
    cx.set_input(0, &reversed);
    let last = cx.constant_ints("last", &[], &[length - 1]);
    let known = cx.known_output(0);
    // The index is `last` minus the index in the reversed input.
    cx.add_after("Add", &[&last], Vec::new(), "negated", known.clone());
    cx.add_after("Neg", &[], Vec::new(), "reversed_index", known);
    Ok(())
}

/// The longest axis that is reversed by a constant.
const LONGEST_REVERSED: i64 = 1 << 12;

/// An element of rank zero is expanded to any shape, that of a scalar included.
fn one_element_is_expanded(cx: &mut Context) -> Result<(), Reason> {
    let value = match cx.attribute("value")? {
        None => make::float_tensor(&[], &[0.0]),
        Some(attribute) => {
            let mut value = attribute
                .t
                .clone()
                .ok_or_else(|| Reason::new(NodeInvalid, "the attribute `value` is not a tensor"))?;
            value.dims.clear();
            value.name = None;
            value
        }
    };
    let shape = cx
        .input(0)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input is missing"))?
        .to_owned();
    let element = cx.add_constant("element", value);
    cx.remove_attribute("value");
    cx.set_input(0, &element);
    cx.set_input(1, &shape);
    cx.rename_operator("Expand");
    Ok(())
}

/// 1. A constant axis. 2. A computed one: the input is reshaped so that this axis is the second of
///    four.
fn axis_becomes_attribute(cx: &mut Context) -> Result<(), Reason> {
    let axis = match cx.input(2) {
        None => -2,
        Some(_) => match cx.read_ints(2) {
            Err(reason) if reason.is_about_computed_value() => {
                let is_real = cx.int_or("inverse", 0)? != 0 && cx.int_or("onesided", 0)? != 0;
                return computed_axes::transform(cx, 2, if is_real { 1 } else { 2 }, reason);
            }
            axes => *axes?
                .first()
                .ok_or_else(|| Reason::new(NodeInvalid, "the input `axis` is empty"))?,
        },
    };
    cx.take_input(2);
    cx.set_int("axis", axis);
    Ok(())
}

fn grid_must_have_two_axes(cx: &mut Context) -> Result<(), Reason> {
    match cx.rank(0)? {
        4 => Ok(()),
        _ => Err(Reason::new(
            ShapeUnsupported,
            "GridSample supports inputs of rank 4 only before opset 20",
        )),
    }
}

/// Before version 28 `fmod` = 0 is defined for integers only.
fn floats_need_fmod(cx: &mut Context) -> Result<(), Reason> {
    match cx.dtype(0)?.class() {
        Class::Float if cx.int_or("fmod", 0)? == 0 => Err(Reason::new(
            TypeUnsupported,
            "Mod supports floating-point inputs with `fmod` = 0 since opset 28 only",
        )),
        _ => Ok(()),
    }
}

/// The text of versions 13 to 27 restricts `fmod` = 1 to floats, and the schema does not. Runtimes
/// compute what versions 10 and 28 define.
fn warn_of_integers_with_fmod(cx: &mut Context) -> Result<(), Reason> {
    match cx.dtype(0)?.class() {
        Class::Signed | Class::Unsigned if cx.int_or("fmod", 0)? != 0 => cx.warn(
            "`fmod` = 1 for integers is defined by the text of opsets 10 to 12 and 28, and not of those between; runtimes compute the same",
        ),
        _ => Ok(()),
    }
}

fn write_axes(cx: &mut Context) -> Result<(), Reason> {
    if cx.attribute("axes")?.is_none() {
        cx.set_ints("axes", vec![0, 2, 3]);
    }
    Ok(())
}
