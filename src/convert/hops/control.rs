//! `If`, `Loop` and `Scan` across opsets.

use super::super::hop::Action::Run;
use super::super::hop::{Hop, Reason, hop};
use super::super::make;
use super::super::site::Site;
use crate::facts::infer::{Known, NOTHING};
use crate::wire::raw;
use crate::wire::schema::{GraphProto, NodeProto, ValueInfoProto};

pub(super) const HOPS: &[Hop] = &[
    hop(&["If"], 11).down(&[Run(branches_must_have_one_shape)]),
    hop(&["Loop"], 11),
    hop(&["Scan"], 9).up(&[Run(batch_becomes_a_scan)]).down(&[Run(batch_cannot_come_back)]),
    hop(&["Scan"], 11).down(&[Run(axes_must_count_from_the_front)]),
];

/// Before opset 11 both branches must give outputs of one shape.
fn branches_must_have_one_shape(site: &mut Site) -> Result<(), Reason> {
    let model = site.place.model;
    let outputs = |&scope| -> Vec<&Known> {
        let values = model.body(scope).output_names().map(|name| model.lookup(scope, name));
        values.map(|value| value.map_or(&NOTHING, |value| site.place.known(value))).collect()
    };
    let branches: Vec<Vec<&Known>> = site.place.bodies.iter().map(outputs).collect();
    let shapes = |branch: &Vec<&Known>| branch.iter().map(|known| known.static_shape()).collect::<Option<Vec<_>>>();
    match branches.iter().map(shapes).collect::<Option<Vec<_>>>() {
        Some(shapes) if shapes.windows(2).all(|pair| pair[0] == pair[1]) => Ok(()),
        _ => Err("before opset 11 both branches must give outputs of one shape, which is not known of these".to_owned()),
    }
}

/// Version 8 runs over a batch: that is a scan over the batch around a scan over the sequence.
fn batch_becomes_a_scan(site: &mut Site) -> Result<(), Reason> {
    if site.input(0).is_some() {
        return Err("`sequence_lens` leaves the ends of the outputs undefined, and is gone in opset 9".to_owned());
    }
    let body = site.attribute("body")?.and_then(|attribute| attribute.g.clone()).ok_or("the attribute `body` is missing")?;
    let scan_inputs = site.int("num_scan_inputs")?.ok_or("the attribute `num_scan_inputs` is missing")?;
    let directions = site.ints("directions")?;
    site.node.to_mut().input.remove(0);

    let inputs: Vec<String> = (0..site.node.input.len()).map(|index| site.fresh(&format!("in_{index}"))).collect();
    let outputs: Vec<String> = (0..body.output.len()).map(|index| site.fresh(&format!("out_{index}"))).collect();
    let mut attributes = vec![make::int("num_scan_inputs", scan_inputs), make::graph("body", body)];
    attributes.extend(directions.map(|directions| make::ints("scan_input_directions", directions)));
    let inner = NodeProto::from(raw::NodeProto {
        op_type: Some("Scan".to_owned()),
        name: Some(site.fresh("sequence")),
        input: inputs.clone(),
        output: outputs.clone(),
        attribute: attributes,
        ..Default::default()
    });
    let outer = GraphProto::from(raw::GraphProto {
        name: Some(site.fresh("batch")),
        node: vec![inner],
        input: inputs.iter().map(|name| named(name)).collect(),
        output: outputs.iter().map(|name| named(name)).collect(),
        ..Default::default()
    });
    site.remove_attribute("directions");
    site.set_int("num_scan_inputs", site.node.input.len() as i64);
    site.set_attribute(make::graph("body", outer));
    Ok(())
}

/// A value of a subgraph; its type follows from the node around it.
fn named(name: &str) -> ValueInfoProto {
    ValueInfoProto::from(raw::ValueInfoProto { name: Some(name.to_owned()), ..Default::default() })
}

fn batch_cannot_come_back(_: &mut Site) -> Result<(), Reason> {
    Err("Scan works on a batch in opset 8, and not from 9 on".to_owned())
}

fn axes_must_count_from_the_front(site: &mut Site) -> Result<(), Reason> {
    for name in ["scan_input_axes", "scan_output_axes"] {
        if site.ints(name)?.is_some_and(|axes| axes.iter().any(|&axis| axis < 0)) {
            return Err(format!("negative `{name}` are new in opset 11"));
        }
    }
    Ok(())
}
