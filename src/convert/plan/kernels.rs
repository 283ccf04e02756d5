//! Kernels of the runtime that has to run the converted model: the nodes that it cannot run.

use crate::base::hash::HashMap;
use crate::base::printable::plural;
use crate::convert::Blocker;
use crate::convert::bodies::graphs;
use crate::convert::context::{NodeSource, Record};
use crate::convert::reason::{Code, Reason};
use crate::graph::{Model, NodeId, is_onnx_domain};
use crate::ops::inference::{Deferred, Known};
use crate::ops::kernels::{
    Operation, Table, Versions, is_run, missing_kernel, numbers, numbers_of, operations_of,
    wrong_result,
};
use crate::ops::runtimes::Runtime;
use crate::ops::schemas::{self, Schema};
use crate::protobuf::schema::NodeProto;

/// The versions of a runtime of which at least one has to run the converted model.
#[derive(Clone, Copy, Debug)]
pub(in crate::convert) struct Wanted {
    table: &'static Table,
    versions: Versions,
    /// The runtime that was named; none if any of the versions will do.
    runtime: Option<Runtime>,
}

/// A node of the converted model that none of the versions runs, or computes right.
#[derive(Clone, Copy, Debug)]
pub(in crate::convert) struct Gap {
    /// The version of its operator, if it is one of ai.onnx.
    pub schema: Option<&'static Schema>,
    /// Whether the conversion added the node.
    pub is_added: bool,
    /// Whether another opset may do, with the same version of the operator.
    pub depends_on_opset: bool,
}

/// The versions of a runtime that run some nodes.
#[derive(Debug)]
pub(in crate::convert) struct Kernels {
    /// The wanted versions that run all nodes.
    pub runs: Versions,
    /// The nodes that none of the wanted versions runs, or computes right.
    pub gaps: Vec<Gap>,
    /// The number of nodes of which it is not certain that they have kernels.
    pub undecided: usize,
}

impl Default for Kernels {
    fn default() -> Kernels {
        Kernels {
            runs: Versions::ALL,
            gaps: Vec::new(),
            undecided: 0,
        }
    }
}

impl Kernels {
    /// Adds what is found of other nodes.
    pub fn add(&mut self, other: Kernels) {
        self.runs &= other.runs;
        self.gaps.extend(other.gaps);
        self.undecided += other.undecided;
    }
}

/// The versions that run a node, or all of the nodes that replace it.
#[derive(Debug, Default)]
pub(in crate::convert) struct Checked {
    pub kernels: Kernels,
    /// Why the first gap is one.
    pub missing: Option<Reason>,
}

impl Wanted {
    /// The version of a runtime that was named; none if its kernels are not known.
    pub fn of(runtime: Runtime) -> Option<Wanted> {
        let (table, version) = Table::of_runtime(&runtime)?;
        Some(Wanted {
            table,
            versions: Versions::between(version, version),
            runtime: Some(runtime),
        })
    }

    /// What is not known of a number of nodes, and why.
    pub fn uncertainty(&self, nodes: usize) -> String {
        let (nodes, runtime) = (plural(nodes, "node"), self.table.runtime);
        if self.table.is_measured() {
            format!(
                "it is not known whether {runtime} computes {nodes} right: some of their tests are right there and some are not, or none was run"
            )
        } else {
            format!(
                "the kernels of {nodes} are not known: types, or the operators of a domain, are unknown"
            )
        }
    }

    /// The listed versions of onnxruntime that load an opset.
    pub fn any_that_loads(opset: i64) -> Option<Wanted> {
        let table = Table::of("onnxruntime")?;
        let loads = |&(_, version): &(usize, _)| {
            Runtime::of_version(table.runtime, version)
                .is_some_and(|runtime| runtime.opset >= opset)
        };
        let versions = table.versions().iter().copied().enumerate().filter(loads);
        let versions = versions.fold(Versions::NONE, |set, (index, _)| {
            set | Versions::between(index, index)
        });
        Some(Wanted {
            table,
            versions,
            runtime: None,
        })
    }

