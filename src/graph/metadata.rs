//! `metadata_props` at every level: of the model, graphs, functions, nodes, values and tensors.

use std::collections::BTreeMap;

use super::Model;
use super::change::{BodyMut, body_mut};
use super::scope::{Body, ScopeId, ScopeKind};
use super::tensors::TensorPlace;
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

impl MetadataKeys {
    /// Whether a key is one of these.
    #[must_use]
    pub fn contains(&self, key: &str) -> bool {
        let matches = |pattern: &String| match pattern.strip_suffix('*') {
            Some(prefix) => key.starts_with(prefix),
            None => key == pattern,
        };
        match self {
            MetadataKeys::All => true,
            MetadataKeys::These(keys) => keys.iter().any(matches),
        }
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
