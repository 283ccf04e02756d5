//! The codes of errors and reasons. `docs/output.md` explains them; `recast explain` prints its tables.

use serde::Serialize;
use serde_json::{Value, json};

use super::lint::{rules_json_value, rules_text};
use crate::base::printable::{Document, PLAIN, STRONG, Shown};

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

/// The kind of the codes of what passes removed.
pub const REMOVED: &str = "a reason why a pass removed a node or constant";

/// The headings of the tables of codes, and the kinds of the codes.
const TABLES: [(&str, &str); 4] = [
    ("## Error codes", "an error"),
    ("### Reasons for casts that are not folded", NOT_FOLDED),
    ("### Reasons for nodes and constants that are removed", REMOVED),
    ("### Reasons for nodes that cannot be converted", NOT_CONVERTED),
];

/// The meanings of all codes of errors and reasons.
#[must_use]
pub fn meanings() -> Vec<Meaning> {
    const MANUAL: &str = include_str!("../../docs/output.md");
    let rows = |&(heading, of): &(&str, &'static str)| {
        let (_, section) = MANUAL.split_once(heading).unwrap_or_default();
        let table = section.lines().skip(1).take_while(|line| !line.starts_with('#'));
        let row = move |line: &'static str| {
            let (code, meaning) = line.strip_prefix("| `")?.split_once("` | ")?;
            Some(Meaning { code, of, meaning: meaning.trim_end_matches(" |") })
        };
        table.filter_map(row).collect::<Vec<Meaning>>()
    };
    TABLES.iter().flat_map(rows).collect()
}

/// The meanings of a code.
#[must_use]
pub fn meanings_of(code: &str) -> Vec<Meaning> {
    meanings().into_iter().filter(|meaning| meaning.code.eq_ignore_ascii_case(code)).collect()
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
    let mut text = rules_text();
    for (_, of) in TABLES {
        text.push_blank_line();
        text.push_line(format_args!("Codes of {}:", of.replacen("a reason", "reasons", 1).replacen("an error", "errors", 1)));
        let meanings: Vec<Meaning> = meanings().into_iter().filter(|meaning| meaning.of == of).collect();
        let longest = meanings.iter().map(|meaning| meaning.code.len()).max().unwrap_or(0);
        for Meaning { code, meaning, .. } in meanings {
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
