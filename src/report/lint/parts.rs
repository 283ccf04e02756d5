//! Parts of findings that several formats print.

use crate::base::printable::{ERROR, INFO, Style, WARNING};
use crate::lint::{Diagnostic, Safety, Severity};

/// The mark of a finding that has a fix: `[*]` for a safe one, `[?]` for one that takes
/// `--unsafe-fixes`.
pub(super) fn fix_mark(found: &Diagnostic) -> &'static str {
    match found.fix.as_ref().map(|fix| fix.safety) {
        Some(Safety::Safe) => " [*]",
        Some(Safety::Unsafe) => " [?]",
        None => "",
    }
}

/// The style of a severity.
pub(super) fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Info => INFO,
    }
}

/// `warning[RC101]`.
pub(super) fn head(severity: Severity, code: &str) -> String {
    format!("{severity}[{code}]")
}

/// A path with `/` between its parts, on every system.
pub(super) fn slashes(path: &str) -> String {
    if cfg!(windows) {
        path.replace('\\', "/")
    } else {
        path.to_owned()
    }
}
