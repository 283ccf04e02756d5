//! The difference of two constants.

/// How a constant differs from another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Difference {
    /// At the element with this index.
    At(usize),
    /// ONNX does not define the element with this index.
    Undefined(usize, &'static str),
}

impl Difference {
    /// The difference in a tensor of which this is one in the part from an element on.
    pub(super) fn from(self, first: usize) -> Difference {
        match self {
            Difference::At(index) => Difference::At(first + index),
            Difference::Undefined(index, why) => Difference::Undefined(first + index, why),
        }
    }
}
