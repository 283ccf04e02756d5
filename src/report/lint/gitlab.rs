//! GitLab's code quality report: a list, each entry with a fingerprint of its own.

use std::io;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{LintRun, slashes};
use crate::lint::Severity;

pub(super) fn write(run: &LintRun, out: &mut impl io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Entries(run))?;
    out.write_all(b"\n")
}

/// Each entry is made when it is written.
struct Entries<'r>(&'r LintRun);

impl Serialize for Entries<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(entries(self.0))
    }
}

fn entries(run: &LintRun) -> impl Iterator<Item = Value> + '_ {
    let findings = run.findings.iter().map(|found| {
        let severity = match found.severity {
            Severity::Error => "critical",
            Severity::Warning => "major",
            Severity::Info => "info",
        };
        let description = format!("{}: {}: {}", found.code, found.place(), found.message);
        entry(&description, found.code, &found.fingerprint, severity, &found.path)
    });
    let errors = run.errors.iter().map(|error| {
        let fingerprint = crate::lint::fingerprint(&[&slashes(&error.path), "unreadable"]);
        entry(&error.message, "recast", &fingerprint, "blocker", &error.path)
    });
    findings.chain(errors)
}

/// A model file has no lines: what stands for the file as a whole is its first.
fn entry(description: &str, check_name: &str, fingerprint: &str, severity: &str, path: &str) -> Value {
    json!({
        "description": description,
        "check_name": check_name,
        "fingerprint": fingerprint,
        "severity": severity,
        "location": { "path": slashes(path), "lines": { "begin": 1 } },
    })
}
