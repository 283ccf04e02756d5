//! Output for programs: JSON, XML, scripts, HTML pages.

use std::fmt;
use std::io::{self, Write as _};

use serde::Serialize;
use serde_json::ser::{CharEscape, CompactFormatter, Formatter, PrettyFormatter};

use super::escape;

/// A document for programs. Characters that are escaped in text for people are written with the
/// escapes of the document's format, so that a program reads the original characters. The document
/// is formatted while it is written: all of it may take much more memory than the formatted value.
pub struct Document<'d>(Box<Write<'d>>);

type Write<'d> = dyn Fn(&mut dyn io::Write) -> io::Result<()> + 'd;

/// Takes the parts of an XML document, one after the other.
pub type PutXml<'p> = dyn FnMut(&str) -> io::Result<()> + 'p;

/// A text that would have to be escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the text contains {0:?}, which has no escape in it")]
pub struct Unprintable(char);

impl<'d> Document<'d> {
    /// A value as JSON, in several lines.
    #[must_use]
    pub fn json(value: impl Serialize + 'd) -> Document<'d> {
        Document::new(move |out| {
            buffered(out, |out| write_json(&value, PrettyFormatter::new(), out))
        })
    }

    /// Values as JSON, each in one line.
    #[must_use]
    pub fn json_lines<I: IntoIterator<Item: Serialize>>(
        values: impl Fn() -> I + 'd,
    ) -> Document<'d> {
        Document::new(move |out| {
            buffered(out, |out| {
                values()
                    .into_iter()
                    .try_for_each(|value| write_json(&value, CompactFormatter, out))
            })
        })
    }

    /// An HTML page with a value as JSON between two parts of it. The parts are those of the
    /// command itself. The JSON has no character that HTML interprets: text of a model cannot end
    /// the element that contains it.
    #[must_use]
    pub fn page(before: String, value: impl Serialize + 'd, after: String) -> Document<'d> {
        Document::new(move |out| {
            out.write_all(before.as_bytes())?;
            buffered(out, |out| {
                write_escaped(
                    &value,
                    Escaping::new(CompactFormatter, in_page, LONGEST_IN_PAGE),
                    out,
                )
            })?;
            out.write_all(after.as_bytes())
        })
    }

    /// An XML document, whose parts, each of whole lines, `make` passes on. Special characters in
    /// its attributes and text become numeric references, or U+FFFD where XML has none; the names
    /// of elements and attributes must not have any.
    #[must_use]
    pub fn xml(make: impl Fn(&mut PutXml) -> io::Result<()> + 'd) -> Document<'d> {
        Document::new(move |out| make(&mut |xml| out.write_all(escaped_xml(xml).as_bytes())))
    }

    fn new(write: impl Fn(&mut dyn io::Write) -> io::Result<()> + 'd) -> Document<'d> {
        Document(Box::new(write))
    }

    /// Writes the document.
    ///
    /// # Errors
    /// Any error of the writer.
    pub fn write(&self, out: &mut dyn io::Write) -> io::Result<()> {
        (self.0)(out)
    }
}

impl Document<'static> {
    /// A script or page that the command makes of its own options: it has nothing to escape, except
    /// tabs.
    ///
    /// # Errors
    /// If there is something to escape.
    pub fn script(text: String) -> Result<Document<'static>, Unprintable> {
        match text
            .chars()
            .find(|&c| escape::is_unsafe(c) && !matches!(c, '\t' | '\n'))
        {
            Some(c) => Err(Unprintable(c)),
            None => Ok(Document::new(move |out| out.write_all(text.as_bytes()))),
        }
    }
}

fn escaped_xml(xml: &str) -> String {
    let mut document = String::new();
    for line in xml.split_inclusive('\n') {
        let (line, end) = line
            .strip_suffix('\n')
            .map_or((line, ""), |line| (line, "\n"));
        let marked: Vec<usize> = escape::commands(line).collect();
        for (plain, escaped) in escape::parts(line, &marked) {
            document.push_str(plain);
            match escaped {
                Some(c @ ('\t' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)) => {
                    document.push_str(&format!("&#{};", u32::from(c)))
                }
                Some(_) => document.push('\u{FFFD}'),
                None => {}
            }
        }
        document.push_str(end);
    }
    document
}

/// A buffer in front of a writer. JSON consists of many short pieces, each of which would be a call
/// through a table of functions.
type Buffered<'o> = io::BufWriter<&'o mut dyn io::Write>;

fn buffered(
    out: &mut dyn io::Write,
    write: impl FnOnce(&mut Buffered) -> io::Result<()>,
) -> io::Result<()> {
    let mut buffered = io::BufWriter::with_capacity(1 << 16, out);
    write(&mut buffered)?;
    buffered.flush()
}

fn write_json(
    value: &impl Serialize,
    formatter: impl Formatter,
    out: &mut Buffered,
) -> io::Result<()> {
    write_escaped(
        value,
        Escaping::new(
            formatter,
            |fragment| escape::hash_commands(fragment).collect(),
            usize::MAX,
        ),
        out,
    )
}

fn write_escaped(
    value: &impl Serialize,
    formatter: Escaping<impl Formatter>,
    out: &mut Buffered,
) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut *out, formatter,
    ))?;
    out.write_all(b"\n")
}

