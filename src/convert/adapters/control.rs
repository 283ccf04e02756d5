//! `If`, `Loop` and `Scan` across opsets.

use super::super::context::{Context, counted_from_front, permuted};
use super::super::make;
use super::super::reason::{
    AttributeUnsupported, BehaviourDiffers, InputUnsupported, NodeInvalid, Reason, ShapeUnsupported,
};
use super::adapter::{Adapter, Run, adapter};
use crate::ops::inference::{Known, NOTHING};
use crate::protobuf::raw;
use crate::protobuf::schema::{AttributeProto, GraphProto, NodeProto};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("If", 11).down(&[Run(branches_must_have_one_shape)]),
    adapter("Loop", 11),
    adapter("Scan", 9)
        .up(&[Run(batch_becomes_a_scan)])
        .down(&[Run(one_is_a_batch)]),
    adapter("Scan", 11).down(&[Run(axes_must_count_from_the_front)]),
];

/// Before opset 11 the outputs of both branches must have the same shape.
fn branches_must_have_one_shape(cx: &mut Context) -> Result<(), Reason> {
    if cx.is_added {
        return Err(Reason::new(
            ShapeUnsupported,
            "before opset 11 the outputs of both branches must have the same shape",
        ));
    }
    let model = cx.source.model;
    let outputs = |&scope| -> Vec<&Known> {
        let values = model
            .body(scope)
            .output_names()
            .map(|name| model.lookup(scope, name));
        values
            .map(|value| value.map_or(&NOTHING, |value| cx.source.known(value)))
            .collect()
    };
    let branches: Vec<Vec<&Known>> = cx.source.bodies.iter().map(outputs).collect();
    let shapes = |branch: &Vec<&Known>| {
        branch
            .iter()
            .map(|known| known.static_shape())
            .collect::<Option<Vec<_>>>()
    };
    match branches.iter().map(shapes).collect::<Option<Vec<_>>>() {
        Some(shapes) if shapes.windows(2).all(|pair| pair[0] == pair[1]) => Ok(()),
        _ => Err(Reason::new(
            ShapeUnsupported,
            "before opset 11 the outputs of both branches must have the same known shape",
        )),
    }
}

/// Version 8 runs over a batch: an outer scan over the batch whose body scans over the sequence.
fn batch_becomes_a_scan(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(0).is_some() {
        return Err(Reason::new(
            InputUnsupported,
            "`sequence_lens` is not supported by Scan since opset 9",
        ));
    }
    let body = cx.required("body", |body| body.g.clone())?;
    let scan_inputs = cx.required("num_scan_inputs", |number| Some(number.i()))?;
    let directions = cx.ints("directions")?;
    cx.node.to_mut().input.remove(0);

    let inputs: Vec<String> = (0..cx.node.input.len())
        .map(|index| cx.fresh(&format!("in_{index}")))
        .collect();
    let outputs: Vec<String> = (0..body.output.len())
        .map(|index| cx.fresh(&format!("out_{index}")))
        .collect();
    let mut attributes = vec![
        AttributeProto::int("num_scan_inputs", scan_inputs),
        AttributeProto::graph("body", body),
    ];
    attributes.extend(
        directions.map(|directions| AttributeProto::ints("scan_input_directions", directions)),
    );
    let inner = NodeProto::from(raw::NodeProto {
        op_type: Some("Scan".to_owned()),
        name: Some(cx.fresh("sequence")),
        input: inputs.clone(),
        output: outputs.clone(),
        attribute: attributes,
        ..Default::default()
    });
    let outer = GraphProto::from(raw::GraphProto {
        name: Some(cx.fresh("batch")),
        node: vec![inner],
        input: inputs.iter().map(|name| make::named(name)).collect(),
        output: outputs.iter().map(|name| make::named(name)).collect(),
        ..Default::default()
    });
    cx.remove_attribute("directions");
    cx.set_int("num_scan_inputs", cx.node.input.len() as i64);
    cx.set_attribute(AttributeProto::graph("body", outer));
    Ok(())
}

