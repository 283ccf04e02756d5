//! Selects the enabled rules and their severities.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::registry::{self, all};
use super::{Rule, RuleFacts, Selected, Severity};
use crate::base::choice::nearest;
use crate::ops::runtimes::Runtime;

/// The enabled rules with their severities, and the runtimes that have to load the models.
#[derive(Clone)]
pub struct Selection {
    rules: Vec<(Arc<dyn Rule>, Severity)>,
    targets: Vec<Runtime>,
}

/// A rule, or all rules whose codes have a prefix: `RC101`, `RC1`, `ALL`, or a rule's name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Selector {
    /// The prefix of the codes.
    prefix: String,
}

/// No rule has this code, prefix or name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown rule or prefix '{0}'; {remedy}`recast explain` lists all rules", remedy = remedy(.0))]
pub struct UnknownRule(pub(crate) String);

/// The rule that was probably meant, or examples.
fn remedy(unknown: &str) -> String {
    let names = all().flat_map(|rule| [rule.code, rule.name]);
    match nearest(unknown, names.chain(["ALL"])) {
        Some(name) => format!("did you mean {name}? "),
        None => "examples: RC101, RC2, ALL; ".to_owned(),
    }
}

/// The settings of one source: a configuration file, or the command line, which is applied after
/// it.
#[derive(Clone, Debug, Default)]
pub struct Layer {
    /// Replaces the selected rules.
    pub select: Option<Vec<Selector>>,
    /// Adds rules.
    pub extend_select: Vec<Selector>,
    /// Removes rules. If a rule is both selected and ignored, the longer code takes precedence.
    pub ignore: Vec<Selector>,
    /// Overrides severities. The longer code takes precedence.
    pub severity: Vec<(Selector, Severity)>,
    /// Replaces the runtimes that have to load the models, and adds the rules about them.
    pub targets: Vec<Runtime>,
}

impl Selection {
    /// The default selection with these layers of settings applied in order.
    #[must_use]
    pub fn of<'l>(layers: impl IntoIterator<Item = &'l Layer>) -> Selection {
        let mut state: Vec<(Arc<dyn Rule>, bool, Severity)> = registry::rules()
            .map(|rule| {
                let facts = rule.facts();
                (rule, facts.selected == Selected::ByDefault, facts.severity)
            })
            .collect();
        let mut targets = &[][..];
        for layer in layers {
            targets = if layer.targets.is_empty() {
                targets
            } else {
                &layer.targets
            };
            for (rule, selected, severity) in &mut state {
                *selected = layer.selects(rule.facts()).unwrap_or(*selected);
                *severity = layer.severity_of(rule.facts()).unwrap_or(*severity);
            }
        }
        let selected = state.into_iter().filter(|(_, selected, _)| *selected);
        Selection {
            rules: selected
                .map(|(rule, _, severity)| (rule, severity))
                .collect(),
            targets: targets.to_vec(),
        }
    }

    /// The rules, sorted by code.
    #[must_use]
    pub fn rules(&self) -> &[(Arc<dyn Rule>, Severity)] {
        &self.rules
    }

    /// Whether the rule of a code is one of them.
    #[must_use]
    pub(crate) fn checks(&self, code: &str) -> bool {
        self.rules.iter().any(|(rule, _)| rule.facts().code == code)
    }

    /// The runtimes that have to load the models.
    #[must_use]
    pub(crate) fn targets(&self) -> &[Runtime] {
        &self.targets
    }

    /// The selection with a rule of another crate, at its default severity.
    #[must_use]
    pub fn with_rule(mut self, rule: impl Rule + 'static) -> Selection {
        let severity = rule.facts().severity;
        self.rules.push((Arc::new(rule), severity));
        self
    }

    /// The selection without some rules.
    #[must_use]
    pub(crate) fn without(&self, ignored: &[Selector]) -> Selection {
        let left = self.rules.iter().filter(|(rule, _)| {
            !ignored
                .iter()
                .any(|selector| selector.matches(rule.facts()))
        });
        Selection {
            rules: left.cloned().collect(),
            targets: self.targets.clone(),
        }
    }
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = self.rules.iter();
        let rules = rules.map(|(rule, severity)| (rule.facts().code, severity));
        f.debug_map()
            .entries(rules)
            .entry(&"targets", &self.targets)
            .finish()
    }
}

impl Default for Selection {
    fn default() -> Selection {
        Selection::of([])
    }
}

impl Layer {
    /// Whether the layer selects or ignores a rule; `None` if it does neither.
    fn selects(&self, rule: &RuleFacts) -> Option<bool> {
        let by_target = rule.selected == Selected::WithTarget && !self.targets.is_empty();
        let on = longest(
            self.select.iter().flatten().chain(&self.extend_select),
            rule,
        );
        let on = on.max(by_target.then_some(rule.code.len()));
        let off = longest(&self.ignore, rule);
        match (on, off) {
            (None, None) => self.select.as_ref().map(|_| false),
            _ => Some(on > off),
        }
    }

    fn severity_of(&self, rule: &RuleFacts) -> Option<Severity> {
        let matching = self
            .severity
            .iter()
            .filter(|(selector, _)| selector.matches(rule));
        matching
            .max_by_key(|(selector, _)| selector.prefix.len())
            .map(|&(_, severity)| severity)
    }
}

impl Selector {
    /// Whether the selector matches this rule.
    #[must_use]
    pub(crate) fn matches(&self, rule: &RuleFacts) -> bool {
        rule.code.starts_with(&self.prefix)
    }
}

fn longest<'s>(
    selectors: impl IntoIterator<Item = &'s Selector>,
    rule: &RuleFacts,
) -> Option<usize> {
    selectors
        .into_iter()
        .filter(|selector| selector.matches(rule))
        .map(|selector| selector.prefix.len())
        .max()
}

impl FromStr for Selector {
    type Err = UnknownRule;

    /// Parses a code, a prefix of a code, a rule's name, or `ALL`; letter case is ignored.
    fn from_str(text: &str) -> Result<Selector, UnknownRule> {
        let text = text.trim();
        if text.eq_ignore_ascii_case("all") {
            return Ok(Selector {
                prefix: String::new(),
            });
        }
        if let Some(rule) = all().find(|rule| rule.name.eq_ignore_ascii_case(text)) {
            return Ok(Selector {
                prefix: rule.code.to_owned(),
            });
        }
        let prefix = text.to_ascii_uppercase();
        let is_known = all().any(|rule| rule.code.starts_with(&prefix));
        if is_known && !prefix.is_empty() {
            Ok(Selector { prefix })
        } else {
            Err(UnknownRule(text.to_owned()))
        }
    }
}
