//! Lines and numbers as people read them.

use std::fmt;

use crate::error::shown;

/// Adds a line for people, which stays one line whatever the names in it are made of.
pub(super) fn line(text: &mut String, line: fmt::Arguments) {
    text.push_str(&shown(&line.to_string()));
    text.push('\n');
}

/// `1 cast`, `3 casts`.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A size in the largest unit of 1024 that leaves a whole number before the point: `0 B`, `1.5 KiB`, `2.0 GiB`.
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
    fn sizes_read_well() {
        let cases = [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (2 << 30, "2.0 GiB"), (5 << 50, "5120.0 TiB")];
        for (count, text) in cases {
            assert_eq!(bytes(count), text);
        }
        assert_eq!((plural(1, "cast"), plural(0, "cast")), ("1 cast".to_owned(), "0 casts".to_owned()));
    }
}
