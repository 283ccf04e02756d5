//! What `recast lint` found, in the formats that people, scripts and CI services read.
//!
//! A format is one file here, its line among the modules, a variant of [`LintFormat`] and an arm of its `render`. Each makes one document of a run, whatever the number of models, and the
//! same bytes of the same findings.

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
pub use rule::{rule_json, rule_text, rules_json, rules_text};

use std::collections::{BTreeSet, HashMap};
use std::io;

use clap::ValueEnum;
use serde::Serialize;

use super::paint::Paint;
use super::words::plural;
use crate::lint::{Diagnostic, Safety, Severity};

/// All that one run of `recast lint` has to say.
#[derive(Debug, Default, Serialize)]
pub struct LintRun {
    /// What was found, model by model.
    pub findings: Vec<Diagnostic>,
    /// What `--fix` has set right.
    pub fixed: Vec<Diagnostic>,
    /// Files that could not be judged.
    pub errors: Vec<Unjudged>,
    /// Every model that was judged, those too that have no finding.
    pub models: Vec<String>,
    /// The least severity for which the exit code is 1, by model.
    #[serde(skip)]
    pub fail_on: HashMap<String, Severity>,
}

impl LintRun {
    /// Whether a finding is as severe as the exit code 1 demands in its model.
    #[must_use]
    pub fn fails(&self, found: &Diagnostic) -> bool {
        self.fail_on.get(&*found.path).is_some_and(|least| found.severity >= *least)
    }
}

/// A file that could not be judged.
#[derive(Debug, Serialize)]
pub struct Unjudged {
    /// The file, as it was named.
    pub path: String,
    /// Why.
    pub message: String,
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
    /// Writes the document. Those with much text around each finding are written finding by finding.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write(self, run: &LintRun, paint: Paint, out: &mut impl io::Write) -> io::Result<()> {
        match self {
            LintFormat::Json => json::write(run, out),
            LintFormat::Gitlab => gitlab::write(run, out),
            LintFormat::Sarif => sarif::write(run, out),
            _ => out.write_all(self.render(run, paint).as_bytes()),
        }
    }

    fn render(self, run: &LintRun, paint: Paint) -> String {
        match self {
            LintFormat::Concise => concise::render(run, paint),
            LintFormat::Full => full::render(run, paint),
            LintFormat::Jsonl => jsonl::render(run),
            LintFormat::Github => github::render(run),
            LintFormat::Junit => junit::render(run),
            LintFormat::Json | LintFormat::Gitlab | LintFormat::Sarif => unreachable!("these are written finding by finding"),
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
        let models: BTreeSet<&str> = run.findings.iter().map(|found| &*found.path).collect();
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

/// A path with `/` between its parts, on every system.
fn slashes(path: &str) -> String {
    if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() }
}
