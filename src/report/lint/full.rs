//! Each finding with its place, its reason and its fix; the reason is given at the first finding of
//! a rule only.

use super::parts::{head, severity_style};
use super::run::LintRun;
use super::shape::Shape;
use crate::base::hash::HashMap;
use crate::base::printable::{FAINT, PLAIN, Parts, STRONG, Shown};
use crate::lint::{Diagnostic, Safety};
use crate::report::format::{wrapped, wrapped_after};
use crate::report::items::put_all;

/// The indentation of further lines of a message.
const INDENT: &str = "    ";

/// The maximum width of reasons in pipes and files.
const WIDEST: usize = 110;

/// Of a rule with more findings than `MANY`, the first ones are shown.
const MANY: usize = 10;
const FIRST: usize = 3;

/// A finding that is shown.
struct Entry<'r> {
    found: &'r Diagnostic,
    /// The reason is given at the first finding of a rule.
    is_first: bool,
    /// How many later findings of the rule are not shown.
    hidden: usize,
}

pub(super) fn render(run: &LintRun, shape: Shape) -> Parts<'_> {
    let width = shape.width;
    let reason_width = width.unwrap_or(WIDEST);
    let entries = entries(run, if shape.is_complete { usize::MAX } else { MANY });
    Parts::new(move |put| {
        put_all(&entries, put, |text, entry| {
            write_finding(text, entry.found, width);
            if entry.is_first {
                write_reason(text, entry.found, reason_width);
            }
            write_fix(text, entry.found, reason_width);
            text.push_blank_line();
            if entry.hidden > 0 {
                write_hidden(text, entry);
                text.push_blank_line();
            }
        })
    })
}

/// The findings that are shown.
fn entries(run: &LintRun, many: usize) -> Vec<Entry<'_>> {
    let mut counts: HashMap<&str, usize> = HashMap::default();
    for found in &run.findings {
        *counts.entry(found.code()).or_default() += 1;
    }
    let mut shown: HashMap<&str, usize> = HashMap::default();
    let mut entries = Vec::new();
    for found in &run.findings {
        let (count, number) = (counts[found.code()], shown.entry(found.code()).or_default());
        *number += 1;
        let is_long = count > many;
        if !is_long || *number <= FIRST {
            let hidden = if is_long && *number == FIRST {
                count - FIRST
            } else {
                0
            };
            entries.push(Entry {
                found,
                is_first: *number == 1,
                hidden,
            });
        }
    }
    entries
}

fn write_hidden(text: &mut Shown, entry: &Entry) {
    let Entry { found, hidden, .. } = entry;
    let head = head(found.severity, found.code());
    text.push_styled_line(&[
        (severity_style(found.severity), &head),
        (PLAIN, " "),
        (STRONG, found.name()),
        (PLAIN, &format!(": {hidden} more, which --verbose lists")),
    ]);
}

/// On a terminal, the message is wrapped; in a pipe, it stays one line.
fn write_finding(text: &mut Shown, found: &Diagnostic, width: Option<usize>) {
    let Diagnostic {
        severity, message, ..
    } = found;
    let (code, name, path) = (found.code(), found.name(), found.path());
    let head = head(*severity, code);
    // Further lines are indented.
    let column = head.len() + 1 + name.len() + ": ".len() - INDENT.len();
    let wrapped = |width: usize| wrapped_after(column, message.split(' '), width - INDENT.len());
    let lines = width.map_or_else(|| vec![message.to_string()], wrapped);
    let first = lines.first().map_or("", String::as_str);
    text.push_styled_line(&[
        (severity_style(*severity), &head),
        (PLAIN, " "),
        (STRONG, name),
        (PLAIN, &format!(": {first}")),
    ]);
    lines
        .iter()
        .skip(1)
        .for_each(|line| text.push_line(format_args!("{INDENT}{line}")));
    text.push_styled_line(&[
        (PLAIN, "  "),
        (FAINT, "-->"),
        (PLAIN, &format!(" {path}: {}", found.place())),
    ]);
    if let Some(node) = found.text() {
        text.push_styled_line(&[(PLAIN, "   "), (FAINT, "|"), (PLAIN, &format!(" {node}"))]);
    }
}

fn write_reason(text: &mut Shown, found: &Diagnostic, width: usize) {
    let section = found.rule.section("Why is this bad?").unwrap_or_default();
    write_entry(
        text,
        "why",
        section.split("\n\n").next().unwrap_or_default(),
        width,
    );
    write_entry(
        text,
        "more",
        &format!("recast explain {}", found.code()),
        width,
    );
}

fn write_fix(text: &mut Shown, found: &Diagnostic, width: usize) {
    if let Some(fix) = &found.fix {
        let how = match fix.safety {
            Safety::Safe => "safe: --fix",
            Safety::Unsafe => "unsafe: --fix --unsafe-fixes",
        };
        write_entry(text, "fix", &format!("{} ({how})", fix.what), width);
    }
}

/// `   = why: …`, with later lines below the first.
fn write_entry(text: &mut Shown, label: &str, words: &str, width: usize) {
    let label = format!("{label}:");
    let indent = " ".repeat(label.len() + 6);
    for (number, line) in wrapped(words, width.saturating_sub(indent.len()))
        .iter()
        .enumerate()
    {
        match number {
            0 => text.push_styled_line(&[
                (PLAIN, "   "),
                (FAINT, "="),
                (PLAIN, " "),
                (STRONG, &label),
                (PLAIN, &format!(" {line}")),
            ]),
            _ => text.push_line(format_args!("{indent}{line}")),
        }
    }
}
