//! `recast explain`: every code that a report or an error may have is explained.

use std::collections::BTreeSet;
use std::fs;

use onnx_recast::ErrorKind;
use onnx_recast::internals::report::meanings;

use crate::command::recast;

/// `OperatorTooNew` as JSON has it: `operator-too-new`.
fn kebab_case(name: &str) -> String {
    let parts = name.char_indices().map(|(index, c)| match c.is_uppercase() {
        true if index > 0 => format!("-{}", c.to_lowercase()),
        _ => c.to_lowercase().to_string(),
    });
    parts.collect()
}

fn codes_of(what: &str) -> BTreeSet<String> {
    meanings().into_iter().filter(|meaning| meaning.of.contains(what)).map(|meaning| meaning.code.to_owned()).collect()
}

#[test]
fn every_code_is_explained_and_no_other() {
    let errors: BTreeSet<String> = ErrorKind::ALL.iter().map(|kind| kind.code().to_owned()).collect();
    assert_eq!(codes_of("an error"), errors);

    let source = fs::read_to_string("src/convert/reason.rs").unwrap();
    let (_, variants) = source.split_once("pub enum Code {").unwrap();
    let variants = variants.split_once("\n}").unwrap().0.lines().map(str::trim).filter(|line| !line.starts_with("//"));
    let blockers: BTreeSet<String> = variants.filter_map(|line| Some(kebab_case(line.strip_suffix(',')?))).collect();
    assert_eq!(codes_of("cannot be converted"), blockers);

    let source = fs::read_to_string("src/casts/folding/reason.rs").unwrap();
    let (_, arms) = source.split_once("pub fn code(&self)").unwrap();
    let arms = arms.split_once("\n    }\n").unwrap().0.lines();
    let reasons: BTreeSet<String> = arms.filter_map(|arm| Some(arm.split_once("=> \"")?.1.split_once('"')?.0.to_owned())).collect();
    assert_eq!(codes_of("not folded"), reasons);
}

#[test]
fn a_code_with_two_meanings_is_explained_twice_and_an_unknown_one_is_an_error() {
    let out = recast(&["explain", "overridable"]);
    let text = String::from_utf8(out.stdout).unwrap();
    assert_eq!(
        text,
        "overridable, a reason why a cast is not folded: a caller can override the input\n\
         overridable, a reason why a node cannot be converted: the conversion depends on an initializer that a caller can override\n"
    );
    let unknown = recast(&["explain", "nonsense"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert_eq!(String::from_utf8(unknown.stderr).unwrap(), "recast: unknown code 'nonsense'; `recast explain` lists all codes\n");
    assert_eq!(recast(&["rule", "RC101"]).stdout, recast(&["explain", "RC101"]).stdout, "the earlier name of the command works");
}
