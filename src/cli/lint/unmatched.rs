//! Suppressions that match no finding: entries of baselines and of `recast.noqa`.

use std::path::Path;

use super::baselines::Obsolete;
use crate::base::printable::Shown;
use crate::cli::options::Messages;
use crate::cli::streams::{message, print_message};
use crate::lint::UnusedNoqa;
use crate::report::{LintRun, plural};
use crate::{Error, ErrorKind};

/// The suppressions of a run that match no finding.
#[derive(Default)]
pub(super) struct Unmatched {
    /// What is said of them, in which file, and what to do.
    notes: Vec<Note>,
    /// Each of them, for scripts.
    listed: Vec<String>,
}

struct Note {
    file: String,
    what: String,
    remedy: &'static str,
}

impl Unmatched {
    /// Adds `recast.noqa` entries of a model.
    pub fn of_noqa(&mut self, model: &Path, unused: Vec<UnusedNoqa>) {
        let file = model.display().to_string();
        for UnusedNoqa { place, word } in unused {
            self.listed.push(format!("{file}: {place}: {word}"));
            self.notes.push(Note {
                file: file.clone(),
                what: format!(
                    "{place}: `recast.noqa` contains {word}, which suppresses no finding"
                ),
                remedy: "remove it",
            });
        }
    }

    /// Adds findings of a baseline.
    pub fn of_baseline(&mut self, Obsolete { baseline, findings }: Obsolete) {
        self.notes.push(Note {
            what: format!("contains {}", plural(findings.len(), "obsolete finding")),
            file: baseline.clone(),
            remedy: "use --write-baseline to update it",
        });
        let of_baseline = findings.iter().map(|found| format!("{baseline}: {found}"));
        self.listed.extend(of_baseline);
    }

    /// Prints notes; with `is_strict`, each is an error of the run.
    pub fn report(self, is_strict: bool, run: &mut LintRun, messages: Messages) {
        for Note { file, what, remedy } in self.notes {
            if is_strict {
                let text = format!("{what}, which --strict does not permit; {remedy}");
                let error = Error::new(ErrorKind::Usage, text);
                run.errors.push(error.in_file(file));
            } else if !messages.quiet {
                let note: Shown = message(format_args!("{file}: {what}; {remedy}"));
                print_message(note);
            }
        }
        run.unmatched.extend(self.listed);
    }
}
