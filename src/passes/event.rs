//! What passes report: each change, and each node that was kept with its reason.

use std::fmt;

use crate::dtype::DType;
use crate::folding;

/// The events of all passes that ran.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// In the order in which the passes ran and reported.
    pub entries: Vec<Entry>,
}

/// One event of a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The pass.
    pub pass: &'static str,
    /// The event.
    pub event: Event,
}

/// A change that a pass made, or a node that it kept for a reason.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A cast was replaced by a constant. A model may have more of the other events, which are smaller.
    Folded(Box<Folded>),
    /// An output of a node other than a cast was replaced by a constant.
    Computed(Box<ComputedNode>),
    /// A node was changed.
    ChangedNode {
        /// Its path.
        node: String,
        /// Its operator.
        operator: String,
        /// What was changed: a clause whose subject is the node.
        change: String,
    },
    /// A node was kept.
    Kept(Kept),
    /// A node was removed.
    RemovedNode {
        /// Its path.
        node: String,
    },
    /// A constant was removed because it is no longer used.
    RemovedConstant(Removed),
}

/// A cast that was replaced by a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded {
    /// The node's path.
    pub node: String,
    /// The path of its scope.
    pub scope: String,
    /// The name of the value that was cast.
    pub input: String,
    /// The name of the value that it produced; equal results may share another value.
    pub output: String,
    /// The type of the input.
    pub from: DType,
    /// The type of the constant.
    pub to: DType,
    /// How many elements the constant has.
    pub elements: u64,
}

/// An output of a node other than a cast, and the constant that replaced it.
#[derive(Clone, Debug, PartialEq)]
pub struct ComputedNode {
    /// The node's path.
    pub node: String,
    /// The path of its scope.
    pub scope: String,
    /// Its operator.
    pub operator: String,
    /// The name of the output; equal results may share another value.
    pub output: String,
    /// The type of the constant.
    pub to: DType,
    /// How many elements the constant has.
    pub elements: u64,
}

/// A node that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The node's path.
    pub node: String,
    /// The reason.
    pub reason: Reason,
}

/// Why a pass kept a node. Its [`Display`](fmt::Display) is a clause without a full stop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// Why a node is not folded.
    Folding(folding::Reason),
    /// A reason from a pass of another crate.
    Other {
        /// A stable name, in kebab case.
        code: &'static str,
        /// The reason in words.
        text: String,
    },
}

/// A constant that was removed.
#[derive(Clone, Debug, PartialEq)]
pub struct Removed {
    /// The path of its scope.
    pub scope: String,
    /// Its name.
    pub name: String,
}

impl Reason {
    /// A stable name, in kebab case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Reason::Folding(reason) => reason.code(),
            Reason::Other { code, .. } => code,
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Folding(reason) => reason.fmt(f),
            Reason::Other { text, .. } => text.fmt(f),
        }
    }
}

impl Removed {
    /// The constant's path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.scope, self.name)
    }
}

impl Report {
    /// The events of all passes.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.entries.iter().map(|entry| &entry.event)
    }

    /// The casts that were replaced by constants.
    #[must_use]
    pub fn folded(&self) -> Vec<&Folded> {
        self.events().filter_map(|event| if let Event::Folded(folded) = event { Some(&**folded) } else { None }).collect()
    }

    /// The nodes that were kept.
    #[must_use]
    pub fn kept(&self) -> Vec<&Kept> {
        self.events().filter_map(|event| if let Event::Kept(kept) = event { Some(kept) } else { None }).collect()
    }

    /// The constants that were removed.
    #[must_use]
    pub fn removed_constants(&self) -> Vec<&Removed> {
        self.events().filter_map(|event| if let Event::RemovedConstant(removed) = event { Some(removed) } else { None }).collect()
    }
}
