//! Checks a model with rules, each of which finds a pattern that is an error or undesirable.
//!
//! A rule is one file in `rules/`, its `mod` line and one line in [`RULES`]; its `docs` are what
//! `recast explain` prints and SARIF carries. A rule knows nothing of severities a user overrides,
//! of output formats or of exit codes.

pub(crate) mod add_noqa;
mod baseline;
#[cfg(feature = "config")]
mod config;
mod constant;
mod diagnostic;
mod file_pattern;
mod finding;
pub(crate) mod fix;
mod noqa;
pub(crate) mod registry;
mod rule;
mod rules;
mod selection;
mod subject;

pub use crate::base::patterns::BadPattern;
pub use add_noqa::NoqaError;
pub use baseline::{BadBaseline, Baseline};
#[cfg(feature = "config")]
pub use config::{BadConfig, Config};
pub use constant::{element, number, tally};
pub(crate) use diagnostic::fingerprint;
pub use diagnostic::{Diagnostic, Region};
pub use file_pattern::FilePattern;
pub use finding::{Finding, FindingPlace, Fix, Safety};
pub use noqa::Noqa;
pub(crate) use noqa::UnusedNoqa;
pub use registry::all;
pub use rule::{FunctionRule, Rule, RuleFacts, Selected, Severity};
pub use rules::RULES;
pub use selection::{Layer, Selection, Selector, UnknownRule};
pub use subject::{ResolvedQuantize, Subject};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::base::hash::SharedTexts;
use crate::base::parallel;
use crate::base::progress::Unit;
use crate::base::threshold::Threshold;
pub use crate::casts::{CastPair, ResolvedCast};
use crate::graph::Model;
pub use crate::ops::inference::{Contradiction, Ints, Known, Shape};
pub use crate::ops::schemas::ValueType;
pub use crate::tensor::{Content, Data, Failure};
use diagnostic::Places;
use noqa::Suppressions;

/// How a model is linted.
#[derive(Clone, Copy, Debug)]
pub struct Job<'j> {
    /// The model file's name in what is reported.
    pub path: &'j str,
    /// The rules.
    pub selection: &'j Selection,
    /// Whether the model may silence rules.
    pub noqa: Noqa,
    /// Which findings are reported of a node that several rules report for the same reason.
    pub overlapping: Overlapping,
}

/// Which findings are reported of a node that several rules report for the same reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overlapping {
    /// The finding of the most specific rule.
    #[default]
    Hidden,
    /// Every finding.
    Shown,
}

/// Lints a model. The diagnostics are in the order of the model; those of the model as a whole and
/// of its values come first.
#[must_use]
pub fn lint(model: &Model, job: &Job) -> Vec<Diagnostic> {
    lint_all(model, job).findings
}

/// The findings of a model, and the entries that suppressed none.
pub(crate) struct Linted {
    pub findings: Vec<Diagnostic>,
    pub unused_noqa: Vec<UnusedNoqa>,
}

/// Like [`lint`], with the `recast.noqa` entries that suppressed nothing.
pub(crate) fn lint_all(model: &Model, job: &Job) -> Linted {
    let Found {
        findings,
        unused_noqa,
    } = find(model, job);
    Linted {
        findings: describe_all(model, job, findings),
        unused_noqa,
    }
}

/// The findings with their places in the model.
fn lint_places(model: &Model, job: &Job) -> Vec<(FindingPlace, Diagnostic)> {
    let found = find(model, job).findings;
    let places: Vec<FindingPlace> = found.iter().map(|found| found.finding.at).collect();
    places
        .into_iter()
        .zip(describe_all(model, job, found))
        .collect()
}

fn describe_all(model: &Model, job: &Job, found: Vec<FoundFinding>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::with_capacity(found.len());
    parallel::map_in_batches(
        &mut diagnostics,
        found,
        PART.get(),
        |_, part| describe(model, job.path, part),
        Extend::extend,
    );
    diagnostic::count_equals(&mut diagnostics);
    diagnostics
}

/// The number of findings per job of a thread.
const PART: Threshold = Threshold::new("part of findings", 512);

fn describe(model: &Model, path: &str, found: Vec<FoundFinding>) -> Vec<Diagnostic> {
    let mut places = Places::new(path);
    let mut last = (FindingPlace::Model, String::new());
    let describe = |FoundFinding {
                        finding,
                        rule,
                        severity,
                    }| {
        // The text of a node takes as long as the node is large: one text serves all findings about
        // it.
        if last.0 != finding.at {
            let text = match finding.at {
                FindingPlace::Node(node) => diagnostic::node_text(model, node),
                FindingPlace::Model | FindingPlace::Value(..) => String::new(),
            };
            last = (finding.at, text);
        }
        Diagnostic::new(model, &mut places, (rule, severity), finding, &last.1)
    };
    found.into_iter().map(describe).collect()
}

/// A finding with the rule that reports it.
struct FoundFinding {
    finding: Finding,
    rule: &'static RuleFacts,
    severity: Severity,
}

/// What is found in a model.
struct Found {
    /// The findings to report, in the order of the document.
    findings: Vec<FoundFinding>,
    unused_noqa: Vec<UnusedNoqa>,
}

fn find(model: &Model, job: &Job) -> Found {
    let subject = Subject::new(model, job.selection.targets(), noqa::unknown_rules);
    let (mut found, mut messages) = (Vec::new(), SharedTexts::default());
    let suppressions = Suppressions::of(model, job.noqa);
    let rules = job.selection.rules();
    let counter = model.control().counter(Unit::Rules, rules.len() as u64);
    for (rule, severity) in rules {
        if model.control().check().is_err() {
            break;
        }
        let (facts, findings) = (rule.facts(), rule.check(&subject));
        // One rule often has all findings: capacity for them is reserved exactly.
        found.reserve_exact(findings.len());
        for mut finding in findings {
            if !suppressions.suppress(finding.at, facts) {
                if Arc::strong_count(&finding.message) == 1 {
                    finding.message = messages.shared(finding.message);
                }
                found.push(FoundFinding {
                    finding,
                    rule: facts,
                    severity: *severity,
                });
            }
        }
        counter.add(1);
    }
    if job.overlapping == Overlapping::Hidden {
        hide_less_specific(&mut found);
    }
    found.sort_by_key(|found| (found.finding.at, found.rule.code));
    Found {
        findings: found,
        unused_noqa: suppressions.unused(job.selection),
    }
}

/// Removes findings about a node that a more specific rule reports too.
fn hide_less_specific(found: &mut Vec<FoundFinding>) {
    for (specific, general) in rules::MORE_SPECIFIC {
        let reported = found
            .iter()
            .filter(|one| *one.rule == specific.facts)
            .map(|one| one.finding.at);
        let reported: BTreeSet<FindingPlace> = reported.collect();
        if !reported.is_empty() {
            found.retain(|one| *one.rule != general.facts || !reported.contains(&one.finding.at));
        }
    }
}
