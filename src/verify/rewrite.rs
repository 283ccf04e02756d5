//! Verification of what passes made of a model.

use super::effects::may_have_effects;
use super::equality::Equality;
use super::fault::Fault;
use super::matching::Matching;
use super::new_messages::NewMessages;
use super::terms::Terms;
use super::unchanged_fields::{compare_models, of_passes};
use super::verified::Verified;
use super::{constants, declared, order, value_fields};
use crate::base::hash::HashMap;
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::graph::{Model, NodeId, Origin, ScopeId, ValueId};
use crate::ops::inference::Deferred;
use crate::passes::Options;

/// The number of nodes that are compared by one thread before the next ones are by another.
const NEIGHBOURS: Threshold = Threshold::new("nodes that one thread compares", 1 << 8);

/// `before` are the types and shapes of the original, which may have been inferred.
pub(super) fn verify(
    [original, written]: [&Model; 2],
    before: &Deferred,
    options: &Options,
    is_lossy: bool,
) -> (Verified, Vec<Fault>) {
    let after = Deferred::with(options.contested);
    let inferred = [before, &after];
    let (matched, mut faults) = parallel::join_here(
        || matched([original, written], inferred, options, is_lossy),
        || as_a_whole(original, written),
    );
    let (verified, of_matched) = matched;
    faults.extend(of_matched);
    (verified, faults)
}

/// Faults of the models as a whole.
fn as_a_whole(original: &Model, written: &Model) -> Vec<Fault> {
    let mut faults = compare_models(original, written, of_passes);
    faults.extend(value_fields::ambiguous(original, written));
    faults
}

/// Faults of what has a counterpart in the original, or should have one.
fn matched(
    [original, written]: [&Model; 2],
    inferred: [&Deferred; 2],
    options: &Options,
    is_lossy: bool,
) -> (Verified, Vec<Fault>) {
    let matching = Matching::by_operators(original, written);
    let new_messages = NewMessages::new(&matching);
    let (by_terms, others) = parallel::join_here(
        || by_terms(&matching, inferred, &new_messages, options, is_lossy),
        || others(&matching, &new_messages),
    );
    let (verified, mut faults, scopes) = by_terms;
    for (of_terms, of_others) in scopes.into_iter().zip(others) {
        let ([nodes, declared, outputs], [order, others]) = (of_terms, of_others);
        faults.extend(
            [nodes, order, declared, others, outputs]
                .into_iter()
                .flatten(),
        );
    }
    (verified, faults)
}

/// The faults that terms show: by name for values, and by scope for nodes, declarations and
/// outputs.
fn by_terms(
    matching: &Matching,
    inferred: [&Deferred; 2],
    new_messages: &NewMessages,
    options: &Options,
    is_lossy: bool,
) -> (Verified, Vec<Fault>, Vec<[Vec<Fault>; 3]>) {
    let terms = Terms::new(matching, inferred, is_lossy);
    let exact = is_lossy.then(|| Terms::new(matching, inferred, false));
    let of_terms = || {
        let exact = exact
            .as_ref()
            .map(|terms| Equality::new(terms, new_messages, *options));
        Equality::new(&terms, new_messages, *options).or(exact)
    };
    let half = |(values, nodes): (Vec<ValueId>, Vec<NodeId>)| {
        let mut equality = of_terms();
        let named = equality.named(&values);
        let of_nodes: Vec<(NodeId, Vec<Fault>)> = nodes
            .into_iter()
            .map(|node| (node, equality.node(node)))
            .filter(|(_, faults)| !faults.is_empty())
            .collect();
        (equality, named, of_nodes)
    };
    let [first, last] = in_halves(matching);
    let ((mut equality, mut named, mut of_nodes), others) =
        parallel::join(|| half(first), || half(last));
    equality.extend(others.0);
    named.extend(others.1);
    of_nodes.extend(others.2);
    of_nodes.sort_by_key(|(node, _)| node.position);
    let mut by_scope: HashMap<ScopeId, Vec<Fault>> = HashMap::default();
    for (node, faults) in of_nodes {
        by_scope.entry(node.scope).or_default().extend(faults);
    }
    let mut verified = Verified::default();
    let mut scopes = Vec::new();
    for (scope, counterpart) in matching.scopes() {
        let Some(counterpart) = counterpart else {
            scopes.push(Default::default());
            continue;
        };
        verified.nodes += matching.written.nodes(scope).len();
        scopes.push([
            by_scope.remove(&scope).unwrap_or_default(),
            declared::compare(&terms, scope, counterpart),
            equality.outputs(scope, counterpart),
        ]);
    }
    equality.count(&mut verified);
    (verified, named, scopes)
}

