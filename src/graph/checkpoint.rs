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
    /// They are shared with the model until it changes them.
    Decoded(ModelProto),
}

impl Messages {
    fn into_proto(self) -> ModelProto {
        match self {
            Messages::Encoded(bytes) => {
                ModelProto::from_bytes(bytes).expect("these bytes were decoded before")
            }
            Messages::Decoded(proto) => proto,
        }
    }
}

impl Model {
    /// The state of the model, to be restored if an operation fails. An operation that changes
    /// every node frees the messages of a model that was read.
    pub(crate) fn checkpoint(&self) -> Checkpoint {
        match self.proto.source() {
            Some(bytes) => self.with_messages(Messages::Encoded(bytes)),
            None => self.shared_checkpoint(),
        }
    }

    /// The state of the model, to be compared with a later one.
    pub(crate) fn shared_checkpoint(&self) -> Checkpoint {
        self.with_messages(Messages::Decoded(self.proto.clone()))
    }

    fn with_messages(&self, messages: Messages) -> Checkpoint {
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
    pub(crate) fn bytes(&self) -> Option<Bytes> {
        match &self.messages {
            Messages::Encoded(bytes) => Some(bytes.clone()),
            Messages::Decoded(proto) => proto.source(),
        }
    }

    /// The messages of the model.
    pub(crate) fn proto(&self) -> ModelProto {
        self.messages.clone().into_proto()
    }

    /// The model in this state.
    pub(crate) fn restore(self) -> Model {
        let model = Model::with_unchecked_tensors(self.messages.into_proto())
            .expect("these messages were indexed before");
        Model {
            source: self.source,
            ..model
        }
    }
}
