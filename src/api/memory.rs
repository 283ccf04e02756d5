//! Files in memory.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use crate::base::error::Error;
use crate::base::stored::Stored;
use crate::files::folders::Folder;

/// A table of files in memory, for models with external data that are not on a disk. The functions
/// that open and save models accept the paths of its files as long as it exists.
///
/// ```
/// use onnx_recast::{FoldOptions, MemoryFiles, Model, Placement, SaveOptions};
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let files = MemoryFiles::new();
/// files.insert("model.onnx", std::fs::read("models/transformer_fp16.onnx").unwrap())?;
/// let mut model = Model::open(files.path("model.onnx"))?;
/// model.fold(&FoldOptions::default())?;
/// let options = SaveOptions::default().placement(Placement::File("weights.bin".into()));
/// model.save_with(files.path("folded.onnx"), &options)?;
/// assert!(files.bytes("weights.bin")?.len() > 1000);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MemoryFiles(Folder);

impl MemoryFiles {
    /// An empty table.
    #[must_use]
    pub fn new() -> MemoryFiles {
        MemoryFiles(Folder::memory())
    }

    /// Adds a file, or replaces the one of this name; `/` in the name separates folders.
    ///
    /// # Errors
    /// If the name leads out of the table, or is that of a folder.
    pub fn insert(&self, name: impl AsRef<Path>, bytes: impl Into<Stored>) -> Result<(), Error> {
        self.0
            .insert(name.as_ref(), bytes)
            .map_err(|error| self.error(name.as_ref(), error))
    }

    /// The bytes of a file. They are not copied; those of a file that is read in ranges are read,
    /// and those of a file that was written are computed.
    ///
    /// # Errors
    /// If there is no file of this name, or it cannot be read.
    pub fn bytes(&self, name: impl AsRef<Path>) -> Result<Bytes, Error> {
        self.0
            .bytes(name.as_ref())
            .map_err(|error| self.error(name.as_ref(), error))
    }

    /// The path by which functions of this crate find a file of this name.
    #[must_use]
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    fn error(&self, name: &Path, error: std::io::Error) -> Error {
        Error::caused_by(error).in_file(name.display().to_string())
    }
}

impl Default for MemoryFiles {
    fn default() -> MemoryFiles {
        MemoryFiles::new()
    }
}
