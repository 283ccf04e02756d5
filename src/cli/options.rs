//! Options and text of several commands.

use std::str::FromStr;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use crate::UnknownName;

/// The verbosity of a run.
#[derive(Args, Clone, Copy)]
pub struct Messages {
    /// Print only errors and machine-readable output; no progress bar, no text report
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// List every node instead of totals
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

/// Whether outputs are verified before they replace anything.
#[derive(Args, Clone, Copy)]
pub struct Verify {
    /// Write outputs without verifying them. By default, each output is read again and compared
    /// with its input before it replaces anything
    #[arg(long)]
    no_verify: bool,
    /// Accepted for scripts that name the default
    #[arg(long, hide = true, conflicts_with = "no_verify")]
    verify: bool,
}

impl Verify {
    /// Whether outputs are verified.
    pub fn is_on(self) -> bool {
        !self.no_verify
    }
}

/// The output format of a result.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human-readable text
    Text,
    /// One versioned JSON document per run
    Json,
}

/// The parser of an option that has one of these values.
pub fn one_of<'n>(names: impl IntoIterator<Item = &'n &'static str>) -> PossibleValuesParser {
    PossibleValuesParser::new(names.into_iter().copied())
}

/// The parser of an option of the library.
pub fn chosen<T>(names: &[&'static str]) -> impl TypedValueParser<Value = T> + use<T>
where
    T: FromStr<Err = UnknownName> + Clone + Send + Sync + 'static,
{
    one_of(names).try_map(|name| name.parse())
}

/// The exit codes of a command whose answer is never no.
pub const EXIT_CODES: &str = "Exit codes:
  0  done
  2  error: usage, unreadable or malformed input, I/O";

/// The exit codes of a command, of which 1 is the answer no: what 0 and 1 mean.
pub fn exit_codes(yes: &str, no: &str) -> String {
    EXIT_CODES.replace("  0  done\n", &format!("  0  {yes}\n  1  {no}\n"))
}

/// The exit codes of all commands.
pub fn all_exit_codes() -> String {
    exit_codes(
        "done or clean",
        "findings, differences, an unsupported conversion, or a cast whose result ONNX does not define",
    )
}
