//! Formatting of text and numbers.

use std::collections::BTreeMap;

use crate::base::hash::HashMap;
use crate::base::printable::Shown;
pub use crate::base::printable::plural;

/// Wraps words into lines of at most `width` characters; longer words are not broken.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    wrapped_after(0, text.split_whitespace(), width)
}

/// Like [`wrapped`], if `column` characters precede the first line.
#[must_use]
pub fn wrapped_after<'w>(
    column: usize,
    words: impl Iterator<Item = &'w str>,
    width: usize,
) -> Vec<String> {
    let (mut lines, mut line, mut used) = (Vec::new(), String::new(), column);
    for word in words {
        let length = word.chars().count();
        if used > 0 && used + usize::from(!line.is_empty()) + length > width {
            lines.push(std::mem::take(&mut line));
            used = 0;
        }
        if !line.is_empty() {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += length;
    }
    lines.push(line);
    lines
}

/// A size in the largest binary unit with a value of at least one: `0 B`, `1.5 KiB`, `2.0 GiB`.
#[must_use]
pub fn bytes(count: u64) -> String {
    let mut size = count as f64;
    let mut units = ["KiB", "MiB", "GiB", "TiB"].into_iter();
    let mut unit = "B";
    while size >= 1024.0
        && let Some(next) = units.next()
    {
        (size, unit) = (size / 1024.0, next);
    }
    if unit == "B" {
        format!("{count} B")
    } else {
        format!("{size:.1} {unit}")
    }
}

/// `3 nodes: 2 Softmax, 1 Squeeze`: the number of things, and of those of each kind; `name` makes
/// the name of a kind.
pub fn counted<K: Ord>(
    kinds: impl Iterator<Item = K>,
    noun: &str,
    name: impl Fn(K) -> String,
) -> String {
    let mut counts: BTreeMap<K, usize> = BTreeMap::new();
    for kind in kinds {
        *counts.entry(kind).or_default() += 1;
    }
    let all = plural(counts.values().sum(), noun);
    let counts: Vec<String> = counts
        .into_iter()
        .map(|(kind, count)| format!("{count} {}", name(kind)))
        .collect();
    if counts.is_empty() {
        all
    } else {
        format!("{all}: {}", counts.join(", "))
    }
}

/// One line per reason: its first node, and how many more nodes have it. An item is a node, its
/// reason, and the number of nodes, of which it is the first, that have the reason one after the
/// other.
pub fn write_reasons<'r>(
    text: &mut Shown,
    items: impl Iterator<Item = (&'r str, &'r str, usize)> + Clone,
) {
    let mut counts: HashMap<&str, usize> = HashMap::default();
    for (_, reason, nodes) in items.clone() {
        *counts.entry(reason).or_default() += nodes;
    }
    for (node, reason, _) in items {
        match counts.remove(reason) {
            Some(1) => text.push_line(format_args!("    {node}: {reason}")),
            Some(nodes) => {
                text.push_line(format_args!("    {node} and {} more: {reason}", nodes - 1))
            }
            None => {} // Reported with the first node.
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_the_width_unless_a_word_is_longer() {
        let cases: [(usize, &str, usize, &[&str]); 6] = [
            (0, "ab cd ef", 5, &["ab cd", "ef"]),
            (0, "ab cd ef", 4, &["ab", "cd", "ef"]),
            (3, "ab cd ef", 5, &["ab", "cd ef"]),
            (0, "abcdef gh", 3, &["abcdef", "gh"]),
            (9, "ab cd", 5, &["", "ab cd"]),
            (0, "", 5, &[""]),
        ];
        for (column, text, width, lines) in cases {
            assert_eq!(
                wrapped_after(column, text.split(' '), width),
                lines,
                "{text} after {column} in {width}"
            );
        }
    }

    #[test]
    fn sizes_are_formatted() {
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1536, "1.5 KiB"),
            (2 << 30, "2.0 GiB"),
            (5 << 50, "5120.0 TiB"),
        ];
        for (count, text) in cases {
            assert_eq!(bytes(count), text);
        }
    }
}
