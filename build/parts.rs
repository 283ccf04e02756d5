//! Parts of messages: fields that few messages of their type have. They are decoded into a struct
//! of their own, which is allocated when the first of them is set. A model has more nodes and
//! attributes than other messages, so their size decides how much memory it takes.

use std::fmt::Write as _;

use prost_types::field_descriptor_proto::Label;
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

/// A part of a message.
struct Part {
    message: &'static str,
    /// The name of the message's field for the part, and of the methods by which it is reached.
    name: &'static str,
    /// The fields of the part in the order of their numbers. No other field of the message has a
    /// number between these, so that fields are written in the order of their numbers.
    fields: &'static [&'static str],
    /// Whether the message derefs to the part.
    is_target: bool,
}

/// A part may have a part itself, which follows it here.
const PARTS: [Part; 4] = [
    Part {
        message: "NodeProto",
        name: "rare",
        fields: &[
            "doc_string",
            "domain",
            "overload",
            "metadata_props",
            "device_configurations",
        ],
        is_target: true,
    },
    Part {
        message: "AttributeProto",
        name: "lists",
        fields: &[
            "floats",
            "ints",
            "strings",
            "tensors",
            "graphs",
            "doc_string",
            "tp",
            "type_protos",
        ],
        is_target: true,
    },
    Part {
        message: "AttributeProtoLists",
        name: "rare",
        fields: &[
            "strings",
            "tensors",
            "graphs",
            "doc_string",
            "tp",
            "type_protos",
        ],
        is_target: true,
    },
    Part {
        message: "AttributeProto",
        name: "tail",
        fields: &["ref_attr_name", "sparse_tensor", "sparse_tensors"],
        is_target: false,
    },
];

/// The messages whose parts were separated, and the field numbers of each part.
pub struct Separated {
    messages: Vec<DescriptorProto>,
    numbers: Vec<String>,
}

/// Moves the fields of the parts into messages of their own, each in a file of its own.
pub fn separate(files: &mut FileDescriptorSet) -> Separated {
    let numbers = PARTS.iter().map(|part| part.separate(files)).collect();
    let is_separated = |message: &&DescriptorProto| {
        PARTS
            .iter()
            .any(|part| [part.message, &part.struct_name()].contains(&message.name()))
    };
    let messages = files
        .file
        .iter()
        .flat_map(|file| &file.message_type)
        .filter(is_separated)
        .cloned()
        .collect();
    Separated { messages, numbers }
}

/// How generated code reaches a list of a message, if not as its own field.
pub fn path(message: &str, field: &str) -> String {
    let part = PARTS
        .iter()
        .find(|part| part.message == message && !part.is_target && part.fields.contains(&field));
    part.map(|part| format!("{}_mut().", part.name))
        .unwrap_or_default()
}

impl Part {
    /// The name of its struct, such as `NodeProtoRare`.
    fn struct_name(&self) -> String {
        format!(
            "{}{}{}",
            self.message,
            self.name[..1].to_uppercase(),
            &self.name[1..]
        )
    }

    /// Moves the fields into a message of their own, and returns their numbers.
    fn separate(&self, files: &mut FileDescriptorSet) -> String {
        let package = files.file[0].package.clone();
        let mut messages = files
            .file
            .iter_mut()
            .flat_map(|file| &mut file.message_type);
        let message = messages
            .find(|message| message.name() == self.message)
            .expect("onnx.proto has the message");
        let (mut part, others): (Vec<_>, Vec<_>) = std::mem::take(&mut message.field)
            .into_iter()
            .partition(|field| self.fields.contains(&field.name()));
        part.sort_by_key(FieldDescriptorProto::number);
        let name = self.struct_name();
        assert!(
            part.iter()
                .map(FieldDescriptorProto::name)
                .eq(self.fields.iter().copied()),
            "{name}: the fields are {part:?}"
        );
        let range = part[0].number()..part[part.len() - 1].number();
        assert!(
            !others.iter().any(|field| range.contains(&field.number())),
            "{name}: another field is between these"
        );
        message.field = others;
        let numbers: Vec<String> = part
            .iter()
            .map(|field| field.number().to_string())
            .collect();
        let separated = DescriptorProto {
            name: Some(name.clone()),
            field: part,
            ..DescriptorProto::default()
        };
        files.file.push(FileDescriptorProto {
            name: Some(format!("{name}.proto")),
            package,
            message_type: vec![separated],
            ..FileDescriptorProto::default()
        });
        numbers.join(", ")
    }
}

