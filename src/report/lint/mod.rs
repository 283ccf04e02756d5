//! The findings of `recast lint`, in the formats that people, scripts and CI services read.
//!
//! A format is one file here, its line among the modules, a variant of [`LintFormat`] and an arm of
//! its `render`. Each makes one document per run for any number of models, and equal bytes from
//! equal findings.

mod concise;
mod diff;
mod full;
mod github;
mod gitlab;
mod json;
mod jsonl;
mod junit;
mod parts;
mod rule;
mod rule_count;
mod run;
mod sarif;
mod shape;
mod statistics;

pub use diff::model_diff;
pub use rule::{rule_json, rule_json_value, rule_text, rules_json, rules_json_value, rules_text};
pub use rule_count::RuleCount;
pub use run::{LintRun, lint_summary};
pub use shape::Shape;

use clap::ValueEnum;

use crate::base::printable::Printed;

/// A format of the findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LintFormat {
    /// One line per finding
    Concise,
    /// Human-readable text with the reason and the fix
    Full,
    /// One versioned JSON document per run
    Json,
    /// One JSON object per line and finding
    Jsonl,
    /// Annotations of GitHub Actions
    Github,
    /// GitLab Code Quality report
    Gitlab,
    /// JUnit XML: one test suite per model
    Junit,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

impl LintFormat {
    /// Whether the document is for people.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, LintFormat::Concise | LintFormat::Full)
    }

    /// The document. Those with much text around each finding are made finding by finding, while
    /// they are written. For people, statistics stand in the place of findings.
    #[must_use]
    pub fn render(self, run: &LintRun, shape: Shape) -> Printed<'_> {
        match self {
            LintFormat::Concise | LintFormat::Full if run.statistics.is_some() => {
                statistics::render(run).into()
            }
            LintFormat::Concise => concise::render(run).into(),
            LintFormat::Full => full::render(run, shape).into(),
            LintFormat::Json => json::render(run).into(),
            LintFormat::Jsonl => jsonl::render(run).into(),
            LintFormat::Github => github::render(run).into(),
            LintFormat::Gitlab => gitlab::render(run).into(),
            LintFormat::Junit => junit::render(run).into(),
            LintFormat::Sarif => sarif::render(run).into(),
        }
    }
}
