//! Where a tensor's values are if they are in another file.

use bytes::Bytes;

use super::typed;
use super::view::{BadTensor, RAW_DATA};
use crate::wire::raw::{self, tensor_proto::DataLocation};
use crate::wire::schema::{StringStringEntryProto, TensorProto};
use crate::wire::{DataFolder, Field, Value};

/// The keys of `external_data` that say where the values are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// A path relative to the model's folder.
    pub location: String,
    /// The first byte in that file.
    pub offset: u64,
    /// How many bytes; to the end of the file if it is not said.
    pub length: Option<u64>,
}

/// The keys of `external_data` that speak of one place; others are the business of whoever wrote them.
const KEYS: [&str; 5] = ["location", "offset", "length", "checksum", "basepath"];

/// A tensor with its values in another file.
#[must_use]
pub fn moved_to_file(tensor: &TensorProto, reference: &Reference) -> TensorProto {
    let entry = |key: &str, value: String| {
        StringStringEntryProto::from(raw::StringStringEntryProto { key: Some(key.to_owned()), value: Some(value) })
    };
    let mut moved = without_values(tensor);
    let location = [entry("location", reference.location.clone()), entry("offset", reference.offset.to_string())];
    let length = reference.length.map(|length| entry("length", length.to_string()));
    moved.external_data.splice(0..0, location.into_iter().chain(length));
    moved.data_location = Some(DataLocation::External.into());
    moved
}

/// A tensor with its values in `raw_data`.
#[must_use]
pub fn moved_to_model(tensor: &TensorProto, raw_data: Bytes) -> TensorProto {
    let mut moved = without_values(tensor);
    moved.data_location = None;
    moved.rest_mut().push(Field { tag: RAW_DATA, value: Value::Len(raw_data) });
    moved
}

/// A tensor without its numbers, and without the keys that say where they are.
#[must_use]
pub fn without_values(tensor: &TensorProto) -> TensorProto {
    let mut bare = tensor.clone();
    bare.rest_mut().retain(|field| field.tag != RAW_DATA && !typed::FIELDS.contains(&field.tag));
    bare.external_data.retain(|entry| !KEYS.contains(&entry.key()));
    bare
}

/// Whether the values are in another file.
#[must_use]
pub fn is_external(proto: &TensorProto) -> bool {
    proto.data_location == Some(DataLocation::External.into())
}

impl Reference {
    /// Reads the keys of a tensor whose `data_location` is EXTERNAL.
    ///
    /// # Errors
    /// Where `location` is missing, or `offset` or `length` is not a number.
    pub fn read(proto: &TensorProto) -> Result<Reference, BadTensor> {
        let text = |key: &str| {
            let entry = proto.external_data.iter().rev().find(|entry| entry.key() == key);
            entry.map(|entry| entry.value().to_owned())
        };
        let number = |key: &str| match text(key) {
            Some(digits) => match digits.trim().parse::<u64>() {
                Ok(number) => Ok(Some(number)),
                Err(_) => Err(BadTensor::External(format!("'{key}' is '{digits}', not a number of bytes"))),
            },
            None => Ok(None),
        };
        let location = text("location").filter(|location| !location.is_empty());
        Ok(Reference {
            location: location.ok_or_else(|| BadTensor::External("'location' is missing".to_owned()))?,
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }
    /// The bytes of a tensor that takes `needed` bytes: a slice of the mapped file.
    ///
    /// # Errors
    /// Where the file cannot be read, or does not have these bytes.
    pub fn bytes(&self, needed: u64, folder: &DataFolder) -> Result<Bytes, BadTensor> {
        let file = folder.open(&self.location)?;
        let available = file.bytes.len() as u64;
        match self.offset.checked_add(needed) {
            // Both fit into the length of a map now.
            Some(end) if end <= available => Ok(file.bytes.slice(self.offset as usize..end as usize)),
            _ => Err(BadTensor::External(format!(
                "the tensor takes {needed} bytes from byte {} on, but the file '{}' has {available}",
                self.offset, self.location
            ))),
        }
    }
}
