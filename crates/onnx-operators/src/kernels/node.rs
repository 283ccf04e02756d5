//! What a lookup of kernels reads of a node.

use std::borrow::Cow;
use std::fmt;

/// A node of a model, in any representation: its operator, which inputs and outputs it has, and its
/// attributes.
pub trait Node: fmt::Debug {
    /// The domain of the operator; empty or `ai.onnx` for the domain of ONNX.
    fn domain(&self) -> &str;

    /// The operator: `Conv`.
    fn operator(&self) -> &str;

    /// The indices of the inputs that are not omitted, in order.
    fn inputs(&self) -> Vec<usize>;

    /// The indices of the outputs that are not omitted, in order.
    fn outputs(&self) -> Vec<usize>;

    /// The value of an attribute; none if the node does not have it.
    fn attribute(&self, name: &str) -> Option<AttributeValue<'_>>;

    /// Whether a body of the node reads values of the graphs around it.
    fn captures(&self) -> bool {
        false
    }

    /// Whether the two branches of an `If` declare results of different ranks.
    fn has_branches_of_other_ranks(&self) -> bool {
        false
    }

    /// Whether a runtime computes the node right in spite of what its table says of such nodes,
    /// because the nodes around it exclude the values for which it does not.
    fn is_guarded(&self, runtime: &str) -> bool {
        let _ = runtime;
        false
    }
}

/// The value of an attribute, as far as kernels depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AttributeValue<'n> {
    /// An integer.
    Int(i64),
    /// Integers.
    Ints(&'n [i64]),
    /// A string.
    String(Cow<'n, str>),
    /// Strings.
    Strings(Vec<Cow<'n, str>>),
    /// Of another kind.
    Other,
}

impl AttributeValue<'_> {
    /// The value as tables write it; none for other kinds.
    pub(super) fn text(&self) -> Option<Cow<'_, str>> {
        match self {
            AttributeValue::Int(number) => Some(number.to_string().into()),
            AttributeValue::String(text) => Some(text.as_ref().into()),
            AttributeValue::Ints(_) | AttributeValue::Strings(_) | AttributeValue::Other => None,
        }
    }
}
