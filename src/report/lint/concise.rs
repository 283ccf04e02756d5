//! One line per finding: `model.onnx: graph/cast_3: RC101 warning: the cast … [*]`; the mark says that there is a fix.

use super::{LintRun, fix_mark, severity_style};
use crate::shown::{ADDED, PLAIN, STRONG, Shown};

pub(super) fn render(run: &LintRun) -> Shown {
    let mut text = Shown::default();
    for found in &run.findings {
        text.push_styled_line(&[
            (STRONG, &found.path),
            (PLAIN, &format!(": {}: ", found.place())),
            (severity_style(found.severity), found.code),
            (PLAIN, &format!(" {}: {}", found.severity, found.message)),
            (ADDED, fix_mark(found)),
        ]);
    }
    text
}
