//! Patterns of paths and of names.

use globset::{ErrorKind, Glob, GlobBuilder, GlobSet};

use super::error::shortened;

/// The number of braces in each other beyond which a pattern is refused. Its regular expression is
/// made and compiled by recursion.
const MOST_NESTED: usize = 32;

/// A pattern that is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid pattern '{}': {why}", shortened(.pattern))]
#[non_exhaustive]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
    /// Why it is not valid.
    pub why: String,
}

/// A pattern of paths: `*` and `?` match no `/`, `**` matches any folders, and `\` is a character
/// as any other.
///
/// # Errors
/// If the pattern is not valid.
pub fn of_paths(pattern: &str) -> Result<GlobSet, BadPattern> {
    let read = |pattern: &str| {
        GlobBuilder::new(pattern)
            .literal_separator(true)
            .backslash_escape(false)
            .build()
    };
    compiled([pattern], read)
}

/// Patterns of names: `*` and `?` match `/`, too, and `\` makes the next character an ordinary one.
///
/// # Errors
/// If one of the patterns is not valid.
pub fn of_names(patterns: &[String]) -> Result<GlobSet, BadPattern> {
    compiled(patterns.iter().map(String::as_str), Glob::new)
}

fn compiled<'p>(
    patterns: impl IntoIterator<Item = &'p str>,
    read: impl Fn(&str) -> Result<Glob, globset::Error>,
) -> Result<GlobSet, BadPattern> {
    let mut set = GlobSet::builder();
    for pattern in patterns {
        let bad = |why: String| BadPattern {
            pattern: pattern.to_owned(),
            why,
        };
        if nesting(pattern) > MOST_NESTED {
            return Err(bad(format!("more than {MOST_NESTED} braces are nested")));
        }
        let glob = read(pattern).map_err(|error| bad(reason(error.kind())))?;
        // A matcher of the glob itself panics if its regular expression is too large; a set returns
        // an error.
        GlobSet::new([&glob]).map_err(|error| bad(reason(error.kind())))?;
        set.add(glob);
    }
    set.build().map_err(|error| BadPattern {
        pattern: error.glob().unwrap_or_default().to_owned(),
        why: reason(error.kind()),
    })
}

fn reason(kind: &ErrorKind) -> String {
    match kind {
        // The regular expression is made by the crate: only its size can be wrong.
        ErrorKind::Regex(_) => "the pattern is too large".to_owned(),
        kind => kind.to_string(),
    }
}

/// The largest number of braces that are open at one place of a pattern.
fn nesting(pattern: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in pattern.bytes() {
        match byte {
            b'{' => open += 1,
            b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        most = most.max(open);
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_cannot_be_compiled_are_refused() {
        let nested = |count: usize| format!("{}a{}", "{a,".repeat(count), "}".repeat(count));
        let cases = [
            ("the deepest", nested(MOST_NESTED), None),
            (
                "one deeper",
                nested(MOST_NESTED + 1),
                Some("more than 32 braces are nested"),
            ),
            (
                "too deep for the stack",
                nested(100_000),
                Some("more than 32 braces are nested"),
            ),
            ("one after the other", "{a,b}".repeat(100), None),
            (
                "a class without an end",
                "[a".to_owned(),
                Some("unclosed character class"),
            ),
            (
                "a large regular expression",
                "[ab]".repeat(200_000),
                Some("the pattern is too large"),
            ),
        ];
        let mut failures = Vec::new();
        for (name, pattern, expected) in cases {
            for found in [of_paths(&pattern), of_names(std::slice::from_ref(&pattern))] {
                let why = found.err().map(|error| error.why);
                let is_expected = match expected {
                    Some(part) => why.as_ref().is_some_and(|why| why.contains(part)),
                    None => why.is_none(),
                };
                if !is_expected {
                    failures.push(format!("{name}: {why:?}"));
                }
            }
        }
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    #[test]
    fn slashes_and_backslashes_are_those_of_paths_or_of_names() {
        let cases = [
            ("a*", "a/b", false, true),
            ("a\\*", "a*", false, true),
            ("**/b", "a/b", true, true),
            ("{a,b}", "b", true, true),
        ];
        for (pattern, text, in_paths, in_names) in cases {
            assert_eq!(
                of_paths(pattern).unwrap().is_match(text),
                in_paths,
                "{pattern} as a path"
            );
            assert_eq!(
                of_names(&[pattern.to_owned()]).unwrap().is_match(text),
                in_names,
                "{pattern} as a name"
            );
        }
    }
}
