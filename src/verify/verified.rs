//! The extent of a verification.

use serde::Serialize;

/// The extent of a successful verification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// The nodes of the written model.
    pub nodes: usize,
    /// The constants whose values were compared with those that the original gives them, computed
    /// again.
    pub constants: usize,
    /// The elements of these constants.
    pub elements: u64,
}
