//! Workflow commands of GitHub Actions, which become annotations of the file.

use super::{LintRun, slashes};
use crate::lint::Severity;
use crate::shown::Shown;

pub(super) fn render(run: &LintRun) -> Shown {
    let mut text = Shown::default();
    for found in &run.findings {
        let command = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let title = format!("{} {}", found.code, found.name);
        let message = format!("{}: {}", found.place(), found.message);
        text.push_workflow_command(command, &[("file", &slashes(&found.path)), ("title", &title)], &message);
    }
    for error in &run.errors {
        let file = error.path.as_ref().map(|path| slashes(path));
        let file = file.as_ref().map(|file| ("file", file.as_str()));
        let properties: Vec<(&str, &str)> = file.into_iter().chain([("title", "recast")]).collect();
        text.push_workflow_command("error", &properties, &error.place_and_message());
    }
    text
}
