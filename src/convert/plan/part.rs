//! Plans the conversion of some nodes of a scope. Parts of a large scope are planned at the same
//! time.

use std::rc::Rc;

use super::convert_node::{Blocked, Guard, NodeConverter};
use super::kernels::{self, Checked, Kernels, Wanted};
use crate::base::error::Invalid;
use crate::base::hash::{HashMap, SharedTexts};
use crate::base::progress::{Counter, cancelled};
use crate::base::threshold::Threshold;
use crate::convert::bodies::{Bodies, graphs, uses};
use crate::convert::context::derived_constants::DerivedConstants;
use crate::convert::context::{NodeSource, Record};
use crate::convert::expanded::ExpandedOperator;
use crate::convert::expansions;
use crate::convert::expansions::consistency::{CheckedReplacements, expect_consistent_replacement};
use crate::convert::expansions::expansion_body::ExpansionBodies;
use crate::convert::reason::{NameAmbiguous, Reason};
use crate::convert::simplify::CheckOfPasses;
use crate::convert::{Blocker, Expanded, NodeChange, Options};
use crate::graph::{Edit, FreshNames, Model, NewNodes, NodeId, ScopeId, ValueId, is_onnx_domain};
use crate::ops::inference::Deferred;
use crate::ops::schemas;
use crate::protobuf::schema::{GraphProto, NodeProto, TensorProto};

/// The data from which the plans of all parts are made.
#[derive(Clone, Copy)]
pub(super) struct Shared<'a, 'm> {
    pub model: &'m Model,
    pub options: &'a Options,
    pub inferred: &'m Deferred,
    /// The versions of a runtime of which one has to run the result.
    pub wanted: Option<Wanted>,
    pub check: Option<CheckOfPasses>,
    /// The opset of the scope.
    pub from: i64,
    pub counter: &'a Counter,
}

/// The plan of a part, in document order.
#[derive(Default)]
pub(super) struct Part {
    /// The nodes that replace a changed node.
    pub nodes: Vec<(NodeId, NewNodes)>,
    /// The changed nodes that were expanded into nodes that a function can contain.
    pub callable: Vec<NodeId>,
    /// Constants that a node no longer uses.
    pub released: Vec<ValueId>,
    /// Constants that became initializers of the scope of their node.
    pub initializers: Vec<(ScopeId, TensorProto)>,
    /// All other edits except those of nodes.
    pub edits: Vec<Edit>,
    pub changes: Vec<(NodeId, NodeChange)>,
    pub expansions: Vec<(NodeId, Expanded)>,
    pub warnings: Vec<(NodeId, NodeChange)>,
    pub blockers: Vec<(NodeId, Blocker)>,
    pub kernels: Kernels,
}

impl Part {
    /// Records which versions run a node, or the nodes that replace it.
    pub fn check(&mut self, model: &Model, id: NodeId, opset: i64, checked: Checked) {
        let Checked { kernels, missing } = checked;
        if !kernels.gaps.is_empty() {
            self.blockers
                .push((id, kernels::blocker(model, id, opset, missing)));
        }
        self.kernels.add(kernels);
    }
}

/// The number of nodes after which progress is reported.
const BATCH: Threshold = Threshold::new("planned nodes between reports of progress", 64);

impl<'m> Shared<'_, 'm> {
    /// Plans nodes of a scope whose inner scopes are planned.
    ///
    /// # Errors
    /// If the operation is cancelled.
    pub fn plan(
        &self,
        nodes: &[NodeId],
        bodies: &Bodies<'m>,
        names: &mut FreshNames<'m>,
    ) -> Result<Part, Invalid> {
        let mut planner = NodePlanner {
            shared: self,
            bodies,
            names,
            texts: SharedTexts::default(),
            in_target: HashMap::default(),
            checked: CheckedReplacements::default(),
            expansions: ExpansionBodies::new(self.check),
            derived: Rc::new(DerivedConstants::new(self.options.contested, self.check)),
            part: Part::default(),
        };
        for batch in nodes.chunks(BATCH.get()) {
            batch.iter().for_each(|&node| planner.node(node));
            if !self.counter.add(batch.len() as u64) {
                return Err(cancelled());
            }
        }
        Ok(planner.part)
    }
}

