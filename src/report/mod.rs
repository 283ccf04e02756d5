//! Results in words: text for people, JSON for scripts.

mod convert;
mod diff;
mod fold;
mod inspect;
mod lint;
mod paint;
mod words;

pub use convert::{ConvertedModel, IrVersions, convert_text};
pub use diff::{ComparedModels, diff_text};
pub use fold::{FoldedModel, fold_text};
pub use inspect::{InspectedModel, inspect_text};
pub use lint::{LintFormat, LintRun, Unjudged, lint_summary, model_diff, rule_json, rule_text, rules_json, rules_text};
pub use paint::Paint;
pub use words::{bytes, plural};

use std::io;

use serde::Serialize;

/// The version of every JSON document; it changes when a key loses its meaning.
const VERSION: u32 = 1;

/// What a run that may have several models is about.
#[derive(Debug, Serialize)]
pub struct Models<'r, T> {
    /// The models, in the order of the command line.
    pub models: &'r [T],
}

/// A JSON document of one run: its version, and what the run is about.
#[derive(Serialize)]
struct Document<'a, T> {
    version: u32,
    #[serde(flatten)]
    about: &'a T,
}

/// A JSON document of one run: its version, and what the run is about.
///
/// # Panics
/// Never: what is reported has no map with keys that are no strings.
#[must_use]
pub fn json(about: &impl Serialize) -> String {
    serde_json::to_string_pretty(&Document { version: VERSION, about }).expect("all keys are strings")
}

/// Writes what [`json`] returns, and a line break. The document is never in memory as a whole.
///
/// # Errors
/// Those of the writer.
pub fn write_json(about: &impl Serialize, out: &mut impl io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Document { version: VERSION, about })?;
    out.write_all(b"\n")
}
