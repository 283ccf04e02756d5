//! One JSON document.

use super::LintRun;

pub(super) fn render(run: &LintRun) -> String {
    crate::report::json(run) + "\n"
}
