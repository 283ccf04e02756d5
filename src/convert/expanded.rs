//! Expanded operators, for the report.

use serde::Serialize;

/// How the results of an expansion compare with those of the operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Exactness {
    /// Equal to the bit.
    Exact,
    /// Computed as ONNX defines the operator; a runtime's own kernel may differ in the last digits.
    ByDefinition,
}

/// An operator that was expanded.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Expanded {
    /// The path of the original node.
    pub node: Box<str>,
    /// The operator.
    pub op: &'static str,
    /// How the results compare.
    pub class: Exactness,
    /// The number of nodes that replace it.
    pub nodes: usize,
    /// The runtime that computes something else for the operator alone, if the nodes are a guard.
    pub(crate) guarded_for: Option<&'static str>,
}

/// The operator of a node that was expanded.
#[derive(Clone, Copy)]
pub(super) struct ExpandedOperator {
    pub op: &'static str,
    pub class: Exactness,
    pub nodes: usize,
    pub(crate) guarded_for: Option<&'static str>,
}

impl ExpandedOperator {
    /// An operator that a number of nodes replaces.
    pub fn new(op: &'static str, class: Exactness, nodes: usize) -> ExpandedOperator {
        ExpandedOperator {
            op,
            class,
            nodes,
            guarded_for: None,
        }
    }

    /// The operator, at the path of its node.
    pub fn at(self, node: Box<str>) -> Expanded {
        let ExpandedOperator {
            op,
            class,
            nodes,
            guarded_for,
        } = self;
        Expanded {
            node,
            op,
            class,
            nodes,
            guarded_for,
        }
    }
}
