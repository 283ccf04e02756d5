//! Models without files: data files that the caller reads, and the files of a model in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::sync::Arc;

use bytes::Bytes;

use crate::base::error::{Error, ErrorKind, shortened};
use crate::base::stored::Stored;
use crate::files::DataFolder;
use crate::files::folders::Folder;
use crate::graph::Model;
use crate::storage::{Options, path_below};

/// The name of the model among its files.
const MODEL: &str = "model.onnx";

/// Reads a data file by its location in the model.
#[derive(Clone)]
pub(super) struct DataFiles(Arc<Read>);

type Read = dyn Fn(&str) -> io::Result<Stored> + Send + Sync;

impl fmt::Debug for DataFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DataFiles")
    }
}

impl DataFiles {
    pub(super) fn new(read: impl Fn(&str) -> io::Result<Stored> + Send + Sync + 'static) -> Self {
        DataFiles(Arc::new(read))
    }

    /// The data files of a model. A file that does not exist is missing when a tensor in it is read.
    ///
    /// # Errors
    /// If a file cannot be read for another reason.
    pub(super) fn of(&self, model: &Model) -> Result<DataFolder, Error> {
        let folder = Folder::memory();
        for location in model.original_data_ranges().keys() {
            let Some(name) = path_below(location) else {
                continue;
            };
            let inserted = match (self.0)(location) {
                Ok(bytes) => folder.insert(name, bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) => Err(error),
            };
            inserted.map_err(|error| {
                let error = Error::new(ErrorKind::BadExternalData, error);
                error.in_file(shortened(location))
            })?;
        }
        Ok(DataFolder::of_model(&folder.path().join(MODEL)))
    }
}

impl Model {
    /// The files that [`Model::save_with`] would write, by name: the model as `model.onnx`, and its
    /// data files. For a program without a file system.
    ///
    /// ```
    /// use onnx_recast::{FoldOptions, Model, OpenOptions, Placement, SaveOptions};
    ///
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let mut model = Model::open("models/transformer_fp16.onnx")?;
    /// model.fold(&FoldOptions::default())?;
    /// let options = SaveOptions::default().placement(Placement::File("weights.bin".into()));
    /// let files = model.into_files(&options)?;
    /// assert!(files["weights.bin"].len() > 1000);
    ///
    /// let read = move |location: &str| files.get(location).cloned().map(Into::into).ok_or_else(|| std::io::ErrorKind::NotFound.into());
    /// # let bytes = read("model.onnx").map(|file: onnx_recast::Stored| file.to_bytes()).unwrap();
    /// let again = OpenOptions::new().data_files(read).from_bytes(bytes)?;
    /// # assert_eq!(again.inspect().1.len(), 0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`Model::save_with`].
    pub fn into_files(self, options: &Options) -> Result<BTreeMap<String, Bytes>, Error> {
        let folder = Folder::memory();
        self.into_plan(folder.path().join(MODEL), options)?
            .execute()
            .map_err(|error| error.in_file(MODEL))?;
        let paths = folder.files().into_iter().map(|(path, _)| path);
        let files = paths.map(|path| {
            let name = path.strip_prefix(folder.path()).unwrap_or(&path);
            let bytes = folder.bytes(name);
            let name = name.to_string_lossy().into_owned();
            match bytes {
                Ok(bytes) => Ok((name, bytes)),
                Err(error) => Err(Error::caused_by(error).in_file(name)),
            }
        });
        files.collect()
    }
}
