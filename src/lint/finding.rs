//! What a rule says of a place.

use serde::Serialize;

use crate::graph::{Edit, Model, NodeId, ScopeId, ValueId};

/// A place where a rule's pattern was found.
#[derive(Debug)]
pub struct Finding {
    /// The place.
    pub at: Place,
    /// What is wrong there.
    pub message: String,
    /// What would set it right, if that is known.
    pub fix: Option<Fix>,
}

/// What a finding is about. The order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// The model as a whole.
    Model,
    /// A value that no node makes: an initializer or an input.
    Value(ScopeId, ValueId),
    /// A node.
    Node(NodeId),
}

/// Edits that set a finding right.
#[derive(Clone, Debug, Serialize)]
pub struct Fix {
    /// Whether the model means the same afterwards.
    pub safety: Safety,
    /// What the edits do, as an instruction: ``write `saturate = 1` ``.
    pub what: String,
    /// The edits, to be applied together.
    #[serde(skip)]
    pub edits: Vec<Edit>,
}

/// Whether a fix may be applied without a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// The model means what it meant, and nothing but the stated place changes.
    Safe,
    /// The graph gets another shape, or the fix guesses what was meant.
    Unsafe,
}

impl Finding {
    /// A finding at a node.
    pub fn at_node(node: NodeId, message: impl Into<String>) -> Finding {
        Finding { at: Place::Node(node), message: message.into(), fix: None }
    }

    /// A finding about a value that no node makes.
    pub fn at_value(model: &Model, value: ValueId, message: impl Into<String>) -> Finding {
        Finding { at: Place::Value(model.scope_of(value), value), message: message.into(), fix: None }
    }

    /// A finding about the model as a whole.
    pub fn at_model(message: impl Into<String>) -> Finding {
        Finding { at: Place::Model, message: message.into(), fix: None }
    }

    /// The finding with a fix that leaves the model's meaning as it is.
    #[must_use]
    pub fn with_safe_fix(self, what: impl Into<String>, edits: Vec<Edit>) -> Finding {
        Finding { fix: Some(Fix { safety: Safety::Safe, what: what.into(), edits }), ..self }
    }

    /// The finding with a fix that somebody should look at.
    #[must_use]
    pub fn with_unsafe_fix(self, what: impl Into<String>, edits: Vec<Edit>) -> Finding {
        Finding { fix: Some(Fix { safety: Safety::Unsafe, what: what.into(), edits }), ..self }
    }
}
