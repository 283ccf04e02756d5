//! Numbers that only decide how something is computed are thresholds (`crates/onnx-cast/src/threshold.rs`),
//! which tests make small.

use std::collections::BTreeMap;

use crate::import_cycles::sources_of_all_crates;
use crate::support::expect_no_failures;

/// Words in the names of numbers that may be thresholds.
const WORDS: &[&str] = &[
    "BATCH", "BEHIND", "BLOCK", "CHUNK", "FEW", "FEWEST", "GRAIN", "GROUP", "LARGE", "LARGEST",
    "LEAST", "LINE", "LONGEST", "MOST", "NARROW", "NEAR", "PAGE", "PAGES", "PART", "PIECE",
    "SERIES", "SHORT", "SHORTEST", "SMALLEST", "WAVE", "WORTH",
];

/// Numbers that are not thresholds: a reason, and the numbers of a file or of all files of a
/// folder.
const OTHERS: &[(&str, &[&str])] = &[
    (
        "the length of an array of a kernel; tests/thresholds/writers.rs and the tests of the kernels walk lengths around it",
        &[
            "crates/onnx-cast/src/cast/number.rs BLOCK",
            "crates/onnx-cast/src/cast/sink.rs BLOCK",
        ],
    ),
    (
        "the length of the elements that begin and end at bytes in any packing",
        &["protobuf/recipe.rs GRAIN"],
    ),
    (
        "a property of processors, systems or encodings",
        &[
            "crates/onnx-cast/src/cast/stream.rs GROUP LINE NEAR PAGE PAGES",
            "files/folders/unix.rs MOST",
            "files/unix/memory.rs BLOCK",
            "protobuf/lossless.rs LONGEST_KEY",
            "process/unix/map.rs PAGE",
            "protobuf/mod.rs LARGEST_MESSAGE",
        ],
    ),
    (
        "the length of an array; nodes with more type variables are checked as those with a fault are",
        &["ops/validity/types.rs MOST_VARIABLES"],
    ),
    (
        "the growth of lists while a message is decoded",
        &["protobuf/lossless.rs SHORT_LIST"],
    ),
    (
        "the allocator and the signal handler use it",
        &[
            "process/limit.rs BATCH LARGE",
            "process/unix/map.rs LONGEST_NAME",
        ],
    ),
    (
        "the alignment of tensors in a data file, which is part of the result",
        &["storage/arrange.rs CACHE_LINE PAGE"],
    ),
    (
        "a limit that decides what is done",
        &[
            "tensor_files/strings.rs LARGEST",
            "base/patterns.rs MOST_NESTED",
            "casts/folding/computed.rs LARGEST_RESULT WORTH_A_NODE",
            "casts/folding/sharing.rs LONGEST_SHARED_NAME",
            "convert/adapters/",
            "convert/expansions/",
            "convert/make.rs LARGEST_CONSTANT",
            "convert/plan/copies.rs MOST_COPIES",
            "convert/context/derived_constants.rs MOST_ELEMENTS MOST_NODES",
            "convert/legalize/operators/scales.rs LONGEST_AXIS",
            "files/open.rs LARGEST_STREAM",
            "files/replaceable.rs SHORTEST_HASH",
            "graph/removal.rs LONGEST_NAME",
            "lint/rules/float16_clipped.rs FEWEST_NEXT FEWEST_OTHERS FEWEST_SMALLEST LARGEST",
            "ops/compute/select.rs MOST_ELEMENTS",
            "ops/inference/",
            "ops/kernels/constants.rs MOST_NUMBERS",
            "passes/bypass.rs LONGEST_GROWTH",
            "passes/run.rs MOST_ROUNDS",
            "precision/cut.rs MOST_ELEMENTS",
            "precision/hazards/",
            "tensor/content.rs LONGEST_SERIES",
            "precision/masks.rs MOST_VISITED",
            "precision/units.rs MOST_NODES",
            "protobuf/field.rs GROUP_DEPTH",
            "verify/",
        ],
    ),
    (
        "what a file of another format looks like",
        &["files/formats/"],
    ),
    (
        "a limit of what is shown",
        &[
            "api/not_a_model.rs MOST_NEIGHBOURS",
            "base/error/",
            "base/printable/document.rs LONGEST_IN_PAGE",
            "cli/",
            "diff/field.rs LONGEST_TEXT",
            "lint/constant.rs LONGEST_PLAIN",
            "lint/diagnostic.rs LONGEST_TEXT",
            "onnx_text/print.rs MOST_ELEMENTS",
            "report/",
        ],
    ),
];

