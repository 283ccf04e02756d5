//! One line per finding: `model.onnx: graph/cast_3: RC101 warning: the cast … [*]`; the mark says that there is a fix.

use super::parts::{fix_mark, severity_style};
use super::run::LintRun;
use crate::lint::Diagnostic;
use crate::shown::{ADDED, PLAIN, Parts, STRONG, Shown};

pub(super) fn render(run: &LintRun) -> Parts<'_> {
    Parts::new(|put| run.findings.iter().try_for_each(|found| put(&line(found))))
}

fn line(found: &Diagnostic) -> Shown {
    let mut text = Shown::default();
    text.push_styled_line(&[
        (STRONG, found.path()),
        (PLAIN, &format!(": {}: ", found.place())),
        (severity_style(found.severity), found.code()),
        (PLAIN, &format!(" {}: {}", found.severity, found.message)),
        (ADDED, fix_mark(found)),
    ]);
    text
}
