//! Workflow commands of GitHub Actions, which become annotations of the file.

use super::parts::slashes;
use super::run::LintRun;
use crate::base::error::Error;
use crate::base::printable::{Parts, Shown};
use crate::lint::{Diagnostic, Severity};
use crate::report::items::put_all;

pub(super) fn render(run: &LintRun) -> Parts<'_> {
    Parts::new(|put| {
        put_all(&run.findings, put, write_finding)?;
        run.errors.iter().try_for_each(|error| put(&failure(error)))
    })
}

fn write_finding(text: &mut Shown, found: &Diagnostic) {
    let command = match found.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    };
    let title = format!("{} {}", found.code(), found.name());
    let message = format!("{}: {}", found.place(), found.message);
    text.push_workflow_command(
        command,
        &[("file", &slashes(found.path())), ("title", &title)],
        &message,
    );
}

fn failure(error: &Error) -> Shown {
    let file = error.path().map(slashes);
    let file = file.as_ref().map(|file| ("file", file.as_str()));
    let properties: Vec<(&str, &str)> = file.into_iter().chain([("title", "recast")]).collect();
    let mut text = Shown::default();
    text.push_workflow_command("error", &properties, &error.place_and_message());
    text
}