    /// The runtime.
    pub fn runtime(&self) -> &'static str {
        self.table.runtime
    }

    /// Whether the runtime is known not to run functions of a model.
    pub fn refuses_calls(&self) -> bool {
        self.versions.is_subset(self.table.refuse_calls())
    }

    /// Whether the runtime computes something else for a node, in an opset of ai.onnx, be it for
    /// infinities alone.
    pub fn is_wrong(&self, model: &Model, inferred: &Deferred, id: NodeId, opset: i64) -> bool {
        let inferred = inferred.of(model);
        is_run(model, inferred, id.scope)
            && operations_of(model, inferred, id, opset)
                .iter()
                .map(|operation| self.table.support(operation))
                .any(|decision| !((decision.wrong | decision.special) & self.versions).is_empty())
    }

    /// Checks a node that stays as it is, in an opset of ai.onnx.
    pub fn check_kept(
        &self,
        model: &Model,
        inferred: &Deferred,
        id: NodeId,
        opset: i64,
    ) -> Checked {
        let inferred = inferred.of(model);
        let mut checked = Checked::default();
        if is_run(model, inferred, id.scope) {
            let node = model.node(id);
            let opset = if is_onnx_domain(node.domain()) {
                Some(opset)
            } else {
                model.opset(id.scope, node.domain())
            };
            for operation in operations_of(model, inferred, id, opset.unwrap_or(1)) {
                self.check(&operation, false, &mut checked);
            }
        }
        checked
    }

    /// Checks the nodes that replace a node, and those in their subgraphs, unless these are the
    /// subgraphs of the replaced node.
    pub fn check_new(
        &self,
        source: &NodeSource,
        record: &Record,
        nodes: &[NodeProto],
        opset: i64,
    ) -> Checked {
        let inferred = source.inferred.of(source.model);
        let added = record
            .added_values
            .iter()
            .map(|added| (added.name.as_str(), &added.known));
        let mut known: HashMap<&str, &Known> = added.collect();
        known.extend(
            source
                .values
                .iter()
                .map(|&(name, value)| (name, inferred.of(value))),
        );
        let mut checked = Checked::default();
        let mut waiting: Vec<&NodeProto> = if is_run(source.model, inferred, source.id.scope) {
            nodes.iter().rev().collect()
        } else {
            Vec::new()
        };
        while let Some(node) = waiting.pop() {
            let known_of = |names: &[String], index: usize| {
                names
                    .get(index)
                    .and_then(|name| known.get(name.as_str()).copied())
            };
            let of = |names: &[String], index: usize| {
                known_of(names, index).and_then(|known| known.value_type)
            };
            // Adapters of other crates may lead to other domains.
            let opset = if is_onnx_domain(node.domain()) {
                opset
            } else {
                1
            };
            let operation = Operation::new(
                node,
                opset,
                |index| of(&node.input, index),
                |index| of(&node.output, index),
            )
            .with_shapes(|index| known_of(&node.input, index).and_then(|known| known.shape.clone()))
            .with_constants(|index| constant_of(source, record, &node.input[index]))
            .with_constant_inputs(|index| is_constant(source, record, &node.input[index]));
            self.check(&operation, true, &mut checked);
            let inner = graphs(node).flat_map(|graph| graph.node.iter().rev());
            if source.bodies.is_empty() {
                waiting.extend(inner);
            } else if !record.expanded.is_empty() {
                inner
                    .filter(|inner| is_added_to_body(source, inner))
                    .for_each(|inner| self.check_of_any_type(inner, opset, &mut checked));
            }
        }
        checked
    }

    /// Checks a node of unknown types, which is a gap only if no types help.
    fn check_of_any_type(&self, node: &NodeProto, opset: i64, checked: &mut Checked) {
        let operation = Operation::new(node, opset, |_| None, |_| None);
        let decision = self.table.support(&operation);
        if is_onnx_domain(node.domain()) && (decision.possible & self.versions).is_empty() {
            self.check(&operation, true, checked);
        }
    }

    fn check(&self, operation: &Operation, is_added: bool, checked: &mut Checked) {
        let decision = self.table.support(operation);
        let runs = decision.possible & self.versions;
        let kernels = &mut checked.kernels;
        kernels.runs &= runs;
        if (decision.certain & self.versions).is_empty() {
            kernels.undecided = 1;
        }
        if !runs.is_empty() && (decision.wrong & self.versions).is_empty() {
            return;
        }
        if kernels.gaps.is_empty()
            && let Some(runtime) = self.runtime
        {
            let missing = missing_kernel(&runtime, operation)
                .map(|missing| Reason::new(Code::NoKernel, missing.to_string()));
            let wrong = || {
                wrong_result(&runtime, operation)
                    .map(|wrong| Reason::new(Code::WrongInTarget, wrong.to_string()))
            };
            checked.missing = missing.or_else(wrong);
        }
        let schema = schemas::schema("", operation.op(), operation.opset())
            .filter(|_| operation.domain().is_empty());
        kernels.gaps.push(Gap {
            schema,
            is_added,
            depends_on_opset: self.table.depends_on_opset(operation),
        });
    }
}

/// Whether an expansion added a node to a body of the node that it replaces; the other nodes of the
/// body are planned, and checked, for themselves.
fn is_added_to_body(source: &NodeSource, node: &NodeProto) -> bool {
    let is_known = |name: &String| {
        let mut bodies = source.bodies.iter();
        bodies.any(|&body| source.model.lookup(body, name).is_some())
    };
    !node.output.iter().any(is_known)
}

/// The numbers of an input of a node that replaces another, if it is a small constant.
fn constant_of(source: &NodeSource, record: &Record, name: &str) -> Option<Vec<f64>> {
    match record.added(name) {
        Some(added) => numbers(added.constant.as_ref()?),
        None => numbers_of(source.model, source.value(name)?),
    }
}

/// Whether an input of a node that replaces another is a constant.
fn is_constant(source: &NodeSource, record: &Record, name: &str) -> bool {
    match record.added(name) {
        Some(added) => added.constant.is_some(),
        None => source
            .value(name)
            .is_some_and(|value| source.model.constant(value).is_ok()),
    }
}

/// The blocker for a node that the runtime cannot run, or does not compute right.
pub(super) fn blocker(model: &Model, id: NodeId, opset: i64, reason: Option<Reason>) -> Blocker {
    let op = model.node(id).op_type().to_owned();
    let reason = reason.unwrap_or_else(|| Reason::new(Code::NoKernel, ""));
    Blocker {
        node: model.node_path(id),
        op,
        opset_step: (opset, opset),
        reason,
    }
}
