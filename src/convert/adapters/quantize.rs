//! `QuantizeLinear` and `DequantizeLinear` across opsets: versions 10 13 19 21 23 24 25 28.

use super::super::context::Context;
use super::super::make;
use super::super::reason::{
    AttributeUnsupported, InputUnsupported, NodeInvalid, Reason, ShapeUnknown, ShapeUnsupported,
};
use super::adapter::{Adapter, DropIf, Run, Value, adapter};
use super::cast::drop_saturate;
use crate::ops::inference::Known;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("QuantizeLinear DequantizeLinear", 13)
        .up(&[Run(scale_is_one_number_up)])
        .down(&[Run(scale_must_be_one_number)]),
    adapter("QuantizeLinear", 19).down(&[Run(drop_saturate)]),
    adapter("QuantizeLinear", 21).down(&[
        DropIf("block_size", Value::Int(0)),
        Run(type_shows_in_zero_point),
    ]),
    adapter("DequantizeLinear", 21).down(&[DropIf("block_size", Value::Int(0))]),
    adapter("QuantizeLinear", 23).down(&[Run(|cx| must_be_the_scale_s_type(cx, "precision"))]),
    adapter("DequantizeLinear", 23).down(&[Run(|cx| must_be_the_scale_s_type(cx, "output_dtype"))]),
];

/// Version 10 quantizes per tensor; scales of more than one element are undefined.
fn scale_is_one_number_up(cx: &mut Context) -> Result<(), Reason> {
    match cx.known_input(1).static_shape() {
        Some(shape) if shape.iter().any(|&dim| dim != 1) => Err(Reason::new(
            InputUnsupported,
            "scales of more than one element are undefined before opset 13",
        )),
        _ => Ok(()),
    }
}

/// `axis` has no effect on a scale of one element.
fn scale_must_be_one_number(cx: &mut Context) -> Result<(), Reason> {
    match cx.known_input(1).static_shape() {
        Some(shape) if shape.iter().all(|&dim| dim == 1) => {
            cx.remove_attribute("axis");
            Ok(())
        }
        Some(_) => Err(Reason::new(
            ShapeUnsupported,
            "per-axis quantization is not supported before opset 13",
        )),
        None => Err(Reason::new(
            ShapeUnknown,
            "before opset 13 the scale must have one element; its shape is unknown",
        )),
    }
}

/// Before version 21 the output has the type of the zero point; the default is uint8.
fn type_shows_in_zero_point(cx: &mut Context) -> Result<(), Reason> {
    let stated = cx.int_or("output_dtype", 0)?;
    cx.remove_attribute("output_dtype");
    if stated == 0 || cx.input(2).is_some() {
        return Ok(());
    }
    let dtype = i32::try_from(stated).ok().and_then(DType::from_number);
    let dtype = dtype.ok_or_else(|| {
        Reason::new(
            NodeInvalid,
            format!("unknown element type `output_dtype` = {stated}"),
        )
    })?;
    if dtype == DType::Uint8 {
        return Ok(());
    }
    let shape = cx.known_input(1).static_shape();
    let shape = shape.ok_or_else(|| {
        Reason::new(
            ShapeUnknown,
            "the shape of the scale must be known to add a zero point",
        )
    })?;
    let name = if let Some(zeros) = make::zeros(dtype, &shape) {
        cx.add_constant("zero_point", zeros)
    } else {
        let known = Known {
            shape: cx.known_input(1).shape,
            ..Known::tensor(dtype)
        };
        let dims = cx.constant_int_list("shape", &shape);
        let zero = make::zeros(dtype, &[1]).map(|zero| AttributeProto::tensor("value", zero));
        cx.add_before(
            "ConstantOfShape",
            &[&dims],
            Vec::from_iter(zero),
            "zero_point",
            known,
        )
    };
    cx.set_input(2, &name);
    Ok(())
}

fn must_be_the_scale_s_type(cx: &mut Context, name: &str) -> Result<(), Reason> {
    let stated = cx.int_or(name, 0)?;
    if stated != 0 && stated != i64::from(cx.dtype(1)?.number()) {
        return Err(Reason::new(
            AttributeUnsupported,
            format!("`{name}` must be the type of the scale before opset 23"),
        ));
    }
    cx.remove_attribute(name);
    Ok(())
}
