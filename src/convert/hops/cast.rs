//! `Cast` across opsets: versions 1 6 9 13 19 21 23 24 25 28; `CastLike`: 15 19 21 23 24 25.
//!
//! The versions that are not here only admit more types.

use super::super::Explicit;
use super::super::hop::Action::Run;
use super::super::hop::{Hop, Reason, hop};
use super::super::site::Site;
use crate::cast::Rules;
use crate::dtype::{Class, DType};
use crate::graph::{read_round_mode, read_saturate, read_type};

pub(super) const HOPS: &[Hop] = &[
    hop(&["Cast"], 6).up(&[Run(name_becomes_number)]).down(&[Run(number_becomes_name)]),
    hop(&["CastLike"], 15).down(&[Run(becomes_cast)]),
    hop(&["Cast", "CastLike"], 19).up(&[Run(write_out_defaults)]).down(&[Run(drop_saturate)]),
    hop(&["Cast", "CastLike"], 21).up(&[Run(write_out_defaults)]),
    hop(&["Cast", "CastLike"], 23).up(&[Run(write_out_defaults)]),
    hop(&["Cast", "CastLike"], 24)
        .up(&[Run(warn_of_infinity), Run(write_out_defaults)])
        .down(&[Run(warn_of_infinity), Run(drop_round_mode)]),
    hop(&["Cast", "CastLike"], 25).up(&[Run(write_out_defaults)]),
    hop(&["Cast"], 28).up(&[Run(write_out_defaults)]),
];

fn name_becomes_number(site: &mut Site) -> Result<(), Reason> {
    let to = site.attribute("to")?.ok_or_else(|| "the attribute `to` is missing".to_owned())?;
    if to.i.is_none() {
        let dtype = read_type(&to).map_err(|error| error.to_string())?;
        site.set_int("to", dtype.number().into());
    }
    Ok(())
}

fn number_becomes_name(site: &mut Site) -> Result<(), Reason> {
    let to = site.attribute("to")?.ok_or_else(|| "the attribute `to` is missing".to_owned())?;
    let dtype = read_type(&to).map_err(|error| error.to_string())?;
    site.set_string("to", dtype.name());
    Ok(())
}

/// There was no `CastLike` before opset 15, but the type that it casts to may be known.
fn becomes_cast(site: &mut Site) -> Result<(), Reason> {
    let to = site.output_dtype(0)?;
    site.take_input(1);
    site.rename_operator("Cast");
    site.set_int("to", to.number().into());
    Ok(())
}

/// Defaults are written out where they decide something: exporters and runtimes did not always agree on them.
fn write_out_defaults(site: &mut Site) -> Result<(), Reason> {
    let to = site.known_output(0).dtype();
    let (saturates, rounds) = match site.place.options.explicit {
        Explicit::None => return Ok(()),
        Explicit::All => (true, site.to >= 24),
        Explicit::Relevant => (to.is_some_and(DType::obeys_saturate), site.to >= 24 && to == Some(DType::Float8E8M0)),
    };
    if saturates && !site.has_attribute("saturate") {
        site.set_int("saturate", 1);
    }
    if rounds && !site.has_attribute("round_mode") {
        site.set_string("round_mode", "up");
    }
    Ok(())
}

/// Whether a cast or quantization saturates, by its attribute or the schema's default.
pub(super) fn saturates(site: &Site) -> Result<bool, Reason> {
    match site.attribute("saturate")? {
        Some(attribute) => read_saturate(&attribute).map_err(|error| error.to_string()),
        None => Ok(Rules::default().saturate),
    }
}

/// `saturate` has an effect on float8 types only, which no version before 19 has.
fn drop_saturate(site: &mut Site) -> Result<(), Reason> {
    if !saturates(site)? && site.output_dtype(0)?.obeys_saturate() {
        return Err("`saturate` = 0 has an effect, and is new in opset 19".to_owned());
    }
    site.remove_attribute("saturate");
    Ok(())
}

/// `round_mode` has an effect on float8e8m0 only, which no version before 24 has.
fn drop_round_mode(site: &mut Site) -> Result<(), Reason> {
    if let Some(attribute) = site.attribute("round_mode")? {
        read_round_mode(&attribute).map_err(|error| error.to_string())?;
    }
    if site.has_attribute("round_mode") && site.output_dtype(0)? == DType::Float8E8M0 {
        return Err("`round_mode` has an effect, and is new in opset 24".to_owned());
    }
    site.remove_attribute("round_mode");
    Ok(())
}

/// The texts differ for infinity to the types without infinity and negative zero: NaN in versions 19 to 23, the largest number
/// since 24. Node tests and runtimes always gave the largest.
fn warn_of_infinity(site: &mut Site) -> Result<(), Reason> {
    let to = site.known_output(0).dtype();
    let is_fnuz = matches!(to, Some(DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz));
    if !is_fnuz || !saturates(site)? || !may_be_infinite(site.known_input(0).dtype()) {
        return Ok(());
    }
    let what = "infinity becomes NaN by the text of opset 19 to 23, and the largest number by that of 24 and later";
    site.warn(what)
}

fn may_be_infinite(from: Option<DType>) -> bool {
    match from {
        Some(DType::Float8E4M3Fn | DType::Float8E4M3Fnuz | DType::Float8E5M2Fnuz | DType::Float8E8M0) => false,
        Some(dtype) if dtype.bits() < 8 => dtype == DType::String,
        Some(dtype) => matches!(dtype.class(), Class::Float | Class::String),
        None => true,
    }
}
