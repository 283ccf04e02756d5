//! Nodes that look like one operator, and compute something else; and reductions of integers, with
//! an elementwise operator behind them.
//!
//! A runtime that replaces such nodes by the operator compares operators, not whether the values
//! between them and the constants are those of its definition. What it computes then is in
//! `facts/runs/` of onnx-operators, with models of each in `combinations.py`.

use std::f64::consts::SQRT_2;

use super::constants::numbers_of;
use crate::graph::{Model, NodeId, ValueId};
use crate::ops::inference::Inferred;
use crate::ops::operator_facts::movement;
use onnx_cast::Class;

/// What nodes look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Combination {
    /// The operator, or [`ELEMENTWISE`].
    pub operator: &'static str,
    /// The index of an input of the last node: with a node before it, they look like something
    /// else.
    pub input: u32,
}

/// The first opset in which the axes of `ReduceSum` are an input.
const WITH_SUMMED_AXES: i64 = 13;

/// The first opset in which the axes of the other reductions are an input. OpenCV's patterns have
/// attributes there.
const WITH_AXES: i64 = 18;

/// A reduction of integers with an elementwise operator behind it, which OpenVINO computes together
/// with it.
const ELEMENTWISE: &str = "Elementwise";

/// The operators that OpenVINO computes together with a reduction before them. It removes data
/// movement between the two that changes nothing.
const COMBINED: &[&str] = &["Abs", "Add", "Clip", "Div", "Mul", "Neg", "Relu", "Sub"];

/// What a node looks like in an opset, with the nodes before it, though they compute something else.
#[must_use]
pub fn combination(
    model: &Model,
    inferred: &Inferred,
    id: NodeId,
    opset: i64,
) -> Option<Combination> {
    let nodes = Nodes {
        model,
        inferred,
        opset,
        last: id,
    };
    let (operator, input) = match model.node(id).op_type() {
        "Add" => nodes.layer_normalization(),
        "Div" => nodes.softmax().or_else(|| nodes.lp_normalization()),
        "Log" => nodes.softplus(),
        "Mul" => nodes.swish_or_mish().or_else(|| nodes.gelu()),
        "Reshape" => nodes.reshape(),
        "Sub" => nodes.log_softmax(),
        op if op.starts_with("Reduce") => nodes.reduction(),
        _ => None,
    }?;
    Some(Combination { operator, input })
}

/// The operator, and the index of an input.
type Found = Option<(&'static str, u32)>;

/// Whether numbers are equal, but for the rounding of an exporter.
fn is_close(number: f64, other: f64) -> bool {
    (number - other).abs() < 1e-5
}

/// The nodes that end in a node.
struct Nodes<'m> {
    model: &'m Model,
    inferred: &'m Inferred,
    opset: i64,
    last: NodeId,
}

