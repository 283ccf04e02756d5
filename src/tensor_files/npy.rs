//! NumPy's `.npy` format: a header that is a Python dictionary, followed by the elements.

use bytes::Bytes;

use super::array::{Array, Failure, Remedy};
use super::strings;
use crate::protobuf::{Layout, Piece};
use crate::tensor::{Content, Data, Packing, element_count};
use onnx_cast::{Class, DType};

/// The magic bytes.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The number of bytes before the header in version 1, and in versions 2 and 3.
const PREAMBLES: [usize; 2] = [10, 12];

/// The alignment of the data.
const ALIGNMENT: usize = 64;

pub(super) fn read(bytes: &Bytes, stored: Option<DType>) -> Result<Array, Failure> {
    let (header, start) = header_text(bytes)?;
    let header = Header::parse(&header)
        .map_err(|what| Failure::new(format!("is not a valid .npy file: {what}")))?;
    let elements = element_count(&header.dims)
        .and_then(|elements| usize::try_from(elements).ok())
        .ok_or_else(|| Failure::new(format!("has an invalid shape: {:?}", header.dims)))?;
    let item = Item::parse(&header.descr)?;
    let data = bytes.slice(start..);
    let needed = elements.checked_mul(item.bytes());
    if needed != Some(data.len()) {
        let needed = needed.map_or_else(
            || "more than the address space".to_owned(),
            |needed| needed.to_string(),
        );
        return Err(Failure::new(format!(
            "has {} bytes of data, but '{}' of shape {:?} needs {needed}",
            data.len(),
            header.descr,
            header.dims
        )));
    }
    let strings = |strings| Content::new(DType::String, &header.dims, Data::Strings(strings));
    let content = match (item, stored) {
        (Item::Wide(characters), _) => strings(strings::from_wide(&data, characters)?),
        (Item::Narrow(bytes), _) => strings(strings::from_narrow(&data, bytes)),
        (item, stored) => Content::unpacked(item.dtype(stored, &header.descr)?, &header.dims, data),
    };
    Ok(Array {
        content,
        fortran_order: header.fortran_order,
        message: None,
    })
}

