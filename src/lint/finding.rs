//! Findings of rules.
//!
//! A report stores what cannot be derived: equal messages are shared, and paths, identities and
//! fingerprints are made when they are printed.

use std::sync::Arc;

use serde::Serialize;

use crate::graph::{Edit, Model, NodeId, ScopeId, ValueId};

/// An occurrence of a rule's pattern. A model may have one for each of its nodes, so its size
/// matters.
#[derive(Debug)]
pub struct Finding {
    /// The place.
    pub(super) at: FindingPlace,
    /// A description of the problem; findings with the same description may share it.
    pub(super) message: Arc<str>,
    /// The fix, if there is one.
    pub(super) fix: Option<Box<Fix>>,
}

/// The subject of a finding. Findings are reported in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingPlace {
    /// The model as a whole.
    Model,
    /// A value that no node produces: an initializer or an input.
    Value(ScopeId, ValueId),
    /// A node.
    Node(NodeId),
}

/// Edits that fix a finding.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Fix {
    /// Whether the edits preserve the model's meaning.
    pub safety: Safety,
    /// A description of the edits, as an instruction: ``add `saturate = 1` ``.
    pub what: String,
    /// The edits, applied as one batch.
    #[serde(skip)]
    pub edits: Vec<Edit>,
}

/// Whether a fix may be applied without review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Safety {
    /// The fix preserves the model's meaning, and changes the place of the finding only.
    Safe,
    /// The fix changes the structure of the graph, or relies on an assumption about the intent.
    Unsafe,
}

impl Finding {
    /// A finding at a node.
    pub fn at_node(node: NodeId, message: impl Into<Arc<str>>) -> Finding {
        Finding {
            at: FindingPlace::Node(node),
            message: message.into(),
            fix: None,
        }
    }

    /// A finding about a value that no node produces.
    pub fn at_value(model: &Model, value: ValueId, message: impl Into<Arc<str>>) -> Finding {
        Finding {
            at: FindingPlace::Value(model.scope_of(value), value),
            message: message.into(),
            fix: None,
        }
    }

    /// A finding about the model as a whole.
    pub fn at_model(message: impl Into<Arc<str>>) -> Finding {
        Finding {
            at: FindingPlace::Model,
            message: message.into(),
            fix: None,
        }
    }

    /// The finding with a fix that preserves the model's meaning.
    #[must_use]
    pub fn with_safe_fix(self, what: impl Into<String>, edits: Vec<Edit>) -> Finding {
        self.with_fix(Fix {
            safety: Safety::Safe,
            what: what.into(),
            edits,
        })
    }

    /// The finding with a fix that requires review.
    #[must_use]
    pub fn with_unsafe_fix(self, what: impl Into<String>, edits: Vec<Edit>) -> Finding {
        self.with_fix(Fix {
            safety: Safety::Unsafe,
            what: what.into(),
            edits,
        })
    }

    fn with_fix(self, fix: Fix) -> Finding {
        Finding {
            fix: Some(Box::new(fix)),
            ..self
        }
    }
}
