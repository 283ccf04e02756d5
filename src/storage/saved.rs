//! The files of a model, as they are reported.

use std::path::PathBuf;

use serde::Serialize;

/// The files that were written, or that a plan will write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Saved {
    /// The length of the model file.
    #[serde(skip)]
    pub bytes: u64,
    /// The data file that was made for the model: written, or existing with the same content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_file: Option<WrittenDataFile>,
    /// Side effects that were not requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Data files that were copied with the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied_files: Vec<WrittenDataFile>,
    /// Data files that the replaced model used and the new one does not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unused_files: Vec<UnusedFile>,
}

/// A data file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct WrittenDataFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
}

/// A data file that a model no longer uses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnusedFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
    /// Where it comes from, if the replaced model did not use it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
