//! Matches the items of two lists.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use bytes::Bytes;

use super::field::first_text;
use crate::base::hash::HashMap;
use crate::graph::domain_name;
use crate::protobuf::outline::{Kind, Message};

/// An item of one or both lists, by its index in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    Both(usize, usize),
    Left(usize),
    Right(usize),
}

/// Matches the items of two lists by their keys, the most reliable key first, and items without a
/// key by index. The result is in the order of the left list, followed by the items that only the
/// right list has.
pub(super) fn matched(message: &'static Message, sides: [&[&Bytes]; 2]) -> Vec<Pair> {
    let mut partner: Vec<Option<usize>> = vec![None; sides[0].len()];
    let mut is_taken = vec![false; sides[1].len()];
    // Most lists begin with the same items, which need no table.
    for (index, (left, right)) in sides[0].iter().zip(sides[1]).enumerate() {
        let is_equal_node = message.name == "NodeProto" && left == right;
        let key = if is_equal_node {
            None
        } else {
            key(message, 0, left)
        };
        if !is_equal_node && key != self::key(message, 0, right) {
            break;
        }
        if is_equal_node || key.is_some() {
            partner[index] = Some(index);
            is_taken[index] = true;
        }
    }
    for round in 0..KEYS {
        let unmatched: Vec<usize> = (0..partner.len())
            .filter(|&left| partner[left].is_none())
            .collect();
        if unmatched.is_empty() {
            break;
        }
        let mut free = Free::new(message, round, sides[1], &is_taken);
        for left in unmatched {
            if let Some(right) = key(message, round, sides[0][left]).and_then(|key| free.take(key))
            {
                partner[left] = Some(right);
                is_taken[right] = true;
            }
        }
    }
    let is_nameless = |item: &Bytes| (0..KEYS).all(|round| key(message, round, item).is_none());
    let left: Vec<usize> = (0..partner.len())
        .filter(|&left| partner[left].is_none() && is_nameless(sides[0][left]))
        .collect();
    let right: Vec<usize> = (0..is_taken.len())
        .filter(|&right| !is_taken[right] && is_nameless(sides[1][right]))
        .collect();
    for (left, right) in left.into_iter().zip(right) {
        partner[left] = Some(right);
        is_taken[right] = true;
    }
    let left = partner
        .iter()
        .enumerate()
        .map(|(left, right)| right.map_or(Pair::Left(left), |right| Pair::Both(left, right)));
    let right = (0..is_taken.len())
        .filter(|&index| !is_taken[index])
        .map(Pair::Right);
    left.chain(right).collect()
}

/// The unmatched items of a list by key. Items with the same key are taken in order.
struct Free<'a> {
    /// The index of the first item with a key.
    first: HashMap<Key<'a>, usize>,
    /// The index of the next item with the same key, by index.
    next: Vec<Option<usize>>,
}

impl<'a> Free<'a> {
    fn new(
        message: &'static Message,
        round: usize,
        items: &[&'a Bytes],
        is_taken: &[bool],
    ) -> Free<'a> {
        let mut free = Free {
            first: HashMap::default(),
            next: vec![None; items.len()],
        };
        for (index, item) in items
            .iter()
            .enumerate()
            .rev()
            .filter(|&(index, _)| !is_taken[index])
        {
            if let Some(key) = key(message, round, item) {
                free.next[index] = free.first.insert(key, index);
            }
        }
        free
    }

    fn take(&mut self, key: Key<'a>) -> Option<usize> {
        let Entry::Occupied(mut first) = self.first.entry(key) else {
            return None;
        };
        let index = *first.get();
        match self.next[index] {
            Some(next) => drop(first.insert(next)),
            None => drop(first.remove()),
        }
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
    if both.is_sorted_by_key(|&(_, right)| right) {
        return None;
    }
    let mut in_order: Vec<usize> = both.iter().map(|&(_, right)| right).collect();
    in_order.sort_unstable();
    let first = both
        .iter()
        .zip(in_order)
        .find(|((_, right), in_order)| right != in_order);
    first.map(|(&(left, _), in_order)| (left, in_order))
}

/// The number of keys that an item may have.
const KEYS: usize = 4;

/// The identity of an item: one text, or of a node its name, operator and first output, as far as
/// they are compared.
type Key<'b> = [Option<Cow<'b, [u8]>>; 3];

/// The key of an item in a round; the most reliable key is used in round 0.
///
/// A node is known by its name and operator: a rewrite that gives its output another name, or the
/// name of its output to another node, keeps them. Nodes of equal names are told apart by their
/// outputs. A node that is renamed, or has no name, is known by its output, and one whose operator
/// is replaced by its name.
fn key<'b>(message: &'static Message, round: usize, item: &'b [u8]) -> Option<Key<'b>> {
    let text = |name: &str| first_text(message, name, item).map(Cow::Borrowed);
    match (message.name, round) {
        ("NodeProto", 0) => {
            let key = [text("name"), text("op_type"), text("output")];
            (key[0].is_some() || key[2].is_some()).then_some(key)
        }
        ("NodeProto", 1) => Some([Some(text("name")?), text("op_type"), None]),
        ("NodeProto", 2) => Some([None, None, Some(text("output")?)]),
        ("NodeProto", 3) => Some([Some(text("name")?), None, None]),
        (_, 0) => Some([Some(name(message, item)?), None, None]),
        _ => None,
    }
}

