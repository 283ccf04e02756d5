//! GitLab's code quality report: a list of entries, each with its own fingerprint.

use serde::{Serialize, Serializer};

use super::parts::slashes;
use super::run::LintRun;
use crate::base::error::Error;
use crate::base::printable::Document;
use crate::lint::Severity;

pub(super) fn render(run: &LintRun) -> Document<'_> {
    Document::json(Entries(run))
}

/// Each entry is made when it is written.
struct Entries<'r>(&'r LintRun);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(entries(self.0))
    }
}

fn entries(run: &LintRun) -> impl Iterator<Item = Entry<'_>> + '_ {
    let findings = run.findings.iter().map(|found| {
        let severity = match found.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "info",
        };
        let description = format!("{}: {}: {}", found.code(), found.place(), found.message);
        entry(
            description,
            found.code(),
            found.fingerprint(),
            severity,
            found.path(),
        )
    });
    let errors = run.errors.iter().map(|error| {
        let fingerprint = crate::lint::fingerprint(&[&slashes(path(error)), "unreadable"]);
        entry(
            error.place_and_message(),
            "recast",
            fingerprint,
            "blocker",
            path(error),
        )
    });
    findings.chain(errors)
}

/// An entry without a path is not valid: an error of the whole run has the name of the command.
fn path(error: &Error) -> &str {
    error.path().unwrap_or("recast")
}

#[derive(Serialize)]
struct Entry<'r> {
    description: String,
    check_name: &'r str,
    fingerprint: String,
    severity: &'static str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: u32,
}

/// A model file has no lines: line 1 denotes the file as a whole.
fn entry<'r>(
    description: String,
    check_name: &'r str,
    fingerprint: String,
    severity: &'static str,
    path: &str,
) -> Entry<'r> {
    let location = Location {
        path: slashes(path),
        lines: Lines { begin: 1 },
    };
    Entry {
        description,
        check_name,
        fingerprint,
        severity,
        location,
    }
}
