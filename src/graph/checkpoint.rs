//! A model as it was before an operation that may fail.

use bytes::Bytes;

use super::index::Index;
use super::model::{Model, ModelSource};
use crate::protobuf::schema::ModelProto;

/// The state of a model. It shares the messages that the model does not change later.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    proto: ModelProto,
    source: ModelSource,
}

impl Model {
    /// The state of the model, to be restored if an operation fails.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        Checkpoint {
            proto: self.proto.clone(),
            source: self.source.clone(),
        }
    }

    /// Moves the model out and leaves one without a graph.
    pub(crate) fn take(&mut self) -> Model {
        let empty = Model {
            proto: ModelProto::default(),
            index: Index::default(),
            source: ModelSource::default(),
        };
        std::mem::replace(self, empty)
    }
}

impl Checkpoint {
    /// The bytes of a model that has not changed since it was read.
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        self.proto.source()
    }

    /// The messages of the model.
    pub(crate) fn proto(&self) -> &ModelProto {
        &self.proto
    }

    /// The model in this state.
    pub(crate) fn restore(self) -> Model {
        let model =
            Model::with_unchecked_tensors(self.proto).expect("these messages were indexed before");
        Model {
            source: self.source,
            ..model
        }
    }
}