impl Nodes<'_> {
    /// The product of a value and a function of another one.
    fn swish_or_mish(&self) -> Found {
        for (index, factor, other) in self.both_inputs(self.last) {
            let found = if let Some(sigmoid) = self.made_by(factor, "HardSigmoid") {
                let is_swish = is_close(self.float_or(sigmoid, "alpha", 0.2), 1.0 / 6.0)
                    && is_close(self.float_or(sigmoid, "beta", 0.5), 0.5);
                is_swish.then_some(("HardSwish", vec![sigmoid]))
            } else {
                self.made_by(factor, "Tanh").and_then(|tanh| {
                    let softplus = self.made_by(self.input(tanh, 0)?, "Softplus")?;
                    Some(("Mish", vec![softplus, tanh]))
                })
            };
            let Some((operator, before)) = found else {
                continue;
            };
            let is_it = self.input(before[0], 0) == Some(other) && !self.some_is_output(&before);
            return (!is_it).then_some((operator, index));
        }
        None
    }

    /// Half the product of a value and one more than the error function of another one.
    fn gelu(&self) -> Found {
        self.both_inputs(self.last)
            .find_map(|(index, product, half)| {
                let product = self.made_by(product, "Mul")?;
                self.both_inputs(product).find_map(|(_, sum, other)| {
                    let sum = self.made_by(sum, "Add")?;
                    let (erf, one) = self.either_made_by(sum, "Erf")?;
                    let scaled = self.made_by(self.input(erf, 0)?, "Div")?;
                    let root = self.input(scaled, 1)?;
                    if !self.is_number(half, 0.5)
                        || !self.is_number(one, 1.0)
                        || !self.is_number(root, SQRT_2)
                    {
                        return None;
                    }
                    let is_it = self.input(scaled, 0) == Some(other)
                        && self.are_first(&[(erf, sum), (product, self.last)])
                        && !self.some_is_output(&[scaled, erf, sum, product]);
                    (!is_it).then_some(("Gelu", index))
                })
            })
    }

    /// The quotient of a value and the norm of another one.
    fn lp_normalization(&self) -> Found {
        if self.opset >= WITH_AXES {
            return None;
        }
        let norm = self.made_by(self.input(self.last, 1)?, "ReduceL2")?;
        let is_it = self.input(norm, 0) == self.input(self.last, 0)
            && self.axes(norm).is_some_and(|axes| axes.len() == 1)
            && !self.some_is_output(&[norm]);
        (!is_it).then_some(("LpNormalization", 1))
    }

    /// The logarithm of a power of e and another number.
    fn softplus(&self) -> Found {
        let sum = self.made_by(self.input(self.last, 0)?, "Add")?;
        let (power, other) = self.either_made_by(sum, "Exp")?;
        let is_it = self
            .numbers(other)
            .is_some_and(|numbers| numbers.iter().all(|&number| number == 1.0))
            && !self.some_is_output(&[power, sum]);
        (!is_it).then_some(("Softplus", 0))
    }

    /// The quotient of a power of e and its sum, of differences to a maximum.
    fn softmax(&self) -> Found {
        let sum = self.input(self.last, 1)?;
        let is_it = self.sums_powers(sum, |power, _| {
            self.output(power) == self.input(self.last, 0)
        })?;
        (!is_it).then_some(("Softmax", 1))
    }

    /// A difference to a maximum less the logarithm of the sum of its power of e.
    fn log_softmax(&self) -> Found {
        let log = self.made_by(self.input(self.last, 1)?, "Log")?;
        let is_it = self.sums_powers(self.input(log, 0)?, |_, difference| {
            self.output(difference) == self.input(self.last, 0) && !self.some_is_output(&[log])
        })?;
        (!is_it).then_some(("LogSoftmax", 1))
    }

    /// Whether a sum of powers of e of differences to a maximum is that of a softmax, if it is one.
    /// `ends` tells whether the rest is, for the nodes of the powers and the differences.
    fn sums_powers(&self, sum: ValueId, ends: impl Fn(NodeId, NodeId) -> bool) -> Option<bool> {
        if !(WITH_SUMMED_AXES..WITH_AXES).contains(&self.opset) {
            return None;
        }
        let sum = self.made_by(sum, "ReduceSum")?;
        let power = self.made_by(self.input(sum, 0)?, "Exp")?;
        let difference = self.made_by(self.input(power, 0)?, "Sub")?;
        let maximum = self.made_by(self.input(difference, 1)?, "ReduceMax")?;
        let axes = self.axes(sum);
        Some(
            self.input(maximum, 0) == self.input(difference, 0)
                && axes.is_some()
                && axes == self.axes(maximum)
                && ends(power, difference)
                && !self.some_is_output(&[maximum, difference, power, sum]),
        )
    }

    /// Differences to a mean by the root of the mean of their squares, scaled and moved.
    fn layer_normalization(&self) -> Found {
        if self.opset >= WITH_AXES {
            return None;
        }
        self.both_inputs(self.last)
            .find_map(|(index, scaled, bias)| {
                let scaled = self.made_by(scaled, "Mul")?;
                let (quotient, scale) = self.either_made_by(scaled, "Div")?;
                let root = self.made_by(self.input(quotient, 1)?, "Sqrt")?;
                let sum = self.made_by(self.input(root, 0)?, "Add")?;
                let (variance, _) = self.either_made_by(sum, "ReduceMean")?;
                let square = self.made_by(self.input(variance, 0)?, "Pow")?;
                let difference = self.made_by(self.input(square, 0)?, "Sub")?;
                let mean = self.made_by(self.input(difference, 1)?, "ReduceMean")?;
                if !self.is_number(self.input(square, 1)?, 2.0)
                    || self.is_along_another_axis(variance)
                {
                    return None;
                }
                let is_it = self.input(mean, 0) == self.input(difference, 0)
                    && self.are_first(&[(variance, sum), (quotient, scaled), (scaled, self.last)])
                    && self.is_constant_vector(scale)
                    && self.is_constant_vector(bias)
                    && self.input(quotient, 0) == self.output(difference)
                    && self.axes(variance).is_some_and(|axes| axes.len() == 1)
                    && !self.some_is_output(&[
                        mean, difference, square, variance, sum, root, quotient, scaled,
                    ]);
                (!is_it).then_some(("LayerNormalization", index))
            })
    }

    /// A `Reshape` that copies a dimension of another one's result, which nothing else uses.
    fn reshape(&self) -> Found {
        let between = self.input(self.last, 0)?;
        let first = self.made_by(between, "Reshape")?;
        let keeps_zeros = self.model.attribute(self.last, "allowzero").value();
        if self.model.uses(between).nth(1).is_some()
            || self.some_is_output(&[first])
            || keeps_zeros.is_some_and(|attribute| attribute.i() != 0)
        {
            return None;
        }
        let wanted = self.numbers(self.input(self.last, 1)?)?;
        let dim =
            |value: ValueId, axis: usize| *self.inferred.of(value).shape.as_ref()?.get(axis)?;
        let source = self.input(first, 0)?;
        let differs =
            |axis: usize| dim(source, axis).is_none() || dim(source, axis) != dim(between, axis);
        let mut copied = (0..wanted.len()).filter(|&axis| wanted[axis] == 0.0);
        copied.any(differs).then_some(("Reshape", 0))
    }

    /// A reduction of integers whose result one node alone uses, which computes integers of it, or
    /// moves them.
    fn reduction(&self) -> Found {
        let is_integer = |value: ValueId| {
            let dtype = self.inferred.of(value).dtype();
            dtype.is_some_and(|dtype| matches!(dtype.class(), Class::Signed | Class::Unsigned))
        };
        let result = self.output(self.last)?;
        let mut users = self.model.uses(result);
        let (Some((user, _)), None) = (users.next(), users.next()) else {
            return None;
        };
        let op = self.model.node(user).op_type();
        let is_combined = COMBINED.contains(&op) || movement(op).is_some();
        let are_integers = is_integer(result) && self.output(user).is_some_and(is_integer);
        (is_combined && are_integers).then_some((ELEMENTWISE, 0))
    }

    fn input(&self, node: NodeId, index: u32) -> Option<ValueId> {
        self.model.input(node, index)
    }

    fn output(&self, node: NodeId) -> Option<ValueId> {
        self.model.output(node, 0)
    }

    fn numbers(&self, value: ValueId) -> Option<Vec<f64>> {
        numbers_of(self.model, value)
    }

    /// The node of an operator in the same graph that computes a value.
    fn made_by(&self, value: ValueId, operator: &str) -> Option<NodeId> {
        let node = self.model.producer(value)?;
        (node.scope == self.last.scope && self.model.is_op(node, operator)).then_some(node)
    }

    /// Two inputs, each with its index and the other one.
    fn both_inputs(&self, node: NodeId) -> impl Iterator<Item = (u32, ValueId, ValueId)> {
        let inputs = self.input(node, 0).zip(self.input(node, 1));
        let pairs = inputs.map(|(first, second)| [(0, first, second), (1, second, first)]);
        pairs.into_iter().flatten()
    }

    /// The node of an operator that computes one of two inputs, and the other input.
    fn either_made_by(&self, node: NodeId, operator: &str) -> Option<(NodeId, ValueId)> {
        self.both_inputs(node)
            .find_map(|(_, value, other)| Some((self.made_by(value, operator)?, other)))
    }

    /// Whether a result of some nodes is an output of a graph.
    fn some_is_output(&self, nodes: &[NodeId]) -> bool {
        let mut results = nodes.iter().filter_map(|&node| self.output(node));
        results.any(|value| !self.model.scopes_that_output(value).is_empty())
    }

    /// Whether the result of each node is the first input of the one beside it: OpenCV fails if a
    /// constant is.
    fn are_first(&self, nodes: &[(NodeId, NodeId)]) -> bool {
        let mut nodes = nodes.iter();
        nodes.all(|&(node, user)| self.output(node) == self.input(user, 0))
    }

    /// Whether a value is a constant of rank 1.
    fn is_constant_vector(&self, value: ValueId) -> bool {
        let constant = self.model.constant(value);
        constant.is_ok_and(|constant| constant.tensor.dims.len() == 1)
    }

    /// The number of an attribute.
    fn float_or(&self, node: NodeId, name: &str, default: f32) -> f64 {
        let attribute = self.model.attribute(node, name);
        let found = attribute.value().and_then(|attribute| attribute.f);
        found.unwrap_or(default).into()
    }

    /// Whether a value is one constant number.
    fn is_number(&self, value: ValueId, number: f64) -> bool {
        let numbers = self.numbers(value);
        numbers.is_some_and(|numbers| numbers.len() == 1 && is_close(numbers[0], number))
    }

    /// Whether a node reduces along one axis, which is not the last one.
    fn is_along_another_axis(&self, node: NodeId) -> bool {
        let axes = self.axes(node).unwrap_or_default();
        let shape = self
            .input(node, 0)
            .and_then(|value| self.inferred.of(value).shape.as_ref());
        let is_last =
            |axis: i64| axis == -1 || shape.is_none_or(|shape| axis + 1 == shape.len() as i64);
        axes.len() == 1 && !is_last(axes[0])
    }

    /// The axes along which a node reduces, if they are stated.
    fn axes(&self, node: NodeId) -> Option<Vec<i64>> {
        if let Some(attribute) = self.model.attribute(node, "axes").value() {
            return Some(attribute.ints.clone());
        }
        let numbers = self.numbers(self.input(node, 1)?)?;
        Some(numbers.into_iter().map(|number| number as i64).collect())
    }
}
