//! The pass `hoist-casts`.

use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::HashSet;
use crate::casts::folding::Options;
use crate::casts::{Casts, ResolvedCast, admits, keeps_kernels, runs};
use crate::graph::{Edit, FreshNames, Model, NodeId, ValueId};

const DOCS: &str = r#"Moves equal casts of all parts of a tensor before the Split.

before: `a, b = Split(x)  c = Cast<to = FLOAT>(a)  d = Cast<to = FLOAT>(b)  y = Add(c, d)`
after:  `t = Cast<to = FLOAT>(x)  a, b = Split(t)                           y = Add(a, b)`

1. Every part is cast, and nothing else uses it; Split supports the resulting type, and every listed version of onnxruntime that has a
   kernel for the Split has one for that type.
2. A part or a cast that is an output of a graph is kept, and so is everything around it.
"#;

#[derive(Debug)]
pub(super) struct HoistCasts;

impl Pass for HoistCasts {
    fn name(&self) -> &'static str {
        "hoist-casts"
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
    let (mut plan, mut names) = (Plan::default(), FreshNames::new(model));
    // Values that are removed now; what uses them may change in the next round.
    let mut removed: HashSet<ValueId> = HashSet::default();
    for &node in model
        .topological_order()
        .iter()
        .filter(|&&node| model.is_op(node, "Split"))
    {
        let Some(input) = model
            .input(node, 0)
            .filter(|input| !removed.contains(input))
        else {
            continue;
        };
        let Some(parts) = parts(model, &casts, node) else {
            continue;
        };
        let first = parts[0].1;
        let (mut cast, mut split) = (first.proto.clone(), model.node(node).clone());
        let whole = names.fresh(&format!("{}_cast", model.name(input)));
        model.name(input).clone_into(&mut cast.input[0]);
        (cast.output[0], split.input[0]) = (whole.clone(), whole);
        plan.edits.push(Edit::replace_node(node, vec![cast, split]));
        plan.report_change(model, node, format!("splits what was cast to {}", first.to));
        for (part, cast, output) in parts {
            removed.insert(output);
            plan.edits
                .extend(Edit::set_type_if_declared(model, part, cast.to));
            plan.edits.push(Edit::Rewire {
                from: output,
                to: part,
            });
            plan.remove_node(model, cast.node, removal::moved(&model.node_path(node)));
        }
    }
    plan
}

/// The parts that a Split makes, with the casts of them and their results, if nothing else uses
/// them and all casts are equal.
fn parts<'c, 'm>(
    model: &Model,
    casts: &'c Casts<'m>,
    node: NodeId,
) -> Option<Vec<(ValueId, &'c ResolvedCast<'m>, ValueId)>> {
    let mut parts = Vec::new();
    for (_, part) in model.outputs(node) {
        let before = parts.len();
        for (user, index) in model.uses(part) {
            let cast = model
                .output(user, 0)
                .and_then(|output| casts.producing(output))?;
            let output = cast
                .output
                .filter(|&output| model.is_removable(output) && model.can_replace(part, output))?;
            if index != 0 || cast.is_generic() || cast.proto.op_type() != "Cast" {
                return None;
            }
            parts.push((part, cast, output));
        }
        if !model.is_used_by_nodes_only(part) || parts.len() == before {
            return None;
        }
    }
    let first = parts.first()?.1;
    let is_equal = parts.iter().all(|(_, cast, _)| cast.has_effect_of(first));
    let is_possible = parts.len() > 1 && is_equal && admits(model, node, first.to);
    (is_possible && keeps_kernels(model, casts, node, first.to, runs(model, casts, first.node)))
        .then_some(parts)
}
