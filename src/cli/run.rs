//! The command line as a whole: its commands, and what is caught around each run.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use super::exit_code::ExitCode;
use super::failures::OnError;
use super::options::{Messages, all_exit_codes};
use super::{
    cast, completions, convert, diff, explain, failures, files, fold, help, inspect, lint, memory,
    passes, precision, report, targets, usage,
};
use crate::base::error::{catch, record_places};

/// Rewrite ONNX models exactly and losslessly: fold casts, convert opsets, change precision, lint
/// casts
#[derive(Parser)]
#[command(name = "recast", version, propagate_version = true, after_help = format!("Examples:
  recast inspect model.onnx
  recast lint models
  recast fold model.onnx -o folded.onnx
  recast convert model.onnx --opset 21 -o model21.onnx
  recast precision model.onnx --to FLOAT16 -o model16.onnx
  recast diff model.onnx folded.onnx
  recast report model.onnx -o model.html

{}", all_exit_codes()))]
pub(super) struct Cli {
    #[command(subcommand)]
    command: Subcommands,
    #[command(flatten)]
    messages: Messages,
    /// Memory limit, excluding mapped files; a run that needs more fails with exit code 2. Accepts
    /// the suffixes K, M and G (powers of 1024). Default: 8G or three quarters of the available
    /// memory, whichever is less
    #[arg(long, value_name = "BYTES", global = true, value_parser = files::parse_bytes, allow_negative_numbers = true)]
    max_memory: Option<u64>,
}

#[derive(Subcommand)]
enum Subcommands {
    Fold(fold::Fold),
    Lint(Box<lint::Lint>),
    Explain(explain::Explain),
    Passes(passes::ListPasses),
    Targets(targets::ListTargets),
    Convert(convert::Convert),
    Precision(Box<precision::Precision>),
    Inspect(inspect::Inspect),
    Diff(diff::Diff),
    Report(report::Report),
    Cast(cast::CastFile),
    Completions(completions::Completions),
}

/// Parses and runs a command line; prints its errors and its help. The first argument is the name of
/// the command.
#[must_use]
pub fn main_with(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = cast::with_negative_last(arguments.into_iter().collect());
    // The help is arranged if it is needed: most runs do without.
    let parsed = Cli::command()
        .try_get_matches_from(&arguments)
        .and_then(|given| Ok((Cli::from_arg_matches(&given)?, given)));
    match parsed {
        Ok((cli, given)) => run(cli, usage::on_error(&given)),
        Err(error) => usage::print_usage(&command(), &arguments, error),
    }
}

/// The command line, with its help arranged.
fn command() -> clap::Command {
    help::arranged(Cli::command())
}

/// Runs the command and returns its exit code.
fn run(cli: Cli, on_error: OnError) -> ExitCode {
    let messages = cli.messages;
    memory::set_limit(cli.max_memory, on_error);
    record_places();
    let result = catch(|| match cli.command {
        Subcommands::Fold(fold) => fold.run(messages),
        Subcommands::Lint(lint) => lint.run(messages),
        Subcommands::Explain(explain) => explain.run(messages, Cli::command),
        Subcommands::Passes(passes) => passes.run(messages),
        Subcommands::Targets(targets) => targets.run(messages),
        Subcommands::Convert(convert) => convert.run(messages),
        Subcommands::Precision(precision) => precision.run(messages),
        Subcommands::Inspect(inspect) => inspect.run(messages),
        Subcommands::Diff(diff) => diff.run(messages),
        Subcommands::Report(report) => report.run(messages),
        Subcommands::Cast(cast) => cast.run(messages),
        Subcommands::Completions(completions) => completions.run(command()),
    });
    result
        .map_err(anyhow::Error::from)
        .flatten()
        .unwrap_or_else(|error| {
            on_error.report(failures::of(error));
            ExitCode::from(2)
        })
}
