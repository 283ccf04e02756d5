//! The pass `sink-casts`.

use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::HashSet;
use crate::casts::folding::Options;
use crate::casts::{
    Casts, ResolvedCast, admits, keeps_kernels, keeps_kernels_of_cast, moves, runs,
};
use crate::graph::{Edit, FreshNames, Model, NodeId, ValueId};
use crate::protobuf::schema::NodeProto;
use onnx_cast::collapses;

const DOCS: &str = r#"Moves casts behind data movement, where that saves a cast.

before: `a = Cast<to = FLOAT>(x)  r = Reshape(a, s)  b = Cast<to = FLOAT16>(r)`     x: `FLOAT16[n]`
after:  `                         r = Reshape(x, s)  b = Cast<to = FLOAT16>(r)`

1. The results of the moves, such as Reshape, Transpose, Slice, Gather and Concat, are only cast, and the casts before and after them are
   one cast, as for `redundant-casts`. That pass removes the second cast if it changes nothing any more.
2. A Concat of equal casts is cast once.

before: `a = Cast<to = FLOAT>(x)  b = Cast<to = FLOAT>(z)  y = Concat(a, b)`
after:  `t = Concat(x, z)                                  y = Cast<to = FLOAT>(t)`

3. A result that is an output of a graph keeps its type, and moves support the type that they get: ONNX, and every listed version of
   onnxruntime that has a kernel for the node as it is.
"#;

#[derive(Debug)]
pub(super) struct SinkCasts;

impl Pass for SinkCasts {
    fn name(&self) -> &'static str {
        "sink-casts"
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
    // Casts whose input changes its type now; they may move in the next round.
    let mut changed: HashSet<NodeId> = HashSet::default();
    for &node in model.topological_order() {
        let Some(first) = casts_before(&casts, model, node)
            .filter(|first| first.iter().all(|cast| !changed.contains(&cast.node)))
        else {
            continue;
        };
        let Some(from) = first[0].from.filter(|&from| {
            first
                .iter()
                .all(|cast| (cast.from, cast.to) == (Some(from), first[0].to))
        }) else {
            continue;
        };
        let unused: Vec<&ResolvedCast> = first
            .iter()
            .copied()
            .filter(|cast| is_used_by(model, cast, node))
            .collect();
        if let Some(region) = region(model, &casts, node, &first)
            && (!unused.is_empty() || region.casts.iter().any(|cast| cast.to == from))
        {
            changed.extend(region.casts.iter().map(|cast| cast.node));
            plan.edits
                .push(Edit::replace_node(node, with_sources(model, node, &first)));
            plan.edits.extend(
                region
                    .values
                    .into_iter()
                    .filter_map(|value| Edit::set_type_if_declared(model, value, from)),
            );
        } else if let Some(result) = joined(model, &casts, node, &first, &unused) {
            let mut nodes = vec![with_sources(model, node, &first), first[0].proto.clone()];
            let inner = names.fresh(&format!("{result}_before_cast"));
            (nodes[0].output[0], nodes[1].input[0], nodes[1].output[0]) =
                (inner.clone(), inner, result);
            plan.edits.push(Edit::replace_node(node, nodes));
        } else {
            continue;
        }
        plan.report_change(
            model,
            node,
            format!("moves elements of {from}, before the cast"),
        );
        // A node may use a cast twice.
        let mut gone: Vec<NodeId> = unused.iter().map(|cast| cast.node).collect();
        gone.sort_unstable();
        gone.dedup();
        for cast in gone {
            plan.remove_node(model, cast, removal::moved(&model.node_path(node)));
        }
    }
    plan
}

/// The casts whose results a node moves, if it moves nothing else.
fn casts_before<'c, 'm>(
    casts: &'c Casts<'m>,
    model: &Model,
    node: NodeId,
) -> Option<Vec<&'c ResolvedCast<'m>>> {
    let (_, inputs) = moves(model, node)?;
    let cast = |index| {
        let cast = casts
            .producing(model.input(node, index as u32)?)
            .filter(|cast| !cast.is_generic())?;
        model.can_replace(cast.input, cast.output?).then_some(cast)
    };
    (0..inputs)
        .map(cast)
        .collect::<Option<Vec<_>>>()
        .filter(|casts| !casts.is_empty())
}

/// Whether a node alone uses a cast, to move its elements.
fn is_used_by(model: &Model, cast: &ResolvedCast, node: NodeId) -> bool {
    let inputs = moves(model, node).map_or(0, |(_, inputs)| inputs);
    cast.output.is_some_and(|output| {
        model.is_removable(output)
            && model
                .uses(output)
                .all(|(user, index)| user == node && (index as usize) < inputs)
    })
}

/// Moves that follow each other, and the casts of their results.
struct MoveRegion<'c, 'm> {
    values: Vec<ValueId>,
    casts: Vec<&'c ResolvedCast<'m>>,
}

/// The moves from a node on, if all of them can move elements of another type, and their results
/// are only cast, so that the two casts are one.
fn region<'c, 'm>(
    model: &Model,
    casts: &'c Casts<'m>,
    start: NodeId,
    first: &[&ResolvedCast],
) -> Option<MoveRegion<'c, 'm>> {
    let (from, middle, among) = (
        first[0].from?,
        first[0].to,
        runs(model, casts, first[0].node),
    );
    let mut region = MoveRegion {
        values: Vec::new(),
        casts: Vec::new(),
    };
    let mut nodes = vec![start];
    while let Some(node) = nodes.pop() {
        if !admits(model, node, from) || !keeps_kernels(model, casts, node, from, among) {
            return None;
        }
        for (_, value) in model.outputs(node) {
            if !model.is_removable(value) {
                return None;
            }
            region.values.push(value);
            for (user, index) in model.uses(value) {
                match (
                    model
                        .output(user, 0)
                        .and_then(|output| casts.producing(output)),
                    moves(model, user),
                ) {
                    (Some(cast), _)
                        if index == 0
                            && !cast.is_generic()
                            && collapses(from, middle, cast.to)
                            && cast.admits(from)
                            && (cast.to == from
                                || keeps_kernels_of_cast(model, casts, cast.node, from, among)) =>
                    {
                        region.casts.push(cast);
                    }
                    (None, Some((_, 1))) if index == 0 => nodes.push(user),
                    _ => return None,
                }
            }
        }
    }
    (!region.casts.is_empty()).then_some(region)
}

/// The name of the result of a Concat of at least two equal casts that nothing else uses.
fn joined(
    model: &Model,
    casts: &Casts,
    node: NodeId,
    first: &[&ResolvedCast],
    unused: &[&ResolvedCast],
) -> Option<String> {
    let is_equal =
        |cast: &&ResolvedCast| cast.proto.op_type() == "Cast" && cast.has_effect_of(first[0]);
    let is_saved = first.len() > 1
        && unused.len() == first.len()
        && unused.iter().any(|cast| cast.node != first[0].node);
    let from = first[0].from?;
    let is_possible = is_saved && first.iter().all(is_equal) && admits(model, node, from);
    let is_possible =
        is_possible && keeps_kernels(model, casts, node, from, runs(model, casts, first[0].node));
    model
        .node(node)
        .output
        .first()
        .filter(|name| is_possible && !name.is_empty())
        .cloned()
}

/// A node that moves elements of what was cast.
fn with_sources(model: &Model, node: NodeId, casts: &[&ResolvedCast]) -> NodeProto {
    let mut changed = model.node(node).clone();
    for (input, cast) in changed.input.iter_mut().zip(casts) {
        model.name(cast.input).clone_into(input);
    }
    changed
}
