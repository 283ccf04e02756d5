//! A case file: models in ONNX text, the commands that run on each, and what they answer.
//!
//! ```text
//! # What the file is about.
//!
//! == the name of a case
//! <ir_version: 10, opset_import: ["": 21]>
//! g (float[n] x) => (float[n] y) { a = Identity (x) y = Relu (a) }
//!
//! $ recast fold --passes identity
//! what the command prints, and the model that it writes
//! ```
//!
//! A case has one model and one or more commands. The paths of the model and of the output are
//! added to each command.

use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the case files.
pub const FOLDER: &str = "tests/cases";

pub struct CaseFile {
    /// Lines of comments.
    head: String,
    pub cases: Vec<Case>,
}

#[derive(Clone)]
pub struct Case {
    pub name: String,
    pub model: String,
    pub steps: Vec<Step>,
}

#[derive(Clone)]
pub struct Step {
    pub command: String,
    pub answer: String,
}

impl CaseFile {
    /// Reads a file; an error says what is wrong with it.
    pub fn parse(text: &str) -> Result<CaseFile, String> {
        let mut parts = format!("\n{text}")
            .split("\n== ")
            .map(str::to_owned)
            .collect::<Vec<_>>()
            .into_iter();
        let head = parts.next().unwrap_or_default().trim().to_owned();
        if head.is_empty() || head.lines().any(|line| !line.starts_with('#')) {
            return Err(
                "does not begin with a comment that says what it is about, followed by `== NAME`"
                    .to_owned(),
            );
        }
        let cases = parts
            .map(|part| Case::parse(&part))
            .collect::<Result<Vec<Case>, String>>()?;
        match cases
            .iter()
            .enumerate()
            .find(|(index, case)| cases[..*index].iter().any(|other| other.name == case.name))
        {
            _ if cases.is_empty() => Err("has no case".to_owned()),
            Some((_, case)) => Err(format!("has two cases with the name '{}'", case.name)),
            None => Ok(CaseFile { head, cases }),
        }
    }
}

impl Case {
    fn parse(text: &str) -> Result<Case, String> {
        let (name, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut parts = rest.split("\n$ ");
        let model = parts.next().unwrap_or_default().trim().to_owned();
        let steps: Vec<Step> = parts
            .map(|part| part.split_once('\n').unwrap_or((part, "")))
            .map(|(command, answer)| Step {
                command: command.trim().to_owned(),
                answer: answer.trim_end().to_owned(),
            })
            .collect();
        if model.is_empty() || steps.is_empty() {
            return Err(format!(
                "the case '{name}' has no model, or no command, which begins with `$ recast`"
            ));
        }
        Ok(Case {
            name: name.trim().to_owned(),
            model,
            steps,
        })
    }
}

impl Display for CaseFile {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        writeln!(f, "{}", self.head)?;
        for Case { name, model, steps } in &self.cases {
            write!(f, "\n== {name}\n{model}\n")?;
            for Step { command, answer } in steps {
                write!(f, "\n$ {command}\n{answer}\n")?;
            }
        }
        Ok(())
    }
}

/// All files below a folder except Rust's, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else if path.extension().is_none_or(|extension| extension != "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
