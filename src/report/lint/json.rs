//! One JSON document.

use super::run::LintRun;
use crate::base::printable::Document;

pub(super) fn render(run: &LintRun) -> Document<'_> {
    crate::report::json(run, &run.errors)
}
