//! Standard output and standard error. Nothing else writes to them, except models (`wire::save`) and the progress bar, which shows
//! numbers only.

#![expect(clippy::disallowed_methods, reason = "all that is printed here is safe to print")]

use std::io::{self, IsTerminal, Write};

use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};

use crate::report::Failure;
use crate::shown::{Printed, Shown};
use crate::wire;

/// Prints a result to standard output, to its last byte. If the reader of a pipe goes away, it has read enough: the answer of the run
/// is the same.
///
/// # Errors
/// Those of the operating system.
pub fn print<'d>(result: impl Into<Printed<'d>>) -> io::Result<()> {
    print_coloured(result, ColorChoice::Auto)
}

/// As [`print`], with colours if they are wanted.
///
/// # Errors
/// Those of the operating system.
pub fn print_coloured<'d>(result: impl Into<Printed<'d>>, colours: ColorChoice) -> io::Result<()> {
    wire::note_output();
    let written = write(result.into(), colours, io::stdout());
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Prints a message, or a report for which standard output has no room, to standard error. Errors there cannot be reported.
pub fn say<'d>(message: impl Into<Printed<'d>>) {
    let _ = write(message.into(), ColorChoice::Auto, io::stderr());
}

fn write(printed: Printed, colours: ColorChoice, stream: impl RawStream + AsLockedWrite) -> io::Result<()> {
    match printed {
        Printed::Text(text) => write_all(AutoStream::new(stream, colours), text.styled()),
        Printed::Parts(parts) => {
            let mut out = AutoStream::new(stream, colours);
            parts.write(&mut out)?;
            out.flush()
        }
        Printed::Document(document) => {
            let mut out = io::BufWriter::with_capacity(1 << 16, stream);
            document.write(&mut out)?;
            out.flush()
        }
    }
}

fn write_all(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// A message of one line: `recast: …`.
pub fn message(text: impl std::fmt::Display) -> Shown {
    Shown::line(format_args!("recast: {text}"))
}

/// The widest text: longer lines are hard to read.
const WIDEST: usize = 100;

/// The narrowest text: a narrower terminal breaks lines itself.
const NARROWEST: usize = 40;

/// The width of text for people, if standard output is a terminal.
pub fn text_width() -> Option<usize> {
    let terminal = if io::stdout().is_terminal() { terminal_size::terminal_size() } else { None };
    terminal.map(|(width, _)| usize::from(width.0).clamp(NARROWEST, WIDEST))
}

/// Reports errors on standard error, a line each.
pub fn say_failures(errors: &[Failure]) {
    errors.iter().for_each(|error| say(message(error)));
}
