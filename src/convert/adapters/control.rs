//! `If` and `Loop` across opsets.

use super::super::context::Context;
use super::super::reason::{Reason, ShapeUnsupported};
use super::adapter::{Adapter, Run, adapter};
use crate::ops::inference::{Known, NOTHING};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("If", 11).down(&[Run(branches_must_have_one_shape)]),
    adapter("Loop", 11),
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
