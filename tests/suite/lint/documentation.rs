//! The documentation of every rule: it has all headings, and its examples are correct.

use onnx_recast::internals::all_rules;
use onnx_recast::lint::RuleFacts;

use super::find;
use super::fixtures::fixtures;
use crate::support::expect_no_failures;

/// The models of a rule's documentation, in their order.
pub fn examples(rule: &RuleFacts) -> Vec<String> {
    let section = rule.section("Example").unwrap_or_default();
    let blocks = section.split("```onnx\n").skip(1);
    blocks
        .map(|block| block.split("```").next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn every_rule_has_all_sections() {
    let mut failures = Vec::new();
    for rule in all_rules() {
        for heading in ["What it checks", "Why is this bad?", "Example"] {
            if rule.section(heading).is_none_or(|text| text.len() < 40) {
                failures.push(format!("{}: no text under '{heading}'", rule.code));
            }
        }
        if !rule.summary().ends_with('.') {
            failures.push(format!(
                "{}: the summary is not a sentence: {}",
                rule.code,
                rule.summary()
            ));
        }
    }
    expect_no_failures(failures);
}

/// SARIF links to it.
#[test]
fn the_file_of_a_rule_has_its_name() {
    let path = |rule: &&RuleFacts| format!("src/lint/rules/{}.rs", rule.name.replace('-', "_"));
    let missing = all_rules().filter(|rule| !std::path::Path::new(&path(rule)).is_file());
    expect_no_failures(
        missing
            .map(|rule| format!("{}: no file {}", rule.code, path(&rule)))
            .collect(),
    );
}

#[test]
fn the_first_example_has_the_finding_and_the_second_has_not() {
    let mut failures = Vec::new();
    for rule in all_rules() {
        match examples(rule).as_slice() {
            [bad, good] => {
                if find(bad, rule.code).is_empty() {
                    failures.push(format!(
                        "{}: nothing is found in the first example",
                        rule.code
                    ));
                }
                failures.extend(
                    find(good, rule.code).iter().map(|found| {
                        format!("{}: the second example: {}", rule.code, found.message)
                    }),
                );
            }
            all => failures.push(format!("{}: {} examples, not two", rule.code, all.len())),
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_rule_documents_its_fix_exactly_if_it_has_one() {
    let mut failures = Vec::new();
    let fixtures = fixtures();
    for rule in all_rules() {
        let mut models = fixtures.iter().filter(|fixture| fixture.code == rule.code);
        let has_fix = models.any(|fixture| {
            find(&fixture.model, rule.code)
                .iter()
                .any(|found| found.fix.is_some())
        });
        if has_fix != rule.section("Fix").is_some() {
            failures.push(format!(
                "{}: has a fix: {has_fix}; documents one: {}",
                rule.code, !has_fix
            ));
        }
    }
    expect_no_failures(failures);
}
