//! Output that is safe to print, and the only way to make it.
//!
//! The author of a model chooses its names and strings. Printed without escapes, they could control
//! a terminal, reorder or hide text, forge lines of output, or be commands to the CI system that
//! reads the log. [`Shown`] is text for people, [`Document`] is JSON, XML, a script or a page for
//! programs; both can only be made through functions that escape, and the functions that write to
//! standard output and standard error take nothing else.

mod document;
mod escape;
mod style;

pub use document::{Document, PutXml};
pub use escape::escaped_characters;
pub use style::{ADDED, ERROR, FAINT, INFO, PLAIN, REMOVED, STRONG, Style, WARNING};

use std::fmt::{self, Write as _};
use std::io;

use super::threshold::Threshold;

/// Text for people: lines without control characters or invisible characters, none of which is a
/// command of a CI system, except those that [`Shown::push_workflow_command`] makes. Styles are
/// added after the text was made safe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown(String);

impl Shown {
    /// Text of one line.
    #[must_use]
    pub fn line(line: fmt::Arguments) -> Shown {
        let mut shown = Shown::default();
        shown.push_line(line);
        shown
    }

    /// Text of several lines, each ended by `\n`.
    #[must_use]
    pub fn lines(text: &str) -> Shown {
        let mut shown = Shown::default();
        text.lines()
            .for_each(|line| shown.push_styled_line(&[(PLAIN, line)]));
        shown
    }

    /// The help of the command itself: as [`Shown::lines`], except that styles are kept.
    #[must_use]
    pub fn help(text: &str) -> Shown {
        let mut shown = Shown::default();
        for mut line in text.lines() {
            while let Some((before, sgr, after)) = style::split_at_sgr(line) {
                shown.push_part(before);
                shown.0.push_str(sgr);
                line = after;
            }
            shown.push_part(line);
            shown.0.push('\n');
        }
        shown
    }

    /// Adds a line. It stays one line even if the names in it contain line breaks.
    pub fn push_line(&mut self, line: fmt::Arguments) {
        let start = self.0.len();
        self.0.write_fmt(line).expect("a String takes everything");
        if escape::is_safe_line([&self.0[start..]].into_iter()) {
            return self.0.push('\n');
        }
        let line = self.0.split_off(start);
        self.push_styled_line(&[(PLAIN, &line)]);
    }

    /// Adds a line made of parts, each with a style.
    pub fn push_styled_line(&mut self, parts: &[(Style, &str)]) {
        let texts = parts.iter().map(|(_, text)| *text);
        let is_safe = escape::is_safe_line(texts.clone());
        let marked: Vec<usize> = if is_safe {
            Vec::new()
        } else {
            escape::commands(&texts.collect::<String>()).collect()
        };
        let mut start = 0;
        for (style, text) in parts {
            let marked: Vec<usize> = marked
                .iter()
                .filter_map(|place| place.checked_sub(start))
                .collect();
            if !text.is_empty() {
                self.0.push_str(style.start());
                if is_safe {
                    self.0.push_str(text)
                } else {
                    self.push_escaped(text, &marked)
                }
                self.0.push_str(style.end());
            }
            start += text.len();
        }
        self.0.push('\n');
    }

    /// Adds an empty line.
    pub fn push_blank_line(&mut self) {
        self.0.push('\n');
    }

    /// Adds a command of GitHub Actions: `::error file=model.onnx,title=RC101::message`.
    pub fn push_workflow_command(
        &mut self,
        command: &'static str,
        properties: &[(&'static str, &str)],
        message: &str,
    ) {
        // A line break would end the command; a colon or comma would end a property.
        let data = |text: &str| {
            text.replace('%', "%25")
                .replace('\r', "%0D")
                .replace('\n', "%0A")
        };
        let property = |(name, text): &(&str, &str)| {
            format!(
                "{name}={}",
                data(text).replace(':', "%3A").replace(',', "%2C")
            )
        };
        let properties: Vec<String> = properties.iter().map(property).collect();
        let rest = format!("{command} {}::{}", properties.join(","), data(message));
        let marked: Vec<usize> = escape::hash_commands(&rest).collect();
        self.0.push_str("::");
        self.push_escaped(&rest, &marked);
        self.0.push('\n');
    }

    /// Adds other text.
    pub fn append(&mut self, other: &Shown) {
        self.0.push_str(&other.0);
    }

    /// The text with styles, as escape sequences of ANSI terminals.
    #[must_use]
    pub fn styled(&self) -> &str {
        &self.0
    }

    /// The text between styles.
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let mut rest = Some(self.0.as_str());
        std::iter::from_fn(move || {
            let text = rest.take()?;
            let Some((before, _, after)) = style::split_at_sgr(text) else {
                return Some(text);
            };
            rest = Some(after);
            Some(before)
        })
    }

    fn push_escaped(&mut self, text: &str, marked: &[usize]) {
        for (plain, escaped) in escape::parts(text, marked) {
            self.0.push_str(plain);
            if let Some(c) = escaped {
                escape::push_escape(&mut self.0, c);
            }
        }
    }

    fn push_part(&mut self, text: &str) {
        let marked: Vec<usize> = escape::commands(text).collect();
        self.push_escaped(text, &marked);
    }
}

/// Text that is formatted while it is written: the whole text may take much more memory than the
/// formatted value.
pub struct Parts<'d>(Box<Make<'d>>);

