//! Each finding with its place, its reason and its fix; the reason is given at the first finding of a rule only.

use std::ptr;

use super::parts::severity_style;
use super::run::LintRun;
use crate::base::hash::HashMap;
use crate::base::printable::{FAINT, PLAIN, Parts, STRONG, Shown};
use crate::lint::{Diagnostic, Safety};
use crate::report::items::put_all;
use crate::report::words::{wrapped, wrapped_after};

/// The indentation of further lines of a message.
const INDENT: &str = "    ";

/// The maximum width of reasons in pipes and files.
const WIDEST: usize = 110;

pub(super) fn render(run: &LintRun, width: Option<usize>) -> Parts<'_> {
    let reason_width = width.unwrap_or(WIDEST);
    // The reason is given at the first finding of a rule.
    let mut firsts: HashMap<&str, &Diagnostic> = HashMap::default();
    for found in &run.findings {
        firsts.entry(found.code()).or_insert(found);
    }
    Parts::new(move |put| {
        put_all(&run.findings, put, |text, found| {
            write_finding(text, found, width);
            if firsts.get(found.code()).is_some_and(|first| ptr::eq(*first, found)) {
                write_reason(text, found, reason_width);
            }
            write_fix(text, found, reason_width);
            text.push_blank_line();
        })
    })
}

/// On a terminal, the message is wrapped; in a pipe, it stays one line.
fn write_finding(text: &mut Shown, found: &Diagnostic, width: Option<usize>) {
    let Diagnostic { severity, message, .. } = found;
    let (code, name, path) = (found.code(), found.name(), found.path());
    let head = format!("{severity}[{code}]");
    // Further lines are indented.
    let column = head.len() + 1 + name.len() + ": ".len() - INDENT.len();
    let wrapped = |width: usize| wrapped_after(column, message.split(' '), width - INDENT.len());
    let lines = width.map_or_else(|| vec![message.to_string()], wrapped);
    let first = lines.first().map_or("", String::as_str);
    text.push_styled_line(&[(severity_style(*severity), &head), (PLAIN, " "), (STRONG, name), (PLAIN, &format!(": {first}"))]);
    lines.iter().skip(1).for_each(|line| text.push_line(format_args!("{INDENT}{line}")));
    text.push_styled_line(&[(PLAIN, "  "), (FAINT, "-->"), (PLAIN, &format!(" {path}: {}", found.place()))]);
    if let Some(node) = found.text() {
        text.push_styled_line(&[(PLAIN, "   "), (FAINT, "|"), (PLAIN, &format!(" {node}"))]);
    }
}

fn write_reason(text: &mut Shown, found: &Diagnostic, width: usize) {
    let section = found.rule.section("Why is this bad?").unwrap_or_default();
    write_entry(text, "why", section.split("\n\n").next().unwrap_or_default(), width);
    write_entry(text, "more", &format!("recast explain {}", found.code()), width);
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
    for (number, line) in wrapped(words, width.saturating_sub(indent.len())).iter().enumerate() {
        match number {
            0 => {
                text.push_styled_line(&[(PLAIN, "   "), (FAINT, "="), (PLAIN, " "), (STRONG, &label), (PLAIN, &format!(" {line}"))])
            }
            _ => text.push_line(format_args!("{indent}{line}")),
        }
    }
}
