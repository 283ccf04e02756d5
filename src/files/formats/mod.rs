//! Files that are not ONNX models: their formats, and how to convert them to a model.
//!
//! The bytes are looked at only after they failed to decode as a model, so that no model can be
//! mistaken for something else.

mod content;
mod table;

use std::borrow::Cow;
use std::path::PathBuf;

use bytes::Bytes;

use crate::base::error::{Classified, ErrorKind, Place};
use crate::protobuf::outline::{Kind, MODEL_PROTO};
use crate::protobuf::schema::ModelProto;
use crate::protobuf::{Malformed, MalformedReason, Spans};

pub use table::{FORMATS, Format};

/// Why a file is not a model, and the remedy if there is one.
#[derive(Debug, thiserror::Error)]
#[error("{what}{}", after_semicolon(.remedy.as_deref()))]
pub struct NotAModel {
    /// The fact.
    pub what: Fact,
    /// The remedy.
    pub remedy: Option<Cow<'static, str>>,
}

/// The format of a file that is not a model.
#[derive(Debug, thiserror::Error)]
pub enum Fact {
    /// It has no bytes.
    #[error("is empty, not an ONNX model")]
    Empty,
    /// It is of another format.
    #[error("is {}, not {} model", .0.name, if .0.code.starts_with("onnx-") { "a binary" } else { "an ONNX" })]
    Foreign(&'static Format),
    /// It begins as a model and ends within a field.
    #[error("is cut off{}: at least {missing} {} missing", within(*.field), if *.missing == 1 { "byte is" } else { "bytes are" })]
    CutOff {
        /// The field; none if its number is not known.
        field: Option<&'static str>,
        /// Bytes of it that are missing.
        missing: u64,
    },
    /// It begins as a model, and a field is so much longer than the file that its length is
    /// probably wrong.
    #[error("is damaged or cut off: the length of `{field}` exceeds the file by {missing} bytes")]
    TooLong {
        /// The field.
        field: &'static str,
        /// Bytes of it that are missing.
        missing: u64,
    },
    /// It is not protobuf, or of another schema.
    #[error("is not an ONNX model: {0}")]
    Malformed(Malformed),
    /// It can be decoded, but has no graph.
    #[error("is not an ONNX model: it has no graph")]
    NoGraph,
    /// It holds tensors of this model.
    #[error("is a data file of {}, not an ONNX model", .0.display())]
    DataFile(PathBuf),
}

fn within(field: Option<&str>) -> String {
    field.map_or_else(String::new, |field| format!(" within `{field}`"))
}

impl Classified for NotAModel {
    fn kind(&self) -> ErrorKind {
        match &self.what {
            Fact::Malformed(malformed) => malformed.kind(),
            _ => ErrorKind::NotAModel,
        }
    }

    fn place(&self) -> Option<Place> {
        match &self.what {
            Fact::Malformed(malformed) => malformed.place(),
            _ => None,
        }
    }

    fn message(&self) -> String {
        match &self.what {
            Fact::Malformed(malformed) if malformed.kind() == ErrorKind::MalformedProtobuf => {
                format!("is not an ONNX model: {}", malformed.message())
            }
            Fact::Malformed(malformed) => malformed.message(),
            _ => self.to_string(),
        }
    }
}

fn after_semicolon(remedy: Option<&str>) -> String {
    remedy.map_or_else(String::new, |remedy| format!("; {remedy}"))
}

/// Reads a model.
///
/// # Errors
/// If the bytes are not a model, with the format that they are in if it is known.
pub fn read_model(bytes: &Bytes) -> Result<ModelProto, NotAModel> {
    const COPY_AGAIN: &str = "download or copy it again";
    let error = |what, remedy: Option<&'static str>| {
        Err(NotAModel {
            what,
            remedy: remedy.map(Cow::Borrowed),
        })
    };
    if bytes.is_empty() {
        return error(Fact::Empty, Some(COPY_AGAIN));
    }
    let malformed = match ModelProto::from_bytes(bytes.clone()) {
        Ok(model) if model.graph.is_some() => return Ok(model),
        Ok(_) => None,
        Err(
            malformed @ Malformed {
                reason: MalformedReason::TooDense(_),
                ..
            },
        ) => return error(Fact::Malformed(malformed), None),
        Err(malformed) => Some(malformed),
    };
    if let Some(format) = recognise(bytes) {
        return error(Fact::Foreign(format), Some(format.remedy));
    }
    match (malformed, cut_off(bytes)) {
        (Some(_), Some(cut_off)) => error(cut_off, Some(COPY_AGAIN)),
        (Some(malformed), None) => error(Fact::Malformed(malformed), None),
        (None, _) => error(Fact::NoGraph, None),
    }
}

/// The format of bytes that are not a model, if the table has it.
#[must_use]
pub fn recognise(bytes: &[u8]) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.matches(bytes))
}

/// A field that lacks more than this, and more than [`IMPLAUSIBLE_TIMES`] the file, is probably
/// damaged.
const IMPLAUSIBLE: u64 = 1 << 20;

/// See [`IMPLAUSIBLE`].
const IMPLAUSIBLE_TIMES: u64 = 10;

/// Whether the bytes are a model up to their end, where the last field is longer than what is
/// there.
fn cut_off(bytes: &[u8]) -> Option<Fact> {
    let mut end = 0;
    for span in Spans::of(bytes) {
        let field = MODEL_PROTO.field(span.tag)?.name;
        if span.value.end > bytes.len() {
            let missing = (span.value.end - bytes.len()) as u64;
            let is_plausible = missing <= IMPLAUSIBLE.max(IMPLAUSIBLE_TIMES * bytes.len() as u64);
            return (span.start > 0).then_some(if is_plausible {
                Fact::CutOff {
                    field: Some(field),
                    missing,
                }
            } else {
                Fact::TooLong { field, missing }
            });
        }
        end = span.value.end;
    }
    let rest = bytes
        .get(end..)
        .filter(|rest| end > 0 && !rest.is_empty())?;
    Some(Fact::CutOff {
        field: cut_key(rest)?,
        missing: 1,
    })
}

/// The field of a model that bytes begin, if they end within its key, its length or its number;
/// none inside if within the key.
fn cut_key(bytes: &[u8]) -> Option<Option<&'static str>> {
    const CONTINUES: u8 = 0x80;
    let is_cut = |number: &[u8], most: usize| {
        number.len() < most && number.iter().all(|byte| byte & CONTINUES != 0)
    };
    // A key has at most 5 bytes, and another number 10.
    if is_cut(bytes, 5) {
        return Some(None);
    }
    let key_length = bytes.iter().position(|byte| byte & CONTINUES == 0)? + 1;
    let (key, rest) = bytes
        .split_at_checked(key_length)
        .filter(|_| key_length <= 5)?;
    let key = key
        .iter()
        .rev()
        .fold(0, |key, byte| key << 7 | u64::from(byte & !CONTINUES));
    let field = MODEL_PROTO.field(u32::try_from(key >> 3).ok()?)?;
    let wire_type = if matches!(field.kind, Kind::Integer) {
        0
    } else {
        2
    };
    (key & 7 == wire_type && is_cut(rest, 10)).then_some(Some(field.name))
}

#[cfg(test)]
mod tests;
