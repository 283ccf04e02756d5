//! What to do with results that ONNX leaves open.

use clap::ValueEnum;

use crate::cast::Contested;

/// For results that ONNX does not define.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Undefined {
    Skip,
    Fold,
}

/// For results that ONNX's text and its node tests disagree on.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnContested {
    Skip,
    Text,
    Runtime,
}

impl OnContested {
    /// Which of the two values to take, if one is to be taken.
    pub fn choice(self) -> Option<Contested> {
        match self {
            OnContested::Skip => None,
            OnContested::Text => Some(Contested::Text),
            OnContested::Runtime => Some(Contested::Runtime),
        }
    }
}
