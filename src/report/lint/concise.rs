//! One line per finding: `model.onnx: graph/cast_3: RC101 warning: the cast … [*]`; the mark says
//! that there is a fix.

use super::parts::{fix_mark, severity_style};
use super::run::LintRun;
use crate::base::printable::{ADDED, PLAIN, Parts, STRONG, Shown};
use crate::lint::Diagnostic;
use crate::report::items::put_all;

pub(super) fn render(run: &LintRun) -> Parts<'_> {
    Parts::new(|put| put_all(&run.findings, put, write_line))
}

fn write_line(text: &mut Shown, found: &Diagnostic) {
    text.push_styled_line(&[
        (STRONG, found.path()),
        (PLAIN, &format!(": {}: ", found.place())),
        (severity_style(found.severity), found.code()),
        (PLAIN, &format!(" {}: {}", found.severity, found.message)),
        (ADDED, fix_mark(found)),
    ]);
}
