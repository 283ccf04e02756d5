//! Options for values that ONNX leaves undefined or contested.

use clap::ValueEnum;

use crate::cast::Contested;

/// The treatment of undefined values.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Undefined {
    Skip,
    Fold,
}

/// The treatment of values on which ONNX's text and its node tests disagree.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnContested {
    Skip,
    Text,
    Runtime,
}

impl OnContested {
    /// Which of the two values to use; `None` to keep the cast.
    pub fn choice(self) -> Option<Contested> {
        match self {
            OnContested::Skip => None,
            OnContested::Text => Some(Contested::Text),
            OnContested::Runtime => Some(Contested::Runtime),
        }
    }
}
