//! The definition of a rule.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Finding, Subject};
use crate::base::choice::choice;

/// A rule: a pattern, the function that finds it, and its documentation.
///
/// A rule of this crate is a file in `rules/` and a line in [`RULES`](super::RULES). A rule of
/// another crate is added to a selection:
///
/// ```
/// use onnx_recast::lint::{Finding, Rule, Selected, Selection, Severity};
/// use onnx_recast::{LintOptions, Model};
///
/// static DEBUG_OUTPUT: Rule = Rule {
///     code: "X101",
///     name: "debug-output",
///     severity: Severity::Warning,
///     selected: Selected::ByDefault,
///     docs: "A node was left in the model for debugging.\n",
///     check: |subject| {
///         let is_debug = |node: &_| subject.model.node(*node).name().starts_with("debug");
///         let found = subject.nodes().filter(is_debug);
///         found.map(|node| Finding::at_node(node, "the node was left in for debugging")).collect()
///     },
/// };
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let model = Model::from_text(
///     r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { [debug_1] y = Identity (x) }"#,
/// )?;
/// let selection = Selection::default().with_rule(&DEBUG_OUTPUT);
/// let found = model.lint(&LintOptions::default().selection(selection))?;
/// assert_eq!((found[0].code(), found[0].place().as_str()), ("X101", "graph/debug_1"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Rule {
    /// The code that selects it; the meaning of a code never changes.
    pub code: &'static str,
    /// The pattern's name.
    pub name: &'static str,
    /// The default severity.
    pub severity: Severity,
    /// Whether the rule is enabled by default.
    pub selected: Selected,
    /// The documentation, in Markdown: a sentence, and sections under headings `## NAME`.
    pub docs: &'static str,
    /// Finds the pattern.
    pub check: fn(&Subject) -> Vec<Finding>,
}

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Severity {
    /// For information.
    Info,
    /// The model probably does not do what was intended, or differs between runtimes.
    Warning,
    /// The model is not valid, or is wrong.
    Error,
}

/// When a rule is enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selected {
    /// By default.
    ByDefault,
    /// If it is selected.
    OnRequest,
    /// If a runtime is given that has to load the model.
    WithTarget,
}

impl Rule {
    /// A rule of this crate.
    pub(super) const fn new(
        code: &'static str,
        name: &'static str,
        severity: Severity,
        selected: Selected,
        docs: &'static str,
        check: fn(&Subject) -> Vec<Finding>,
    ) -> Rule {
        Rule {
            code,
            name,
            severity,
            selected,
            docs,
            check,
        }
    }

    /// The first line of the documentation, a sentence.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.docs.lines().next().unwrap_or_default()
    }

    /// The text under a heading of the documentation, if there is one.
    #[must_use]
    pub fn section(&self, heading: &str) -> Option<&'static str> {
        let mut sections = self.docs.split("\n## ");
        sections.find_map(|section| {
            section
                .strip_prefix(heading)?
                .strip_prefix('\n')
                .map(str::trim)
        })
    }
}

/// Rules are equal if their codes are equal.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.code == other.code
    }
}

impl Severity {
    /// All severities, in increasing order.
    pub const ALL: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];

    /// The name of the severity.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

choice!(Severity { "info" => Info, "warning" => Warning, "error" => Error });
