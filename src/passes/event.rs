//! The events that passes report: each change, and each node that was kept with its reason.
//!
//! An event is one record from the pass to the text, the JSON document, the HTML page and Python:
//! its fields are the keys.

use std::sync::Arc;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::base::reason::Reason;
use crate::graph::{Model, NodeId, ValueId};
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
        reason: Reason,
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
    pub reason: Reason,
    /// The option of the program that removes the obstacle, as an instruction; the command sets it.
    pub(crate) remedy: Option<&'static str>,
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
    pub reason: Reason,
}

impl KeptNode {
    pub(super) fn new(model: &Model, node: NodeId, reason: Reason) -> KeptNode {
        KeptNode {
            node: model.node_path(node),
            reason,
            remedy: None,
        }
    }

    /// The reason, with the remedy if there is one.
    #[must_use]
    pub(crate) fn text(&self) -> String {
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

impl Removed {
    pub(super) fn of(model: &Model, value: ValueId, reason: Reason) -> Removed {
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
