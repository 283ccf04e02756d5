//! Compares tensors by type, shape and values.

use std::borrow::Cow;

use bytes::Bytes;

use super::compare::Walk;
use super::field::Fields;
use super::{Difference, DifferenceKind};
use crate::base::error::Invalid;
use crate::base::parallel;
use crate::base::stored::Stored;
use crate::base::threshold::Threshold;
use crate::files::DataFolder;
use crate::onnx_text;
use crate::process::system::release;
use crate::protobuf::outline::{Field, TENSOR_PROTO};
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Reference, Tensor, Values, is_external};
use onnx_cast::{Cast, DType, Rules, format_strings, packed};

/// Whether a field of a tensor defines its values, or their storage.
fn is_of_values(name: &str) -> bool {
    name.ends_with("_data") || matches!(name, "dims" | "data_type" | "data_location")
}

impl Walk<'_> {
    pub(super) fn tensor(&mut self, path: &str, sides: [&Bytes; 2]) {
        let protos = sides.map(|bytes| TensorProto::from_bytes(bytes.clone()).unwrap_or_default());
        let [Ok(left), Ok(right)] = [Tensor::read(&protos[0]), Tensor::read(&protos[1])] else {
            // For instance, a tensor of an unknown type.
            return self.fields(path, &TENSOR_PROTO, sides, |_| true);
        };
        self.fields(path, &TENSOR_PROTO, sides, |name| !is_of_values(name));
        if (left.dtype(), left.dims()) != (right.dtype(), right.dims()) {
            let texts =
                [&protos[0], &protos[1]].map(|proto| Some(onnx_text::print_tensor_type(proto)));
            self.add_change(path.to_owned(), texts);
            return;
        }
        let places = [0, 1].map(|side| place(&protos[side], sides[side]));
        let same_file =
            is_external(&protos[0]) && places[0] == places[1] && self.data[0].is_same(self.data[1]);
        let (difference, same_bytes) = if same_file {
            (None, true)
        } else {
            let stored = [
                stored(&left, &protos[0], self.data[0]),
                stored(&right, &protos[1], self.data[1]),
            ];
            let [Ok(left_values), Ok(right_values)] = stored else {
                let errors = (0..)
                    .zip(stored)
                    .filter_map(|(side, stored)| Some((side, stored.err()?)));
                self.faults
                    .extend(errors.map(|(side, error)| (side, Invalid::caused_by(path, error))));
                return;
            };
            if are_same(&left_values, &right_values) {
                (None, true)
            } else {
                (
                    first_difference(&left, &left_values.load(), &right_values.load()),
                    false,
                )
            }
        };
        match difference {
            Some(texts) => self.add_change(path.to_owned(), texts.map(Some)),
            None if same_bytes && places[0] == places[1] => {}
            None => {
                let [left, right] = places;
                let padding = if same_bytes {
                    ""
                } else {
                    ", with different padding bits"
                };
                let (left, right) = (Some(left), Some(right + padding));
                self.found.push(Difference {
                    path: path.to_owned(),
                    kind: DifferenceKind::Stored,
                    left,
                    right,
                });
            }
        }
    }
}

/// The storage of a tensor's values: their fields, and the keys of external data.
fn place(proto: &TensorProto, bytes: &Bytes) -> String {
    let fields = Fields::read(&TENSOR_PROTO, bytes, |_| true);
    let is_used =
        |field: &&Field| field.name.ends_with("_data") && !fields.values(field.number).is_empty();
    let mut parts: Vec<String> = TENSOR_PROTO
        .fields
        .iter()
        .filter(is_used)
        .map(|field| field.name.to_owned())
        .collect();
    parts.extend(
        proto
            .external_data
            .iter()
            .map(|entry| format!("{}={}", entry.key(), entry.value())),
    );
    // The default value, written explicitly.
    parts.extend(
        (proto.data_location.is_some() && !is_external(proto))
            .then(|| "data_location=DEFAULT".to_owned()),
    );
    if parts.is_empty() {
        "no field".to_owned()
    } else {
        parts.join(" ")
    }
}

/// The values of a tensor, which may be in a file.
#[derive(PartialEq)]
enum StoredValues {
    Numbers(Stored),
    Strings(Vec<Bytes>),
}

