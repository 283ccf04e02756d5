//! The folders of ARCHITECTURE.md: a folder uses the folders above it in the table only.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::import_cycles::{sources, sources_of_all_crates, tokens, uses_between_folders};
use crate::support::expect_no_failures;

/// The folders of `src/` in the order of ARCHITECTURE.md.
fn folders() -> Vec<String> {
    let text = fs::read_to_string("ARCHITECTURE.md").unwrap();
    let table = text
        .split("\n## Folders\n")
        .nth(1)
        .unwrap()
        .split("\nOutside of `src/`:")
        .next()
        .unwrap();
    table
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once("/` |")?.0.to_owned()))
        .collect()
}

#[test]
fn the_table_lists_all_folders() {
    let stated: BTreeSet<String> = folders().into_iter().collect();
    let entries = fs::read_dir("src")
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let found: BTreeSet<String> = entries
        .filter(|name| name != "lib.rs" && name != "main.rs")
        .collect();
    assert_eq!(stated, found);
}

#[test]
fn a_folder_uses_the_folders_above_it_only() {
    let folders = folders();
    let place = |folder: &str| folders.iter().position(|name| name == folder);
    let uses = uses_between_folders(&sources());
    assert!(uses.len() > 100, "only {} uses were found", uses.len());
    let wrong = uses
        .into_iter()
        .filter(|(from, to)| place(to) >= place(from));
    expect_no_failures(
        wrong
            .map(|(from, to)| {
                format!("src/{from} uses src/{to}, which is not above it in ARCHITECTURE.md")
            })
            .collect(),
    );
}

/// What the command uses of private modules: output, files, threads and the process, which belong
/// to a program. All else is public.
const PRIVATE_IN_COMMAND: [&str; 19] = [
    "api::explain_open",
    "api::is_text_model",
    "api::not_written",
    "base::choice::choice",
    "base::choice::nearest",
    "base::error::catch",
    "base::error::record_places",
    "base::memory_message",
    "base::parallel",
    "base::patterns",
    "base::printable",
    "files",
    "ops::schemas",
    "process",
    "protobuf::Layout",
    "protobuf::Piece",
    "protobuf::Pieces",
    "storage",
    "tensor_files",
];

#[test]
fn the_command_uses_public_items_and_few_others() {
    let root = fs::read_to_string("src/lib.rs").unwrap();
    let private: BTreeSet<&str> = root
        .lines()
        .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
        .collect();
    assert!(
        private.contains("files") && !private.contains("lint"),
        "{private:?}"
    );
    let (mut used, mut failures) = (BTreeSet::new(), Vec::new());
    for (file, text) in sources()
        .into_iter()
        .filter(|(file, _)| file.starts_with("src/cli"))
    {
        for path in text
            .split("use crate::")
            .skip(1)
            .flat_map(|rest| imported(rest.split(';').next().unwrap_or_default()))
        {
            if !private.contains(path.split("::").next().unwrap_or_default())
                || path.starts_with("report")
            {
                continue;
            }
            match PRIVATE_IN_COMMAND
                .into_iter()
                .find(|known| path == *known || path.starts_with(&format!("{known}::")))
            {
                Some(known) => drop(used.insert(known)),
                None => failures.push(format!("{}: uses {path}, which is private", file.display())),
            }
        }
    }
    failures.extend(
        PRIVATE_IN_COMMAND
            .iter()
            .filter(|known| !used.contains(*known))
            .map(|known| format!("nothing uses {known}")),
    );
    expect_no_failures(failures);
}

/// The paths of `a::{b, c}`, which are not nested deeper.
fn imported(tree: &str) -> Vec<String> {
    let (before, list) = tree.split_once('{').unwrap_or(("", tree));
    let names = list
        .trim_end_matches('}')
        .split(',')
        .map(|name| name.trim().trim_end_matches("::self"));
    names
        .filter(|name| !name.is_empty())
        .map(|name| format!("{before}{name}"))
        .map(|path| path.replace("::self", ""))
        .collect()
}

