//! What was found, where, why it matters, and what to do; the reason stands at the first finding of a rule only.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::LintRun;
use crate::error::shown;
use crate::lint::{Diagnostic, Safety};
use crate::report::paint::{Ink, Paint, severity_ink};

pub(super) fn render(run: &LintRun, paint: Paint) -> String {
    let mut text = String::new();
    let mut explained = HashSet::new();
    for found in &run.findings {
        write_finding(&mut text, found, paint);
        if explained.insert(found.code) {
            write_reason(&mut text, found, paint);
        }
        write_fix(&mut text, found, paint);
        text.push('\n');
    }
    text
}

fn write_finding(text: &mut String, found: &Diagnostic, paint: Paint) {
    let Diagnostic { severity, code, name, message, path, .. } = found;
    let head = paint.ink(severity_ink(*severity), &format!("{severity}[{code}]"));
    writeln!(text, "{head} {}: {}", paint.ink(Ink::Strong, name), shown(message)).ok();
    writeln!(text, "  {} {}: {}", faint(paint, "-->"), shown(path), shown(found.place())).ok();
    if let Some(node) = &found.text {
        writeln!(text, "   {} {}", faint(paint, "|"), shown(node)).ok();
    }
}

fn write_reason(text: &mut String, found: &Diagnostic, paint: Paint) {
    let section = found.rule.section("Why is this bad?").unwrap_or_default();
    let paragraph = section.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    write_entry(text, "why", &paragraph, paint);
    write_entry(text, "more", &format!("recast rule {}", found.code), paint);
}

fn write_fix(text: &mut String, found: &Diagnostic, paint: Paint) {
    if let Some(fix) = &found.fix {
        let how = match fix.safety {
            Safety::Safe => "safe: --fix",
            Safety::Unsafe => "unsafe: --fix --unsafe-fixes",
        };
        write_entry(text, "fix", &shown(&format!("{} ({how})", fix.what)), paint);
    }
}

const WIDTH: usize = 100;

/// `   = why: …`, with later lines under the first.
fn write_entry(text: &mut String, label: &str, words: &str, paint: Paint) {
    let indent = " ".repeat(label.len() + 7);
    let mut line = String::new();
    let mut lines = Vec::new();
    for word in words.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() >= WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    let label = paint.ink(Ink::Strong, &format!("{label}:"));
    writeln!(text, "   {} {label} {}", faint(paint, "="), lines.join(&format!("\n{indent}"))).ok();
}

fn faint(paint: Paint, text: &str) -> String {
    paint.ink(Ink::Faint, text)
}
