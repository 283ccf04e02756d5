//! The numbers of inputs and outputs of the bodies of `If` and `Loop`.

use crate::graph::{Model, NodeId};
use crate::protobuf::schema::GraphProto;

/// A body of a Loop takes the number of the iteration, the condition and what the node carries. A
/// branch of an If takes nothing, and has the outputs of the node.
pub(super) fn fault(model: &Model, id: NodeId) -> Option<String> {
    let node = model.node(id);
    let op = node.op_type();
    if !matches!(op, "If" | "Loop") || !model.is_op(id, op) {
        return None;
    }
    let is_branch = op == "If";
    let bodies = || {
        node.attribute
            .iter()
            .filter_map(|attribute| Some((attribute.name(), attribute.g.as_ref()?)))
    };
    let outputs = node.output.len();
    if let Some((name, branch)) =
        bodies().find(|(_, branch)| is_branch && branch.output.len() != outputs)
    {
        return Some(format!(
            "`{name}` has {} outputs, but the node has {outputs}",
            branch.output.len()
        ));
    }
    let expected = match (is_branch, node.input.len()) {
        (true, _) => 0,
        (false, 0 | 1) => return None,
        (false, inputs) => inputs,
    };
    let is_initialized =
        |body: &GraphProto, name: &str| body.initializer.iter().any(|tensor| tensor.name() == name);
    let inputs = |body: &GraphProto| {
        body.input
            .iter()
            .filter(|input| !is_initialized(body, input.name()))
            .count()
    };
    let wrong = bodies()
        .map(|(name, body)| (name, inputs(body)))
        .find(|&(_, inputs)| inputs != expected);
    wrong.map(|(name, inputs)| {
        format!("the number of inputs of `{name}` is {inputs}, not {expected}")
    })
}