type Make<'d> = dyn Fn(&mut Put) -> io::Result<()> + 'd;

/// Takes the parts of a text, one after the other.
pub type Put<'p> = dyn FnMut(&Shown) -> io::Result<()> + 'p;

impl<'d> Parts<'d> {
    /// Text whose parts `make` passes on.
    pub fn new(make: impl Fn(&mut Put) -> io::Result<()> + 'd) -> Parts<'d> {
        Parts(Box::new(make))
    }

    /// Writes and flushes the text with styles, as escape sequences of ANSI terminals.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write_styled(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.write(out, |part, text| text.push_str(part.styled()))
    }

    /// Writes and flushes the text without styles.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write_plain(&self, out: &mut dyn io::Write) -> io::Result<()> {
        self.write(out, |part, text| {
            part.pieces().for_each(|piece| text.push_str(piece))
        })
    }

    fn write(&self, out: &mut dyn io::Write, push: impl Fn(&Shown, &mut String)) -> io::Result<()> {
        // Standard output is flushed at every line.
        let mut waiting = String::new();
        (self.0)(&mut |part| {
            push(part, &mut waiting);
            if waiting.len() >= LONGEST_WAITING.get() {
                out.write_all(waiting.as_bytes())?;
                waiting.clear();
            }
            Ok(())
        })?;
        out.write_all(waiting.as_bytes())?;
        out.flush()
    }
}

/// The number of bytes of text that are written at a time.
const LONGEST_WAITING: Threshold = Threshold::new("waiting text", 1 << 16).or_zero();

/// The output of a command.
pub enum Printed<'d> {
    /// For people.
    Text(Shown),
    /// For people, and made while it is written.
    Parts(Parts<'d>),
    /// For programs.
    Document(Document<'d>),
}

impl Printed<'_> {
    /// Writes it without colours.
    ///
    /// # Errors
    /// Any error of `out`.
    pub fn write_plain(&self, out: &mut dyn io::Write) -> io::Result<()> {
        match self {
            Printed::Text(text) => text
                .pieces()
                .try_for_each(|piece| out.write_all(piece.as_bytes())),
            Printed::Parts(parts) => parts.write_plain(out),
            Printed::Document(document) => document.write(out),
        }
    }
}

impl From<Shown> for Printed<'_> {
    fn from(text: Shown) -> Self {
        Printed::Text(text)
    }
}

impl<'d> From<Parts<'d>> for Printed<'d> {
    fn from(parts: Parts<'d>) -> Self {
        Printed::Parts(parts)
    }
}

impl<'d> From<Document<'d>> for Printed<'d> {
    fn from(document: Document<'d>) -> Self {
        Printed::Document(document)
    }
}

/// Text without styles.
impl fmt::Display for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Printed::Text(text) => text.fmt(f),
            Printed::Parts(Parts(make)) => {
                make(&mut |part| write!(f, "{part}").map_err(io::Error::other))
                    .map_err(|_| fmt::Error)
            }
            Printed::Document(document) => document.fmt(f),
        }
    }
}

/// The text without styles.
impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|piece| f.write_str(piece))
    }
}

impl FromIterator<Shown> for Shown {
    fn from_iter<T: IntoIterator<Item = Shown>>(all: T) -> Shown {
        let mut shown = Shown::default();
        all.into_iter().for_each(|one| shown.append(&one));
        shown
    }
}

