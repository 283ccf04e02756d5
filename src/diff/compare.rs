//! The comparison of two models, field by field.

use bytes::Bytes;

use super::field::{self, Fields};
use super::pair::{self, Pair};
use super::{Difference, DifferenceKind, path};
use crate::base::error::Invalid;
use crate::base::parallel;
use crate::base::progress::Cancel;
use crate::base::threshold::Threshold;
use crate::files::DataFolder;
use crate::onnx_text;
use crate::protobuf::Field;
use crate::protobuf::outline::{self, ATTRIBUTE_PROTO, Kind, MODEL_PROTO, Message, TYPE_PROTO};
use crate::protobuf::schema::{AttributeProto, TypeProto};

/// One of two messages.
#[derive(Clone, Copy, Debug)]
pub struct ComparedMessage<'a> {
    /// Its bytes: those of a model file, or a part of them.
    pub message: &'a Bytes,
    /// The folder of its data files.
    pub data: &'a DataFolder,
    /// Ends the comparison; the outcome is then incomplete.
    pub cancel: &'a Cancel,
}

/// All differences between the bytes of two models, in the order of the left one, and the tensors
/// whose values cannot be read.
#[must_use]
pub fn compare(left: ComparedMessage, right: ComparedMessage) -> Compared {
    compare_messages("", &MODEL_PROTO, [left, right], |_, _, _| false)
}

/// All differences between the bytes of two messages at a path, except expected ones.
#[must_use]
pub fn compare_messages(
    path: &str,
    message: &'static Message,
    sides: [ComparedMessage; 2],
    is_expected: IsExpected,
) -> Compared {
    let [left, right] = sides;
    let (data, cancel) = ([left.data, right.data], [left.cancel, right.cancel]);
    let mut walk = Walk {
        data,
        cancel,
        is_expected,
        found: Vec::new(),
        faults: Vec::new(),
    };
    walk.message(path, message, [left.message, right.message]);
    Compared {
        differences: walk.found,
        faults: walk.faults,
    }
}

/// Whether a difference is expected: by the names of the message and of its field, and the kind of
/// the difference; `None` if both models have the field and its contents are still to be compared.
pub type IsExpected = fn(&str, &str, Option<DifferenceKind>) -> bool;

/// The outcome of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// The differences.
    pub differences: Vec<Difference>,
    /// Tensors that could not be compared, with the index of their model: 0 is the left model.
    pub faults: Vec<(usize, Invalid)>,
}

