//! The common part of the passes `fold-casts` and `fold-constants`: the edits and events of the
//! decisions of [`crate::casts::folding`].

use super::event::{ComputedNode, Event, Folded, KeptNode, Removed};
use super::pass::Plan;
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::HashMap;
use crate::base::parallel;
use crate::base::reason::Reason;
use crate::casts::folding::{self, Extent, Options};
use crate::graph::{Model, NodeId, ScopeId};

pub(super) fn plan(model: &Model, options: &Options, extent: Extent) -> Result<Plan, Invalid> {
    let decisions = folding::decide(model, options, extent);
    if let Some(invalid) = decisions.invalid() {
        return Err(invalid.clone());
    }
    let mut folds: Vec<&folding::Fold> = decisions.folds().iter().collect();
    folds.sort_by_key(|fold| fold.node);
    let folded = folds.into_iter().map(|fold| {
        let proto = model.node(fold.node);
        let (node, scope) = (
            model.node_path(fold.node),
            model.scope_path(fold.node.scope),
        );
        let output = fold
            .output
            .map_or_else(String::new, |output| model.name(output).to_owned());
        let (to, elements) = (fold.content.dtype(), fold.content.elements() as u64);
        if let Some(from) = fold.from {
            let input = proto.input.first().cloned().unwrap_or_default();
            Event::Folded(Box::new(Folded {
                node,
                scope,
                input,
                output,
                from,
                to,
                elements,
            }))
        } else {
            let op = proto.op_type().to_owned();
            Event::Computed(Box::new(ComputedNode {
                node,
                scope,
                op,
                output,
                r#type: to,
                elements,
            }))
        }
    });
    let gone = decisions.removed();
    let kept = decisions
        .kept()
        .iter()
        .filter(|(node, _)| gone.nodes.binary_search(node).is_err())
        .collect();
    let reason = removal::used_by_folded_nodes();
    let removed_nodes = gone.nodes.iter().map(|&node| Event::RemovedNode {
        node: model.node_path(node),
        reason: reason.clone(),
    });
    let removed = gone
        .constants
        .iter()
        .map(|&value| Event::RemovedConstant(Removed::of(model, value, reason.clone())));
    let mut events: Vec<Event> = folded.collect();
    parallel::extend_each(&mut events, kept, |(node, why): &(NodeId, Reason)| {
        Event::Kept(KeptNode::new(model, *node, why.clone()))
    });
    events.extend(removed_nodes.chain(removed));
    Ok(Plan {
        edits: decisions.into_edits(&gone),
        events,
    })
}

/// A folded value is constant if its name still exists, and a removed constant is not defined.
pub(super) fn ensures(model: &Model, events: &[Event]) -> Result<(), String> {
    // Events name scopes by paths. Two scopes have the same path if their nodes have the same name,
    // and the path of a node without a name has its position, which changes when nodes before it
    // are removed: such paths identify no scope.
    let mut scopes: HashMap<String, Option<ScopeId>> = HashMap::default();
    let is_named = |scope: &ScopeId| !model.scope_path(*scope).contains("/#");
    for scope in model.scopes().filter(is_named) {
        scopes
            .entry(model.scope_path(scope))
            .and_modify(|known| *known = None)
            .or_insert(Some(scope));
    }
    let defined = |scope: &str, name: &str| {
        // An output without a name defines nothing; an input of the graph may have an empty name.
        let scope = scopes
            .get(scope)
            .copied()
            .flatten()
            .filter(|_| !name.is_empty())?;
        model.defined(scope, name)
    };
    for event in events {
        let (scope, output) = match event {
            Event::Folded(folded) => (&folded.scope, &folded.output),
            Event::Computed(computed) => (&computed.scope, &computed.output),
            Event::RemovedConstant(removed) if defined(&removed.scope, &removed.name).is_some() => {
                return Err(format!(
                    "{} was removed but is still defined",
                    removed.path()
                ));
            }
            _ => continue,
        };
        if let Some(Err(reason)) = defined(scope, output).map(|value| model.constant(value)) {
            return Err(format!(
                "{scope}/{output} was folded but is not constant: {reason}"
            ));
        }
    }
    Ok(())
}