impl StoredValues {
    /// All values.
    fn load(self) -> Values {
        match self {
            StoredValues::Numbers(numbers) => Values::Raw(numbers.to_bytes()),
            StoredValues::Strings(strings) => Values::Strings(strings),
        }
    }
}

fn stored(
    tensor: &Tensor,
    proto: &TensorProto,
    data: &DataFolder,
) -> Result<StoredValues, crate::tensor::BadTensor> {
    if is_external(proto) {
        return Reference::read(proto)?
            .bytes(tensor.raw_bytes(), data)
            .map(StoredValues::Numbers);
    }
    Ok(match tensor.values()? {
        Values::Raw(raw) => StoredValues::Numbers(raw.into()),
        Values::Strings(strings) => StoredValues::Strings(strings),
        // Not external.
        Values::External(_) => StoredValues::Strings(Vec::new()),
    })
}

/// Bytes that are compared at a time.
const CHUNK: Threshold =
    Threshold::new("bytes of tensors that are compared", 1 << 20).small_from(64);

/// Whether values have the same bytes. Mapped ones are released again, so that the resident memory
/// of a comparison stays small.
fn are_same(left: &StoredValues, right: &StoredValues) -> bool {
    let (StoredValues::Numbers(left), StoredValues::Numbers(right)) = (left, right) else {
        return left == right;
    };
    if left.len() != right.len() || left.is_same(right) {
        return left.len() == right.len();
    }
    let (length, chunk) = (left.len(), CHUNK.get() as u64);
    let is_same = |start: u64| {
        let parts = [left, right].map(|side| side.part(start..length.min(start + chunk)));
        let is_same = parts[0] == parts[1];
        if length > chunk {
            parts.iter().for_each(|part| release(part));
        }
        is_same
    };
    parallel::all((0..length).step_by(chunk as usize).collect(), is_same)
}

/// The number of elements that differ and the first of them on both sides; `None` if only padding
/// bits differ.
fn first_difference(tensor: &Tensor, left: &Values, right: &Values) -> Option<[String; 2]> {
    let mut differing = (0..tensor.elements() as usize)
        .filter(|&index| element(tensor, left, index) != element(tensor, right, index));
    let first = differing.next()?;
    let [left, right] = texts(
        tensor.dtype(),
        [left, right].map(|values| element(tensor, values, first)),
    );
    let count = format!(
        "{} of {} elements differ, the first at {}",
        1 + differing.count(),
        tensor.elements(),
        place_text(tensor, first)
    );
    Some([format!("{left} ({count})"), right])
}

/// One element: its text, or its code in whole bytes.
fn element<'v>(tensor: &Tensor, values: &'v Values, index: usize) -> Cow<'v, [u8]> {
    match values {
        Values::Strings(strings) => Cow::Borrowed(&strings[index]),
        Values::Raw(raw) => match tensor.dtype().bits() {
            bits @ 0..8 => Cow::Owned(vec![packed::get(bits, raw, index) as u8]),
            bits => Cow::Borrowed(&raw[index * bits / 8..][..bits / 8]),
        },
        // The caller has loaded external data.
        Values::External(_) => Cow::Borrowed(&[]),
    }
}

/// Two elements as numbers or, if these are equal, as codes.
fn texts(dtype: DType, elements: [Cow<[u8]>; 2]) -> [String; 2] {
    if dtype == DType::String {
        return elements.map(|text| format!("{:?}", String::from_utf8_lossy(&text)));
    }
    if let Ok(cast) = Cast::new(dtype, DType::String, Rules::default()) {
        let texts = elements
            .each_ref()
            .map(|code| format_strings(&cast, code, 1).0.remove(0));
        if texts[0] != texts[1] {
            return texts;
        }
    }
    elements.map(|code| {
        code.iter()
            .rev()
            .fold("0x".to_owned(), |text, byte| format!("{text}{byte:02x}"))
    })
}

/// The index of an element in each dimension.
fn place_text(tensor: &Tensor, mut index: usize) -> String {
    let mut places = Vec::new();
    for &dim in tensor.dims().iter().rev() {
        places.push((index % dim as usize).to_string());
        index /= dim as usize;
    }
    places.reverse();
    format!("[{}]", places.join(", "))
}
