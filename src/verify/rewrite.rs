//! Verification of what passes made of a model.

use super::bystanders::{compare_models, of_passes};
use super::effects::may_have_effects;
use super::equality::Equality;
use super::fault::Fault;
use super::made::Made;
use super::pairs::Pairs;
use super::terms::Terms;
use super::verified::Verified;
use super::{constants, declared, order, storage};
use crate::base::parallel;
use crate::graph::{Model, NodeId, Origin, ScopeId};
use crate::passes::Options;

pub(super) fn verify(
    original: &Model,
    written: &Model,
    options: &Options,
    is_lossy: bool,
) -> (Verified, Vec<Fault>) {
    let pairs = Pairs::by_operators(original, written);
    let made = Made::new(&pairs);
    let (by_terms, others) = parallel::beside(
        || by_terms(&pairs, &made, options, is_lossy),
        || others(&pairs, &made),
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

/// What terms show: faults of values by name and, by scope, of nodes, declarations and outputs.
fn by_terms(
    pairs: &Pairs,
    made: &Made,
    options: &Options,
    is_lossy: bool,
) -> (Verified, Vec<Fault>, Vec<[Vec<Fault>; 3]>) {
    let terms = Terms::new(pairs, is_lossy, options.contested);
    let exact = is_lossy.then(|| Terms::new(pairs, false, options.contested));
    let exact = exact
        .as_ref()
        .map(|terms| Equality::new(terms, made, *options));
    let mut equality = Equality::new(&terms, made, *options).or(exact);
    let named = equality.named();
    let mut verified = Verified::default();
    let mut scopes = Vec::new();
    for (scope, counterpart) in pairs.scopes() {
        let Some(counterpart) = counterpart else {
            scopes.push(Default::default());
            continue;
        };
        let nodes = pairs.written.nodes(scope);
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
fn others(pairs: &Pairs, made: &Made) -> (Vec<Fault>, Vec<[Vec<Fault>; 2]>) {
    let (original, written) = (pairs.original, pairs.written);
    let mut faults = compare_models(original, written, of_passes);
    faults.extend(storage::ambiguous(original, written));
    let mut missing = constants::missing(pairs);
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
        others.extend(constants::added(made, pairs, scope, counterpart));
        others.extend(inputs(pairs, scope, counterpart));
        others.extend(missing_effects(pairs, scope, counterpart));
        [order::compare(pairs, made, scope, counterpart), others]
    };
    (faults, pairs.scopes().map(of_scope).collect())
}

/// Whether the inputs are the same, apart from initializers that are listed as inputs before IR 4.
fn inputs(pairs: &Pairs, scope: ScopeId, counterpart: ScopeId) -> Option<Fault> {
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
        inputs(pairs.written, scope),
        inputs(pairs.original, counterpart),
    );
    (found != expected).then(|| {
        let path = pairs.written.scope_path(scope);
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
fn missing_effects(pairs: &Pairs, scope: ScopeId, counterpart: ScopeId) -> Option<Fault> {
    let count = |model: &Model, scope| {
        let is_for_effects =
            |&node: &NodeId| model.outputs(node).next().is_none() && may_have_effects(model, node);
        model.nodes(scope).filter(is_for_effects).count()
    };
    let (found, expected) = (
        count(pairs.written, scope),
        count(pairs.original, counterpart),
    );
    (found != expected).then(|| {
        let what = format!("has {found} nodes without results; the original has {expected}");
        Fault::at(pairs.written.scope_path(scope), what)
    })
}
