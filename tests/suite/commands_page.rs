//! `docs/commands.md`: the help of all commands. An option that several commands share is described
//! once, and the exit codes are in one table.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::reference::{commands, expect_page, printed};

const PAGE: &str = "docs/commands.md";

const INTRODUCTION: &str = "# Command reference

The output of `recast COMMAND --help`, and the [rules](#rules) and [runtimes](#runtimes) that `recast explain` and `recast targets` list.
[Output formats](output.md) lists the codes of errors and reasons, and [Passes](passes.md) the passes. A test compares this page with the
command; `RECAST_BLESS=1 cargo test` writes it.

## Options of several commands

All commands have the options under `General`. The section of a command lists the others that it has by name.
";

const EXIT_CODES: &str = "
## Exit codes

| code | meaning |
|---|---|
";

const EXIT_CODES_OF_COMMANDS: &str = "
The commands with exit code 1:

| command | 0 | 1 | 2 |
|---|---|---|---|
";

/// The heading of the options that all commands have.
const GENERAL: &str = "General";

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct DescribedOption {
    heading: String,
    text: String,
}

impl DescribedOption {
    /// The long name, such as `--output`.
    fn name(&self) -> &str {
        let words = self
            .text
            .split(|c: char| c.is_whitespace() || "=[,".contains(c));
        words
            .into_iter()
            .find(|word| word.starts_with("--"))
            .expect("each option has a long name")
    }
}

/// The help of a command.
struct Help {
    /// The description, the usage and the arguments.
    start: String,
    options: Vec<DescribedOption>,
    exit_codes: Vec<(String, String)>,
    /// The examples and the notes.
    end: String,
}

impl Help {
    fn of(arguments: &[&str]) -> Help {
        let text = printed(arguments);
        let mut help = Help {
            start: String::new(),
            options: Vec::new(),
            exit_codes: Vec::new(),
            end: String::new(),
        };
        let mut heading = None;
        let mut lines = text.lines().map(str::trim_end).peekable();
        while let Some(line) = lines.next() {
            let starts_options = !is_indented_or_empty(line)
                && line.ends_with(':')
                && lines
                    .peek()
                    .is_some_and(|next| next.trim_start().starts_with('-'));
            if starts_options {
                heading = line.strip_suffix(':');
            } else if let Some(of) = heading.filter(|_| is_indented_or_empty(line)) {
                help.add_to_options(of, line);
            } else if line == "Exit codes:" {
                while let Some(next) = lines.next_if(|next| next.starts_with("  ")) {
                    let (code, meaning) = next.trim().split_once("  ").expect("a code");
                    help.exit_codes.push((code.to_owned(), meaning.to_owned()));
                }
            } else {
                heading = None;
                let part = if help.options.is_empty() {
                    &mut help.start
                } else {
                    &mut help.end
                };
                writeln!(part, "{line}").unwrap();
            }
        }
        help
    }

    fn add_to_options(&mut self, heading: &str, line: &str) {
        let text = line.trim_start();
        // Lists of values are indented more.
        let is_new = text.starts_with('-') && line.len() - text.len() <= "      ".len();
        if is_new {
            self.options.push(DescribedOption {
                heading: heading.to_owned(),
                text: String::new(),
            });
        }
        let option = self.options.last_mut().expect("a heading precedes options");
        writeln!(option.text, "{line}").unwrap();
    }
}

fn is_indented_or_empty(line: &str) -> bool {
    line.is_empty() || line.starts_with(' ')
}

/// What a command without arguments prints.
fn lines_of(command: &str) -> Vec<String> {
    let text = printed(&[command]);
    text.lines()
        .map(|line| line.trim_end().to_owned())
        .collect()
}

/// Options beneath their headings.
fn listed<'o>(options: impl IntoIterator<Item = &'o DescribedOption>) -> String {
    let mut text = String::new();
    let mut heading = "";
    for option in options {
        if option.heading != heading {
            heading = &option.heading;
            writeln!(text, "{heading}:").unwrap();
        }
        writeln!(text, "{}\n", option.text.trim_end()).unwrap();
    }
    text
}

