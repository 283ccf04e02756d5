//! The pass `direct-outputs`.

use super::identity::returns_input;
use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::HashSet;
use crate::casts::folding::Options;
use crate::casts::{Casts, ResolvedCast};
use crate::graph::{Edit, Model, NodeId, Origin, ValueId};
use onnx_cast::copies;

const DOCS: &str = r#"Gives the name of an output to the node that computes it, in place of a node that only returns its input.

before: `a = Relu(x)  y = Identity(a)  z = Neg(a)`     y: an output of the graph
after:  `y = Relu(x)                   z = Neg(y)`

1. The node is one that `identity` or `redundant-casts` would remove if its result were not an output: an `Identity`, a cast to the type
   that its input has.
2. Its input is computed in the same graph, and is not an output itself.
3. Of several such nodes in a row, all are removed.
"#;

#[derive(Debug)]
pub(super) struct DirectOutputs;

impl Pass for DirectOutputs {
    fn name(&self) -> &'static str {
        "direct-outputs"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
        Ok(plan(model))
    }
}

fn plan(model: &Model) -> Plan {
    let casts = Casts::of(model);
    let mut plan = Plan::default();
    // Values that get the name of an output.
    let mut renamed: HashSet<ValueId> = HashSet::default();
    for &node in model.topological_order() {
        let Some(output) = model
            .output(node, 0)
            .filter(|&output| model.scopes_that_output(output) == [node.scope])
        else {
            continue;
        };
        if model.non_node_use(output).is_some() || model.shadows(output) {
            continue;
        }
        let can_be_renamed = |input: ValueId, renamed: &HashSet<ValueId>| {
            model.is_removable(input)
                && model.can_replace(output, input)
                && model.constant(input).is_err()
                && !renamed.contains(&input)
        };
        // From the last node of a chain to the first: each node returns the result of its
        // predecessor.
        let (mut producer, mut of_output, mut returning) = (node, 0, Vec::new());
        while let Some(input) =
            returned(model, &casts, producer).filter(|&input| can_be_renamed(input, &renamed))
            && let Origin::Node {
                node: before,
                output: of_input,
            } = model.origin(input)
            && before.scope == node.scope
        {
            renamed.insert(input);
            returning.push(producer);
            plan.edits.push(Edit::Rewire {
                from: input,
                to: output,
            });
            (producer, of_output) = (before, of_input);
        }
        if returning.is_empty() {
            continue;
        }
        let name = model.name(output).to_owned();
        plan.report_change(model, producer, format!("computes '{name}' directly"));
        plan.edits.push(Edit::RenameOutput {
            node: producer,
            output: of_output,
            name,
        });
        for node in returning {
            plan.remove_node(
                model,
                node,
                removal::named_by_producer(&model.node_path(producer)),
            );
        }
    }
    plan
}

/// The input of a node that only returns it.
fn returned(model: &Model, casts: &Casts, node: NodeId) -> Option<ValueId> {
    let is_copy = |cast: &ResolvedCast| {
        !cast.is_generic()
            && cast
                .from
                .is_some_and(|from| copies(from, cast.to, cast.rules().saturate))
    };
    let returns = model
        .output(node, 0)
        .and_then(|output| casts.producing(output))
        .is_some_and(is_copy)
        || returns_input(model, node, |shape| shape, || casts.inferred());
    if returns { model.input(node, 0) } else { None }
}
