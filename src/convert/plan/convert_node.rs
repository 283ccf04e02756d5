//! Converts one node, one version of its operator at a time.

use crate::convert::reason::{OperatorTooNew, OperatorUnknown, Overridable, Reason};
use std::borrow::Cow;

use crate::convert::adapters::adapter::Adapt;
use crate::convert::adapters::{NodeAdapter, OperatorAdapter};
use crate::convert::bodies::graphs_mut;
use crate::convert::context::check;
use crate::convert::context::{Context, Mark, NodeSource, Record};
use crate::convert::expansions::Expansion;
use crate::convert::expansions::expand::expand;
use crate::convert::expansions::expansion_body::ExpansionBodies;
use crate::convert::{adapters, expansions};
use crate::graph::{FreshNames, is_onnx_domain};
use crate::ops::kernels::GUARDED;
use crate::ops::schemas::{self, Schema};
use crate::protobuf::schema::NodeProto;

/// Converts a node to the target opset.
pub(super) struct NodeConverter<'a, 'm> {
    pub source: &'a NodeSource<'m>,
    pub names: &'a mut FreshNames<'m>,
    pub record: &'a mut Record,
    /// The bodies of expansions so far.
    pub bodies: &'a mut ExpansionBodies,
    /// The opset to convert to.
    pub target: i64,
    /// Whether the node is expanded, although the target opset has its operator: one of onnxruntime
    /// that another runtime lacks.
    pub must_expand: bool,
    /// The guard that the runtime needs around the node.
    pub guard: Option<Guard>,
    /// Adapters of other crates.
    pub adapters: &'a [OperatorAdapter],
}

/// Nodes around an operator that make a runtime compute what ONNX defines.
#[derive(Clone, Copy)]
pub(super) struct Guard {
    pub expansion: &'static Expansion,
    /// The name of the runtime.
    pub runtime: &'static str,
}

/// The result of converting a node.
pub(super) struct Converted<'m> {
    /// New nodes in front of it.
    before: Vec<NodeProto>,
    /// The node; none if it became an initializer.
    node: Option<Cow<'m, NodeProto>>,
    /// New nodes behind it.
    after: Vec<NodeProto>,
}

impl Converted<'_> {
    pub fn into_nodes(self) -> Vec<NodeProto> {
        self.before
            .into_iter()
            .chain(self.node.map(Cow::into_owned))
            .chain(self.after)
            .collect()
    }
}

/// A step that is not possible.
pub(super) struct Blocked {
    /// The opsets before and after the step.
    pub opset_step: (i64, i64),
    pub reason: Reason,
}

