//! What `recast rule` shows: the documentation of a rule, or a list of all.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::lint::{RULES, Rule, Selected};

/// A rule's documentation for people, in Markdown.
#[must_use]
pub fn rule_text(rule: &Rule) -> String {
    let selected = if rule.selected == Selected::ByDefault { "selected by default" } else { "on request" };
    let Rule { code, name, severity, .. } = rule;
    let hidden: Vec<&str> = rule.hides().map(|general| general.code).collect();
    let hides = if hidden.is_empty() { String::new() } else { format!(", hides {} at the same node", hidden.join(", ")) };
    format!("# {code} {name}\n\n{severity}, {selected}{hides}\n\n{}", rule.documentation())
}

/// All rules for people, a line each.
#[must_use]
pub fn rules_text() -> String {
    let mut text = String::new();
    let longest = RULES.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    for rule in RULES {
        let default = if rule.selected == Selected::ByDefault { "default" } else { "" };
        let Rule { code, name, severity, .. } = rule;
        writeln!(text, "{code}  {name:longest$}  {severity:7}  {default:7}  {}", rule.summary()).ok();
    }
    text
}

/// A rule for scripts.
#[must_use]
pub fn rule_json(rule: &Rule) -> String {
    crate::report::json(&json_of(rule)) + "\n"
}

/// All rules for scripts.
#[must_use]
pub fn rules_json() -> String {
    let rules: Vec<Value> = RULES.iter().map(|rule| json_of(rule)).collect();
    crate::report::json(&json!({ "rules": rules })) + "\n"
}

fn json_of(rule: &Rule) -> Value {
    json!({
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "default": rule.selected == Selected::ByDefault,
        "hides": rule.hides().map(|general| general.code).collect::<Vec<_>>(),
        "summary": rule.summary(),
        "documentation": rule.documentation(),
    })
}
