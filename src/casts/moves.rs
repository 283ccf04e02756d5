//! Operators that move elements: their results consist of elements of some of their inputs, so that
//! casts can be made before or after.

use super::Casts;
use super::cast::supports;
use crate::graph::{Model, NodeId, ValueId};
use crate::ops::kernels::{Operation, Table, Versions};
use crate::ops::operator_facts::{Movement, movement};
use crate::ops::schemas::ValueType;
use onnx_cast::DType;

/// The operator of a node that moves elements, and from how many of its inputs, the first ones, the
/// elements come.
#[must_use]
pub fn moves(model: &Model, node: NodeId) -> Option<(&'static str, usize)> {
    let proto = model.node(node);
    let (operator, movement) = movement(proto.op_type())?;
    let moved = match movement {
        Movement::First => 1,
        Movement::All => proto.input.len(),
        Movement::Other => return None,
    };
    model.is_op(node, operator).then_some((operator, moved))
}

/// Whether the operator of a node supports an element type as that of its first input.
#[must_use]
pub fn admits(model: &Model, node: NodeId, dtype: DType) -> bool {
    model
        .opset(node.scope, "")
        .is_some_and(|opset| supports(model.node(node).op_type(), opset, dtype))
}

/// The listed versions of onnxruntime that run a node.
#[must_use]
pub fn runs(model: &Model, casts: &Casts, node: NodeId) -> Versions {
    runs_with(model, casts, node, |_, _| None)
}

/// Whether every version of onnxruntime among these that runs a node that moves elements runs it
/// for elements of another type too.
#[must_use]
pub fn keeps_kernels(
    model: &Model,
    casts: &Casts,
    node: NodeId,
    dtype: DType,
    among: Versions,
) -> bool {
    let Some((_, moved)) = moves(model, node) else {
        return true;
    };
    let changed =
        |is_output, index| (is_output || index < moved).then_some(ValueType::Tensor(dtype));
    (runs(model, casts, node) & among).is_subset(runs_with(model, casts, node, changed))
}

/// Whether every version of onnxruntime among these that runs a cast runs it for an input of
/// another type too.
#[must_use]
pub fn keeps_kernels_of_cast(
    model: &Model,
    casts: &Casts,
    node: NodeId,
    from: DType,
    among: Versions,
) -> bool {
    let changed =
        |is_output: bool, index| (!is_output && index == 0).then_some(ValueType::Tensor(from));
    (runs(model, casts, node) & among).is_subset(runs_with(model, casts, node, changed))
}

/// The versions that run a node some of whose inputs and outputs have other types.
fn runs_with(
    model: &Model,
    casts: &Casts,
    node: NodeId,
    changed: impl Fn(bool, usize) -> Option<ValueType>,
) -> Versions {
    let (Some(table), Some(opset)) = (Table::of("onnxruntime"), model.opset(node.scope, "")) else {
        return Versions::ALL;
    };
    let known =
        |value: Option<ValueId>| value.and_then(|value| casts.inferred().of(value).value_type);
    let input =
        |index: usize| changed(false, index).or_else(|| known(model.input(node, index as u32)));
    let output =
        |index: usize| changed(true, index).or_else(|| known(model.output(node, index as u32)));
    table
        .support(&Operation::new(model.node(node), opset, input, output))
        .possible
}