impl<'m> NodeConverter<'_, 'm> {
    /// Converts a node from an opset to the target.
    pub fn convert(
        &mut self,
        node: Cow<'m, NodeProto>,
        from: i64,
    ) -> Result<Converted<'m>, Blocked> {
        self.convert_steps(node, from, false)
    }

    fn convert_steps(
        &mut self,
        node: Cow<'m, NodeProto>,
        from: i64,
        is_added: bool,
    ) -> Result<Converted<'m>, Blocked> {
        let mut converted = Converted {
            before: Vec::new(),
            node: None,
            after: Vec::new(),
        };
        let (mut node, mut at) = (node, from);
        // Of several blockers the first on the path counts: nodes that are added may be blocked
        // later than the node itself.
        let mut later: Option<Blocked> = None;
        while let Some(step) = self.next_step(node.op_type(), at)? {
            let custom = self
                .adapters
                .iter()
                .find(|adapter| adapter.is_for(step.from.name, step.newer));
            let mut cx = Context {
                is_added,
                ..Context::new(
                    self.source,
                    self.names,
                    self.record,
                    step.from,
                    step.opset,
                    node,
                )
            };
            let blocked = |reason| Blocked {
                opset_step: step.opsets(),
                reason,
            };
            match expansions::find(step.from).filter(|_| step.from.of_onnxruntime || !step.is_up())
            {
                None => adapt(&mut cx, &step, custom).map_err(blocked)?,
                // The older version of an operator is preferred to its expansion.
                Some(expansion) => {
                    let has_adapter = step.to.is_some_and(|to| !to.deprecated) || custom.is_some();
                    match has_adapter.then(|| cx.attempt(|cx| adapt(cx, &step, custom))) {
                        Some(Ok(())) => {}
                        Some(Err(reason)) if !expansion.helps(&reason) => {
                            return Err(blocked(reason));
                        }
                        refused => {
                            let opset = expansion.opset.unwrap_or(step.opset);
                            cx.to = opset;
                            let expanded =
                                expand(&mut cx, expansion, self.bodies, None).map_err(blocked);
                            let nodes =
                                expanded.and_then(|nodes| self.convert_expanded(nodes, opset));
                            // What a caller can override has a remedy.
                            let overridable = refused
                                .and_then(Result::err)
                                .filter(|reason| reason.is(Overridable));
                            converted
                                .before
                                .extend(nodes.map_err(|other| overridable.map_or(other, blocked))?);
                            return later.map_or(Ok(converted), Err);
                        }
                    }
                }
            }
            let Context {
                node: moved,
                before,
                after,
                initializer,
                is_removed,
                ..
            } = cx;
            for new in before {
                match self.convert_added(new, step.opset) {
                    Ok(nodes) => converted.before.extend(nodes),
                    Err(blocked) => later = later.or(Some(blocked)),
                }
            }
            let mut behind = Vec::new();
            for new in after {
                behind.extend(self.convert_added(new, step.opset)?);
            }
            converted.after.splice(..0, behind);
            if initializer.is_some() || is_removed {
                self.record.initializers.extend(initializer);
                return later.map_or(Ok(converted), Err);
            }
            (node, at) = (moved, step.opset);
            if !is_onnx_domain(node.domain()) {
                break;
            }
        }
        match self.guard.filter(|_| !is_added) {
            None => converted.node = Some(node),
            Some(guard) => match self.guarded(node, at, guard) {
                Ok(nodes) => converted.before.extend(nodes),
                // The runtime is the obstacle to the node as it is.
                Err(node) => converted.node = Some(node),
            },
        }
        later.map_or(Ok(converted), Err)
    }

    /// The nodes of the guard of a node in the target opset, or the node, if there is no guard for
    /// its types.
    fn guarded(
        &mut self,
        node: Cow<'m, NodeProto>,
        at: i64,
        Guard { expansion, runtime }: Guard,
    ) -> Result<Vec<NodeProto>, Cow<'m, NodeProto>> {
        let Some(schema) = schemas::schema("", node.op_type(), at) else {
            return Err(node);
        };
        let opset = expansion.opset.unwrap_or(0).max(self.target);
        let mark: Mark = self.record.mark();
        let mut cx = Context::new(self.source, self.names, self.record, schema, opset, node);
        let mut nodes = Vec::new();
        let bodies = &mut *self.bodies;
        let done = cx.attempt(|cx| {
            nodes = expand(cx, expansion, bodies, Some(runtime))?;
            Ok(())
        });
        let node = cx.node;
        if done.is_err() {
            return match expansion.adapter {
                Some(adapter) => self.adapted(node, schema, adapter, runtime),
                None => Err(node),
            };
        }
        for own in &mut nodes {
            if expansions::guard(own.op_type(), runtime).is_some() {
                own.doc_string = Some(guarded_doc(own, runtime).into());
            }
        }
        if opset == self.target {
            return Ok(nodes);
        }
        self.convert_expanded(nodes, opset).map_err(|_| {
            self.record.reset(mark);
            node
        })
    }

    /// The nodes of the guard that an adapter makes of a node in the target opset, or the node.
    fn adapted(
        &mut self,
        node: Cow<'m, NodeProto>,
        schema: &'static Schema,
        adapter: Adapt,
        runtime: &'static str,
    ) -> Result<Vec<NodeProto>, Cow<'m, NodeProto>> {
        let mut cx = Context::new(
            self.source,
            self.names,
            self.record,
            schema,
            self.target,
            node,
        );
        if cx.attempt(adapter).is_err() {
            return Err(cx.node);
        }
        if let Some(expanded) = cx.record.expanded.last_mut() {
            expanded.guarded_for = Some(runtime);
        }
        let converted = Converted {
            before: cx.before,
            node: Some(cx.node),
            after: cx.after,
        };
        Ok(converted.into_nodes())
    }

    /// Converts a node that an adapter added. New constants are written for version 9 of `Constant`
    /// at least, since older versions support few types, and are downgraded from there. Upgrades
    /// need no change: newer versions support all types of older ones.
    fn convert_added(&mut self, mut node: NodeProto, from: i64) -> Result<Vec<NodeProto>, Blocked> {
        let is_constant = node.op_type() == "Constant";
        let from = if is_constant { from.max(9) } else { from };
        if is_constant && from <= self.target {
            return Ok(vec![node]);
        }
        for body in graphs_mut(&mut node) {
            let mut converted = Vec::new();
            for inner in std::mem::take(&mut body.node) {
                self.check_types(&inner, from)?;
                converted.extend(self.convert_added(inner, from)?);
            }
            body.node = converted;
        }
        self.convert_steps(Cow::Owned(node), from, true)
            .map(Converted::into_nodes)
    }

    /// Converts the nodes of an expansion. What adapters do to them is not reported. Of several
    /// blockers the first on the path counts.
    fn convert_expanded(
        &mut self,
        nodes: Vec<NodeProto>,
        from: i64,
    ) -> Result<Vec<NodeProto>, Blocked> {
        let notes = self.record.notes.len();
        let mut converted = Vec::new();
        let mut first: Option<Blocked> = None;
        for node in nodes {
            let op = node.op_type().to_owned();
            let nodes = self
                .check_types(&node, from)
                .and_then(|()| self.convert_added(node, from));
            match nodes {
                Ok(nodes) => converted.extend(nodes),
                Err(mut blocked)
                    if first
                        .as_ref()
                        .is_none_or(|first| blocked.opset_step.0 > first.opset_step.0) =>
                {
                    let text = format!("its expansion contains {op}: {}", blocked.reason);
                    blocked.reason = blocked.reason.with_text(text);
                    first = Some(blocked);
                }
                Err(_) => {}
            }
        }
        self.record.notes.truncate(notes);
        first.map_or(Ok(converted), Err)
    }

    /// Checks the number of inputs and outputs, and their types, of a node that is new in an opset.
    fn check_types(&mut self, node: &NodeProto, opset: i64) -> Result<(), Blocked> {
        // New constants are written for a version that supports their type.
        let Some(schema) =
            schemas::schema("", node.op_type(), opset).filter(|_| node.op_type() != "Constant")
        else {
            return Ok(());
        };
        let cx = Context {
            is_added: true,
            ..Context::new(
                self.source,
                self.names,
                self.record,
                schema,
                opset,
                Cow::Owned(node.clone()),
            )
        };
        let checked = check::operands(node, schema).and_then(|()| check::supports(&cx));
        checked.map_err(|reason| Blocked {
            opset_step: (opset + 1, opset),
            reason,
        })
    }

    /// The next version step of an operator of onnxruntime: none if the target opset has the
    /// version. The last version is deprecated, or followed by ONNX's operator of the same name.
    fn next_step_of_onnxruntime(
        &self,
        from: &'static Schema,
        at: i64,
    ) -> Result<Option<VersionStep>, Blocked> {
        if from.deprecated {
            return Err(Blocked {
                opset_step: (at, self.target),
                reason: check::deprecated(from),
            });
        }
        let mut versions = schemas::all_versions("", from.name);
        let newer = versions.find(|newer| newer.since_version > at);
        Ok(match newer {
            Some(to) if to.since_version <= self.target => Some(VersionStep {
                from,
                to: Some(to),
                newer: to.since_version,
                opset: to.since_version,
            }),
            _ if self.must_expand => Some(VersionStep {
                from,
                to: None,
                newer: self.target,
                opset: self.target,
            }),
            _ => None,
        })
    }

    /// The next version step towards the target; none if the operator is the same in the target
    /// opset.
    fn next_step(&self, op: &str, at: i64) -> Result<Option<VersionStep>, Blocked> {
        let versions = schemas::versions("", op);
        let next = versions.partition_point(|version| version.since_version <= at);
        if next == 0
            && let Some(from) = schemas::schema("", op, at)
        {
            return self.next_step_of_onnxruntime(from, at);
        }
        let Some(from) = next.checked_sub(1).map(|index| &versions[index]) else {
            let since = versions
                .first()
                .map(|first| format!(", which is new in opset {}", first.since_version));
            let reason = Reason::new(
                OperatorUnknown,
                format!(
                    "opset {at} of ai.onnx has no operator '{op}'{}",
                    since.unwrap_or_default()
                ),
            );
            return Err(Blocked {
                opset_step: (at, self.target),
                reason,
            });
        };
        if let Some(to) = versions
            .get(next)
            .filter(|newer| newer.since_version <= self.target)
        {
            return Ok(Some(VersionStep {
                from,
                to: Some(to),
                newer: to.since_version,
                opset: to.since_version,
            }));
        }
        // No opset has the operator while it is deprecated: it is expanded into nodes of the opset
        // before, which are converted from there.
        let is_expanded = from.deprecated && expansions::find(from).is_some();
        if from.since_version > self.target || is_expanded {
            let older = next.checked_sub(2).map(|index| &versions[index]);
            return Ok(Some(VersionStep {
                from,
                to: older,
                newer: from.since_version,
                opset: from.since_version - 1,
            }));
        }
        if from.deprecated {
            Err(Blocked {
                opset_step: (at, self.target),
                reason: check::deprecated(from),
            })
        } else {
            Ok(None)
        }
    }
}

