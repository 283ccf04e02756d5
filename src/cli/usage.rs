//! Errors of the command line itself, help and version.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind as ClapError};
use clap::{ArgMatches, Command};

use super::exit_code::ExitCode;
use super::failures::{self, OnError};
use super::output::is_stdout;
use super::streams::{message, print, print_message};
use crate::base::choice::nearest;
use crate::base::printable::{self, Shown};
use crate::{DType, Error, ErrorKind};

/// Prints the message of the command-line parser: help and version to standard output, usage errors
/// to standard error, and also as the document that the arguments ask for.
pub fn print_usage(command: &Command, arguments: &[OsString], error: clap::Error) -> ExitCode {
    let error = with_tip(command, of_escaped(command, arguments, error));
    if error.use_stderr() {
        let text = error.render().to_string();
        let paragraph: Vec<&str> = text
            .lines()
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        let paragraph = paragraph.join(" ");
        let failure = Error::new(
            ErrorKind::Usage,
            paragraph.strip_prefix("error: ").unwrap_or(&paragraph),
        );
        on_error_of_words(command, arguments).report_as(Shown::lines(&text), failure);
        return ExitCode::from(2);
    }
    match print(Shown::help(&error.render().ansi().to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_message(message(failures::of_stdout(&error)));
            ExitCode::from(2)
        }
    }
}

/// The error with escaped arguments: its text has several lines, and a line break in an argument
/// must not begin another.
fn of_escaped(command: &Command, arguments: &[OsString], error: clap::Error) -> clap::Error {
    let escaped = arguments
        .iter()
        .map(|argument| printable::escaped(&argument.to_string_lossy()));
    command
        .clone()
        .try_get_matches_from(escaped)
        .err()
        .filter(|again| again.kind() == error.kind())
        .unwrap_or(error)
}

/// What people call the commands, and the command line that they mean.
const OTHER_NAMES: &[(&str, &[&str])] = &[
    (
        "recast fold --passes exact",
        &["simplify", "optimize", "optimise", "clean", "sim"],
    ),
    (
        "recast inspect",
        &["info", "show", "summary", "print", "stats", "view"],
    ),
    ("recast lint", &["check", "validate", "verify", "test"]),
    (
        "recast convert --opset N",
        &[
            "upgrade",
            "downgrade",
            "opset",
            "convert-version",
            "version-convert",
        ],
    ),
    (
        "recast precision --to FLOAT16",
        &["fp16", "half", "float16", "quantize", "autocast"],
    ),
    ("recast precision --to BFLOAT16", &["bf16", "bfloat16"]),
    ("recast diff", &["compare", "cmp"]),
    ("recast --version", &["version"]),
    ("recast --help", &["usage", "commands"]),
    (
        "recast fold, convert or precision with --external-data",
        &["externalize", "external-data", "save"],
    ),
];

/// What people call the options, and what they mean.
const OTHER_OPTIONS: &[(&str, &[&str])] = &[
    ("use `--format json`", &["--json", "--as-json"]),
    ("use `--format`", &["--output-format", "--report-format"]),
    ("use `--to FLOAT16`", &["--fp16", "--half", "--float16"]),
    ("use `--to BFLOAT16`", &["--bf16", "--bfloat16"]),
    (
        "use `--keep-op`",
        &[
            "--block-list",
            "--op-block-list",
            "--op_block_list",
            "--exclude-ops",
        ],
    ),
    (
        "use `--keep-node`",
        &["--node-block-list", "--node_block_list", "--exclude-nodes"],
    ),
    (
        "inputs and outputs keep their types by default; `--io convert` changes them",
        &["--keep-io", "--keep-io-types", "--keep_io_types"],
    ),
    (
        "use `--opset`",
        &[
            "--target-opset",
            "--opset-version",
            "--target_opset",
            "--to-opset",
        ],
    ),
    ("use `--select`", &["--rules", "--rule", "--enable"]),
    ("use `--ignore`", &["--disable", "--skip"]),
    (
        "use `--ignore-noqa` or `--add-noqa`",
        &["--noqa", "--no-qa"],
    ),
    (
        "an output that exists is replaced without an option",
        &["--force", "--overwrite", "--yes"],
    ),
    (
        "use `--no-verify`",
        &["--skip-verify", "--skip-check", "--no-check"],
    ),
    (
        "folders are searched with all folders in them",
        &["--recursive", "--recurse"],
    ),
    (
        "the model is an argument without an option",
        &["--input", "--model", "--in"],
    ),
    (
        "use `--external-data FILE`",
        &["--save-as-external-data", "--use-external-data"],
    ),
];

