//! The graph of a model: the producer and the consumers of each value.
//!
//! Invariants of a [`Model`]:
//!
//! - The protobuf messages are kept whole and in order; the graph is an index over them. A message
//!   that no edit touches is written with its original bytes.
//! - A *scope* is a body with its own names: the main graph, each graph in a node's attribute
//!   (single or in a list, of any domain), each model-local function, each training graph.
//! - A name refers to the last definition before the node, in the node's scope or else in the
//!   enclosing scope. Names may repeat in sibling scopes and may shadow outer names. A name that is
//!   only defined by a later node of the scope refers to that node's value. A name without any
//!   definition is a value of origin [`Origin::Missing`]. The main graph encloses the training
//!   graphs; nothing encloses a function.
//! - A name is defined at most once per scope, and no value depends on itself.
//! - [`Model::apply`] is the only mutation API. It refuses edits that would leave a use without a
//!   definition.

mod build;
mod calls;
pub(crate) mod cast_attributes;
mod cast_node;
mod change;
mod checkpoint;
mod constant;
mod dot;
mod edit;
mod edit_checks;
mod fresh_names;
mod index;
mod metadata;
mod model;
mod new_nodes;
mod query;
mod removal;
mod scope;
mod tensors;

pub use calls::Attribute;
pub(crate) use cast_attributes::{read_round_mode, read_saturate, read_type};
pub use cast_node::{CastNode, TypeSource, UnclearCast};
pub(crate) use change::set_element_type;
pub(crate) use checkpoint::Checkpoint;
pub(crate) use constant::ConstantValue;
pub use constant::{Constant, NotConstant};
pub use edit::{Edit, Refused, TypePlace};
pub use fresh_names::FreshNames;
pub use index::{NonNodeUse, Origin, ValueId};
pub use metadata::{MetadataKeys, MetadataPlace};
pub(crate) use model::DataRanges;
pub use model::Model;
pub use new_nodes::NewNodes;
#[cfg(test)]
pub(crate) use query::visited;
pub(crate) use query::{domain_name, is_onnx_domain, tensor_type};
pub use scope::{Body, NodeId, ScopeId, ScopeKind};
pub(crate) use scope::{graph_mut, holds_graph};
pub use tensors::TensorPlace;
pub(crate) use tensors::{AttributePart, SparsePart, TensorIn};
