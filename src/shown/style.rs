//! The styles of text for people.

pub use anstyle::Style;
use anstyle::{AnsiColor, Color};

/// No style.
pub const PLAIN: Style = Style::new();
/// Names that the eye looks for.
pub const STRONG: Style = Style::new().bold();
/// Marks that guide the eye and say nothing.
pub const FAINT: Style = coloured(AnsiColor::BrightBlack);
/// An error.
pub const ERROR: Style = coloured(AnsiColor::Red).bold();
/// A warning.
pub const WARNING: Style = coloured(AnsiColor::Yellow).bold();
/// Information.
pub const INFO: Style = coloured(AnsiColor::Cyan).bold();
/// What was added.
pub const ADDED: Style = coloured(AnsiColor::Green);
/// What was removed.
pub const REMOVED: Style = coloured(AnsiColor::Red);

const fn coloured(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(colour)))
}

/// The text before the first sequence of ANSI's `SGR`, the sequence, and the text after it.
pub(super) fn split_at_sgr(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("\x1b[").find_map(|(start, introducer)| {
        let parameters = &text[start + introducer.len()..];
        let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
        let end = start + introducer.len() + parameters[end..].starts_with('m').then_some(end + 1)?;
        Some((&text[..start], &text[start..end], &text[end..]))
    })
}
