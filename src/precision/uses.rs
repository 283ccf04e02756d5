//! The uses of the values whose types may change.

use crate::graph::{NodeId, ScopeId, ValueId};

/// The index of a type variable.
pub(super) type Variable = u32;

/// The part of a node or scope that uses a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum User {
    /// An input of a node.
    Input(NodeId, u32),
    /// An output of a scope.
    Output(ScopeId, u32),
}

/// A use of a value, and the variable of the type that is needed there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub value: ValueId,
    pub variable: Variable,
    pub user: User,
}

/// The uses of a model, by value.
#[derive(Default)]
pub(super) struct Uses {
    list: Vec<Use>,
    /// By the value's index: the end of its uses in `list`, which begin at the end of the previous
    /// value's uses.
    ends: Vec<u32>,
}

impl Uses {
    /// Groups uses by value. Those of one value keep their order.
    pub fn new(found: &[Use], values: usize) -> Uses {
        let mut ends = vec![0; values];
        for used in found {
            ends[used.value.index()] += 1;
        }
        for index in 1..ends.len() {
            ends[index] += ends[index - 1];
        }
        // From the last use to the first: each is before those of its value that have their places.
        let (mut list, mut starts) = (found.to_vec(), ends.clone());
        for used in found.iter().rev() {
            let place = &mut starts[used.value.index()];
            *place -= 1;
            list[*place as usize] = *used;
        }
        Uses { list, ends }
    }

    pub fn of(&self, value: ValueId) -> &[Use] {
        let start = value
            .index()
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.list[start as usize..self.ends[value.index()] as usize]
    }

    pub fn iter(&self) -> impl Iterator<Item = &Use> {
        self.list.iter()
    }

    /// The uses of each value that has some.
    pub fn by_value(&self) -> impl Iterator<Item = &[Use]> {
        self.list.chunk_by(|left, right| left.value == right.value)
    }
}
