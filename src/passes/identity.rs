//! The pass `identity`.

use std::cell::OnceCell;

use super::bypass::Bypasses;
use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::casts::folding::Options;
use crate::graph::{Attribute, Model, NodeId, ValueId};
use crate::ops::inference::{Inferred, infer, tensor_ints};
use crate::ops::kernels::is_guarded;

const DOCS: &str = r#"Removes nodes that return their input; their consumers use the input.

before: `a = Identity(x)  y = Relu(a)`
after:  `                 y = Relu(x)`

1. `Identity`.
2. `Transpose` that keeps the order of the axes.
3. `Reshape` to the shape that the input has, if the shape is a constant and the dimensions of the input are known as far as needed: a 0
   copies any dimension, and one -1 stands for the remaining one.
4. A node whose result is an output of a graph is kept: the name is part of the interface. So is one whose input has a name that an
   inner scope defines again, and an `Identity` that is part of a guard for a runtime.
"#;

#[derive(Debug)]
pub(super) struct Identity;

impl Pass for Identity {
    fn name(&self) -> &'static str {
        "identity"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
        Ok(plan(model))
    }
}

fn plan(model: &Model) -> Plan {
    let mut bypasses = Bypasses::new(model);
    let inferred = OnceCell::new();
    for &node in model.topological_order() {
        let returns_input = returns_input(
            model,
            node,
            |shape| bypasses.current(shape),
            || inferred.get_or_init(|| infer(model)),
        );
        if let (true, Some(input)) = (returns_input, model.input(node, 0))
            && !is_in_guard(model, node)
        {
            bypasses.bypass(node, model.output(node, 0), input, removal::returns_input);
        }
    }
    bypasses.plan()
}

/// Whether a node that uses the result of an `Identity` says that a guard contains it: without the
/// `Identity`, a runtime would compute something else.
fn is_in_guard(model: &Model, node: NodeId) -> bool {
    let outputs = model.outputs(node);
    let mut users = outputs.flat_map(|(_, value)| model.uses(value));
    users.any(|(user, _)| is_guarded(model.node(user)))
}

/// Whether the only result of a node is its first input. `current` gives the value that is known to
/// be equal to another one.
pub(super) fn returns_input<'i>(
    model: &Model,
    node: NodeId,
    current: impl Fn(ValueId) -> ValueId,
    inferred: impl Fn() -> &'i Inferred,
) -> bool {
    model.node(node).output.len() == 1
        && (model.is_op(node, "Identity")
            || model.is_op(node, "Transpose") && keeps_order(model, node)
            || model.is_op(node, "Reshape") && keeps_shape(model, node, current, inferred))
}

fn keeps_order(model: &Model, node: NodeId) -> bool {
    let order = model
        .attribute(node, "perm")
        .value()
        .map_or(&[][..], |order| &order.ints);
    !order.is_empty() && order.iter().copied().eq(0..order.len() as i64)
}

fn keeps_shape<'i>(
    model: &Model,
    node: NodeId,
    current: impl Fn(ValueId) -> ValueId,
    inferred: impl Fn() -> &'i Inferred,
) -> bool {
    let (Some(input), Some(shape)) = (model.input(node, 0), model.input(node, 1)) else {
        return false;
    };
    let Ok(constant) = model.constant(current(shape)) else {
        return false;
    };
    let (Some(wanted), Attribute::Absent) = (
        tensor_ints(&constant.tensor),
        model.attribute(node, "allowzero"),
    ) else {
        return false;
    };
    let Some(dims) = &inferred().of(input).shape else {
        return false;
    };
    is_shape_of(&wanted, dims)
}

/// Whether a shape of `Reshape` is the one that its input has.
fn is_shape_of(wanted: &[i64], dims: &[Option<i64>]) -> bool {
    let is_kept =
        |(&wanted, &dim): (&i64, &Option<i64>)| wanted == 0 || wanted > 0 && dim == Some(wanted);
    let others = wanted
        .iter()
        .zip(dims.iter())
        .filter(|(wanted, _)| **wanted != -1);
    // With an axis of length 0, the remaining dimension is not determined.
    let is_determined = |(_, dim): (&i64, &Option<i64>)| dim.is_some_and(|dim| dim > 0);
    let rest = wanted.iter().filter(|&&wanted| wanted == -1).count();
    wanted.len() == dims.len()
        && others.clone().all(is_kept)
        && (rest == 0 || rest == 1 && others.clone().all(is_determined))
}
