//! How findings are shown to people.

/// How findings are shown to people.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shape {
    /// The width of the terminal, if there is one.
    pub width: Option<usize>,
    /// Whether all findings of a rule are shown, however many there are.
    pub is_complete: bool,
}
