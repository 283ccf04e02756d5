//! Which item of one list is which of another.

use std::collections::{HashMap, VecDeque};

use bytes::Bytes;

use super::field::Fields;
use crate::graph::domain_name;
use crate::wire::Value;
use crate::wire::outline::{Kind, Message};

/// An item of two lists, by its index in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pair {
    Both(usize, usize),
    Left(usize),
    Right(usize),
}

/// Matches the items of two lists: first by the surest of what they are known by, then by the next, and what is known by nothing by
/// its place. In the order of the left list; then what only the right one has.
pub(super) fn matched(message: &'static Message, sides: [&[Bytes]; 2]) -> Vec<Pair> {
    let keys = sides.map(|items| items.iter().map(|item| keys(message, item)).collect::<Vec<_>>());
    let mut partner: Vec<Option<usize>> = vec![None; sides[0].len()];
    let mut is_taken = vec![false; sides[1].len()];
    for round in 0..KEYS {
        let mut free: HashMap<&str, VecDeque<usize>> = HashMap::new();
        for (index, keys) in keys[1].iter().enumerate().filter(|&(index, _)| !is_taken[index]) {
            if let Some(key) = &keys[round] {
                free.entry(key).or_default().push_back(index);
            }
        }
        for (index, keys) in keys[0].iter().enumerate() {
            if partner[index].is_none()
                && let Some(key) = &keys[round]
                && let Some(right) = free.get_mut(key.as_str()).and_then(VecDeque::pop_front)
            {
                partner[index] = Some(right);
                is_taken[right] = true;
            }
        }
    }
    let is_nameless = |keys: &[Option<String>; KEYS]| keys.iter().all(Option::is_none);
    let nameless = [0, 1].map(|side| keys[side].iter().enumerate().filter(|(_, keys)| is_nameless(keys)).map(|(index, _)| index));
    let [left, right] = nameless;
    for (left, right) in left.zip(right) {
        partner[left] = Some(right);
        is_taken[right] = true;
    }
    let left = partner.iter().enumerate().map(|(left, right)| right.map_or(Pair::Left(left), |right| Pair::Both(left, right)));
    let right = (0..is_taken.len()).filter(|&index| !is_taken[index]).map(Pair::Right);
    left.chain(right).collect()
}

/// The first two items that should be one and the same, were the lists in the same order.
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

/// How many things an item may be known by.
const KEYS: usize = 2;

/// What an item is known by, the surest first.
fn keys(message: &'static Message, item: &Bytes) -> [Option<String>; KEYS] {
    let fields = Fields::read(message, item);
    let text = |name: &str| fields.text(message, name);
    match message.name {
        "NodeProto" => [text("output"), text("name")],
        "ValueInfoProto" | "TensorProto" | "AttributeProto" | "DeviceConfigurationProto" => [text("name"), None],
        "StringStringEntryProto" => [text("key"), None],
        "OperatorSetIdProto" => [Some(domain_name(&text("domain").unwrap_or_default()).to_owned()), None],
        "FunctionProto" => [Some(["domain", "name", "overload"].map(|name| text(name).unwrap_or_default()).join(":")), None],
        "TensorAnnotation" | "ShardingSpecProto" => [text("tensor_name"), None],
        "NodeDeviceConfigurationProto" => [text("configuration_id"), None],
        "SparseTensorProto" => [values_name(message, &fields), None],
        _ => [None, None],
    }
}

/// A sparse tensor has the name of its values.
fn values_name(message: &'static Message, fields: &Fields) -> Option<String> {
    let values = message.fields.iter().find(|field| field.name == "values")?;
    let Kind::Message(inner) = values.kind else { return None };
    let tensor = fields.values(values.number).first().and_then(Value::to_bytes)?;
    Fields::read(inner, &tensor).text(inner, "name")
}
