//! Known values.

use super::storage::Chain;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{NodeId, ValueId};
use crate::ops::compute::{NotComputed, TypeAndShape};
use crate::tensor::Content;

/// The chain whose result a value is, or the constant that it is: equal ones have equal values.
pub(super) type Derived = Result<Chain, ValueId>;

/// The values of nodes that are computed from constants. They fold, or are removed when casts of
/// them fold.
#[derive(Debug, Default)]
pub(super) struct Computed {
    pub values: HashMap<ValueId, Known>,
    pub nodes: HashSet<NodeId>,
    /// By output: the node whose results are not computed although its inputs are known, and why.
    pub failed: HashMap<ValueId, (NodeId, NotComputed)>,
    /// Equal nodes are computed once.
    pub chains: HashMap<Key, Vec<Chain>>,
}

/// The determinants of the results of a node: the version of its operator, its attributes, and its
/// inputs.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub operator: (&'static str, i64),
    pub attributes: Vec<Vec<u8>>,
    pub inputs: Vec<Option<Derived>>,
    pub first: Option<TypeAndShape>,
}

/// A value that is the same in every run.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub content: Content,
    pub derived: Derived,
    /// The constant at the start of the chain: the first one, of a node with several inputs.
    pub constant: ValueId,
}
