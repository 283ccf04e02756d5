//! The folders of ARCHITECTURE.md: a folder uses the folders above it in the table only.

use std::collections::BTreeSet;
use std::fs;

use crate::import_cycles::{sources, tokens, uses_of_folders};
use crate::support::expect_no_failures;

/// The folders of `src/` in the order of ARCHITECTURE.md.
fn folders() -> Vec<String> {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let table = text.split("\n## Folders\n").nth(1).unwrap().split("\nOutside of `src/`:").next().unwrap();
    table.lines().filter_map(|line| Some(line.strip_prefix("| `")?.split_once("/` |")?.0.to_owned())).collect()
}

#[test]
fn the_table_lists_all_folders() {
    let stated: BTreeSet<String> = folders().into_iter().collect();
    let entries = fs::read_dir("src").unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = entries.filter(|name| name != "lib.rs" && name != "main.rs").collect();
    assert_eq!(stated, found);
}

#[test]
fn a_folder_uses_the_folders_above_it_only() {
    let folders = folders();
    let place = |folder: &str| folders.iter().position(|name| name == folder);
    let uses = uses_of_folders();
    assert!(uses.len() > 100, "only {} uses were found", uses.len());
    let wrong = uses.into_iter().filter(|(from, to)| place(to) >= place(from));
    expect_no_failures(
        wrong.map(|(from, to)| format!("src/{from} uses src/{to}, which is not above it in ARCHITECTURE.md")).collect(),
    );
}

/// What the command uses of private modules: output, files, threads and the process, which belong to a program. All else is public.
const PRIVATE_IN_COMMAND: [&str; 14] = [
    "api::explain_open",
    "api::is_text_model",
    "api::not_written",
    "api::tensor_files",
    "base::error::catch",
    "base::error::record_places",
    "base::parallel",
    "base::printable",
    "files",
    "ops::schemas",
    "process",
    "protobuf::Layout",
    "protobuf::Piece",
    "storage",
];

#[test]
fn the_command_uses_public_items_and_few_others() {
    let root = fs::read_to_string("src/lib.rs").unwrap();
    let private: BTreeSet<&str> = root.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';')).collect();
    assert!(private.contains("files") && !private.contains("lint"), "{private:?}");
    let (mut used, mut failures) = (BTreeSet::new(), Vec::new());
    for (file, text) in sources().into_iter().filter(|(file, _)| file.starts_with("src/cli")) {
        for path in text.split("use crate::").skip(1).flat_map(|rest| imported(rest.split(';').next().unwrap_or_default())) {
            if !private.contains(path.split("::").next().unwrap_or_default()) || path.starts_with("report") {
                continue;
            }
            match PRIVATE_IN_COMMAND.into_iter().find(|known| path == *known || path.starts_with(&format!("{known}::"))) {
                Some(known) => drop(used.insert(known)),
                None => failures.push(format!("{}: uses {path}, which is private", file.display())),
            }
        }
    }
    failures.extend(PRIVATE_IN_COMMAND.iter().filter(|known| !used.contains(*known)).map(|known| format!("nothing uses {known}")));
    expect_no_failures(failures);
}

/// The paths of `a::{b, c}`, which are not nested deeper.
fn imported(tree: &str) -> Vec<String> {
    let (before, list) = tree.split_once('{').unwrap_or(("", tree));
    let names = list.trim_end_matches('}').split(',').map(|name| name.trim().trim_end_matches("::self"));
    names.filter(|name| !name.is_empty()).map(|name| format!("{before}{name}")).map(|path| path.replace("::self", "")).collect()
}

#[test]
fn only_casts_and_the_system_need_unsafe_code() {
    let allowed = ["src/elements/cast", "src/process", "src/files"];
    let mut failures = Vec::new();
    for (file, text) in sources() {
        let uses = tokens(&text).iter().filter(|token| *token == "unsafe").count();
        if uses > 0 && !allowed.iter().any(|folder| file.starts_with(folder)) {
            failures.push(format!("{}: contains unsafe code", file.display()));
        }
        let blocks = text.matches("unsafe {").count();
        let reasons = text.matches("// SAFETY:").count();
        if blocks > reasons {
            failures.push(format!("{}: {blocks} unsafe blocks, {reasons} reasons", file.display()));
        }
    }
    expect_no_failures(failures);
}

/// The longest file that needs no reason to be so long.
const LONGEST: usize = 400;

#[test]
fn a_long_file_says_why_it_is_long() {
    let mut failures = Vec::new();
    for (file, text) in sources() {
        let lines = text.lines().count();
        let says_why = text.lines().take_while(|line| line.starts_with("//!")).any(|line| line.starts_with("//! Long because "));
        if lines > LONGEST && !says_why {
            failures.push(format!("{}: {lines} lines; split it, or say in its head `Long because ..`", file.display()));
        }
    }
    expect_no_failures(failures);
}
