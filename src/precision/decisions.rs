//! The decisions about the types of a model.

use super::kernels::Kernels;
use super::reason::Code;
use super::report::AddedFunction;
use super::types::{Classes, Side, Types, Variable};
use super::weights::Weight;
use crate::graph::ValueId;
use onnx_cast::DType;

/// The decisions about a model.
pub(super) struct Decisions<'p, 'm> {
    pub types: &'p Types<'m>,
    pub classes: &'p Classes,
    /// By variable.
    pub sides: &'p [Side],
    pub weights: &'p [Weight<'m>],
    pub kernels: &'p Kernels,
    /// Whether values keep their types, and are rounded instead.
    pub emulates: bool,
}

impl Decisions<'_, '_> {
    /// The side of a value as it is produced.
    pub fn side(&self, value: ValueId) -> Side {
        self.sides[value.index()]
    }

    pub fn side_of(&self, variable: Variable) -> Side {
        self.sides[variable as usize]
    }

    /// Whether a value in a copy of a function changes its type.
    pub fn changes_function(&self, function: &AddedFunction) -> bool {
        let model = self.types.model;
        let changes = |value: &ValueId| {
            self.types.kinds[value.index()].is_some() && self.side(*value) == Side::New
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
            .filter(|(value, _)| self.side(*value) == Side::New);
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

    /// The element type of a value on a side.
    pub fn dtype(&self, value: ValueId, side: Side) -> DType {
        match side {
            Side::New => self.types.change.to,
            Side::Old => self.types.old(value).unwrap_or(self.types.change.to),
        }
    }
}
