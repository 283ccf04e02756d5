//! Changes made to a model before the command itself runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::format::plural;
use crate::base::printable::Shown;

/// Changes made to a model by requested preparations.
#[derive(Debug, Default, Serialize)]
pub struct Prepared {
    /// Initializers that were also graph inputs and are now constants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_initializers: Option<Vec<String>>,
    /// Removed entries of `metadata_props`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dropped_metadata: Option<DroppedMetadata>,
}

/// Entries of `metadata_props`.
#[derive(Debug, Default, Serialize)]
pub struct DroppedMetadata {
    /// The number of entries at all levels.
    pub entries: usize,
    /// The number of entries by key.
    pub keys: BTreeMap<String, usize>,
    /// Keys that match no entry.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmatched: Vec<String>,
}

impl Prepared {
    /// The keys of metadata that the model does not have.
    #[must_use]
    pub fn unmatched(&self) -> &[String] {
        self.dropped_metadata
            .as_ref()
            .map_or(&[], |dropped| &dropped.unmatched)
    }
}

/// The lines of the text report; with `verbose`, every name and key.
pub(super) fn write_prepared(text: &mut Shown, prepared: &Prepared, verbose: bool) {
    if let Some(names) = &prepared.frozen_initializers {
        text.push_line(format_args!(
            "  froze {}",
            plural(names.len(), "initializer")
        ));
        for name in names.iter().filter(|_| verbose) {
            text.push_line(format_args!("    {name}"));
        }
    }
    if let Some(DroppedMetadata {
        entries,
        keys,
        unmatched,
    }) = &prepared.dropped_metadata
    {
        let entries = plural(*entries, "entry");
        text.push_line(format_args!("  dropped {entries} of metadata_props"));
        for (key, count) in keys.iter().filter(|_| verbose) {
            text.push_line(format_args!("    {key}: {count}"));
        }
        for key in unmatched {
            text.push_line(format_args!("  no metadata has the key '{key}'"));
        }
    }
}
