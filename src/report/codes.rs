//! The codes of errors and reasons, and what they mean. A test compares the tables of
//! `docs/output.md`.

use serde::Serialize;
use serde_json::{Value, json};

use super::lint::{rules_json_value, rules_text};
use crate::base::choice::nearest;
use crate::base::codes::CodeMeaning;
use crate::base::error::ErrorKind;
use crate::base::printable::{Document, PLAIN, STRONG, Shown};
use crate::casts::folding;
use crate::convert;
use crate::lint;
use crate::passes::removal;
use crate::precision;

/// A meaning of a code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Meaning {
    /// The code.
    pub code: &'static str,
    /// The kind of the code.
    pub of: &'static str,
    /// Its meaning.
    pub meaning: &'static str,
}

/// The kind of the codes of `fold`.
pub const NOT_FOLDED: &str = "a reason why a cast is not folded";
/// The kind of the codes of `convert`.
pub const NOT_CONVERTED: &str = "a reason why a node cannot be converted";
/// The kind of the codes of `precision`.
pub const KEPT_TYPES: &str = "a reason why a node keeps its types";

/// The kind of the codes of what passes removed.
pub const REMOVED: &str = "a reason why a pass removed a node or constant";

/// The kinds of codes, with their codes.
const TABLES: [(&str, &[CodeMeaning]); 5] = [
    ("an error", ErrorKind::MEANINGS),
    (NOT_FOLDED, folding::reason::MEANINGS),
    (REMOVED, removal::MEANINGS),
    (NOT_CONVERTED, convert::reason::Code::MEANINGS),
    (KEPT_TYPES, precision::reason::Code::MEANINGS),
];

/// The meanings of all codes of errors and reasons.
#[must_use]
pub fn meanings() -> Vec<Meaning> {
    let rows = |(of, codes): (&'static str, &'static [CodeMeaning])| {
        codes
            .iter()
            .map(move |&CodeMeaning { code, meaning }| Meaning { code, of, meaning })
    };
    TABLES.into_iter().flat_map(rows).collect()
}

/// The meanings of a code.
#[must_use]
pub fn meanings_of(code: &str) -> Vec<Meaning> {
    meanings()
        .into_iter()
        .filter(|meaning| meaning.code.eq_ignore_ascii_case(code))
        .collect()
}

/// The code or rule name that is closest to an unknown one, if one is similar.
#[must_use]
pub fn nearest_code(unknown: &str) -> Option<&'static str> {
    let rules = lint::all().flat_map(|rule| [rule.code, rule.name]);
    nearest(
        unknown,
        rules.chain(meanings().into_iter().map(|meaning| meaning.code)),
    )
}

/// Meanings for people.
#[must_use]
pub fn meanings_text(meanings: &[Meaning]) -> Shown {
    let mut text = Shown::default();
    for Meaning { code, of, meaning } in meanings {
        text.push_styled_line(&[(STRONG, code), (PLAIN, &format!(", {of}: {meaning}"))]);
    }
    text
}

/// Meanings for scripts.
#[must_use]
pub fn meanings_json(meanings: &[Meaning]) -> Document<'_> {
    super::json(json!({ "codes": meanings }), &[])
}

/// All rules and codes for people, a line each.
#[must_use]
pub fn explanations_text() -> Shown {
    let mut text = rules_text(lint::all());
    for (of, codes) in TABLES {
        text.push_blank_line();
        text.push_line(format_args!(
            "Codes of {}:",
            of.replacen("a reason", "reasons", 1)
                .replacen("an error", "errors", 1)
        ));
        let longest = codes.iter().map(|row| row.code.len()).max().unwrap_or(0);
        for CodeMeaning { code, meaning } in codes {
            text.push_line(format_args!("  {code:longest$}  {meaning}"));
        }
    }
    text
}

/// All rules and codes for scripts.
#[must_use]
pub fn explanations_json() -> Document<'static> {
    let rules: Vec<Value> = rules_json_value();
    super::json(json!({ "rules": rules, "codes": meanings() }), &[])
}
