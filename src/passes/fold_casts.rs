//! Replaces a `Cast` or `CastLike` of a constant by its result. [`crate::folding`] decides which casts fold, and to which
//! values.

use super::event::{Event, Folded, Kept, Reason, Removed};
use super::pass::{Pass, Plan};
use crate::error::Invalid;
use crate::folding::{self, Options};
use crate::graph::{Model, ScopeId};
use crate::hash::HashMap;

pub(super) const FOLD_CASTS: Pass = Pass {
    name: "fold-casts",
    summary: "replaces a Cast or CastLike of a constant by its result",
    requires: |_| Ok(()),
    plan,
    ensures,
};

fn plan(model: &Model, options: &Options) -> Result<Plan, Invalid> {
    let decisions = folding::decide(model, options);
    if let Some(invalid) = decisions.invalid() {
        return Err(invalid.clone());
    }
    let mut folds: Vec<&folding::Fold> = decisions.folds().iter().collect();
    folds.sort_unstable_by_key(|fold| fold.node);
    let folded = folds.into_iter().map(|fold| {
        let node = model.node(fold.node);
        Event::Folded(Box::new(Folded {
            node: model.node_path(fold.node),
            scope: model.scope_path(fold.node.scope),
            input: node.input.first().cloned().unwrap_or_default(),
            output: node.output.first().cloned().unwrap_or_default(),
            from: fold.from,
            to: fold.content.dtype(),
            elements: fold.content.elements() as u64,
        }))
    });
    let kept = decisions
        .kept()
        .iter()
        .map(|(node, reason)| Event::Kept(Kept { node: model.node_path(*node), reason: Reason::Cast(reason.clone()) }));
    let removed = decisions.removed_constants().into_iter().map(|value| {
        Event::RemovedConstant(Removed { scope: model.scope_path(model.scope_of(value)), name: model.name(value).to_owned() })
    });
    let events = folded.chain(kept).chain(removed).collect();
    Ok(Plan { edits: decisions.into_edits(), events })
}

/// A folded value is constant if its name still exists, and a removed constant is not defined.
fn ensures(model: &Model, events: &[Event]) -> Result<(), String> {
    let scopes: HashMap<String, ScopeId> = model.scopes().map(|scope| (model.scope_path(scope), scope)).collect();
    let defined = |scope: &str, name: &str| {
        let scope = *scopes.get(scope)?;
        model.lookup(scope, name).filter(|&value| model.scope_of(value) == scope)
    };
    for event in events {
        match event {
            Event::Folded(folded) => {
                let Folded { scope, output, .. } = &**folded;
                if let Some(Err(reason)) = defined(scope, output).map(|value| model.constant(value)) {
                    return Err(format!("{scope}/{output} was folded but is not constant: {reason}"));
                }
            }
            Event::RemovedConstant(removed) if defined(&removed.scope, &removed.name).is_some() => {
                return Err(format!("{} was removed but is still defined", removed.path()));
            }
            _ => {}
        }
    }
    Ok(())
}
