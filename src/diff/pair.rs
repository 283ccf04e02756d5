//! Matches the items of two lists.

use std::collections::hash_map::Entry;

use bytes::Bytes;

use super::field::first_text;
use crate::graph::domain_name;
use crate::hash::HashMap;
use crate::wire::outline::{Kind, Message};

/// An item of one or both lists, by its index in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    Both(usize, usize),
    Left(usize),
    Right(usize),
}

/// Matches the items of two lists by their keys, the most reliable key first, and items without a key by index. The result is in the
/// order of the left list, followed by the items that only the right list has.
pub(super) fn matched(message: &'static Message, sides: [&[&Bytes]; 2]) -> Vec<Pair> {
    let mut partner: Vec<Option<usize>> = vec![None; sides[0].len()];
    let mut is_taken = vec![false; sides[1].len()];
    for round in 0..KEYS {
        let mut free = Free::new(message, round, sides[1], &is_taken);
        for (left, item) in sides[0].iter().enumerate().filter(|&(left, _)| partner[left].is_none()).collect::<Vec<_>>() {
            if let Some(right) = key(message, round, item).and_then(|key| free.take(&key)) {
                partner[left] = Some(right);
                is_taken[right] = true;
            }
        }
    }
    let is_nameless = |item: &Bytes| (0..KEYS).all(|round| key(message, round, item).is_none());
    let left: Vec<usize> = (0..partner.len()).filter(|&left| partner[left].is_none() && is_nameless(sides[0][left])).collect();
    let right: Vec<usize> = (0..is_taken.len()).filter(|&right| !is_taken[right] && is_nameless(sides[1][right])).collect();
    for (left, right) in left.into_iter().zip(right) {
        partner[left] = Some(right);
        is_taken[right] = true;
    }
    let left = partner.iter().enumerate().map(|(left, right)| right.map_or(Pair::Left(left), |right| Pair::Both(left, right)));
    let right = (0..is_taken.len()).filter(|&index| !is_taken[index]).map(Pair::Right);
    left.chain(right).collect()
}

/// The unmatched items of a list by key. Items with the same key are taken in order.
struct Free {
    /// The index of the first item with a key.
    first: HashMap<Bytes, usize>,
    /// The index of the next item with the same key, by index.
    next: Vec<Option<usize>>,
}

impl Free {
    fn new(message: &'static Message, round: usize, items: &[&Bytes], is_taken: &[bool]) -> Free {
        let mut free = Free { first: HashMap::default(), next: vec![None; items.len()] };
        for (index, item) in items.iter().enumerate().rev().filter(|&(index, _)| !is_taken[index]) {
            if let Some(key) = key(message, round, item) {
                free.next[index] = free.first.insert(key, index);
            }
        }
        free
    }

    fn take(&mut self, key: &Bytes) -> Option<usize> {
        let Entry::Occupied(mut entry) = self.first.entry(key.clone()) else {
            return None;
        };
        let index = *entry.get();
        match self.next[index] {
            Some(next) => entry.insert(next),
            None => entry.remove(),
        };
        Some(index)
    }
}

/// The first position at which the matched items of the lists are in a different order.
pub(super) fn first_out_of_order(pairs: &[Pair]) -> Option<(usize, usize)> {
    let both = pairs.iter().filter_map(|pair| match *pair {
        Pair::Both(left, right) => Some((left, right)),
        _ => None,
    });
    let both: Vec<(usize, usize)> = both.collect();
    let mut in_order: Vec<usize> = both.iter().map(|&(_, right)| right).collect();
    in_order.sort_unstable();
    let first = both.iter().zip(in_order).find(|((_, right), in_order)| right != in_order);
    first.map(|(&(left, _), in_order)| (left, in_order))
}

/// The number of keys that an item may have.
const KEYS: usize = 2;

/// The key of an item in a round; the most reliable key is used in round 0.
fn key(message: &'static Message, round: usize, item: &Bytes) -> Option<Bytes> {
    let text = |name: &str| first_text(message, name, item);
    let string = |name: &str| text(name).map_or_else(String::new, |text| String::from_utf8_lossy(&text).into_owned());
    match (round, message.name) {
        (0, "NodeProto") => text("output"),
        (1, "NodeProto") => text("name"),
        (0, "ValueInfoProto" | "TensorProto" | "AttributeProto" | "DeviceConfigurationProto") => text("name"),
        (0, "StringStringEntryProto") => text("key"),
        (0, "OperatorSetIdProto") => Some(domain_name(&string("domain")).to_owned().into()),
        (0, "FunctionProto") => Some(["domain", "name", "overload"].map(string).join(":").into()),
        (0, "TensorAnnotation" | "ShardingSpecProto") => text("tensor_name"),
        (0, "NodeDeviceConfigurationProto") => text("configuration_id"),
        (0, "SparseTensorProto") => values_name(message, item),
        _ => None,
    }
}

/// The name of a sparse tensor is the name of its values.
fn values_name(message: &'static Message, item: &Bytes) -> Option<Bytes> {
    let values = message.named("values")?;
    let Kind::Message(inner) = values.kind else { return None };
    first_text(inner, "name", &first_text(message, "values", item)?)
}