impl Separated {
    /// The structs that prost-build writes, with fields and methods for the parts. For prost, such
    /// a field is a oneof, whose type it asks to decode and encode several field numbers.
    pub fn add_to(&self, mut structs: String) -> String {
        for message in &self.messages {
            let parts: Vec<&Part> = PARTS
                .iter()
                .filter(|part| part.message == message.name())
                .collect();
            if !parts.is_empty() {
                self.add_parts(&mut structs, message, &parts);
            }
        }
        structs
    }

    fn add_parts(&self, structs: &mut String, message: &DescriptorProto, parts: &[&Part]) {
        let name = message.name();
        let head = format!("#[derive(Clone, PartialEq, ::prost::Message)]\npub struct {name} {{\n");
        assert!(
            structs.contains(&head),
            "prost-build writes {name} in another way"
        );
        let mut with_parts = format!("#[derive(Clone, ::prost::Message)]\npub struct {name} {{\n");
        let mut equal: Vec<String> = message
            .field
            .iter()
            .map(|field| format!("self.{0} == other.{0}", rust_name(field)))
            .collect();
        let (mut methods, mut boxes) = (String::new(), String::new());
        for (part, numbers) in PARTS
            .iter()
            .zip(&self.numbers)
            .filter(|(part, _)| part.message == name)
        {
            let (field, part_type) = (part.name, part.struct_name());
            write!(
                with_parts,
                "/// Fields that few messages have, see [`{part_type}`].
                #[prost(oneof = \"{part_type}Box\", tags = \"{numbers}\")]
                pub {field}: ::core::option::Option<{part_type}Box>,\n"
            )
            .expect("a String takes everything");
            write!(
                methods,
                "/// The fields of [`{part_type}`].
                pub fn {field}(&self) -> &{part_type} {{
                    static EMPTY: {part_type} = {part_type} {{ {empty} }};
                    self.{field}.as_ref().map_or(&EMPTY, |part| &part.0)
                }}
                /// The fields of [`{part_type}`], to be changed.
                pub fn {field}_mut(&mut self) -> &mut {part_type} {{
                    &mut self.{field}.get_or_insert_default().0
                }}\n",
                empty = self.empty(&part_type)
            )
            .expect("a String takes everything");
            equal.push(format!("self.{field}() == other.{field}()"));
            boxes.push_str(&format!(
                "pub type {part_type}Box = crate::protobuf::part::PartBox<{part_type}>;\n"
            ));
        }
        *structs = structs.replace(&head, &with_parts);
        write!(
            structs,
            "{boxes}impl {name} {{ {methods} }}
            // A part that is not allocated equals an empty one.
            impl ::core::cmp::PartialEq for {name} {{
                fn eq(&self, other: &Self) -> bool {{ {} }}
            }}\n",
            equal.join(" && ")
        )
        .expect("a String takes everything");
        for part in parts.iter().filter(|part| part.is_target) {
            write!(
                structs,
                "impl ::core::ops::Deref for {name} {{
                    type Target = {part_type};
                    fn deref(&self) -> &{part_type} {{ self.{field}() }}
                }}
                impl ::core::ops::DerefMut for {name} {{
                    fn deref_mut(&mut self) -> &mut {part_type} {{ self.{field}_mut() }}
                }}\n",
                part_type = part.struct_name(),
                field = part.name
            )
            .expect("a String takes everything");
        }
    }

    /// The fields of an empty struct.
    fn empty(&self, struct_name: &str) -> String {
        let message = self
            .messages
            .iter()
            .find(|message| message.name() == struct_name)
            .expect("the part was separated");
        let fields = message.field.iter().map(|field| match field.label() {
            Label::Repeated => format!("{}: ::prost::alloc::vec::Vec::new()", rust_name(field)),
            _ => format!("{}: ::core::option::Option::None", rust_name(field)),
        });
        let parts = PARTS.iter().filter(|part| part.message == struct_name);
        let parts = parts.map(|part| format!("{}: ::core::option::Option::None", part.name));
        fields.chain(parts).collect::<Vec<String>>().join(", ")
    }
}

fn rust_name(field: &FieldDescriptorProto) -> String {
    match field.name() {
        "type" => "r#type".to_owned(),
        name => name.to_owned(),
    }
}
