//! Protobuf messages as trees of fields, read with the descriptors of `proto/onnx.proto`: written
//! differently from the crate's own decoding, so that the tests can check it.

use std::collections::BTreeMap;

use prost::encoding::{decode_varint, encode_varint};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto};

/// The descriptors of all messages, by full name: `.onnx.TypeProto.Tensor`.
pub struct Schema(BTreeMap<String, DescriptorProto>);

/// A message: its fields in order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree(pub Vec<(u32, Node)>);

/// A field's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Varint(u64),
    Fixed64([u8; 8]),
    Fixed32([u8; 4]),
    Bytes(Vec<u8>),
    Group(Vec<u8>),
    Message(Tree),
}

impl Schema {
    pub fn load() -> Schema {
        let files = protox::compile(["proto/onnx.proto"], ["proto"]).expect("the schema compiles");
        let mut messages = BTreeMap::new();
        for message in &files.file[0].message_type {
            register(&mut messages, ".onnx", message);
        }
        Schema(messages)
    }

    /// The names of all messages.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The name of a field, and the message that it holds, if it holds one.
    pub fn named(&self, message: &str, number: u32) -> Option<(&str, Option<&str>)> {
        let field = self.field(message, number)?;
        Some((
            field.name(),
            (field.r#type() == Type::Message).then(|| field.type_name()),
        ))
    }

    /// The fields of a message, each with a value that is not its default.
    pub fn fields(&self, message: &str) -> impl Iterator<Item = (u32, &str, Node)> {
        self.0[message].field.iter().map(|field| {
            let value = match field.r#type() {
                Type::Message => Node::Message(Tree(Vec::new())),
                Type::String | Type::Bytes => Node::Bytes(b"added".to_vec()),
                Type::Float => Node::Fixed32(1f32.to_le_bytes()),
                Type::Double => Node::Fixed64(1f64.to_le_bytes()),
                _ => Node::Varint(1),
            };
            (field.number() as u32, field.name(), value)
        })
    }

