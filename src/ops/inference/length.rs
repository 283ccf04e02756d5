//! The length of a dimension: a number, or a symbol that stands for one.
//!
//! A declared dimension such as `batch` is a symbol. Equal symbols have equal lengths, so that
//! `batch` can be traced through shape arithmetic, and is cancelled where a shape is divided by
//! another. A dimension without a name is a symbol of its own.

use crate::base::hash::HashMap;
use crate::graph::ScopeId;

/// A length that is known, or a symbol for one that is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Length {
    /// This number.
    Size(i64),
    /// The same number wherever this symbol occurs, zero or more.
    Symbol(u32),
}

impl Length {
    /// The number.
    #[must_use]
    pub fn size(self) -> Option<i64> {
        match self {
            Length::Size(size) => Some(size),
            Length::Symbol(_) => None,
        }
    }

    pub(super) fn checked_add(self, other: Length) -> Option<Length> {
        match (self, other) {
            (Length::Size(0), length) | (length, Length::Size(0)) => Some(length),
            _ => Some(Length::Size(self.size()?.checked_add(other.size()?)?)),
        }
    }

    pub(super) fn checked_mul(self, other: Length) -> Option<Length> {
        match (self, other) {
            (Length::Size(1), length) | (length, Length::Size(1)) => Some(length),
            (zero @ Length::Size(0), _) | (_, zero @ Length::Size(0)) => Some(zero),
            _ => Some(Length::Size(self.size()?.checked_mul(other.size()?)?)),
        }
    }
}

/// The lengths that two sources state for one dimension.
pub trait Agree: Copy + PartialEq {
    /// The more precise of the two; `None` if they contradict each other.
    fn agree(self, other: Self) -> Option<Self>;
}

impl Agree for i64 {
    fn agree(self, other: i64) -> Option<i64> {
        (self == other).then_some(self)
    }
}

impl Agree for Length {
    fn agree(self, other: Length) -> Option<Length> {
        match (self, other) {
            (Length::Size(left), Length::Size(right)) => (left == right).then_some(self),
            (Length::Symbol(_), Length::Size(_)) => Some(other),
            (_, Length::Symbol(_)) => Some(self),
        }
    }
}

/// The names of symbols.
#[derive(Debug, Default)]
pub(super) struct Symbols<'m> {
    /// By symbol; empty for a dimension without a name.
    names: Vec<&'m str>,
    /// Names are those of a graph and its subgraphs, or of a function.
    numbers: HashMap<(ScopeId, &'m str), u32>,
}

impl<'m> Symbols<'m> {
    /// The symbol with this name in the graph or function with this root.
    pub fn named(&mut self, root: ScopeId, name: &'m str) -> Option<Length> {
        if let Some(&number) = self.numbers.get(&(root, name)) {
            return Some(Length::Symbol(number));
        }
        let number = self.add(name)?;
        self.numbers.insert((root, name), number);
        Some(Length::Symbol(number))
    }

    /// A symbol that nothing else has.
    pub fn unnamed(&mut self) -> Option<Length> {
        self.add("").map(Length::Symbol)
    }

    fn add(&mut self, name: &'m str) -> Option<u32> {
        let number = u32::try_from(self.names.len()).ok()?;
        self.names.push(name);
        Some(number)
    }

    /// The name of a symbol that has one.
    pub fn name(&self, symbol: u32) -> Option<&'m str> {
        self.names
            .get(symbol as usize)
            .copied()
            .filter(|name| !name.is_empty())
    }
}
