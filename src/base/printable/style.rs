//! The styles of text for people.

/// How text is shown: the sequence of ANSI's `SGR` that selects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style(&'static str);

/// No style.
pub const PLAIN: Style = Style("");
/// Names that the eye looks for.
pub const STRONG: Style = Style("\x1b[1m");
/// Marks that guide the eye and say nothing.
pub const FAINT: Style = Style("\x1b[90m");
/// An error.
pub const ERROR: Style = Style("\x1b[1m\x1b[31m");
/// A warning.
pub const WARNING: Style = Style("\x1b[1m\x1b[33m");
/// Information.
pub const INFO: Style = Style("\x1b[1m\x1b[36m");
/// Text that was added.
pub const ADDED: Style = Style("\x1b[32m");
/// Text that was removed.
pub const REMOVED: Style = Style("\x1b[31m");

impl Style {
    /// The sequence before the text.
    pub(super) fn start(self) -> &'static str {
        self.0
    }

    /// The sequence after the text.
    pub(super) fn end(self) -> &'static str {
        if self.0.is_empty() { "" } else { "\x1b[0m" }
    }
}

/// The text before the first sequence of ANSI's `SGR`, the sequence, and the text after it.
pub(super) fn split_at_sgr(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices('\x1b').find_map(|(start, escape)| {
        let parameters = text[start + escape.len()..].strip_prefix('[')?;
        let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
        let end = text.len() - parameters.len()
            + parameters[end..].starts_with('m').then_some(end + 1)?;
        Some((&text[..start], &text[start..end], &text[end..]))
    })
}
