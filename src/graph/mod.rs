//! A model as a graph: which node makes a value, and who uses it.
//!
//! The rules that a [`Model`] keeps:
//!
//! - The protobuf messages stay whole and in their order; the graph is an index over them. What no edit touches is written as it
//!   was read.
//! - A *scope* is a body with names of its own: the main graph, each graph in a node's attribute (single or in a list, of any
//!   domain), each model-local function, each training graph.
//! - A name means the value that was defined last before the node, in the node's scope or else in the scope around it: names may
//!   repeat among siblings and shadow outer ones. A name that only a later node of the scope defines means that node's value; one
//!   that nobody defines is a value of origin [`Origin::Missing`]. A training graph stands inside the main graph; a function
//!   stands alone.
//! - No name is defined twice in a scope, and no value depends on itself.
//! - [`Model::apply`] is the only way to change a model, and refuses what would leave a use without a definition.

mod build;
mod calls;
mod cast_node;
mod change;
mod constant;
mod dot;
mod edit;
mod index;
mod names;
mod query;
mod scope;
mod tensors;

pub use calls::Attribute;
pub use cast_node::{CastNode, TypeSource, UnclearCast, is_cast, read_saturate};
pub use constant::{Constant, NotConstant};
pub use edit::{Edit, Refused};
pub use index::{Origin, Pin, ValueId};
pub use names::Names;
pub use query::{domain_name, is_onnx_domain, tensor_type};
pub use scope::{Body, NodeId, ScopeId, ScopeKind};
pub use tensors::{AttributePart, SparsePart, TensorPlace};

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::error::Invalid;
use crate::wire::DataFolder;
use crate::wire::schema::ModelProto;
use index::Index;

/// A model and the index over it.
#[derive(Debug)]
pub struct Model {
    proto: ModelProto,
    index: Index,
    data: Arc<DataFolder>,
    origin: Arc<DataRanges>,
}

/// The byte ranges that the tensors of a model take in its data files, by location as the model says it.
pub type DataRanges = BTreeMap<String, Vec<Range<u64>>>;

impl Model {
    /// Indexes a model.
    ///
    /// # Errors
    /// Where the model has no graph, a name is defined twice, a value depends on itself, or a tensor contradicts itself.
    pub fn new(proto: ModelProto) -> Result<Model, Invalid> {
        let index = build::index(&proto)?;
        Ok(Model { proto, index, data: Arc::default(), origin: Arc::default() })
    }

    /// The model with a folder that the data files it names are looked for in; without one they cannot be read.
    #[must_use]
    pub fn with_data(self, data: DataFolder) -> Model {
        let origin = Arc::new(self.data_ranges());
        Model { data: Arc::new(data), origin, ..self }
    }

    /// The folder that data files are looked for in.
    #[must_use]
    pub fn data(&self) -> &Arc<DataFolder> {
        &self.data
    }

    /// The data that the model referred to when it was given its folder: before any edit.
    #[must_use]
    pub fn original_data_ranges(&self) -> &Arc<DataRanges> {
        &self.origin
    }

    /// The model's messages.
    #[must_use]
    pub fn proto(&self) -> &ModelProto {
        &self.proto
    }

    /// The messages, with the index gone.
    #[must_use]
    pub fn into_proto(self) -> ModelProto {
        self.proto
    }
}
