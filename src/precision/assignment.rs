//! The types that the variables of a model get.

use super::kernels::Kernels;
use super::reason::Code;
use super::report::AddedFunction;
use super::types::{Assignment, Classes, Types, Variable};
use super::weights::Weight;
use crate::graph::ValueId;
use onnx_cast::DType;

/// The types that the variables of a model get, and the data of the decision.
pub(super) struct PrecisionAssignment<'p, 'm> {
    pub types: &'p Types<'m>,
    pub classes: &'p Classes,
    /// By variable.
    pub assignments: &'p [Assignment],
    pub weights: &'p [Weight<'m>],
    pub kernels: &'p Kernels,
    /// Whether values keep their types, and are rounded instead.
    pub emulates: bool,
}

impl PrecisionAssignment<'_, '_> {
    /// The assignment of a value as it is produced.
    pub fn assignment(&self, value: ValueId) -> Assignment {
        self.assignments[value.index()]
    }

    pub fn assignment_of(&self, variable: Variable) -> Assignment {
        self.assignments[variable as usize]
    }

    /// Whether a value in a copy of a function changes its type.
    pub fn changes_function(&self, function: &AddedFunction) -> bool {
        let model = self.types.model;
        let changes = |value: &ValueId| {
            self.types.kinds[value.index()].is_some() && self.assignment(*value) == Assignment::New
        };
        model
            .values()
            .filter(changes)
            .any(|value| function.is_copy(model, model.root(model.scope_of(value))))
    }

    /// A note, if the policy changes the types of values that must not change.
    pub fn changed_although_unsafe(&self, values: &[(ValueId, Code)]) -> Option<String> {
        let model = self.types.model;
        let mut changed = values
            .iter()
            .filter(|(value, _)| self.assignment(*value) == Assignment::New);
        let (value, code) = changed.next()?;
        let place = model
            .producer(*value)
            .map_or_else(|| "a constant".to_owned(), |node| model.node_path(node));
        let others = match changed.count() {
            0 => String::new(),
            others => format!(" and {others} more"),
        };
        let code = code.code();
        Some(format!(
            "the policy changes values that the policy `stable` keeps because of their range: {place} ({code}){others}"
        ))
    }

    /// The element type of a value with an assignment.
    pub fn dtype(&self, value: ValueId, assignment: Assignment) -> DType {
        match assignment {
            Assignment::New => self.types.change.to,
            Assignment::Old => self.types.old(value).unwrap_or(self.types.change.to),
        }
    }
}
