//! The kernels of the runtime that has to run the result: a node without a kernel for its new types
//! keeps the old ones.
//!
//! Whether a node has a kernel depends on all of its types, which are known after the cut only. The
//! cut is repeated, with nodes without a kernel kept, until all nodes that change have a kernel.

use std::collections::BTreeMap;

use super::casts::cast_node;
use super::change::TypeChange;
use super::reason::Code;
use super::types::{Assignment, Classes, Types, ValueKind, Variable};
use super::uses::User;
use crate::graph::{Model, NodeId, ScopeId};
use crate::ops::kernels::{MissingKernel, Operation, Table, is_run, missing_kernel, operations_of};
use crate::ops::runtimes::Runtime;
use crate::ops::schemas::ValueType;
use onnx_cast::DType;

/// The nodes of a model for which a runtime has no kernel.
pub(super) struct Kernels {
    /// None if there is no runtime, or its kernels are not known.
    runtime: Option<Runtime>,
    /// By node: its inputs and outputs whose types may change.
    operands: BTreeMap<NodeId, Vec<KernelOperand>>,
    missing: BTreeMap<NodeId, MissingKernel>,
}

/// An input or output of a node whose type may change.
struct KernelOperand {
    is_output: bool,
    index: u32,
    variable: Variable,
    /// The new type.
    new: ValueType,
}

impl Kernels {
    pub fn of(runtime: Option<Runtime>, types: &Types) -> Kernels {
        let runtime = runtime.filter(|runtime| Table::of_runtime(runtime).is_some());
        let mut kernels = Kernels {
            runtime,
            operands: BTreeMap::new(),
            missing: BTreeMap::new(),
        };
        if runtime.is_none() {
            return kernels;
        }
        let model = types.model;
        let new = |value| {
            types
                .value_type(value)
                .map(|value_type| types.change.changed(value_type))
        };
        for used in types.uses.iter() {
            // A cast to the new type keeps its own types.
            if let User::Input(node, index) = used.user
                && !types.casts.contains_key(&node)
                && is_run(model, &types.inferred, node.scope)
                && let Some(new) = new(used.value)
            {
                let operand = KernelOperand {
                    is_output: false,
                    index,
                    variable: used.variable,
                    new,
                };
                kernels.operands.entry(node).or_default().push(operand);
            }
        }
        for scope in model
            .scopes()
            .filter(|&scope| is_run(model, &types.inferred, scope))
        {
            for node in model.nodes(scope) {
                for (index, value) in model.outputs(node) {
                    let changes = matches!(types.kinds[value.index()], Some(kind) if !matches!(kind, ValueKind::CastOf(_)));
                    if let Some(new) = new(value).filter(|_| changes) {
                        let operand = KernelOperand {
                            is_output: true,
                            index,
                            variable: value.index() as Variable,
                            new,
                        };
                        kernels.operands.entry(node).or_default().push(operand);
                    }
                }
            }
        }
        kernels
    }

    /// Finds nodes without a kernel for the types that they would have. Whether there are more than
    /// were known.
    pub fn find_missing(
        &mut self,
        types: &Types,
        classes: &Classes,
        assignments: &[Assignment],
    ) -> bool {
        let Some(runtime) = self.runtime else {
            return false;
        };
        let known = self.missing.len();
        let assignment = |variable: Variable| assignments[classes.root(variable) as usize];
        for (&node, operands) in &self.operands {
            let changed: Vec<&KernelOperand> = operands
                .iter()
                .filter(|operand| assignment(operand.variable) == Assignment::New)
                .collect();
            if changed.is_empty() || self.missing.contains_key(&node) {
                continue;
            }
            let opset = types
                .model
                .opset(node.scope, types.model.node(node).domain())
                .unwrap_or(1);
            if let Some(missing) = lacking(&runtime, types, node, opset, &changed) {
                self.missing.insert(node, missing);
            }
        }
        self.missing.len() > known
    }

    /// The nodes without a kernel keep their types.
    pub fn keep(&self, types: &mut Types) {
        for operand in self
            .missing
            .keys()
            .filter_map(|node| self.operands.get(node))
            .flatten()
        {
            types.fix_old(operand.variable, Code::NoKernel);
        }
    }

    /// Why a node has no kernel, if it has none.
    pub fn reason(&self, node: NodeId) -> Option<String> {
        self.missing.get(&node).map(ToString::to_string)
    }

    /// Whether the runtime loads an opset, and may have a kernel in it for a node whose types all
    /// change.
    pub fn runs_in(&self, types: &Types, node: NodeId, opset: i64) -> bool {
        let Some(runtime) = self.runtime else {
            return true;
        };
        let operands: Vec<&KernelOperand> =
            self.operands.get(&node).into_iter().flatten().collect();
        opset <= runtime.newest_opset()
            && lacking(&runtime, types, node, opset, &operands).is_none()
    }
}

/// The kernel that the runtime lacks for a node of which some types change.
fn lacking(
    runtime: &Runtime,
    types: &Types,
    node: NodeId,
    opset: i64,
    changed: &[&KernelOperand],
) -> Option<MissingKernel> {
    let new = |is_output: bool, index: usize| {
        let is_it = |operand: &&&KernelOperand| {
            operand.is_output == is_output && operand.index as usize == index
        };
        changed.iter().find(is_it).map(|operand| operand.new)
    };
    let operations = operations_of(types.model, &types.inferred, node, opset);
    operations
        .into_iter()
        .find_map(|operation| missing_kernel(runtime, &operation.with_types(new)))
}

/// Whether a runtime has kernels, if they are known, for the casts in a scope between an old type
/// and the new one.
pub(super) fn runs_casts(
    runtime: &Runtime,
    model: &Model,
    scope: ScopeId,
    old: DType,
    change: TypeChange,
) -> bool {
    let opset = model.opset(scope, "").unwrap_or(1);
    [(old, change.to), (change.to, old)]
        .into_iter()
        .all(|(from, to)| {
            let cast = cast_node(model, scope, "", ["x", "y"], to);
            let tensor = |dtype| Some(ValueType::Tensor(dtype));
            missing_kernel(
                runtime,
                &Operation::new(&cast, opset, |_| tensor(from), |_| tensor(to)),
            )
            .is_none()
        })
}