    /// A message in the one form of all encodings that decode to the same: fields in the order of
    /// their numbers, of a field that is not repeated the last value, or all parts of a message,
    /// numbers not packed.
    pub fn canonical(&self, message: &str, tree: &Tree) -> Tree {
        let mut fields: Vec<(u32, Node)> = Vec::new();
        for (number, value) in &tree.0 {
            let Some(field) = self.field(message, *number) else {
                fields.push((*number, value.clone()));
                continue;
            };
            if field.label() == Label::Repeated {
                let numbers = match value {
                    Node::Bytes(packed)
                        if !matches!(field.r#type(), Type::String | Type::Bytes) =>
                    {
                        unpacked(field.r#type(), packed)
                    }
                    _ => None,
                };
                let items = numbers.unwrap_or_else(|| vec![value.clone()]);
                fields.extend(items.into_iter().map(|item| (*number, item)));
                continue;
            }
            let is_same = |other: u32| {
                other == *number
                    || field.oneof_index.is_some()
                        && self
                            .field(message, other)
                            .is_some_and(|other| other.oneof_index == field.oneof_index)
            };
            let earlier = fields
                .iter()
                .position(|(other, _)| is_same(*other))
                .map(|index| fields.remove(index));
            match (earlier, value) {
                (Some((other, Node::Message(Tree(start)))), Node::Message(Tree(rest)))
                    if other == *number =>
                {
                    fields.push((*number, Node::Message(Tree([start, rest.clone()].concat()))));
                }
                _ => fields.push((*number, value.clone())),
            }
        }
        fields.sort_by_key(|&(number, _)| number);
        let inside = |(number, value): (u32, Node)| match (value, self.named(message, number)) {
            (Node::Message(tree), Some((_, Some(inner)))) => {
                (number, Node::Message(self.canonical(inner, &tree)))
            }
            (value, _) => (number, value),
        };
        Tree(fields.into_iter().map(inside).collect())
    }

    fn field(&self, message: &str, number: u32) -> Option<&FieldDescriptorProto> {
        self.0[message]
            .field
            .iter()
            .find(|field| field.number() == number as i32)
    }

    /// Reads a message; panics where it is none.
    pub fn read(&self, message: &str, mut bytes: &[u8]) -> Tree {
        let mut fields = Vec::new();
        while !bytes.is_empty() {
            let key = decode_varint(&mut bytes).expect("a whole varint");
            let number = (key >> 3) as u32;
            let value = match key & 7 {
                0 => Node::Varint(decode_varint(&mut bytes).expect("a whole varint")),
                1 => Node::Fixed64(take(&mut bytes, 8).try_into().unwrap()),
                5 => Node::Fixed32(take(&mut bytes, 4).try_into().unwrap()),
                2 => {
                    let length = decode_varint(&mut bytes).expect("a whole varint") as usize;
                    let value = take(&mut bytes, length);
                    match self.field(message, number) {
                        Some(field) if field.r#type() == Type::Message => {
                            Node::Message(self.read(field.type_name(), value))
                        }
                        _ => Node::Bytes(value.to_vec()),
                    }
                }
                3 => {
                    let end = bytes
                        .windows(2)
                        .position(|pair| pair == group_end(number))
                        .expect("the group ends");
                    let value = take(&mut bytes, end + 2);
                    Node::Group(value[..end].to_vec())
                }
                other => panic!("wire type {other}"),
            };
            fields.push((number, value));
        }
        Tree(fields)
    }

    /// Changes every text in a message: names, strings, values of metadata; but no tensor's packed
    /// numbers.
    pub fn change_texts(
        &self,
        message: &str,
        tree: &mut Tree,
        change: &impl Fn(&str, &[u8]) -> Vec<u8>,
    ) {
        for (number, value) in &mut tree.0 {
            let Some(field) = self.field(message, *number) else {
                continue;
            };
            match value {
                Node::Message(inner) => self.change_texts(field.type_name(), inner, change),
                Node::Bytes(text)
                    if matches!(field.r#type(), Type::String | Type::Bytes)
                        && field.name() != "raw_data" =>
                {
                    *text = change(field.name(), text);
                }
                _ => {}
            }
        }
    }

    /// A message with every field that its schema knows set once, and every message inside to the
    /// same, as deep as `depth` lets it. Texts are all different; of a oneof, each message has the
    /// next member. What a tensor says of itself agrees with its value.
    pub fn full(&self, message: &str, depth: usize, made: &mut Made) -> Tree {
        let turn = made.messages.entry(message.to_owned()).or_default();
        *turn += 1;
        let descriptor = &self.0[message];
        let members = descriptor
            .field
            .iter()
            .filter(|field| field.oneof_index.is_some());
        let member = members
            .map(|field| field.number())
            .nth((*turn - 1) % descriptor.field.len().min(6));
        let first = descriptor
            .field
            .iter()
            .find(|field| field.oneof_index.is_some())
            .map(|field| field.number());
        let mut fields = Vec::new();
        for field in &descriptor.field {
            if field.oneof_index.is_some() && Some(field.number()) != member.or(first) {
                continue;
            }
            made.texts += 1;
            let value = match (message, field.name(), field.r#type()) {
                (".onnx.TensorProto", "dims" | "data_location", _) => continue,
                (".onnx.TensorProto", "data_type", _) => Node::Varint(1),
                (".onnx.TensorProto", "raw_data", _) => Node::Bytes(vec![0, 0, 128, 63]),
                (".onnx.ModelProto", "ir_version", _) => Node::Varint(14),
                (_, _, Type::Message) if depth == 0 => continue,
                (_, _, Type::Message) => {
                    Node::Message(self.full(field.type_name(), depth - 1, made))
                }
                (_, _, Type::String | Type::Bytes) => {
                    Node::Bytes(format!("text{}", made.texts).into_bytes())
                }
                (_, _, Type::Float) if field.label() == Label::Optional => {
                    Node::Fixed32([1, 2, 3, 4])
                }
                (".onnx.AttributeProto", "floats", _) => Node::Fixed32([1, 2, 3, 4]),
                (_, _, Type::Float) => Node::Bytes(vec![0; 4]),
                (_, _, Type::Double) => Node::Bytes(vec![0; 8]),
                (".onnx.TensorProto", "int32_data" | "int64_data" | "uint64_data", _) => {
                    Node::Bytes(vec![1])
                }
                _ => Node::Varint(1),
            };
            fields.push((field.number() as u32, value));
        }
        fields.sort_by_key(|&(number, _)| number);
        Tree(fields)
    }
}

/// The numbers of a packed field; none of one that ends within a number.
fn unpacked(kind: Type, mut packed: &[u8]) -> Option<Vec<Node>> {
    let mut items = Vec::new();
    while !packed.is_empty() {
        items.push(match kind {
            Type::Float => Node::Fixed32(packed.split_off(..4)?.try_into().ok()?),
            Type::Double => Node::Fixed64(packed.split_off(..8)?.try_into().ok()?),
            _ => Node::Varint(decode_varint(&mut packed).ok()?),
        });
    }
    Some(items)
}

/// What [`Schema::full`] made so far.
#[derive(Default)]
pub struct Made {
    /// By message: how many.
    pub messages: BTreeMap<String, usize>,
    texts: u64,
}

fn register(
    messages: &mut BTreeMap<String, DescriptorProto>,
    parent: &str,
    message: &DescriptorProto,
) {
    let name = format!("{parent}.{}", message.name());
    for nested in &message.nested_type {
        register(messages, &name, nested);
    }
    messages.insert(name, message.clone());
}

impl Tree {
    pub fn write(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (number, value) in &self.0 {
            let mut key =
                |wire_type: u64| encode_varint(u64::from(*number) << 3 | wire_type, &mut out);
            match value {
                Node::Varint(value) => {
                    key(0);
                    encode_varint(*value, &mut out);
                }
                Node::Fixed64(bytes) => {
                    key(1);
                    out.extend(bytes);
                }
                Node::Fixed32(bytes) => {
                    key(5);
                    out.extend(bytes);
                }
                Node::Bytes(bytes) => {
                    key(2);
                    encode_varint(bytes.len() as u64, &mut out);
                    out.extend(bytes);
                }
                Node::Group(bytes) => {
                    key(3);
                    out.extend(bytes);
                    out.extend(group_end(*number));
                }
                Node::Message(tree) => {
                    key(2);
                    let bytes = tree.write();
                    encode_varint(bytes.len() as u64, &mut out);
                    out.extend(bytes);
                }
            }
        }
        out
    }

    /// Appends fields to this message and every one inside; says to how many.
    pub fn append_everywhere(&mut self, fields: &[(u32, Node)]) -> usize {
        let mut messages = 1;
        for (_, value) in &mut self.0 {
            if let Node::Message(tree) = value {
                messages += tree.append_everywhere(fields);
            }
        }
        self.0.extend_from_slice(fields);
        messages
    }

    /// In how many messages, this one and all inside, all of these fields stand.
    pub fn count_with(&self, fields: &[(u32, Node)]) -> usize {
        let inside = self.0.iter().map(|(_, value)| match value {
            Node::Message(tree) => tree.count_with(fields),
            _ => 0,
        });
        inside.sum::<usize>() + usize::from(fields.iter().all(|field| self.0.contains(field)))
    }

    /// The fields of every message in the order of their numbers: the order among different fields
    /// means nothing.
    pub fn sorted(mut self) -> Tree {
        self.0.sort_by_key(|&(number, _)| number);
        let sort = |(number, value)| match value {
            Node::Message(tree) => (number, Node::Message(tree.sorted())),
            other => (number, other),
        };
        Tree(self.0.into_iter().map(sort).collect())
    }
}

fn group_end(number: u32) -> [u8; 2] {
    let mut out = Vec::new();
    encode_varint(u64::from(number) << 3 | 4, &mut out);
    out.try_into()
        .expect("numbers of groups in these tests take two bytes")
}

fn take<'b>(bytes: &mut &'b [u8], count: usize) -> &'b [u8] {
    let (head, tail) = bytes.split_at(count);
    *bytes = tail;
    head
}
