//! The graph of a model: the producer and the consumers of each value.
//!
//! Invariants of a [`Model`]:
//!
//! - The protobuf messages are kept whole and in order; the graph is an index over them. A message that no edit touches is
//!   written with its original bytes.
//! - A *scope* is a body with its own names: the main graph, each graph in a node's attribute (single or in a list, of any
//!   domain), each model-local function, each training graph.
//! - A name refers to the last definition before the node, in the node's scope or else in the enclosing scope. Names may repeat
//!   in sibling scopes and may shadow outer names. A name that is only defined by a later node of the scope refers to that
//!   node's value. A name without any definition is a value of origin [`Origin::Missing`]. The main graph encloses the training
//!   graphs; nothing encloses a function.
//! - A name is defined at most once per scope, and no value depends on itself.
//! - [`Model::apply`] is the only mutation API. It refuses edits that would leave a use without a definition.

mod build;
mod calls;
mod cast_attributes;
mod cast_node;
mod change;
mod constant;
mod dot;
mod edit;
mod index;
mod metadata;
mod names;
mod query;
mod scope;
mod tensors;

pub use calls::Attribute;
pub use cast_attributes::{BadAttribute, read_round_mode, read_saturate, read_type};
pub use cast_node::{CastNode, TypeSource, UnclearCast, is_cast};
pub use constant::{Constant, ConstantValue, NotConstant};
pub use edit::{Edit, Refused};
pub use index::{Origin, Pin, ValueId};
pub use metadata::MetadataKeys;
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

/// The byte ranges of a model's tensors in its data files, by the location that the model states.
pub type DataRanges = BTreeMap<String, Vec<Range<u64>>>;

impl Model {
    /// Indexes a model.
    ///
    /// # Errors
    /// If the model has no graph, a name is defined twice, a value depends on itself, or a tensor is inconsistent.
    pub fn new(proto: ModelProto) -> Result<Model, Invalid> {
        let (model, bad_tensors) = Model::for_reading(proto)?;
        bad_tensors.into_iter().next().map_or(Ok(model), Err)
    }

    /// Indexes a model that is read and not changed: inconsistent initializers are returned beside it.
    ///
    /// # Errors
    /// If the model has no graph, a name is defined twice, or a value depends on itself.
    pub fn for_reading(proto: ModelProto) -> Result<(Model, Vec<Invalid>), Invalid> {
        let (index, bad_tensors) = build::index(&proto)?;
        Ok((Model { proto, index, data: Arc::default(), origin: Arc::default() }, bad_tensors))
    }

    /// The model with the folder of its data files; without a folder they cannot be read.
    #[must_use]
    pub fn with_data(self, data: DataFolder) -> Model {
        let origin = Arc::new(self.data_ranges());
        Model { data: Arc::new(data), origin, ..self }
    }

    /// The folder of the data files.
    #[must_use]
    pub fn data(&self) -> &Arc<DataFolder> {
        &self.data
    }

    /// The external data that the model referred to when [`Model::with_data`] was called, before any edit.
    #[must_use]
    pub fn original_data_ranges(&self) -> &Arc<DataRanges> {
        &self.origin
    }

    /// The model's protobuf message.
    #[must_use]
    pub fn proto(&self) -> &ModelProto {
        &self.proto
    }

    /// The protobuf message, without the index.
    #[must_use]
    pub fn into_proto(self) -> ModelProto {
        self.proto
    }
}
