//! The pass `direct-outputs`.

use super::event::Removal;
use super::identity::returns_input;
use super::pass::{Pass, Plan};
use crate::base::hash::HashSet;
use crate::casts::{Casts, ResolvedCast};
use crate::elements::cast::copies;
use crate::graph::{Edit, Model, NodeId, ValueId, holds_graph};

const DOCS: &str = r#"Gives the name of an output to the node that computes it, in place of a node that only returns its input.

before: `a = Relu(x)  y = Identity(a)  z = Neg(a)`     y: an output of the graph
after:  `y = Relu(x)                   z = Neg(y)`

1. The node is one that `identity` or `redundant-casts` would remove if its result were not an output: an `Identity`, a cast to the type
   that its input has.
2. Its input is computed in the same graph, and is not an output itself.
"#;

pub(super) const DIRECT_OUTPUTS: Pass = Pass::new("direct-outputs", DOCS, |model, _| Ok(plan(model)));

fn plan(model: &Model) -> Plan {
    let casts = Casts::of(model);
    let mut plan = Plan::default();
    // Nodes that are changed or removed now, and values that get other names; what meets them changes in the next round.
    let (mut changed, mut renamed): (HashSet<NodeId>, HashSet<ValueId>) = (HashSet::default(), HashSet::default());
    for &node in model.topological_order() {
        let Some(output) = model.output(node, 0).filter(|&output| model.output_of(output) == [node.scope]) else { continue };
        let is_copy =
            |cast: &ResolvedCast| !cast.is_generic() && cast.from.is_some_and(|from| copies(from, cast.to, cast.rules().saturate));
        let is_copy = casts.producing(output).is_some_and(is_copy);
        if !is_copy && !returns_input(model, node, |shape| shape, || casts.inferred()) {
            continue;
        }
        let Some(input) = model.input(node, 0).filter(|&input| model.is_removable(input) && model.can_stand_in(output, input))
        else {
            continue;
        };
        let Some(producer) = model.producer(input).filter(|producer| producer.scope == node.scope) else { continue };
        let is_free = model.pin(output).is_none() && !model.shadows(output) && model.constant(input).is_err();
        let meets = [producer, node].iter().any(|node| changed.contains(node))
            || model.uses(input).any(|(user, _)| model.with_owners(user).any(|node| changed.contains(&node)))
            || model.inputs(producer).any(|(_, value)| renamed.contains(&value))
            || !renamed.is_empty() && holds_graph(model.node(producer));
        if !is_free || meets {
            continue;
        }
        changed.extend([producer, node]);
        renamed.insert(input);
        let mut direct = model.node(producer).clone();
        for name in direct.output.iter_mut().filter(|name| **name == *model.name(input)) {
            model.name(output).clone_into(name);
        }
        plan.edits.extend([Edit::replace_node(producer, direct), Edit::Rewire { from: input, to: output }]);
        plan.report_change(model, producer, format!("computes '{}' directly", model.name(output)));
        plan.remove_node(model, node, Removal::NamedByProducer(model.node_path(producer)));
    }
    plan
}
