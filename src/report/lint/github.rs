//! Workflow commands of GitHub Actions, which become annotations of the file.

use std::fmt::Write as _;

use super::{LintRun, slashes};
use crate::lint::Severity;

pub(super) fn render(run: &LintRun) -> String {
    let mut text = String::new();
    for found in &run.findings {
        let command = match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let title = format!("{} {}", found.code, found.name);
        write_command(&mut text, command, &found.path, &title, &format!("{}: {}", found.place(), found.message));
    }
    for error in &run.errors {
        write_command(&mut text, "error", &error.path, "recast", &error.message);
    }
    text
}

fn write_command(text: &mut String, command: &str, path: &str, title: &str, message: &str) {
    let (path, title, message) = (property(&slashes(path)), property(title), data(message));
    writeln!(text, "::{command} file={path},title={title}::{message}").ok();
}

/// A message: a line break would end the command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// A property: a colon or comma would end it.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
