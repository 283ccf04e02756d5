//! Names of data files that are accepted from a model.
//!
//! A model chooses the names of its data files. A file of such a name is created beside an output
//! only if the name has no meaning for a shell, a build tool, a test runner or a version control
//! system. Accepted are names with these properties:
//!
//! 1. each component is printable, not hidden, and valid on every system: no leading or trailing
//!    dot or space, none of `< > : " / \ | ? *`, not a Windows device such as `NUL`;
//! 2. the last component has an extension that exporters use for data files ([`ENDINGS`],
//!    optionally followed by a number), or has no extension, but contains a digit, as do the files
//!    of exporters that write one file per tensor (`onnx__MatMul_123`).

use std::path::Path;

use crate::base::printable;

/// Extensions of data files, and of parameter names, which exporters use as names of files:
/// `layers.0.weight`.
const ENDINGS: &str = "data onnx_data bin pb dat raw ext tensor weights params weight bias gamma beta kernel scale zero_point \
                       running_mean running_var embedding embeddings weight_hh_l weight_ih_l inv_freq";

/// Names of devices on Windows, with any extension; some are followed by a digit.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];

/// The reason why a path is not accepted as that of a data file; none if it is.
pub(super) fn problem(path: &Path) -> Option<&'static str> {
    let Some(path) = path.to_str() else {
        return Some("is not UTF-8");
    };
    let parts: Vec<&str> = path.split(std::path::is_separator).collect();
    let last = parts.last().copied().unwrap_or("");
    parts
        .iter()
        .find_map(|part| component_problem(part))
        .or_else(|| (!is_data_name(last)).then_some("does not have the name of a data file"))
}

fn component_problem(part: &str) -> Option<&'static str> {
    let is_reserved = |c: char| "<>:\"/\\|?*".contains(c);
    // What is escaped in text for people: control characters, and characters that some file systems
    // ignore.
    let is_printable = printable::escaped(part) == part;
    // Windows has such a second name for every long one: `GIT~1` for `.git`.
    let is_short_name = part
        .split('~')
        .skip(1)
        .any(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let has_bad_end = part.starts_with([' ', '-', '~']) || part.ends_with([' ', '.']);
    let is_invalid = has_bad_end
        || part.contains(is_reserved)
        || part.len() > 255
        || is_short_name
        || !is_printable;
    let stem = part
        .split('.')
        .next()
        .unwrap_or("")
        .trim_end()
        .to_ascii_lowercase();
    let is_device =
        DEVICES.contains(&stem.trim_end_matches(|c: char| c.is_ascii_digit() || "¹²³".contains(c)));
    match part {
        "" => Some("has an empty component"),
        _ if part.starts_with('.') => Some("is hidden"),
        _ if is_invalid => Some("is not a valid name on every system"),
        _ if is_device => Some("is the name of a device on Windows"),
        _ => None,
    }
}

fn is_data_name(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, ending)) => {
            let ending = ending.to_ascii_lowercase();
            let bare =
                ending.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_' || c == '-');
            ENDINGS
                .split(' ')
                .any(|known| known == ending || known == bare)
        }
        None => name.contains(|c: char| c.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_exporters_give_are_accepted_and_names_with_a_meaning_are_not() {
        let cases: [(&str, &[&str]); 10] = [
            (
                "",
                &[
                    "model.onnx.data",
                    "model.onnx_data",
                    "model.onnx_data_1",
                    "weights.bin",
                    "weights.pb",
                    "sub/weights.data",
                ],
            ),
            (
                "",
                &[
                    "onnx__MatMul_123",
                    "_model_layers_0_Constant_5_attr__value",
                    "layers.0.weight",
                    "transformer.h.0.attn.weight",
                ],
            ),
            (
                "",
                &["lstm.weight_hh_l0", "bn1.running_var", "out.onnx.1.data"],
            ),
            (
                "is hidden",
                &[".git/config", ".git/hooks/pre-commit", "sub/.data"],
            ),
            (
                "does not have the name of a data file",
                &["thesis.txt", "conftest.py", "hooks/pre-commit", "Makefile"],
            ),
            (
                "does not have the name of a data file",
                &["other.onnx", "model.safetensors"],
            ),
            ("has an empty component", &["sub/"]),
            (
                "is the name of a device on Windows",
                &["NUL.data", "com1.bin", "COM¹.bin"],
            ),
            (
                "is not a valid name on every system",
                &[
                    "w\n.bin",
                    "w\u{202e}.bin",
                    "w\u{AD}.bin",
                    "\u{FEFF}.git/w.bin",
                ],
            ),
            (
                "is not a valid name on every system",
                &["-rf.bin", "w.bin ", "a:b.bin", "GIT~1/w.bin"],
            ),
        ];
        let names = cases
            .into_iter()
            .flat_map(|(expected, names)| names.iter().map(move |name| (expected, name)));
        let wrong: Vec<_> = names
            .filter(|(expected, name)| problem(Path::new(name)).unwrap_or("") != *expected)
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}
