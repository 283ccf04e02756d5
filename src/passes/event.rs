//! The events that passes report: each change, and each node that was kept with its reason.
//!
//! An event is one record from the pass to the text, the JSON document, the HTML page and Python:
//! its fields are the keys.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::base::codes::codes;
use crate::casts::folding;
use crate::graph::{Model, ValueId};
use onnx_cast::DType;

/// A change that a pass made, or a node that it kept for a reason.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A cast was replaced by a constant. A model may have more of the other events, which are
    /// smaller.
    Folded(Box<Folded>),
    /// An output of a node other than a cast was replaced by a constant.
    Computed(Box<ComputedNode>),
    /// A node was changed.
    Changed(NodeChange),
    /// A node was kept.
    Kept(KeptNode),
    /// A node was removed.
    RemovedNode {
        /// Its path.
        node: String,
        /// The reason.
        reason: Removal,
    },
    /// A constant was removed because it is no longer used.
    RemovedConstant(Removed),
}

/// A cast that was replaced by a constant.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Folded {
    /// The node's path.
    pub node: String,
    /// The path of its scope.
    #[serde(skip)]
    pub scope: String,
    /// The name of the value that was cast.
    pub input: String,
    /// The name of the value that it produced; equal results may share another value.
    #[serde(skip)]
    pub output: String,
    /// The type of the input.
    pub from: DType,
    /// The type of the constant.
    pub to: DType,
    /// How many elements the constant has.
    pub elements: u64,
}

/// An output of a node other than a cast, and the constant that replaced it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ComputedNode {
    /// The node's path.
    pub node: String,
    /// The path of its scope.
    #[serde(skip)]
    pub scope: String,
    /// Its operator.
    pub op: String,
    /// The name of the output; equal results may share another value.
    pub output: String,
    /// The type of the constant.
    pub r#type: DType,
    /// How many elements the constant has.
    pub elements: u64,
}

/// The change of a node. A model may have one for each of its nodes, so its size matters: equal
/// texts are shared.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NodeChange {
    /// The node's path.
    pub node: Box<str>,
    /// Its operator.
    pub op: Arc<str>,
    /// The changes that were made: a clause whose subject is the node.
    pub what: Arc<str>,
}

/// A node that was kept.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KeptNode {
    /// The node's path.
    pub node: String,
    /// The reason.
    pub reason: KeptReason,
    /// The option of the program that removes the obstacle, as an instruction; the command sets it.
    pub remedy: Option<&'static str>,
}

/// Why a pass kept a node. Its [`Display`](fmt::Display) is a clause without a full stop.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum KeptReason {
    /// Why a node is not folded.
    Folding(folding::NotFolded),
    /// A reason from a pass of another crate.
    Other {
        /// A stable name, in kebab case.
        code: &'static str,
        /// The reason in words.
        text: String,
    },
}

/// Why a pass removed a node or a constant. Its [`Display`](fmt::Display) is a clause without a
/// full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Removal {
    /// Nothing uses it.
    Unused,
    /// Only nodes that were replaced by constants used it.
    UsedByFoldedNodes,
    /// It returns its input, the value with this name.
    ReturnsInput(String),
    /// The cast changes nothing: the value with this name is used in its place.
    ChangesNothing(String),
    /// The value with this name is equal, and is used in its place.
    Merged(String),
    /// The cast only undid the rounding of another one: the value with this name, before both, is
    /// used in its place.
    RoundTrip(String),
    /// The cast was moved before or behind the node with this path.
    Moved(String),
    /// The node with this path gives its result the name of the output.
    NamedByProducer(String),
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
#[non_exhaustive]
pub struct Removed {
    /// The path of its scope.
    pub scope: String,
    /// Its name.
    pub name: String,
    /// The reason.
    pub reason: Removal,
}

impl KeptNode {
    /// The reason, with the remedy if there is one.
    #[must_use]
    pub fn text(&self) -> String {
        match self.remedy {
            Some(remedy) => format!("{}; {remedy}", self.reason),
            None => self.reason.to_string(),
        }
    }
}

impl Serialize for KeptNode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = serializer.serialize_struct("KeptNode", 3)?;
        keys.serialize_field("node", &self.node)?;
        keys.serialize_field("code", self.reason.code())?;
        keys.serialize_field("reason", &self.text())?;
        keys.end()
    }
}

impl KeptReason {
    /// A stable name, in kebab case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            KeptReason::Folding(reason) => reason.code(),
            KeptReason::Other { code, .. } => code,
        }
    }
}

impl fmt::Display for KeptReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeptReason::Folding(reason) => reason.fmt(f),
            KeptReason::Other { text, .. } => text.fmt(f),
        }
    }
}

codes! {
    /// The code of a [`Removal`] by a pass of this crate.
    pub enum RemovalCode {
        Unused = "unused": "nothing uses it",
        UsedByFoldedNodes = "used-by-folded-nodes": "only nodes that were replaced by constants used it",
        ReturnsInput = "returns-input": "the node returns its input, which is used in its place",
        ChangesNothing = "changes-nothing": "the cast changes nothing; its input, or the input of the casts before it, is used in its place",
        Merged = "merged": "it is equal to another value, which is used in its place",
        RoundTrip = "round-trip": "the cast only undid the rounding of another cast; the value before both is used in its place",
        Moved = "moved": "the cast was moved before or behind another node, where one cast is enough",
        NamedByProducer = "named-by-producer": "the node that computes the value gives it the name of the output",
    }
}

impl Removal {
    /// A stable name, in kebab case.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Removal::Unused => RemovalCode::Unused.code(),
            Removal::UsedByFoldedNodes => RemovalCode::UsedByFoldedNodes.code(),
            Removal::ReturnsInput(_) => RemovalCode::ReturnsInput.code(),
            Removal::ChangesNothing(_) => RemovalCode::ChangesNothing.code(),
            Removal::Merged(_) => RemovalCode::Merged.code(),
            Removal::RoundTrip(_) => RemovalCode::RoundTrip.code(),
            Removal::Moved(_) => RemovalCode::Moved.code(),
            Removal::NamedByProducer(_) => RemovalCode::NamedByProducer.code(),
            Removal::Other { code, .. } => code,
        }
    }
}

impl fmt::Display for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Removal::Unused => f.write_str("nothing uses it"),
            Removal::UsedByFoldedNodes => f.write_str("only folded nodes used it"),
            Removal::ReturnsInput(input) => write!(f, "it returns its input '{input}'"),
            Removal::ChangesNothing(same) => {
                write!(f, "the cast changes nothing: '{same}' is used in its place")
            }
            Removal::Merged(same) => write!(f, "merged into '{same}'"),
            Removal::RoundTrip(exact) => write!(
                f,
                "it casts back what was rounded: '{exact}' is used in its place"
            ),
            Removal::Moved(node) => write!(f, "the cast was moved past {node}"),
            Removal::NamedByProducer(node) => write!(f, "{node} computes the output directly"),
            Removal::Other { text, .. } => text.fmt(f),
        }
    }
}

impl Serialize for Removal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Removed {
    pub(super) fn of(model: &Model, value: ValueId, reason: Removal) -> Removed {
        Removed {
            scope: model.scope_path(model.scope_of(value)),
            name: model.name(value).to_owned(),
            reason,
        }
    }

    /// The constant's path.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}", self.scope, self.name)
    }
}
