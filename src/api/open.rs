//! Opening models.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::memory::DataFiles;
use super::not_a_model;
use crate::base::error::{Error, ErrorKind};
use crate::base::stored::Stored;
use crate::files::{self, DataFolder, formats};
use crate::graph::Model;
use crate::onnx_text;

/// How to open a model.
///
/// ```
/// use onnx_recast::OpenOptions;
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let bytes = std::fs::read("models/fp8_qdq.onnx").unwrap();
/// // If the model had data files, they would be in this folder.
/// let model = OpenOptions::new().folder("models").from_bytes(bytes)?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    folder: Option<PathBuf>,
    data_files: Option<DataFiles>,
    allowed: Vec<PathBuf>,
}

impl OpenOptions {
    /// Data files are read from the folder of the model only.
    #[must_use]
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// The folder of the data files of a model that is not read from a file.
    #[must_use]
    pub fn folder(mut self, folder: impl Into<PathBuf>) -> OpenOptions {
        self.folder = Some(folder.into());
        self
    }

    /// Reads the data files of a model that is not read from a file. The function gets the location
    /// that the model states, and gives the bytes, or a file that is read in ranges
    /// ([`Stored::of_file`]). Locations that lead out of the folder of the model are not asked for.
    #[must_use]
    pub fn data_files(
        mut self,
        read: impl Fn(&str) -> io::Result<Stored> + Send + Sync + 'static,
    ) -> OpenOptions {
        self.data_files = Some(DataFiles::new(read));
        self
    }

    /// Allows data files in this folder too, also by absolute paths.
    #[must_use]
    pub fn allow_data_in(mut self, folder: impl Into<PathBuf>) -> OpenOptions {
        self.allowed.push(folder.into());
        self
    }

    /// Opens a model file: see [`Model::open`].
    ///
    /// # Errors
    /// See [`Model::open`]; also if an allowed folder cannot be opened.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<Model, Error> {
        let path = path.as_ref();
        let open = || {
            let opened = files::open_with_data(path)
                .map_err(|error| Error::caused_by(not_a_model::explain_open(path, error)));
            let (input, data) = opened?;
            self.decode(input.bytes, data, Some(path))
        };
        open().map_err(|error: Error| error.in_file(path.display().to_string()))
    }

    /// Decodes a model.
    ///
    /// # Errors
    /// If the bytes are not a model, or contradict ONNX.
    pub fn from_bytes(&self, bytes: impl Into<Bytes>) -> Result<Model, Error> {
        let data = match &self.folder {
            Some(folder) => DataFolder::of_model(&folder.join("model.onnx")),
            None => DataFolder::default(),
        };
        let model = self.decode(bytes.into(), data, None)?;
        match &self.data_files {
            Some(files) => {
                let data = files.of(&model)?;
                Ok(model.with_data(data))
            }
            None => Ok(model),
        }
    }

    /// Reads a model to the end of a stream of at most 8 GiB.
    ///
    /// # Errors
    /// If the stream cannot be read; see also [`OpenOptions::from_bytes`].
    pub fn from_reader(&self, mut reader: impl Read) -> Result<Model, Error> {
        self.from_bytes(files::read_all(&mut reader).map_err(Error::caused_by)?)
    }

    /// Reads a model from standard input.
    ///
    /// # Errors
    /// See [`OpenOptions::from_reader`].
    pub(crate) fn read_stdin(&self) -> Result<Model, Error> {
        let model = self
            .from_reader(io::stdin().lock())
            .map_err(|error| error.in_file("-"))?;
        Ok(model.with_path(PathBuf::from("-")))
    }

    fn decode(
        &self,
        bytes: Bytes,
        mut data: DataFolder,
        path: Option<&Path>,
    ) -> Result<Model, Error> {
        for folder in &self.allowed {
            let unusable = |error| {
                Error::new(
                    ErrorKind::Usage,
                    format!("the data folder {}: {error}", folder.display()),
                )
            };
            data.allow(folder).map_err(unusable)?;
        }
        let proto = match (formats::read_model(&bytes), path) {
            (Err(error), Some(path)) => match not_a_model::text_of(path, &bytes) {
                Some(text) => formats::read_model(&not_a_model::to_binary(&text)?)
                    .map_err(Error::caused_by)?,
                None => return Err(Error::caused_by(not_a_model::explain(path, error))),
            },
            (read, _) => read.map_err(Error::caused_by)?,
        };
        let model = Model::with_unchecked_tensors(proto)
            .map_err(Error::caused_by)?
            .with_data(data);
        Ok(match path {
            Some(path) => model.with_path(path.to_owned()),
            None => model,
        })
    }
}

/// # Opening
impl Model {
    /// Opens a model file. It is memory-mapped; weights are not read. A file that ends in
    /// `.onnxtxt` or `.onnxtext` is ONNX text.
    ///
    /// A model with inconsistent tensors can be opened and compared; [`Model::inspect`] lists them,
    /// and operations that would change it return an error.
    ///
    /// ```
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let model = onnx_recast::Model::open("models/fp8_qdq.onnx")?;
    /// assert_eq!(model.ir_version(), 9);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the file cannot be read, is not a model, or contradicts ONNX.
    pub fn open(path: impl AsRef<Path>) -> Result<Model, Error> {
        OpenOptions::new().open(path)
    }

    /// Decodes a model. Its data files cannot be read: see [`OpenOptions::folder`].
    ///
    /// # Errors
    /// If the bytes are not a model, or contradict ONNX.
    pub fn from_bytes(bytes: impl Into<Bytes>) -> Result<Model, Error> {
        OpenOptions::new().from_bytes(bytes)
    }

    /// Parses ONNX text, the language of `onnx.parser`.
    ///
    /// ```
    /// # fn main() -> Result<(), onnx_recast::Error> {
    /// let model = onnx_recast::Model::from_text(
    ///     r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { y = Relu (x) }"#,
    /// )?;
    /// assert_eq!(model.topological_order().len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the text is not a model, with the line; if the model contradicts ONNX.
    pub fn from_text(text: &str) -> Result<Model, Error> {
        Model::from_bytes(not_a_model::to_binary(text)?)
    }

    /// The model as ONNX text, without the values of tensors.
    #[must_use]
    pub fn to_text(&self) -> String {
        onnx_text::print(self.proto())
    }

    /// Reads a model to the end of a stream of at most 8 GiB. Its data files cannot be read: see
    /// [`OpenOptions::folder`].
    ///
    /// # Errors
    /// If the stream cannot be read, is not a model, or contradicts ONNX.
    pub fn from_reader(reader: impl Read) -> Result<Model, Error> {
        OpenOptions::new().from_reader(reader)
    }
}
