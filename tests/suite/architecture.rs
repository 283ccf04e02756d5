//! The layers of ARCHITECTURE.md: a module uses modules of lower layers only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::expect_no_failures;

/// The modules of each layer, the lowest first.
const LAYERS: [&[&str]; 16] = [
    &["choice", "documentation", "dtype", "error", "hash", "ir_version", "parallel", "shown"],
    &["control", "files", "minifloat", "packed"],
    &["wire"],
    &["cast", "formats"],
    &["tensor"],
    &["text"],
    &["graph"],
    &["external", "facts"],
    &["compute"],
    &["folding"],
    &["casts"],
    &["cast_file", "convert", "diff", "inspect", "lint", "passes"],
    &["verify"],
    &["api"],
    &["report"],
    &["cli"],
];

fn layers() -> BTreeMap<&'static str, usize> {
    LAYERS.iter().enumerate().flat_map(|(layer, modules)| modules.iter().map(move |&module| (module, layer))).collect()
}

/// All files of Rust in a folder.
pub fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

#[test]
fn a_module_uses_lower_layers_only() {
    let layers = layers();
    let mut files = Vec::new();
    source_files(Path::new("src"), &mut files);
    let mut failures = Vec::new();
    for file in files {
        let module = file.components().nth(1).unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        let Some(&layer) = layers.get(module.as_str()) else {
            failures.push(format!("{}: module '{module}' is not in any layer", file.display()));
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        for (line, used) in text.lines().enumerate().flat_map(|(line, text)| modules_used(text).map(move |used| (line, used))) {
            match layers.get(used) {
                _ if used == module => {}
                Some(&below) if below < layer => {}
                Some(_) => failures.push(format!("{}:{}: uses {used}, which is not below {module}", file.display(), line + 1)),
                None => failures.push(format!("{}:{}: uses {used}, which is not in any layer", file.display(), line + 1)),
            }
        }
    }
    expect_no_failures(failures);
}

/// The modules that a line names as `crate::module`. The names at the root of the crate, `crate::Model`, are those of `api`.
fn modules_used(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or("");
    let names =
        code.split("crate::").skip(1).map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""));
    names.map(|name| if name.starts_with(|c: char| c.is_lowercase()) { name } else { "api" })
}

#[test]
fn only_cast_and_wire_contain_unsafe_code() {
    let mut files = Vec::new();
    source_files(Path::new("src"), &mut files);
    let allowed = |file: &Path| file.starts_with("src/cast") || file.starts_with("src/wire");
    let mut failures = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        if text.contains("#![allow(unsafe_code)]") && !allowed(&file) {
            failures.push(format!("{}: allows unsafe code", file.display()));
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
    let mut files = Vec::new();
    source_files(Path::new("src"), &mut files);
    let mut failures = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().count();
        let says_why = text.lines().take_while(|line| line.starts_with("//!")).any(|line| line.starts_with("//! Long because "));
        if lines > LONGEST && !says_why {
            failures.push(format!("{}: {lines} lines; split it, or say in its head `Long because ..`", file.display()));
        }
    }
    expect_no_failures(failures);
}
