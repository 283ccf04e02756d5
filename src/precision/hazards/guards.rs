//! Divisors and arguments of logarithms, which must not become zero.

use super::backward::marked_before;
use super::effects::{Effect, NodeEffects};
use crate::graph::{Model, NodeId, ValueId};
use crate::precision::operators::Operators;
use crate::precision::rules::nonzero_input;

/// The values, by index, that a guard keeps from zero if there is one: `divisors`, also before they
/// are moved, added to, or their root is taken. `edges` lead from values to those of other scopes.
pub fn guarded(
    model: &Model,
    effects: &NodeEffects,
    edges: &[(ValueId, ValueId)],
    divisors: Vec<bool>,
) -> Vec<bool> {
    let keeps_guard = |node: NodeId| {
        matches!(
            effects.of_node(node),
            Some(
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
        )
    };
    marked_before(model, edges, divisors, keeps_guard, |_| true)
}

/// The values, by index, that are probabilities of which the logarithm is taken, or by which
/// something is divided, without a guard.
pub fn probabilities(
    model: &Model,
    effects: &NodeEffects,
    edges: &[(ValueId, ValueId)],
    divisors: Vec<bool>,
) -> Vec<bool> {
    let moves = |node: NodeId| {
        matches!(
            effects.of_node(node),
            Some(Effect::Moves | Effect::Root | Effect::Casts)
        )
    };
    let mut found = marked_before(model, edges, divisors, moves, |_| true);
    let is_probability = |node: NodeId| {
        matches!(
            effects.operators.of(node).name,
            "Softmax" | "Sigmoid" | "Exp"
        )
    };
    for value in model.values() {
        let is_found = &mut found[value.index()];
        *is_found = *is_found && model.producer(value).is_some_and(is_probability);
    }
    found
}

/// The values, by index, by which something divides, or of which the logarithm is taken.
pub fn divisors(model: &Model, operators: &Operators) -> Vec<bool> {
    let mut divisors = vec![false; model.value_count()];
    for &node in model.topological_order() {
        let operator = operators.of(node).name;
        // The root of zero is zero; what divides by it decides.
        let input = nonzero_input(operator).filter(|_| operator != "Sqrt");
        if let Some(input) = input.and_then(|index| model.input(node, index)) {
            divisors[input.index()] = true;
        }
    }
    divisors
}
