//! Options for saving.

use crate::base::options::options;

/// Where the values of tensors are stored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Where they are now.
    #[default]
    Keep,
    /// In the model file.
    Inline,
    /// In the data file of this path, relative to the model's folder.
    File(String),
}

options! {
    /// Options for saving.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct Options {
        /// Where values are stored.
        pub placement: Placement,
        /// Tensors of fewer bytes are not moved to a data file.
        pub threshold: u64,
    }
}

impl Default for Options {
    /// The threshold of onnx's tools.
    fn default() -> Options {
        Options {
            placement: Placement::Keep,
            threshold: 1024,
        }
    }
}
