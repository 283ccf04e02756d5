//! The one error of a model that is not what ONNX says it should be, and how names that a model chose are told.

use std::borrow::Cow;

/// Something in a model is wrong, at a place in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", shown(.place), shown(.what))]
pub struct Invalid {
    /// Node path or the name of the entity: `graph/if_1.then_branch/cast_3`.
    pub place: String,
    /// What is wrong, and what to do if that is not plain.
    pub what: String,
}

impl Invalid {
    /// Something is wrong at `place`.
    pub fn at(place: impl Into<String>, what: impl ToString) -> Invalid {
        Invalid { place: place.into(), what: what.to_string() }
    }
}

/// Characters of a name that a path shows.
const LONGEST_NAME: usize = 200;

/// A name as it stands in a path. The paths of all that is inside repeat it: they would be as long as the model times the model if
/// one name could be as long as the model.
pub(crate) fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(LONGEST_NAME) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

/// A line for people. Whoever made the model chose its names: they may hold line breaks, orders to a terminal, and marks that turn
/// the direction of what follows, none of which may pass for a word of ours.
pub(crate) fn shown(line: &str) -> Cow<'_, str> {
    let speaks =
        |c: char| c.is_control() || matches!(c, '\u{200E}' | '\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if !line.contains(speaks) {
        return line.into();
    }
    let mut plain = String::with_capacity(line.len());
    for c in line.chars() {
        if speaks(c) { plain.extend(c.escape_debug()) } else { plain.push(c) }
    }
    plain.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_one_line_and_gives_no_orders() {
        let cases = [
            ("layers.0/'é'\\x", "layers.0/'é'\\x"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("\x1b[2J\u{9b}2J", "\\u{1b}[2J\\u{9b}2J"),
            ("a\u{202e}b\u{2028}c", "a\\u{202e}b\\u{2028}c"),
        ];
        for (line, expected) in cases {
            assert_eq!(shown(line), expected);
        }
    }
}
