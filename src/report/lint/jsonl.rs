//! One JSON document per line: the findings, then the errors.

use super::LintRun;
use crate::shown::Document;

pub(super) fn render(run: &LintRun) -> Document<'static> {
    let mut lines = Document::default();
    run.findings.iter().for_each(|found| lines.push_json_line(found));
    run.errors.iter().for_each(|error| lines.push_json_line(error));
    lines
}
