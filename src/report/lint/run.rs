//! The results of a run, and their summary.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use crate::error::Error;
use crate::lint::{Diagnostic, Safety, Severity};
use crate::report::words::plural;

/// All that one run of `recast lint` has to say.
#[derive(Debug, Default, Serialize)]
pub struct LintRun {
    /// What was found, model by model.
    pub findings: Vec<Diagnostic>,
    /// What `--fix` has set right.
    pub fixed: Vec<Diagnostic>,
    /// Files that could not be judged, and errors of the run.
    #[serde(skip)]
    pub errors: Vec<Error>,
    /// Every model that was judged, those too that have no finding.
    pub models: Vec<String>,
    /// The initializers that were taken as constants with `--freeze-initializers`, by model.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub frozen_initializers: BTreeMap<String, Vec<String>>,
    /// The least severity for which the exit code is 1, by model.
    #[serde(skip)]
    pub fail_on: HashMap<String, Severity>,
}

impl LintRun {
    /// Whether a finding is as severe as the exit code 1 demands in its model.
    #[must_use]
    pub fn fails(&self, found: &Diagnostic) -> bool {
        self.fail_on.get(&**found.path()).is_some_and(|least| found.severity >= *least)
    }
}

/// What a run found, in a line; `fixed` says what became of findings with a fix.
#[must_use]
pub fn lint_summary(run: &LintRun, fixed: &str) -> String {
    let mut parts = Vec::new();
    if !run.fixed.is_empty() {
        parts.push(format!("{fixed} {}", plural(run.fixed.len(), "finding")));
    }
    if !run.findings.is_empty() || run.fixed.is_empty() {
        let models: BTreeSet<&str> = run.findings.iter().map(|found| &**found.path()).collect();
        let found = plural(run.findings.len(), "finding");
        parts.push(format!("{found} in {} of {}", models.len(), plural(run.models.len(), "model")));
    }
    for (safety, how) in [(Safety::Safe, "--fix"), (Safety::Unsafe, "--fix --unsafe-fixes")] {
        let fixable = run.findings.iter().filter(|found| found.fix.as_ref().is_some_and(|fix| fix.safety == safety)).count();
        if fixable > 0 {
            parts.push(format!("{fixable} fixable with `{how}`"));
        }
    }
    parts.join("; ")
}
