//! `metadata_props` at every level: of the model, graphs, functions, nodes, values and tensors.

use std::collections::BTreeMap;

use super::Model;
use super::change::{BodyMut, body_mut};
use super::index::{Declared, Origin, ValueId};
use super::scope::{Body, NodeId, ScopeId, ScopeKind};
use super::tensors::TensorPlace;
use crate::protobuf::raw;
use crate::protobuf::schema::{ModelProto, StringStringEntryProto, ValueInfoProto};

/// Keys of `metadata_props`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataKeys {
    /// Every key.
    All,
    /// These keys; a key that ends in `*` matches every key with that prefix.
    These(Vec<String>),
}

/// What `metadata_props` describe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum MetadataPlace {
    /// The model.
    Model,
    /// A graph or function.
    Scope(ScopeId),
    /// A node.
    Node(NodeId),
    /// An initializer.
    Initializer(ValueId),
    /// The declaration of a value.
    Declaration(ValueId),
}

impl MetadataKeys {
    /// Whether a key is one of these.
    #[must_use]
    pub(crate) fn contains(&self, key: &str) -> bool {
        let matches = |pattern: &String| match pattern.strip_suffix('*') {
            Some(prefix) => key.starts_with(prefix),
            None => key == pattern,
        };
        match self {
            MetadataKeys::All => true,
            MetadataKeys::These(keys) => keys.iter().any(matches),
        }
    }

    /// Those of the keys that match none of the keys of some entries.
    #[must_use]
    pub fn unmatched<'k>(&'k self, entries: &BTreeMap<String, usize>) -> Vec<&'k str> {
        let MetadataKeys::These(keys) = self else {
            return Vec::new();
        };
        let is_unmatched = |key: &&String| {
            let one = MetadataKeys::These(vec![(*key).clone()]);
            !entries.keys().any(|entry| one.contains(entry))
        };
        keys.iter()
            .filter(is_unmatched)
            .map(String::as_str)
            .collect()
    }

    fn any(&self, entries: &[StringStringEntryProto]) -> bool {
        entries.iter().any(|entry| self.contains(entry.key()))
    }

    fn drop(&self, entries: &mut Vec<StringStringEntryProto>) {
        entries.retain(|entry| !self.contains(entry.key()));
    }
}

/// The scopes and tensors that have matching entries.
#[derive(Debug, Default)]
pub(super) struct Entries {
    scopes: Vec<ScopeId>,
    tensors: Vec<TensorPlace>,
    /// The number of entries, by key.
    counts: BTreeMap<String, usize>,
}

/// # Metadata
impl Model {
    /// The number of entries of these keys, by key.
    #[must_use]
    pub fn metadata(&self, keys: &MetadataKeys) -> BTreeMap<String, usize> {
        self.metadata_entries(keys).counts
    }

    /// The entries at a place; none if there is no such initializer or declaration.
    pub(crate) fn metadata_at(&self, place: MetadataPlace) -> &[StringStringEntryProto] {
        match place {
            MetadataPlace::Model => &self.proto().metadata_props,
            MetadataPlace::Scope(scope) => match self.body(scope) {
                Body::Graph(graph) => &graph.metadata_props,
                Body::Function(function) => &function.metadata_props,
            },
            MetadataPlace::Node(node) => &self.node(node).metadata_props,
            MetadataPlace::Initializer(value) => self
                .initializer(value)
                .map_or(&[], |tensor| &tensor.metadata_props),
            MetadataPlace::Declaration(value) => self
                .declared(value)
                .map_or(&[], |info| &info.metadata_props),
        }
    }

    /// The places that have entries of a key, in document order.
    pub(crate) fn places_with_metadata(&self, key: &str) -> Vec<MetadataPlace> {
        let of_scopes = self.scopes().flat_map(|scope| {
            let nodes = self.nodes(scope).map(MetadataPlace::Node);
            std::iter::once(MetadataPlace::Scope(scope)).chain(nodes)
        });
        let of_values = self.values().flat_map(|value| {
            [
                MetadataPlace::Initializer(value),
                MetadataPlace::Declaration(value),
            ]
        });
        let has = |place: &MetadataPlace| {
            let mut entries = self.metadata_at(*place).iter();
            entries.any(|entry| entry.key() == key)
        };
        std::iter::once(MetadataPlace::Model)
            .chain(of_scopes)
            .chain(of_values)
            .filter(has)
            .collect()
    }

    /// The path of what entries describe: `model`, `graph`, `graph/cast_3`, `graph/weight`.
    pub(crate) fn metadata_path(&self, place: MetadataPlace) -> String {
        match place {
            MetadataPlace::Model => "model".to_owned(),
            MetadataPlace::Scope(scope) => self.scope_path(scope),
            MetadataPlace::Node(node) => self.node_path(node),
            MetadataPlace::Initializer(value) | MetadataPlace::Declaration(value) => {
                let scope = self.scope_path(self.scope_of(value));
                format!("{scope}/{}", self.name(value))
            }
        }
    }

    /// Where [`set_entry`] finds the entries of a place; none if there is no such initializer or
    /// declaration.
    pub(super) fn entries_place(&self, place: MetadataPlace) -> Option<EntriesPlace> {
        Some(match place {
            MetadataPlace::Model => EntriesPlace::Model,
            MetadataPlace::Scope(scope) => EntriesPlace::Scope(scope),
            MetadataPlace::Node(node) => EntriesPlace::Node(node),
            MetadataPlace::Initializer(value) => match self.origin(value) {
                Origin::Initializer { index, .. } => {
                    EntriesPlace::Initializer(self.scope_of(value), index)
                }
                _ => return None,
            },
            MetadataPlace::Declaration(value) => {
                let declared = self.index.value(value).declared?;
                EntriesPlace::Declaration(self.scope_of(value), declared)
            }
        })
    }

