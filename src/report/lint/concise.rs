//! One line a finding: `model.onnx: graph/cast_3: RC101 warning: the cast … [*]`; the mark says that there is a fix.

use std::fmt::Write as _;

use super::{LintRun, fix_mark};
use crate::error::shown;
use crate::report::paint::{Ink, Paint, severity_ink};

pub(super) fn render(run: &LintRun, paint: Paint) -> String {
    let mut text = String::new();
    for found in &run.findings {
        let path = paint.ink(Ink::Strong, &shown(&found.path));
        let code = paint.ink(severity_ink(found.severity), found.code);
        let mark = paint.ink(Ink::Green, fix_mark(found));
        let (place, message) = (shown(found.place()), shown(&found.message));
        writeln!(text, "{path}: {place}: {code} {}: {message}{mark}", found.severity).ok();
    }
    text
}
