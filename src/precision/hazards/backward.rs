//! What leads to marked values.

use crate::graph::{Model, NodeId, ValueId};

/// Marks, by index, also the values that lead to marked ones: inputs of nodes that carry the mark,
/// and values that are given to other scopes along `edges`, as far as they are admitted.
pub fn marked_before(
    model: &Model,
    edges: &[(ValueId, ValueId)],
    mut marked: Vec<bool>,
    carries: impl Fn(NodeId) -> bool,
    admits: impl Fn(ValueId) -> bool,
) -> Vec<bool> {
    let mut is_changed = marked.contains(&true);
    while is_changed {
        is_changed = false;
        let mut mark = |marked: &mut Vec<bool>, value: ValueId| {
            if !marked[value.index()] && admits(value) {
                marked[value.index()] = true;
                is_changed = true;
            }
        };
        for &node in model.topological_order().iter().rev() {
            if model
                .outputs(node)
                .any(|(_, output)| marked[output.index()])
                && carries(node)
            {
                model
                    .inputs(node)
                    .for_each(|(_, input)| mark(&mut marked, input));
            }
        }
        for (giver, taker) in edges {
            if marked[taker.index()] {
                mark(&mut marked, *giver);
            }
        }
    }
    marked
}
