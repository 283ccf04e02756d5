//! One JSON document a line: the findings, then the files that could not be judged.

use serde::Serialize;

use super::LintRun;

pub(super) fn render(run: &LintRun) -> String {
    run.findings.iter().map(line).chain(run.errors.iter().map(line)).collect()
}

fn line(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("all keys are strings") + "\n"
}
