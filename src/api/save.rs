//! Saving models.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use crate::base::error::{Classified, Error, ErrorKind};
use crate::base::progress::Unit;
use crate::files::SaveTarget;
use crate::graph::Model;
use crate::protobuf::{LARGEST_MESSAGE, Layout};
use crate::storage::{Options, SavePlan, Saved, Unplaceable, WrittenCheck, plan_of};

/// # Saving
impl Model {
    /// Writes the model to a file, atomically: at any moment there is the old model or the new one.
    /// Tensors stay where they are, in the model or in data files.
    ///
    /// # Errors
    /// See [`Model::save_with`].
    pub fn save(&self, path: impl AsRef<Path>) -> Result<Saved, Error> {
        self.save_with(path, &Options::default())
    }

    /// Like [`Model::save`], with a choice of where the values of tensors go.
    ///
    /// ```
    /// use onnx_recast::{Model, Placement, SaveOptions};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let output = folder.path().join("external.onnx");
    /// let model = Model::open("models/transformer_fp16.onnx")?;
    /// let options = SaveOptions::default().placement(Placement::File("weights.bin".into())).threshold(0);
    /// let saved = model.save_with(&output, &options)?;
    /// assert_eq!(saved.data_file.unwrap().path, folder.path().join("weights.bin"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If a file that the model was read from changed, or a data file cannot be read; if the output
    /// must not be replaced, or a file cannot be written. The files that existed are then
    /// unchanged. A model that was saved over its own file must be opened again before it is saved
    /// once more.
    pub fn save_with(&self, path: impl AsRef<Path>, options: &Options) -> Result<Saved, Error> {
        self.clone().into_plan(path, options)?.execute()
    }

    /// Decides which files the model will consist of, and writes nothing yet. Unlike
    /// [`Model::save`], this does not copy the graph.
    ///
    /// # Errors
    /// See [`Model::save_with`].
    pub fn into_plan(self, path: impl AsRef<Path>, options: &Options) -> Result<SavePlan, Error> {
        self.plan_for(&SaveTarget::File(path.as_ref().to_owned()), options)
    }

    /// Like [`Model::into_plan`], also for standard output.
    ///
    /// # Errors
    /// See [`Model::save_with`].
    pub(crate) fn plan_for(
        self,
        target: &SaveTarget,
        options: &Options,
    ) -> Result<SavePlan, Error> {
        let path = self.path().map(Path::to_owned);
        let plan = plan_of(
            self,
            path.as_deref().unwrap_or(Path::new("")),
            target,
            options,
        );
        plan.map_err(|error| {
            let error = Error::caused_by(error);
            if let Some(path) = path {
                error.in_file(path.display().to_string())
            } else {
                error
            }
        })
    }

    /// The bytes of the model file. Tensors in data files stay there.
    ///
    /// # Errors
    /// If the model exceeds 2 GiB; if a file that the model was read from changed.
    pub fn to_bytes(&self) -> Result<Bytes, Error> {
        if let Some(bytes) = self.proto().source() {
            return Ok(bytes.clone());
        }
        let mut bytes = Vec::new();
        self.write_to(&mut bytes)?;
        Ok(bytes.into())
    }

    /// Writes the bytes of the model file. Tensors in data files stay there.
    ///
    /// # Errors
    /// Any error of the writer; if the model exceeds 2 GiB; if a file that the model was read from
    /// changed; if the operation is cancelled.
    pub fn write_to(&self, mut writer: impl Write) -> Result<(), Error> {
        let mut layout = Layout::of(self.proto());
        if layout.bytes() > LARGEST_MESSAGE {
            return Err(self.error(Error::caused_by(Unplaceable::TooLarge(layout.bytes()))));
        }
        layout.count_in(&Arc::new(
            self.control().counter(Unit::Bytes, layout.bytes()),
        ));
        let written = layout
            .write_to(&mut writer)
            .and_then(|()| self.data().expect_unchanged());
        written.map_err(|error| match self.control().check() {
            Ok(()) => self.error(Error::caused_by(error)),
            Err(cancelled) => self.error(Error::of(&cancelled)),
        })
    }

    /// The length of the model file.
    #[must_use]
    pub fn encoded_len(&self) -> u64 {
        Layout::of(self.proto()).bytes()
    }
}

impl SavePlan {
    /// Writes the files.
    ///
    /// # Errors
    /// Any I/O error, with the file. The files that existed are then unchanged.
    pub fn execute(self) -> Result<Saved, Error> {
        self.execute_if(None)
    }

    pub(super) fn execute_if(self, check: Option<WrittenCheck>) -> Result<Saved, Error> {
        let (target, control) = (self.target().name(), self.control().clone());
        self.write_if(check).map_err(|error| match control.check() {
            Ok(()) => not_written(&target, error),
            Err(cancelled) => Error::of(&cancelled).in_file(target),
        })
    }
}

/// The error of a target, with its cause.
pub(crate) fn not_written(target: &str, error: io::Error) -> Error {
    if target == "-" && error.kind() == io::ErrorKind::BrokenPipe {
        Error::new(
            ErrorKind::Io,
            "the reader of standard output closed it before all bytes were written",
        )
        .in_file("-")
    } else {
        // An error of one of several files has the path of that file.
        let message = error.to_string();
        let message = message
            .strip_prefix(&format!("{target}: "))
            .unwrap_or(&message);
        Error::new(Classified::kind(&error), message)
            .in_file(target)
            .with_source(error)
    }
}
