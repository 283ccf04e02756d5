//! The help of the commands: options in groups, those that are required first, and with `-h` the
//! first sentence about each.

use clap::builder::StyledStr;
use clap::{Arg, ArgAction, Command};

/// A heading, and the options beneath it.
type Group = (&'static str, &'static [&'static str]);

/// The groups of options that several commands share. The other options are those of the command
/// itself.
const SHARED: &[Group] = &[
    ("Output", &["output", "out-dir", "in-place", "dry-run"]),
    (
        "Model",
        &[
            "freeze-initializers",
            "drop-metadata",
            "from-opset",
            "ir-version",
        ],
    ),
    (
        "Data files",
        &["external-data", "external-threshold", "allow-data-dir"],
    ),
    ("Verification", &["verify", "no-verify"]),
    ("Report", &["format", "report", "color"]),
    (
        "General",
        &["quiet", "verbose", "max-memory", "help", "version"],
    ),
];

/// Groups of one command, which come before the shared ones.
const OWN: &[(&str, &[Group])] = &[
    (
        "lint",
        &[
            (
                "Files",
                &["file-list", "exclude", "no-ignore", "allow-empty", "strict"],
            ),
            (
                "Rules",
                &[
                    "select",
                    "extend-select",
                    "ignore",
                    "per-file-ignores",
                    "severity",
                    "target",
                    "ignore-noqa",
                    "show-overlapping",
                ],
            ),
            (
                "Configuration",
                &["config", "isolated", "baseline", "write-baseline"],
            ),
            ("Fixes", &["fix", "add-noqa", "diff", "unsafe-fixes"]),
            ("Report", &["output", "statistics"]),
            ("Exit code", &["fail-on", "exit-zero"]),
        ],
    ),
    (
        "precision",
        &[
            (
                "Types",
                &[
                    "to",
                    "from",
                    "io",
                    "policy",
                    "weights-only",
                    "quantized",
                    "emulate",
                    "opset",
                    "target",
                ],
            ),
            (
                "Nodes and values",
                &[
                    "keep-op",
                    "keep-node",
                    "keep-value",
                    "also-op",
                    "also-node",
                    "only-op",
                    "only-node",
                    "assume",
                    "strict",
                ],
            ),
            (
                "Ranges",
                &["on-overflow", "on-underflow", "ranges", "range-limit"],
            ),
        ],
    ),
];

/// A command line whose help is arranged.
pub fn arranged(command: Command) -> Command {
    let command = with_help(command).mut_args(|arg| arranged_arg("", arg));
    command.mut_subcommands(|subcommand| {
        let name = subcommand.get_name().to_owned();
        with_help(subcommand).mut_args(|arg| arranged_arg(&name, arg))
    })
}

/// With options for the help and the version that have a group, too.
fn with_help(command: Command) -> Command {
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .action(ArgAction::Help)
        .help("Print the help; --help prints more than -h");
    let version = Arg::new("version")
        .short('V')
        .long("version")
        .action(ArgAction::Version)
        .help("Print the version");
    command
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args([help, version])
}

fn arranged_arg(command: &str, arg: Arg) -> Arg {
    let arg = match group_of(command, arg.get_long()) {
        Some(heading) => arg.help_heading(heading),
        None => arg,
    };
    let arg = if arg.is_required_set() && !arg.is_positional() {
        arg.display_order(0)
    } else {
        arg
    };
    let text = arg.get_help().map(StyledStr::to_string).unwrap_or_default();
    match first_sentence(&text) {
        Some(sentence) if arg.get_long_help().is_none() => {
            arg.help(sentence.to_owned()).long_help(text)
        }
        _ => arg,
    }
}

/// The heading of an option; none for the options of the command itself.
fn group_of(command: &str, option: Option<&str>) -> Option<&'static str> {
    let own = OWN
        .iter()
        .filter(|(name, _)| *name == command)
        .flat_map(|(_, groups)| *groups);
    let is_of = |group: &&Group| option.is_some_and(|option| group.1.contains(&option));
    own.chain(SHARED).find(is_of).map(|(heading, _)| *heading)
}

/// The first sentence or clause of a text that has more.
fn first_sentence(text: &str) -> Option<&str> {
    let ends = [". ", "; ", ": "]
        .into_iter()
        .filter_map(|end| text.find(end));
    ends.min().map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::run::Cli;

    #[test]
    fn every_option_of_a_group_exists() {
        let command = arranged(Cli::command());
        let has = |command: &Command, option: &str| {
            command
                .get_arguments()
                .any(|arg| arg.get_long() == Some(option))
        };
        let mut unknown = Vec::new();
        for option in SHARED.iter().flat_map(|(_, options)| *options) {
            let is_there = command
                .get_subcommands()
                .chain([&command])
                .any(|command| has(command, option));
            unknown.extend((!is_there).then_some(("", option)));
        }
        for (name, groups) in OWN {
            let command = command.find_subcommand(name).unwrap();
            let options = groups.iter().flat_map(|(_, options)| *options);
            unknown.extend(
                options
                    .filter(|option| !has(command, option))
                    .map(|option| (*name, option)),
            );
        }
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn the_short_help_has_one_line_for_each_option() {
        let command = arranged(Cli::command());
        let mut long = Vec::new();
        for subcommand in command.get_subcommands() {
            for arg in subcommand.get_arguments() {
                let help = arg.get_help().map(StyledStr::to_string).unwrap_or_default();
                if help.len() > 72 {
                    long.push(format!(
                        "{} {}: {help}",
                        subcommand.get_name(),
                        arg.get_id()
                    ));
                }
            }
        }
        assert!(long.is_empty(), "{long:#?}");
    }
}
