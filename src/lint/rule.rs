//! The definition of a rule.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Finding, Subject};
use crate::base::choice::choice;

/// A rule: finds a pattern in models. A rule with parameters has them as fields; one without is a
/// [`FunctionRule`], as the rules of this crate are.
///
/// ```
/// use onnx_recast::lint::{Finding, Rule, RuleFacts, Selection, Severity, Subject};
/// use onnx_recast::{LintOptions, Model};
///
/// /// Finds operators that a device does not have.
/// struct Unavailable {
///     operators: Vec<String>,
/// }
///
/// impl Rule for Unavailable {
///     fn facts(&self) -> &'static RuleFacts {
///         static FACTS: RuleFacts = RuleFacts::new(
///             "X101",
///             "unavailable-operator",
///             Severity::Error,
///             "The device does not have the operator.\n",
///         );
///         &FACTS
///     }
///
///     fn check(&self, subject: &Subject) -> Vec<Finding> {
///         let op = |node| subject.model.node(node).op_type();
///         let found = subject.nodes().filter(|&node| self.operators.iter().any(|name| name == op(node)));
///         found.map(|node| Finding::at_node(node, format!("no {}", op(node)))).collect()
///     }
/// }
///
/// # fn main() -> Result<(), onnx_recast::Error> {
/// let model = Model::from_text(
///     r#"<ir_version: 10, opset_import: ["": 21]> g (float x) => (float y) { [first] y = Erf (x) }"#,
/// )?;
/// let rule = Unavailable { operators: vec!["Erf".to_owned()] };
/// let selection = Selection::default().with_rule(rule);
/// let found = model.lint(&LintOptions::default().selection(selection))?;
/// assert_eq!((found[0].code(), found[0].place().as_str()), ("X101", "graph/first"));
/// # Ok(())
/// # }
/// ```
pub trait Rule: Send + Sync {
    /// What is known of the rule without a model.
    fn facts(&self) -> &'static RuleFacts;

    /// Finds the pattern.
    fn check(&self, subject: &Subject) -> Vec<Finding>;
}

/// What is known of a rule without a model. Rules are equal if their codes are equal.
#[derive(Debug)]
#[non_exhaustive]
pub struct RuleFacts {
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
}

/// A rule without parameters: a function finds the pattern.
#[derive(Debug)]
pub struct FunctionRule {
    /// What is known of the rule without a model.
    pub(crate) facts: RuleFacts,
    check: fn(&Subject) -> Vec<Finding>,
}

impl FunctionRule {
    /// A rule whose pattern a function finds.
    #[must_use]
    pub const fn new(facts: RuleFacts, check: fn(&Subject) -> Vec<Finding>) -> FunctionRule {
        FunctionRule { facts, check }
    }
}

impl Rule for &'static FunctionRule {
    fn facts(&self) -> &'static RuleFacts {
        let rule: &'static FunctionRule = self;
        &rule.facts
    }

    fn check(&self, subject: &Subject) -> Vec<Finding> {
        (self.check)(subject)
    }
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

impl RuleFacts {
    /// The facts of a rule that is enabled by default.
    #[must_use]
    pub const fn new(
        code: &'static str,
        name: &'static str,
        severity: Severity,
        docs: &'static str,
    ) -> RuleFacts {
        RuleFacts {
            code,
            name,
            severity,
            selected: Selected::ByDefault,
            docs,
        }
    }

    /// The facts of a rule that is enabled in another case.
    #[must_use]
    pub const fn selected(self, selected: Selected) -> RuleFacts {
        RuleFacts { selected, ..self }
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

impl PartialEq for RuleFacts {
    fn eq(&self, other: &RuleFacts) -> bool {
        self.code == other.code
    }
}

impl Severity {
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

choice!(pub(crate) Severity { "info" => Info, "warning" => Warning, "error" => Error });
