//! Standard output and standard error, or texts in memory in their place. Only this module writes
//! to them, except for models (`files::save`) and the progress bar, which contains numbers only.

#![expect(
    clippy::disallowed_methods,
    reason = "all text printed here is escaped"
)]

use std::cell::RefCell;
use std::io::{self, IsTerminal, Write};

use anstream::stream::{AsLockedWrite, RawStream};
use anstream::{AutoStream, ColorChoice};

use crate::base::printable::{Printed, Shown};
use crate::{Error, process};

/// The text that was written to the two streams.
#[derive(Default)]
pub struct Texts {
    /// Standard output.
    pub output: Vec<u8>,
    /// Standard error.
    pub errors: Vec<u8>,
}

thread_local! {
    /// The texts that this thread writes in place of the streams.
    static TEXTS: RefCell<Option<Texts>> = const { RefCell::new(None) };
}

/// Runs `work` with texts in place of the streams of this thread.
pub fn captured<T>(work: impl FnOnce() -> T) -> (T, Texts) {
    TEXTS.set(Some(Texts::default()));
    let result = work();
    (result, TEXTS.take().unwrap_or_default())
}

/// Appends to one of the texts; `Err` with the argument if the streams are those of the process.
fn append<'d>(
    printed: Printed<'d>,
    text: impl FnOnce(&mut Texts) -> &mut Vec<u8>,
) -> Result<io::Result<()>, Printed<'d>> {
    TEXTS.with_borrow_mut(|texts| match texts {
        Some(texts) => Ok(write(printed, ColorChoice::Never, text(texts), || {})),
        None => Err(printed),
    })
}

/// Prints a complete result to standard output. A broken pipe is not an error and does not change
/// the exit code.
///
/// # Errors
/// Any I/O error.
pub fn print<'d>(result: impl Into<Printed<'d>>) -> io::Result<()> {
    print_coloured(result, ColorChoice::Auto)
}

/// Like [`print`], with a choice of colours.
///
/// # Errors
/// Any I/O error.
pub fn print_coloured<'d>(result: impl Into<Printed<'d>>, colours: ColorChoice) -> io::Result<()> {
    let written = append(result.into(), |texts| &mut texts.output)
        .unwrap_or_else(|result| write(result, colours, io::stdout(), process::note_output));
    written.or_else(|error| {
        if error.kind() == io::ErrorKind::BrokenPipe {
            Ok(())
        } else {
            Err(error)
        }
    })
}

/// Prints a message, or a report while standard output holds a model, to standard error. Errors of
/// standard error are ignored.
pub fn print_message<'d>(message: impl Into<Printed<'d>>) {
    let _ = append(message.into(), |texts| &mut texts.errors)
        .unwrap_or_else(|message| write(message, ColorChoice::Auto, io::stderr(), || {}));
}

/// Writes to a stream; `begin` is called before the first byte is written.
fn write(
    printed: Printed,
    colours: ColorChoice,
    stream: impl RawStream + AsLockedWrite,
    begin: fn(),
) -> io::Result<()> {
    match printed {
        Printed::Text(text) => {
            begin();
            write_all(AutoStream::new(stream, colours), text.styled())
        }
        Printed::Parts(parts) => {
            begin();
            let mut out = AutoStream::new(stream, colours);
            match out.current_choice() {
                // The stream would write every piece between two styles by itself.
                ColorChoice::Never => parts.write_plain(&mut out.into_inner()),
                _ => parts.write_styled(&mut out),
            }
        }
        Printed::Document(document) => {
            // A document may be made while it is written, which can exceed the memory limit before
            // its first byte is written.
            let mut out = io::BufWriter::with_capacity(1 << 16, Beginning { stream, begin });
            document.write(&mut out)?;
            out.flush()
        }
    }
}

/// A stream that calls a function before it is written to.
struct Beginning<S> {
    stream: S,
    begin: fn(),
}

impl<S: Write> Write for Beginning<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.begin)();
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn write_all(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(text.as_bytes())?;
    stream.flush()
}

/// A one-line message: `recast: …`.
pub fn message(text: impl std::fmt::Display) -> Shown {
    Shown::line(format_args!("recast: {text}"))
}

/// The maximum width of text: longer lines are hard to read.
const WIDEST: usize = 100;

/// The minimum width of text: narrower terminals wrap lines themselves.
const NARROWEST: usize = 40;

/// Whether standard output is a terminal.
pub fn is_terminal() -> bool {
    TEXTS.with_borrow(Option::is_none) && io::stdout().is_terminal()
}

/// The width of text output, if standard output is a terminal.
pub fn text_width() -> Option<usize> {
    let terminal = if is_terminal() {
        terminal_size::terminal_size()
    } else {
        None
    };
    terminal.map(|(width, _)| usize::from(width.0).clamp(NARROWEST, WIDEST))
}

/// Reports errors on standard error, one per line.
pub fn print_errors(errors: &[Error]) {
    errors
        .iter()
        .for_each(|error| print_message(message(error)));
}
