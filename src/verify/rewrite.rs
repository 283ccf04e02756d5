//! Verification of what passes made of a model.

use super::effects::may_have_effects;
use super::equality::Equality;
use super::fault::Fault;
use super::matching::Matching;
use super::new_messages::NewMessages;
use super::terms::Terms;
use super::unchanged_fields::{compare_models, of_passes};
use super::verified::Verified;
use super::{constants, declared, order, storage};
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::graph::{Model, NodeId, Origin, ScopeId, ValueId};
use crate::passes::Options;

/// The number of values that are compared by one thread before the next ones are by another.
const NEIGHBOURS: Threshold = Threshold::new("values that one thread compares", 1 << 8);

pub(super) fn verify(
    original: &Model,
    written: &Model,
    options: &Options,
    is_lossy: bool,
) -> (Verified, Vec<Fault>) {
    let matching = Matching::by_operators(original, written);
    let new_messages = NewMessages::new(&matching);
    let (by_terms, others) = parallel::join_here(
        || by_terms(&matching, &new_messages, options, is_lossy),
        || others(&matching, &new_messages),
    );
    let (verified, named, scopes) = by_terms;
    let (mut faults, others) = others;
    faults.extend(named);
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
    new_messages: &NewMessages,
    options: &Options,
    is_lossy: bool,
) -> (Verified, Vec<Fault>, Vec<[Vec<Fault>; 3]>) {
    let terms = Terms::new(matching, is_lossy, options.contested);
    let exact = is_lossy.then(|| Terms::new(matching, false, options.contested));
    let of_terms = || {
        let exact = exact
            .as_ref()
            .map(|terms| Equality::new(terms, new_messages, *options));
        Equality::new(&terms, new_messages, *options).or(exact)
    };
    // Of neighbours, one usually is computed from the other. Constants come before results.
    let (mut halves, mut is_last) = ([Vec::new(), Vec::new()], false);
    for (index, value) in matching.written.values().enumerate() {
        is_last ^= index.is_multiple_of(NEIGHBOURS.get());
        halves[usize::from(is_last)].push(value);
    }
    let [first, last] = halves;
    let named = |values: Vec<ValueId>| {
        let mut equality = of_terms();
        let faults = equality.named(&values);
        (equality, faults)
    };
    let ((mut equality, mut named), (others, of_others)) =
        parallel::join(|| named(first), || named(last));
    equality.extend(others);
    named.extend(of_others);
    let mut verified = Verified::default();
    let mut scopes = Vec::new();
    for (scope, counterpart) in matching.scopes() {
        let Some(counterpart) = counterpart else {
            scopes.push(Default::default());
            continue;
        };
        let nodes = matching.written.nodes(scope);
        verified.nodes += nodes.len();
        let nodes = nodes.flat_map(|node| equality.node(node)).collect();
        scopes.push([
            nodes,
            declared::compare(&terms, scope, counterpart),
            equality.outputs(scope, counterpart),
        ]);
    }
    equality.count(&mut verified);
    (verified, named, scopes)
}

/// Faults of the models as a whole and, by scope, of the order of nodes, and others.
fn others(matching: &Matching, new_messages: &NewMessages) -> (Vec<Fault>, Vec<[Vec<Fault>; 2]>) {
    let (original, written) = (matching.original, matching.written);
    let mut faults = compare_models(original, written, of_passes);
    faults.extend(storage::ambiguous(original, written));
    let mut missing = constants::missing(matching);
    let of_scope = |(scope, counterpart): (ScopeId, Option<ScopeId>)| {
        let Some(counterpart) = counterpart else {
            return [
                vec![Fault::at(
                    written.scope_path(scope),
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
    (faults, matching.scopes().map(of_scope).collect())
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
