//! A model, the index over it, and where it comes from.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::index::Index;
use crate::base::error::Invalid;
use crate::base::progress::{Cancel, Control, Progress};
use crate::files::DataFolder;
use crate::protobuf::schema::ModelProto;

/// A model and the index over it.
#[derive(Clone, Debug)]
pub struct Model {
    pub(super) proto: ModelProto,
    pub(super) index: Index,
    pub(super) source: ModelSource,
}

/// The origin of a model, and its data files.
#[derive(Clone, Debug, Default)]
pub(super) struct ModelSource {
    pub(super) path: Option<PathBuf>,
    pub(super) data: Arc<DataFolder>,
    pub(super) data_ranges: Arc<DataRanges>,
    pub(super) bad_tensors: Arc<[Invalid]>,
    pub(super) control: Control,
}

/// The byte ranges of a model's tensors in its data files, by the location that the model states.
pub(crate) type DataRanges = BTreeMap<String, Vec<Range<u64>>>;

/// # Data files, cancellation and progress
impl Model {
    /// The model with the folder of its data files; without a folder they cannot be read.
    #[must_use]
    pub(crate) fn with_data(mut self, data: DataFolder) -> Model {
        self.source.data_ranges = Arc::new(self.data_ranges());
        self.source.data = Arc::new(data);
        self
    }

    /// The model with the path of its file, by which errors name it; `-` is standard input.
    #[must_use]
    pub(crate) fn with_path(mut self, path: PathBuf) -> Model {
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

    /// The tensors that contradict themselves. A model with such tensors can be read, but not
    /// changed.
    #[must_use]
    pub(crate) fn bad_tensors(&self) -> &[Invalid] {
        &self.source.bad_tensors
    }

    /// The folder of the data files.
    #[must_use]
    pub(crate) fn data(&self) -> &Arc<DataFolder> {
        &self.source.data
    }

    /// The external data that the model referred to when [`Model::with_data`] was called, before
    /// any edit.
    #[must_use]
    pub(crate) fn original_data_ranges(&self) -> &Arc<DataRanges> {
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