/// Each form in which `src/a/n.rs` uses `src/b` and `src/c`, or does not.
#[test]
fn uses_are_found_in_every_form() {
    let forms: [(&str, &[&str]); 14] = [
        ("use crate::b::X;", &["b"]),
        ("use crate::b;\nfn f() { b::g() }", &["b"]),
        ("use crate::{b::X, c};\nfn f(_: c::Y) {}", &["b", "c"]),
        ("use crate::{a::{m, M}, b::{X, n::{self, Z}}};", &["b"]),
        ("use crate::{b as other, c::Y as Z};", &["b", "c"]),
        ("use crate::b::*;", &["b"]),
        ("pub use crate::{b::X, c::Y};", &["b", "c"]),
        ("pub(crate) use crate::b::X;", &["b"]),
        ("use super::super::b::X;", &["b"]),
        ("use super::{super::{b::X, c::Y}, m};", &["b", "c"]),
        ("fn f() { super::super::b::g() }", &["b"]),
        ("impl crate::b::X for crate::c::Y {}", &["b", "c"]),
        (
            "mod inner {\n    use super::super::super::{b::X, c};\n}",
            &["b", "c"],
        ),
        (
            "// use crate::b::X;\nuse super::m; // crate::c\nconst TEXT: &str = \"crate::b::X\";",
            &[],
        ),
    ];
    let others = [
        ("a/mod.rs", "mod m; mod n;"),
        ("a/m.rs", "pub struct M;"),
        ("b/mod.rs", "pub mod n; pub struct X; pub fn g() {}"),
        ("b/n.rs", "pub struct Z;"),
        ("c/mod.rs", "pub struct Y;"),
    ];
    let mut failures = Vec::new();
    for (text, expected) in forms {
        let files = others.into_iter().chain([("a/n.rs", text)]);
        let files: Vec<_> = files
            .map(|(path, text)| (Path::new("src").join(path), text.to_owned()))
            .collect();
        let found = uses_between_folders(&files);
        let expected: BTreeSet<(String, String)> = expected
            .iter()
            .map(|folder| ("a".to_owned(), (*folder).to_owned()))
            .collect();
        if found != expected {
            failures.push(format!("{text}: {found:?}, not {expected:?}"));
        }
    }
    expect_no_failures(failures);
}

/// The words of a file that need or permit unsafe code: blocks, functions, implementations, and
/// attributes of any item.
fn unsafe_words(text: &str) -> usize {
    tokens(text)
        .iter()
        .filter(|token| matches!(token.as_str(), "unsafe" | "unsafe_code"))
        .count()
}

#[test]
fn only_casts_and_the_system_need_unsafe_code() {
    let allowed = ["crates/onnx-cast/src/cast", "src/process", "src/files"];
    let mut failures = Vec::new();
    for (file, text) in sources_of_all_crates() {
        if unsafe_words(&text) > 0 && !allowed.iter().any(|folder| file.starts_with(folder)) {
            failures.push(format!(
                "{}: contains or permits unsafe code",
                file.display()
            ));
        }
        let blocks = text.matches("unsafe {").count();
        let reasons = text.matches("// SAFETY:").count();
        if blocks > reasons {
            failures.push(format!(
                "{}: {blocks} unsafe blocks, {reasons} reasons",
                file.display()
            ));
        }
    }
    // Without this line, no attribute is needed.
    let manifest: toml::Table = fs::read_to_string("Cargo.toml").unwrap().parse().unwrap();
    if manifest["workspace"]["lints"]["rust"]["unsafe_code"].as_str() != Some("deny")
        || manifest["lints"]["workspace"].as_bool() != Some(true)
    {
        failures.push("Cargo.toml: unsafe code is not denied".to_owned());
    }
    expect_no_failures(failures);
}

#[test]
fn unsafe_code_is_found_in_every_form() {
    let forms = [
        ("unsafe { f() }", 1),
        ("unsafe impl Send for X {}", 1),
        ("#[unsafe(no_mangle)] fn f() {}", 1),
        ("#[allow(unsafe_code)]\nfn f() {}", 1),
        ("#[expect(unsafe_code, reason = \"\")]\nmod m {}", 1),
        ("#![allow(missing_docs, unsafe_code)]", 1),
        ("#[cfg_attr(unix, warn(unsafe_code))]\nimpl X {}", 1),
        (
            "/// No unsafe code: #[allow(unsafe_code)]\nconst TEXT: &str = \"unsafe\"; let unsafe_fixes = 1;",
            0,
        ),
    ];
    let wrong = forms
        .into_iter()
        .filter(|(text, expected)| unsafe_words(text) != *expected);
    expect_no_failures(
        wrong
            .map(|(text, _)| format!("{text}: {}", unsafe_words(text)))
            .collect(),
    );
}

/// The longest file that needs no reason to be so long.
const LONGEST: usize = 600;

#[test]
fn a_long_file_says_why_it_is_long() {
    let mut failures = Vec::new();
    for (file, text) in sources() {
        let lines = text.lines().count();
        let says_why = text
            .lines()
            .take_while(|line| line.starts_with("//!"))
            .any(|line| line.starts_with("//! Long because "));
        if lines > LONGEST && !says_why {
            failures.push(format!(
                "{}: {lines} lines; split it, or say in its head `Long because ..`",
                file.display()
            ));
        }
    }
    expect_no_failures(failures);
}
