//! The results of a run, and their summary.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::rule_count::RuleCount;
use crate::base::error::Error;
use crate::lint::{Diagnostic, Safety, Severity};
use crate::report::format::plural;
use crate::storage::UnusedFile;

/// The results of a run of `recast lint`.
#[derive(Debug, Default, Serialize)]
pub struct LintRun {
    /// Findings, by model.
    pub findings: Vec<Diagnostic>,
    /// Findings that `--fix` has fixed.
    pub fixed: Vec<Diagnostic>,
    /// Findings for which `--add-noqa` has added entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suppressed: Vec<Diagnostic>,
    /// Patterns of options that match no file, and suppressions that match no finding.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
    /// The findings by rule, if they are wanted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistics: Option<Vec<RuleCount>>,
    /// How many findings are not reported, since the baseline lists them; none without a baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known_findings: Option<usize>,
    /// Files that could not be linted, and errors of the run.
    #[serde(skip)]
    pub errors: Vec<Error>,
    /// All linted models, with and without findings.
    pub models: Vec<String>,
    /// The initializers that were treated as constants with `--freeze-initializers`, by model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub frozen_initializers: BTreeMap<String, Vec<String>>,
    /// The data files that fixed models no longer use, by model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub unused_files: BTreeMap<String, Vec<UnusedFile>>,
    /// Whether models with fixes were verified before they were written; none if none was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// The least severity for which the exit code is 1, by model.
    #[serde(skip)]
    pub fail_on: HashMap<String, Severity>,
}

impl LintRun {
    /// Whether a finding is severe enough for the exit code 1.
    #[must_use]
    pub fn fails(&self, found: &Diagnostic) -> bool {
        self.fail_on
            .get(&**found.path())
            .is_some_and(|least| found.severity >= *least)
    }
}

/// The summary of a run in one line; `fixed` is the verb for findings with applied fixes.
#[must_use]
pub fn lint_summary(run: &LintRun, fixed: &str) -> String {
    let mut parts = Vec::new();
    if !run.fixed.is_empty() {
        parts.push(format!("{fixed} {}", plural(run.fixed.len(), "finding")));
    }
    if !run.suppressed.is_empty() {
        let count = plural(run.suppressed.len(), "finding");
        parts.push(format!("suppressed {count} by `recast.noqa` entries"));
    }
    if run.verified == Some(false) {
        parts.push("not verified".to_owned());
    }
    if !run.findings.is_empty() || (run.fixed.is_empty() && run.suppressed.is_empty()) {
        let all = plural(run.models.len(), "model");
        let models: BTreeSet<&str> = run.findings.iter().map(|found| &**found.path()).collect();
        parts.push(match run.findings.len() {
            0 => format!("no findings in {all}"),
            count => format!("{} in {} of {all}", plural(count, "finding"), models.len()),
        });
    }
    for (safety, how) in [
        (Safety::Safe, "--fix"),
        (Safety::Unsafe, "--fix --unsafe-fixes"),
    ] {
        let fixable = run
            .findings
            .iter()
            .filter(|found| found.fix.as_ref().is_some_and(|fix| fix.safety == safety))
            .count();
        if fixable > 0 {
            parts.push(format!("{fixable} fixable with `{how}`"));
        }
    }
    if let Some(known) = run.known_findings.filter(|known| *known > 0) {
        parts.push(format!(
            "{} in the baseline",
            plural(known, "known finding")
        ));
    }
    parts.join("; ")
}