/// The values and the nodes of the written model that have a counterpart, for two threads: those
/// of neighbours for the same one, since one usually is computed from the other, and values for the
/// one that compares the node that computes them, or one that uses them.
fn in_halves(matching: &Matching) -> [(Vec<ValueId>, Vec<NodeId>); 2] {
    let written = matching.written;
    let half_of = |node: NodeId| node.position as usize / NEIGHBOURS.get() % 2;
    let mut halves = [(); 2].map(|()| (Vec::new(), Vec::new()));
    // Constants come before results.
    for value in written.values() {
        let node = written
            .producer(value)
            .or_else(|| written.uses(value).next().map(|(node, _)| node));
        halves[node.map_or(0, half_of)].0.push(value);
    }
    let scopes = matching.scopes();
    for (scope, _) in scopes.filter(|(_, counterpart)| counterpart.is_some()) {
        for node in written.nodes(scope) {
            halves[half_of(node)].1.push(node);
        }
    }
    halves
}

/// Faults by scope: of the order of nodes, and others.
fn others(matching: &Matching, new_messages: &NewMessages) -> Vec<[Vec<Fault>; 2]> {
    let mut missing = constants::missing(matching);
    let of_scope = |(scope, counterpart): (ScopeId, Option<ScopeId>)| {
        let Some(counterpart) = counterpart else {
            return [
                vec![Fault::at(
                    matching.written.scope_path(scope),
                    "the original has no such scope",
                )],
                Vec::new(),
            ];
        };
        let mut others = missing.remove(&scope).unwrap_or_default();
        others.extend(constants::added(new_messages, matching, scope, counterpart));
        others.extend(inputs(matching, scope, counterpart));
        others.extend(missing_effects(matching, scope, counterpart));
        [
            order::compare(matching, new_messages, scope, counterpart),
            others,
        ]
    };
    matching.scopes().map(of_scope).collect()
}

/// Whether the inputs are the same, apart from initializers that are listed as inputs before IR 4.
fn inputs(matching: &Matching, scope: ScopeId, counterpart: ScopeId) -> Option<Fault> {
    let inputs = |model: &'_ Model, scope| {
        let is_input = |name: &&str| {
            let value = model.defined(scope, name);
            value.is_none_or(|value| {
                matches!(model.origin(value), Origin::Input(_)) || model.is_overridable(value)
            })
        };
        model
            .body(scope)
            .input_names()
            .filter(is_input)
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let (found, expected) = (
        inputs(matching.written, scope),
        inputs(matching.original, counterpart),
    );
    (found != expected).then(|| {
        let path = matching.written.scope_path(scope);
        Fault::at(
            path,
            format!(
                "the inputs are '{}'; must be '{}'",
                found.join("', '"),
                expected.join("', '")
            ),
        )
    })
}

/// Nodes without results that are missing, and may have effects.
fn missing_effects(matching: &Matching, scope: ScopeId, counterpart: ScopeId) -> Option<Fault> {
    let count = |model: &Model, scope| {
        let is_for_effects =
            |&node: &NodeId| model.outputs(node).next().is_none() && may_have_effects(model, node);
        model.nodes(scope).filter(is_for_effects).count()
    };
    let (found, expected) = (
        count(matching.written, scope),
        count(matching.original, counterpart),
    );
    (found != expected).then(|| {
        let what = format!("has {found} nodes without results; the original has {expected}");
        Fault::at(matching.written.scope_path(scope), what)
    })
}
