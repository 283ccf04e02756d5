//! `docs/rules.md`: the documentation of all rules, to which SARIF links.

use onnx_recast::internals::all_rules;
use std::fmt::Write;

use onnx_recast::lint::{RuleFacts, Selected};

use crate::reference::expect_page;

const INTRODUCTION: &str = "# Lint rules

What `recast explain CODE` prints. [Lint](lint.md) says how rules are selected, and how findings are suppressed and fixed. A test compares this
page with the rules; `RECAST_BLESS=1 cargo test` writes it.
";

#[test]
fn the_page_has_the_documentation_of_all_rules() {
    let mut page = INTRODUCTION.to_owned();
    for rule in all_rules() {
        let RuleFacts {
            code,
            name,
            severity,
            docs,
            ..
        } = rule;
        let selected = match rule.selected {
            Selected::ByDefault => "enabled by default",
            Selected::WithTarget => "enabled by a target",
            _ => "on request",
        };
        let docs = docs.trim_end().replace("\n## ", "\n### ");
        write!(
            page,
            "\n## {code} {name}\n\n{severity}, {selected}\n\n{docs}\n"
        )
        .unwrap();
    }
    expect_page("docs/rules.md", &page);
}
