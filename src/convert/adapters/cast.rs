//! `Cast` across opsets: versions 1 6 9 13 19 21 23 24 25 28; `CastLike`: 15 19 21 23 24 25.
//!
//! The versions not listed here only add types.

use super::super::Explicit;
use super::super::context::Context;
use super::super::reason::{AttributeUnsupported, NodeInvalid, Reason};
use super::adapter::{Adapter, Run, adapter};
use crate::graph::{read_round_mode, read_saturate, read_type};
use onnx_cast::{Class, DType, Rules};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Cast", 6)
        .up(&[Run(name_becomes_number)])
        .down(&[Run(number_becomes_name)]),
    adapter("CastLike", 15).down(&[Run(becomes_cast)]),
    adapter("Cast CastLike", 19)
        .up(&[Run(write_out_defaults)])
        .down(&[Run(drop_saturate)]),
    adapter("Cast CastLike", 21).up(&[Run(write_out_defaults)]),
    adapter("Cast CastLike", 23).up(&[Run(write_out_defaults)]),
    adapter("Cast CastLike", 24)
        .up(&[Run(warn_of_infinity), Run(write_out_defaults)])
        .down(&[Run(warn_of_infinity), Run(drop_round_mode)]),
    adapter("Cast CastLike", 25).up(&[Run(write_out_defaults)]),
    adapter("Cast", 28).up(&[Run(write_out_defaults)]),
];

fn name_becomes_number(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.required("to", |to| Some(to.clone()))?;
    if to.i.is_none() {
        let dtype = read_type(&to).map_err(|error| Reason::new(NodeInvalid, error.to_string()))?;
        cx.set_int("to", dtype.number().into());
    }
    Ok(())
}

fn number_becomes_name(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.required("to", |to| Some(to.clone()))?;
    let dtype = read_type(&to).map_err(|error| Reason::new(NodeInvalid, error.to_string()))?;
    cx.set_string("to", dtype.name());
    // onnx infers no type for the output of version 1, so that nodes that require one are not valid
    // without a declaration.
    cx.declare_output(dtype);
    Ok(())
}

/// `CastLike` is new in opset 15; it is a `Cast` where the type of its output is known.
fn becomes_cast(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.output_dtype(0)?;
    cx.take_input(1);
    cx.rename_operator("Cast");
    cx.set_int("to", to.number().into());
    Ok(())
}

/// Defaults are written out where they affect the result: exporters and runtimes did not always
/// agree on them.
fn write_out_defaults(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.known_output(0).dtype();
    let (saturates, rounds) = match cx.source.settings.explicit {
        Explicit::None => return Ok(()),
        Explicit::All => (true, cx.to >= 24),
        Explicit::Relevant => (
            to.is_some_and(DType::obeys_saturate),
            cx.to >= 24 && to == Some(DType::Float8E8M0),
        ),
    };
    if saturates && !cx.has_attribute("saturate") {
        cx.set_int("saturate", 1);
    }
    if rounds && !cx.has_attribute("round_mode") {
        cx.set_string("round_mode", "up");
    }
    Ok(())
}

/// Whether a cast or quantization saturates, by its attribute or the schema's default.
fn saturates(cx: &Context) -> Result<bool, Reason> {
    match cx.attribute("saturate")? {
        Some(attribute) => {
            read_saturate(&attribute).map_err(|error| Reason::new(NodeInvalid, error.to_string()))
        }
        None => Ok(Rules::default().saturate),
    }
}

/// `saturate` affects float8 types only, which versions before 19 do not support.
pub(super) fn drop_saturate(cx: &mut Context) -> Result<(), Reason> {
    if !saturates(cx)? && cx.output_dtype(0)?.obeys_saturate() {
        return Err(Reason::new(
            AttributeUnsupported,
            "`saturate` = 0 is not supported before opset 19",
        ));
    }
    cx.remove_attribute("saturate");
    Ok(())
}

/// `round_mode` affects float8e8m0 only, which versions before 24 do not support.
fn drop_round_mode(cx: &mut Context) -> Result<(), Reason> {
    if let Some(attribute) = cx.attribute("round_mode")? {
        read_round_mode(&attribute).map_err(|error| Reason::new(NodeInvalid, error.to_string()))?;
    }
    if cx.has_attribute("round_mode") && cx.output_dtype(0)? == DType::Float8E8M0 {
        return Err(Reason::new(
            AttributeUnsupported,
            "`round_mode` is not supported before opset 24",
        ));
    }
    cx.remove_attribute("round_mode");
    Ok(())
}

/// Infinity cast to a FNUZ type is NaN by the text of versions 19 to 23, and the largest finite
/// value by that of version 24. Node tests and runtimes always gave the largest value.
fn warn_of_infinity(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.known_output(0).dtype();
    let is_fnuz = matches!(to, Some(DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz));
    if !is_fnuz || !saturates(cx)? || !may_be_infinite(cx.known_input(0).dtype()) {
        return Ok(());
    }
    cx.warn("infinity is cast to NaN by the text of opsets 19 to 23, and to the largest finite value since opset 24")
}

fn may_be_infinite(from: Option<DType>) -> bool {
    match from {
        Some(
            DType::Float8E4M3Fn | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz | DType::Float8E8M0,
        ) => false,
        Some(dtype) if dtype.bits() < 8 => dtype == DType::String,
        Some(dtype) => matches!(dtype.class(), Class::Float | Class::String),
        None => true,
    }
}
