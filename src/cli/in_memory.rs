//! Runs of the command on files in memory, for programs without files: the web page.

use std::ffi::OsString;
use std::path::PathBuf;

use bytes::Bytes;

use super::exit_code::ExitCode;
use super::main_with;
use super::streams::{Texts, captured};
use crate::Error;
use crate::files::folders::Folder;

/// What a run in memory leaves behind.
#[derive(Debug)]
pub struct Ran {
    /// Its exit code.
    pub code: ExitCode,
    /// What it printed.
    pub output: String,
    /// What it said on standard error.
    pub errors: String,
    /// The files that it wrote, by their paths.
    pub written: Vec<(PathBuf, Bytes)>,
}

/// Runs the command with these files in its current folder, and no others; the first argument is the name of the command. What it would
/// print is returned. Standard input is empty, and models cannot be written to standard output.
///
/// Only the current thread finds these files: with the feature `parallel`, commands that read several models do not.
///
/// ```
/// use onnx_recast::cli::run_in_memory;
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let model = std::fs::read("models/fp8_qdq.onnx").unwrap();
/// let arguments = ["recast", "fold", "model.onnx", "-o", "folded.onnx"];
/// let ran = run_in_memory(arguments.map(Into::into), [("model.onnx".into(), model.into())])?;
/// assert_eq!(ran.written[0].0.to_str(), Some("folded.onnx"), "{}", ran.errors);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the name of a file leads out of the folder, or two files cannot exist beside each other.
pub fn run_in_memory(
    arguments: impl IntoIterator<Item = OsString>,
    files: impl IntoIterator<Item = (PathBuf, Bytes)>,
) -> Result<Ran, Error> {
    Folder::in_place_of_system(|folder| {
        for (path, bytes) in files {
            folder.insert(&path, bytes).map_err(|error| Error::caused_by(error).in_file(path.display().to_string()))?;
        }
        let before = folder.files();
        let (code, Texts { output, errors }) = captured(|| main_with(arguments));
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let was_there = |(path, bytes): &(PathBuf, Bytes)| {
            before.iter().any(|(old, old_bytes)| old == path && old_bytes.as_ptr_range() == bytes.as_ptr_range())
        };
        let written = folder.files().into_iter().filter(|file| !was_there(file)).collect();
        Ok(Ran { code, output: text(output), errors: text(errors), written })
    })
}
