//! Scales of quantization that the model computes: their products are small, and move the whole
//! grid of the integers that they scale.

use super::effects::{Effect, NodeEffects};
use super::numbers::Constants;
use crate::graph::{Model, ValueId};

/// The operator that computes scales.
const DYNAMIC: &str = "DynamicQuantizeLinear";

/// The values, by index, that are scales of `DynamicQuantizeLinear`, or products of them and
/// constants.
pub fn scales(model: &Model, effects: &NodeEffects, numbers: &Constants) -> Vec<bool> {
    let mut scales = vec![false; model.value_count()];
    if !effects.operators.has(&[DYNAMIC]) {
        return scales;
    }
    for &node in model.topological_order() {
        let is_product = matches!(
            effects.of_node(node),
            Some(Effect::Multiplies | Effect::Divides | Effect::Moves)
        );
        let index = if is_product {
            let is_scale = |input: ValueId| scales[input.index()];
            let inputs = || model.inputs(node).map(|(_, input)| input);
            let is_of_scales = inputs().all(|input| is_scale(input) || numbers.is_constant(input))
                && inputs().any(is_scale);
            is_of_scales.then_some(0)
        } else {
            (effects.operators.of(node).name == DYNAMIC).then_some(1)
        };
        if let Some(scale) = index.and_then(|index| model.output(node, index)) {
            scales[scale.index()] = true;
        }
    }
    scales
}
