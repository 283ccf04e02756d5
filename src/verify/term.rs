//! A value as a term: what it is computed from.

use std::sync::Arc;

use crate::graph::ValueId;
use onnx_cast::{DType, RoundMode};

/// A term, by its index.
pub(super) type TermId = usize;

/// One of the two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ModelSide {
    Original,
    Written,
}

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Term {
    /// A value of the original; in the written model, the value of the same name that is made in
    /// the same way.
    Original(ValueId),
    /// A value of the written model to which nothing in the original corresponds.
    New(ValueId),
    /// A constant.
    Constant(ModelSide, ValueId),
    /// A cast.
    Cast { of: TermId, effect: Effect },
    /// An output of a node that moves elements.
    Move(Arc<Move>),
}

/// An output of a node that moves elements of its first `data` inputs.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Move {
    pub operator: &'static str,
    pub attributes: Vec<Vec<u8>>,
    pub inputs: Vec<Option<TermId>>,
    pub data: usize,
    pub outputs: usize,
    pub output: u32,
}

impl Term {
    /// Whether this is a `Reshape` to the same shape as one with other inputs.
    pub fn has_shape(&self, others: &[Option<TermId>]) -> bool {
        matches!(self, Term::Move(moved) if moved.operator == "Reshape" && moved.inputs.get(1) == others.get(1))
    }
}

impl Move {
    /// Whether this is the same output of the same operator, perhaps of other inputs.
    pub fn is_like(&self, other: &Move) -> bool {
        (self.operator, &self.attributes, self.inputs.len())
            == (other.operator, &other.attributes, other.inputs.len())
            && (self.outputs, self.output) == (other.outputs, other.output)
    }
}

/// The determinants of the result of a cast, besides its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Effect {
    pub to: DType,
    pub saturate: bool,
    pub round_mode: RoundMode,
}
