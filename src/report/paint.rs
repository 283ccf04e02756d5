//! Colour for people.

use crate::lint::Severity;

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// For files, pipes and scripts.
    Plain,
    /// For terminals.
    Colour,
}

/// The ink of a text: parameters of ANSI's `SGR`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Bold.
    Strong,
    /// Grey.
    Faint,
    /// Red and bold.
    Red,
    /// Yellow and bold.
    Yellow,
    /// Cyan and bold.
    Cyan,
    /// Green.
    Green,
    /// Red.
    PlainRed,
}

impl Paint {
    /// The text in this ink.
    #[must_use]
    pub fn ink(self, ink: Ink, text: &str) -> String {
        if self == Paint::Plain || text.is_empty() {
            return text.to_owned();
        }
        let parameters = match ink {
            Ink::Strong => "1",
            Ink::Faint => "90",
            Ink::Red => "1;31",
            Ink::Yellow => "1;33",
            Ink::Cyan => "1;36",
            Ink::Green => "32",
            Ink::PlainRed => "31",
        };
        format!("\x1b[{parameters}m{text}\x1b[0m")
    }
}

/// The ink of a severity.
#[must_use]
pub fn severity_ink(severity: Severity) -> Ink {
    match severity {
        Severity::Error => Ink::Red,
        Severity::Warning => Ink::Yellow,
        Severity::Info => Ink::Cyan,
    }
}
