//! The fields of one message, and their values as text.

use std::collections::{BTreeMap, BTreeSet};

use bytes::{Buf, Bytes};

use crate::dtype::DType;
use crate::wire::outline::{Field, Kind, Message};
use crate::wire::{self, Value};

/// Longer texts are truncated.
const LONGEST_TEXT: usize = 120;

/// The values of a message by field number.
#[derive(Debug)]
pub(super) struct Fields(BTreeMap<u32, Vec<Value>>);

impl Fields {
    /// Reads a message, one level deep, by protobuf's rules: packed numbers are unpacked, the last value of a singular field wins, and
    /// the parts of a singular message are merged.
    pub fn read(message: &'static Message, bytes: &Bytes) -> Fields {
        let mut values: BTreeMap<u32, Vec<Value>> = BTreeMap::new();
        // Models were decoded before, so this cannot fail for fields of the schema.
        for wire::Field { tag, value } in wire::Field::all(bytes.clone()).map_while(Result::ok) {
            let of_field = values.entry(tag).or_default();
            match (message.field(tag), &value) {
                (Some(Field { kind, repeated: true, .. }), Value::Len(packed)) if is_number(*kind) => {
                    of_field.extend(unpack(*kind, packed));
                }
                (Some(Field { repeated: false, kind: Kind::Message(_), .. }), Value::Len(part)) => {
                    let whole = match of_field.pop().and_then(|earlier| earlier.to_bytes()) {
                        Some(earlier) => [earlier, part.clone()].concat().into(),
                        None => part.clone(),
                    };
                    of_field.push(Value::Len(whole));
                }
                (Some(Field { repeated: false, .. }), _) => *of_field = vec![value],
                _ => of_field.push(value),
            }
        }
        Fields(values)
    }

    /// The values of a field.
    pub fn values(&self, number: u32) -> &[Value] {
        self.0.get(&number).map_or(&[], Vec::as_slice)
    }
}

/// The first non-empty string in the field of this name. Reads only that field.
pub(super) fn first_text(message: &Message, name: &str, bytes: &Bytes) -> Option<Bytes> {
    let field = message.named(name)?;
    let mut texts = wire::values_of(bytes, field.number).map(|text| bytes.slice_ref(text));
    let text = if field.repeated { texts.find(|text| !text.is_empty()) } else { texts.last() };
    text.filter(|text| !text.is_empty())
}

/// The numbers of all fields that are present in either message.
pub(super) fn numbers(sides: &[Fields; 2]) -> BTreeSet<u32> {
    sides.iter().flat_map(|fields| fields.0.keys().copied()).collect()
}

fn is_number(kind: Kind) -> bool {
    matches!(kind, Kind::Integer | Kind::Enum(_) | Kind::Float | Kind::Double)
}

fn unpack(kind: Kind, bytes: &Bytes) -> Vec<Value> {
    let mut packed = bytes.clone();
    let mut values = Vec::new();
    while packed.has_remaining() {
        let value = match kind {
            Kind::Float => packed.try_get_u32_le().ok().map(Value::Fixed32),
            Kind::Double => packed.try_get_u64_le().ok().map(Value::Fixed64),
            _ => prost::encoding::decode_varint(&mut packed).ok().map(Value::Varint),
        };
        match value {
            Some(value) => values.push(value),
            // Not a valid packed list: compared as raw bytes.
            None => return vec![Value::Len(bytes.clone())],
        }
    }
    values
}

/// The text of a scalar field; `None` if it is absent.
pub(super) fn text(field: &Field, values: &[Value]) -> Option<String> {
    let texts = || values.iter().map(|value| item_text(field, value)).collect::<Vec<String>>().join(", ");
    match values {
        [] => None,
        [one] if !field.repeated => Some(item_text(field, one)),
        _ => Some(format!("[{}]", texts())),
    }
}

/// The text of a field unknown to the schema.
pub(super) fn unknown_text(values: &[Value]) -> Option<String> {
    let text = |value: &Value| match value {
        Value::Varint(number) => number.to_string(),
        Value::Fixed32(bits) => format!("{bits:#010x}"),
        Value::Fixed64(bits) => format!("{bits:#018x}"),
        Value::Len(_) | Value::Made(_) => format!("{} bytes", value.length().unwrap_or(0)),
        Value::Group(fields) => format!("a group of {} fields", fields.len()),
    };
    (!values.is_empty()).then(|| values.iter().map(text).collect::<Vec<String>>().join(", "))
}

fn item_text(field: &Field, value: &Value) -> String {
    match (field.kind, value) {
        (Kind::Enum(names), Value::Varint(number)) => {
            let name = names.iter().find(|(of_name, _)| u64::try_from(*of_name) == Ok(*number)).map(|(_, name)| *name);
            name.map_or_else(|| number.to_string(), str::to_owned)
        }
        (_, Value::Varint(number)) if matches!(field.name, "data_type" | "elem_type") => {
            let dtype = i32::try_from(*number).ok().and_then(DType::from_number);
            dtype.map_or_else(|| number.to_string(), |dtype| dtype.name().to_owned())
        }
        (_, Value::Varint(number)) => number.cast_signed().to_string(),
        (_, Value::Fixed32(bits)) => f32::from_bits(*bits).to_string(),
        (_, Value::Fixed64(bits)) => f64::from_bits(*bits).to_string(),
        (_, value) => {
            let bytes = value.to_bytes().unwrap_or_default();
            String::from_utf8(bytes.to_vec()).map_or_else(|_| format!("{} bytes", bytes.len()), |text| format!("{text:?}"))
        }
    }
}

/// Two texts, each on one line; long texts are truncated, near the first difference if that is far from the start.
pub(super) fn side_by_side(texts: [Option<String>; 2]) -> [Option<String>; 2] {
    let lines = texts.map(|text| text.map(|text| text.lines().map(str::trim).collect::<Vec<&str>>().join(" ")));
    let same = match &lines {
        [Some(left), Some(right)] => left.chars().zip(right.chars()).take_while(|(left, right)| left == right).count(),
        _ => 0,
    };
    let skipped = if same < LONGEST_TEXT { 0 } else { same - LONGEST_TEXT / 4 };
    lines.map(|line| line.map(|line| cut(&line, skipped)))
}

fn cut(line: &str, skipped: usize) -> String {
    let start = if skipped > 0 { "..." } else { "" };
    let shown: String = line.chars().skip(skipped).take(LONGEST_TEXT).collect();
    let end = if line.chars().count() > skipped + LONGEST_TEXT { "..." } else { "" };
    format!("{start}{shown}{end}")
}
