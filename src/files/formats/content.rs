//! Formats that are recognised by more than their first bytes.

use crate::protobuf::outline::TENSOR_PROTO;
use crate::protobuf::{Spans, values_of};
use onnx_cast::DType;

/// Bytes at the beginning of a text that are looked at.
const HEAD: usize = 4096;

/// Bytes at the end of a zip archive in which its list of files is looked for.
const ZIP_TAIL: usize = 1 << 20;

/// The first characters of the bytes; none if they are not UTF-8.
#[must_use]
pub fn characters(bytes: &[u8]) -> Option<String> {
    // The bytes may be mapped, and change while they are read: only a copy stays UTF-8.
    match String::from_utf8(bytes[..bytes.len().min(HEAD)].to_vec()) {
        Ok(text) => Some(text),
        // The last character may be cut by the limit.
        Err(error) if error.utf8_error().error_len().is_none() => {
            let valid = error.utf8_error().valid_up_to();
            let mut head = error.into_bytes();
            head.truncate(valid);
            String::from_utf8(head).ok()
        }
        Err(_) => None,
    }
}

/// The beginning of a text, without a byte order mark and blanks; none if the bytes are not text.
pub(super) fn text(bytes: &[u8]) -> Option<String> {
    let text = characters(bytes)?;
    let is_text = !text.chars().any(|c| c.is_control() && !c.is_whitespace());
    let text = text.trim_start_matches('\u{feff}').trim_start();
    (is_text && !text.is_empty()).then(|| text.to_owned())
}

pub(super) fn is_openvino(text: &str) -> bool {
    text.starts_with('<') && text.contains("<net ") && text.contains("<layers")
}

/// Text in UTF-16: printable after a byte order mark, or of ASCII characters alone.
pub(super) fn is_utf_16(bytes: &[u8]) -> bool {
    let pairs = || {
        bytes
            .chunks_exact(2)
            .take(HEAD / 2)
            .map(|pair| [pair[0], pair[1]])
    };
    let decode: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] | [_, 0, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] | [0, _, ..] => u16::from_be_bytes,
        _ => return false,
    };
    let has_mark = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    let is_text = |c: char| (has_mark || c.is_ascii()) && (!c.is_control() || c.is_whitespace());
    // The last character may be cut by the limit.
    let last = pairs().count().saturating_sub(1);
    let mut characters = char::decode_utf16(pairs().take(last).map(decode)).peekable();
    characters.peek().is_some()
        && characters
            .enumerate()
            .all(|(index, c)| c.map_or(index + 1 == last, is_text))
}

/// `<ir_version: 10, opset_import: ["": 21]> graph (float x) => (float y) { … }`; the header may be
/// left out. Comments begin with `#`.
pub(super) fn is_onnx_text(mut text: &str) -> bool {
    while text.starts_with('#') {
        text = text
            .split_once('\n')
            .map_or("", |(_, rest)| rest)
            .trim_start();
    }
    let has_header = text.starts_with('<') && text.contains("ir_version");
    let has_signature =
        text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.contains('(');
    (has_header || has_signature) && text.contains("=>")
}

pub(super) fn is_json(text: &str) -> bool {
    let inside = text.strip_prefix(['{', '[']).map(str::trim_start);
    inside.is_some_and(|inside| inside.starts_with(['"', '{', '[', '}', ']']))
}

pub(super) fn is_onnx_json(text: &str) -> bool {
    let keys = [
        "\"irVersion\"",
        "\"ir_version\"",
        "\"opsetImport\"",
        "\"opset_import\"",
    ];
    is_json(text) && keys.iter().any(|key| text.contains(key))
}

pub(super) fn is_onnx_textproto(text: &str) -> bool {
    ["ir_version:", "opset_import", "graph {", "producer_name:"]
        .iter()
        .any(|key| text.starts_with(key))
}

pub(super) fn is_tensorflow_text(text: &str) -> bool {
    text.starts_with("node {") && text.contains("op: \"")
}

/// Whether the bytes are a zip archive that lists a file whose name contains `name`.
pub(super) fn zip_lists(bytes: &[u8], name: &str) -> bool {
    if !bytes.starts_with(b"PK\x03\x04") {
        return false;
    }
    let tail = &bytes[bytes.len().saturating_sub(ZIP_TAIL)..];
    let head = &bytes[..bytes.len().min(HEAD)];
    [head, tail].iter().any(|part| {
        part.windows(name.len())
            .any(|window| window == name.as_bytes())
    })
}

/// The length of a JSON header in 64 bits, which the format limits, and an object, which may be cut
/// off.
pub(super) fn is_safetensors(bytes: &[u8]) -> bool {
    const LONGEST_HEADER: u64 = 100_000_000;
    let Some((length, header)) = bytes.split_first_chunk::<8>() else {
        return false;
    };
    let is_object = matches!(header, [b'{', b'"' | b'}' | b' ' | b'\n', ..] | [b'{'] | []);
    is_object && (2..=LONGEST_HEADER).contains(&u64::from_le_bytes(*length))
}

/// The instruction that ends each pickle, after that which states protocol 2 to 5, or the usual
/// first instructions of protocol 0 and 1: an empty dictionary or list, or the class of an object.
pub(super) fn is_pickle(bytes: &[u8]) -> bool {
    let is_name = |line: &[u8]| {
        !line.is_empty()
            && line
                .iter()
                .all(|&byte| byte.is_ascii_alphanumeric() || b"._".contains(&byte))
    };
    let is_class = |bytes: &[u8]| {
        let mut lines = bytes[..bytes.len().min(HEAD)].split(|&byte| byte == b'\n');
        bytes.starts_with(b"c")
            && lines.next().is_some_and(is_name)
            && lines.next().is_some_and(is_name)
            && lines.next().is_some()
    };
    match bytes {
        [0x80, 2..=5, .., b'.']
        | [b'}' | b']', b'q', 0, .., b'.']
        | [b'(', b'd' | b'l', b'p', b'0', b'\n', .., b'.'] => true,
        [.., b'.'] => is_class(bytes),
        _ => false,
    }
}

