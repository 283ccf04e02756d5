//! Runs a command on a model, and checks what holds for every case: the written model is valid, the
//! same command writes the same bytes again, and changes nothing in its own result; the exact
//! passes change nothing in an expansion; a command that fails writes nothing.

use onnx_recast::internals::onnx_text;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use onnx_recast::lint::{Layer, Selection};
use onnx_recast::passes::{EXACT, Event, PassEvents};
use onnx_recast::proto::ModelProto;
use onnx_recast::{FoldOptions, LintOptions, Model};
use prost::Message;
use serde_json::Value;

use crate::schemas::expect_valid;

const MODEL: &str = "model.onnx";
const RESULT: &str = "result.onnx";
const UNCHANGED: &str = "the model is unchanged";

/// What a command answers, and what is wrong in spite of that.
pub struct Answer {
    pub text: String,
    pub faults: Vec<String>,
}

/// Runs `recast COMMAND OPTIONS` on a model in ONNX text.
pub fn answer(model: &str, command: &str) -> Result<Answer, String> {
    let input = onnx_text::parse(model)
        .map_err(|error| error.to_string())?
        .encode_to_vec();
    let words: Vec<&str> = command.split_whitespace().collect();
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    fs::write(folder.path().join(MODEL), &input).map_err(|error| error.to_string())?;
    let place = Place(folder.path());
    match words.as_slice() {
        [
            "recast",
            command @ ("fold" | "convert" | "precision"),
            options @ ..,
        ] => Ok(place.rewrite(&input, command, options)),
        ["recast", "lint", options @ ..] => Ok(place.lint(&input, options)),
        _ => Err(format!(
            "'{command}' is not `recast fold`, `recast convert`, `recast precision` or `recast lint` with options"
        )),
    }
}

/// A folder with the model.
struct Place<'p>(&'p Path);

impl Place<'_> {
    fn recast(&self, arguments: &[&str], options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_recast"));
        command
            .args(arguments)
            .args(options)
            .current_dir(self.0)
            .env_remove("RECAST_BLESS")
            .env("NO_COLOR", "1");
        let output = command
            .output()
            .unwrap_or_else(|error| panic!("recast cannot be started: {error}"));
        expect_valid(&[arguments, options].concat(), &output);
        output
    }

    fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.0.join(name)).ok()
    }

    fn rewrite(&self, input: &[u8], command: &str, options: &[&str]) -> Answer {
        let output = self.recast(&[command, MODEL, "-o", RESULT], options);
        let (written, mut text, mut faults) = (self.read(RESULT), printed(&output), Vec::new());
        let is_dry = options.contains(&"--dry-run");
        if written.is_some() != (output.status.success() && !is_dry) {
            faults.push(format!(
                "{}, and a model is {}written",
                output.status,
                if written.is_some() { "" } else { "not " }
            ));
        }
        if let Some(written) = written {
            // The answers leave out the line that all of them have.
            let lines = text
                .lines()
                .filter(|line| line.trim_start().starts_with("verified "))
                .count();
            if lines != 1 {
                faults.push(format!("{lines} lines say that the model was verified"));
            }
            text = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("verified "))
                .map(|line| format!("{line}\n"))
                .collect();
            // The original again, and the result of the first run.
            let again = self.recast(
                &[
                    command,
                    MODEL,
                    RESULT,
                    "--out-dir",
                    "again",
                    "--format",
                    "json",
                ],
                options,
            );
            if !again.status.success() {
                faults.push(format!("a second run: {}", printed(&again)));
            }
            text.push_str(&codes(&again));
            text.push_str(&model_text(input, &written));
            faults.extend(invalid(input, &written));
            if text.contains("expanded ") && superfluous(input).is_empty() {
                faults.extend(superfluous(&written));
            }
            // What a model may grow by, it may grow by in each run.
            let converges = !options.contains(&"--max-growth");
            for (name, what, applies) in [
                (MODEL, "writes other bytes", true),
                (RESULT, "changes the result of the first", converges),
            ] {
                let found = self.read(&format!("again/{name}")).filter(|_| applies);
                if let Some(found) = found.filter(|found| *found != written) {
                    faults.push(format!(
                        "a second run {what}:\n{}",
                        model_text(input, &found)
                    ));
                }
            }
        } else {
            text.push_str(&codes(
                &self.recast(&[command, MODEL, "-o", RESULT, "--format", "json"], options),
            ));
        }
        Answer { text, faults }
    }

    fn lint(&self, input: &[u8], options: &[&str]) -> Answer {
        let output = self.recast(&["lint", MODEL], options);
        let (after, mut text, mut faults) = (
            self.read(MODEL).unwrap_or_default(),
            printed(&output),
            Vec::new(),
        );
        if options.contains(&"--fix") {
            text.push_str(&model_text(input, &after));
            faults.extend(invalid(input, &after));
        } else if after != input {
            faults.push("the model is changed without --fix".to_owned());
        }
        let again = self.recast(&["lint", MODEL], options);
        if self.read(MODEL).unwrap_or_default() != after {
            faults.push(format!(
                "a second run changes the model again: {}",
                printed(&again)
            ));
        }
        if after == input && printed(&again) != printed(&output) {
            faults.push(format!(
                "a second run prints something else: {}",
                printed(&again)
            ));
        }
        Answer { text, faults }
    }
}

