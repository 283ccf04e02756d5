//! The documentation of rules, for `recast explain`.

use serde_json::{Value, json};

use crate::base::printable::{Document, PLAIN, STRONG, Shown};
use crate::lint::{RuleFacts, Selected, all};
use crate::report::format::wrapped;

/// The documentation of a rule for people, in Markdown; wrapped if a width is given.
#[must_use]
pub fn rule_text(rule: &RuleFacts, width: Option<usize>) -> Shown {
    let selected = match rule.selected {
        Selected::ByDefault => "enabled by default",
        Selected::OnRequest => "on request",
        Selected::WithTarget => "enabled by a target",
    };
    let RuleFacts {
        code,
        name,
        severity,
        ..
    } = rule;
    let mut text = Shown::default();
    text.push_styled_line(&[(STRONG, &format!("# {code} {name}"))]);
    text.push_blank_line();
    let hidden: Vec<&str> = rule.hides().map(|general| general.code).collect();
    let hides = if hidden.is_empty() {
        String::new()
    } else {
        format!(", hides {} at the same node", hidden.join(", "))
    };
    text.push_line(format_args!("{severity}, {selected}{hides}"));
    text.push_blank_line();
    match width {
        Some(width) => write_markdown(&mut text, rule.docs, width),
        None => text.append(&Shown::lines(rule.docs)),
    }
    text
}

/// Paragraphs are wrapped; headings, lists, tables and code are not.
fn write_markdown(text: &mut Shown, markdown: &str, width: usize) {
    let mut in_code = false;
    let mut paragraph = String::new();
    for line in markdown.lines() {
        in_code ^= line.starts_with("```");
        let is_prose = !in_code
            && line.starts_with(|c: char| {
                c.is_alphanumeric() || matches!(c, '`' | '*' | '_' | '(' | '"')
            });
        if is_prose && !line.starts_with("```") && !line.starts_with("* ") {
            paragraph.push_str(line);
            paragraph.push(' ');
            continue;
        }
        write_paragraph(text, &mut paragraph, width);
        text.push_styled_line(&[(if line.starts_with('#') { STRONG } else { PLAIN }, line)]);
    }
    write_paragraph(text, &mut paragraph, width);
}

fn write_paragraph(text: &mut Shown, paragraph: &mut String, width: usize) {
    if !paragraph.is_empty() {
        wrapped(paragraph, width)
            .iter()
            .for_each(|line| text.push_line(format_args!("{line}")));
        paragraph.clear();
    }
}

/// Rules for people, a line each.
#[must_use]
pub fn rules_text<'r>(rules: impl IntoIterator<Item = &'r RuleFacts>) -> Shown {
    let rules: Vec<&RuleFacts> = rules.into_iter().collect();
    let mut text = Shown::default();
    let longest = rules.iter().map(|rule| rule.name.len()).max().unwrap_or(0);
    for rule in rules {
        let default = match rule.selected {
            Selected::ByDefault => "default",
            Selected::OnRequest => "",
            Selected::WithTarget => "target",
        };
        let RuleFacts {
            code,
            name,
            severity,
            ..
        } = rule;
        text.push_line(format_args!(
            "{code}  {name:longest$}  {severity:7}  {default:7}  {}",
            rule.summary()
        ));
    }
    text
}

/// A rule for scripts.
#[must_use]
pub fn rule_json(rule: &RuleFacts) -> Document<'static> {
    crate::report::json(rule_json_value(rule), &[])
}

/// Rules for scripts.
#[must_use]
pub fn rules_json<'r>(rules: impl IntoIterator<Item = &'r RuleFacts>) -> Document<'static> {
    let rules: Vec<Value> = rules.into_iter().map(rule_json_value).collect();
    crate::report::json(json!({ "rules": rules }), &[])
}

/// All rules for scripts.
#[must_use]
pub fn rules_json_value() -> Vec<Value> {
    all().map(rule_json_value).collect()
}

/// A rule, as documents contain it.
#[must_use]
pub fn rule_json_value(rule: &RuleFacts) -> Value {
    json!({
        "code": rule.code,
        "name": rule.name,
        "severity": rule.severity,
        "default": rule.selected == Selected::ByDefault,
        "hides": rule.hides().map(|general| general.code).collect::<Vec<_>>(),
        "summary": rule.summary(),
        "documentation": rule.docs,
    })
}