/// Bytes that were read and written as text: with a byte order mark; with `\r\n` for each `\n`, the
/// key of the first field of every message; or each byte as a character, or as the replacement
/// character if the text was taken for UTF-8.
pub(super) fn is_transferred_as_text(bytes: &[u8]) -> bool {
    const FEWEST_LINE_ENDS: usize = 8;
    const FEWEST_BYTES: usize = 4;
    let head = &bytes[..bytes.len().min(HEAD)];
    let line_ends = head.iter().filter(|&&byte| byte == b'\n').count();
    let with_return = head.windows(2).filter(|pair| pair == b"\r\n").count();
    // Names have letters beyond ASCII, but neither control characters nor replacement characters.
    let is_byte = |c: &char| matches!(c, '\u{80}'..='\u{9f}' | '\u{fffd}');
    let has_bytes =
        characters(bytes).is_some_and(|text| text.chars().filter(is_byte).count() >= FEWEST_BYTES);
    bytes.starts_with("\u{feff}".as_bytes())
        || line_ends >= FEWEST_LINE_ENDS && with_return == line_ends
        || has_bytes
}

/// A node with an operator, and an input or output of the graph.
pub(super) fn is_graph_proto(bytes: &[u8]) -> bool {
    let is_first = Spans::of(bytes)
        .next()
        .is_some_and(|span| span.tag == 1 && span.has_length);
    let operator = field(bytes, 1).and_then(|node| field(node, 4));
    let is_name =
        |operator: &[u8]| !operator.is_empty() && operator.iter().all(u8::is_ascii_alphanumeric);
    is_first
        && operator.is_some_and(is_name)
        && [11, 12].iter().any(|&tag| field(bytes, tag).is_some())
}

/// The value of the first field with this number and a length.
fn field(message: &[u8], tag: u32) -> Option<&[u8]> {
    values_of(message, tag).next()
}

/// `saved_model_schema_version`, then a `MetaGraphDef` with its `MetaInfoDef` or `GraphDef`.
pub(super) fn is_saved_model(bytes: &[u8]) -> bool {
    let mut spans = Spans::of(bytes);
    let version = spans
        .next()
        .is_some_and(|span| span.tag == 1 && bytes.get(span.value) == Some(&[1]));
    version
        && field(bytes, 2).is_some_and(|meta_graph| field(meta_graph, 2).is_some_and(is_graph_def))
}

/// A first node whose name is field 1 and whose operator, one of TensorFlow's, is field 2.
pub(super) fn is_graph_def(bytes: &[u8]) -> bool {
    const FIRST_OPERATORS: [&[u8]; 9] = [
        b"Placeholder",
        b"PlaceholderV2",
        b"PlaceholderWithDefault",
        b"Const",
        b"NoOp",
        b"VarHandleOp",
        b"VariableV2",
        b"Variable",
        b"AssignVariableOp",
    ];
    let is_first = Spans::of(bytes)
        .next()
        .is_some_and(|span| span.tag == 1 && span.has_length);
    let operator = field(bytes, 1).and_then(|node| field(node, 2));
    is_first && operator.is_some_and(|operator| FIRST_OPERATORS.contains(&operator))
}

/// `specificationVersion`, and one of the model types, whose numbers begin at 200.
pub(super) fn is_coreml(bytes: &[u8]) -> bool {
    let spans: Vec<_> = Spans::of(bytes).take(16).collect();
    let has_version = spans
        .first()
        .is_some_and(|span| span.tag == 1 && !span.has_length);
    has_version
        && spans
            .iter()
            .any(|span| (200..=3000).contains(&span.tag) && span.has_length)
}

/// A known type, and values or a length of zero. Nothing else has fields with these numbers and
/// types alone.
pub(super) fn is_tensor_proto(bytes: &[u8]) -> bool {
    const DIMS: u32 = 1;
    const DATA_TYPE: u32 = 2;
    const VALUES: [u32; 8] = [4, 5, 6, 7, 9, 10, 11, 13];
    let mut spans = Spans::of(bytes);
    let (mut has_type, mut has_values) = (false, false);
    for span in spans.by_ref() {
        if TENSOR_PROTO.field(span.tag).is_none() {
            return false;
        }
        let value = bytes.get(span.value).unwrap_or_default();
        match span.tag {
            DATA_TYPE => {
                has_type =
                    matches!(value, [number] if DType::from_number(i32::from(*number)).is_some())
            }
            // A number that is not zero has no byte of zero.
            DIMS => has_values |= value.contains(&0),
            tag if VALUES.contains(&tag) => has_values = true,
            _ => {}
        }
    }
    spans.is_at_end() && has_type && has_values
}

pub(super) fn is_zeros(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Whether the first 4 KiB use nearly all values of a byte about equally often, as compression and
/// encryption make it.
pub(super) fn is_random(bytes: &[u8]) -> bool {
    let Some(head) = bytes.get(..HEAD) else {
        return false;
    };
    let mut counts = [0u32; 256];
    for &byte in head {
        counts[usize::from(byte)] += 1;
    }
    // Of 4096 random bytes each value is expected 16 times; the sum of squares of the counts is
    // then about 256 × 16 × 17.
    let squares: u32 = counts.iter().map(|count| count * count).sum();
    squares < 256 * 16 * 18
}
