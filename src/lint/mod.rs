//! Judges a model by rules, each of which names a pattern that should not be there.
//!
//! A rule is one file in `rules/`, its `mod` line and one line in [`RULES`]; the comment at its head is its documentation, which
//! `recast explain` prints and SARIF carries. A rule knows nothing of severities a user overrides, of output formats or of exit codes.

mod baseline;
mod config;
mod constant;
mod diagnostic;
mod embedding;
mod finding;
pub(crate) mod fix;
mod noqa;
mod rule;
mod rules;
mod selection;
mod subject;

pub use baseline::{BadBaseline, Baseline};
pub use config::{BadConfig, Config, FilePattern, glob};
pub use constant::{element, number, tally};
pub(crate) use diagnostic::fingerprint;
pub use diagnostic::{Diagnostic, Region};
pub use finding::{Finding, Fix, Place, Safety};
pub use noqa::Noqa;
pub use rule::{Rule, Selected, Severity};
pub use rules::RULES;
pub use selection::{Layer, Selection, Selector, UnknownRule};
pub use subject::{Chain, ResolvedCast, ResolvedQuantize, Subject};

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::graph::Model;
use diagnostic::SharedTexts;

/// How a model is to be judged.
#[derive(Clone, Copy, Debug)]
pub struct Job<'j> {
    /// The model file's name in what is reported.
    pub path: &'j str,
    /// The rules.
    pub selection: &'j Selection,
    /// Whether the model may silence rules.
    pub noqa: Noqa,
    /// What is reported of a node that several rules report for the same reason.
    pub overlapping: Overlapping,
}

/// What is reported of a node that several rules report for the same reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Overlapping {
    /// The finding of the most specific rule.
    #[default]
    Hidden,
    /// Every finding.
    Shown,
}

/// Judges a model. The diagnostics come in the order of the document, those of the model as a whole and of its values first.
#[must_use]
pub fn lint(model: &Model, job: &Job) -> Vec<Diagnostic> {
    let subject = Subject::new(model);
    let mut found = Vec::new();
    for &(rule, severity) in job.selection.rules() {
        let findings = (rule.check)(&subject).into_iter();
        let reported = findings.filter(|finding| job.noqa == Noqa::Ignored || !noqa::is_suppressed(model, finding.at, rule));
        found.extend(reported.map(|finding| (finding, rule, severity)));
    }
    if job.overlapping == Overlapping::Hidden {
        hide_less_specific(&mut found);
    }
    found.sort_by_key(|(finding, rule, _)| (finding.at, rule.code));
    let mut diagnostics = Vec::with_capacity(found.len());
    let mut shared = SharedTexts::new(job.path);
    let mut last: (Place, Option<Arc<str>>) = (Place::Model, None);
    for (finding, rule, severity) in found {
        // The text of a node takes as long as the node is large: one text serves all findings about it.
        if let Place::Node(node) = finding.at
            && last.0 != finding.at
        {
            last = (finding.at, Some(diagnostic::node_text(model, node).into()));
        }
        let text = last.1.clone().filter(|_| last.0 == finding.at);
        diagnostics.push(Diagnostic::new(model, &mut shared, (rule, severity), finding, text));
    }
    diagnostic::count_equals(&mut diagnostics);
    diagnostics
}

/// Removes findings about a node that a more specific rule reports too.
fn hide_less_specific(found: &mut Vec<(Finding, &Rule, Severity)>) {
    for (specific, general) in rules::MORE_SPECIFIC {
        let reported = found.iter().filter(|(_, rule, _)| rule == specific).map(|(finding, ..)| finding.at);
        let reported: BTreeSet<Place> = reported.collect();
        if !reported.is_empty() {
            found.retain(|(finding, rule, _)| rule != general || !reported.contains(&finding.at));
        }
    }
}