/// The places of characters that HTML may interpret, even in a `<script>`: `</script>`, `<!--`,
/// `]]>`, `&lt;`; and those of commands, since a page can be printed to a log.
fn in_page(fragment: &str) -> Vec<usize> {
    let html = fragment
        .match_indices(['<', '>', '&'])
        .map(|(place, _)| place);
    let mut places: Vec<usize> = html.chain(escape::hash_commands(fragment)).collect();
    places.sort_unstable();
    places
}

impl fmt::Display for Document<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = Vec::new();
        self.write(&mut bytes).map_err(|_| fmt::Error)?;
        f.write_str(&String::from_utf8_lossy(&bytes))
    }
}

/// A formatter that writes special characters of strings as `\uXXXX`. No line of JSON begins with
/// `::`, but a command may be anywhere in a string.
struct Escaping<F> {
    formatter: F,
    /// The places of characters that are escaped besides those that are not printed as they are.
    marks: fn(&str) -> Vec<usize>,
    /// The bytes of a string that are written.
    longest: usize,
    /// The bytes of the current string so far.
    length: usize,
    /// A hash of those that are not written.
    hash: u64,
}

/// The bytes of a string in a page. A name may have megabytes, and be in the page many times.
const LONGEST_IN_PAGE: usize = 20_000;

impl<F> Escaping<F> {
    fn new(formatter: F, marks: fn(&str) -> Vec<usize>, longest: usize) -> Escaping<F> {
        Escaping {
            formatter,
            marks,
            longest,
            length: 0,
            hash: 0,
        }
    }

    /// Counts a part of a string, and returns what is written of it.
    fn within<'f>(&mut self, fragment: &'f str) -> &'f str {
        let room = self.longest.saturating_sub(self.length).min(fragment.len());
        let (written, rest) = fragment.split_at(fragment.floor_char_boundary(room));
        // FNV-1a: strings that begin equally stay different, and equal ones equal.
        self.hash = rest.bytes().fold(self.hash, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        self.length += fragment.len();
        written
    }
}

/// Methods that call those of the formatter inside.
macro_rules! pass_on {
    ($($method:ident($($first:ident)?))*) => {
        $(fn $method<W: ?Sized + io::Write>(&mut self, writer: &mut W $(, $first: bool)?) -> io::Result<()> {
            self.formatter.$method(writer $(, $first)?)
        })*
    };
}

