//! Verification of added `recast.noqa` entries.
//!
//! The written model must not differ from the original except in entries of this key, keep the
//! words that these had, and have no finding of the rules that is not in the baseline.

use super::fault::Fault;
use super::unchanged_fields::compare_models;
use super::verified::Verified;
use crate::diff::DifferenceKind::{self, Added};
use crate::graph::{MetadataPlace, Model};
use crate::lint::run::lint;
use crate::lint::{Baseline, Options, name_of};
use crate::protobuf::schema::StringStringEntryProto;

const KEY: &str = "recast.noqa";

/// The options by which entries are added.
#[derive(Clone, Debug)]
pub(super) struct AddedNoqa {
    pub options: Options,
    pub known: Baseline,
}

pub(super) fn verify(
    original: &Model,
    written: &Model,
    added: &AddedNoqa,
) -> (Verified, Vec<Fault>) {
    let verified = Verified {
        nodes: written.topological_order().len(),
        ..Verified::default()
    };
    let mut faults = compare_models(original, written, of_entries);
    if faults.is_empty() {
        faults.extend(entries(original, written));
    }
    let options = added.options.clone().show_overlapping(true);
    let path = name_of(original);
    let left = added.known.filter(lint(written, &path, &options));
    faults.extend(left.iter().map(|found| {
        let message = format!("{} is still reported: {}", found.code(), found.message);
        Fault::at(found.place(), message)
    }));
    (verified, faults)
}

/// The fields that entries change: they are added, or their values get longer.
fn of_entries(message: &str, field: &str, kind: Option<DifferenceKind>) -> bool {
    (message, field) == ("StringStringEntryProto", "value")
        || (field == "metadata_props" && matches!(kind, None | Some(Added)))
}

/// Entries of other keys that changed, and words that are missing. Both models have the same nodes
/// and values, in the same order.
fn entries(original: &Model, written: &Model) -> Vec<Fault> {
    let scopes = written.scopes().flat_map(|scope| {
        let nodes = written.nodes(scope).map(MetadataPlace::Node);
        std::iter::once(MetadataPlace::Scope(scope)).chain(nodes)
    });
    let values = written.values().flat_map(|value| {
        [
            MetadataPlace::Initializer(value),
            MetadataPlace::Declaration(value),
        ]
    });
    let places = std::iter::once(MetadataPlace::Model)
        .chain(scopes)
        .chain(values);
    let changed = places.filter(|&place| {
        let [before, after] = [original, written].map(|model| model.metadata_at(place));
        before != after && !only_gained_words(before, after)
    });
    changed
        .map(|place| {
            Fault::at(
                written.metadata_path(place),
                "metadata_props differ in more than new words of `recast.noqa`",
            )
        })
        .collect()
}

/// Whether a list of entries has another one, of this key, or other words behind those of one.
fn only_gained_words(before: &[StringStringEntryProto], after: &[StringStringEntryProto]) -> bool {
    let is_longer = |(before, after): (&StringStringEntryProto, &StringStringEntryProto)| {
        before == after
            || (before.key() == KEY
                && after.key() == KEY
                && after
                    .value()
                    .starts_with(before.value().trim_end_matches([',', ' ', '\n', '\t'])))
    };
    before.iter().zip(after).all(is_longer)
        && match &after[before.len().min(after.len())..] {
            [] => before.len() == after.len(),
            [new] => new.key() == KEY,
            _ => false,
        }
}