/// Version 8 runs over a batch, scans the first axis after it, and does not reverse results: a
/// batch of one, with the scanned axes moved to the front.
fn one_is_a_batch(cx: &mut Context) -> Result<(), Reason> {
    let refuse = |what: &str| {
        Reason::new(
            BehaviourDiffers,
            format!("Scan requires a batch axis in opset 8, and {what}"),
        )
    };
    if cx
        .ints("scan_output_directions")?
        .is_some_and(|directions| directions.iter().any(|&direction| direction != 0))
    {
        return Err(refuse("cannot reverse its results"));
    }
    if cx.node.input.iter().any(String::is_empty) {
        return Err(Reason::new(NodeInvalid, "an input is omitted"));
    }
    let scanned = cx
        .int("num_scan_inputs")?
        .and_then(|number| usize::try_from(number).ok());
    let states = scanned.and_then(|scanned| cx.node.input.len().checked_sub(scanned));
    let states = states.ok_or_else(|| {
        Reason::new(
            NodeInvalid,
            "the attribute `num_scan_inputs` does not match the inputs",
        )
    })?;
    let (input_axes, output_axes) = (
        cx.ints("scan_input_axes")?.unwrap_or_default(),
        cx.ints("scan_output_axes")?.unwrap_or_default(),
    );
    for index in 0..cx.node.input.len() {
        let axis = index
            .checked_sub(states)
            .and_then(|place| input_axes.get(place))
            .copied()
            .unwrap_or(0);
        let mut input = cx.node.input[index].clone();
        let mut known = cx.known_input(index);
        if axis != 0 {
            let order = moved_to_front(axis, cx.rank(index)?)?;
            known = permuted(known, &order);
            input = cx.add_before(
                "Transpose",
                &[&input],
                vec![AttributeProto::ints("perm", order)],
                "turned",
                known.clone(),
            );
        }
        known.shape = known
            .shape
            .map(|shape| std::iter::once(Some(1)).chain(shape).collect());
        let batch = cx.add_before(
            "Unsqueeze",
            &[&input],
            vec![AttributeProto::ints("axes", vec![0])],
            "batch",
            known,
        );
        cx.set_input(index, &batch);
    }
    for index in (0..cx.node.output.len())
        .filter(|&index| cx.has_output(index))
        .collect::<Vec<_>>()
    {
        let known = cx.known_output(index);
        let axis = index
            .checked_sub(states)
            .and_then(|place| output_axes.get(place))
            .copied()
            .unwrap_or(0);
        let mut turned = known.clone();
        if axis != 0 {
            let rank = known
                .rank()
                .ok_or_else(|| refuse("the rank of a result is unknown"))?;
            let order = moved_to_front(axis, rank)?;
            turned = permuted(known, &order);
            let back = (0..rank as i64).map(|axis| {
                order
                    .iter()
                    .position(|&from| from == axis)
                    .map_or(0, |place| place as i64)
            });
            cx.add_after_output(
                index,
                "Transpose",
                &[],
                vec![AttributeProto::ints("perm", back.collect())],
                "turned_result",
                turned.clone(),
            );
        }
        turned.shape = turned
            .shape
            .map(|shape| std::iter::once(Some(1)).chain(shape).collect());
        cx.add_after_output(
            index,
            "Squeeze",
            &[],
            vec![AttributeProto::ints("axes", vec![0])],
            "batch_result",
            turned,
        );
    }
    cx.node.to_mut().input.insert(0, String::new());
    cx.rename_attribute("scan_input_directions", "directions");
    for name in [
        "scan_input_axes",
        "scan_output_axes",
        "scan_output_directions",
    ] {
        cx.remove_attribute(name);
    }
    Ok(())
}

/// The order of axes with this one first.
fn moved_to_front(axis: i64, rank: usize) -> Result<Vec<i64>, Reason> {
    let axis = counted_from_front(vec![axis], rank)?[0];
    if (0..rank as i64).contains(&axis) {
        Ok(std::iter::once(axis)
            .chain((0..rank as i64).filter(|&other| other != axis))
            .collect())
    } else {
        Err(Reason::new(
            NodeInvalid,
            format!("the scanned axis {axis} is out of range for rank {rank}"),
        ))
    }
}

fn axes_must_count_from_the_front(cx: &mut Context) -> Result<(), Reason> {
    for name in ["scan_input_axes", "scan_output_axes"] {
        if cx
            .ints(name)?
            .is_some_and(|axes| axes.iter().any(|&axis| axis < 0))
        {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("negative `{name}` are not supported before opset 11"),
            ));
        }
    }
    Ok(())
}
