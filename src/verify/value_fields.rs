//! The fields in which tensors store their values.

use super::fault::Fault;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::Model;
use crate::protobuf::outline::TENSOR_PROTO;
use crate::protobuf::schema::{StringStringEntryProto, TensorProto};

/// Tensors that have values in several fields, of which the original has one: readers differ in the
/// field that they read.
pub(super) fn ambiguous(original: &Model, written: &Model) -> Vec<Fault> {
    let of = |model: &Model| -> Vec<(String, Vec<&str>, Vec<StringStringEntryProto>)> {
        let several = model
            .tensors()
            .map(|(place, tensor)| (place, tensor, fields(tensor)));
        let several = several.filter(|(_, _, fields)| fields.len() > 1);
        several
            .map(|(place, tensor, fields)| {
                (
                    model.tensor_path(place),
                    fields,
                    tensor.external_data.clone(),
                )
            })
            .collect()
    };
    let found = of(written);
    if found.is_empty() {
        return Vec::new();
    }
    let known: HashSet<(String, Vec<&str>)> = of(original)
        .into_iter()
        .map(|(path, fields, _)| (path, fields))
        .collect();
    let keys: HashMap<String, &[StringStringEntryProto]> = original
        .tensors()
        .map(|(place, tensor)| (original.tensor_path(place), tensor.external_data.as_slice()))
        .collect();
    let mut faults = Vec::new();
    for (path, fields, left) in found {
        // A tensor that moves into the model keeps the keys that are not of its location.
        let before = keys.get(&path).copied().unwrap_or_default();
        let has_moved = fields == ["raw_data", "external_data"]
            && left.iter().all(|entry| before.contains(entry));
        if !has_moved && !known.contains(&(path.clone(), fields.clone())) {
            faults.push(Fault::at(
                path,
                format!("has values in several fields: {}", fields.join(", ")),
            ));
        }
    }
    faults
}

/// The fields in which a tensor has values.
fn fields(tensor: &TensorProto) -> Vec<&'static str> {
    let is_set = |name: &str, number: u32| match name {
        "string_data" => !tensor.string_data.is_empty(),
        "external_data" => !tensor.external_data.is_empty(),
        _ => name.ends_with("_data") && tensor.rest().iter().any(|field| field.tag == number),
    };
    TENSOR_PROTO
        .fields
        .iter()
        .filter(|field| is_set(field.name, field.number))
        .map(|field| field.name)
        .collect()
}
