//! How often each rule was broken, the most frequent first.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::lint::{Diagnostic, Safety, Severity};

/// How often a rule was broken.
#[derive(Clone, Debug, Serialize)]
pub struct RuleCount {
    /// The code of the rule.
    pub code: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The highest severity of its findings.
    pub severity: Severity,
    /// Its findings.
    pub findings: usize,
    /// The models that have some.
    pub models: usize,
    /// Findings that `--fix` fixes.
    pub fixable: usize,
    /// Findings that `--fix --unsafe-fixes` fixes besides.
    pub unsafely_fixable: usize,
}

impl RuleCount {
    /// The findings of each rule.
    #[must_use]
    pub fn all(findings: &[Diagnostic]) -> Vec<RuleCount> {
        let mut rules: BTreeMap<&'static str, Vec<&Diagnostic>> = BTreeMap::new();
        for found in findings {
            rules.entry(found.code()).or_default().push(found);
        }
        let mut counts: Vec<RuleCount> = rules
            .values()
            .filter_map(|findings| RuleCount::of(findings))
            .collect();
        counts.sort_by_key(|count| std::cmp::Reverse(count.findings));
        counts
    }

    /// The count of the findings of one rule.
    fn of(findings: &[&Diagnostic]) -> Option<RuleCount> {
        let first = findings.first()?;
        let fixable = |safety| {
            findings
                .iter()
                .filter(|found| found.fix.as_ref().is_some_and(|fix| fix.safety == safety))
                .count()
        };
        let models: BTreeSet<&str> = findings.iter().map(|found| &**found.path()).collect();
        Some(RuleCount {
            code: first.code(),
            name: first.name(),
            severity: findings.iter().map(|found| found.severity).max()?,
            findings: findings.len(),
            models: models.len(),
            fixable: fixable(Safety::Safe),
            unsafely_fixable: fixable(Safety::Unsafe),
        })
    }
}
