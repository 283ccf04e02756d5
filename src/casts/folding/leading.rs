//! The nodes that lead from constants to casts.

use crate::base::hash::HashSet;
use crate::graph::{Model, NodeId, Origin, ValueId};
use crate::ops::compute::{self, Needs};

/// The bit-exact nodes from which the inputs of casts are computed.
pub(super) fn leading_to_casts(model: &Model) -> HashSet<NodeId> {
    let mut leading = HashSet::default();
    let producer = |value: ValueId| model.producer(value).filter(|&node| !model.is_cast(node));
    let casts = model
        .topological_order()
        .iter()
        .filter(|&&node| model.is_cast(node));
    let mut next: Vec<NodeId> = casts
        .filter_map(|&cast| producer(model.input(cast, 0)?))
        .collect();
    let is_unknown =
        |value: ValueId| matches!(model.origin(value), Origin::Input(_) | Origin::Missing);
    while let Some(node) = next.pop() {
        let Some((operator, _)) = compute::operator(model, node) else {
            continue;
        };
        let is_of_values = operator.needs == Needs::Values;
        if is_of_values && model.inputs(node).any(|(_, value)| is_unknown(value))
            || !leading.insert(node)
        {
            continue;
        }
        next.extend(model.inputs(node).filter_map(|(_, value)| producer(value)));
    }
    leading
}
