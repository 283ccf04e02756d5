//! The findings of `recast lint`, in the formats that people, scripts and CI services read.
//!
//! A format is one file here, its line among the modules, a variant of [`LintFormat`] and an arm of its `render`. Each makes one
//! document per run for any number of models, and equal bytes from equal findings.

mod concise;
mod diff;
mod full;
mod github;
mod gitlab;
mod json;
mod jsonl;
mod junit;
mod rule;
mod sarif;

pub use diff::model_diff;
pub use rule::{rule_json, rule_text, rules_json_value, rules_text};

use std::collections::{BTreeMap, BTreeSet, HashMap};

use clap::ValueEnum;
use serde::Serialize;

use super::words::plural;
use crate::error::Error;
use crate::lint::{Diagnostic, Safety, Severity};
use crate::shown::{ERROR, INFO, Printed, Style, WARNING};

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

/// A format of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// One line a finding
    Concise,
    /// For people: what, where, why, and the fix
    Full,
    /// For scripts: one document, with a version
    Json,
    /// For scripts: one JSON document a finding and line
    Jsonl,
    /// Annotations of GitHub's workflows
    Github,
    /// GitLab's code quality report
    Gitlab,
    /// JUnit's XML: a test suite a model
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

impl LintFormat {
    /// The document; `width` is that of the terminal, if there is one. Those with much text around each finding are made finding by
    /// finding, while they are written.
    #[must_use]
    pub fn render(self, run: &LintRun, width: Option<usize>) -> Printed<'_> {
        match self {
            LintFormat::Concise => concise::render(run).into(),
            LintFormat::Full => full::render(run, width.unwrap_or(WIDTH)).into(),
            LintFormat::Json => json::render(run).into(),
            LintFormat::Jsonl => jsonl::render(run).into(),
            LintFormat::Github => github::render(run).into(),
            LintFormat::Gitlab => gitlab::render(run).into(),
            LintFormat::Junit => junit::render(run).into(),
            LintFormat::Sarif => sarif::render(run).into(),
        }
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

/// The mark of a finding that has a fix: `[*]` for a safe one, `[?]` for one that takes `--unsafe-fixes`.
fn fix_mark(found: &Diagnostic) -> &'static str {
    match found.fix.as_ref().map(|fix| fix.safety) {
        Some(Safety::Safe) => " [*]",
        Some(Safety::Unsafe) => " [?]",
        None => "",
    }
}

/// The width of text in pipes and files.
const WIDTH: usize = 100;

/// The style of a severity.
fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning => WARNING,
        Severity::Info => INFO,
    }
}

/// A path with `/` between its parts, on every system.
fn slashes(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}
