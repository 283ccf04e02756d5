//! Which characters and sequences are escaped before text is printed.

/// Characters that are not printed as they are, besides control characters (C0, DEL, C1): Unicode's
/// line and paragraph separators, its interlinear annotations, and all of
/// `Default_Ignorable_Code_Point`, assigned or not. The latter are invisible: they reorder the text
/// around them (bidirectional marks, overrides, isolates), hide text (tags), or join and vary
/// characters (zero-width joiners, variation selectors). CI systems that compare by a culture's
/// rules skip them, so that `#`, a soft hyphen and `#[` would be a command. The price is that
/// joined emoji and some ligatures in names are shown as escapes.
const INVISIBLE: [(char, char); 19] = [
    ('\u{AD}', '\u{AD}'),
    ('\u{34F}', '\u{34F}'),
    ('\u{61C}', '\u{61C}'),
    ('\u{115F}', '\u{1160}'),
    ('\u{17B4}', '\u{17B5}'),
    ('\u{180B}', '\u{180F}'),
    ('\u{200B}', '\u{200F}'),
    ('\u{2028}', '\u{202E}'),
    ('\u{2060}', '\u{206F}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{FE00}', '\u{FE0F}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFA0}', '\u{FFA0}'),
    ('\u{FFF0}', '\u{FFFB}'),
    ('\u{1BCA0}', '\u{1BCA3}'),
    ('\u{1D173}', '\u{1D17A}'),
    ('\u{E0000}', '\u{E00FF}'),
    ('\u{E0100}', '\u{E01EF}'),
    ('\u{E01F0}', '\u{E0FFF}'),
];

/// Whether a character is escaped wherever it is.
pub(super) fn is_unsafe(c: char) -> bool {
    match c {
        ' '..='~' => false,
        c if c.is_control() => true,
        c => INVISIBLE
            .iter()
            .any(|&(first, last)| (first..=last).contains(&c)),
    }
}

/// The characters that are escaped in text, as a character class of a regular expression of
/// JavaScript with the flag `u`: a page escapes what it shows of its JSON.
#[must_use]
pub fn escaped_characters() -> String {
    let control = [('\0', '\u{1F}'), ('\u{7F}', '\u{9F}')];
    let range = |&(first, last): &(char, char)| {
        format!("{}-{}", first.escape_unicode(), last.escape_unicode())
    };
    format!(
        "[{}]",
        control
            .iter()
            .chain(&INVISIBLE)
            .map(range)
            .collect::<String>()
    )
}

/// Whether a text consists of printable ASCII characters, as most do: then only commands are
/// escaped in it.
pub(super) fn is_plain(text: &str) -> bool {
    // Without an early end, so that many bytes are compared at once.
    text.bytes().fold(true, |is_plain, byte| {
        is_plain & matches!(byte, b' '..=b'~')
    })
}

/// Whether nothing is escaped in a line that consists of these parts. May be false for other lines
/// too.
pub(super) fn is_safe_line<'t>(mut parts: impl Iterator<Item = &'t str> + Clone) -> bool {
    let is_safe = |part: &str| is_plain(part) && !has_adjacent_hashes(part) && !part.ends_with('#');
    let first = parts
        .clone()
        .find_map(|part| part.bytes().find(|&byte| byte != b' '));
    first != Some(b':') && parts.all(is_safe)
}

/// Whether a text contains `##`, without which it contains no command of [`hash_commands`].
fn has_adjacent_hashes(text: &str) -> bool {
    let pairs = text.bytes().zip(text.bytes().skip(1));
    pairs.fold(false, |found, pair| found | (pair == (b'#', b'#')))
}

/// The places of characters whose escaping keeps a line from being a command of a CI system. GitHub
/// Actions and Azure Pipelines search the whole line for `##[` and `##vso[`, TeamCity for
/// `##teamcity[`: the first `#`. GitHub Actions reads `::` after blanks at the beginning of a line:
/// the first `:`.
pub(super) fn commands(line: &str) -> impl Iterator<Item = usize> + '_ {
    let blanks = line.len() - line.trim_start().len();
    let workflow = line[blanks..].starts_with("::").then_some(blanks);
    workflow.into_iter().chain(hash_commands(line))
}

/// The places of `#` before another `#`, letters or none, and `[`.
pub(super) fn hash_commands(text: &str) -> impl Iterator<Item = usize> + '_ {
    text.match_indices('#')
        .map(|(place, _)| place)
        .filter(|&place| {
            let after = text[place + 1..].strip_prefix('#');
            after.is_some_and(|after| {
                after
                    .trim_start_matches(|c: char| c.is_ascii_alphanumeric())
                    .starts_with('[')
            })
        })
}

/// Splits text into parts that are printed as they are, each except the last with the character
/// after it, which is escaped; so are those at `marked` places, in ascending order.
pub(super) fn parts<'t>(
    text: &'t str,
    marked: &[usize],
) -> impl Iterator<Item = (&'t str, Option<char>)> {
    let is_plain = marked.is_empty() && is_plain(text);
    let mut marked = marked.iter().copied().peekable();
    let mut start = Some(0);
    std::iter::from_fn(move || {
        let begin = start.take()?;
        let mut rest = text[begin..]
            .char_indices()
            .map(|(place, c)| (begin + place, c));
        let is_escaped =
            |&(place, c): &(usize, char)| marked.next_if_eq(&place).is_some() || is_unsafe(c);
        let found = if is_plain {
            None
        } else {
            rest.find(is_escaped)
        };
        Some(match found {
            Some((end, c)) => {
                start = Some(end + c.len_utf8());
                (&text[begin..end], Some(c))
            }
            None => (&text[begin..], None),
        })
    })
}

/// The escape of a character in text for people, as in Rust: `\n`, `\u{1b}`.
pub(super) fn push_escape(text: &mut String, c: char) {
    match c {
        '\n' | '\r' | '\t' | '\0' => text.extend(c.escape_debug()),
        c => text.extend(c.escape_unicode()),
    }
}
