//! Removes casts that change nothing.
//!
//! 1. A cast to the type that its input has is removed; not of FLOAT8E5M2 with `saturate`, which changes infinities.
//!
//! before: `a = Cast<to = FLOAT>(x)  y = Relu(a)`     x: `FLOAT[n]`
//! after:  `                         y = Relu(x)`
//!
//! 2. A cast of a cast is made of the first input, if the type between has every value of the first type: FLOAT16 to FLOAT to FLOAT16 is
//!    no cast, FLOAT16 to FLOAT to DOUBLE is one; FLOAT to FLOAT16 to FLOAT stays as it is.
//!
//! before: `a = Cast<to = FLOAT>(x)  b = Cast<to = DOUBLE>(a)`     x: `FLOAT16[n]`
//! after:  `                         b = Cast<to = DOUBLE>(x)`
//!
//! 3. A cast whose result is no longer used is removed.

use super::bypass::Bypasses;
use super::event::Event;
use super::pass::{Pass, Plan};
use crate::cast::{collapses, copies};
use crate::casts::{Casts, ResolvedCast};
use crate::dtype::DType;
use crate::graph::{Edit, Model, NodeId, ValueId};
use crate::hash::HashMap;

pub(super) const REDUNDANT_CASTS: Pass = Pass {
    name: "redundant-casts",
    source: include_str!("redundant_casts.rs"),
    requires: |_| Ok(()),
    plan: |model, _| Ok(plan(model)),
    ensures: |_, _| Ok(()),
};

fn plan(model: &Model) -> Plan {
    let casts = Casts::of(model);
    let in_order = casts.in_topological_order();
    let mut bypasses = Bypasses::new(model);
    // The value that each cast uses from now on; `None` for casts that are removed.
    let mut sources: HashMap<NodeId, Option<ValueId>> = HashMap::default();
    for cast in in_order.iter().filter(|cast| !cast.is_generic()) {
        let Some((source, from)) = source(&casts, cast) else { continue };
        if copies(from, cast.to, cast.rules().saturate) && bypasses.bypass(cast.node, cast.output, source) {
            sources.insert(cast.node, None);
            continue;
        }
        let source = bypasses.current(source);
        if from == cast.to
            || source == bypasses.current(cast.input)
            || !model.is_visible(source, cast.node.scope)
            || !cast.admits(from)
        {
            continue;
        }
        sources.insert(cast.node, Some(source));
        let mut changed = cast.proto.clone();
        for (index, value) in model.inputs(cast.node) {
            let value = if index == 0 { source } else { bypasses.current(value) };
            if let Some(input) = changed.input.get_mut(index as usize) {
                model.name(value).clone_into(input);
            }
        }
        let change = format!("casts '{}' from {from} directly", model.name(source));
        let operator = cast.proto.op_type().to_owned();
        bypasses.plan.events.push(Event::ChangedNode { node: model.node_path(cast.node), operator, change });
        bypasses.plan.edits.push(Edit::replace_node(cast.node, changed));
    }
    // Casts whose results lost all uses.
    let loses = |(user, index): (NodeId, u32), value: ValueId| match sources.get(&user) {
        Some(None) => true,
        // The second input of CastLike stays.
        Some(Some(source)) => index == 0 && *source != value,
        None => false,
    };
    for cast in in_order.iter().rev().filter(|cast| !sources.contains_key(&cast.node)) {
        let Some(output) = cast.output else { continue };
        let mut users = model.uses(output).peekable();
        if users.peek().is_some() && model.is_removable(output) && users.all(|user| loses(user, output)) {
            bypasses.remove(cast.node);
        }
    }
    bypasses.plan
}

/// The first value of a chain of casts that is one cast, and its type.
fn source(casts: &Casts, cast: &ResolvedCast) -> Option<(ValueId, DType)> {
    let (mut value, mut from) = (cast.input, cast.from?);
    while let Some(first) = casts.producing(value).filter(|first| !first.is_generic()) {
        match first.from {
            Some(before) if collapses(before, from, cast.to) => (value, from) = (first.input, before),
            Some(before) if copies(before, from, first.rules().saturate) => value = first.input,
            _ => break,
        }
    }
    Some((value, from))
}
