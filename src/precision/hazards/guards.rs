//! Divisors and arguments of logarithms, which must not become zero.

use super::effects::{Effect, effect};
use crate::graph::{Model, NodeId, ValueId};

/// The values, by index, that a guard keeps from zero if there is one: divisors and arguments of logarithms, also before they are moved,
/// added to, or their root is taken.
pub fn guarded(model: &Model, edges: &[(ValueId, ValueId)]) -> Vec<bool> {
    let keeps_guard = |effect: Effect| {
        matches!(
            effect,
            Effect::Moves
                | Effect::Absolute
                | Effect::Adds
                | Effect::Subtracts
                | Effect::Multiplies
                | Effect::Larger
                | Effect::Clips
                | Effect::Root
                | Effect::Casts
        )
    };
    divisors(model, edges, keeps_guard)
}

/// The values, by index, that are probabilities of which the logarithm is taken, or by which something is divided, without a guard.
pub fn probabilities(model: &Model, edges: &[(ValueId, ValueId)]) -> Vec<bool> {
    let moves = |effect: Effect| matches!(effect, Effect::Moves | Effect::Root | Effect::Casts);
    let mut found = divisors(model, edges, moves);
    for value in model.values() {
        let is_probability = model
            .producer(value)
            .is_some_and(|node| ["Softmax", "Sigmoid", "Exp"].into_iter().any(|operator| model.applies(node, operator)));
        found[value.index()] &= is_probability;
    }
    found
}

/// The values, by index, for which it matters that they are not zero: something divides by them or takes their logarithm, possibly behind
/// operators of some effects. `edges` lead from values to those of other scopes.
fn divisors(model: &Model, edges: &[(ValueId, ValueId)], effects: fn(Effect) -> bool) -> Vec<bool> {
    let mut needed = vec![false; model.value_bound()];
    let mut before = 0;
    loop {
        for &node in model.topological_order().iter().rev() {
            let is_needed = model.outputs(node).any(|(_, output)| needed[output.index()]);
            for (index, input) in model.inputs(node) {
                needed[input.index()] |= needs_nonzero(model, node, index) || (is_needed && has_effect(model, node, effects));
            }
        }
        for (giver, taker) in edges {
            needed[giver.index()] |= needed[taker.index()];
        }
        let count = needed.iter().filter(|needed| **needed).count();
        if count == before {
            return needed;
        }
        before = count;
    }
}

/// Whether a node divides by an input, or takes its logarithm.
fn needs_nonzero(model: &Model, node: NodeId, index: u32) -> bool {
    let operator = model.node(node).op_type();
    let needs = match operator {
        "Div" => index == 1,
        "Log" | "Reciprocal" | "Pow" => index == 0,
        _ => false,
    };
    needs && model.applies(node, operator)
}

/// Whether the effect of a node is one of some.
fn has_effect(model: &Model, node: NodeId, effects: fn(Effect) -> bool) -> bool {
    let operator = model.node(node).op_type();
    effect(operator).is_some_and(effects) && model.applies(node, operator)
}
