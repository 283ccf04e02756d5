//! A model as it was before an operation that may fail.

use bytes::Bytes;

use super::index::Index;
use super::model::{Model, ModelSource};
use crate::protobuf::schema::ModelProto;

/// The state of a model.
#[derive(Clone, Debug)]
pub(crate) struct Checkpoint {
    messages: Messages,
    source: ModelSource,
}

#[derive(Clone, Debug)]
enum Messages {
    /// The bytes of a model that has not changed since it was read; they are decoded again.
    Encoded(Bytes),
    Decoded(ModelProto),
}

impl Model {
    /// The state of the model, to be restored if an operation fails. Free of cost for a model that
    /// has not changed since it was read.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        let messages = match self.proto.source() {
            Some(bytes) => Messages::Encoded(bytes.clone()),
            None => Messages::Decoded(self.proto.clone()),
        };
        Checkpoint {
            messages,
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
    pub(crate) fn bytes(&self) -> Option<&Bytes> {
        match &self.messages {
            Messages::Encoded(bytes) => Some(bytes),
            Messages::Decoded(_) => None,
        }
    }

    /// The model in this state.
    pub(crate) fn restore(self) -> Model {
        let proto = match self.messages {
            Messages::Encoded(bytes) => {
                ModelProto::from_bytes(bytes).expect("these bytes were decoded before")
            }
            Messages::Decoded(proto) => proto,
        };
        let model =
            Model::with_unchecked_tensors(proto).expect("these messages were indexed before");
        Model {
            source: self.source,
            ..model
        }
    }
}
