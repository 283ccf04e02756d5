//! The states of all values of a model.

use super::effects::NodeEffects;
use super::interval::Interval;
use super::numbers::Constants;
use super::state::State;
use super::transfer::WalkData;
use crate::graph::{Model, ValueId};
use crate::ops::inference::Inferred;

/// The most walks: states of values that enter a body only grow, so that fewer suffice.
const MOST_WALKS: usize = 64;

/// The states of all values, by index. `edges` lead from values to those of other scopes.
pub fn states(
    model: &Model,
    effects: &NodeEffects,
    inferred: &Inferred,
    numbers: &Constants,
    range: Interval,
    edges: &[(ValueId, ValueId)],
) -> Vec<State> {
    let mut states = vec![State::PLAIN; model.value_count()];
    for value in model.values() {
        let of_type = || inferred.of(value).dtype().map(State::of_type);
        states[value.index()] = numbers.of(value).or_else(of_type).unwrap_or(State::PLAIN);
    }
    let mut is_given = vec![false; model.value_count()];
    for (_, taker) in edges {
        is_given[taker.index()] = true;
    }
    for _ in 0..MOST_WALKS {
        for &node in model.topological_order() {
            for (index, output) in model
                .outputs(node)
                .filter(|(_, output)| !numbers.is_constant(*output))
            {
                // Results of calls and of control flow get their states from bodies.
                if !is_given[output.index()] {
                    states[output.index()] = WalkData {
                        model,
                        effects,
                        inferred,
                        numbers,
                        states: &states,
                        range,
                    }
                    .result(node, output, index);
                }
            }
        }
        let mut is_changed = false;
        for (giver, taker) in edges {
            let joined = states[taker.index()]
                .or(states[giver.index()])
                .with(Interval::ALL);
            is_changed |= joined != states[taker.index()];
            states[taker.index()] = joined;
        }
        if !is_changed {
            break;
        }
    }
    states
}
