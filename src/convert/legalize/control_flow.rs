//! Values on the way into the bodies of `If`, `Loop` and `Scan` and out of them, which have one
//! type.

use crate::base::hash::HashMap;
use crate::graph::{Model, NodeId, Origin, ScopeId, ScopeKind, ValueId};

/// Values that have one type.
pub(super) type Group = Vec<ValueId>;

/// The values of each node and of its bodies.
pub(super) struct ControlFlow(HashMap<NodeId, Vec<Group>>);

impl ControlFlow {
    pub fn new(model: &Model) -> ControlFlow {
        let bodies = model.subgraphs();
        let nodes = model.scopes().flat_map(|scope| model.nodes(scope));
        let with_groups = |node| Some((node, groups(model, node, bodies.get(&node)?)?));
        ControlFlow(nodes.filter_map(with_groups).collect())
    }

    /// Whether a graph is a body of one of the nodes.
    pub fn has(&self, model: &Model, scope: ScopeId) -> bool {
        match model.scope_kind(scope) {
            ScopeKind::Subgraph { owner, .. } => self.0.contains_key(&owner),
            _ => false,
        }
    }

    /// The values of a node; none if it is another operator.
    pub fn groups(&self, node: NodeId) -> Option<&[Group]> {
        self.0.get(&node).map(Vec::as_slice)
    }
}

fn groups(model: &Model, node: NodeId, bodies: &[ScopeId]) -> Option<Vec<Group>> {
    let op = model.node(node).op_type();
    if !model.is_op(node, op) {
        return None;
    }
    let given = model.node(node).input.len();
    // The inputs of the node that its bodies do not get, the inputs and outputs of a body that the
    // node does not have, and the number of states.
    let (skipped, own, hidden, states) = match op {
        "If" => (given, 0, 0, 0),
        "Loop" => (2, 2, 1, given.checked_sub(2)?),
        "Scan" if model.opset(node.scope, "")? >= 9 => {
            let attributes = &model.node(node).attribute;
            let scanned = attributes
                .iter()
                .find(|each| each.name() == "num_scan_inputs")?;
            let scanned = usize::try_from(scanned.i()).ok()?;
            (0, 0, 0, given.checked_sub(scanned)?)
        }
        _ => return None,
    };
    let inputs: Vec<Vec<ValueId>> = bodies.iter().map(|&body| inputs(model, body)).collect();
    let outputs = bodies.iter().map(|&body| outputs(model, body));
    let outputs: Vec<Vec<ValueId>> = outputs.collect::<Option<_>>()?;
    let is_complete = inputs
        .iter()
        .all(|each| each.len() >= given - skipped + own)
        && outputs.iter().all(|each| each.len() >= states + hidden);
    if !is_complete {
        return None;
    }
    let of_input = |index: usize| {
        let value = model.input(node, (index + skipped) as u32);
        let inner = inputs.iter().map(move |each| each[index + own]);
        value.into_iter().chain(inner)
    };
    let of_output = |index: usize| {
        let value = model.output(node, index as u32);
        let inner = outputs
            .iter()
            .filter_map(move |each| each.get(index + hidden));
        value.into_iter().chain(inner.copied())
    };
    let of_states = (0..states).map(|index| of_input(index).chain(of_output(index)).collect());
    let other_inputs = (states..given - skipped).map(|index| of_input(index).collect());
    let results = outputs.iter().map(Vec::len).max()?.checked_sub(hidden)?;
    let other_outputs = (states..results).map(|index| of_output(index).collect());
    Some(of_states.chain(other_inputs).chain(other_outputs).collect())
}

fn inputs(model: &Model, body: ScopeId) -> Vec<ValueId> {
    let names = model.body(body).input_names();
    let values = names.filter_map(|name| model.lookup(body, name));
    values
        .filter(|&value| matches!(model.origin(value), Origin::Input(_)))
        .collect()
}

fn outputs(model: &Model, body: ScopeId) -> Option<Vec<ValueId>> {
    let names = model.body(body).output_names();
    names.map(|name| model.lookup(body, name)).collect()
}
