//! One JSON document per line: the findings, then the errors.

use serde::Serialize;

use super::run::LintRun;
use crate::base::error::Error;
use crate::base::printable::Document;
use crate::lint::Diagnostic;

#[derive(Serialize)]
#[serde(untagged)]
enum Line<'r> {
    Finding(&'r Diagnostic),
    Error(&'r Error),
}

pub(super) fn render(run: &LintRun) -> Document<'_> {
    Document::json_lines(|| {
        run.findings
            .iter()
            .map(Line::Finding)
            .chain(run.errors.iter().map(Line::Error))
    })
}
