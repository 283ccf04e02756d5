//! Divisors and arguments of logarithms, which must not become zero.

use super::backward::marked_before;
use super::effects::{Effect, NodeEffects};
use crate::graph::{Model, ValueId};
use crate::precision::rules::{needs_nonzero, operator};

/// The values, by index, that a guard keeps from zero if there is one: divisors and arguments of
/// logarithms, also before they are moved, added to, or their root is taken.
pub fn guarded(model: &Model, effects: &NodeEffects, edges: &[(ValueId, ValueId)]) -> Vec<bool> {
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
    divisors(model, effects, edges, keeps_guard)
}

/// The values, by index, that are probabilities of which the logarithm is taken, or by which
/// something is divided, without a guard.
pub fn probabilities(
    model: &Model,
    effects: &NodeEffects,
    edges: &[(ValueId, ValueId)],
) -> Vec<bool> {
    let moves = |effect: Effect| matches!(effect, Effect::Moves | Effect::Root | Effect::Casts);
    let mut found = divisors(model, effects, edges, moves);
    for value in model.values() {
        let is_probability = model
            .producer(value)
            .is_some_and(|node| matches!(operator(model, node), "Softmax" | "Sigmoid" | "Exp"));
        found[value.index()] &= is_probability;
    }
    found
}

/// The values, by index, for which it matters that they are not zero: something divides by them or
/// takes their logarithm, possibly behind operators of some effects. `edges` lead from values to
/// those of other scopes.
fn divisors(
    model: &Model,
    effects: &NodeEffects,
    edges: &[(ValueId, ValueId)],
    carries: fn(Effect) -> bool,
) -> Vec<bool> {
    let mut divisors = vec![false; model.value_count()];
    for &node in model.topological_order() {
        let operator = operator(model, node);
        // The root of zero is zero; what divides by it decides.
        if operator == "Sqrt" {
            continue;
        }
        for (index, input) in model.inputs(node) {
            divisors[input.index()] |= needs_nonzero(operator, index);
        }
    }
    marked_before(
        model,
        edges,
        divisors,
        |node| effects.of(node).is_some_and(carries),
        |_| true,
    )
}
