//! Faults that no valid model has. A model with one is refused before any adapter sees it: an
//! adapter relies on the inputs of its operator.
//!
//! Only what onnx.checker refuses, or onnxruntime does not load, may be refused here. Neither looks
//! at training graphs.

use petgraph::algo::toposort;
use petgraph::graph::DiGraph;

use crate::base::error::{Invalid, ModelPlace};
use crate::base::hash::{HashMap, HashSet};
use crate::base::parallel;
use crate::base::threshold::Threshold;
use crate::convert::reason::{NodeInvalid, Reason};
use crate::convert::{Blocker, NotConverted, Remedy};
use crate::graph::{
    Body, Model, NodeId, Origin, ScopeId, ScopeKind, ValueId, domain_name, is_onnx_domain,
};
use crate::ops::inference::{Deferred, Inferred, Known};
use crate::ops::schemas::LATEST_OPSET;
use crate::ops::validity::node_fault;

/// Checks the main graph and the functions of a model that is to be converted to an opset; 0 if it
/// stays as it is.
pub(in crate::convert) fn check(
    model: &Model,
    inferred: &Deferred,
    to: i64,
) -> Result<(), NotConverted> {
    functions(model)?;
    let mut invalid: Vec<Blocker> = Vec::new();
    for scope in model.scopes().filter(|&scope| !model.is_training(scope)) {
        let has_known_opset = matches!(model.opset(scope, ""), Some(1..=LATEST_OPSET));
        let check = |(): &(), part: Vec<NodeId>| {
            part.into_iter()
                .try_for_each(|node| check_node(model, node, has_known_opset))
        };
        parallel::try_map_in_batches(
            &mut (),
            model.nodes(scope),
            PART.get(),
            check,
            |(), checked| checked,
        )?;
    }
    expect_defined(model)?;
    model
        .scopes()
        .filter(|&scope| !model.is_training(scope))
        .try_for_each(|scope| initializers(model, scope))?;
    let inferred = inferred.of(model);
    for scope in model.scopes().filter(|&scope| !model.is_training(scope)) {
        let opset = model.opset(scope, "").unwrap_or_default();
        let faults = |_: &_, part: Vec<NodeId>| {
            part.into_iter()
                .filter_map(|node| blocker(model, inferred, node, opset, to))
                .collect::<Vec<_>>()
        };
        parallel::map_in_batches(
            &mut invalid,
            model.nodes(scope),
            PART.get(),
            faults,
            Extend::extend,
        );
    }
    if invalid.is_empty() {
        Ok(())
    } else {
        Err(NotConverted::Blocked {
            from: model.opset(ScopeId::MAIN, ""),
            blockers: invalid,
            nearest: None,
        })
    }
}

/// A node that contradicts its schema, of a scope of an opset.
fn blocker(model: &Model, inferred: &Inferred, id: NodeId, opset: i64, to: i64) -> Option<Blocker> {
    let reason = node_fault(model, inferred, id, to.max(opset))?;
    let op = model.node(id).op_type().to_owned();
    let opset_step = (opset, if to == 0 { opset } else { to });
    Some(Blocker {
        node: model.node_path(id),
        op,
        opset_step,
        reason: Reason::new(NodeInvalid, reason),
    })
}

/// Checks that every name is defined that a model uses outside of its training graphs.
///
/// # Errors
/// The first name that is used and not defined.
pub(crate) fn expect_defined(model: &Model) -> Result<(), Invalid> {
    let mut missing = model
        .values()
        .filter(|&value| model.origin(value) == Origin::Missing);
    missing.try_for_each(|value| undefined(model, value))
}

/// An initializer has the type and shape that are declared for the input of its name.
fn initializers(model: &Model, scope: ScopeId) -> Result<(), Invalid> {
    let Body::Graph(graph) = model.body(scope) else {
        return Ok(());
    };
    if graph.initializer.is_empty() {
        return Ok(());
    }
    for input in &graph.input {
        let initializer = model
            .lookup(scope, input.name())
            .and_then(|value| model.initializer(value));
        let (Some(stored), Some(declared)) = (
            initializer.map(Known::of_tensor),
            input.r#type.as_ref().map(Known::of_type),
        ) else {
            continue;
        };
        if stored.contradicts(&declared) {
            let place = ModelPlace::of_value(&model.scope_path(scope), "initializer", input.name());
            return Err(Invalid::at(
                place,
                format!("the input of its name is declared as {declared}, but it is {stored}"),
            ));
        }
    }
    Ok(())
}

/// The number of nodes per job of a thread.
const PART: Threshold = Threshold::new("part of checked nodes", 4096);

fn check_node(model: &Model, id: NodeId, has_known_opset: bool) -> Result<(), NotConverted> {
    attributes(model, id)?;
    if has_known_opset && is_onnx_domain(model.node(id).domain()) || model.callee(id).is_some() {
        return Ok(());
    }
    opset(model, id)
}