/// Part of a line, escaped, for text that is put into quotes of another language before it is
/// printed.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = Shown::default();
    let marked: Vec<usize> = escape::hash_commands(text).collect();
    shown.push_escaped(text, &marked);
    shown.0
}

/// ` (and 2 names more)`, after the first of some; empty if there are no others.
#[must_use]
pub fn and_more(others: usize, noun: &str) -> String {
    if others == 0 {
        String::new()
    } else {
        format!(" (and {} more)", plural(others, noun))
    }
}

/// `1 cast`, `3 casts`; a noun in -y has -ies.
#[must_use]
pub fn plural(count: usize, noun: &str) -> String {
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_are_plural_except_of_one() {
        let cases = [
            (1, "cast", "1 cast"),
            (0, "cast", "0 casts"),
            (1, "entry", "1 entry"),
            (2, "entry", "2 entries"),
        ];
        for (count, noun, text) in cases {
            assert_eq!(plural(count, noun), text);
        }
    }

    #[test]
    fn a_line_stays_one_line_and_is_no_command() {
        let cases = [
            ("layers.0/'é'\\x", "layers.0/'é'\\x"),
            ("a\nb\r\tc\0", "a\\nb\\r\\tc\\0"),
            ("\x1b[2J\u{9b}2J\x7f", "\\u{1b}[2J\\u{9b}2J\\u{7f}"),
            (
                "a\u{202e}b\u{2028}c\u{200d}d\u{e0041}\u{ad}",
                "a\\u{202e}b\\u{2028}c\\u{200d}d\\u{e0041}\\u{ad}",
            ),
            ("::error::x", "\\u{3a}:error::x"),
            (" \u{3000} ::error::x", " \u{3000} \\u{3a}:error::x"),
            ("a::b", "a::b"),
            (
                "##[error]x ##vso[task] ##teamcity[x]",
                "\\u{23}#[error]x \\u{23}#vso[task] \\u{23}#teamcity[x]",
            ),
            ("####[x #[ ## [", "##\\u{23}#[x #[ ## ["),
            ("#\u{ad}#[x", "#\\u{ad}#[x"),
        ];
        for (line, expected) in cases {
            assert_eq!(
                Shown::line(format_args!("{line}")).to_string(),
                format!("{expected}\n")
            );
        }
    }

    /// If the places of commands were searched for each character, this would take hours.
    #[test]
    fn a_line_of_many_commands_takes_time_in_proportion_to_its_length() {
        const COMMANDS: usize = 1 << 20;
        let line = "##[a]".repeat(COMMANDS);
        let (in_text, in_json) = (
            "\\u{23}#[a]".repeat(COMMANDS),
            "\\u0023#[a]".repeat(COMMANDS),
        );
        assert!(Shown::line(format_args!("{line}")).to_string() == in_text + "\n");
        assert!(Document::json_lines(|| [&line]).to_string() == format!("\"{in_json}\"\n"));
    }

    #[test]
    fn commands_are_found_across_the_parts_of_a_line() {
        let mut shown = Shown::default();
        shown.push_styled_line(&[
            (STRONG, " :"),
            (PLAIN, ":error::#"),
            (FAINT, ""),
            (STRONG, "#"),
            (PLAIN, "vso[x]\x1b[0m"),
        ]);
        assert_eq!(
            shown.to_string(),
            " \\u{3a}:error::\\u{23}#vso[x]\\u{1b}[0m\n"
        );
        assert!(shown.styled().starts_with("\x1b[1m "));
    }

    #[test]
    fn a_workflow_command_is_what_the_runner_decodes_to_its_parts() {
        let mut shown = Shown::default();
        shown.push_workflow_command("error", &[("file", "a:b,c%\n")], "x\r\n::y ##[z]\u{202e}");
        assert_eq!(
            shown.to_string(),
            "::error file=a%3Ab%2Cc%25%0A::x%0D%0A::y \\u{23}#[z]\\u{202e}\n"
        );
    }

    #[test]
    fn help_keeps_styles_and_nothing_else() {
        let help = Shown::help("\x1b[1m\x1b[4mUsage:\x1b[0m x\x1b[2J\n::y\n");
        assert_eq!(
            help.styled(),
            "\x1b[1m\x1b[4mUsage:\x1b[0m x\\u{1b}[2J\n\\u{3a}:y\n"
        );
    }
}