/// The name of an item other than a node.
fn name<'b>(message: &'static Message, item: &'b [u8]) -> Option<Cow<'b, [u8]>> {
    let text = |name: &str| first_text(message, name, item).map(Cow::Borrowed);
    let string = |name: &str| {
        text(name).map_or_else(String::new, |text| {
            String::from_utf8_lossy(&text).into_owned()
        })
    };
    match message.name {
        "ValueInfoProto" | "TensorProto" | "AttributeProto" | "DeviceConfigurationProto" => {
            text("name")
        }
        "StringStringEntryProto" => text("key"),
        "OperatorSetIdProto" => Some(
            domain_name(&string("domain"))
                .to_owned()
                .into_bytes()
                .into(),
        ),
        "FunctionProto" => Some(
            ["domain", "name", "overload"]
                .map(string)
                .join(":")
                .into_bytes()
                .into(),
        ),
        "TensorAnnotation" | "ShardingSpecProto" => text("tensor_name"),
        "NodeDeviceConfigurationProto" => text("configuration_id"),
        "SparseTensorProto" => values_name(message, item).map(Cow::Borrowed),
        _ => None,
    }
}

/// The name of a sparse tensor is the name of its values.
fn values_name<'b>(message: &'static Message, item: &'b [u8]) -> Option<&'b [u8]> {
    let values = message.named("values")?;
    let Kind::Message(inner) = values.kind else {
        return None;
    };
    first_text(inner, "name", first_text(message, "values", item)?)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::protobuf::outline::NODE_PROTO;
    use crate::protobuf::raw::NodeProto;

    /// A node by its output, its name and its operator: `y/n/Op`.
    fn node(text: &&str) -> Bytes {
        let mut parts = text
            .split('/')
            .map(|text| (!text.is_empty()).then(|| text.to_owned()));
        let [output, name, op_type] = [(); 3].map(|()| parts.next().flatten());
        NodeProto {
            output: output.into_iter().collect(),
            name,
            op_type,
            ..Default::default()
        }
        .encode_to_vec()
        .into()
    }

    #[test]
    fn items_are_matched_by_key_then_by_index() {
        use Pair::{Both, Left, Right};
        let cases: [(&[&str], &[&str], &[Pair]); 14] = [
            (&["a", "b"], &["a", "b"], &[Both(0, 0), Both(1, 1)]),
            (
                &["a", "b"],
                &["a", "x", "b"],
                &[Both(0, 0), Both(1, 2), Right(1)],
            ),
            (
                &["a", "b", "c"],
                &["a", "c", "b"],
                &[Both(0, 0), Both(1, 2), Both(2, 1)],
            ),
            (
                &["a", "a", "b"],
                &["a", "b", "a"],
                &[Both(0, 0), Both(1, 2), Both(2, 1)],
            ),
            (
                &["", "a", ""],
                &["", "a"],
                &[Both(0, 0), Both(1, 1), Left(2)],
            ),
            (
                &["", "a", ""],
                &["a", "", ""],
                &[Both(0, 1), Both(1, 0), Both(2, 2)],
            ),
            (&["a/n", "b/m"], &["x/m", "y/n"], &[Both(0, 1), Both(1, 0)]),
            (
                &["a/n", "/m", "c"],
                &["a/m", "/n", "c"],
                &[Both(0, 1), Both(1, 0), Both(2, 2)],
            ),
            // A node gives the name of its output to another one that is inserted after it.
            (
                &["y/n/Relu"],
                &["x/n/Relu", "y/m/Cast"],
                &[Both(0, 0), Right(1)],
            ),
            // Names that move on to nodes of other operators do not mislead.
            (
                &["x/n0/Relu", "y/n1/Cast"],
                &["w/n0/Abs", "x/n1/Relu", "y/n2/Cast"],
                &[Both(0, 1), Both(1, 2), Right(0)],
            ),
            // Nodes of equal names are told apart by their outputs.
            (&["a/n/Op", "b/n/Op"], &["b/n/Op"], &[Left(0), Both(1, 0)]),
            (
                &["a/n/Op", "b/n/Op"],
                &["c/n/Op", "b/n/Op"],
                &[Both(0, 0), Both(1, 1)],
            ),
            // Without names, and with new ones.
            (
                &["a//Op", "b//Op"],
                &["b/m/Op", "a/n/Op"],
                &[Both(0, 1), Both(1, 0)],
            ),
            // Another operator of the same name and output.
            (
                &["a/n/Cast"],
                &["b/m/Cast", "a/n/CastLike"],
                &[Both(0, 1), Right(0)],
            ),
        ];
        for (left, right, expected) in cases {
            let nodes = [left, right].map(|texts| texts.iter().map(node).collect::<Vec<Bytes>>());
            let sides = nodes
                .each_ref()
                .map(|nodes| nodes.iter().collect::<Vec<&Bytes>>());
            assert_eq!(
                matched(&NODE_PROTO, [&sides[0], &sides[1]]),
                expected,
                "{left:?} {right:?}"
            );
        }
    }
}
