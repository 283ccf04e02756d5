//! The house as ARCHITECTURE.md describes it: floors, no stairs upwards, no doors between rooms of a floor.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::expect_no_failures;

/// From the ground up: the rooms of each floor. A file uses its own room and the floors below.
const FLOORS: [&[&str]; 12] = [
    &["dtype", "error", "hash", "ir_version", "shown"],
    &["files", "minifloat", "packed"],
    &["wire"],
    &["cast", "formats"],
    &["tensor"],
    &["text"],
    &["graph"],
    &["external", "facts"],
    &["folding"],
    &["cast_file", "convert", "diff", "inspect", "lint", "passes"],
    &["report"],
    &["cli"],
];

fn floors() -> BTreeMap<&'static str, usize> {
    FLOORS.iter().enumerate().flat_map(|(floor, rooms)| rooms.iter().map(move |&room| (room, floor))).collect()
}

fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
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
fn no_file_uses_a_higher_floor_or_another_room_of_its_own() {
    let floors = floors();
    let mut files = Vec::new();
    source_files(Path::new("src"), &mut files);
    let mut failures = Vec::new();
    for file in files {
        let room = file.components().nth(1).unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        if matches!(room.as_str(), "lib" | "main") {
            continue;
        }
        let Some(&floor) = floors.get(room.as_str()) else {
            failures.push(format!("{}: the room '{room}' is on no floor", file.display()));
            continue;
        };
        let text = fs::read_to_string(&file).unwrap();
        for (line, used) in text.lines().enumerate().flat_map(|(line, text)| rooms_used(text).map(move |used| (line, used))) {
            match floors.get(used) {
                _ if used == room => {}
                Some(&below) if below < floor => {}
                Some(_) => failures.push(format!("{}:{}: uses {used}, which is not below {room}", file.display(), line + 1)),
                None => failures.push(format!("{}:{}: uses {used}, which is on no floor", file.display(), line + 1)),
            }
        }
    }
    expect_no_failures(failures);
}

/// The rooms that a line names as `crate::room`.
fn rooms_used(line: &str) -> impl Iterator<Item = &str> {
    let code = line.split("//").next().unwrap_or("");
    code.split("crate::").skip(1).map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))
}

#[test]
fn unsafe_code_stands_only_where_files_are_mapped_or_vectors_used() {
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
