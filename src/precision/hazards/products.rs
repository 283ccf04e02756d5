//! Products that are added to squares: if the squares of the numbers leave the range, the products
//! do so, too.

use super::effects::Effect;
use super::transfer::WalkData;
use crate::graph::ValueId;

/// The values, by index, that are added to squares and are products themselves, as `x * c` is in
/// `x * x - 2 * x * c + c * c`.
pub fn added_to_squares(known: &WalkData) -> Vec<bool> {
    let model = known.model;
    let mut added = vec![false; model.value_count()];
    for &node in model.topological_order() {
        if !matches!(
            known.effects.of_node(node),
            Some(Effect::Adds | Effect::Subtracts)
        ) {
            continue;
        }
        let is_square = |value: ValueId| {
            known
                .state(value)
                .hazard
                .is_some_and(|hazard| !hazard.is_linear())
        };
        if model.outputs(node).any(|(_, output)| is_square(output)) {
            for (_, input) in model.inputs(node).filter(|(_, input)| !is_square(*input)) {
                for value in product(known, input).unwrap_or_default() {
                    added[value.index()] = true;
                }
            }
        }
    }
    added
}

/// The values from a product to this value, if the value consists of elements of the product or of
/// multiples of them, and no other node uses the values between.
fn product(known: &WalkData, value: ValueId) -> Option<Vec<ValueId>> {
    let model = known.model;
    let node = model
        .producer(value)
        .filter(|_| model.uses(value).count() == 1)?;
    let mut values = match known.effects.of_node(node)? {
        Effect::Contracts => Vec::new(),
        Effect::Moves | Effect::Multiplies | Effect::Carries(_) => model
            .inputs(node)
            .find_map(|(_, input)| product(known, input))?,
        _ => return None,
    };
    values.push(value);
    Some(values)
}