/// A node of ai.onnx is written in an opset that is known. A function imports the domains of all
/// its nodes; for a graph, onnxruntime imports those of which it has operators.
fn opset(model: &Model, id: NodeId) -> Result<(), NotConverted> {
    let node = model.node(id);
    let root = model.root(id.scope);
    if !is_onnx_domain(node.domain()) {
        return match model.body(root) {
            Body::Function(_) if model.opset(root, node.domain()).is_none() => {
                Err(not_imported(model, id, "function").into())
            }
            _ => Ok(()),
        };
    }
    match (model.opset(root, ""), model.body(root)) {
        (Some(1..=LATEST_OPSET), _) => Ok(()),
        (Some(opset), body) => {
            let what = format!(
                "unknown opset {opset} of ai.onnx: this version of recast supports 1 to {LATEST_OPSET}"
            );
            match body {
                Body::Function(_) => Err(Invalid::at(model.scope_place(root), what).into()),
                Body::Graph(_) => Err(Invalid::at("opset_import", what).into()),
            }
        }
        (None, Body::Function(_)) => Err(not_imported(model, id, "function").into()),
        (None, Body::Graph(_)) => Err(NotConverted::Avoidable {
            error: not_imported(model, id, "model"),
            remedy: Remedy::StateOpset,
        }),
    }
}

fn not_imported(model: &Model, id: NodeId, what_imports: &str) -> Invalid {
    let node = model.node(id);
    let domain = domain_name(node.domain());
    let what = format!(
        "{} is an operator of {domain}, which the {what_imports} does not import",
        node.op_type()
    );
    Invalid::at(model.node_place(id), what)
}

/// An attribute is stated once, and refers to one of a function only in a function, as onnx.proto
/// requires.
fn attributes(model: &Model, id: NodeId) -> Result<(), Invalid> {
    let attributes = &model.node(id).attribute;
    let wrong = |what: String| Err(Invalid::at(model.node_place(id), what));
    if attributes.len() > 1
        && let Some(name) = repeated(attributes.iter().map(|attribute| attribute.name()))
    {
        return wrong(format!("the attribute `{name}` is stated twice"));
    }
    let mut references = attributes
        .iter()
        .filter(|attribute| !attribute.tail().ref_attr_name().is_empty());
    match references
        .next()
        .filter(|_| matches!(model.body(model.root(id.scope)), Body::Graph(_)))
    {
        Some(attribute) => {
            let (name, referred) = (attribute.name(), attribute.tail().ref_attr_name());
            wrong(format!(
                "`{name}` refers to the attribute `{referred}` of a function, but the node is not in a function"
            ))
        }
        None => Ok(()),
    }
}

/// The first name that is listed for the second time.
fn repeated<'m>(names: impl IntoIterator<Item = &'m str>) -> Option<&'m str> {
    let mut seen = HashSet::default();
    names.into_iter().find(|name| !seen.insert(*name))
}

/// No two functions have one name, none lists an output or attribute twice, and none calls itself,
/// also not through others.
fn functions(model: &Model) -> Result<(), Invalid> {
    let mut names = HashSet::default();
    let mut calls = DiGraph::new();
    let mut indices = HashMap::default();
    for scope in model.scopes() {
        let (ScopeKind::Function(_), Body::Function(function)) =
            (model.scope_kind(scope), model.body(scope))
        else {
            continue;
        };
        if !names.insert((function.domain(), function.name(), function.overload())) {
            return Err(Invalid::at(
                model.scope_place(scope),
                "another function has the same domain, name and overload",
            ));
        }
        for (what, names) in [
            ("output", &function.output),
            ("attribute", &function.attribute),
        ] {
            if let Some(name) = repeated(names.iter().map(String::as_str)) {
                return Err(Invalid::at(
                    model.scope_place(scope),
                    format!("the function lists the {what} '{name}' twice"),
                ));
            }
        }
        indices.insert(scope, calls.add_node(scope));
    }
    for callee in calls.node_indices() {
        for &caller in model
            .callers(calls[callee])
            .iter()
            .filter_map(|call| indices.get(&model.root(call.scope)))
        {
            calls.add_edge(caller, callee, ());
        }
    }
    let Err(cycle) = toposort(&calls, None) else {
        return Ok(());
    };
    let index = cycle.node_id();
    let what = if calls.contains_edge(index, index) {
        "the function calls itself"
    } else {
        "the function calls itself through other functions"
    };
    Err(Invalid::at(model.scope_place(calls[index]), what))
}

/// A name that nothing defines may be used in training graphs only.
fn undefined(model: &Model, value: ValueId) -> Result<(), Invalid> {
    let name = model.name(value);
    let users = model
        .uses(value)
        .map(|(user, _)| user)
        .filter(|user| !model.is_training(user.scope));
    if let Some(user) = users.min() {
        return Err(Invalid::at(
            model.node_place(user).about_value(name),
            format!("input '{name}' is not defined"),
        ));
    }
    match model
        .scopes_that_output(value)
        .iter()
        .find(|&&scope| !model.is_training(scope))
    {
        Some(&scope) => Err(Invalid::at(
            model.scope_place(scope).about_value(name),
            format!("output '{name}' is not defined"),
        )),
        None => Ok(()),
    }
}
