//! Known values.

use super::stored_bytes::ChainId;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{NodeId, ValueId};
use crate::ops::compute::{NotComputed, TypeAndShape};
use crate::tensor::Content;

/// How a value is derived from constants. Equal derivations have equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Derivation {
    /// It is the result of a chain.
    Chain(ChainId),
    /// It is a constant of the model.
    Constant(ValueId),
}

/// The values of nodes that are computed from constants. They fold, or are removed when casts of
/// them fold.
#[derive(Debug, Default)]
pub(super) struct Computed {
    pub values: HashMap<ValueId, KnownValue>,
    pub nodes: HashSet<NodeId>,
    /// By output: the node whose results are not computed although its inputs are known, and why.
    pub failed: HashMap<ValueId, (NodeId, NotComputed)>,
    /// Equal nodes are computed once.
    pub chains: HashMap<Key, Vec<ChainId>>,
}

/// The determinants of the results of a node: the version of its operator, its attributes, and its
/// inputs.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub operator: (&'static str, i64),
    pub attributes: Vec<Vec<u8>>,
    pub inputs: Vec<Option<Derivation>>,
    pub first: Option<TypeAndShape>,
}

/// A value that is the same in every run.
#[derive(Clone, Debug)]
pub(super) struct KnownValue {
    pub content: Content,
    pub derivation: Derivation,
    /// The constant at the start of the chain: the first one, of a node with several inputs.
    pub constant: ValueId,
}
