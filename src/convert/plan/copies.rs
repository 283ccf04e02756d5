//! Functions that are called with several lists of types: each list gets a copy, in which the types
//! are known.

use std::collections::BTreeSet;

use crate::convert::NodeChange;
use crate::graph::{Body, Edit, Model, NodeId, ScopeId, ScopeKind, domain_name};
use crate::ops::inference::{Inferred, infer_with};
use crate::ops::schemas::{ValueType, canonical_domain, versions};
use crate::protobuf::schema::FunctionProto;
use onnx_cast::Contested;

/// The most copies of all functions of a model.
const MOST_COPIES: usize = 64;

/// A model in which functions were copied.
pub(in crate::convert) struct Copied {
    pub model: Model,
    /// The calls that call a copy.
    pub changes: Vec<NodeChange>,
}

/// Domain, name and overload of a function.
type Identity = (String, String, String);

/// Copies functions, and those that call them, until the calls of each have the same types. None if
/// they have already, or that takes too many copies.
pub(in crate::convert) fn copied(
    model: &Model,
    contested: Option<Contested>,
    functions: &BTreeSet<ScopeId>,
) -> Option<Copied> {
    let mut wanted = with_callers(model, functions);
    let mut copied = Copied {
        model: model.clone(),
        changes: Vec::new(),
    };
    for _ in 0..MOST_COPIES {
        let current = &copied.model;
        let inferred = infer_with(current, contested);
        let differing = current.scopes().find_map(|scope| {
            let proto = function(current, scope)?;
            let calls = calls_of_other_types(current, &inferred, scope)?;
            wanted
                .contains(&identity_of(proto))
                .then_some((scope, proto, calls))
        });
        let Some((_, proto, calls)) = differing else {
            return Some(copied).filter(|copied| !copied.changes.is_empty());
        };
        let names = (2..).map(|number: u64| format!("{}_{number}", proto.name()));
        let (edits, name) = copy_for_calls(current, proto, &calls, names);
        wanted.insert(identity(proto.domain(), &name, proto.overload()));
        let domain = domain_name(proto.domain());
        let changes = calls.iter().map(|&call| NodeChange {
            node: current.node_path(call).into(),
            op: proto.name().into(),
            what: format!("calls {domain}.{name}, a copy of the function for these types").into(),
        });
        copied.changes.extend(changes);
        copied.model = current.clone().with_edits(edits).ok()?;
    }
    None
}

/// The edits that give some calls of a function a copy of it, and its name: the first of these that
/// no function or operator of its domain has.
pub(crate) fn copy_for_calls(
    model: &Model,
    function: &FunctionProto,
    calls: &[NodeId],
    mut names: impl Iterator<Item = String>,
) -> (Vec<Edit>, String) {
    let is_same = |scope, name: &str| matches!(model.body(scope), Body::Function(known) if (known.domain(), known.name()) == (function.domain(), name));
    let is_taken = |name: &str| {
        model.scopes().any(|scope| is_same(scope, name))
            || !versions(canonical_domain(function.domain()), name).is_empty()
    };
    let name = names.find(|name| !is_taken(name)).unwrap_or_default();
    let mut copy = function.clone();
    copy.name = Some(name.clone());
    let mut edits = vec![Edit::AddFunction(Box::new(copy))];
    for &call in calls {
        let mut node = model.node(call).clone();
        node.op_type = Some(name.clone());
        edits.push(Edit::replace_node(call, vec![node]));
    }
    (edits, name)
}

fn function(model: &Model, scope: ScopeId) -> Option<&FunctionProto> {
    match (model.scope_kind(scope), model.body(scope)) {
        (ScopeKind::Function(_), Body::Function(proto)) => Some(proto),
        _ => None,
    }
}

fn identity_of(function: &FunctionProto) -> Identity {
    identity(function.domain(), function.name(), function.overload())
}

fn identity(domain: &str, name: &str, overload: &str) -> Identity {
    (
        canonical_domain(domain).to_owned(),
        name.to_owned(),
        overload.to_owned(),
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
        .filter_map(|scope| function(model, scope).map(identity_of))
        .collect()
}

/// The calls of a function whose inputs have the types of the second list, if there are several
/// lists and all types are known. Calls in functions that no graph calls do not count.
fn calls_of_other_types(
    model: &Model,
    inferred: &Inferred,
    function: ScopeId,
) -> Option<Vec<NodeId>> {
    let types = |call: NodeId| -> Option<Vec<(u32, ValueType)>> {
        let inputs = model.inputs(call);
        inputs
            .map(|(index, value)| Some((index, inferred.of(value).value_type?)))
            .collect()
    };
    let calls: Vec<_> = inferred
        .calls_of(model, function)
        .map(|call| Some((call, types(call)?)))
        .collect::<Option<_>>()?;
    let (_, first) = calls.first()?;
    let (_, second) = calls.iter().find(|(_, types)| types != first)?;
    let others = calls.iter().filter(|(_, types)| types == second);
    Some(others.map(|&(call, _)| call).collect())
}
