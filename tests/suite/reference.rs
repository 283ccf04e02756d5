//! The manual and the command agree: commands, options, rules, passes, runtimes and exit codes.
//! `RECAST_BLESS=1 cargo test` writes the tables of codes in `docs/output.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use onnx_recast::internals::report::meanings;

use crate::command::recast;
use crate::support::expect_no_failures;

const REFERENCE: &str = "docs/commands.md";

/// Commands that can answer no, with arguments for which they do.
const NO: [(&str, &[&str]); 4] = [
    ("lint", &["models/fp8_qdq.onnx"]),
    (
        "convert",
        &["models/fp8_qdq.onnx", "--opset", "9", "--dry-run"],
    ),
    ("diff", &["models/fp8_qdq.onnx", "models/annotated.onnx"]),
    ("cast", &["nan.npy", "-o", "int8.npy", "--to", "INT8"]),
];

pub fn printed(arguments: &[&str]) -> String {
    let output = recast(arguments);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The commands that `recast --help` lists.
pub fn commands() -> Vec<String> {
    let help = printed(&["--help"]);
    let lines = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    lines
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

/// The long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words
        .filter(|word| word.len() > 3 && word.starts_with("--"))
        .map(str::to_owned)
        .collect()
}

/// The options in the help of a command, at the beginning of a line.
fn options_of(command: &str) -> BTreeSet<String> {
    let help = printed(&[command, "--help"]);
    help.lines()
        .filter_map(|line| {
            let line = line.trim_start();
            line.strip_prefix('-')
                .and_then(|short| short.get(1..))
                .and_then(|rest| rest.strip_prefix(", "))
                .or(Some(line))
        })
        .filter(|line| line.starts_with("--"))
        .flat_map(|line| options(line.split_whitespace().next().unwrap_or_default()))
        .collect()
}

/// The codes of all rules, and those that are enabled by default.
fn rules() -> (BTreeSet<String>, BTreeSet<String>) {
    let list = printed(&["explain"]);
    let rules: Vec<Vec<&str>> = list
        .lines()
        .filter(|line| line.starts_with("RC"))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let codes = |rules: &mut dyn Iterator<Item = &Vec<&str>>| {
        rules.map(|rule| rule[0].to_owned()).collect()
    };
    (
        codes(&mut rules.iter()),
        codes(&mut rules.iter().filter(|rule| rule[3] == "default")),
    )
}

/// README.md and the pages of the manual.
fn pages() -> Vec<PathBuf> {
    let manual = fs::read_dir("docs")
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut pages: Vec<PathBuf> = manual
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    pages.push("README.md".into());
    pages.sort();
    pages
}

/// The spans of code in a page, outside of blocks.
fn code(page: &str) -> Vec<String> {
    let text: Vec<&str> = page.split("```").step_by(2).collect();
    text.join(" ")
        .split('`')
        .skip(1)
        .step_by(2)
        .map(|span| span.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect()
}

/// Compares a page with what it should be, or writes it.
pub fn expect_page(path: &str, found: &str) {
    if std::env::var_os("RECAST_BLESS").is_some() {
        fs::write(path, found).unwrap();
    }
    let expected = fs::read_to_string(path).unwrap_or_default();
    let difference = similar::TextDiff::from_lines(expected.as_str(), found)
        .unified_diff()
        .header(path, "found")
        .to_string();
    assert!(
        found == expected,
        "RECAST_BLESS=1 writes {path} anew\n{difference}"
    );
}

/// The tables of codes in `docs/output.md`: the heading, and the kind of the codes.
const TABLES_OF_CODES: [(&str, &str); 5] = [
    ("## Error codes", "an error"),
    (
        "### Reasons for casts that are not folded",
        "a reason why a cast is not folded",
    ),
    (
        "### Reasons for nodes and constants that are removed",
        "a reason why a pass removed a node or constant",
    ),
    (
        "### Reasons for nodes that cannot be converted",
        "a reason why a node cannot be converted",
    ),
    (
        "### Reasons for nodes that keep their types",
        "a reason why a node keeps its types",
    ),
];

#[test]
fn the_tables_of_codes_are_those_of_the_command() {
    const HEAD: &str = "| code | meaning |\n|---|---|\n";
    let path = "docs/output.md";
    let mut found = fs::read_to_string(path).unwrap();
    for (heading, of) in TABLES_OF_CODES {
        let rows = meanings().into_iter().filter(|meaning| meaning.of == of);
        let rows: String = rows
            .map(|row| format!("| `{}` | {} |\n", row.code, row.meaning))
            .collect();
        assert!(!rows.is_empty(), "no codes of {of}");
        let start = found
            .find(&format!("{heading}\n"))
            .unwrap_or_else(|| panic!("{path} has no heading '{heading}'"));
        let start = start + found[start..].find(HEAD).unwrap() + HEAD.len();
        let end = found[start..]
            .find("\n\n")
            .map_or(found.len(), |end| start + end + 1);
        found.replace_range(start..end, &rows);
    }
    let kinds: BTreeSet<&str> = meanings().iter().map(|meaning| meaning.of).collect();
    assert_eq!(kinds.len(), TABLES_OF_CODES.len(), "{kinds:?}");
    expect_page(path, &found);
}

#[test]
fn the_introduction_lists_all_commands() {
    let page = fs::read_to_string("docs/introduction.md").unwrap();
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| command |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let listed: BTreeSet<String> = table
        .flat_map(|row| code(row.split('|').nth(1).unwrap()))
        .collect();
    assert_eq!(listed, commands().into_iter().collect());
}

#[test]
fn the_manual_and_the_help_state_which_rules_are_enabled_by_default() {
    let (all, expected) = rules();
    let is_code = |text: &&str| text.starts_with("RC");
    for text in [
        fs::read_to_string("docs/lint.md").unwrap(),
        printed(&["lint", "--help"]),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (_, list) = text
            .split_once("Enabled by default: ")
            .expect("there is a list");
        let list = list.split_once(". ").unwrap().0;
        let mut stated = BTreeSet::new();
        for group in list.split("; ") {
            let mut codes = group.split(|c: char| !c.is_alphanumeric()).filter(is_code);
            let prefix = codes.next().expect("each part of the list names rules");
            let exceptions: Vec<&str> = codes.collect();
            stated.extend(
                all.iter()
                    .filter(|code| code.starts_with(prefix) && !exceptions.contains(&code.as_str()))
                    .cloned(),
            );
        }
        assert_eq!(stated, expected, "{list}");
    }
}

#[test]
fn the_manual_shows_all_settings_of_lint() {
    let source = fs::read_to_string("src/lint/config.rs").unwrap();
    let (_, table) = source.split_once("struct Table {\n").unwrap();
    let fields = table
        .lines()
        .take_while(|line| *line != "}")
        .filter_map(|line| line.trim().split_once(": "));
    let expected: BTreeSet<String> = fields.map(|(name, _)| name.replace('_', "-")).collect();
    let page = fs::read_to_string("docs/lint.md").unwrap();
    let (_, block) = page.split_once("```toml\n").unwrap();
    let lines = block.lines().take_while(|line| *line != "```");
    let settings = lines.filter_map(|line| {
        line.strip_prefix("[lint.")
            .map_or_else(|| line.split_once(" = "), |name| name.split_once(']'))
    });
    let shown: BTreeSet<String> = settings
        .map(|(name, _)| name.to_owned())
        .filter(|name| expected.contains(name))
        .collect();
    assert_eq!(shown, expected);
}

#[test]
fn the_table_of_tiers_lists_all_passes() {
    let page = fs::read_to_string("docs/passes.md").unwrap();
    let listed = printed(&["passes"]);
    let mut tier = "";
    let mut failures = Vec::new();
    let mut rows = 0;
    for line in listed.lines() {
        if !line.starts_with(' ') {
            tier = line.split(':').next().unwrap();
            rows += 1;
            continue;
        }
        let name = line.split_whitespace().next().unwrap();
        let row = page
            .lines()
            .find(|row| row.starts_with(&format!("| `{tier}` |")))
            .unwrap_or_default();
        if !code(row).contains(&name.to_owned()) || !page.contains(&format!("\n## {name}\n")) {
            failures.push(format!("{tier}, {name}: {row}"));
        }
    }
    assert_eq!(rows, 3);
    let passes = listed.lines().filter(|line| line.starts_with(' ')).count();
    let in_table = page.lines().filter(|row| {
        ["default", "exact", "lossy"]
            .iter()
            .any(|tier| row.starts_with(&format!("| `{tier}` |")))
    });
    assert_eq!(
        in_table.map(|row| code(row).len() - 1).sum::<usize>(),
        passes
    );
    expect_no_failures(failures);
}

#[test]
fn the_classes_of_blockers_have_all_their_codes() {
    let page = fs::read_to_string("docs/refused.md").unwrap();
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| class | codes |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let listed: Vec<String> = table
        .flat_map(|row| code(row.split('|').nth(2).unwrap()))
        .collect();
    let expected = meanings()
        .into_iter()
        .filter(|meaning| meaning.of.contains("cannot be converted"));
    let expected: BTreeSet<String> = expected.map(|meaning| meaning.code.to_owned()).collect();
    assert_eq!(
        (listed.len(), listed.into_iter().collect()),
        (expected.len(), expected)
    );
}

#[test]
fn the_table_of_constant_nodes_has_all_operators() {
    let page = fs::read_to_string("docs/passes.md").unwrap();
    let table = page
        .lines()
        .skip_while(|line| !line.starts_with("| family | operators |"))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let is_operator = |name: &String| name.starts_with(|c: char| c.is_uppercase());
    let listed: BTreeSet<String> = table.flat_map(code).filter(is_operator).collect();
    let mut expected = BTreeSet::new();
    for file in fs::read_dir("src/ops/compute").unwrap() {
        let path = file.unwrap().path();
        let source = if path.is_file() {
            fs::read_to_string(path).unwrap()
        } else {
            String::new()
        };
        let rows = source.lines().filter_map(|line| {
            line.trim_start()
                .strip_prefix("Operator::")?
                .split_once("(\"")
        });
        expected.extend(rows.filter_map(|(_, rest)| Some(rest.split_once('"')?.0.to_owned())));
    }
    assert_eq!(listed, expected);
}

#[test]
fn what_the_manual_names_exists() {
    let (rules, _) = rules();
    let commands = commands();
    let global = options(&printed(&["--help"]));
    let all: BTreeSet<String> = commands
        .iter()
        .flat_map(|command| options_of(command))
        .chain(global.clone())
        .collect();
    let mut failures = Vec::new();
    for path in pages().iter().filter(|path| *path != Path::new(REFERENCE)) {
        let page = fs::read_to_string(path).unwrap();
        let mut expect = |is_known: bool, name: &str| {
            if !is_known {
                failures.push(format!("{}: {name}", path.display()));
            }
        };
        let words = page.split(|c: char| !c.is_alphanumeric());
        for code in words.filter(|word| {
            word.len() == 5
                && word.starts_with("RC")
                && word[2..].chars().all(|c| c.is_ascii_digit())
        }) {
            expect(rules.contains(code), code);
        }
        // The Python command of fleets has options of its own.
        let is_fleet = path.ends_with("fleets.md") || path.ends_with("fleets-reference.md");
        for span in code(&page) {
            let Some(command) = span
                .strip_prefix("recast ")
                .map(|rest| rest.split(' ').next().unwrap())
            else {
                if span.starts_with("--") && !is_fleet {
                    options(&span)
                        .iter()
                        .for_each(|option| expect(all.contains(option), &span));
                }
                continue;
            };
            if command.starts_with('-') {
                options(&span)
                    .iter()
                    .for_each(|option| expect(global.contains(option), &span));
            } else if command != "COMMAND" && !(command == "fleet" && is_fleet) {
                expect(commands.contains(&command.to_owned()), &span);
                let known = if commands.contains(&command.to_owned()) {
                    options_of(command)
                } else {
                    BTreeSet::new()
                };
                options(&span)
                    .iter()
                    .for_each(|option| expect(known.contains(option), &span));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn the_help_states_exit_code_1_for_the_commands_that_can_end_with_it() {
    let folder = tempfile::tempdir().unwrap();
    let header = format!(
        "{:117}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }"
    );
    let npy = [
        b"\x93NUMPY\x01\0".as_slice(),
        &118_u16.to_le_bytes(),
        header.as_bytes(),
        &f32::NAN.to_le_bytes(),
    ]
    .concat();
    fs::write(folder.path().join("nan.npy"), npy).unwrap();
    std::os::unix::fs::symlink(
        fs::canonicalize("models").unwrap(),
        folder.path().join("models"),
    )
    .unwrap();
    let mut failures = Vec::new();
    for command in commands() {
        let no = NO.iter().find(|(name, _)| *name == command);
        let is_stated = printed(&[&command, "--help"]).contains("\n  1  ");
        if is_stated != no.is_some() {
            failures.push(format!("{command}: exit code 1 is stated: {is_stated}"));
        }
        if let Some((_, arguments)) = no {
            let mut run = std::process::Command::new(env!("CARGO_BIN_EXE_recast"));
            let output = run
                .arg(&command)
                .args(*arguments)
                .current_dir(folder.path())
                .output()
                .unwrap();
            if output.status.code() != Some(1) {
                failures.push(format!(
                    "{command}: {:?}, {}",
                    output.status.code(),
                    String::from_utf8_lossy(&output.stderr)
                ));
            }
        }
    }
    expect_no_failures(failures);
}
