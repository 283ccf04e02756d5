//! Suppressions in the model: `recast.noqa` in the `metadata_props` of the model, a graph, a
//! function, a node, an initializer or a declared value. Its value lists codes, prefixes of codes,
//! or ALL.

use super::subject::body_metadata;
use super::{FindingPlace, RuleFacts, Selector};
use crate::graph::{Model, ScopeId, ScopeKind};
use crate::protobuf::schema::StringStringEntryProto;

/// The metadata key.
const KEY: &str = "recast.noqa";

/// Whether `recast.noqa` entries in a model suppress findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Noqa {
    /// The entries suppress findings.
    #[default]
    Respected,
    /// The entries are ignored.
    Ignored,
}

/// Whether the model suppresses a rule's findings at a place.
pub(super) fn is_suppressed(model: &Model, at: FindingPlace, rule: &RuleFacts) -> bool {
    let names_rule = |word: &str| {
        word.parse::<Selector>()
            .is_ok_and(|selector| selector.matches(rule))
    };
    let suppresses = |entries: &[StringStringEntryProto]| words(entries).any(names_rule);
    if suppresses(&model.proto().metadata_props) {
        return true;
    }
    let (own, scope) = match at {
        FindingPlace::Model => return false,
        FindingPlace::Node(node) => (suppresses(&model.node(node).metadata_props), node.scope),
        FindingPlace::Value(scope, value) => {
            let tensor = model
                .initializer(value)
                .is_some_and(|tensor| suppresses(&tensor.metadata_props));
            (
                tensor
                    || model
                        .declared(value)
                        .is_some_and(|info| suppresses(&info.metadata_props)),
                scope,
            )
        }
    };
    own || scope_and_enclosing(model, scope).any(suppresses)
}

/// The metadata of a scope, of the node that owns it, and of the enclosing scopes.
fn scope_and_enclosing(
    model: &Model,
    scope: ScopeId,
) -> impl Iterator<Item = &[StringStringEntryProto]> {
    let scopes = std::iter::successors(Some(scope), |&inner| model.enclosing(inner));
    scopes.flat_map(|scope| {
        let owner = match model.scope_kind(scope) {
            ScopeKind::Subgraph { owner, .. } => model.node(owner).metadata_props.as_slice(),
            _ => &[],
        };
        [body_metadata(model, scope), owner]
    })
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
