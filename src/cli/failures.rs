//! Errors that end a run.

use std::io;
use std::path::Path;

use clap::ValueEnum;

use super::remedy;
use super::streams::{message, print, print_message};
use crate::base::error::catch;
use crate::base::printable::{Printed, Shown};
use crate::report::{self, LintFormat, LintRun, Shape};
use crate::{Classified, Error, ErrorKind};

/// Where an error that ends a run is reported, besides standard error.
#[derive(Clone, Copy)]
pub enum OnError {
    /// Only on standard error.
    Text,
    /// In a JSON document on standard output.
    Document,
    /// In a JSON document on standard output that has a list of models.
    Models,
    /// Only in a JSON document, on standard error.
    ModelsOnStderr,
    /// Into a report of findings on standard output.
    Lint(LintFormat),
}

impl OnError {
    /// For a command with this `--format`, which writes models to standard output or not.
    pub fn of(command: &str, format: &str, to_stdout: bool) -> OnError {
        match command {
            "lint" => match LintFormat::from_str(format, true) {
                Ok(LintFormat::Concise | LintFormat::Full) | Err(_) => OnError::Text,
                Ok(format) => OnError::Lint(format),
            },
            _ if format != "json" => OnError::Text,
            "fold" | "convert" | "precision" if to_stdout => OnError::ModelsOnStderr,
            "fold" | "convert" | "precision" => OnError::Models,
            _ => OnError::Document,
        }
    }

    /// The document that reports the errors of a run, if there is one.
    fn document(self, run: &LintRun) -> Option<Printed<'_>> {
        const NO_MODELS: &[()] = &[];
        match self {
            OnError::Text => None,
            OnError::Document => Some(report::json(serde_json::json!({}), &run.errors).into()),
            OnError::Models | OnError::ModelsOnStderr => {
                Some(report::models_json(NO_MODELS, &run.errors).into())
            }
            OnError::Lint(format) => Some(format.render(run, Shape::default())),
        }
    }

    /// The texts for standard error and, if there is one, for standard output.
    pub fn words(self, failure: Error) -> (String, String) {
        let text = message(&failure).to_string();
        let document = self
            .document(&run_with(failure))
            .map_or_else(String::new, |document| document.to_string());
        match self {
            OnError::ModelsOnStderr => (document, String::new()),
            _ => (text, document),
        }
    }

    /// Reports an error.
    pub fn report(self, failure: Error) {
        let text = message(&failure);
        match self {
            // Lint prints its own errors in its formats.
            OnError::Lint(_) => print_message(text),
            _ => self.report_as(text, failure),
        }
    }

    /// Reports an error, with this text on standard error.
    pub fn report_as(self, text: Shown, failure: Error) {
        let run = run_with(failure);
        match (self, self.document(&run)) {
            (OnError::ModelsOnStderr, Some(document)) => print_message(document),
            (_, document) => {
                print_message(text);
                // If standard output cannot be written, that is most likely the error being
                // reported.
                let _ = document.map(print);
            }
        }
    }
}

fn run_with(failure: Error) -> LintRun {
    LintRun {
        errors: vec![failure],
        ..LintRun::default()
    }
}

/// The result of work on one of the models of a run, in which a panic is an error of that model:
/// the others go on.
///
/// # Errors
/// The error of the work, or of its panic.
pub fn caught<T>(path: &Path, work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch(work)
        .map_err(|panic| panic.in_file(path.display().to_string()))
        .flatten()
}

/// An error as reports show it.
pub fn of(error: anyhow::Error) -> Error {
    let error = match error.downcast::<Error>() {
        Ok(failure) => return failure,
        Err(error) => error,
    };
    // File errors have the path as context: the head of the chain is an I/O error only if no file
    // is involved.
    if let Some(error) = error
        .chain()
        .next()
        .and_then(|error| error.downcast_ref::<io::Error>())
    {
        return of_stdout(error);
    }
    let cause = |cause: &(dyn std::error::Error + 'static)| {
        cause.downcast_ref::<io::Error>().map(Classified::kind)
    };
    let code = error.chain().find_map(cause).unwrap_or(ErrorKind::Usage);
    let failure = Error::new(code, format!("{error:#}"));
    match error.chain().find_map(remedy::of_cause) {
        Some(remedy) => failure.with_remedy(&remedy),
        None => failure,
    }
}

/// An error of standard output.
pub fn of_stdout(error: &io::Error) -> Error {
    Error::new(Classified::kind(error), format!("standard output: {error}"))
}
