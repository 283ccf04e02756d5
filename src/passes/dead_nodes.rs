//! The pass `dead-nodes`.

use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::{HashMap, HashSet};
use crate::casts::folding::Options;
use crate::graph::{Model, NodeId, NonNodeUse, ScopeId, ScopeKind, ValueId};
use crate::ops::schemas;

const DOCS: &str = r#"Removes nodes whose results are not used, directly or through other nodes.

before: `a = Neg(x)  b = Abs(a)  y = Relu(x)`
after:  `                        y = Relu(x)`

1. A node is used if one of its results is an output of the model or a function, has a quantization annotation or a training binding,
   or is used by such a node or in its subgraphs.
2. Operators that are not known may have effects: their nodes are kept.
3. A node is kept if a subgraph that is kept defines the name of one of its results again: runtimes differ in the value that they use
   there.
"#;

#[derive(Debug)]
pub(super) struct DeadNodes;

impl Pass for DeadNodes {
    fn name(&self) -> &'static str {
        "dead-nodes"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
        Ok(plan(model))
    }
}

fn plan(model: &Model) -> Plan {
    let used = used_nodes(model);
    let mut plan = Plan::default();
    for node in model.scopes().flat_map(|scope| model.nodes(scope)) {
        // Nodes of the subgraphs of a removed node go with it.
        let is_owned = matches!(model.scope_kind(node.scope), ScopeKind::Subgraph { owner, .. } if !used.contains(&owner));
        if !used.contains(&node) && !is_owned {
            plan.remove_node(model, node, removal::unused());
        }
    }
    plan
}

/// Whether a node may do more than compute its results: a call, a node of an unknown operator, and
/// one that states no results at all.
fn may_have_effects(model: &Model, node: NodeId) -> bool {
    let proto = model.node(node);
    let opset = model.opset(node.scope, proto.domain());
    let is_known = opset
        .is_some_and(|opset| schemas::schema(proto.domain(), proto.op_type(), opset).is_some());
    !is_known || model.callee(node).is_some() || proto.output.is_empty()
}

/// The nodes that stay: nodes on which the outputs of the model or of a function depend, nodes that
/// may have effects, and nodes whose results are shadowed by a value that stays.
fn used_nodes(model: &Model) -> HashSet<NodeId> {
    let subgraphs = model.subgraphs();
    let mut used = HashSet::default();
    let mut values: Vec<ValueId> = Vec::new();
    // By scope: the values that its inputs and initializers shadow, which stay as long as it does.
    let mut shadowed: HashMap<ScopeId, Vec<ValueId>> = HashMap::default();
    for value in model.values() {
        if matches!(
            model.non_node_use(value),
            Some(NonNodeUse::Annotated | NonNodeUse::Trained)
        ) {
            values.push(value);
        }
        if model.producer(value).is_none()
            && let Some(outer) = model.shadowed_by(value)
        {
            shadowed
                .entry(model.scope_of(value))
                .or_default()
                .push(outer);
        }
    }
    let kept_in = |scope: ScopeId| {
        outputs(model, scope).chain(shadowed.get(&scope).into_iter().flatten().copied())
    };
    let mut nodes: Vec<NodeId> = Vec::new();
    let is_outermost =
        |scope: &ScopeId| !matches!(model.scope_kind(*scope), ScopeKind::Subgraph { .. });
    values.extend(model.scopes().filter(is_outermost).flat_map(kept_in));
    nodes.extend(
        model
            .scopes()
            .flat_map(|scope| model.nodes(scope))
            .filter(|&node| may_have_effects(model, node)),
    );
    loop {
        while let Some(value) = values.pop() {
            nodes.extend(model.producer(value));
        }
        let Some(node) = nodes.pop() else { return used };
        if !used.insert(node) {
            continue;
        }
        values.extend(model.inputs(node).map(|(_, value)| value));
        values.extend(
            model
                .outputs(node)
                .filter_map(|(_, value)| model.shadowed_by(value)),
        );
        values.extend(
            subgraphs
                .get(&node)
                .into_iter()
                .flatten()
                .flat_map(|&scope| kept_in(scope)),
        );
        // A node with effects in a subgraph keeps the node that contains it.
        if let ScopeKind::Subgraph { owner, .. } = model.scope_kind(node.scope) {
            nodes.push(owner);
        }
    }
}

fn outputs(model: &Model, scope: ScopeId) -> impl Iterator<Item = ValueId> {
    model
        .body(scope)
        .output_names()
        .filter_map(move |name| model.lookup(scope, name))
}
