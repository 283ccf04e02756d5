//! The fields in which tensors store their values.

use super::fault::Fault;
use crate::base::hash::HashSet;
use crate::graph::Model;
use crate::protobuf::outline::TENSOR_PROTO;
use crate::protobuf::schema::TensorProto;

/// Tensors that have values in several fields, of which the original has one: readers differ in the field that they read.
pub(super) fn ambiguous(original: &Model, written: &Model) -> Vec<Fault> {
    let of = |model: &Model| -> Vec<(String, Vec<&str>)> {
        let several = model.tensors().map(|(place, tensor)| (place, fields(tensor))).filter(|(_, fields)| fields.len() > 1);
        several.map(|(place, fields)| (model.tensor_path(place), fields)).collect()
    };
    let found = of(written);
    if found.is_empty() {
        return Vec::new();
    }
    let known: HashSet<(String, Vec<&str>)> = of(original).into_iter().collect();
    let new = found.into_iter().filter(|of| !known.contains(of));
    new.map(|(path, fields)| Fault::at(path, format!("has values in several fields: {}", fields.join(", ")))).collect()
}

/// The fields in which a tensor has values.
fn fields(tensor: &TensorProto) -> Vec<&'static str> {
    let is_set = |name: &str, number: u32| match name {
        "string_data" => !tensor.string_data.is_empty(),
        "external_data" => !tensor.external_data.is_empty(),
        _ => name.ends_with("_data") && tensor.rest().iter().any(|field| field.tag == number),
    };
    TENSOR_PROTO.fields.iter().filter(|field| is_set(field.name, field.number)).map(|field| field.name).collect()
}
