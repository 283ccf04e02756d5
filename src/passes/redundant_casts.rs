//! The pass `redundant-casts`.

use super::bypass::Bypasses;
use super::pass::{Pass, Plan};
use super::removal;
use crate::base::error::Invalid;
use crate::base::hash::HashMap;
use crate::casts::folding::Options;
use crate::casts::{Casts, ResolvedCast, keeps_kernels_of_cast, runs};
use crate::graph::{Edit, Model, NodeId, ValueId};
use crate::ops::kernels::Versions;
use onnx_cast::{DType, collapses, copies};

const DOCS: &str = r#"Removes casts that change nothing.

1. A cast to the type that its input has is removed; not of FLOAT8E5M2 with `saturate`, which changes infinities.

before: `a = Cast<to = FLOAT>(x)  y = Relu(a)`     x: `FLOAT[n]`
after:  `                         y = Relu(x)`

2. A cast of a cast is made of the first input, if the type between has every value of the first type, or, of integers, at least the
   bits of the last type: FLOAT16 to FLOAT to FLOAT16 and INT64 to UINT64 to INT64 are no cast, FLOAT16 to FLOAT to DOUBLE is one;
   FLOAT to FLOAT16 to FLOAT stays as it is.

before: `a = Cast<to = FLOAT>(x)  b = Cast<to = DOUBLE>(a)`     x: `FLOAT16[n]`
after:  `                         b = Cast<to = DOUBLE>(x)`

   A cast keeps its input if a listed version of onnxruntime has a kernel for it, and none for the type of the first input.

3. A cast whose result is no longer used is removed.
"#;

#[derive(Debug)]
pub(super) struct RedundantCasts;

impl Pass for RedundantCasts {
    fn name(&self) -> &'static str {
        "redundant-casts"
    }

    fn docs(&self) -> &'static str {
        DOCS
    }

    fn plan(&self, model: &Model, _: &Options) -> Result<Plan, Invalid> {
        Ok(plan(model))
    }
}

/// The number of casts that the pass would remove at once, if it is not among these passes.
pub(crate) fn left_by(passes: &[&dyn Pass], model: &Model) -> usize {
    if passes
        .iter()
        .any(|pass| pass.name() == RedundantCasts.name())
    {
        return 0;
    }
    let casts = Casts::of(model);
    decide(model, &casts, &casts.in_topological_order())
        .bypasses
        .count()
}

/// What the pass does, without the texts of its report.
struct Decisions<'m> {
    bypasses: Bypasses<'m>,
    removed: Removed<'m>,
    /// The values that casts use from now on in place of their inputs, and their types.
    sources: HashMap<NodeId, (ValueId, DType)>,
}

/// The casts that are removed.
struct Removed<'m> {
    casts: &'m Casts<'m>,
    /// By the index of the cast.
    is_removed: Vec<bool>,
}

impl<'m> Removed<'m> {
    fn none_of(casts: &'m Casts<'m>) -> Removed<'m> {
        let is_removed = vec![false; casts.iter().len()];
        Removed { casts, is_removed }
    }

    fn contains(&self, node: NodeId) -> bool {
        let index = self.casts.index(node);
        index.is_some_and(|index| self.is_removed[index])
    }

    /// Adds a cast; returns whether it was not there.
    fn insert(&mut self, cast: &ResolvedCast) -> bool {
        let index = self.casts.index(cast.node);
        index.is_some_and(|index| !std::mem::replace(&mut self.is_removed[index], true))
    }
}

