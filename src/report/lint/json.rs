//! One JSON document.

use super::run::LintRun;
use crate::shown::Document;

pub(super) fn render(run: &LintRun) -> Document<'_> {
    crate::report::json(run, &run.errors)
}
