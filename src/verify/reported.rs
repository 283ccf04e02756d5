//! The nodes that the report of a change of precision lists: added casts or roundings, and removed
//! casts. And nodes that became invalid.

use super::erasure::Erasure;
use super::fault::Fault;
use super::laws;
use crate::base::parallel;
use crate::graph::{NodeId, TypeSource};
use crate::ops::validity::node_fault;
use crate::precision::AddedCast;
use crate::precision::rounding::{DOMAIN, function_name};
use onnx_cast::DType;

impl<'v> Erasure<'v> {
    /// Whether the model keeps its types, and is rounded instead.
    pub fn is_emulated(&self) -> bool {
        self.report.emulation.is_some()
    }

    /// Whether a node of the original is a cast of a type to itself.
    pub fn is_of_type_to_itself(&self, node: NodeId) -> bool {
        let from = self.original_input_type(node);
        from.is_some() && from == self.original_cast_to(node)
    }

    /// The element type of the first input of a node of the original.
    pub fn original_input_type(&self, node: NodeId) -> Option<DType> {
        self.original
            .input(node, 0)
            .and_then(|value| self.inferred[0].of(value).dtype())
    }

    /// The reported cast or rounding that a node is.
    pub fn added_cast(&self, node: NodeId) -> Option<&'v AddedCast> {
        let proto = self.written.node(node);
        let is_as_reported = if self.is_emulated() {
            proto.domain() == DOMAIN
                && proto.op_type() == function_name(self.report.to)
                && proto.attribute.is_empty()
        } else {
            proto.op_type() == "Cast" && proto.domain().is_empty() && proto.attribute.len() == 1
        };
        if !is_as_reported {
            return None;
        }
        let ([input], [output]) = (proto.input.as_slice(), proto.output.as_slice()) else {
            return None;
        };
        self.added.get(&(input.as_str(), output.as_str())).copied()
    }

    /// Whether a node of the original is a reported cast that was removed.
    pub fn is_removed(&self, node: NodeId) -> bool {
        !self.removed.is_empty()
            && self
                .removed
                .contains(self.original.node_path(node).as_str())
    }

    /// Whether a type is one that changes.
    pub fn is_old(&self, dtype: DType) -> bool {
        match (self.report.from, self.report.to) {
            (Some(from), _) => dtype == from,
            (None, DType::Float) => matches!(dtype, DType::Float16 | DType::Bfloat16),
            (None, _) => dtype == DType::Float,
        }
    }

    /// Whether a cast is between the types, or has the result of a cast to the old type and one to
    /// the new one.
    fn is_between(&self, from: DType, to: DType) -> bool {
        let from_old =
            |old: DType| self.is_old(old) && (old == from || laws::are_one_cast(from, old, to));
        (to == self.report.to && DType::ALL.iter().copied().any(from_old))
            || (from == self.report.to && self.is_old(to))
    }

    /// Nodes that were valid and are not, and reported casts without their types.
    pub fn invalid_nodes(&self) -> Vec<Fault> {
        let written = self.written;
        let nodes: Vec<NodeId> = written
            .scopes()
            .flat_map(|scope| written.nodes(scope))
            .collect();
        let found = nodes
            .iter()
            .filter(|&&node| self.added_cast(node).is_some())
            .count();
        let mut faults = Vec::new();
        parallel::extend_each(&mut faults, nodes, |node| {
            self.wrong_cast(node).or_else(|| self.invalid_node(node))
        });
        let mut faults: Vec<Fault> = faults.into_iter().flatten().collect();
        if found != self.added.len() {
            faults.push(Fault::at("model", "does not have each reported cast once"));
        }
        faults
    }

    fn wrong_cast(&self, node: NodeId) -> Option<Fault> {
        let [_, inferred] = &self.inferred;
        let cast = self.added_cast(node)?;
        let from = self
            .written
            .input(node, 0)
            .and_then(|value| inferred.of(value).dtype());
        let is_right = if self.is_emulated() {
            // The function that it calls is compared with the expected one.
            [cast.from, cast.to] == [DType::Float, self.report.to]
                && self.written.callee(node).is_some()
        } else {
            self.written
                .cast_node(node)
                .is_ok_and(|found| found.to == TypeSource::Attribute(cast.to))
        };
        let is_wrong = !is_right
            || from.is_some_and(|from| from != cast.from)
            || !self.is_between(cast.from, cast.to);
        is_wrong.then(|| {
            Fault::at(
                self.written.node_path(node),
                "is not the cast that was reported",
            )
        })
    }

    fn invalid_node(&self, node: NodeId) -> Option<Fault> {
        let [before, after] = &self.inferred;
        let opset = self.written.opset(node.scope, "").unwrap_or(0);
        let fault = node_fault(self.written, after, node, opset)?;
        let was_valid =
            |counterpart: NodeId| node_fault(self.original, before, counterpart, opset).is_none();
        let counterpart = self.counterpart(node);
        counterpart
            .is_none_or(was_valid)
            .then(|| Fault::at(self.written.node_path(node), fault))
    }
}