fn block(text: &str) -> String {
    format!("```text\n{}\n```\n", text.trim_end())
}

/// The options that more than one of the commands has, in the order in which they are listed first.
fn shared_options(helps: &[(String, Help)]) -> Vec<DescribedOption> {
    let all = || helps.iter().flat_map(|(_, help)| &help.options);
    let mut counts: BTreeMap<&DescribedOption, usize> = BTreeMap::new();
    for option in all() {
        *counts.entry(option).or_default() += 1;
    }
    let mut headings: Vec<&str> = Vec::new();
    let mut shared: Vec<DescribedOption> = Vec::new();
    for option in all().filter(|option| counts[option] > 1) {
        if !shared.contains(option) {
            shared.push(option.clone());
        }
        if !headings.contains(&option.heading.as_str()) {
            headings.push(&option.heading);
        }
    }
    shared.sort_by_key(|option| {
        headings
            .iter()
            .position(|heading| *heading == option.heading)
    });
    shared
}

/// The section of a command.
fn section(name: &str, help: &Help, shared: &[DescribedOption]) -> String {
    let own = help
        .options
        .iter()
        .filter(|option| !shared.contains(option));
    let text = format!(
        "{}\n{}{}",
        help.start.trim_end(),
        own_text(own),
        help.end.trim()
    );
    let mut section = format!("\n## {name}\n\n{}", block(&text));
    let others: Vec<String> = help
        .options
        .iter()
        .filter(|option| option.heading != GENERAL && shared.contains(option))
        .map(|option| format!("`{}`", option.name()))
        .collect();
    if !others.is_empty() {
        writeln!(
            section,
            "\nIt also has these [options of several commands](#options-of-several-commands): {}.",
            others.join(", ")
        )
        .unwrap();
    }
    section
}

fn own_text<'o>(own: impl Iterator<Item = &'o DescribedOption>) -> String {
    let options = listed(own);
    if options.is_empty() {
        "\n".to_owned()
    } else {
        format!("\n{options}")
    }
}

/// The codes of `recast --help`, and those of the commands that have three.
fn exit_codes(recast: &Help, helps: &[(String, Help)]) -> String {
    let mut text = EXIT_CODES.to_owned();
    for (code, meaning) in &recast.exit_codes {
        writeln!(text, "| {code} | {meaning} |").unwrap();
    }
    text.push_str(EXIT_CODES_OF_COMMANDS);
    for (name, help) in helps {
        if let [(_, yes), (_, no), (_, error)] = help.exit_codes.as_slice() {
            writeln!(text, "| `{name}` | {yes} | {no} | {error} |").unwrap();
        }
    }
    text
}

#[test]
fn the_reference_is_what_the_command_prints() {
    let recast = Help::of(&["--help"]);
    let helps: Vec<(String, Help)> = commands()
        .into_iter()
        .map(|command| {
            let help = Help::of(&[&command, "--help"]);
            (command, help)
        })
        .collect();
    for (command, help) in &helps {
        assert!(!help.exit_codes.is_empty(), "{command} has no exit codes");
    }
    let shared = shared_options(&helps);
    let mut found = format!("{INTRODUCTION}\n{}", block(&listed(&shared)));
    found.push_str(&exit_codes(&recast, &helps));
    found.push_str(&section("recast", &recast, &shared));
    for (command, help) in &helps {
        found.push_str(&section(&format!("recast {command}"), help, &shared));
    }
    let rules: Vec<String> = lines_of("explain")
        .into_iter()
        .take_while(|line| !line.is_empty())
        .collect();
    for (heading, lines) in [("Rules", rules), ("Runtimes", lines_of("targets"))] {
        write!(found, "\n## {heading}\n\n{}", block(&lines.join("\n"))).unwrap();
    }
    expect_page(PAGE, &found);
}
