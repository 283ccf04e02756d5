//! The way of one node, one version of its operator at a time.

use std::borrow::Cow;

use super::check;
use super::hop::Reason;
use super::hops;
use super::site::{Place, Record, Site};
use crate::facts::{self, Schema};
use crate::graph::Names;
use crate::wire::schema::NodeProto;

/// A node on its whole way.
pub(super) struct Journey<'a, 'm> {
    pub place: &'a Place<'m>,
    pub names: &'a mut Names<'m>,
    pub record: &'a mut Record,
    /// The opset to arrive at.
    pub target: i64,
}

/// What a node became.
pub(super) struct Arrival<'m> {
    /// New nodes that go in front of it.
    before: Vec<NodeProto>,
    /// The node; none where it became an initializer.
    node: Option<Cow<'m, NodeProto>>,
    /// New nodes that go behind it.
    after: Vec<NodeProto>,
}

impl Arrival<'_> {
    pub fn into_nodes(self) -> Vec<NodeProto> {
        self.before.into_iter().chain(self.node.map(Cow::into_owned)).chain(self.after).collect()
    }
}

/// Where a node got stuck.
pub(super) struct Stuck {
    /// The opsets that it comes from and cannot get to.
    pub opset_step: (i64, i64),
    pub reason: Reason,
}

impl<'m> Journey<'_, 'm> {
    /// What a node becomes on its way from an opset to the target.
    pub fn advance(&mut self, node: Cow<'m, NodeProto>, from: i64) -> Result<Arrival<'m>, Stuck> {
        let mut arrival = Arrival { before: Vec::new(), node: None, after: Vec::new() };
        let (mut node, mut at) = (node, from);
        while let Some(step) = self.next_step(node.op_type(), at)? {
            let mut site = Site {
                place: self.place,
                names: &mut *self.names,
                record: &mut *self.record,
                schema: step.from,
                to: step.opset,
                node,
                before: Vec::new(),
                after: Vec::new(),
                initializer: None,
            };
            hop(&mut site, &step).map_err(|reason| Stuck { opset_step: step.opsets(), reason })?;
            let Site { node: moved, before, after, initializer, .. } = site;
            for new in before {
                arrival.before.extend(self.advance_new(new, step.opset)?);
            }
            let mut behind = Vec::new();
            for new in after {
                behind.extend(self.advance_new(new, step.opset)?);
            }
            arrival.after.splice(..0, behind);
            if initializer.is_some() {
                self.record.initializers.extend(initializer);
                return Ok(arrival);
            }
            (node, at) = (moved, step.opset);
        }
        arrival.node = Some(node);
        Ok(arrival)
    }

    /// A new constant needs version 9 of `Constant` at least, before which few types are admitted: from there it goes down to an
    /// older target. On the way up every version admits what the one before did.
    fn advance_new(&mut self, node: NodeProto, from: i64) -> Result<Vec<NodeProto>, Stuck> {
        let is_constant = node.op_type() == "Constant";
        let from = if is_constant { from.max(9) } else { from };
        if is_constant && from <= self.target {
            return Ok(vec![node]);
        }
        self.advance(Cow::Owned(node), from).map(Arrival::into_nodes)
    }

    /// The next version of an operator on the way; none where the operator stays the same.
    fn next_step(&self, op: &str, at: i64) -> Result<Option<Step>, Stuck> {
        let versions = facts::versions("", op);
        let next = versions.partition_point(|version| version.since_version <= at);
        let Some(from) = next.checked_sub(1).map(|index| &versions[index]) else {
            let since = versions.first().map(|first| format!(", which came with opset {}", first.since_version));
            let reason = format!("opset {at} of ai.onnx has no operator '{op}'{}", since.unwrap_or_default());
            return Err(Stuck { opset_step: (at, self.target), reason });
        };
        if let Some(to) = versions.get(next).filter(|newer| newer.since_version <= self.target) {
            return Ok(Some(Step { from, to: Some(to), newer: to.since_version, opset: to.since_version }));
        }
        if from.since_version > self.target {
            let older = next.checked_sub(2).map(|index| &versions[index]);
            return Ok(Some(Step { from, to: older, newer: from.since_version, opset: from.since_version - 1 }));
        }
        match from.deprecated {
            true => Err(Stuck { opset_step: (at, self.target), reason: check::deprecated(from) }),
            false => Ok(None),
        }
    }
}

/// A step between two versions of an operator that follow one another.
struct Step {
    from: &'static Schema,
    /// None on the way down from an operator's first version.
    to: Option<&'static Schema>,
    /// The opset that brought the newer of both.
    newer: i64,
    /// The opset that is reached.
    opset: i64,
}

impl Step {
    fn is_up(&self) -> bool {
        self.opset == self.newer
    }

    /// The opsets on both sides of the step.
    fn opsets(&self) -> (i64, i64) {
        match self.is_up() {
            true => (self.newer - 1, self.newer),
            false => (self.newer, self.newer - 1),
        }
    }
}

/// Takes one step: what the operator's hop says, then a look at what the other version admits.
fn hop(site: &mut Site, step: &Step) -> Result<(), Reason> {
    let op = step.from.name;
    let actions = match (hops::find(op, step.newer), step.to) {
        (Some(hop), _) if step.is_up() => hop.up,
        (Some(hop), _) => hop.down,
        (None, None) => return Err(format!("{op} is new in opset {}", step.newer)),
        (None, Some(to)) if hops::differ_in_types_only(step.from, to) => &[],
        (None, Some(_)) => return Err(format!("no rule says how {op} changes in opset {}", step.newer)),
    };
    if !actions.is_empty() {
        check::operands(&site.node, step.from)?;
    }
    for action in actions {
        action.apply(site)?;
    }
    if site.initializer.is_some() {
        return Ok(());
    }
    let target = match site.node.op_type() {
        name if name == op => step.to,
        name => facts::schema("", name, step.opset),
    };
    let target = target.ok_or_else(|| format!("{} is new in opset {}", site.node.op_type(), step.opset + 1))?;
    site.trim_to(target);
    check::fits(site, target)
}
