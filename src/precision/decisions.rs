//! The decisions about the types of a model.

use super::kernels::Kernels;
use super::report::AddedFunction;
use super::types::{Classes, Side, Types, Variable};
use super::weights::Weight;
use crate::elements::dtype::DType;
use crate::graph::ValueId;

/// The decisions about a model.
pub(super) struct Decisions<'p, 'm> {
    pub types: &'p Types<'m>,
    pub classes: &'p Classes,
    /// By variable.
    pub sides: &'p [Side],
    pub weights: &'p [Weight<'m>],
    pub kernels: &'p Kernels,
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
        let changes = |value: &ValueId| self.types.kinds[value.index()].is_some() && self.side(*value) == Side::New;
        model.values().filter(changes).any(|value| function.is_copy(model, model.root(model.scope_of(value))))
    }

    /// The element type of a value on a side.
    pub fn dtype(&self, value: ValueId, side: Side) -> DType {
        match side {
            Side::New => self.types.change.to,
            Side::Old => self.types.old(value).unwrap_or(self.types.change.to),
        }
    }
}
