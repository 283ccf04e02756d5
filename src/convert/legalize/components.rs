//! Which values are carried, and what becomes of the nodes that make and read them.

use petgraph::unionfind::UnionFind;

use super::control_flow::ControlFlow;
use super::operators::{Role, Site, Wider, carried_in, role};
use crate::base::hash::{HashMap, HashSet};
use crate::convert::Options;
use crate::graph::{Model, NodeId, Origin, ScopeId, ValueId};
use crate::ops::inference::Inferred;
use crate::ops::schemas::ValueType;

/// What is carried.
#[derive(Default)]
pub(super) struct Components {
    /// The values, in order.
    pub values: Vec<(ValueId, &'static Wider)>,
    /// The nodes that are replaced, with the text of the nodes in their place.
    pub replaced: Vec<(NodeId, String)>,
}

impl Components {
    /// Narrow values of one node belong together: if one of them cannot be carried, none is.
    pub fn new(model: &Model, inferred: &Inferred, options: &Options) -> Components {
        let with_io = options.legalize_io;
        let types = carried_in(options.opset, options.runtime.as_ref());
        let wider_of = |value: ValueId| match inferred.of(value).value_type {
            Some(ValueType::Tensor(dtype)) => {
                types.iter().find(|wider| wider.from == dtype).copied()
            }
            _ => None,
        };
        let found: HashMap<ValueId, &'static Wider> = model
            .values()
            .filter_map(|value| Some((value, wider_of(value)?)))
            .collect();
        if found.is_empty() {
            return Components::default();
        }
        let mut together = UnionFind::new(model.value_count());
        let control_flow = ControlFlow::new(model);
        let is_visible = |value: &ValueId| {
            found.contains_key(value) && is_seen(model, &control_flow, *value, with_io)
        };
        let mut kept: Vec<ValueId> = model.values().filter(is_visible).collect();
        let mut replaced = Vec::new();
        for node in model.scopes().flat_map(|scope| model.nodes(scope)) {
            if let Some(groups) = control_flow.groups(node) {
                for group in groups {
                    let narrow = group.iter().find(|value| found.contains_key(value));
                    let Some(&first) = narrow else { continue };
                    for &other in group {
                        together.union(first.index(), other.index());
                        if !found.contains_key(&other) {
                            kept.push(first);
                        }
                    }
                }
                continue;
            }
            let own: Vec<ValueId> = operands(model, node)
                .filter(|value| found.contains_key(value))
                .collect();
            let Some(&first) = own.first() else { continue };
            let site = Site {
                model,
                inferred,
                node,
                found: &found,
                contested: options.contested,
            };
            for &other in &own {
                together.union(first.index(), other.index());
            }
            match role(&site) {
                Some(Role::Same) => {}
                Some(Role::Replaced(text)) => replaced.push((first, node, text)),
                None => kept.push(first),
            }
        }
        let kept: HashSet<usize> = kept
            .into_iter()
            .map(|value| together.find(value.index()))
            .collect();
        let is_carried = |value: ValueId| !kept.contains(&together.find(value.index()));
        let carried = model.values().filter(|&value| is_carried(value));
        Components {
            values: carried
                .filter_map(|value| Some((value, *found.get(&value)?)))
                .collect(),
            replaced: replaced
                .into_iter()
                .filter(|&(value, ..)| is_carried(value))
                .map(|(_, node, text)| (node, text))
                .collect(),
        }
    }
}

/// Whether something else than a node of its model makes or reads a value. `with_io`: except
/// callers of the model, who then have to use the wider type. A value that is an input and an output
/// has two declarations.
fn is_seen(model: &Model, control_flow: &ControlFlow, value: ValueId, with_io: bool) -> bool {
    let scope = model.scope_of(value);
    let may_follow = control_flow.has(model, scope) || with_io && scope == ScopeId::MAIN;
    let outputs = model.scopes_that_output(value);
    let is_made_inside = match model.origin(value) {
        Origin::Node { .. } | Origin::Initializer { input: None, .. } => true,
        Origin::Input(_) | Origin::Initializer { .. } => may_follow && outputs.is_empty(),
        _ => false,
    };
    let is_read_inside =
        outputs.is_empty() || may_follow && outputs.iter().all(|&output| output == scope);
    !is_made_inside || !is_read_inside || model.non_node_use(value).is_some()
}

fn operands(model: &Model, node: NodeId) -> impl Iterator<Item = ValueId> + '_ {
    let inputs = model.inputs(node).map(|(_, value)| value);
    inputs.chain(model.outputs(node).map(|(_, value)| value))
}
