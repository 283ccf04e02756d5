//! The tensors that folding stores and frees, as far as folds are decided.

use crate::base::hash::HashMap;
use crate::graph::{NodeId, ScopeId, ValueId};

/// The index of a chain (a constant and the casts that are applied to it) in
/// `FoldDecisions::results`. Equal chains have equal values.
pub(super) type ChainId = usize;

/// A chain whose equal results may share one initializer, and the scope of that initializer.
pub(super) type SharedChain = (ChainId, ScopeId);

/// The number of equal results that may be shared.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Copies {
    /// Results that keep their names, and may replace others.
    pub(super) fixed: i64,
    /// Results that others may replace.
    pub(super) free: i64,
}

impl Copies {
    pub(super) fn stored(self) -> i64 {
        self.fixed.max(i64::from(self.free > 0))
    }
}

/// The bytes that are stored after the folds so far.
#[derive(Debug, Default)]
pub(super) struct StoredBytes {
    /// Remaining uses of values that have lost a use, or may lose one.
    pub(super) uses_left: HashMap<ValueId, usize>,
    /// By computed node that is not a cast: how many of its outputs are still needed.
    pub(super) outputs_left: HashMap<NodeId, usize>,
    pub(super) copies: HashMap<SharedChain, Copies>,
    /// The bytes of all results minus those of the removed constants.
    pub(super) growth: i64,
}

/// The bytes that are stored after one more fold.
#[derive(Debug, Default)]
pub(super) struct StoredBytesChange {
    /// The entries that differ, and the growth.
    pub(super) after: StoredBytes,
    /// Whether the result is stored itself instead of an equal one.
    pub(super) stores: bool,
}
