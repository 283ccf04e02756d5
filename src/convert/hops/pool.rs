//! Pooling across opsets.

use super::super::hop::Action::{Drop, DropIf, Run};
use super::super::hop::{Hop, Reason, Value, hop};
use super::super::site::Site;

pub(super) const HOPS: &[Hop] = &[
    hop(&["AveragePool"], 7).down(&[DropIf("count_include_pad", Value::Int(0))]),
    hop(&["AveragePool"], 10).down(&[DropIf("ceil_mode", Value::Int(0))]),
    hop(&["AveragePool"], 19).down(&[DropIf("dilations", Value::Ones)]),
    hop(&["AveragePool", "LpPool", "MaxPool"], 22).up(&[Run(no_window_in_the_padding)]).down(&[Run(no_window_in_the_padding)]),
    hop(&["MaxPool"], 8).down(&[Run(no_indices), Drop("storage_order")]),
    hop(&["MaxPool"], 10).down(&[DropIf("ceil_mode", Value::Int(0)), DropIf("dilations", Value::Ones)]),
    hop(&["LpPool", "GlobalLpPool"], 2).up(&[Run(power_becomes_integer)]).down(&[Run(power_becomes_float)]),
    hop(&["LpPool"], 18).down(&[DropIf("ceil_mode", Value::Int(0)), DropIf("dilations", Value::Ones)]),
];

/// With `ceil_mode`, version 22 leaves out windows that would start in the padding at the end. Where the end's padding and the
/// stride are no longer than the kernel there are none.
fn no_window_in_the_padding(site: &mut Site) -> Result<(), Reason> {
    if site.int_or("ceil_mode", 0)? == 0 {
        return Ok(());
    }
    if site.string("auto_pad")?.is_some_and(|pad| pad != "NOTSET" && pad != "VALID") {
        return Err("`ceil_mode` with `auto_pad` gives other shapes from opset 22 on".to_owned());
    }
    let kernel = site.ints("kernel_shape")?.unwrap_or_default();
    let or = |values: Option<Vec<i64>>, default: i64, length: usize| values.unwrap_or_else(|| vec![default; length]);
    let strides = or(site.ints("strides")?, 1, kernel.len());
    let dilations = or(site.ints("dilations")?, 1, kernel.len());
    let pads = or(site.ints("pads")?, 0, 2 * kernel.len());
    if strides.len() != kernel.len() || dilations.len() != kernel.len() || pads.len() != 2 * kernel.len() {
        return Err("`kernel_shape`, `strides`, `dilations` and `pads` do not fit each other".to_owned());
    }
    let wide = |value: i64| i128::from(value);
    let size = |axis: usize| (wide(kernel[axis]) - 1) * wide(dilations[axis]) + 1;
    match (0..kernel.len()).all(|axis| wide(pads[kernel.len() + axis]) + wide(strides[axis]) <= size(axis)) {
        true => Ok(()),
        false => Err("`ceil_mode` may start a window in the padding, which opset 22 leaves out".to_owned()),
    }
}

/// `storage_order` has an effect on the indices only, which no version before 8 has.
fn no_indices(site: &mut Site) -> Result<(), Reason> {
    site.drop_unused_output(1);
    match site.has_output(1) {
        true => Err("the indices are new in opset 8".to_owned()),
        false => Ok(()),
    }
}

fn power_becomes_integer(site: &mut Site) -> Result<(), Reason> {
    let Some(power) = site.float("p")? else { return Ok(()) };
    if power.fract() != 0.0 || power.abs() > 1e6 {
        return Err(format!("`p` = {power} is no integer, which it must be from opset 2 on"));
    }
    site.set_int("p", power as i64);
    Ok(())
}

fn power_becomes_float(site: &mut Site) -> Result<(), Reason> {
    if let Some(power) = site.int("p")? {
        site.set_float("p", power as f32);
    }
    Ok(())
}
