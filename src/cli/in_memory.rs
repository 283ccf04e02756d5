//! Runs of the command on files in memory, for programs without files: the web page.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::exit_code::ExitCode;
use super::progress::reported_to;
use super::run::main_with;
use super::streams::{Texts, captured};
use crate::files::folders::Folder;
use crate::proto::Piece;
use crate::protobuf::Pieces;
use crate::{Error, Progress, Stored};

/// The result of a run in memory.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: ExitCode,
    /// The text on standard output.
    pub output: String,
    /// The text on standard error.
    pub errors: String,
    /// The files that it wrote, by their paths. The pieces of a file are parts of the given files,
    /// and bytes that it made; tensors are computed when they are read.
    pub written: Vec<(PathBuf, Vec<Piece>)>,
}

/// Runs the command with these files in its current folder, and no others; the first argument is
/// the name of the command. What it would print is returned. Standard input is empty, and models
/// cannot be written to standard output. Data files that are [read in ranges](crate::ReadAt) may be
/// larger than the memory; models are read completely. `progress` is called for what is done with a
/// model.
///
/// Only the current thread finds these files: with the feature `parallel`, commands that read
/// several models do not.
///
/// ```
/// use onnx_recast::front_ends::run_in_memory;
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let model = std::fs::read("models/fp8_qdq.onnx").unwrap();
/// let arguments = ["recast", "fold", "model.onnx", "-o", "folded.onnx"];
/// let ran = run_in_memory(arguments.map(Into::into), [("model.onnx".into(), model.into())], |_| {})?;
/// assert_eq!(ran.written[0].0.to_str(), Some("folded.onnx"), "{}", ran.errors);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the name of a file leads out of the folder, or two files cannot exist beside each other; if a
/// file cannot be read.
pub fn run_in_memory(
    arguments: impl IntoIterator<Item = OsString>,
    files: impl IntoIterator<Item = (PathBuf, Stored)>,
    progress: impl Fn(Progress) + Send + Sync + 'static,
) -> Result<Ran, Error> {
    Folder::with_virtual_file_system(|folder| {
        let of = |path: &Path, error| Error::caused_by(error).in_file(path.display().to_string());
        for (path, bytes) in files {
            folder
                .insert(&path, bytes)
                .map_err(|error| of(&path, error))?;
        }
        let before = folder.files();
        let (code, Texts { output, errors }) =
            captured(|| reported_to(progress, || main_with(arguments)));
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        if let Some((path, error)) = before
            .iter()
            .find_map(|(path, bytes)| Some((path, bytes.failure()?)))
        {
            return Err(of(path, error));
        }
        let was_there = |path: &PathBuf, bytes: &Stored| {
            before
                .iter()
                .any(|(old, old_bytes)| old == path && old_bytes.is_same(bytes))
        };
        let after = folder.files().into_iter();
        let written = after
            .filter(|(path, bytes)| !was_there(path, bytes))
            .map(|(path, bytes)| (path, Pieces::of(&bytes)));
        let written = written.collect();
        Ok(Ran {
            code,
            output: text(output),
            errors: text(errors),
            written,
        })
    })
}
