//! Cases of fold, convert and lint as files, in folders by command: each `.txt` file below
//! `tests/cases/` has models in ONNX text, and the answers of commands to them. The format is
//! described in `file.rs`, what holds for every case in `run.rs`.
//!
//! `cargo test --test cases FILTER` runs the cases whose names contain FILTER; with
//! `RECAST_BLESS=1` it writes their answers anew. Read the difference before you commit it.

mod file;
mod run;
#[path = "../suite/schemas/validate.rs"]
mod schemas;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use file::{Case, CaseFile, FOLDER, files_below};
use libtest_mimic::{Arguments, Failed, Trial};
use similar::TextDiff;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let filter = arguments.filter.clone().unwrap_or_default();
    let mut trials = Vec::new();
    for path in files_below(Path::new(FOLDER)) {
        let name = path
            .strip_prefix(FOLDER)
            .unwrap()
            .with_extension("")
            .display()
            .to_string()
            .replace('\\', "/");
        match read(&path, &name, &filter) {
            Ok(file) => trials.extend(file.cases.into_iter().map(|case| {
                let name = full_name(&name, &case);
                Trial::test(name, move || check(&case))
            })),
            Err(message) => trials.push(Trial::test(path.display().to_string(), || {
                Err(message.into())
            })),
        }
    }
    assert!(!trials.is_empty(), "{FOLDER} has no cases");
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn full_name(file: &str, case: &Case) -> String {
    format!("{file}: {}", case.name)
}

/// Reads a file; before that, writes the answers of the cases with this filter anew if that is
/// wanted.
fn read(path: &Path, name: &str, filter: &str) -> Result<CaseFile, String> {
    if path.extension().is_none_or(|extension| extension != "txt") {
        return Err("is not a .txt file".to_owned());
    }
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let mut file = CaseFile::parse(&text)?;
    if std::env::var_os("RECAST_BLESS").is_some() {
        for case in file
            .cases
            .iter_mut()
            .filter(|case| full_name(name, case).contains(filter))
        {
            for step in &mut case.steps {
                step.answer = run::answer(&case.model, &step.command)?
                    .text
                    .trim_end()
                    .to_owned();
            }
        }
        fs::write(path, file.to_string()).map_err(|error| error.to_string())?;
    } else if file.to_string() != text {
        return Err(
            "has other blank lines than a written file; RECAST_BLESS=1 writes it anew".to_owned(),
        );
    }
    Ok(file)
}

/// Runs all commands of a case, and lists all that is wrong.
fn check(case: &Case) -> Result<(), Failed> {
    let mut failures = Vec::new();
    for step in &case.steps {
        match run::answer(&case.model, &step.command) {
            Ok(answer) => {
                let (expected, found) = (
                    format!("{}\n", step.answer),
                    format!("{}\n", answer.text.trim_end()),
                );
                if expected != found {
                    let difference = TextDiff::from_lines(&expected, &found);
                    let difference = difference
                        .unified_diff()
                        .header("expected", "found")
                        .to_string();
                    failures.push(format!(
                        "$ {}\n{difference}RECAST_BLESS=1 writes the answer that was found.",
                        step.command
                    ));
                }
                failures.extend(
                    answer
                        .faults
                        .into_iter()
                        .map(|fault| format!("$ {}\n{fault}", step.command)),
                );
            }
            Err(message) => failures.push(format!("$ {}\n{message}", step.command)),
        }
    }
    if failures.is_empty() {
        Ok(())
    } else {
        Err(failures.join("\n").into())
    }
}
