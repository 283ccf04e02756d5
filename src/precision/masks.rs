//! Masks: constants far beyond the range that stand for minus infinity, and the zeros and ones that
//! choose where they are added.

use super::rules::{moves, operator};
use super::weights::floats;
use crate::base::hash::HashSet;
use crate::graph::{Model, NodeId, ValueId};
use crate::ops::inference::Inferred;
use onnx_cast::DType;

/// A constant of this magnitude is a mask wherever it is added or multiplied.
const CERTAIN: f32 = 1e9;
/// A factor of `1 - mask` of this magnitude is one of a mask.
const LEAST_FACTOR: f64 = 1e3;
/// The most values behind a constant that are visited in search of an operator.
const MOST_VISITED: usize = 64;

/// Whether a node uses an input, a constant beyond the range whose least such magnitude is given,
/// as a mask.
pub(super) fn is_mask(
    model: &Model,
    inferred: &Inferred,
    node: NodeId,
    index: u32,
    least: f32,
) -> bool {
    // A mask that is quantized has a scale of its magnitude, by which a smaller one would become
    // zero.
    if leads_to(model, node, &["QuantizeLinear"]) {
        return false;
    }
    let other = || model.input(node, 1 - index.min(1));
    match model.node(node).op_type() {
        "Where" => true,
        "Add" | "Sub" => least >= CERTAIN || leads_to(model, node, &["Softmax", "LogSoftmax"]),
        "Mul" => {
            least >= CERTAIN || other().is_some_and(|other| is_of_truth(model, inferred, other))
        }
        _ => false,
    }
}

/// Whether a Cast makes the zeros and ones of a mask of its input: it is only subtracted from 1,
/// and the difference multiplied with a large constant.
pub(super) fn is_cast_of_mask(model: &Model, cast: ValueId) -> bool {
    let is_difference = |(user, index): (NodeId, u32)| {
        let is_scaled = |(user, index): (NodeId, u32)| {
            let factor = model
                .input(user, 1 - index.min(1))
                .and_then(|factor| scalar(model, factor));
            model.is_op(user, "Mul") && factor.is_some_and(|factor| factor.abs() >= LEAST_FACTOR)
        };
        let is_from_one = model.input(user, 0).and_then(|one| scalar(model, one)) == Some(1.0);
        let difference = model.output(user, 0);
        model.is_op(user, "Sub")
            && index == 1
            && is_from_one
            && difference.is_some_and(|it| all_uses(model, it, &is_scaled))
    };
    all_uses(model, cast, &is_difference)
}

/// Whether a value is used, and all uses of it, and of the values to which data movement copies it,
/// satisfy a condition.
fn all_uses(model: &Model, value: ValueId, is_it: &dyn Fn((NodeId, u32)) -> bool) -> bool {
    let mut uses = model.uses(value).peekable();
    let moved = |node: NodeId| {
        let operator = operator(model, node);
        let is_move = moves(operator) && operator != "Cast" && operator != "Where";
        model.output(node, 0).filter(|_| is_move)
    };
    uses.peek().is_some()
        && uses.all(|used| match moved(used.0) {
            Some(moved) => all_uses(model, moved, is_it),
            None => is_it(used),
        })
}

/// Whether the numbers of a value are truth values: it is `1 - x`, or a cast of BOOL.
fn is_of_truth(model: &Model, inferred: &Inferred, value: ValueId) -> bool {
    let Some(node) = model.producer(value) else {
        return false;
    };
    let input = model.input(node, 0);
    match operator(model, node) {
        "Sub" => input.and_then(|one| scalar(model, one)) == Some(1.0),
        "Cast" => input.is_some_and(|input| {
            inferred.of(input).dtype() == Some(DType::Bool) || is_of_truth(model, inferred, input)
        }),
        operator => {
            moves(operator) && input.is_some_and(|input| is_of_truth(model, inferred, input))
        }
    }
}

/// Whether the result of a node, with other masks or moved, is an argument of one of these
/// operators.
fn leads_to(model: &Model, node: NodeId, operators: &[&str]) -> bool {
    let mut next: Vec<ValueId> = model.outputs(node).map(|(_, output)| output).collect();
    let mut seen: HashSet<ValueId> = next.iter().copied().collect();
    while let Some(value) = next.pop().filter(|_| seen.len() <= MOST_VISITED) {
        for (user, _) in model.uses(value) {
            match operator(model, user) {
                operator if operators.contains(&operator) => return true,
                "Add" | "Sub" | "Max" | "Min" => {}
                operator if moves(operator) => {}
                _ => continue,
            }
            next.extend(
                model
                    .outputs(user)
                    .map(|(_, output)| output)
                    .filter(|output| seen.insert(*output)),
            );
        }
    }
    false
}

/// The number of a constant of one element.
fn scalar(model: &Model, value: ValueId) -> Option<f64> {
    match floats(model, &model.constant(value).ok()?.tensor, 1)?[..] {
        [number] => Some(number),
        _ => None,
    }
}