/// A step between two consecutive versions of an operator.
struct VersionStep {
    from: &'static Schema,
    /// None when downgrading from an operator's first version, and if the target opset has the
    /// operator, which is expanded anyway.
    to: Option<&'static Schema>,
    /// The first opset with the newer version.
    newer: i64,
    /// The opset after the step.
    opset: i64,
}

impl VersionStep {
    fn is_up(&self) -> bool {
        self.opset == self.newer
    }

    /// The opsets before and after the step.
    fn opsets(&self) -> (i64, i64) {
        if self.is_up() && self.to.is_none() {
            (self.newer, self.newer)
        } else if self.is_up() {
            (self.newer - 1, self.newer)
        } else {
            (self.newer, self.newer - 1)
        }
    }
}

/// Takes one step: applies the adapter, of another crate if there is one, then validates the node
/// against the other version.
fn adapt(
    cx: &mut Context,
    step: &VersionStep,
    custom: Option<&OperatorAdapter>,
) -> Result<(), Reason> {
    let op = step.from.name;
    if let Some(adapter) = custom {
        adapter.adapt(&mut NodeAdapter(cx), step.is_up())?;
        return if is_onnx_domain(cx.node.domain()) {
            check_adapted(cx, step)
        } else {
            Ok(())
        };
    }
    let actions = match (adapters::find(op, step.newer), step.to) {
        (Some(adapter), _) if step.is_up() => adapter.up,
        (Some(adapter), _) => adapter.down,
        (None, None) => {
            return Err(Reason::new(
                OperatorTooNew,
                format!("{op} is new in opset {}", step.newer),
            ));
        }
        (None, Some(to)) if adapters::differ_in_types_only(step.from, to) => &[],
        (None, Some(_)) => {
            return Err(Reason::new(
                OperatorUnknown,
                format!("{op} has no adapter for opset {}", step.newer),
            ));
        }
    };
    if !actions.is_empty() {
        check::operands(&cx.node, step.from)?;
    }
    for action in actions {
        action.apply(cx)?;
    }
    if cx.initializer.is_some() || cx.is_removed {
        return Ok(());
    }
    check_adapted(cx, step)
}

/// Validates a node against its schema after a step.
fn check_adapted(cx: &mut Context, step: &VersionStep) -> Result<(), Reason> {
    let target = match cx.node.op_type() {
        name if name == step.from.name => step.to,
        name => schemas::schema("", name, step.opset),
    };
    let target = target.ok_or_else(|| {
        Reason::new(
            OperatorTooNew,
            format!("{} is new in opset {}", cx.node.op_type(), step.opset + 1),
        )
    })?;
    cx.trim_to(target);
    cx.remove_absent(target);
    check::fits(cx, target)
}

/// The doc string of a node in a guard.
fn guarded_doc(node: &NodeProto, runtime: &str) -> Vec<u8> {
    let mut lines = node.doc_string().to_vec();
    if !lines.is_empty() {
        lines.push(b'\n');
    }
    lines.extend(GUARDED.bytes().chain(runtime.bytes()));
    lines
}
