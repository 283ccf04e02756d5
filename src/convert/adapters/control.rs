//! `If`, `Loop` and `Scan` across opsets.

use super::super::adapter::Action::Run;
use super::super::adapter::{Adapter, adapter};
use super::super::context::Context;
use super::super::make;
use super::super::reason::Code::{AttributeUnsupported, BehaviourDiffers, InputUnsupported, NodeInvalid, ShapeUnsupported};
use super::super::reason::Reason;
use crate::facts::infer::{Known, NOTHING};
use crate::wire::raw;
use crate::wire::schema::{GraphProto, NodeProto, ValueInfoProto};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter(&["If"], 11).down(&[Run(branches_must_have_one_shape)]),
    adapter(&["Loop"], 11),
    adapter(&["Scan"], 9).up(&[Run(batch_becomes_a_scan)]).down(&[Run(batch_is_required)]),
    adapter(&["Scan"], 11).down(&[Run(axes_must_count_from_the_front)]),
];

/// Before opset 11 the outputs of both branches must have the same shape.
fn branches_must_have_one_shape(cx: &mut Context) -> Result<(), Reason> {
    let model = cx.source.model;
    let outputs = |&scope| -> Vec<&Known> {
        let values = model.body(scope).output_names().map(|name| model.lookup(scope, name));
        values.map(|value| value.map_or(&NOTHING, |value| cx.source.known(value))).collect()
    };
    let branches: Vec<Vec<&Known>> = cx.source.bodies.iter().map(outputs).collect();
    let shapes = |branch: &Vec<&Known>| branch.iter().map(|known| known.static_shape()).collect::<Option<Vec<_>>>();
    match branches.iter().map(shapes).collect::<Option<Vec<_>>>() {
        Some(shapes) if shapes.windows(2).all(|pair| pair[0] == pair[1]) => Ok(()),
        _ => Err(ShapeUnsupported.because("before opset 11 the outputs of both branches must have the same known shape")),
    }
}

/// Version 8 runs over a batch: an outer scan over the batch whose body scans over the sequence.
fn batch_becomes_a_scan(cx: &mut Context) -> Result<(), Reason> {
    if cx.input(0).is_some() {
        return Err(InputUnsupported.because("`sequence_lens` is not supported by Scan since opset 9"));
    }
    let body = cx
        .attribute("body")?
        .and_then(|attribute| attribute.g.clone())
        .ok_or_else(|| NodeInvalid.because("the attribute `body` is missing"))?;
    let scan_inputs =
        cx.int("num_scan_inputs")?.ok_or_else(|| NodeInvalid.because("the attribute `num_scan_inputs` is missing"))?;
    let directions = cx.ints("directions")?;
    cx.node.to_mut().input.remove(0);

    let inputs: Vec<String> = (0..cx.node.input.len()).map(|index| cx.fresh(&format!("in_{index}"))).collect();
    let outputs: Vec<String> = (0..body.output.len()).map(|index| cx.fresh(&format!("out_{index}"))).collect();
    let mut attributes = vec![make::int("num_scan_inputs", scan_inputs), make::graph("body", body)];
    attributes.extend(directions.map(|directions| make::ints("scan_input_directions", directions)));
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
        input: inputs.iter().map(|name| named(name)).collect(),
        output: outputs.iter().map(|name| named(name)).collect(),
        ..Default::default()
    });
    cx.remove_attribute("directions");
    cx.set_int("num_scan_inputs", cx.node.input.len() as i64);
    cx.set_attribute(make::graph("body", outer));
    Ok(())
}

/// A value of a subgraph; its type is inferred from the enclosing node.
fn named(name: &str) -> ValueInfoProto {
    ValueInfoProto::from(raw::ValueInfoProto { name: Some(name.to_owned()), ..Default::default() })
}

fn batch_is_required(_: &mut Context) -> Result<(), Reason> {
    Err(BehaviourDiffers.because("Scan requires a batch axis in opset 8, and has none since opset 9"))
}

fn axes_must_count_from_the_front(cx: &mut Context) -> Result<(), Reason> {
    for name in ["scan_input_axes", "scan_output_axes"] {
        if cx.ints(name)?.is_some_and(|axes| axes.iter().any(|&axis| axis < 0)) {
            return Err(AttributeUnsupported.because(format!("negative `{name}` are not supported before opset 11")));
        }
    }
    Ok(())
}
