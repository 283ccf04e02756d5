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
        .down(&[Run(omit_windows_in_the_padding)]),
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

/// The windows of a pooling along an axis.
struct Axis {
    length: Option<i128>,
    before: i128,
    after: i128,
    stride: i128,
    kernel: i128,
    dilation: i128,
}

impl Axis {
    /// The extent of a window.
    fn reach(&self) -> i128 {
        (self.kernel - 1) * self.dilation + 1
    }

    /// Where the last window of a known length starts, if it may start in the end padding.
    fn last_start(&self) -> Option<i128> {
        let length = self.length.filter(|_| self.stride > 0)?;
        let room = length + self.before + self.after - self.reach();
        Some((room + self.stride - 1).div_euclid(self.stride) * self.stride)
    }

    /// Whether no window starts in the end padding: it and the stride do not exceed a window, or
    /// the last one of the known length starts before.
    fn has_no_window_in_the_padding(&self) -> bool {
        let starts_inside = |length| {
            self.last_start()
                .is_some_and(|last| last < length + self.before)
        };
        self.after + self.stride <= self.reach() || self.length.is_some_and(starts_inside)
    }

    /// The end padding with which the quotient of floor is that of `ceil_mode`, without a window
    /// that starts in the padding.
    fn end_padding(&self) -> Option<i128> {
        let (length, last) = (self.length?, self.last_start()?);
        let inside = length + self.before;
        let last = if last < inside {
            last
        } else {
            last - self.stride
        };
        let end = (last + self.reach() - inside).max(0);
        (last >= 0 && last < inside && end < self.kernel).then_some(end)
    }
}

/// The windows along each axis, if a window may start in the end padding of one.
fn windows_in_the_padding(cx: &Context) -> Result<Option<Vec<Axis>>, Reason> {
    if cx.int_or("ceil_mode", 0)? == 0 {
        return Ok(None);
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
    let shape = cx.known_input(0).shape.unwrap_or_default();
    let axis = |axis: usize| Axis {
        length: shape.get(axis + 2).copied().flatten().map(i128::from),
        before: pads[axis].into(),
        after: pads[kernel.len() + axis].into(),
        stride: strides[axis].into(),
        kernel: kernel[axis].into(),
        dilation: dilations[axis].into(),
    };
    let axes: Vec<Axis> = (0..kernel.len()).map(axis).collect();
    let has_none = axes.iter().all(Axis::has_no_window_in_the_padding);
    Ok((!has_none).then_some(axes))
}

fn differs() -> Reason {
    Reason::new(
        BehaviourDiffers,
        "`ceil_mode`: windows that start in the padding are omitted since opset 22",
    )
}

fn no_window_in_the_padding(cx: &mut Context) -> Result<(), Reason> {
    match windows_in_the_padding(cx)? {
        None => Ok(()),
        Some(_) => Err(differs()),
    }
}

/// Version 22 omits windows that start in the end padding. Without `ceil_mode`, the end padding
/// says how many windows there are. An average counts the elements of the padding that the node
/// states, but not those that `ceil_mode` adds.
fn omit_windows_in_the_padding(cx: &mut Context) -> Result<(), Reason> {
    let Some(axes) = windows_in_the_padding(cx)? else {
        return Ok(());
    };
    let counts = cx.node.op_type() == "AveragePool" && cx.int_or("count_include_pad", 0)? != 0;
    let end = |axis: &Axis| {
        let end = axis.end_padding()?;
        let end = Some(end).filter(|&end| !counts || end <= axis.after);
        i64::try_from(end?).ok()
    };
    let ends: Option<Vec<i64>> = axes.iter().map(end).collect();
    let starts = axes.iter().map(|axis| axis.before as i64);
    let pads = starts.chain(ends.ok_or_else(differs)?).collect();
    cx.set_ints("pads", pads);
    cx.remove_attribute("ceil_mode");
    Ok(())
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
