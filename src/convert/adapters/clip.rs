//! `Clip` across opsets: versions 1 6 11 12 13.

use super::super::context::Context;
use super::super::make;
use super::super::reason::{InputUnsupported, NodeInvalid, Reason, TypeUnsupported};
use super::adapter::{Adapter, Drop, Run, adapter};
use crate::protobuf::schema::{AttributeProto, TensorProto};
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Clip", 6)
        .up(&[Drop("consumed_inputs"), Run(absent_bounds_need_float)])
        .down(&[Run(absent_bounds_need_float)]),
    adapter("Clip", 11)
        .up(&[Run(absent_bounds_need_float), Run(bounds_become_inputs)])
        .down(&[Run(bounds_become_attributes), Run(absent_bounds_need_float)]),
    adapter("Clip", 13).down(&[Run(bounds_must_be_in_order)]),
];

/// The default bound is the largest value of the type by the text, the largest float by the default
/// of version 6, and infinite in version 1: the results agree for float only.
fn absent_bounds_need_float(cx: &mut Context) -> Result<(), Reason> {
    if cx.attribute("min")?.is_some() && cx.attribute("max")?.is_some() {
        return Ok(());
    }
    match cx.dtype(0)? {
        DType::Float => Ok(()),
        dtype => Err(Reason::new(
            TypeUnsupported,
            format!("the default bound of Clip differs between the two versions for {dtype}"),
        )),
    }
}

/// The bounds become scalars of the input's type. Rounding a bound to that type changes no result,
/// for the result is of that type.
fn bounds_become_inputs(cx: &mut Context) -> Result<(), Reason> {
    for (name, index) in [("min", 1), ("max", 2)] {
        let Some(bound) = cx.float(name)? else {
            continue;
        };
        let dtype = cx.dtype(0)?;
        let tensor = rounded(dtype, bound).ok_or_else(|| {
            Reason::new(
                TypeUnsupported,
                format!("Clip does not support bounds of type {dtype}"),
            )
        })?;
        let name_of_bound = cx.add_constant(name, tensor);
        cx.remove_attribute(name);
        cx.set_input(index, &name_of_bound);
    }
    Ok(())
}

fn rounded(dtype: DType, value: f32) -> Option<TensorProto> {
    let bytes = match dtype {
        DType::Float => value.to_le_bytes().to_vec(),
        DType::Double => f64::from(value).to_le_bytes().to_vec(),
        DType::Float16 => half::f16::from_f32(value).to_le_bytes().to_vec(),
        _ => return None,
    };
    Some(make::numbers(dtype, &[], bytes))
}

/// A minimum above the maximum becomes the maximum, to which runtimes set all elements then: they
/// refuse such attributes.
fn bounds_become_attributes(cx: &mut Context) -> Result<(), Reason> {
    let mut highest = f32::INFINITY;
    let is_alone = cx.input(1).is_none() || cx.input(2).is_none();
    for (name, index) in [("max", 2), ("min", 1)] {
        if cx.input(index).is_none() {
            continue;
        }
        match cx.read_floats(index)?.as_slice() {
            [bound] if bound.is_nan() => {
                return Err(Reason::new(
                    InputUnsupported,
                    format!("`{name}` is NaN, which runtimes refuse as an attribute"),
                ));
            }
            // The default of the other attribute is the largest finite number.
            [bound] if is_alone && bound.is_infinite() && (*bound > 0.0) == (name == "min") => {
                return Err(Reason::new(
                    InputUnsupported,
                    format!("`{name}` is {bound}, which runtimes refuse as an attribute alone"),
                ));
            }
            [bound] => {
                highest = bound.min(highest);
                cx.set_attribute(AttributeProto::float(name, highest));
            }
            bounds => {
                return Err(Reason::new(
                    NodeInvalid,
                    format!("`{name}` must have one element, not {}", bounds.len()),
                ));
            }
        }
        cx.take_input(index);
    }
    Ok(())
}

/// The result for a minimum above the maximum is defined since opset 13 only.
fn bounds_must_be_in_order(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(1).is_none() || cx.input(2).is_none() {
        return Ok(());
    }
    match are_in_order(cx) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Reason::new(
            InputUnsupported,
            "a minimum above the maximum is undefined before opset 13",
        )),
        Err(reason) => Err(Reason::new(
            reason.code(),
            format!("a minimum above the maximum is undefined before opset 13, and {reason}"),
        )),
    }
}

fn are_in_order(cx: &Context) -> Result<bool, Reason> {
    Ok(match cx.dtype(0)? {
        DType::Int64 | DType::Uint64 => cx.read_ints(1)?.first() <= cx.read_ints(2)?.first(),
        _ => cx.read_doubles(1)?.first() <= cx.read_doubles(2)?.first(),
    })
}
