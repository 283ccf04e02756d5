//! Suppressions in the model: `recast.noqa` in the `metadata_props` of the model, a graph, a
//! function, a node, an initializer or a declared value. Its value lists codes, prefixes of codes,
//! or ALL.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::{FindingPlace, RuleFacts, Selection, Selector, registry};
use crate::graph::{MetadataPlace, Model, ScopeKind};
use crate::protobuf::schema::StringStringEntryProto;

/// The metadata key.
pub(super) const KEY: &str = "recast.noqa";

/// A word of a `recast.noqa` entry that suppressed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UnusedNoqa {
    /// The path of what the entry describes.
    pub place: String,
    /// The code.
    pub word: String,
}

/// The `recast.noqa` entries of a model.
pub(super) struct Suppressions<'m> {
    model: &'m Model,
    words: BTreeMap<MetadataPlace, Vec<Word<'m>>>,
}

struct Word<'m> {
    text: &'m str,
    selector: Selector,
    is_used: Cell<bool>,
}

impl<'m> Suppressions<'m> {
    /// Those of a model, unless they are ignored; words that name no rule suppress nothing, and are
    /// a finding of their own.
    pub fn of(model: &'m Model, is_ignored: bool) -> Suppressions<'m> {
        let places = if is_ignored {
            Vec::new()
        } else {
            model.places_with_metadata(KEY)
        };
        let read = |place| {
            let words = words(model.metadata_at(place)).filter_map(|text| {
                Some(Word {
                    text,
                    selector: text.parse().ok()?,
                    is_used: Cell::new(false),
                })
            });
            (place, words.collect())
        };
        Suppressions {
            model,
            words: places.into_iter().map(read).collect(),
        }
    }

    /// Whether the model suppresses a rule's findings at a place.
    pub fn suppress(&self, at: FindingPlace, rule: &RuleFacts) -> bool {
        if self.words.is_empty() {
            return false;
        }
        // Every word that suppresses the finding is used, not only the first.
        let mut suppresses = false;
        for place in places(self.model, at) {
            for word in self.words.get(&place).into_iter().flatten() {
                if word.selector.matches(rule) {
                    word.is_used.set(true);
                    suppresses = true;
                }
            }
        }
        suppresses
    }

    /// The words that suppressed no finding, although all of their rules were checked.
    pub fn unused(&self, selection: &Selection) -> Vec<UnusedNoqa> {
        let is_checked = |word: &Word| {
            registry::all()
                .filter(|rule| word.selector.matches(rule))
                .all(|rule| selection.rules().iter().any(|(own, _)| own.facts() == rule))
        };
        let mut unused = Vec::new();
        for (place, words) in &self.words {
            let words = words.iter().filter(|word| !word.is_used.get());
            unused.extend(
                words
                    .filter(|word| is_checked(word))
                    .map(|word| UnusedNoqa {
                        place: self.model.metadata_path(*place),
                        word: word.text.to_owned(),
                    }),
            );
        }
        unused
    }
}

/// The places whose entries suppress findings at a place: those of what the finding is about, of
/// its scope, of the node that owns the scope, of the enclosing scopes, and of the model.
fn places(model: &Model, at: FindingPlace) -> Vec<MetadataPlace> {
    let mut places = vec![MetadataPlace::Model];
    let scope = match at {
        FindingPlace::Model => return places,
        FindingPlace::Node(node) => {
            places.push(MetadataPlace::Node(node));
            node.scope
        }
        FindingPlace::Value(scope, value) => {
            places.extend([
                MetadataPlace::Initializer(value),
                MetadataPlace::Declaration(value),
            ]);
            scope
        }
    };
    for scope in std::iter::successors(Some(scope), |&inner| model.enclosing(inner)) {
        places.push(MetadataPlace::Scope(scope));
        if let ScopeKind::Subgraph { owner, .. } = model.scope_kind(scope) {
            places.push(MetadataPlace::Node(owner));
        }
    }
    places
}

/// The words of entries that name no rule.
pub(super) fn unknown_rules(entries: &[StringStringEntryProto]) -> Vec<&str> {
    words(entries)
        .filter(|word| word.parse::<Selector>().is_err())
        .collect()
}

fn words(entries: &[StringStringEntryProto]) -> impl Iterator<Item = &str> {
    let values = entries
        .iter()
        .filter(|entry| entry.key() == KEY)
        .map(|entry| entry.value());
    values
        .flat_map(|value| value.split([',', ' ', '\n', '\t']))
        .filter(|word| !word.is_empty())
}
