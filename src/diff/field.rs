//! The fields of one message, and their values as text.

use bytes::{Buf, Bytes};

use crate::protobuf::outline::{Field, Kind, Message};
use crate::protobuf::{self, Value};
use onnx_cast::DType;

/// Longer texts are truncated.
const LONGEST_TEXT: usize = 120;

/// The fields of a message, sorted by number.
#[derive(Debug)]
pub(super) struct Fields(Vec<protobuf::Field>);

impl Fields {
    /// Reads the wanted fields of a message and those that the schema does not have, one level
    /// deep, by protobuf's rules: packed numbers are unpacked, the last value of a singular field
    /// wins, and the parts of a singular message are merged.
    pub fn read(
        message: &'static Message,
        bytes: &Bytes,
        is_wanted: impl Fn(&'static Field) -> bool,
    ) -> Fields {
        // Models were decoded before, so this cannot fail for fields of the schema.
        let mut fields: Vec<protobuf::Field> = protobuf::Field::all(bytes.clone())
            .map_while(Result::ok)
            .filter(|field| message.field(field.tag).is_none_or(&is_wanted))
            .collect();
        if !fields.is_sorted_by_key(|field| field.tag) {
            fields.sort_by_key(|field| field.tag);
        }
        if fields.iter().any(|field| packed(message, field).is_some()) {
            fields = fields
                .into_iter()
                .flat_map(|field| unpacked(message, field))
                .collect();
        }
        fields.dedup_by(|later, earlier| {
            later.tag == earlier.tag && is_replaced(message, earlier, later)
        });
        Fields(fields)
    }

    /// The values of a field.
    pub fn values(&self, number: u32) -> &[protobuf::Field] {
        let start = self.0.partition_point(|field| field.tag < number);
        let end = start + self.0[start..].partition_point(|field| field.tag == number);
        &self.0[start..end]
    }
}

/// The kind of the numbers of a packed list, and its bytes.
fn packed<'f>(message: &'static Message, field: &'f protobuf::Field) -> Option<(Kind, &'f Bytes)> {
    let Value::Len(bytes) = &field.value else {
        return None;
    };
    let is_number = |kind: Kind| {
        matches!(
            kind,
            Kind::Integer | Kind::Enum(_) | Kind::Float | Kind::Double
        )
    };
    message
        .field(field.tag)
        .filter(|of| of.repeated && is_number(of.kind))
        .map(|of| (of.kind, bytes))
}

fn unpacked(message: &'static Message, field: protobuf::Field) -> Vec<protobuf::Field> {
    match packed(message, &field) {
        Some((kind, bytes)) => unpack(kind, bytes)
            .into_iter()
            .map(|value| protobuf::Field {
                tag: field.tag,
                value,
            })
            .collect(),
        None => vec![field],
    }
}

/// Of two values of a singular field, sets the earlier one to the value of the field; false for a
/// field that is not singular.
fn is_replaced(
    message: &'static Message,
    earlier: &mut protobuf::Field,
    later: &protobuf::Field,
) -> bool {
    let Some(field) = message.field(later.tag).filter(|field| !field.repeated) else {
        return false;
    };
    earlier.value = match (field.kind, earlier.value.to_bytes(), &later.value) {
        (Kind::Message(_), Some(start), Value::Len(rest)) => {
            Value::Len([start, rest.clone()].concat().into())
        }
        (.., value) => value.clone(),
    };
    true
}

/// The first non-empty string in the field of this name. Reads only that field.
pub(super) fn first_text<'b>(message: &Message, name: &str, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let field = message.named(name)?;
    let mut texts = protobuf::values_of(bytes, field.number);
    let text = if field.repeated {
        texts.find(|text| !text.is_empty())
    } else {
        texts.last()
    };
    text.filter(|text| !text.is_empty())
}

/// The numbers of all fields that are present in either message.
pub(super) fn numbers(sides: &[Fields; 2]) -> Vec<u32> {
    let mut numbers: Vec<u32> = sides
        .iter()
        .flat_map(|fields| fields.0.chunk_by(|one, other| one.tag == other.tag))
        .map(|values| values[0].tag)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn unpack(kind: Kind, bytes: &Bytes) -> Vec<Value> {
    let mut packed = bytes.clone();
    let mut values = Vec::new();
    while packed.has_remaining() {
        let value = match kind {
            Kind::Float => packed.try_get_u32_le().ok().map(Value::Fixed32),
            Kind::Double => packed.try_get_u64_le().ok().map(Value::Fixed64),
            _ => prost::encoding::decode_varint(&mut packed)
                .ok()
                .map(Value::Varint),
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
pub(super) fn text(field: &Field, values: &[protobuf::Field]) -> Option<String> {
    let texts = || {
        values
            .iter()
            .map(|item| item_text(field, &item.value))
            .collect::<Vec<String>>()
            .join(", ")
    };
    match values {
        [] => None,
        [one] if !field.repeated => Some(item_text(field, &one.value)),
        _ => Some(format!("[{}]", texts())),
    }
}

/// The text of a field unknown to the schema.
pub(super) fn unknown_text(values: &[protobuf::Field]) -> Option<String> {
    let text = |field: &protobuf::Field| match &field.value {
        Value::Varint(number) => number.to_string(),
        Value::Fixed32(bits) => format!("{bits:#010x}"),
        Value::Fixed64(bits) => format!("{bits:#018x}"),
        Value::Len(_) | Value::Made(_) => format!("{} bytes", field.value.length().unwrap_or(0)),
        Value::Group(fields) => format!("a group of {} fields", fields.len()),
    };
    (!values.is_empty()).then(|| values.iter().map(text).collect::<Vec<String>>().join(", "))
}

fn item_text(field: &Field, value: &Value) -> String {
    match (field.kind, value) {
        (Kind::Enum(names), Value::Varint(number)) => {
            let name = names
                .iter()
                .find(|(of_name, _)| u64::try_from(*of_name) == Ok(*number))
                .map(|(_, name)| *name);
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
            String::from_utf8(bytes.to_vec()).map_or_else(
                |_| format!("{} bytes", bytes.len()),
                |text| format!("{text:?}"),
            )
        }
    }
}

/// Two texts, each on one line; long texts are truncated, near the first difference if that is far
/// from the start.
pub(super) fn side_by_side(texts: [Option<String>; 2]) -> [Option<String>; 2] {
    let lines = texts.map(|text| text.map(in_one_line));
    let same = match &lines {
        [Some(left), Some(right)] if left.len().max(right.len()) >= LONGEST_TEXT => left
            .chars()
            .zip(right.chars())
            .take_while(|(left, right)| left == right)
            .count(),
        _ => 0,
    };
    let skipped = if same < LONGEST_TEXT {
        0
    } else {
        same - LONGEST_TEXT / 4
    };
    lines.map(|line| line.map(|line| cut(line, skipped)))
}

fn in_one_line(text: String) -> String {
    if text.contains('\n') || text.trim().len() != text.len() {
        text.lines().map(str::trim).collect::<Vec<&str>>().join(" ")
    } else {
        text
    }
}

fn cut(line: String, skipped: usize) -> String {
    if skipped == 0 && line.len() <= LONGEST_TEXT {
        return line;
    }
    let start = if skipped > 0 { "..." } else { "" };
    let shown: String = line.chars().skip(skipped).take(LONGEST_TEXT).collect();
    let end = if line.chars().count() > skipped + LONGEST_TEXT {
        "..."
    } else {
        ""
    };
    format!("{start}{shown}{end}")
}
