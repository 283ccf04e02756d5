//! Each finding with its place, its reason and its fix; the reason is given at the first finding of a rule only.

use std::ptr;

use super::parts::severity_style;
use super::run::LintRun;
use crate::hash::HashMap;
use crate::lint::{Diagnostic, Safety};
use crate::report::items::put_all;
use crate::report::words::wrapped;
use crate::shown::{FAINT, PLAIN, Parts, STRONG, Shown};

pub(super) fn render(run: &LintRun, width: usize) -> Parts<'_> {
    // The reason is given at the first finding of a rule.
    let mut firsts: HashMap<&str, &Diagnostic> = HashMap::default();
    for found in &run.findings {
        firsts.entry(found.code()).or_insert(found);
    }
    Parts::new(move |put| {
        put_all(&run.findings, put, |text, found| {
            write_finding(text, found);
            if firsts.get(found.code()).is_some_and(|first| ptr::eq(*first, found)) {
                write_reason(text, found, width);
            }
            write_fix(text, found, width);
            text.push_blank_line();
        })
    })
}

fn write_finding(text: &mut Shown, found: &Diagnostic) {
    let Diagnostic { severity, message, .. } = found;
    let (code, name, path) = (found.code(), found.name(), found.path());
    let head = format!("{severity}[{code}]");
    text.push_styled_line(&[(severity_style(*severity), &head), (PLAIN, " "), (STRONG, name), (PLAIN, &format!(": {message}"))]);
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
    for (number, line) in wrapped(words, width).iter().enumerate() {
        match number {
            0 => {
                text.push_styled_line(&[(PLAIN, "   "), (FAINT, "="), (PLAIN, " "), (STRONG, &label), (PLAIN, &format!(" {line}"))])
            }
            _ => text.push_line(format_args!("{indent}{line}")),
        }
    }
}
