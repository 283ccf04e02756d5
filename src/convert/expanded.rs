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
}