/// What the command prints, without the names of the files and the table of counts, which every
/// answer would repeat.
fn printed(output: &Output) -> String {
    let mut text = String::new();
    if let Some(code) = output.status.code().filter(|code| *code != 0) {
        text.push_str(&format!("exit code {code}\n"));
    } else if !output.status.success() {
        text.push_str(&format!("{}\n", output.status));
    }
    let report = String::from_utf8_lossy(&output.stdout);
    let (report, is_of_model) = match report.strip_prefix(&format!("{MODEL} -> {RESULT}\n")) {
        Some(rest) => (rest, true),
        None => (&*report, false),
    };
    let mut is_in_table = false;
    for line in report.lines() {
        is_in_table = line.split_whitespace().eq(["before", "after"])
            || is_in_table && line.starts_with("  ");
        if !is_in_table {
            text.push_str(
                line.strip_prefix("  ")
                    .filter(|_| is_of_model)
                    .unwrap_or(line),
            );
            text.push('\n');
        }
    }
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

/// The codes of why nodes of the first model are kept or refused, and of errors, each once.
fn codes(output: &Output) -> String {
    let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let reasons = ["skipped", "blockers", "kept"].map(|list| &document["models"][0][list]);
    let reasons = reasons
        .into_iter()
        .chain([&document["errors"]])
        .filter_map(Value::as_array)
        .flatten();
    let mut codes: Vec<&str> = Vec::new();
    for code in reasons.filter_map(|reason| reason["code"].as_str()) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    if codes.is_empty() {
        String::new()
    } else {
        format!("codes: {}\n", codes.join(", "))
    }
}

/// A written model as text, its header in one line.
fn model_text(input: &[u8], written: &[u8]) -> String {
    if written == input {
        return UNCHANGED.to_owned();
    }
    let text = match ModelProto::decode(written) {
        Ok(proto) => onnx_text::print(&proto),
        Err(error) => return error.to_string(),
    };
    match text
        .strip_prefix("<\n  ")
        .and_then(|text| text.split_once("\n>\n"))
    {
        Some((header, graph)) => format!("<{}>\n{graph}", header.replace(",\n  ", ", ")),
        None => text,
    }
}

/// What the exact passes would remove or change.
fn superfluous(bytes: &[u8]) -> Vec<String> {
    let changed = Model::from_bytes(bytes.to_vec())
        .and_then(|mut model| model.run_passes(EXACT, &FoldOptions::default()));
    let Ok(report) = changed else {
        return Vec::new();
    };
    let mut found = Vec::new();
    for PassEvents { pass, events, .. } in report.passes {
        let changes = events
            .iter()
            .filter(|event| !matches!(event, Event::Kept(_)));
        found.extend(changes.map(|event| format!("the exact passes change it: {pass}: {event:?}")));
    }
    found
}

/// Faults of a written model that the original does not have: it cannot be opened, or rules about
/// invalid models report it.
fn invalid(input: &[u8], written: &[u8]) -> Vec<String> {
    let rules = Layer {
        select: Some(vec!["RC2".parse().expect("a group of rules")]),
        ..Layer::default()
    };
    let options = LintOptions::default().selection(Selection::of([&rules]));
    let findings =
        |bytes: &[u8]| Model::from_bytes(bytes.to_vec()).and_then(|model| model.lint(&options));
    let known: BTreeSet<&str> = findings(input)
        .into_iter()
        .flatten()
        .map(|found| found.code())
        .collect();
    match findings(written) {
        Ok(found) => {
            let new = found
                .into_iter()
                .filter(|found| !known.contains(found.code()));
            new.map(|found| {
                format!(
                    "the result is invalid: {}: {} {}",
                    found.place(),
                    found.code(),
                    found.message
                )
            })
            .collect()
        }
        Err(error) => vec![format!("the result cannot be opened: {error}")],
    }
}
