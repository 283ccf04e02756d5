//! `Cast` across opsets: versions 1 6 9 13 19 21 23 24 25 28; `CastLike`: 15 19 21 23 24 25.
//!
//! The versions not listed here only add types.

use super::super::Explicit;
use super::super::adapter::Action::Run;
use super::super::adapter::{Adapter, adapter};
use super::super::context::Context;
use super::super::reason::Code::{AttributeUnsupported, NodeInvalid};
use super::super::reason::Reason;
use crate::dtype::{Class, DType};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter(&["Cast"], 6).up(&[Run(name_becomes_number)]).down(&[Run(number_becomes_name)]),
    adapter(&["CastLike"], 15).down(&[Run(becomes_cast)]),
    adapter(&["Cast", "CastLike"], 19).up(&[Run(write_out_defaults)]).down(&[Run(drop_saturate)]),
    adapter(&["Cast", "CastLike"], 21).up(&[Run(write_out_defaults)]),
    adapter(&["Cast", "CastLike"], 23).up(&[Run(write_out_defaults)]),
    adapter(&["Cast", "CastLike"], 24)
        .up(&[Run(warn_of_infinity), Run(write_out_defaults)])
        .down(&[Run(warn_of_infinity), Run(drop_round_mode)]),
    adapter(&["Cast", "CastLike"], 25).up(&[Run(write_out_defaults)]),
    adapter(&["Cast"], 28).up(&[Run(write_out_defaults)]),
];

fn name_becomes_number(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.attribute("to")?.ok_or_else(|| NodeInvalid.because("the attribute `to` is missing"))?;
    if to.i.is_none() {
        let dtype: DType =
            String::from_utf8_lossy(to.s()).parse().map_err(|error| NodeInvalid.because(format!("`to`: {error}")))?;
        cx.set_int("to", dtype.number().into());
    }
    Ok(())
}

fn number_becomes_name(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.int("to")?.ok_or_else(|| NodeInvalid.because("the attribute `to` is missing"))?;
    let dtype = i32::try_from(to).ok().and_then(DType::from_number);
    let dtype = dtype.ok_or_else(|| NodeInvalid.because(format!("unknown element type `to` = {to}")))?;
    cx.set_string("to", dtype.name());
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

/// Defaults are written out where they affect the result: exporters and runtimes did not always agree on them.
fn write_out_defaults(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.known_output(0).dtype();
    let (saturates, rounds) = match cx.source.options.explicit {
        Explicit::None => return Ok(()),
        Explicit::All => (true, cx.to >= 24),
        Explicit::Relevant => (to.is_some_and(DType::is_float8), cx.to >= 24 && to == Some(DType::Float8E8M0)),
    };
    if saturates && !cx.has_attribute("saturate") {
        cx.set_int("saturate", 1);
    }
    if rounds && !cx.has_attribute("round_mode") {
        cx.set_string("round_mode", "up");
    }
    Ok(())
}

/// `saturate` affects float8 only, which versions before 19 do not support.
fn drop_saturate(cx: &mut Context) -> Result<(), Reason> {
    if cx.int_or("saturate", 1)? == 0 && cx.output_dtype(0)?.is_float8() {
        return Err(AttributeUnsupported.because("`saturate` = 0 is not supported before opset 19"));
    }
    cx.remove_attribute("saturate");
    Ok(())
}

/// `round_mode` affects float8e8m0 only, which versions before 24 do not support.
fn drop_round_mode(cx: &mut Context) -> Result<(), Reason> {
    if cx.has_attribute("round_mode") && cx.output_dtype(0)? == DType::Float8E8M0 {
        return Err(AttributeUnsupported.because("`round_mode` is not supported before opset 24"));
    }
    cx.remove_attribute("round_mode");
    Ok(())
}

/// Infinity cast to a FNUZ type is NaN by the text of versions 19 to 23, and the largest finite value by that of version 24. Node
/// tests and runtimes always gave the largest value.
fn warn_of_infinity(cx: &mut Context) -> Result<(), Reason> {
    let to = cx.known_output(0).dtype();
    let is_fnuz = matches!(to, Some(DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz));
    if !is_fnuz || cx.int_or("saturate", 1)? == 0 || !may_be_infinite(cx.known_input(0).dtype()) {
        return Ok(());
    }
    let what = "infinity is cast to NaN by the text of opsets 19 to 23, and to the largest finite value since opset 24";
    cx.warn(what)
}

fn may_be_infinite(from: Option<DType>) -> bool {
    match from {
        Some(DType::Float8E4M3Fn | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz | DType::Float8E8M0) => false,
        Some(dtype) if dtype.bits() < 8 => dtype == DType::String,
        Some(dtype) => matches!(dtype.class(), Class::Float | Class::String),
        None => true,
    }
}
