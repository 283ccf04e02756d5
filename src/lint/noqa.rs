//! What a model says itself about rules that are not to judge it: `recast.noqa` among the `metadata_props` of the model, a graph, a
//! function, a node, an initializer or a declared value. Its value lists codes, beginnings of codes, or ALL.

use super::{Place, Rule, Selector};
use crate::graph::{Body, Model, ScopeId, ScopeKind};
use crate::wire::schema::StringStringEntryProto;

/// The key.
pub(super) const KEY: &str = "recast.noqa";

/// Whether what a model says is heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Noqa {
    /// It is.
    #[default]
    Respected,
    /// It is not.
    Ignored,
}

/// Whether the model asks not to be told of a rule's finding at a place.
pub(super) fn is_suppressed(model: &Model, at: Place, rule: &Rule) -> bool {
    let silences = |entries: &[StringStringEntryProto]| entries_name(entries, rule);
    if silences(&model.proto().metadata_props) {
        return true;
    }
    let (own, scope) = match at {
        Place::Model => return false,
        Place::Node(node) => (silences(&model.node(node).metadata_props), node.scope),
        Place::Value(scope, value) => {
            let tensor = model.initializer(value).is_some_and(|tensor| silences(&tensor.metadata_props));
            (tensor || model.declared(value).is_some_and(|info| silences(&info.metadata_props)), scope)
        }
    };
    own || scope_and_around(model, scope).any(silences)
}

/// The properties of a scope, of the node that it stands in, and so on outwards.
fn scope_and_around(model: &Model, scope: ScopeId) -> impl Iterator<Item = &[StringStringEntryProto]> {
    let scopes = std::iter::successors(Some(scope), |&inner| model.enclosing(inner));
    scopes.flat_map(|scope| {
        let body = match model.body(scope) {
            Body::Graph(graph) => &graph.metadata_props,
            Body::Function(function) => &function.metadata_props,
        };
        let owner = match model.scope_kind(scope) {
            ScopeKind::Subgraph { owner, .. } => model.node(owner).metadata_props.as_slice(),
            _ => &[],
        };
        [body.as_slice(), owner]
    })
}

fn entries_name(entries: &[StringStringEntryProto], rule: &Rule) -> bool {
    let mut known = entries.iter().filter(|entry| entry.key() == KEY).flat_map(|entry| words(entry.value()));
    known.any(|word| word.parse::<Selector>().is_ok_and(|selector| selector.matches(rule)))
}

/// The words of a value.
pub(super) fn words(value: &str) -> impl Iterator<Item = &str> {
    value.split([',', ' ', '\n', '\t']).filter(|word| !word.is_empty())
}
