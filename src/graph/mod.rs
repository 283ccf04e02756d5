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
pub(crate) mod cast_attributes;
mod cast_node;
mod change;
mod checkpoint;
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
pub use cast_attributes::BadAttribute;
pub(crate) use cast_attributes::{read_round_mode, read_saturate, read_type};
pub use cast_node::{CastNode, TypeSource, UnclearCast};
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
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::control::{Cancel, Control, Progress};
use crate::error::Invalid;
use crate::wire::DataFolder;
use crate::wire::schema::ModelProto;
use index::Index;

/// A model and the index over it.
#[derive(Clone, Debug)]
pub struct Model {
    proto: ModelProto,
    index: Index,
    source: Source,
}

/// Where a model comes from.
#[derive(Clone, Debug, Default)]
struct Source {
    path: Option<PathBuf>,
    data: Arc<DataFolder>,
    data_ranges: Arc<DataRanges>,
    bad_tensors: Arc<[Invalid]>,
    control: Control,
}

/// The byte ranges of a model's tensors in its data files, by the location that the model states.
pub type DataRanges = BTreeMap<String, Vec<Range<u64>>>;

impl Model {
    /// Indexes a model.
    ///
    /// # Errors
    /// If the model has no graph, a name is defined twice, a value depends on itself, or a tensor is inconsistent.
    pub fn new(proto: ModelProto) -> Result<Model, Invalid> {
        let model = Model::for_reading(proto)?;
        model.bad_tensors().first().map_or(Ok(()), |fault| Err(fault.clone()))?;
        Ok(model)
    }

    /// Indexes a model that is read and not changed: it may have inconsistent tensors.
    ///
    /// # Errors
    /// If the model has no graph, a name is defined twice, or a value depends on itself.
    pub fn for_reading(proto: ModelProto) -> Result<Model, Invalid> {
        let (index, bad_tensors) = build::index(&proto)?;
        Ok(Model { proto, index, source: Source { bad_tensors: bad_tensors.into(), ..Source::default() } })
    }

    /// The model with the folder of its data files; without a folder they cannot be read.
    #[must_use]
    pub fn with_data(mut self, data: DataFolder) -> Model {
        self.source.data_ranges = Arc::new(self.data_ranges());
        self.source.data = Arc::new(data);
        self
    }

    /// The model with the path of its file, by which errors name it; `-` is standard input.
    #[must_use]
    pub fn with_path(mut self, path: PathBuf) -> Model {
        self.source.path = Some(path);
        self
    }

    /// The model with a token that cancels its operations.
    #[must_use]
    pub fn with_cancel(mut self, cancel: &Cancel) -> Model {
        self.source.control.cancel = cancel.clone();
        self
    }

    /// The model with a function that its operations call with their progress, from any thread.
    ///
    /// ```
    /// use onnx_recast::{FoldOptions, Model};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let show = |progress: onnx_recast::Progress| eprintln!("{} of {} {:?}", progress.done, progress.total, progress.unit);
    /// let mut model = Model::open("models/fp8_qdq.onnx")?.with_progress(show);
    /// model.fold(&FoldOptions::default())?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Model {
        self.source.control.progress = Some(Arc::new(progress));
        self
    }

    pub(crate) fn control(&self) -> &Control {
        &self.source.control
    }

    /// The path of the model's file as it was given; `-` is standard input.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.source.path.as_deref()
    }

    /// The tensors that contradict themselves. A model with such tensors can be read, but not changed.
    #[must_use]
    pub fn bad_tensors(&self) -> &[Invalid] {
        &self.source.bad_tensors
    }

    /// The folder of the data files.
    #[must_use]
    pub fn data(&self) -> &Arc<DataFolder> {
        &self.source.data
    }

    /// The external data that the model referred to when [`Model::with_data`] was called, before any edit.
    #[must_use]
    pub fn original_data_ranges(&self) -> &Arc<DataRanges> {
        &self.source.data_ranges
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
