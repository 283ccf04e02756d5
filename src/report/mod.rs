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
pub use fold::{FoldedModel, fold_text, old_files_text};
pub use inspect::{InspectedModel, inspect_text};
pub use lint::{LintFormat, LintRun, Unjudged, lint_summary, model_diff, rule_json, rule_text, rules_json, rules_text};
pub use paint::Paint;
pub use words::{bytes, plural};

use serde::Serialize;

/// The version of every JSON document; it changes when a key loses its meaning.
const VERSION: u32 = 1;

/// A JSON document of one run: its version, and what the run is about.
///
/// # Panics
/// Never: what is reported has no map with keys that are no strings.
#[must_use]
pub fn json(about: &impl Serialize) -> String {
    #[derive(Serialize)]
    struct Document<'a, T> {
        version: u32,
        #[serde(flatten)]
        about: &'a T,
    }
    serde_json::to_string_pretty(&Document { version: VERSION, about }).expect("all keys are strings")
}
