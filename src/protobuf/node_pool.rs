//! Decoded nodes that a model shares with another one.
//!
//! A written model has most of the nodes of its original. Those with the same bytes are not decoded
//! again: both models have one message in memory.

use std::hash::BuildHasher;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::schema::{ModelProto, NodeProto};

/// The unchanged nodes of a model's main graph, by their bytes.
pub(super) struct NodePool<'m> {
    nodes: &'m [NodeProto],
    /// Indices into `nodes`; the bytes are the keys.
    table: HashTable<u32>,
    hasher: RandomState,
}

impl<'m> NodePool<'m> {
    pub(super) fn of(model: &'m ModelProto) -> NodePool<'m> {
        let nodes = match &model.graph {
            Some(graph) => graph.node.as_slice(),
            None => &[],
        };
        let hasher = RandomState::default();
        let mut table = HashTable::with_capacity(nodes.len());
        for (index, node) in (0..).zip(nodes) {
            if let Some(bytes) = node.as_source() {
                let rehash = |&other: &u32| hasher.hash_one(nodes[other as usize].as_source());
                table.insert_unique(hasher.hash_one(Some(bytes)), index, rehash);
            }
        }
        NodePool {
            nodes,
            table,
            hasher,
        }
    }

    /// The node that was decoded from these bytes, if there is one.
    pub(super) fn get(&self, bytes: &[u8]) -> Option<NodeProto> {
        let is_same = |&index: &u32| self.nodes[index as usize].as_source() == Some(bytes);
        let index = self
            .table
            .find(self.hasher.hash_one(Some(bytes)), is_same)?;
        Some(self.nodes[*index as usize].clone())
    }
}