/// The error with the command or option that was meant, if there is none of a name.
fn with_tip(command: &Command, mut error: clap::Error) -> clap::Error {
    let tip = match (
        error.get(ContextKind::InvalidSubcommand),
        error.get(ContextKind::InvalidArg),
    ) {
        (Some(ContextValue::String(word)), _) => {
            let is_helped = error.get(ContextKind::SuggestedSubcommand).is_some();
            match tip(word) {
                None if is_helped => None,
                None => tip_of_similar(command, word),
                // It names another command, which is only spelt like this one.
                tip => {
                    error.remove(ContextKind::SuggestedSubcommand);
                    tip
                }
            }
        }
        (_, Some(ContextValue::String(word))) if error.kind() == ClapError::UnknownArgument => {
            let tip = tip_of_argument(word);
            if tip.is_some() {
                // It names another option, which is only spelt like this one.
                error.remove(ContextKind::SuggestedArg);
            }
            tip
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.insert(
            ContextKind::Suggested,
            ContextValue::StyledStrs(vec![tip.into()]),
        );
    }
    error
}

/// What was meant by an argument that the command does not have.
fn tip_of_argument(word: &str) -> Option<String> {
    let name = word.split('=').next().unwrap_or(word).to_ascii_lowercase();
    let other = OTHER_OPTIONS
        .iter()
        .find(|(_, names)| names.contains(&&*name));
    match other {
        Some((tip, _)) => Some((*tip).to_owned()),
        None if word.parse::<DType>().is_ok() => Some(format!("use `--to {word}`")),
        None => None,
    }
}

/// The command that is spelt like this.
fn tip_of_similar(command: &Command, word: &str) -> Option<String> {
    let names = command.get_subcommands().map(Command::get_name);
    nearest(word, names).map(|name| format!("a similar subcommand exists: '{name}'"))
}

fn tip(word: &str) -> Option<String> {
    let word = word.to_ascii_lowercase();
    if word.ends_with(".onnx") || word.ends_with(".onnxtxt") {
        return Some(
            "a command comes first, such as `recast inspect MODEL` or `recast fold MODEL -o OUT`"
                .to_owned(),
        );
    }
    if word == "fleet" {
        return Some(
            "`recast fleet` is a command of the Python package: pip install 'onnx-recast[fleet]'"
                .to_owned(),
        );
    }
    let (command, _) = OTHER_NAMES
        .iter()
        .find(|(_, names)| names.contains(&word.as_str()))?;
    Some(format!("use `{command}`"))
}

/// Where an error that ends the run of a command line is reported.
pub fn on_error(given: &ArgMatches) -> OnError {
    let Some((command, given)) = given.subcommand() else {
        return OnError::Text;
    };
    let value_of = |option: &str| {
        given
            .try_get_raw(option)
            .ok()
            .flatten()
            .and_then(Iterator::last)
    };
    // The differences that `lint --diff` prints are not a report.
    let format = value_of("format").filter(|_| {
        !given
            .try_get_one("diff")
            .ok()
            .flatten()
            .copied()
            .unwrap_or(false)
    });
    OnError::of(
        command,
        &format.unwrap_or_default().to_string_lossy(),
        value_of("output").is_some_and(|output| is_stdout(output.as_ref())),
    )
}

/// Where an error of arguments that cannot be parsed is reported: as their `--format` says.
fn on_error_of_words(command: &Command, arguments: &[OsString]) -> OnError {
    let words: Vec<_> = arguments
        .iter()
        .skip(1)
        .map(|argument| argument.to_string_lossy())
        .collect();
    let value_of = |option: &str| {
        let value =
            |(index, word): (usize, &_)| match AsRef::<str>::as_ref(word).strip_prefix(option)? {
                "" => words.get(index + 1).map(|value| value.to_string()),
                joined => joined.strip_prefix('=').map(str::to_owned),
            };
        words.iter().enumerate().find_map(value)
    };
    let Some(command) = words
        .iter()
        .find_map(|word| command.find_subcommand(&**word))
    else {
        return OnError::Text;
    };
    let output = ["-o", "--output"]
        .iter()
        .find_map(|option| value_of(option));
    OnError::of(
        command.get_name(),
        &value_of("--format").unwrap_or_default(),
        output.is_some_and(|output| is_stdout(output.as_ref())),
    )
}
