//! The initializers of a graph: which may be missing, and what new ones are like.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::matching::Matching;
use super::new_messages::NewMessages;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{Body, Model, NonNodeUse, Origin, ScopeId, ValueId};
use crate::protobuf::ir_version::OWN_INITIALIZERS;

/// By scope of the written model: values that annotations or training bindings name, and that are
/// missing.
pub(super) fn missing(matching: &Matching) -> HashMap<ScopeId, Vec<Fault>> {
    let original = matching.original;
    let mut used_elsewhere: HashMap<ScopeId, Vec<&str>> = HashMap::default();
    for value in original.values().filter(|&value| {
        matches!(
            original.non_node_use(value),
            Some(NonNodeUse::Annotated | NonNodeUse::Trained)
        )
    }) {
        used_elsewhere
            .entry(original.scope_of(value))
            .or_default()
            .push(original.name(value));
    }
    let mut faults = HashMap::default();
    for (scope, counterpart) in matching.scopes() {
        let Some(names) = counterpart.and_then(|counterpart| used_elsewhere.get(&counterpart))
        else {
            continue;
        };
        let missing = names
            .iter()
            .filter(|name| matching.written.defined(scope, name).is_none());
        let path = matching.written.scope_path(scope);
        let fault = |name: &&str| {
            Fault::at(
                format!("{path}/{name}"),
                "was removed, but an annotation or binding names it",
            )
        };
        faults.insert(scope, missing.map(fault).collect());
    }
    faults
}

/// The faults of new initializers: a message with other fields than passes write, no use, or a
/// position before the initializers of the original.
pub(super) fn added(
    new_messages: &NewMessages,
    matching: &Matching,
    scope: ScopeId,
    counterpart: ScopeId,
) -> Vec<Fault> {
    let (written, original) = (matching.written, matching.original);
    let (Body::Graph(graph), Body::Graph(before)) =
        (written.body(scope), original.body(counterpart))
    else {
        return Vec::new();
    };
    let path = written.scope_path(scope);
    let is_old = |name: &str| {
        let value = original.defined(counterpart, name);
        value.is_some_and(|value| matches!(original.origin(value), Origin::Initializer { .. }))
    };
    let mut faults = Vec::new();
    let (mut is_new_seen, mut new) = (false, BTreeMap::new());
    for tensor in &graph.initializer {
        if is_old(tensor.name()) {
            if is_new_seen {
                faults.push(Fault::at(
                    format!("{path}/{}", tensor.name()),
                    "was put behind new initializers",
                ));
            }
            continue;
        }
        is_new_seen = true;
        faults.extend(new_messages.initializer(scope, tensor));
        if written
            .defined(scope, tensor.name())
            .is_none_or(|value| !is_used(written, value))
        {
            faults.push(Fault::at(
                format!("{path}/{}", tensor.name()),
                "was added, but nothing uses it",
            ));
        }
        new.insert(tensor.name(), tensor);
    }
    let known: HashSet<&str> = before.input.iter().map(|input| input.name()).collect();
    let listed: HashSet<&str> = graph.input.iter().map(|input| input.name()).collect();
    let inputs = before.input.iter().map(|input| input.name());
    let unlisted =
        inputs.filter(|name| !listed.contains(name) && written.defined(scope, name).is_some());
    faults.extend(unlisted.map(|name| Fault::at(format!("{path}.input[{name}]"), "was removed")));
    let mut is_new_seen = false;
    for input in &graph.input {
        if known.contains(input.name()) {
            if is_new_seen {
                faults.push(Fault::at(
                    format!("{path}.input[{}]", input.name()),
                    "was put behind new inputs",
                ));
            }
            continue;
        }
        is_new_seen = true;
        match new.remove(input.name()) {
            Some(tensor) if written.ir_version() < OWN_INITIALIZERS => {
                faults.extend(new_messages.listed(scope, tensor, input))
            }
            _ => faults.push(Fault::at(
                format!("{path}.input[{}]", input.name()),
                "was added",
            )),
        }
    }
    if written.ir_version() < OWN_INITIALIZERS {
        let unlisted = new.keys().map(|name| {
            Fault::at(
                format!("{path}/{name}"),
                "is not an input, as this IR version requires",
            )
        });
        faults.extend(unlisted);
    }
    faults
}

/// Whether anything uses a value.
pub(super) fn is_used(model: &Model, value: ValueId) -> bool {
    model.uses(value).next().is_some()
        || !model.scopes_that_output(value).is_empty()
        || model.non_node_use(value).is_some()
}
