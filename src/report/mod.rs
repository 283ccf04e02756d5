//! Reports: results as text and as JSON documents.

mod changed;
pub(crate) mod codes;
mod convert;
mod counts;
mod diff;
mod fold;
mod format;
mod inspect;
mod items;
mod lint;
mod page;
mod passes;
mod precision;
mod prepared;
mod targets;

pub use changed::{ChangedModel, Lengths, Verdict, unused_files_lines};
pub use codes::{
    explanations_json, explanations_text, meanings_json, meanings_of, meanings_text, nearest_code,
};
pub use convert::{Conversion, ConvertedModel, convert_text};
pub use diff::{ComparedModels, diff_text};
pub use fold::{FoldedModel, Folding, fold_text};
pub use format::{bytes, plural};
pub use inspect::{InspectedModel, inspect_text};
pub use lint::{
    LintFormat, LintRun, RuleCount, Shape, lint_summary, model_diff, rule_json, rule_text,
    rules_json, rules_text,
};
pub use page::{About, Before, Page, Results, Sketch, is_page, page_html, page_json};
pub use passes::{pass_text, passes_json, passes_text};
pub use precision::{Narrowing, Opsets, PrecisionModel, precision_text};
pub use prepared::{DroppedMetadata, Prepared};
pub use targets::{missing_operators_json, missing_operators_text, targets_json, targets_text};

use serde::Serialize;

use crate::base::error::Error;
use crate::base::printable::Document;

/// The version of every JSON document; it changes if the meaning of a key changes.
const VERSION: u32 = 1;

/// The JSON document of one run: its version, its results, and its errors. It is serialized while
/// it is written.
#[must_use]
pub fn json<'r>(results: impl Serialize + 'r, errors: &'r [Error]) -> Document<'r> {
    Document::json(versioned(results, errors))
}

/// The content of a JSON document.
fn versioned<'r>(results: impl Serialize + 'r, errors: &'r [Error]) -> impl Serialize + 'r {
    #[derive(Serialize)]
    struct Versioned<'r, T> {
        version: u32,
        #[serde(flatten)]
        results: T,
        errors: &'r [Error],
    }
    Versioned {
        version: VERSION,
        results,
        errors,
    }
}

/// The JSON document of a run on several models.
#[must_use]
pub fn models_json<'r>(models: &'r [impl Serialize], errors: &'r [Error]) -> Document<'r> {
    #[derive(Serialize)]
    struct Models<'r, T> {
        models: &'r [T],
    }
    json(Models { models }, errors)
}