impl<F: Formatter> Formatter for Escaping<F> {
    fn begin_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        (self.length, self.hash) = (0, 0xcbf2_9ce4_8422_2325);
        writer.write_all(b"\"")
    }

    fn end_string<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        if self.length > self.longest {
            write!(writer, "… ({} bytes, hash {:016x})", self.length, self.hash)?;
        }
        writer.write_all(b"\"")
    }

    fn write_char_escape<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        escape: CharEscape,
    ) -> io::Result<()> {
        match self.within("x") {
            "" => Ok(()),
            _ => self.formatter.write_char_escape(writer, escape),
        }
    }

    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let fragment = self.within(fragment);
        for (plain, escaped) in escape::parts(fragment, &(self.marks)(fragment)) {
            writer.write_all(plain.as_bytes())?;
            if let Some(c) = escaped {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }

    pass_on! {
        begin_array() end_array() begin_array_value(first) end_array_value()
        begin_object() end_object() begin_object_key(first) begin_object_value() end_object_value()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn json_escapes_what_text_escapes_and_reads_back_the_same() {
        let value =
            json!({ "a\u{202e}": ["##vso[x]", "::y \u{9b} \u{e0041} é \u{7f}\n\"\\ #\u{ad}#[z]"] });
        let line = Document::json_lines(|| [&value]);
        let expected = r##"{"a\u202e":["\u0023#vso[x]","::y \u009b \udb40\udc41 é \u007f\n\"\\ #\u00ad#[z]"]}"##;
        assert_eq!(line.to_string(), expected.to_owned() + "\n");
        for document in [line, Document::json(&value)] {
            assert_eq!(
                serde_json::from_str::<Value>(&document.to_string()).unwrap(),
                value
            );
        }
    }

    #[test]
    fn xml_has_references_or_replacements() {
        let xml = "<a b=\"\u{202e}\u{1b}\r\t##[x\u{85}\"/>\n  ::c\n";
        assert_eq!(
            Document::xml(|put| put(xml)).to_string(),
            "<a b=\"&#8238;\u{FFFD}&#13;&#9;&#35;#[x&#133;\"/>\n  &#58;:c\n"
        );
    }

    #[test]
    fn a_page_has_json_that_neither_html_nor_a_log_interprets() {
        let value = json!({ "</script>": "<!--<script>&amp;]]>\u{2028}\u{202e}\u{1}é", "##[a]": "##vso[b]<##teamcity[c]" });
        let page =
            Document::page("<script>".to_owned(), &value, "</script>".to_owned()).to_string();
        let json = page
            .strip_prefix("<script>")
            .unwrap()
            .strip_suffix("\n</script>")
            .unwrap();
        let expected = [
            r#"{"\u003c/script\u003e":"\u003c!--\u003cscript\u003e\u0026amp;]]\u003e\u2028\u202e\u0001é","#,
            r##""\u0023#[a]":"\u0023#vso[b]\u003c\u0023#teamcity[c]"}"##,
        ];
        assert_eq!(json, expected.concat());
        assert_eq!(serde_json::from_str::<Value>(json).unwrap(), value);
    }

    #[test]
    fn long_strings_of_a_page_are_shortened_and_stay_different() {
        let long = |end: &str| "\u{202e}\"é".repeat(LONGEST_IN_PAGE) + end;
        let value = json!({ long("a"): long("b"), "same": long("a") });
        let page = Document::page(String::new(), &value, String::new()).to_string();
        let read: Value = serde_json::from_str(&page).unwrap();
        let (key, other) = read
            .as_object()
            .unwrap()
            .iter()
            .find(|(key, _)| *key != "same")
            .unwrap();
        assert!(
            page.len() < 20 * LONGEST_IN_PAGE && key.ends_with(')'),
            "{} bytes",
            page.len()
        );
        assert_eq!(
            (read["same"].as_str(), other == &read["same"]),
            (Some(&**key), false)
        );
        assert_eq!(
            serde_json::from_str::<Value>(&Document::json(&value).to_string()).unwrap(),
            value
        );
    }

    #[test]
    fn a_script_has_nothing_to_escape() {
        assert_eq!(
            Document::script("a\tb\n".to_owned()).unwrap().to_string(),
            "a\tb\n"
        );
        assert_eq!(
            Document::script("a\x1b".to_owned()).err(),
            Some(Unprintable('\x1b'))
        );
    }
}
