//! Functions that are called with several lists of types: each list gets a copy, in which the types
//! are known.

use std::collections::BTreeSet;

use super::NodeChange;
use crate::graph::{Body, Edit, Model, NodeId, ScopeId, ScopeKind, domain_name};
use crate::ops::inference::{Inferred, infer_with};
use crate::ops::schemas::{ValueType, canonical_domain, versions};
use crate::protobuf::schema::FunctionProto;
use onnx_cast::Contested;

/// The most copies of all functions of a model.
const MOST_COPIES: usize = 64;

/// A model in which functions were copied.
pub(super) struct Copied {
    pub model: Model,
    /// The edits that lead to it, one batch after the other.
    pub batches: Vec<Vec<Edit>>,
    /// The calls that call a copy.
    pub changes: Vec<NodeChange>,
}

/// Domain, name and overload of a function.
type Identity = (String, String, String);

/// Copies functions, and those that call them, until the calls of each have the same types. None if
/// they have already, or that takes too many copies.
pub(super) fn copied(
    model: &Model,
    contested: Option<Contested>,
    functions: &BTreeSet<ScopeId>,
) -> Option<Copied> {
    let mut wanted = with_callers(model, functions);
    let mut copied = Copied {
        model: model.clone(),
        batches: Vec::new(),
        changes: Vec::new(),
    };
    while copied.batches.len() < MOST_COPIES {
        let current = &copied.model;
        let inferred = infer_with(current, contested);
        let differing = current.scopes().find_map(|scope| {
            let proto = function(current, scope)?;
            let calls = calls_of_other_types(current, &inferred, scope)?;
            wanted
                .contains(&identity(proto))
                .then_some((scope, proto, calls))
        });
        let Some((_, proto, calls)) = differing else {
            return Some(copied).filter(|copied| !copied.batches.is_empty());
        };
        let mut copy = proto.clone();
        let name = free_name(current, proto);
        copy.name = Some(name.clone());
        wanted.insert(identity(&copy));
        let mut edits = vec![Edit::AddFunction(Box::new(copy))];
        for &call in &calls {
            let mut node = current.node(call).clone();
            node.op_type = Some(name.clone());
            edits.push(Edit::replace_node(call, vec![node]));
        }
        let domain = domain_name(proto.domain());
        let changes = calls.iter().map(|&call| NodeChange {
            node: current.node_path(call).into(),
            op: proto.name().into(),
            what: format!("calls {domain}.{name}, a copy of the function for these types").into(),
        });
        copied.changes.extend(changes);
        copied.model = current.clone().with_edits(edits.clone()).ok()?;
        copied.batches.push(edits);
    }
    None
}

fn function(model: &Model, scope: ScopeId) -> Option<&FunctionProto> {
    match (model.scope_kind(scope), model.body(scope)) {
        (ScopeKind::Function(_), Body::Function(proto)) => Some(proto),
        _ => None,
    }
}

fn identity(function: &FunctionProto) -> Identity {
    (
        canonical_domain(function.domain()).to_owned(),
        function.name().to_owned(),
        function.overload().to_owned(),
    )
}

/// These functions, and those that call them, at any depth.
fn with_callers(model: &Model, functions: &BTreeSet<ScopeId>) -> BTreeSet<Identity> {
    let mut found: BTreeSet<ScopeId> = BTreeSet::new();
    let mut waiting: Vec<ScopeId> = functions.iter().copied().collect();
    while let Some(scope) = waiting.pop() {
        if function(model, scope).is_some() && found.insert(scope) {
            let callers = model.callers(scope).iter();
            waiting.extend(callers.map(|call| model.root(call.scope)));
        }
    }
    found
        .into_iter()
        .filter_map(|scope| function(model, scope).map(identity))
        .collect()
}

/// The calls of a function whose inputs have the types of the second list, if there are several
/// lists and all types are known. Calls in functions that no graph calls do not count.
fn calls_of_other_types(
    model: &Model,
    inferred: &Inferred,
    function: ScopeId,
) -> Option<Vec<NodeId>> {
    let is_in_graph = |call: &&NodeId| match model.scope_kind(model.root(call.scope)) {
        ScopeKind::Function(_) => inferred.is_called(model.root(call.scope)),
        _ => true,
    };
    let types = |call: NodeId| -> Option<Vec<(u32, ValueType)>> {
        let inputs = model.inputs(call);
        inputs
            .map(|(index, value)| Some((index, inferred.of(value).value_type?)))
            .collect()
    };
    let calls = model.callers(function).iter().filter(is_in_graph);
    let calls: Vec<_> = calls
        .map(|&call| Some((call, types(call)?)))
        .collect::<Option<_>>()?;
    let (_, first) = calls.first()?;
    let (_, second) = calls.iter().find(|(_, types)| types != first)?;
    let others = calls.iter().filter(|(_, types)| types == second);
    Some(others.map(|&(call, _)| call).collect())
}

/// The name of the function with a number, which no function or operator of its domain has.
fn free_name(model: &Model, copied: &FunctionProto) -> String {
    let is_taken = |name: &str| {
        let is_same = |scope| {
            function(model, scope)
                .is_some_and(|known| (known.domain(), known.name()) == (copied.domain(), name))
        };
        model.scopes().any(is_same) || !versions(canonical_domain(copied.domain()), name).is_empty()
    };
    let mut names = (2..).map(|number: u64| format!("{}_{number}", copied.name()));
    names.find(|name| !is_taken(name)).unwrap_or_default()
}
