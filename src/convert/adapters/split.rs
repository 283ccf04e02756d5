//! `Split` across opsets: versions 1 2 11 13 18.

use super::super::context::Context;
use super::super::reason::{AttributeUnsupported, NodeInvalid, Reason};
use super::adapter::{Adapter, ReplacementKind, Run, ToAttribute, ToInput, Value, Write, adapter};
use crate::ops::inference::Known;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Split", 2)
        .up(&[Run(lengths_become_attribute)])
        .down(&[Write("axis", Value::Int(0))]),
    adapter("Split", 13)
        .up(&[ToInput("split", 1, ReplacementKind::Ints)])
        .down(&[ToAttribute(1, "split", ReplacementKind::Ints)]),
    adapter("Split", 18)
        .up(&[Run(count_outputs)])
        .down(&[Run(parts_must_be_equal)]),
];

/// Version 1 also takes the lengths as an input of the tensor's type, and does not define a default
/// axis.
fn lengths_become_attribute(cx: &mut Context) -> Result<(), Reason> {
    if cx.attribute("axis")?.is_none() {
        return Err(Reason::new(
            AttributeUnsupported,
            "opset 1 does not define the default of `axis`",
        ));
    }
    if cx.input(1).is_some() {
        let lengths = cx.read_doubles(1)?;
        if lengths.iter().any(|length| length.fract() != 0.0) {
            return Err(Reason::new(
                NodeInvalid,
                format!("the lengths {lengths:?} are not integers"),
            ));
        }
        cx.take_input(1);
        cx.set_ints(
            "split",
            lengths.into_iter().map(|length| length as i64).collect(),
        );
    }
    Ok(())
}

/// Equal parts require `num_outputs` since version 18. onnxruntime wants as many elements as parts
/// then, so that parts of an axis that has none get lengths.
fn count_outputs(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(1).is_none() {
        let axis = usize::try_from(
            cx.axes_from_front(vec![cx.int_or("axis", 0)?])
                .map_or(-1, |axes| axes[0]),
        )
        .ok();
        if axis.and_then(|axis| cx.dim(0, axis)) == Some(0) {
            let lengths = vec![0; cx.node.output.len()];
            let name = cx.constant_int_list("split", &lengths);
            cx.set_input(1, &name);
            return Ok(());
        }
        cx.set_int("num_outputs", cx.node.output.len() as i64);
    }
    Ok(())
}

/// Before version 18 the parts are equal unless lengths are given; a smaller last part needs
/// lengths.
fn parts_must_be_equal(cx: &mut Context) -> Result<(), Reason> {
    let Some(parts) = cx.int("num_outputs")? else {
        return Ok(());
    };
    cx.remove_attribute("num_outputs");
    if cx.input(1).is_some() {
        return Ok(());
    }
    let outputs = cx.node.output.len() as i64;
    if parts != outputs {
        return Err(Reason::new(
            NodeInvalid,
            format!("`num_outputs` = {parts}, but the node has {outputs} outputs"),
        ));
    }
    let axis = cx.int_or("axis", 0)?;
    let axis = usize::try_from(cx.axes_from_front(vec![axis])?[0])
        .map_err(|_| Reason::new(NodeInvalid, format!("`axis` = {axis} is out of range")))?;
    let Some(length) = cx.dim(0, axis) else {
        return compute_lengths(cx, axis as i64, parts);
    };
    if length % parts == 0 {
        return Ok(());
    }
    let part = length / parts + 1;
    let last = part
        .checked_mul(parts - 1)
        .map(|others| length - others)
        .filter(|&last| last >= 0);
    let last = last.ok_or_else(|| {
        Reason::new(
            NodeInvalid,
            format!("an axis of length {length} cannot be split into {parts} parts of {part}"),
        )
    })?;
    let lengths: Vec<i64> = (1..parts).map(|_| part).chain([last]).collect();
    let name = cx.constant_int_list("split", &lengths);
    cx.set_input(1, &name);
    Ok(())
}

/// The lengths of the parts of an axis of unknown length, as an input.
fn compute_lengths(cx: &mut Context, axis: i64, parts: i64) -> Result<(), Reason> {
    let one = Known {
        shape: Some(vec![Some(1)]),
        ..Known::tensor(DType::Int64)
    };
    let data = cx
        .input(0)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input is missing"))?
        .to_owned();
    let dims = cx.add_before(
        "Shape",
        &[&data],
        Vec::new(),
        "dims",
        Known::tensor(DType::Int64),
    );
    let axis = cx.constant_int_list("axis", &[axis]);
    let others = cx.constant_int_list("others", &[parts - 1]);
    let parts_name = cx.constant_int_list("parts", &[parts]);
    let length = cx.add_before("Gather", &[&dims, &axis], Vec::new(), "length", one.clone());
    let rounded_up = cx.add_before(
        "Add",
        &[&length, &others],
        Vec::new(),
        "rounded_up",
        one.clone(),
    );
    let part = cx.add_before(
        "Div",
        &[&rounded_up, &parts_name],
        Vec::new(),
        "part",
        one.clone(),
    );
    let before_last = cx.add_before(
        "Mul",
        &[&part, &others],
        Vec::new(),
        "before_last",
        one.clone(),
    );
    let last = cx.add_before("Sub", &[&length, &before_last], Vec::new(), "last", one);
    let lengths: Vec<&str> = (1..parts)
        .map(|_| part.as_str())
        .chain([last.as_str()])
        .collect();
    let known = Known {
        shape: Some(vec![Some(parts)]),
        ..Known::tensor(DType::Int64)
    };
    let lengths = cx.add_before(
        "Concat",
        &lengths,
        vec![AttributeProto::int("axis", 0)],
        "split",
        known,
    );
    cx.set_input(1, &lengths);
    Ok(())
}
