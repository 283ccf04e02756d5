//! The options that affect the conversion of a node.

use crate::base::choice::choice;
use onnx_cast::Contested;

/// The options that affect the conversion of a node, see [`Options`](super::Options).
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    pub opset: i64,
    pub explicit: Explicit,
    pub strict: bool,
    pub expansions: AllowedExpansions,
    pub contested: Option<Contested>,
    /// Whether the runtime of the result computes INT64 with 32 bits.
    pub narrows_int64: bool,
}

/// Which defaults of new attributes are written out when upgrading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explicit {
    /// `saturate` and `round_mode` on every cast.
    All,
    /// The attributes that affect the types of the node.
    #[default]
    Relevant,
    /// None.
    None,
}

choice!(pub(crate) Explicit { "all" => All, "relevant" => Relevant, "none" => None });

/// Which expansions are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AllowedExpansions {
    /// Exact ones, and those by ONNX's definition.
    All,
    /// Exact ones.
    Exact,
    /// None.
    None,
}

/// The form into which an operator is expanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expand {
    /// Nodes in its place.
    #[default]
    Nodes,
    /// A local function, and a call of it in its place; the IR version becomes 8 at least. In
    /// functions, and if a lower IR version is requested, nodes.
    Function,
}

choice!(pub(crate) Expand { "nodes" => Nodes, "function" => Function });
