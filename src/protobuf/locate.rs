//! The path of the field at an offset, for errors about bytes that cannot be decoded.

use std::fmt::Write;

use super::outline::{Kind, Message};
use super::spans::{Span, Spans};
use crate::base::hash::HashMap;

/// The number of fields that a path shows at its beginning and at its end; those in between are
/// omitted.
const FIRST: usize = 5;
const LAST: usize = 3;

/// The innermost field around the byte at `offset`: `graph.node[3].attribute[0].t`. Empty if no
/// field contains that byte.
pub(super) fn field_at(bytes: &[u8], root: &'static Message, offset: usize) -> String {
    let mut path: Vec<String> = Vec::new();
    let (mut message, mut range) = (root, 0..bytes.len());
    // The offset in the message, unless it is in the length before it. Fields may claim to end
    // anywhere.
    while let Some(place) = offset.checked_sub(range.start) {
        let is_around =
            |span: &Span| span.start <= place && place < span.value.end.max(span.start + 1);
        let mut spans = Spans::of(&bytes[range.clone()]);
        let mut before: HashMap<u32, usize> = HashMap::default();
        let found = spans
            .by_ref()
            .inspect(|span| {
                if !is_around(span) {
                    *before.entry(span.tag).or_default() += 1
                }
            })
            .find(is_around);
        let Some(span) = found.or_else(|| {
            spans
                .broken()
                .filter(|span| span.start == place && message.field(span.tag).is_some())
        }) else {
            break;
        };
        let Some(field) = message.field(span.tag) else {
            path.push(format!("field {}", span.tag));
            break;
        };
        let mut name = field.name.to_owned();
        if field.repeated {
            write!(name, "[{}]", before.get(&span.tag).unwrap_or(&0))
                .expect("a String takes everything");
        }
        path.push(name);
        match field.kind {
            Kind::Message(inner) if span.has_length && span.start < place => {
                message = inner;
                range =
                    range.start + span.value.start..range.start + span.value.end.min(range.len());
            }
            _ => break,
        }
    }
    if path.len() > FIRST + LAST {
        path.splice(FIRST..path.len() - LAST, ["…".to_owned()]);
    }
    path.join(".")
}