pub(super) struct Walk<'a> {
    pub(super) data: [&'a DataFolder; 2],
    cancel: [&'a Cancel; 2],
    is_expected: IsExpected,
    pub(super) found: Vec<Difference>,
    pub(super) faults: Vec<(usize, Invalid)>,
}

/// The number of pairs of messages per job of a thread.
const PART: Threshold = Threshold::new("part of compared pairs", 1024);

/// The fields of an attribute that its text form covers.
const ATTRIBUTE_VALUE: &[&str] = &[
    "type",
    "ref_attr_name",
    "i",
    "f",
    "s",
    "ints",
    "floats",
    "strings",
];

impl Walk<'_> {
    fn message(&mut self, path: &str, message: &'static Message, sides: [&Bytes; 2]) {
        if self.cancel.iter().any(|cancel| cancel.is_cancelled()) || sides[0] == sides[1] {
            return;
        }
        match message.name {
            "TensorProto" => self.tensor(path, sides),
            "AttributeProto" => self.attribute(path, sides),
            "TypeProto" => self.r#type(path, sides),
            _ => self.fields(path, message, sides, |_| true),
        }
    }

    /// Compares the `wanted` fields one by one.
    pub(super) fn fields(
        &mut self,
        path: &str,
        message: &'static Message,
        sides: [&Bytes; 2],
        wanted: impl Fn(&str) -> bool,
    ) {
        // A graph of many nodes, which are expected to differ, is not copied for the rest of it.
        let is_wanted = |field: &outline::Field| {
            wanted(field.name) && !(self.is_expected)(message.name, field.name, None)
        };
        let sides = sides.map(|bytes| Fields::read(message, bytes, is_wanted));
        for number in field::numbers(&sides) {
            let [left, right] = [&sides[0], &sides[1]].map(|fields| fields.values(number));
            match message.field(number) {
                _ if left == right => {}
                Some(
                    field @ outline::Field {
                        kind: Kind::Message(inner),
                        ..
                    },
                ) => {
                    self.items(path, message, field, inner, [left, right]);
                }
                Some(field) => {
                    let texts = [left, right].map(|values| field::text(field, values));
                    self.add_change(path::field(path, field.name), texts);
                }
                None => {
                    let texts = [left, right].map(field::unknown_text);
                    self.add_change(path::field(path, &format!("field {number}")), texts);
                }
            }
        }
    }

    /// Compares the messages of a field, singular or repeated.
    fn items(
        &mut self,
        path: &str,
        message: &'static Message,
        field: &'static outline::Field,
        inner: &'static Message,
        sides: [&[Field]; 2],
    ) {
        let sides = sides.map(|values| {
            values
                .iter()
                .filter_map(|field| field.value.as_bytes())
                .collect::<Vec<&Bytes>>()
        });
        let path_of =
            |index: usize, item: &Bytes| path::item(path, message, field, inner, index, item);
        let pairs = pair::matched(inner, [&sides[0], &sides[1]]);
        let is_expected = |kind| (self.is_expected)(message.name, field.name, Some(kind));
        let expected = [
            DifferenceKind::Removed,
            DifferenceKind::Added,
            DifferenceKind::Reordered,
        ]
        .map(is_expected);
        let compare = |walk: &mut Self, pair: &Pair| match *pair {
            Pair::Left(_) if expected[0] => {}
            Pair::Right(_) if expected[1] => {}
            Pair::Both(left, right) => {
                let items = [sides[0][left], sides[1][right]];
                if items[0] != items[1] {
                    walk.message(&path_of(left, items[0]), inner, items);
                }
            }
            Pair::Left(index) => {
                let item = sides[0][index];
                walk.add_change(
                    path_of(index, item),
                    [Some(path::describe(inner, item)), None],
                );
            }
            Pair::Right(index) => {
                let item = sides[1][index];
                walk.add_change(
                    path_of(index, item),
                    [None, Some(path::describe(inner, item))],
                );
            }
        };
        self.in_parts(&pairs, compare);
        if let Some((left, right)) = pair::first_out_of_order(&pairs).filter(|_| !expected[2]) {
            let [left, right] = [(0, left), (1, right)]
                .map(|(side, index)| Some(path_of(index, sides[side][index])));
            let path = path::field(path, field.name);
            self.found.push(Difference {
                path,
                kind: DifferenceKind::Reordered,
                left,
                right,
            });
        }
    }

    /// Compares pairs of items; many of them in parts, on all cores.
    fn in_parts(&mut self, pairs: &[Pair], compare: impl Fn(&mut Self, &Pair) + Sync) {
        let of_part = PART.get();
        if pairs.len() < 2 * of_part {
            return pairs.iter().for_each(|pair| compare(self, pair));
        }
        let (data, cancel, is_expected) = (self.data, self.cancel, self.is_expected);
        let walk = |_: &_, pairs: Vec<&Pair>| {
            let mut walk = Walk {
                data,
                cancel,
                is_expected,
                found: Vec::new(),
                faults: Vec::new(),
            };
            pairs.into_iter().for_each(|pair| compare(&mut walk, pair));
            walk
        };
        parallel::map_in_batches(
            &mut (&mut self.found, &mut self.faults),
            pairs,
            of_part,
            walk,
            |(found, faults), walk| {
                found.extend(walk.found);
                faults.extend(walk.faults);
            },
        );
    }

    fn attribute(&mut self, path: &str, sides: [&Bytes; 2]) {
        let [left, right] = sides.map(|bytes| Fields::read(&ATTRIBUTE_PROTO, bytes, |_| true));
        let is_value = |name: &str| ATTRIBUTE_VALUE.contains(&name);
        let mut values = ATTRIBUTE_PROTO
            .fields
            .iter()
            .filter(|field| is_value(field.name));
        if values.any(|field| left.values(field.number) != right.values(field.number)) {
            let text = |bytes: &Bytes| AttributeProto::from_bytes(bytes.clone()).ok();
            let texts = sides.map(|bytes| {
                text(bytes).map(|attribute| onnx_text::print_attribute_value(&attribute))
            });
            if texts[0] == texts[1] {
                self.fields(path, &ATTRIBUTE_PROTO, sides, is_value)
            } else {
                self.add_change(path.to_owned(), texts)
            }
        }
        self.fields(path, &ATTRIBUTE_PROTO, sides, |name| !is_value(name))
    }

    /// A type is reported as one difference; fields that its text form does not cover are compared
    /// one by one.
    fn r#type(&mut self, path: &str, sides: [&Bytes; 2]) {
        let texts = sides.map(|bytes| {
            TypeProto::from_bytes(bytes.clone())
                .ok()
                .map(|proto| onnx_text::print_type(&proto))
        });
        if texts[0] == texts[1] {
            return self.fields(path, &TYPE_PROTO, sides, |_| true);
        }
        self.add_change(path.to_owned(), texts);
    }

    pub(super) fn add_change(&mut self, path: String, texts: [Option<String>; 2]) {
        let [left, right] = field::side_by_side(texts);
        let kind = match (&left, &right) {
            (Some(_), None) => DifferenceKind::Removed,
            (None, _) => DifferenceKind::Added,
            (Some(_), Some(_)) => DifferenceKind::Changed,
        };
        self.found.push(Difference {
            path,
            kind,
            left,
            right,
        });
    }
}