/// The numbers among the constants of a file that may be thresholds by their names. A number that
/// follows from a threshold is as large.
fn numbers(text: &str) -> Vec<&str> {
    const TYPES: [&str; 12] = [
        "u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize",
    ];
    let mut found = Vec::new();
    for line in text.lines().map(str::trim_start) {
        let rest = line
            .split_once("const ")
            .or_else(|| line.split_once("static "));
        let Some((before, (name, value))) =
            rest.and_then(|(before, rest)| Some((before, rest.split_once(": ")?)))
        else {
            continue;
        };
        let is_item = before.is_empty() || before.starts_with("pub");
        let is_number = TYPES
            .iter()
            .any(|number| value.starts_with(&format!("{number} =")));
        let may_be_size = name.split('_').any(|word| WORDS.contains(&word));
        if is_item && is_number && may_be_size && !value.contains(".usual()") {
            found.push(name);
        }
    }
    found
}

#[test]
fn every_number_that_may_be_a_threshold_is_one_or_has_a_reason() {
    let mut unused: Vec<(&str, &str)> = Vec::new();
    let mut known = Vec::new();
    for entry in OTHERS.iter().flat_map(|(_, entries)| *entries) {
        let mut words = entry.split(' ');
        let path = words.next().unwrap_or_default();
        if path.ends_with('/') {
            known.push((path, None));
            unused.push((path, ""));
        }
        known.extend(words.clone().map(|name| (path, Some(name))));
        unused.extend(words.map(|name| (path, name)));
    }
    let mut failures = Vec::new();
    for (file, text) in sources_of_all_crates() {
        let file = file.display().to_string().replace('\\', "/");
        let path = file.strip_prefix("src/").unwrap_or(&file);
        for name in numbers(&text) {
            let is_known = |(known, of): &(&str, Option<&str>)| match of {
                Some(of) => path == *known && name == *of,
                None => path.starts_with(known),
            };
            match known.iter().find(|known| is_known(known)) {
                Some((known, of)) => {
                    unused.retain(|unused| *unused != (*known, of.unwrap_or_default()))
                }
                None => failures.push(format!(
                    "{file}: {name} is a Threshold, or has a reason in this test"
                )),
            }
        }
    }
    failures.extend(
        unused
            .into_iter()
            .map(|(path, name)| format!("{path} {name} is not there")),
    );
    expect_no_failures(failures);
}

#[test]
fn numbers_are_found_in_every_form() {
    let forms: [(&str, &[&str]); 8] = [
        ("const PART: usize = 1 << 20;", &["PART"]),
        ("    pub(super) const FEW_NODES: u64 = 4;", &["FEW_NODES"]),
        ("static MOST: usize = 8;", &["MOST"]),
        ("const PART: Threshold = Threshold::new(\"part\", 8);", &[]),
        ("const PIECE_BYTES: usize = PIECE.usual() * 8;", &[]),
        ("fn f<const PART: usize, const BYTES: usize>() {}", &[]),
        ("const COMPART: usize = 3;", &[]),
        ("/// const PART: usize = 3;", &[]),
    ];
    let wrong = forms
        .into_iter()
        .filter(|(text, expected)| numbers(text) != *expected);
    expect_no_failures(
        wrong
            .map(|(text, _)| format!("{text}: {:?}", numbers(text)))
            .collect(),
    );
}

/// The value of a threshold in tests depends on its name.
#[test]
fn the_names_of_thresholds_are_unique() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, text) in sources_of_all_crates() {
        let code = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        for rest in code.split("= Threshold::new(\"").skip(1) {
            files
                .entry(rest.split('"').next().unwrap_or_default().to_owned())
                .or_default()
                .push(file.display().to_string());
        }
    }
    assert!(
        files.len() > 30,
        "only {} thresholds were found",
        files.len()
    );
    let shared = files.into_iter().filter(|(_, files)| files.len() > 1);
    expect_no_failures(
        shared
            .map(|(name, files)| format!("'{name}' is in {}", files.join(", ")))
            .collect(),
    );
}
