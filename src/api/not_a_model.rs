//! Inputs that are not binary models: ONNX text is parsed; for all other formats, a remedy is added
//! to the error.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use prost::Message;

use crate::base::choice::nearest;
use crate::base::error::{Error, ErrorKind};
use crate::files::formats::{Fact, NotAModel};
use crate::files::{folder_of, identity};
use crate::onnx_text;
use crate::storage::data_ranges;

/// The number of models in a folder that are searched for a reference to a data file.
const MOST_NEIGHBOURS: usize = 16;

/// Whether the file has an extension that the onnx package uses for ONNX text.
pub fn is_text_model(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("onnxtxt") || extension.eq_ignore_ascii_case("onnxtext")
    })
}

/// The text of a file that is not a binary model, if it is UTF-8 and has the extension of ONNX
/// text. The bytes may be those of a mapped file, which can change, so they are copied.
pub fn text_of(path: &Path, bytes: &[u8]) -> Option<String> {
    let is_text = is_text_model(path) && !bytes.is_empty();
    is_text
        .then(|| String::from_utf8(bytes.to_vec()).ok())
        .flatten()
}

/// The binary form of a model in ONNX text.
///
/// # Errors
/// If the text is not a model; the error names the line.
pub fn to_binary(text: &str) -> Result<Bytes, Error> {
    let invalid = |error| {
        Error::new(
            ErrorKind::NotAModel,
            format!("is not valid ONNX text: {error}"),
        )
    };
    let model = onnx_text::parse(text).map_err(invalid)?;
    Ok(model.encode_to_vec().into())
}

/// Adds what only the path tells: that the file is data of a model beside it, or that another name
/// makes it ONNX text.
pub fn explain(path: &Path, error: NotAModel) -> NotAModel {
    let code = match &error.what {
        Fact::Foreign(format) => format.code,
        _ => "",
    };
    match code {
        "onnx-text" => NotAModel {
            remedy: Some(Cow::Borrowed(
                "rename it to .onnxtxt to read it as ONNX text",
            )),
            ..error
        },
        "" | "zeros" | "random" => match model_of(path) {
            Some(model) => NotAModel {
                remedy: Some(format!("pass {}", model.display()).into()),
                what: Fact::DataFile(model),
            },
            None => error,
        },
        _ => error,
    }
}

/// Adds the cause: the file does not exist, is a dangling link, or is a folder.
pub fn explain_open(path: &Path, error: io::Error) -> io::Error {
    match (error.kind(), fs::read_link(path)) {
        (io::ErrorKind::NotFound, Ok(linked)) => io::Error::new(
            error.kind(),
            format!("is a link to {}, which does not exist", linked.display()),
        ),
        (io::ErrorKind::NotFound, Err(_)) => io::Error::new(
            error.kind(),
            match similar(path, |_| true).or_else(|| in_similar_folder(path)) {
                Some(name) => format!("does not exist; did you mean {}?", name.display()),
                None => "does not exist".to_owned(),
            },
        ),
        (io::ErrorKind::IsADirectory, _) => explain_folder(path),
        _ => error,
    }
}

/// The path beside it, of those that are wanted, whose name is most like that of a path that does
/// not exist.
fn similar(path: &Path, is_wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let parts = |name: &'_ Path| {
        let stem = name.file_stem()?.to_str()?.to_owned();
        Some((stem, name.extension().map(OsStr::to_owned)))
    };
    let (wanted, extension) = parts(Path::new(path.file_name()?))?;
    let entries = fs::read_dir(folder_of(path)).ok()?.flatten();
    // An extension that both have does not make them alike.
    let mut beside: Vec<_> = entries
        .filter_map(|entry| {
            let name = PathBuf::from(entry.file_name());
            let (stem, other) = parts(&name)?;
            let is_of_kind = other == extension || extension.is_none() || stem == wanted;
            (is_of_kind && is_wanted(&entry.path())).then_some((
                other == Some("onnx".into()),
                stem,
                name,
            ))
        })
        .collect();
    beside.sort();
    let stem = nearest(&wanted, beside.iter().map(|(_, stem, _)| &**stem))?;
    let (.., name) = beside.iter().rfind(|(_, other, _)| other == stem)?;
    Some(path.with_file_name(name))
}

/// The path in a folder that exists, if only the name of its folder is misspelt.
fn in_similar_folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.exists())?;
    let meant = similar(folder, Path::is_dir)?.join(path.file_name()?);
    meant.exists().then_some(meant)
}

fn explain_folder(path: &Path) -> io::Error {
    let package = ["saved_model.pb", "Manifest.json"]
        .into_iter()
        .find(|name| path.join(name).is_file());
    let what = match (package, models_in(path).first()) {
        (Some("saved_model.pb"), _) => {
            "is the folder of a TensorFlow SavedModel; convert it with tf2onnx --saved-model"
                .to_owned()
        }
        (Some(_), _) => {
            "is the folder of a Core ML package; pass the ONNX model that it was converted from"
                .to_owned()
        }
        (None, Some(model)) => format!(
            "is a folder, not a file; pass a model in it, such as {}",
            model.display()
        ),
        (None, None) => "is a folder, not a file; it contains no .onnx file".to_owned(),
    };
    io::Error::new(io::ErrorKind::IsADirectory, what)
}

/// The `.onnx` files of a folder, by name.
fn models_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_model = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "onnx")
            && path.is_file()
    };
    let mut models: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_model).collect();
    models.sort();
    models
}

/// A model in the same folder that stores tensors in this file.
fn model_of(file: &Path) -> Option<PathBuf> {
    let folder = file.parent().unwrap_or(Path::new(""));
    let file = identity(file);
    let is_here = |location: &String| identity(&folder_of(&file).join(location)) == file;
    let refers =
        |model: &PathBuf| data_ranges(model).is_some_and(|ranges| ranges.keys().any(is_here));
    let beside = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut neighbours = models_in(beside)
        .into_iter()
        .filter(|model| identity(model) != file)
        .take(MOST_NEIGHBOURS);
    neighbours
        .find(refers)
        .and_then(|model| model.file_name().map(|name| folder.join(name)))
}
