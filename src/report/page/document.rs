//! The page as HTML, and its content as JSON.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::sketch::Sketch;
use crate::base::error::Error;
use crate::base::printable::{self, Document};
use crate::lint::{self, Diagnostic};
use crate::passes::{self, Event, Pass, Report, Tier};
use crate::report::codes::{KEPT_TYPES, Meaning, NOT_CONVERTED, NOT_FOLDED, REMOVED, meanings};
use crate::report::lint::rule_json_value;
use crate::report::{ComparedModels, ConvertedModel, FoldedModel, LintRun, PrecisionModel};

/// A page about a run.
#[derive(Serialize)]
pub struct Page<'r> {
    /// The command: `fold`, `convert`, `precision`, `lint`, `report` or `diff`.
    pub command: &'static str,
    /// The models of the run.
    #[serde(rename = "models")]
    pub sketches: Vec<&'r Sketch>,
    /// The results of the run.
    #[serde(flatten)]
    pub results: Results<'r>,
}

/// The documents of a run, as its `--format json` prints them.
#[derive(Clone, Copy, Default, Serialize)]
pub struct Results<'r> {
    /// The folded models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fold: Option<&'r [FoldedModel]>,
    /// The converted models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub convert: Option<&'r [ConvertedModel]>,
    /// The models whose precision changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision: Option<&'r [PrecisionModel]>,
    /// The findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lint: Option<&'r LintRun>,
    /// The differences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<&'r ComparedModels>,
}

impl Results<'_> {
    fn findings(&self) -> impl Iterator<Item = &Diagnostic> {
        self.lint
            .iter()
            .flat_map(|run| run.findings.iter().chain(&run.fixed))
    }

    fn reports(&self) -> impl Iterator<Item = &Report> {
        self.fold
            .iter()
            .copied()
            .flatten()
            .map(|model| &model.changes.report)
    }

    /// The documentation of the rules of all findings.
    fn rules(&self) -> Vec<Value> {
        let codes: BTreeSet<&str> = self.findings().map(Diagnostic::code).collect();
        lint::all()
            .filter(|rule| codes.contains(rule.code))
            .map(rule_json_value)
            .collect()
    }

    /// The summaries of the passes that changed something.
    fn passes(&self) -> Vec<PassFacts> {
        let changes =
            |events: &[Event]| events.iter().any(|event| !matches!(event, Event::Kept(_)));
        let passes = self.reports().flat_map(|report| &report.passes);
        let names: BTreeSet<&str> = passes
            .filter(|of_pass| changes(&of_pass.events))
            .map(|of_pass| of_pass.pass)
            .collect();
        let facts = |(_, pass): (Tier, &'static dyn Pass)| PassFacts {
            name: pass.name(),
            summary: pass.summary(),
        };
        passes::all()
            .filter(|(_, pass)| names.contains(pass.name()))
            .map(facts)
            .collect()
    }

    /// The meanings of the codes of all reasons.
    fn codes(&self) -> Vec<Meaning> {
        let kept: BTreeSet<&str> = self
            .reports()
            .flat_map(Report::all_kept)
            .map(|kept| kept.reason.code())
            .collect();
        let removed: BTreeSet<&str> = self
            .reports()
            .flat_map(Report::removals)
            .map(|removal| removal.reason.code())
            .collect();
        let blockers = self
            .convert
            .iter()
            .copied()
            .flatten()
            .flat_map(|model| &model.changes.blockers);
        let blockers: BTreeSet<&str> = blockers.map(|blocker| blocker.reason.code()).collect();
        let types = self
            .precision
            .iter()
            .copied()
            .flatten()
            .flat_map(|model| &model.changes.report.kept);
        let types: BTreeSet<&str> = types.map(|kept| kept.reason.code()).collect();
        let occurs = |meaning: &Meaning| match meaning.of {
            NOT_FOLDED => kept.contains(meaning.code),
            REMOVED => removed.contains(meaning.code),
            NOT_CONVERTED => blockers.contains(meaning.code),
            KEPT_TYPES => types.contains(meaning.code),
            _ => false,
        };
        meanings().into_iter().filter(occurs).collect()
    }
}

/// The parts of the page that are not documents of the run.
#[derive(Serialize)]
struct PageContent<'p, 'r> {
    recast: &'static str,
    #[serde(flatten)]
    page: &'p Page<'r>,
    rules: Vec<Value>,
    codes: Vec<Meaning>,
    passes: Vec<PassFacts>,
}

/// A pass that changed something.
#[derive(Serialize)]
struct PassFacts {
    name: &'static str,
    summary: String,
}

impl<'p, 'r> PageContent<'p, 'r> {
    fn of(page: &'p Page<'r>) -> PageContent<'p, 'r> {
        PageContent {
            recast: env!("CARGO_PKG_VERSION"),
            page,
            rules: page.results.rules(),
            codes: page.results.codes(),
            passes: page.results.passes(),
        }
    }
}

/// The content of the page.
#[must_use]
pub fn page_json<'r>(page: &'r Page<'r>, errors: &'r [Error]) -> Document<'r> {
    crate::report::json(PageContent::of(page), errors)
}

/// The page: the template with its style and script, and the content as JSON.
#[must_use]
pub fn page_html<'r>(page: &'r Page<'r>, errors: &'r [Error]) -> Document<'r> {
    let (before, after) = TEMPLATE.split_once("{{content}}").unwrap_or((TEMPLATE, ""));
    let before = before
        .replace("{{style}}", STYLE)
        .replace("{{escaped}}", &printable::escaped_characters());
    let after = after.replace("{{script}}", &SCRIPTS.join("\n"));
    Document::page(
        before,
        crate::report::versioned(PageContent::of(page), errors),
        after,
    )
}

/// Whether a file begins like a page.
#[must_use]
pub fn is_page(file: &[u8]) -> bool {
    TEMPLATE
        .lines()
        .next()
        .is_some_and(|first| file.starts_with(first.as_bytes()))
}

const TEMPLATE: &str = include_str!("web/page.html");
const STYLE: &str = include_str!("web/page.css");
/// The files of the script, in order: each uses those before it.
const SCRIPTS: [&str; 7] = [
    include_str!("web/dom.js"),
    include_str!("web/lines.js"),
    include_str!("web/list.js"),
    include_str!("web/drawing.js"),
    include_str!("web/sections.js"),
    include_str!("web/answer.js"),
    include_str!("web/main.js"),
];
