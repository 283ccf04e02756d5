//! External data: tensors whose values are in another file.

use super::bad_tensor::BadTensor;
use super::typed::{self, RAW_DATA, raw_data};
use crate::base::stored::Stored;
use crate::files::DataFolder;
use crate::protobuf::raw::tensor_proto::DataLocation;
use crate::protobuf::schema::{StringStringEntryProto, TensorProto};
use crate::protobuf::{Piece, Pieces, raw};

/// A reference to external data, from the keys of `external_data`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reference {
    /// A path relative to the model's folder.
    pub location: String,
    /// The offset of the first byte in that file.
    pub offset: u64,
    /// The number of bytes; by default, up to the end of the file.
    pub length: Option<u64>,
}

/// The keys of `external_data` that describe the location of the data; all other keys are
/// preserved.
const KEYS: [&str; 5] = ["location", "offset", "length", "checksum", "basepath"];

/// A copy of a tensor that refers to external data.
#[must_use]
pub fn moved_to_file(tensor: &TensorProto, reference: &Reference) -> TensorProto {
    let entry = |key: &str, value: String| {
        StringStringEntryProto::from(raw::StringStringEntryProto {
            key: Some(key.to_owned()),
            value: Some(value),
        })
    };
    let mut moved = without_values(tensor);
    let location = [
        entry("location", reference.location.clone()),
        entry("offset", reference.offset.to_string()),
    ];
    let length = reference
        .length
        .map(|length| entry("length", length.to_string()));
    moved
        .external_data
        .splice(0..0, location.into_iter().chain(length));
    moved.data_location = Some(DataLocation::External.into());
    moved
}

/// A copy of a tensor with its values in `raw_data`.
#[must_use]
pub fn moved_to_model(tensor: &TensorProto, numbers: Stored) -> TensorProto {
    let mut moved = without_values(tensor);
    moved.data_location = None;
    moved.rest_mut().push(raw_data(Piece::Bytes(numbers)));
    moved
}

/// A copy of a tensor without its numbers and without the keys of their location.
#[must_use]
pub fn without_values(tensor: &TensorProto) -> TensorProto {
    let mut bare = tensor.clone();
    bare.rest_mut()
        .retain(|field| field.tag != RAW_DATA && !typed::FIELDS.contains(&field.tag));
    bare.external_data
        .retain(|entry| !KEYS.contains(&entry.key()));
    bare
}

/// Whether the values are external data.
#[must_use]
pub fn is_external(proto: &TensorProto) -> bool {
    proto.data_location == Some(DataLocation::External.into())
}

impl Reference {
    /// Parses the keys of a tensor whose `data_location` is EXTERNAL.
    ///
    /// # Errors
    /// If `location` is missing, or `offset` or `length` is not a number.
    pub fn read(proto: &TensorProto) -> Result<Reference, BadTensor> {
        let text = |key: &str| {
            let entry = proto
                .external_data
                .iter()
                .rev()
                .find(|entry| entry.key() == key);
            entry.map(|entry| entry.value().to_owned())
        };
        let number = |key: &str| {
            let invalid = |digits: &str| {
                BadTensor::External(format!("'{key}' is '{digits}', not a number of bytes"))
            };
            text(key)
                .map(|digits| digits.trim().parse::<u64>().map_err(|_| invalid(&digits)))
                .transpose()
        };
        let location = text("location").filter(|location| !location.is_empty());
        Ok(Reference {
            location: location
                .ok_or_else(|| BadTensor::External("'location' is missing".to_owned()))?,
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    }

    /// The bytes of a tensor of size `needed`, as a slice of the file.
    ///
    /// # Errors
    /// If the file cannot be read or is too short.
    pub fn bytes(&self, needed: u64, folder: &DataFolder) -> Result<Stored, BadTensor> {
        let file = folder.open(&self.location)?;
        let available = file.bytes.len();
        match self.offset.checked_add(needed) {
            Some(end) if end <= available => {
                Ok(Pieces::resolved(&file.bytes.slice(self.offset..end)))
            }
            _ => Err(BadTensor::External(format!(
                "the tensor takes {needed} bytes from byte {} on, but the file '{}' has {available}",
                self.offset, self.location
            ))),
        }
    }
}
