//! Tensors that state the same place of a data file before and after, of which the written model
//! may have another file.

use super::evaluate::{Value, first_difference};
use super::fault::Fault;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::Model;
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Tensor, Values};

/// Tensors that the original reads at the same location, and whose bytes the written model lacks.
/// All others are compared as constants.
pub(super) fn compare(original: &Model, written: &Model) -> Vec<Fault> {
    if original.data().is_same(written.data()) {
        return Vec::new();
    }
    let is_elsewhere = |location: &String| !original.data().has_same_file(written.data(), location);
    let locations: HashSet<String> = written
        .data_ranges()
        .into_keys()
        .filter(is_elsewhere)
        .collect();
    if locations.is_empty() {
        return Vec::new();
    }
    let moved = |model| in_files(model, &locations);
    let before: HashMap<String, &TensorProto> = moved(original).collect();
    let fault = |(path, after): (String, &TensorProto)| {
        let before = before
            .get(&path)
            .filter(|before| before.external_data == after.external_data)?;
        // A data file that the original lacks may be fetched later.
        let expected = Value::load(before, original.data()).ok()?;
        match Value::load(after, written.data()) {
            Err(why) => Some(Fault::at(path, why)),
            Ok(found) => first_difference(&expected, &found)
                .map(|_| Fault::at(path, "has other bytes in its data file")),
        }
    };
    moved(written).filter_map(fault).collect()
}

/// The tensors at some locations, by path.
fn in_files<'m>(
    model: &'m Model,
    locations: &HashSet<String>,
) -> impl Iterator<Item = (String, &'m TensorProto)> {
    let is_there = |tensor: &TensorProto| match Tensor::read(tensor).map(|tensor| tensor.values()) {
        Ok(Ok(Values::External(reference))) => locations.contains(&reference.location),
        _ => false,
    };
    model
        .tensors()
        .filter(move |(_, tensor)| is_there(tensor))
        .map(|(place, tensor)| (model.tensor_path(place), tensor))
}