pub(super) fn layout(array: Array) -> Result<Layout, Failure> {
    let (descr, data) = match (array.content.data(), array.content.piece(Packing::Byte)) {
        (Data::Strings(strings), _) => {
            let (characters, wide) = strings::to_wide(strings)?;
            (format!("<U{characters}"), Piece::Bytes(wide.into()))
        }
        (Data::Numbers(..), piece) => (descr(array.dtype()), piece.expect("numbers have a piece")),
    };
    let shape: Vec<String> = array.content.dims().iter().map(i64::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let order = if array.fortran_order { "True" } else { "False" };
    let header = format!(
        "{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({}{comma}), }}",
        shape.join(", ")
    );
    Ok(Layout::of_pieces(vec![
        Piece::Bytes(preamble(&header).into()),
        data,
    ]))
}

/// The magic bytes, version, length and header of a file.
fn preamble(header: &str) -> Vec<u8> {
    let version = if header.len() + ALIGNMENT < 1 << 16 {
        1
    } else {
        2
    };
    let before = PREAMBLES[version - 1];
    let length = (before + header.len() + 1).next_multiple_of(ALIGNMENT) - before;
    let mut bytes = [MAGIC, &[version as u8, 0]].concat();
    bytes.extend_from_slice(&(length as u32).to_le_bytes()[..before - 8]);
    bytes.extend_from_slice(header.as_bytes());
    bytes.resize(before + length - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The text of the header, and the offset of the data.
fn header_text(bytes: &[u8]) -> Result<(String, usize), Failure> {
    let cut = || Failure::new("has a truncated header");
    let (&version, rest) = bytes[MAGIC.len()..].split_first().ok_or_else(cut)?;
    let width = match version {
        1 => 2,
        2 | 3 => 4,
        _ => {
            return Err(Failure::new(format!(
                "has the unsupported .npy version {version}; expected 1 to 3"
            )));
        }
    };
    let length = rest
        .get(1..1 + width)
        .ok_or_else(cut)?
        .iter()
        .rev()
        .fold(0_usize, |sum, &byte| sum << 8 | usize::from(byte));
    let start = MAGIC.len() + 2 + width;
    let text = bytes
        .get(start..start.saturating_add(length))
        .ok_or_else(cut)?;
    // A copy: other programs may change the mapped bytes, and a string must stay UTF-8.
    let text = String::from_utf8(text.to_vec())
        .map_err(|_| Failure::new("has a header that is not UTF-8"))?;
    Ok((text, start + length))
}

/// The parsed header.
#[derive(Debug, PartialEq)]
struct Header {
    descr: String,
    fortran_order: bool,
    dims: Vec<i64>,
}

impl Header {
    /// Reads `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, its keys in any order.
    fn parse(text: &str) -> Result<Header, String> {
        let mut rest = text
            .trim()
            .strip_prefix('{')
            .ok_or("the header is not a dictionary")?
            .trim_start();
        let (mut descr, mut fortran_order, mut dims) = (None, None, None);
        while !rest.starts_with('}') {
            let (key, after) = quoted(rest)?;
            let value = after
                .trim_start()
                .strip_prefix(':')
                .ok_or_else(|| format!("'{key}' has no value"))?
                .trim_start();
            let after = match key {
                "descr" if value.starts_with('[') => {
                    return Err("structured data types are not supported".to_owned());
                }
                "descr" => {
                    let (text, after) = quoted(value)?;
                    descr = Some(text.to_owned());
                    after
                }
                "fortran_order" => {
                    let words = [("True", true), ("False", false)].into_iter();
                    let mut found =
                        words.filter_map(|(word, order)| Some((order, value.strip_prefix(word)?)));
                    let (order, after) =
                        found.next().ok_or("'fortran_order' is not True or False")?;
                    fortran_order = Some(order);
                    after
                }
                "shape" => {
                    let inside = value.strip_prefix('(').ok_or("'shape' is not a tuple")?;
                    let (inside, after) = inside
                        .split_once(')')
                        .ok_or("'shape' has no closing parenthesis")?;
                    let numbers = inside
                        .split(',')
                        .map(|number| number.trim().trim_end_matches('L'))
                        .filter(|number| !number.is_empty());
                    let parsed = numbers
                        .map(|number| number.parse().ok().filter(|&dim: &i64| dim >= 0))
                        .collect();
                    let parsed: Option<Vec<i64>> = parsed;
                    dims = Some(
                        parsed.ok_or_else(|| format!("'shape' ({inside}) is not a valid shape"))?,
                    );
                    after
                }
                _ => return Err(format!("the header has the unknown key '{key}'")),
            };
            rest = after.trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
        }
        let missing = |key: &str| format!("the header has no '{key}'");
        Ok(Header {
            descr: descr.ok_or_else(|| missing("descr"))?,
            fortran_order: fortran_order.ok_or_else(|| missing("fortran_order"))?,
            dims: dims.ok_or_else(|| missing("shape"))?,
        })
    }
}

/// A quoted string, and the rest of the text.
fn quoted(text: &str) -> Result<(&str, &str), String> {
    let quote = text
        .chars()
        .next()
        .filter(|quote| matches!(quote, '\'' | '"'))
        .ok_or("the header is truncated or malformed")?;
    text[1..]
        .split_once(quote)
        .ok_or_else(|| "the header is truncated or malformed".to_owned())
}

/// The element type of a `descr`.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Item {
    /// A number of a NumPy type.
    Number(DType),
    /// Raw bytes (`V`), as saved for the types of the Python package ml_dtypes.
    Void(usize),
    /// A UTF-32 string of this many characters.
    Wide(usize),
    /// A string of this many bytes.
    Narrow(usize),
}

/// The numeric types of NumPy by kind and size.
const NUMBERS: [(&str, DType); 12] = [
    ("b1", DType::Bool),
    ("i1", DType::Int8),
    ("i2", DType::Int16),
    ("i4", DType::Int32),
    ("i8", DType::Int64),
    ("u1", DType::Uint8),
    ("u2", DType::Uint16),
    ("u4", DType::Uint32),
    ("u8", DType::Uint64),
    ("f2", DType::Float16),
    ("f4", DType::Float),
    ("f8", DType::Double),
];

impl Item {
    fn parse(descr: &str) -> Result<Item, Failure> {
        let unknown = || {
            Failure::new(format!(
                "has the data type '{descr}', which Cast does not support"
            ))
        };
        let (order, name) = descr.split_at_checked(1).ok_or_else(unknown)?;
        // With elements of size zero, a short file could claim an arbitrary number of them.
        let size = || {
            name.get(1..)?
                .parse::<usize>()
                .ok()
                .filter(|&size| size > 0 && size.checked_mul(4).is_some())
        };
        let item = match name.chars().next() {
            Some('U') => size().map(Item::Wide),
            Some('S') => size().map(Item::Narrow),
            Some('V') => size().map(Item::Void),
            _ => NUMBERS
                .iter()
                .find(|(known, _)| *known == name)
                .map(|&(_, dtype)| Item::Number(dtype)),
        };
        let item = item.ok_or_else(unknown)?;
        match order {
            "<" | "|" | "=" => Ok(item),
            ">" if item.bytes() == 1 => Ok(item),
            ">" => Err(Failure::new(format!(
                "has the big-endian data type '{descr}'; convert it with NumPy's astype('<{name}')"
            ))),
            _ => Err(unknown()),
        }
    }

    fn bytes(self) -> usize {
        match self {
            Item::Number(dtype) => dtype.bits() / 8,
            Item::Void(bytes) | Item::Narrow(bytes) => bytes,
            Item::Wide(characters) => characters * 4,
        }
    }

    /// The ONNX type of the elements: `stored` may name one that NumPy lacks.
    fn dtype(self, stored: Option<DType>, descr: &str) -> Result<DType, Failure> {
        match (self, stored) {
            (Item::Number(dtype), None) => Ok(dtype),
            (Item::Number(dtype), Some(stored)) if dtype == stored => Ok(dtype),
            (Item::Number(_) | Item::Void(_), Some(stored)) if npy_has(stored) || stored.bits().div_ceil(8) != self.bytes() => {
                Err(Failure::new(format!("has the data type '{descr}', which cannot represent {stored}")))
            }
            (Item::Number(dtype), Some(_)) if dtype.class() != Class::Unsigned => Err(Failure::new(format!(
                "has the data type '{descr}'; only unsigned integers can represent types that NumPy lacks"
            ))
            .with(Remedy::OmitType)),
            (_, Some(stored)) => Ok(stored),
            (_, None) => {
                Err(Failure::new(format!("has the data type '{descr}', which NumPy does not name")).with(Remedy::StateType))
            }
        }
    }
}

fn npy_has(dtype: DType) -> bool {
    dtype == DType::String
        || matches!(dtype.class(), Class::Complex)
        || NUMBERS.iter().any(|&(_, known)| known == dtype)
}

/// The NumPy name of a type; types that NumPy lacks are stored as unsigned integers.
fn descr(dtype: DType) -> String {
    let known = NUMBERS
        .iter()
        .find(|(_, known)| *known == dtype)
        .map(|(name, _)| *name);
    let name = known.unwrap_or(if dtype == DType::Bfloat16 { "u2" } else { "u1" });
    // Bytes have no order.
    let order = if name.ends_with('1') { '|' } else { '<' };
    format!("{order}{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numpy_headers_are_parsed() {
        let header = |descr: &str, fortran_order, dims: &[i64]| Header {
            descr: descr.to_owned(),
            fortran_order,
            dims: dims.to_vec(),
        };
        let cases = [
            (
                "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }          \n",
                header("<f4", false, &[2, 3]),
            ),
            (
                "{'shape': (7,), 'fortran_order': True, 'descr': '|b1'}",
                header("|b1", true, &[7]),
            ),
            (
                "{\"descr\":\"<i8\",\"fortran_order\":False,\"shape\":()}",
                header("<i8", false, &[]),
            ),
        ];
        for (text, header) in cases {
            assert_eq!(Header::parse(text), Ok(header), "{text}");
        }
    }

    #[test]
    fn broken_headers_are_errors() {
        let cases = [
            "",
            "{",
            "{}",
            "{'descr': '<f4'}",
            "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
            "{'descr': '<f4', 'fortran_order': Maybe}",
            "{'shape': (2, -3)}",
            "{'shape': (2,",
            "{'descr': '<f4",
            "{'other': 1}",
            "{'descr' '<f4'}",
        ];
        for text in cases {
            assert!(Header::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn preambles_are_aligned_and_read_back() {
        for text in [
            "{}".to_owned(),
            "x".repeat(117),
            "x".repeat(118),
            "x".repeat(70_000),
        ] {
            let bytes = preamble(&text);
            assert_eq!(bytes.len() % ALIGNMENT, 0);
            let (header, start) = header_text(&bytes).unwrap();
            assert_eq!((header.trim_end(), start), (text.as_str(), bytes.len()));
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_an_array_or_an_error(
            version in 1..4_u8, descr in "[<>|=][a-zU]{0,2}[0-9]{0,3}", shape in "[0-9, ()]{0,12}", rest in "[ -~]{0,20}", cut in 0..200_usize
        ) {
            let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), {rest}}}");
            let mut bytes = preamble(&header);
            bytes[MAGIC.len()] = version;
            bytes.extend([1; 16]);
            bytes.truncate(bytes.len().saturating_sub(cut).max(MAGIC.len()));
            if let Ok(array) = read(&bytes.into(), None) {
                proptest::prop_assert!(array.elements() <= 16 || array.dtype() == DType::String);
            }
        }
    }
}
