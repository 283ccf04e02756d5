//! The command line: one file a command, which holds its options and runs it.

mod cast;
mod completions;
mod convert;
mod diff;
mod files;
mod fold;
mod inspect;
mod lint;
mod manual;
mod memory;
mod open_results;
mod progress;
mod rule;

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::error::shown;
use crate::wire;

/// Folds casts, converts opsets and lints casts of ONNX models, exactly and losslessly.
#[derive(Parser)]
#[command(name = "recast", version, propagate_version = true, after_help = format!("Examples:
  recast inspect model.onnx
  recast lint models
  recast fold model.onnx -o folded.onnx
  recast convert model.onnx --opset 21 -o model21.onnx
  recast diff model.onnx folded.onnx

{EXIT_CODES}"))]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    messages: Messages,
    /// End with exit code 2 when the run needs more memory than this, mapped files not counted; K, M, G are powers of 1024. Default: 8G
    /// or three quarters of the memory that is available, whichever is less
    #[arg(long, value_name = "BYTES", global = true, value_parser = files::parse_bytes)]
    max_memory: Option<u64>,
}

#[derive(Subcommand)]
enum Command {
    Fold(fold::Fold),
    Lint(Box<lint::Lint>),
    Rule(rule::ExplainRule),
    Convert(convert::Convert),
    Inspect(inspect::Inspect),
    Diff(diff::Diff),
    Cast(cast::CastFile),
    Completions(completions::Completions),
}

/// How much a run says.
#[derive(Args, Clone, Copy)]
struct Messages {
    /// Print no progress and nothing for people but errors; JSON and other formats for scripts are printed all the same
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print every node, not only sums
    #[arg(long, short, global = true)]
    verbose: bool,
}

/// What a result is printed as.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For scripts: one document a run, with a version
    Json,
}

const EXIT_CODES: &str = "Exit codes:
  0  done
  1  the answer is no: findings, differences, a conversion refused
  2  it could not be done: usage, unreadable or malformed input, I/O";

/// Runs the command. The exit code says whether the answer was yes.
///
/// # Errors
/// Where it could not be done.
pub fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    wire::set_memory_limit(cli.max_memory.unwrap_or_else(memory::default_limit));
    match cli.command {
        Command::Fold(fold) => fold.run(cli.messages),
        Command::Lint(lint) => lint.run(cli.messages),
        Command::Rule(rule) => rule.run(cli.messages),
        Command::Convert(convert) => convert.run(cli.messages),
        Command::Inspect(inspect) => inspect.run(cli.messages),
        Command::Diff(diff) => diff.run(cli.messages),
        Command::Cast(cast) => cast.run(cli.messages),
        Command::Completions(completions) => completions.run(),
    }
}

/// Prints a result to standard output, to its last byte.
fn print(result: &str) -> io::Result<()> {
    print_with(|out| out.write_all(result.as_bytes()))
}

/// Prints a result to standard output while it is made.
fn print_with(write: impl FnOnce(&mut io::BufWriter<io::StdoutLock<'static>>) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
    write(&mut out)?;
    out.flush()
}

/// Says something that is no result, on standard error. Lines after the first stand further in: what a name drags along with a line
/// break does not pass for a message. Where standard error is full or gone, nobody is there to be told.
pub fn say(message: impl Display) {
    let message = message.to_string().split('\n').map(shown).collect::<Vec<_>>().join("\n  ");
    writeln!(io::stderr(), "{message}").ok();
}