    pub(super) fn metadata_entries(&self, keys: &MetadataKeys) -> Entries {
        let mut found = Entries::default();
        let mut count = |entries: &[StringStringEntryProto]| {
            let mut is_any = false;
            for entry in entries.iter().filter(|entry| keys.contains(entry.key())) {
                is_any = true;
                *found.counts.entry(entry.key().to_owned()).or_default() += 1;
            }
            is_any
        };
        count(&self.proto().metadata_props);
        for scope in self.scopes() {
            let body = self.body(scope);
            let (own, infos): (&[StringStringEntryProto], [&[ValueInfoProto]; 2]) = match body {
                Body::Graph(graph) => (&graph.metadata_props, [&graph.input, &graph.output]),
                Body::Function(function) => (&function.metadata_props, [&[], &[]]),
            };
            let infos = infos
                .into_iter()
                .flatten()
                .chain(body.value_info())
                .map(|info| info.metadata_props.as_slice());
            let nodes = body
                .nodes()
                .iter()
                .map(|node| node.metadata_props.as_slice());
            let of_scope = std::iter::once(own).chain(infos).chain(nodes);
            if of_scope.fold(false, |is_any, entries| count(entries) | is_any) {
                found.scopes.push(scope);
            }
        }
        found.tensors = self
            .tensors()
            .filter(|(_, tensor)| count(&tensor.metadata_props))
            .map(|(place, _)| place)
            .collect();
        found
    }
}

/// A [`MetadataPlace`] by the positions of its message.
#[derive(Clone, Copy, Debug)]
pub(super) enum EntriesPlace {
    Model,
    Scope(ScopeId),
    Node(NodeId),
    Initializer(ScopeId, u32),
    Declaration(ScopeId, Declared),
}

/// Sets the value of the first entry of a key, or adds an entry. Other messages are not borrowed
/// mutably, and keep their bytes.
pub(super) fn set_entry(
    model: &mut ModelProto,
    kinds: &[ScopeKind],
    place: EntriesPlace,
    key: &str,
    value: String,
) {
    let scope = match place {
        EntriesPlace::Model => return set(&mut model.metadata_props, key, value),
        EntriesPlace::Scope(scope)
        | EntriesPlace::Node(NodeId { scope, .. })
        | EntriesPlace::Initializer(scope, _)
        | EntriesPlace::Declaration(scope, _) => scope,
    };
    let Some(mut body) = body_mut(model, kinds, scope) else {
        return;
    };
    let entries = match (place, &mut body) {
        (EntriesPlace::Node(node), body) => body
            .nodes()
            .get_mut(node.position as usize)
            .map(|node| &mut node.metadata_props),
        (EntriesPlace::Initializer(_, index), BodyMut::Graph(graph)) => graph
            .initializer
            .get_mut(index as usize)
            .map(|tensor| &mut tensor.metadata_props),
        (EntriesPlace::Declaration(_, declared), body) => body
            .declaration(declared)
            .map(|info| &mut info.metadata_props),
        (_, BodyMut::Graph(graph)) => Some(&mut graph.metadata_props),
        (_, BodyMut::Function(function)) => Some(&mut function.metadata_props),
    };
    if let Some(entries) = entries {
        set(entries, key, value);
    }
}

fn set(entries: &mut Vec<StringStringEntryProto>, key: &str, value: String) {
    match entries.iter_mut().find(|entry| entry.key() == key) {
        Some(entry) => entry.value = Some(value),
        None => entries.push(
            raw::StringStringEntryProto {
                key: Some(key.to_owned()),
                value: Some(value),
            }
            .into(),
        ),
    }
}

/// Removes the entries. Messages without entries are not borrowed mutably, and keep their bytes.
pub(super) fn drop_entries(
    model: &mut ModelProto,
    kinds: &[ScopeKind],
    found: &Entries,
    keys: &MetadataKeys,
) {
    if keys.any(&model.metadata_props) {
        keys.drop(&mut model.metadata_props);
    }
    for &place in &found.tensors {
        let mut body = body_mut(model, kinds, place.scope());
        if let Some(tensor) = body.as_mut().and_then(|body| body.tensor(place)) {
            keys.drop(&mut tensor.metadata_props);
        }
    }
    for &scope in &found.scopes {
        let mut body = body_mut(model, kinds, scope).expect("a scope of this model has a body");
        match &mut body {
            BodyMut::Graph(graph) => {
                keys.drop(&mut graph.metadata_props);
                drop_of_infos(&mut graph.input, keys);
                drop_of_infos(&mut graph.output, keys);
                drop_of_infos(&mut graph.value_info, keys);
            }
            BodyMut::Function(function) => {
                keys.drop(&mut function.metadata_props);
                drop_of_infos(&mut function.value_info, keys);
            }
        }
        for node in body
            .nodes()
            .iter_mut()
            .filter(|node| keys.any(&node.metadata_props))
        {
            keys.drop(&mut node.metadata_props);
        }
    }
}

fn drop_of_infos(infos: &mut [ValueInfoProto], keys: &MetadataKeys) {
    for info in infos
        .iter_mut()
        .filter(|info| keys.any(&info.metadata_props))
    {
        keys.drop(&mut info.metadata_props);
    }
}
