//! What the user wants of the files.

/// Where the values of tensors go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Where they are.
    #[default]
    Keep,
    /// Into the model file.
    Inline,
    /// Into the file of this path, relative to the model's folder.
    File(String),
}

/// What the user wants of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Where values go.
    pub placement: Placement,
    /// Tensors of fewer bytes than this are not moved to a data file.
    pub threshold: u64,
    /// Whether data files that the model was the only one to use are removed.
    pub prune_data: bool,
}

impl Default for Options {
    /// As onnx's own tools have it.
    fn default() -> Options {
        Options { placement: Placement::Keep, threshold: 1024, prune_data: false }
    }
}
