//! The findings by rule: one line for each.

use super::parts::{head, severity_style};
use super::run::LintRun;
use crate::base::printable::{FAINT, PLAIN, STRONG, Shown};
use crate::report::format::plural;

/// A line for each rule: `12 warning[RC101] missing-saturate: in 3 models, 12 fixable with --fix`.
pub(super) fn render(run: &LintRun) -> Shown {
    let counts = run.statistics.as_deref().unwrap_or_default();
    let width = counts
        .iter()
        .map(|count| count.findings.to_string().len())
        .max()
        .unwrap_or_default();
    let mut text = Shown::default();
    for count in counts {
        let head = head(count.severity, count.code);
        let mut details = vec![format!("in {}", plural(count.models, "model"))];
        for (fixable, how) in [
            (count.fixable, "--fix"),
            (count.unsafely_fixable, "--fix --unsafe-fixes"),
        ] {
            if fixable > 0 {
                details.push(format!("{fixable} fixable with {how}"));
            }
        }
        text.push_styled_line(&[
            (PLAIN, &format!("{:width$} ", count.findings)),
            (severity_style(count.severity), &head),
            (PLAIN, " "),
            (STRONG, count.name),
            (FAINT, &format!(": {}", details.join(", "))),
        ]);
    }
    text
}
