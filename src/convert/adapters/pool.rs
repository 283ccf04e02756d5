//! Pooling across opsets.

use super::super::context::Context;
use super::super::reason::{
    AttributeUnsupported, BehaviourDiffers, NodeInvalid, OutputUnsupported, Reason,
};
use super::adapter::{Adapter, Drop, DropIf, Run, Value, adapter};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("AveragePool", 7).down(&[DropIf("count_include_pad", Value::Int(0))]),
    adapter("AveragePool", 10).down(&[DropIf("ceil_mode", Value::Int(0))]),
    adapter("AveragePool", 19).down(&[DropIf("dilations", Value::Ones)]),
    adapter("AveragePool LpPool MaxPool", 22)
        .up(&[Run(no_window_in_the_padding)])
        .down(&[Run(no_window_in_the_padding)]),
    adapter("MaxPool", 8).down(&[Run(no_indices), Drop("storage_order")]),
    adapter("MaxPool", 10).down(&[
        DropIf("ceil_mode", Value::Int(0)),
        DropIf("dilations", Value::Ones),
    ]),
    adapter("LpPool GlobalLpPool", 2)
        .up(&[Run(power_becomes_integer)])
        .down(&[Run(power_becomes_float)]),
    adapter("LpPool", 18).down(&[
        DropIf("ceil_mode", Value::Int(0)),
        DropIf("dilations", Value::Ones),
    ]),
];

/// With `ceil_mode`, version 22 omits windows that start in the end padding. There are none if end
/// padding plus stride does not exceed the kernel size, or if the last window of the known length
/// starts before.
fn no_window_in_the_padding(cx: &mut Context) -> Result<(), Reason> {
    if cx.int_or("ceil_mode", 0)? == 0 {
        return Ok(());
    }
    if cx
        .string("auto_pad")?
        .is_some_and(|pad| pad != "NOTSET" && pad != "VALID")
    {
        return Err(Reason::new(
            BehaviourDiffers,
            "`ceil_mode` with `auto_pad` gives other output shapes since opset 22",
        ));
    }
    let kernel = cx.ints("kernel_shape")?.unwrap_or_default();
    let or = |values: Option<Vec<i64>>, default: i64, length: usize| {
        values.unwrap_or_else(|| vec![default; length])
    };
    let strides = or(cx.ints("strides")?, 1, kernel.len());
    let dilations = or(cx.ints("dilations")?, 1, kernel.len());
    let pads = or(cx.ints("pads")?, 0, 2 * kernel.len());
    if strides.len() != kernel.len()
        || dilations.len() != kernel.len()
        || pads.len() != 2 * kernel.len()
    {
        return Err(Reason::new(
            NodeInvalid,
            "`kernel_shape`, `strides`, `dilations` and `pads` differ in length",
        ));
    }
    let wide = |value: i64| i128::from(value);
    let size = |axis: usize| (wide(kernel[axis]) - 1) * wide(dilations[axis]) + 1;
    let shape = cx.known_input(0).shape.unwrap_or_default();
    let starts_inside = |axis: usize| {
        let length = shape.get(axis + 2).copied().flatten().map(wide);
        let (before, after, stride) = (
            wide(pads[axis]),
            wide(pads[kernel.len() + axis]),
            wide(strides[axis]),
        );
        let last = length.filter(|_| stride > 0).map(|length| {
            (length + before + after - size(axis) + stride - 1).div_euclid(stride) * stride
        });
        last.zip(length)
            .is_some_and(|(last, length)| last < length + before)
    };
    let has_none = |axis: usize| {
        wide(pads[kernel.len() + axis]) + wide(strides[axis]) <= size(axis) || starts_inside(axis)
    };
    if (0..kernel.len()).all(has_none) {
        Ok(())
    } else {
        Err(Reason::new(
            BehaviourDiffers,
            "`ceil_mode`: windows that start in the padding are omitted since opset 22",
        ))
    }
}

/// `storage_order` affects only the indices, which versions before 8 do not have.
fn no_indices(cx: &mut Context) -> Result<(), Reason> {
    cx.drop_unused_output(1);
    if cx.has_output(1) {
        Err(Reason::new(
            OutputUnsupported,
            "MaxPool has no output `Indices` before opset 8",
        ))
    } else {
        Ok(())
    }
}

fn power_becomes_integer(cx: &mut Context) -> Result<(), Reason> {
    let Some(power) = cx.float("p")? else {
        return Ok(());
    };
    if power.fract() != 0.0 || power.abs() > 1e6 {
        return Err(Reason::new(
            AttributeUnsupported,
            format!("`p` = {power} is not an integer, as required since opset 2"),
        ));
    }
    cx.set_int("p", power as i64);
    Ok(())
}

fn power_becomes_float(cx: &mut Context) -> Result<(), Reason> {
    if let Some(power) = cx.int("p")? {
        cx.set_float("p", power as f32);
    }
    Ok(())
}
