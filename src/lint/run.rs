//! The findings of all rules, in the order of the model.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::diagnostic::{self, Places};
use super::noqa::{self, Suppressions};
use super::{
    Diagnostic, Finding, FindingPlace, Options, RuleFacts, Severity, Subject, UnusedNoqa, rules,
};
use crate::base::hash::SharedTexts;
use crate::base::parallel;
use crate::base::progress::Unit;
use crate::base::threshold::Threshold;
use crate::graph::Model;

/// Lints a model. The diagnostics are in the order of the model; those of the model as a whole and
/// of its values come first.
///
/// `path` is the name of the model in them.
#[must_use]
pub fn lint(model: &Model, path: &str, options: &Options) -> Vec<Diagnostic> {
    lint_all(model, path, options).findings
}

/// The name of a model in its diagnostics.
pub(crate) fn name_of(model: &Model) -> String {
    model
        .path()
        .map_or_else(|| "model".to_owned(), |path| path.display().to_string())
}

/// The findings of a model, and the entries that suppressed none.
pub(crate) struct Linted {
    pub findings: Vec<Diagnostic>,
    pub unused_noqa: Vec<UnusedNoqa>,
}

/// Like [`lint`], with the `recast.noqa` entries that suppressed nothing.
pub(crate) fn lint_all(model: &Model, path: &str, options: &Options) -> Linted {
    let Found {
        findings,
        unused_noqa,
    } = find(model, options);
    Linted {
        findings: describe_all(model, path, findings),
        unused_noqa,
    }
}

/// The findings with their places in the model.
pub(super) fn lint_places(
    model: &Model,
    path: &str,
    options: &Options,
) -> Vec<(FindingPlace, Diagnostic)> {
    let found = find(model, options).findings;
    let places: Vec<FindingPlace> = found.iter().map(|found| found.finding.at).collect();
    places
        .into_iter()
        .zip(describe_all(model, path, found))
        .collect()
}

fn describe_all(model: &Model, path: &str, found: Vec<FoundFinding>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::with_capacity(found.len());
    parallel::map_in_batches(
        &mut diagnostics,
        found,
        PART.get(),
        |_, part| describe(model, path, part),
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

fn find(model: &Model, options: &Options) -> Found {
    let subject = Subject::new(model, options.selection.targets(), noqa::unknown_rules);
    let (mut found, mut messages) = (Vec::new(), SharedTexts::default());
    let suppressions = Suppressions::of(model, options.ignore_noqa);
    let rules = options.selection.rules();
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
    if !options.show_overlapping {
        hide_less_specific(&mut found);
    }
    found.sort_by_key(|found| (found.finding.at, found.rule.code));
    Found {
        findings: found,
        unused_noqa: suppressions.unused(&options.selection),
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
