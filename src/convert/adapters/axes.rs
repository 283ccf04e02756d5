//! `axis` and `axes`: negative ones since opset 11, as an input since 13 or 18.

use super::super::context::{Context, counted_from_front};
use super::super::reason::{AttributeUnsupported, Reason};
use super::adapter::{
    Adapter, CountFromFront, ReplacementKind, Run, ToAttribute, ToInput, adapter,
};
use super::computed_axes;

/// The reductions whose axes became an input in version 18; those of `ReduceSum` did in version 13.
const REDUCTIONS_EXCEPT_SUM: &str = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSumSquare";

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter(
        "ArgMax ArgMin Compress Concat Flatten Hardmax LogSoftmax Softmax Split",
        11,
    )
    .down(&[CountFromFront("axis")]),
    adapter(REDUCTIONS_EXCEPT_SUM, 11).down(&[CountFromFront("axes")]),
    adapter("ReduceSum", 11).down(&[CountFromFront("axes")]),
    adapter("ReduceSum", 13)
        .up(&[
            Run(axes_must_not_be_empty),
            ToInput("axes", 1, ReplacementKind::Ints),
        ])
        .down(&[Run(axes_become_attribute)]),
    adapter(REDUCTIONS_EXCEPT_SUM, 18)
        .up(&[
            Run(axes_must_not_be_empty),
            ToInput("axes", 1, ReplacementKind::Ints),
        ])
        .down(&[Run(axes_become_attribute)]),
    adapter("Squeeze", 11).down(&[CountFromFront("axes"), Run(sort_axes)]),
    adapter("Unsqueeze", 11).down(&[Run(count_in_the_output), Run(sort_axes)]),
    adapter("Squeeze Unsqueeze", 13)
        .up(&[ToInput("axes", 1, ReplacementKind::Ints)])
        .down(&[Run(axes_select_a_shape)]),
];

/// ONNX does not define whether an empty attribute means all axes or none.
fn axes_must_not_be_empty(cx: &mut Context) -> Result<(), Reason> {
    match cx.ints("axes")? {
        Some(axes) if axes.is_empty() => Err(Reason::new(
            AttributeUnsupported,
            "empty `axes` are ambiguous: ONNX does not define whether all axes or none are reduced",
        )),
        _ => Ok(()),
    }
}

/// 1. Axes are given: `noop_with_empty_axes` has no effect. 2. No axes, meaning all of them: the
///    default of the older version.
/// 3. One computed axis: the input is reshaped so that this axis is the second of three.
/// 4. No axes, meaning none: the node is an `Identity` if the reduction applies no function to its
///    elements.
fn axes_become_attribute(cx: &mut Context) -> Result<(), Reason> {
    let axes = match cx.input(1) {
        Some(_) if cx.known_input(1).static_shape() == Some(vec![0]) => Vec::new(),
        Some(_) => match cx.read_ints(1) {
            Err(reason) if reason.is_about_computed_value() => {
                return computed_axes::reduce(cx, reason);
            }
            axes => axes?,
        },
        None => Vec::new(),
    };
    let is_noop = axes.is_empty() && cx.int_or("noop_with_empty_axes", 0)? != 0;
    cx.take_input(1);
    cx.remove_attribute("noop_with_empty_axes");
    if is_noop {
        if !matches!(
            cx.node.op_type(),
            "ReduceMax" | "ReduceMean" | "ReduceMin" | "ReduceProd" | "ReduceSum"
        ) {
            return Err(Reason::new(
                AttributeUnsupported,
                format!(
                    "`noop_with_empty_axes` without axes is not supported by {} before opset {}",
                    cx.node.op_type(),
                    cx.to + 1
                ),
            ));
        }
        cx.remove_attribute("keepdims");
        cx.rename_operator("Identity");
    } else if !axes.is_empty() {
        cx.set_ints("axes", axes);
    }
    Ok(())
}

/// Constant axes become an attribute; with computed ones the node becomes a `Reshape`.
fn axes_select_a_shape(cx: &mut Context) -> Result<(), Reason> {
    computed_axes::reshape(cx)?;
    match cx.node.op_type() {
        "Reshape" => Ok(()),
        _ => ToAttribute(1, "axes", ReplacementKind::Ints).apply(cx),
    }
}

/// Before version 11 shape inference removes and inserts axes in the order in which they are
/// listed.
fn sort_axes(cx: &mut Context) -> Result<(), Reason> {
    let Some(mut axes) = cx.ints("axes")?.filter(|axes| !axes.is_sorted()) else {
        return Ok(());
    };
    axes.sort_unstable();
    cx.set_ints("axes", axes);
    Ok(())
}

/// The axes of `Unsqueeze` index the output shape.
fn count_in_the_output(cx: &mut Context) -> Result<(), Reason> {
    let axes = cx.ints("axes")?.unwrap_or_default();
    if axes.iter().all(|&axis| axis >= 0) {
        return Ok(());
    }
    let rank = cx.rank(0)? + axes.len();
    cx.set_ints("axes", counted_from_front(axes, rank)?);
    Ok(())
}
