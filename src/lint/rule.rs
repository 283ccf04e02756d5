//! What a rule is.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::{Finding, Subject};

/// A rule: a pattern, how to find it, and what to say of it.
#[derive(Debug)]
pub struct Rule {
    /// The code that selects it; it never gets another meaning.
    pub code: &'static str,
    /// The pattern's name.
    pub name: &'static str,
    /// How bad a finding is unless the user says otherwise.
    pub severity: Severity,
    /// Whether it judges unless the user says otherwise.
    pub selected: Selected,
    /// The rule's source file: the comment at its head is the documentation.
    pub(super) source: &'static str,
    pub(super) check: fn(&Subject) -> Vec<Finding>,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Likely not what was meant, or not the same everywhere.
    Warning,
    /// Not a valid model, or a wrong one.
    Error,
}

/// When a rule judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selected {
    /// Unless it is ignored.
    ByDefault,
    /// Only if it is selected.
    OnRequest,
}

impl Rule {
    /// The documentation, in Markdown.
    #[must_use]
    pub fn documentation(&self) -> String {
        let comment = self.source.lines().map_while(|line| line.strip_prefix("//!"));
        let text: Vec<&str> = comment.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        text.join("\n") + "\n"
    }

    /// The documentation's first sentence.
    #[must_use]
    pub fn summary(&self) -> String {
        self.documentation().lines().next().unwrap_or_default().to_owned()
    }

    /// The text under a heading of the documentation, if there is one.
    #[must_use]
    pub fn section(&self, heading: &str) -> Option<String> {
        let documentation = self.documentation();
        let mut sections = documentation.split("\n## ");
        let found = sections.find_map(|section| section.strip_prefix(heading)?.strip_prefix('\n').map(str::trim));
        found.map(str::to_owned)
    }
}

/// A rule is its code.
impl PartialEq for Rule {
    fn eq(&self, other: &Rule) -> bool {
        self.code == other.code
    }
}

impl Severity {
    /// All severities, the mildest first.
    pub const ALL: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];

    /// The severity in a word.
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

impl FromStr for Severity {
    type Err = String;

    fn from_str(name: &str) -> Result<Severity, String> {
        let found = Severity::ALL.into_iter().find(|severity| severity.name() == name);
        found.ok_or_else(|| format!("unknown severity '{name}'; the severities are info, warning and error"))
    }
}