struct NodePlanner<'a, 'm> {
    shared: &'a Shared<'a, 'm>,
    bodies: &'a Bodies<'m>,
    names: &'a mut FreshNames<'m>,
    /// Texts of the report. Many nodes have the same operator and change in the same way.
    texts: SharedTexts,
    /// By operator: whether the target has the same one.
    in_target: HashMap<&'m str, InTarget>,
    checked: CheckedReplacements,
    expansions: ExpansionBodies,
    derived: Rc<DerivedConstants>,
    part: Part,
}

impl<'m> NodePlanner<'_, 'm> {
    fn node(&mut self, id: NodeId) {
        let (
            Shared {
                model,
                options,
                inferred,
                from,
                ..
            },
            bodies,
        ) = (*self.shared, self.bodies);
        let proto = model.node(id);
        let in_target = if !is_onnx_domain(proto.domain()) || model.callee(id).is_some() {
            InTarget::Same
        } else {
            self.in_target(proto.op_type())
        };
        let must_expand = in_target == InTarget::SameOfOnnxruntime && self.lacks_kernel(id);
        let guard = self.guard(id);
        if in_target != InTarget::Converted && !must_expand && guard.is_none() {
            if let Some(wanted) = self.shared.wanted {
                let checked = wanted.check_kept(model, inferred, id, options.opset);
                self.part.check(model, id, options.opset, checked);
            }
            return;
        }
        let named = model
            .inputs(id)
            .chain(model.outputs(id))
            .map(|(_, value)| (model.name(value), value));
        let mut values: Vec<_> = named.collect();
        values.sort_unstable();
        values.dedup();
        let ambiguous = values
            .windows(2)
            .find(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[0].0);
        let source = NodeSource {
            model,
            inferred,
            derived: Rc::clone(&self.derived),
            settings: options.settings(),
            id,
            values,
            bodies: bodies.of(id).to_vec(),
        };
        let node = bodies.with_planned(id);
        let mut record = Record::default();
        let mut converter = NodeConverter {
            source: &source,
            names: &mut *self.names,
            record: &mut record,
            bodies: &mut self.expansions,
            target: options.opset,
            must_expand,
            guard,
            adapters: &options.adapters,
        };
        let converted = match ambiguous {
            Some(name) => {
                let reason = Reason::new(
                    NameAmbiguous,
                    format!("'{name}' names one value as an input and another as an output"),
                );
                Err(Blocked {
                    opset_step: (from, options.opset),
                    reason,
                })
            }
            None => converter.convert(node, from),
        };
        let kept = converted.and_then(|converted| {
            let nodes = converted.into_nodes();
            let consistent = expect_consistent_replacement(
                &source,
                &nodes,
                &record.initializers,
                options.opset,
                &mut self.checked,
            );
            consistent.map_err(|reason| Blocked {
                opset_step: (from, options.opset),
                reason,
            })?;
            Ok(nodes)
        });
        if let (Some(wanted), Ok(nodes)) = (self.shared.wanted, &kept) {
            let checked = wanted.check_new(&source, &record, nodes, options.opset);
            self.part.check(model, id, options.opset, checked);
        }
        match kept {
            Ok(nodes) => self.keep(id, nodes, record),
            Err(Blocked { opset_step, reason }) => {
                let op = proto.op_type().to_owned();
                let blocker = Blocker {
                    node: model.node_path(id),
                    op,
                    opset_step,
                    reason,
                };
                self.part.blockers.push((id, blocker));
            }
        }
    }

    /// Whether the runtime that has to run the result lacks a kernel for a node, or computes
    /// something else; if its kernels are not known, for a node of an operator of onnxruntime.
    fn lacks_kernel(&self, id: NodeId) -> bool {
        let Shared {
            model,
            options,
            inferred,
            wanted,
            ..
        } = *self.shared;
        match (wanted, options.runtime) {
            (Some(wanted), _) => {
                let checked = wanted.check_kept(model, inferred, id, options.opset);
                !checked.kernels.gaps.is_empty()
            }
            (None, Some(runtime)) => runtime.name != "onnxruntime",
            (None, None) => false,
        }
    }

    /// The guard of a node for which the runtime that has to run the result computes something
    /// else, or that it refuses.
    fn guard(&self, id: NodeId) -> Option<Guard> {
        let Shared {
            model,
            options,
            inferred,
            wanted,
            ..
        } = *self.shared;
        let (wanted, node) = (wanted?, model.node(id));
        let guard = expansions::guard(node.op_type(), wanted.runtime())?;
        let is_needed = is_onnx_domain(node.domain())
            && (wanted.is_wrong(model, inferred, id, options.opset)
                || guard.is_for_refused && self.lacks_kernel(id));
        is_needed.then_some(Guard {
            expansion: guard,
            runtime: wanted.runtime(),
        })
    }

    /// What becomes of the nodes of an operator.
    fn in_target(&mut self, op: &'m str) -> InTarget {
        let (from, to) = (self.shared.from, self.shared.options.opset);
        *self
            .in_target
            .entry(op)
            .or_insert_with(|| in_target(op, from, to))
    }

    /// Records the result for a node.
    fn keep(&mut self, id: NodeId, mut nodes: Vec<NodeProto>, record: Record) {
        let model = self.shared.model;
        for warning in &record.warnings {
            let change = self.change(id, warning);
            self.part.warnings.push((id, change));
        }
        if record.notes.is_empty() {
            return;
        }
        let change = self.change(id, &record.notes.join("; "));
        let part = &mut self.part;
        part.changes.push((id, change));
        let at_node = |expanded: &ExpandedOperator| (id, expanded.at(model.node_path(id).into()));
        part.expansions.extend(record.expanded.iter().map(at_node));
        part.released.extend(record.released);
        part.edits.extend(
            record
                .declared
                .into_iter()
                .map(|(value, dtype)| Edit::set_type(value, dtype)),
        );
        let mut initializers = record.initializers;
        // Removes added constants that a later step no longer uses.
        let own = &model.node(id).output;
        let is_used =
            |name: &String| own.contains(name) || nodes.iter().any(|node| uses(node, name));
        let superfluous = record
            .added_values
            .into_iter()
            .filter(|value| value.constant.is_some() && !is_used(&value.name));
        let superfluous: Vec<String> = superfluous.map(|value| value.name).collect();
        let is_wanted = |name: &str| !superfluous.iter().any(|unused| unused == name);
        nodes.retain(|node| node.output.first().is_none_or(|name| is_wanted(name)));
        initializers.retain(|tensor| is_wanted(tensor.name()));
        if !record.expanded.is_empty()
            && initializers.is_empty()
            && !nodes.iter().any(declares_values)
        {
            part.callable.push(id);
        }
        part.initializers
            .extend(initializers.into_iter().map(|tensor| (id.scope, tensor)));
        part.nodes.push((id, nodes.into()));
    }

    fn change(&mut self, id: NodeId, what: &str) -> NodeChange {
        let model = self.shared.model;
        NodeChange {
            node: model.node_path(id).into(),
            op: self.texts.shared(model.node(id).op_type()),
            what: self.texts.shared(what),
        }
    }
}

/// Whether a subgraph of a node has constants or statements on values of its own, which a function
/// cannot rename.
fn declares_values(node: &NodeProto) -> bool {
    let declares = |graph: &GraphProto| {
        !graph.initializer.is_empty()
            || !graph.sparse_initializer.is_empty()
            || !graph.value_info.is_empty()
            || !graph.quantization_annotation.is_empty()
            || graph.node.iter().any(declares_values)
    };
    graphs(node).any(declares)
}

/// What becomes of the nodes of an operator.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InTarget {
    /// The target does not have the version of the operator.
    Converted,
    /// They stay.
    Same,
    /// They stay if the runtime has the operator of onnxruntime.
    SameOfOnnxruntime,
}

fn in_target(op: &str, from: i64, to: i64) -> InTarget {
    let [present, target] = [from, to].map(|opset| schemas::schema("", op, opset));
    let same = present
        .zip(target)
        .filter(|(present, target)| std::ptr::eq(*present, *target) && !target.deprecated);
    match same {
        Some((schema, _)) if schema.of_onnxruntime => InTarget::SameOfOnnxruntime,
        Some(_) => InTarget::Same,
        None if from == to => InTarget::Same,
        None => InTarget::Converted,
    }
}
