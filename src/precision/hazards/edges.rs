//! Where values enter and leave the bodies of control flow and functions.

use super::super::types::{Types, Variable};
use super::super::uses::User;
use crate::base::hash::HashMap;
use crate::graph::ValueId;

/// Pairs of values: the numbers of the first are some of those of the second, which is in another
/// scope.
///
/// Each use at such a place has a variable of its own, which constraints make equal to the values
/// behind it.
pub fn edges(types: &Types) -> Vec<(ValueId, ValueId)> {
    let model = types.model;
    // There is one scope only.
    if model.scopes().nth(1).is_none() {
        return Vec::new();
    }
    let bodies = model.subgraphs();
    let mut givers: HashMap<Variable, Vec<ValueId>> = HashMap::default();
    for used in types.uses.iter() {
        let crosses = match used.user {
            User::Output(..) => true,
            User::Input(node, _) => bodies.contains_key(&node) || model.callee(node).is_some(),
        };
        if crosses {
            givers.entry(used.variable).or_default().push(used.value);
        }
    }
    if givers.is_empty() {
        return Vec::new();
    }
    // The first variables are those of the values.
    let values: Vec<ValueId> = model.values().collect();
    // The variable of an argument of a function is that of the function's input.
    let own = model
        .values()
        .map(|value| (value.index() as Variable, value));
    let equal = types
        .equal
        .iter()
        .filter_map(|(value, variable)| Some((*variable, *values.get(*value as usize)?)));
    let mut edges: Vec<(ValueId, ValueId)> = own
        .chain(equal)
        .flat_map(|(variable, taker)| {
            givers
                .get(&variable)
                .into_iter()
                .flatten()
                .map(move |giver| (*giver, taker))
        })
        .filter(|(giver, taker)| giver != taker)
        .collect();
    edges.sort_unstable_by_key(|(giver, taker)| (giver.index(), taker.index()));
    edges.dedup();
    edges
}
