//! Formatting of text and numbers.

/// `1 cast`, `3 casts`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// Wraps text at `width` characters; longer words are not broken.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() >= width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
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
    if unit == "B" { format!("{count} B") } else { format!("{size:.1} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_plurals_are_formatted() {
        let cases = [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2 << 30, "2.0 GiB"), (5 << 50, "5120.0 TiB")];
        for (count, text) in cases {
            assert_eq!(bytes(count), text);
        }
        assert_eq!((plural(1, "cast"), plural(0, "cast")), ("1 cast".to_owned(), "0 casts".to_owned()));
    }
}
