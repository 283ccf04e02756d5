//! Means, and differences from means, that are squared: their rounding is as large as a
//! variance that is small compared with them.

use super::effects::Effect;
use super::transfer::WalkData;

/// The values, by index, that are means or differences from means, and are squared later.
pub fn squared_means(known: &WalkData) -> Vec<bool> {
    let model = known.model;
    // Forward: means, and values that data movement or subtraction makes of them.
    let mut of_mean = vec![false; model.value_count()];
    if !known.effects.has(|effect| matches!(effect, Effect::Means)) {
        return of_mean;
    }
    for &node in model.topological_order() {
        let is_of_mean = match known.effects.of_node(node) {
            Some(Effect::Means) => true,
            Some(
                Effect::Moves | Effect::Casts | Effect::Subtracts | Effect::Adds | Effect::Absolute,
            ) => model.inputs(node).any(|(_, input)| of_mean[input.index()]),
            _ => false,
        };
        for (_, output) in model.outputs(node) {
            of_mean[output.index()] = is_of_mean;
        }
    }
    // Backward: what is squared.
    let mut squared = vec![false; model.value_count()];
    for &node in model.topological_order().iter().rev() {
        let is_squared = || {
            model
                .outputs(node)
                .any(|(_, output)| squared[output.index()])
        };
        let (first, second) = (model.input(node, 0), model.input(node, 1));
        let leads = match known.effects.of_node(node) {
            Some(Effect::Multiplies) => first == second,
            Some(Effect::Powers) => known.numbers.is_constant_above_one(second),
            Some(Effect::SumsSquares) => true,
            Some(
                Effect::Moves | Effect::Casts | Effect::Subtracts | Effect::Adds | Effect::Absolute,
            ) => is_squared(),
            _ => false,
        };
        if leads {
            for value in model
                .inputs(node)
                .map(|(_, input)| input)
                .filter(|input| of_mean[input.index()])
            {
                squared[value.index()] = true;
            }
        }
    }
    squared
}
