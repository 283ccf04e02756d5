//! Units of quantization: an operator between DequantizeLinear and QuantizeLinear, which runtimes
//! fuse to an operator of integers. A Cast inside of a unit would prevent that.

use super::constraints::Builder;
use super::options::Quantized;
use super::rules::{moves, operator};
use crate::base::hash::HashSet;
use crate::graph::{Model, NodeId, ValueId, is_onnx_domain};

/// The activations that a unit may have behind its operator, beside operators that only move
/// elements.
const ACTIVATIONS: &[&str] = &[
    "Clip",
    "Elu",
    "HardSigmoid",
    "HardSwish",
    "LeakyRelu",
    "Relu",
    "Sigmoid",
    "Tanh",
];

/// The most nodes of a unit.
const MOST_NODES: usize = 16;

impl Builder<'_, '_, '_> {
    /// The nodes of the units of a model.
    pub fn units(&self) -> HashSet<NodeId> {
        let (model, mut units) = (self.model, HashSet::default());
        if self.options.quantized == Quantized::Scales || !self.types.change.is_to_half() {
            return units;
        }
        let mut nodes = model.scopes().flat_map(|scope| model.body(scope).nodes());
        if !nodes.any(|node| node.op_type() == "DequantizeLinear") {
            return units;
        }
        for &node in model.topological_order() {
            let is_operator = !is_quantization(model, node, "DequantizeLinear")
                && !is_quantization(model, node, "QuantizeLinear");
            if is_operator
                && !self.bodies.contains_key(&node)
                && model.callee(node).is_none()
                && self.is_dequantized(node)
            {
                let mut unit = vec![node];
                let mut outputs = model
                    .outputs(node)
                    .filter(|(_, output)| self.types.kinds[output.index()].is_some());
                if outputs.all(|(_, output)| self.leads_to_quantization(output, &mut unit))
                    && unit.len() <= MOST_NODES
                {
                    units.extend(unit);
                }
            }
        }
        units
    }

    /// Whether the inputs of a node whose types may change are dequantized or constants.
    fn is_dequantized(&self, node: NodeId) -> bool {
        let model = self.model;
        let is_dequantized = |value: ValueId| {
            model
                .producer(value)
                .is_some_and(|producer| is_quantization(model, producer, "DequantizeLinear"))
        };
        let inputs = || {
            model
                .inputs(node)
                .map(|(_, input)| input)
                .filter(|input| self.types.kinds[input.index()].is_some())
        };
        inputs().any(is_dequantized)
            && inputs().all(|input| is_dequantized(input) || model.constant(input).is_ok())
    }

    /// Whether a value is only quantized, possibly behind activations, which are added to the unit.
    fn leads_to_quantization(&self, value: ValueId, unit: &mut Vec<NodeId>) -> bool {
        let model = self.model;
        let mut uses = model.uses(value).peekable();
        let is_used = model.scopes_that_output(value).is_empty() && uses.peek().is_some();
        is_used
            && uses.all(|(user, index)| {
                if is_quantization(model, user, "QuantizeLinear") {
                    return index == 0;
                }
                let operator = operator(model, user);
                let is_activation = ACTIVATIONS.contains(&operator) || moves(operator);
                unit.push(user);
                is_activation
                    && unit.len() <= MOST_NODES
                    && model
                        .output(user, 0)
                        .is_some_and(|output| self.leads_to_quantization(output, unit))
            })
    }
}

/// Whether a node applies this operator of ai.onnx or com.microsoft.
fn is_quantization(model: &Model, node: NodeId, operator: &str) -> bool {
    let proto = model.node(node);
    let is_known = is_onnx_domain(proto.domain()) || proto.domain() == "com.microsoft";
    proto.op_type() == operator && is_known && model.callee(node).is_none()
}
