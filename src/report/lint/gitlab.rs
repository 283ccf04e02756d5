//! GitLab's code quality report: a list, each entry with a fingerprint of its own.

use serde_json::{Value, json};

use super::{LintRun, slashes};
use crate::lint::Severity;

pub(super) fn render(run: &LintRun) -> String {
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
    let all: Vec<Value> = findings.chain(errors).collect();
    format!("{:#}\n", Value::from(all))
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