fn decide<'m>(model: &'m Model, casts: &'m Casts<'m>, in_order: &[&ResolvedCast]) -> Decisions<'m> {
    let mut bypasses = Bypasses::new(model);
    let mut sources: HashMap<NodeId, (ValueId, DType)> = HashMap::default();
    let mut removed = Removed::none_of(casts);
    for cast in in_order.iter().filter(|cast| !cast.is_generic()) {
        let Some((source, from)) = source(casts, cast, &bypasses, &sources) else {
            continue;
        };
        if copies(from, cast.to, cast.rules().saturate)
            && bypasses.bypass(cast.node, cast.output, source, removal::changes_nothing)
        {
            removed.insert(cast);
            continue;
        }
        let is_shorter = from != cast.to && source != bypasses.current(cast.input);
        let is_possible = || {
            let among = casts
                .producing(cast.input)
                .map_or(Versions::ALL, |first| runs(model, casts, first.node));
            cast.admits(from) && keeps_kernels_of_cast(model, casts, cast.node, from, among)
        };
        if is_shorter && model.is_visible(source, cast.node.scope) && is_possible() {
            sources.insert(cast.node, (source, from));
        }
    }
    remove_unused(model, in_order, &sources, &mut removed, &mut bypasses);
    Decisions {
        bypasses,
        removed,
        sources,
    }
}

fn plan(model: &Model) -> Plan {
    let casts = Casts::of(model);
    let in_order = casts.in_topological_order();
    let Decisions {
        bypasses,
        removed,
        sources,
    } = decide(model, &casts, &in_order);
    let mut plan = bypasses.plan();
    for cast in in_order.iter().filter(|cast| !removed.contains(cast.node)) {
        let Some(&(source, from)) = sources.get(&cast.node) else {
            continue;
        };
        let mut changed = cast.proto.clone();
        for (index, value) in model.inputs(cast.node) {
            let value = if index == 0 {
                source
            } else {
                bypasses.current(value)
            };
            if let Some(input) = changed.input.get_mut(index as usize) {
                model.name(value).clone_into(input);
            }
        }
        plan.report_change(
            model,
            cast.node,
            format!("casts '{}' from {from} directly", model.name(source)),
        );
        plan.edits.push(Edit::replace_node(cast.node, changed));
    }
    plan
}

/// Removes the casts whose results lose all uses, each after those that use its result.
fn remove_unused(
    model: &Model,
    in_order: &[&ResolvedCast],
    sources: &HashMap<NodeId, (ValueId, DType)>,
    removed: &mut Removed,
    bypasses: &mut Bypasses,
) {
    let mut new_users: HashMap<ValueId, Vec<NodeId>> = HashMap::default();
    #[expect(clippy::iter_over_hash_type, reason = "the lists are only searched")]
    for (&user, &(source, _)) in sources {
        new_users.entry(source).or_default().push(user);
    }
    let mut replaced: HashMap<ValueId, Vec<ValueId>> = HashMap::default();
    for (value, other) in bypasses.replaced() {
        replaced.entry(other).or_default().push(value);
    }
    for cast in in_order.iter().rev() {
        let Some(output) = cast
            .output
            .filter(|&output| model.is_removable(output) && model.uses(output).next().is_some())
        else {
            continue;
        };
        let values = [output]
            .into_iter()
            .chain(replaced.get(&output).into_iter().flatten().copied());
        // The second input of CastLike stays.
        let keeps = |(user, index): (NodeId, u32)| {
            !removed.contains(user) && (index != 0 || !sources.contains_key(&user))
        };
        let is_used = values.into_iter().any(|value| model.uses(value).any(keeps))
            || new_users
                .get(&output)
                .into_iter()
                .flatten()
                .any(|&user| !removed.contains(user));
        if !is_used && removed.insert(cast) {
            bypasses.remove_unused(cast.node);
        }
    }
}

/// The first value of a chain of casts that is one cast, and its type.
fn source(
    casts: &Casts,
    cast: &ResolvedCast,
    bypasses: &Bypasses,
    sources: &HashMap<NodeId, (ValueId, DType)>,
) -> Option<(ValueId, DType)> {
    let (mut value, mut from) = (bypasses.current(cast.input), cast.from?);
    while let Some(first) = casts.producing(value).filter(|first| !first.is_generic()) {
        let input = first.from.map(|from| (bypasses.current(first.input), from));
        let is_one_cast = |&(_, before): &(ValueId, DType)| {
            collapses(before, from, cast.to) || copies(before, from, first.rules().saturate)
        };
        let Some(before) = input
            .into_iter()
            .chain(sources.get(&first.node).copied())
            .find(is_one_cast)
        else {
            break;
        };
        (value, from) = before;
    }
    Some((value, from))
}
