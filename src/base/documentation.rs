//! Documentation that is the first comment of a source file.

/// The text of the leading `//!` comment of a source file, in Markdown.
#[must_use]
pub fn of_source(source: &str) -> String {
    let comment = source.lines().map_while(|line| line.strip_prefix("//!"));
    let text: Vec<&str> = comment.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    text.join("\n") + "\n"
}
