//! The table of what a model had before and has after.

use std::collections::BTreeMap;

use super::format::bytes;
use crate::base::printable::Shown;
use crate::inspect::{CastCount, Counts};

/// The pairs of types of casts that have a line of their own.
const MOST_PAIRS: usize = 12;

/// One line per count: nodes, casts in all and by their types, initializers, bytes.
pub(super) fn write_counts(text: &mut Shown, before: &Counts, after: &Counts) {
    let mut rows: Vec<[String; 3]> = vec![[String::new(), "before".to_owned(), "after".to_owned()]];
    let mut row = |label: &str, before: usize, after: usize| {
        rows.push([label.to_owned(), before.to_string(), after.to_string()])
    };
    let all = |counts: &Counts| counts.casts.iter().map(|casts| casts.count).sum();
    row("nodes", before.nodes, after.nodes);
    row("casts", all(before), all(after));
    let pairs = pairs(before, after);
    for ((from, to), [before, after]) in pairs.iter().take(MOST_PAIRS) {
        row(
            &format!("  {} -> {}", from.unwrap_or("?"), to.unwrap_or("?")),
            *before,
            *after,
        );
    }
    if pairs.len() > MOST_PAIRS {
        let rest = |side: usize| {
            pairs[MOST_PAIRS..]
                .iter()
                .map(|(_, counts)| counts[side])
                .sum()
        };
        row("  other types", rest(0), rest(1));
    }
    row("initializers", before.initializers, after.initializers);
    rows.push([
        "bytes, with data files".to_owned(),
        bytes(before.bytes),
        bytes(after.bytes),
    ]);
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let [label, left, right] = [width(0), width(1), width(2)];
    for [name, before, after] in &rows {
        text.push_line(format_args!(
            "  {name:label$}  {before:>left$}  {after:>right$}"
        ));
    }
}

type Pair = (Option<&'static str>, Option<&'static str>);

/// The casts before and after by their types, the most frequent first.
fn pairs(before: &Counts, after: &Counts) -> Vec<(Pair, [usize; 2])> {
    let mut pairs: BTreeMap<Pair, [usize; 2]> = BTreeMap::new();
    for (side, counts) in [before, after].into_iter().enumerate() {
        for &CastCount { from, to, count } in &counts.casts {
            pairs.entry((from, to)).or_default()[side] += count;
        }
    }
    let mut pairs: Vec<(Pair, [usize; 2])> = pairs.into_iter().collect();
    pairs.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().max().copied()));
    pairs
}
