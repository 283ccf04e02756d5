//! The common part of the reports of commands that change models.

use serde::{Serialize, Serializer};

use super::counts::write_counts;
use super::format::{bytes, plural};
use crate::base::printable::Shown;
use crate::inspect::Counts;
use crate::storage::{Saved, WrittenDataFile};
use crate::verify::Verified;

/// One model of a run, with the changes that the command made to it.
#[derive(Debug, Serialize)]
pub struct ChangedModel<C> {
    /// The path of the model as given.
    pub path: String,
    /// Whether the run is a dry run.
    #[serde(skip)]
    pub dry_run: bool,
    /// The output; `None` in a dry run, or if the run has errors or a model that cannot be changed.
    pub output: Option<String>,
    /// The changes, and the reasons for what did not change.
    #[serde(flatten)]
    pub changes: C,
    /// The lengths of the model file, if the report of the command has them.
    #[serde(flatten)]
    pub lengths: Option<Lengths>,
    /// The counts of the model before.
    pub before: Counts,
    /// The counts of the output; none if the model cannot be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<Counts>,
    /// Notes about the changes.
    #[serde(skip)]
    pub notes: Vec<String>,
    /// The files of the output; its notes begin with those about the changes.
    #[serde(flatten)]
    pub saved: Saved,
    /// Whether the output was verified; none if it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<Verdict>,
}

/// Whether an output was verified.
#[derive(Clone, Copy, Debug)]
pub enum Verdict {
    /// To this extent.
    Verified(Verified),
    /// It was written unverified, as requested.
    LeftOut,
}

/// The extent of the verification, or `false`.
impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Verdict::Verified(verified) => verified.serialize(serializer),
            Verdict::LeftOut => false.serialize(serializer),
        }
    }
}

/// The lengths of a model file.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Lengths {
    /// Before.
    pub bytes_in: u64,
    /// After.
    pub bytes_out: u64,
}

impl<C> ChangedModel<C> {
    /// The report of a model before it is written, without lengths and the counts after.
    #[must_use]
    pub fn unwritten(
        path: String,
        dry_run: bool,
        changes: C,
        notes: Vec<String>,
        before: Counts,
    ) -> ChangedModel<C> {
        ChangedModel {
            path,
            dry_run,
            output: None,
            changes,
            lengths: None,
            before,
            after: None,
            saved: Saved {
                notes: notes.clone(),
                ..Saved::default()
            },
            notes,
            verified: None,
        }
    }

    /// Sets the files of the output, behind the notes about the changes.
    pub fn set_saved(&mut self, saved: Saved) {
        let notes = self.notes.iter().cloned().chain(saved.notes).collect();
        self.saved = Saved { notes, ..saved };
    }

    /// The text report, in which `write` writes what the command did.
    pub(super) fn text(&self, write: impl FnOnce(&mut Shown)) -> Shown {
        let unwritten = if self.dry_run {
            "nothing written (dry run)"
        } else {
            "nothing written"
        };
        let output = self.output.as_deref().unwrap_or(unwritten);
        let mut text = Shown::line(format_args!("{} -> {output}", self.path));
        write(&mut text);
        write_saved(&mut text, &self.saved);
        write_verified(&mut text, self.verified);
        if let Some(after) = &self.after {
            write_counts(&mut text, &self.before, after);
        }
        text
    }
}

/// The extent of the verification of the output.
fn write_verified(text: &mut Shown, verdict: Option<Verdict>) {
    let Verified {
        nodes,
        constants,
        elements,
    } = match verdict {
        None => return,
        Some(Verdict::LeftOut) => return text.push_line(format_args!("  not verified")),
        Some(Verdict::Verified(verified)) => verified,
    };
    let nodes = plural(nodes, "node");
    if constants == 0 {
        text.push_line(format_args!("  verified {nodes}"));
    } else {
        let (constants, elements) = (
            plural(constants, "new constant"),
            plural(elements as usize, "element"),
        );
        text.push_line(format_args!(
            "  verified {nodes} and {constants} of {elements}"
        ));
    }
}

/// The files of the output, and the data files that the model no longer uses.
fn write_saved(text: &mut Shown, saved: &Saved) {
    for note in &saved.notes {
        text.push_line(format_args!("  {note}"));
    }
    if let Some(WrittenDataFile {
        path,
        bytes: length,
    }) = &saved.data_file
    {
        text.push_line(format_args!(
            "  data file {}: {}",
            path.display(),
            bytes(*length)
        ));
    }
    for WrittenDataFile {
        path,
        bytes: length,
    } in &saved.copied_files
    {
        text.push_line(format_args!(
            "  copied data file {}: {}",
            path.display(),
            bytes(*length)
        ));
    }
    unused_files_lines(saved).for_each(|line| text.push_line(format_args!("  {line}")));
}

/// One line per data file that a model no longer uses.
pub fn unused_files_lines(saved: &Saved) -> impl Iterator<Item = String> {
    saved.unused_files.iter().map(|file| {
        let hint = file
            .reason
            .as_deref()
            .unwrap_or("delete it if no other model uses it");
        let (path, length) = (file.path.display(), bytes(file.bytes));
        format!("unused data file {path} ({length}): {hint}")
    })
}
