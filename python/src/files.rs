//! Where a model comes from and goes to.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use onnx_recast::verify::{Verification, Verified};
use onnx_recast::{Error, Model, OpenOptions, Placement, SaveOptions};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use serde_json::{Value, json};

use crate::errors;
use crate::new_bytes::new_bytes;
use crate::operations::Changed;
use crate::watch::{Control, Watch};

/// A model that a caller gives.
pub enum Source {
    File(PathBuf),
    /// The bytes of an object.
    Memory(Bytes, Py<PyBytes>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Source> {
        match object.cast::<PyBytes>() {
            Ok(object) => {
                let bytes = Bytes::from_owner(PyBackedBytes::from(object.to_owned()));
                Ok(Source::Memory(bytes, object.to_owned().unbind()))
            }
            Err(_) => object.extract().map(Source::File),
        }
    }
}

/// A model, with the folder of its data files.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Input {
    source: Source,
    base_dir: Option<PathBuf>,
}

/// Where a model goes, and its tensors: `keep`, `inline`, or the name of a data file.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Output {
    pub path: Option<PathBuf>,
    pub external_data: String,
}

impl Input {
    /// Opens the model. Bytes are not copied.
    pub fn open(&self) -> Result<Model, Error> {
        let options = OpenOptions::new();
        match (&self.source, &self.base_dir) {
            (Source::File(path), None) => options.open(path),
            (Source::File(path), Some(folder)) => options.allow_data_in(folder).open(path),
            (Source::Memory(bytes, _), None) => options.from_bytes(bytes.clone()),
            (Source::Memory(bytes, _), Some(folder)) => {
                options.folder(folder).from_bytes(bytes.clone())
            }
        }
    }

    /// Opens the model that was made of this one. Its data files are those of this one, unless its
    /// tensors were moved.
    fn open_result(&self, bytes: Bytes) -> Result<Model, Error> {
        let options = OpenOptions::new();
        match (&self.source, &self.base_dir) {
            (Source::File(path), allowed) => {
                let folder = path
                    .parent()
                    .filter(|folder| !folder.as_os_str().is_empty())
                    .unwrap_or(Path::new("."));
                let options = allowed
                    .iter()
                    .fold(options.folder(folder), |options, folder| {
                        options.allow_data_in(folder)
                    });
                options.from_bytes(bytes)
            }
            (Source::Memory(..), None) => options.from_bytes(bytes),
            (Source::Memory(..), Some(folder)) => options.folder(folder).from_bytes(bytes),
        }
    }

    /// The object that the caller gave, if these are its bytes.
    fn object<'py>(&self, py: Python<'py>, bytes: &[u8]) -> Option<Bound<'py, PyBytes>> {
        match &self.source {
            Source::Memory(given, object) if std::ptr::eq(&raw const **given, bytes) => {
                Some(object.bind(py).clone())
            }
            _ => None,
        }
    }
}

/// Changes a model and writes it. Returns a report in JSON, and the bytes of the model if it is not
/// written to a file. If it is to be verified, the written model is opened again first, and
/// replaces nothing if that fails.
pub fn rewrite<'py>(
    py: Python<'py>,
    watch: &Watch,
    input: Input,
    output: Output,
    change: impl FnOnce(&mut Model) -> Result<Changed, Error> + Send + 'static,
) -> PyResult<(String, Option<Bound<'py, PyBytes>>)> {
    let (input, output, control) = (Arc::new(input), Arc::new(output), watch.control());
    let (source, target) = (Arc::clone(&input), Arc::clone(&output));
    let (mut report, model) = watch.run_owned(py, move || {
        let mut model = control.model(source.open()?);
        let (mut report, verification) = change(&mut model)?;
        let Some(path) = &target.path else {
            return Ok((report, Some((model, verification))));
        };
        let (saved, verified) = save(
            model,
            path.clone(),
            &target.options(),
            verification.as_ref(),
            &control,
        )?;
        (report["saved"], report["verified"]) = (saved, json!(verified));
        Ok((report, None))
    })?;
    let Some((model, verification)) = model else {
        return Ok((report.to_string(), None));
    };
    let bytes = to_bytes(py, watch, &input, &output, model)?;
    if let Some(verification) = verification {
        let verified = verify_bytes(py, watch, &input, &bytes, verification)?;
        report["verified"] = json!(verified.map_err(|error| errors::to_python(py, &error))?);
    }
    Ok((report.to_string(), Some(bytes)))
}

/// Verifies the bytes that were made of a model.
pub fn verify_bytes(
    py: Python<'_>,
    watch: &Watch,
    input: &Arc<Input>,
    bytes: &Bound<'_, PyBytes>,
    verification: Verification,
) -> PyResult<Result<Verified, Error>> {
    let written = Bytes::from_owner(PyBackedBytes::from(bytes.clone()));
    let input = Arc::clone(input);
    watch.run_owned(py, move || {
        let written = input.open_result(written)?;
        Ok(verification.verdict(&written))
    })
}

/// Writes a model, and returns which files were written, and what was verified before.
pub fn save(
    model: Model,
    path: PathBuf,
    options: &SaveOptions,
    verification: Option<&Verification>,
    control: &Control,
) -> Result<(Value, Option<Verified>), Error> {
    let plan = model.into_plan(path, options)?;
    control.stage.begin_to_write()?;
    let (saved, verified) = match verification {
        None => (plan.execute()?, None),
        Some(verification) => {
            let (saved, verified) = plan.execute_verified(verification)?;
            (saved, Some(verified))
        }
    };
    let mut facts = json!(saved);
    facts["bytes"] = json!(saved.bytes);
    Ok((facts, verified))
}

/// The bytes of a model: the object that the caller gave if nothing has changed, or else a new one,
/// into which they are written without another copy.
pub fn to_bytes<'py>(
    py: Python<'py>,
    watch: &Watch,
    input: &Input,
    output: &Output,
    model: Model,
) -> PyResult<Bound<'py, PyBytes>> {
    if output.placement() == Placement::Inline {
        let bytes = watch.run(py, || {
            let mut files = model.into_files(&output.options())?;
            Ok(files.remove("model.onnx").unwrap_or_default())
        })?;
        return new_bytes(py, bytes.len(), |mut out| {
            watch.run(py, || {
                out.write_all(&bytes)
                    .and_then(|()| out.flush())
                    .map_err(Error::caused_by)
            })
        });
    }
    if let Some(object) = model
        .proto()
        .source()
        .and_then(|bytes| input.object(py, &bytes))
    {
        return Ok(object);
    }
    let length = usize::try_from(model.encoded_len()).unwrap_or(usize::MAX);
    // A model that is too long is an error that states the limit; then there is nothing to
    // allocate.
    let length = if length > LARGEST { 0 } else { length };
    new_bytes(py, length, |mut out| {
        watch.run(py, || model.write_to(&mut out))
    })
}

/// The largest protobuf message.
const LARGEST: usize = i32::MAX as usize;

impl Output {
    pub fn options(&self) -> SaveOptions {
        SaveOptions::default().placement(self.placement())
    }

    fn placement(&self) -> Placement {
        match self.external_data.as_str() {
            "keep" => Placement::Keep,
            "inline" => Placement::Inline,
            file => Placement::File(file.to_owned()),
        }
    }
}
