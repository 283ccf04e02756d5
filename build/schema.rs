//! From `proto/onnx.proto` to prost types whose nested messages keep unknown fields.
//!
//! prost drops a field that its schema does not know. Every message field is therefore declared as
//! `Lossless<M>`, which passes the known fields on to `M` and stores the others. Beside prost's
//! structs, three things are generated: the list of known field numbers of each message; the module
//! `schema` with an alias `X = Lossless<raw::X>` for each message; and an outline of the schema,
//! with the name and the kind of every field.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::parts;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

const PROTO: &str = "proto/onnx.proto";

/// Fields of `TensorProto` with the tensor's values. They are not decoded, but kept encoded like
/// unknown fields, so that the weights of a mapped file are neither copied nor unpacked before they
/// are used.
const TENSOR_VALUES: [&str; 6] = [
    "float_data",
    "int32_data",
    "int64_data",
    "raw_data",
    "double_data",
    "uint64_data",
];

/// The field for documentation, which old exporters wrote in other encodings than UTF-8: bytes
/// here, so that such a model loads. On the wire texts and bytes are the same.
const FREE_TEXT: &str = "doc_string";

/// Fields through which a message contains itself without a list in between.
const RECURSIVE: [&str; 3] = [
    ".onnx.TypeProto.Sequence.elem_type",
    ".onnx.TypeProto.Map.value_type",
    ".onnx.TypeProto.Optional.elem_type",
];

/// Writes `onnx.rs` (prost's structs), `known.rs`, `schema.rs` and `outline.rs` into `out_dir`.
pub fn generate(out_dir: &Path) {
    println!("cargo:rerun-if-changed={PROTO}");
    let mut files =
        protox::compile([PROTO], ["proto"]).unwrap_or_else(|error| panic!("{PROTO}: {error}"));
    let mut outline = String::new();
    for message in &files.file[0].message_type {
        write_outline(&mut outline, &files.file[0], "", message);
    }
    write_file(out_dir, "outline.rs", &outline);
    leave_tensor_values_encoded(&mut files);
    files.file[0]
        .message_type
        .iter_mut()
        .for_each(leave_free_text_undecoded);
    let mut known = String::new();
    let mut aliases = String::new();
    for message in &files.file[0].message_type {
        write_known(&mut known, "raw", "", message);
        write_alias(&mut aliases, "raw", 1, message);
    }
    write_file(out_dir, "known.rs", &known);
    write_file(out_dir, "schema.rs", &aliases);

    let stand_ins = files.file[0].message_type.iter().map(stand_in).collect();
    let separated = parts::separate(&mut files);
    files
        .file
        .iter_mut()
        .flat_map(|file| &mut file.message_type)
        .for_each(keep_nested_messages);
    files.file.push(FileDescriptorProto {
        name: Some("lossless.proto".to_owned()),
        package: Some("lossless".to_owned()),
        message_type: stand_ins,
        ..FileDescriptorProto::default()
    });
    let mut config = prost_build::Config::new();
    config
        .out_dir(out_dir)
        .bytes(["."])
        .extern_path(".lossless", "crate::protobuf::schema");
    for field in RECURSIVE {
        config.boxed(field);
    }
    config
        .compile_fds(files)
        .unwrap_or_else(|error| panic!("{PROTO}: {error}"));
    let structs = fs::read_to_string(out_dir.join("onnx.rs"))
        .unwrap_or_else(|error| panic!("onnx.rs: {error}"));
    write_file(out_dir, "onnx.rs", &separated.add_to(structs));
}

fn leave_tensor_values_encoded(files: &mut FileDescriptorSet) {
    let messages = &mut files.file[0].message_type;
    let tensor = messages
        .iter_mut()
        .find(|message| message.name() == "TensorProto")
        .expect("onnx.proto has TensorProto");
    let before = tensor.field.len();
    tensor
        .field
        .retain(|field| !TENSOR_VALUES.contains(&field.name()));
    assert_eq!(
        before - tensor.field.len(),
        TENSOR_VALUES.len(),
        "a value field of TensorProto has another name"
    );
}

fn leave_free_text_undecoded(message: &mut DescriptorProto) {
    for field in message
        .field
        .iter_mut()
        .filter(|field| field.name() == FREE_TEXT)
    {
        field.set_type(Type::Bytes);
    }
    message
        .nested_type
        .iter_mut()
        .for_each(leave_free_text_undecoded);
}

/// What prost-build is told of the `Lossless` alias of a message: that there is such a type, in
/// another crate, and (for the float list) that it is neither `Copy` nor `Eq`.
fn stand_in(message: &DescriptorProto) -> DescriptorProto {
    DescriptorProto {
        name: message.name.clone(),
        field: vec![FieldDescriptorProto {
            name: Some("floats".to_owned()),
            number: Some(1),
            label: Some(Label::Repeated.into()),
            r#type: Some(Type::Float.into()),
            ..FieldDescriptorProto::default()
        }],
        nested_type: message.nested_type.iter().map(stand_in).collect(),
        ..DescriptorProto::default()
    }
}

/// Points every message field at the `Lossless` alias.
fn keep_nested_messages(message: &mut DescriptorProto) {
    for field in &mut message.field {
        if field.r#type() == Type::Message {
            let name = field
                .type_name()
                .strip_prefix(".onnx")
                .expect("all types are of the package onnx");
            field.type_name = Some(format!(".lossless{name}"));
        }
    }
    for nested in &mut message.nested_type {
        keep_nested_messages(nested);
    }
}

fn write_known(out: &mut String, module: &str, outer: &str, message: &DescriptorProto) {
    let name = message.name();
    let tags: Vec<String> = message
        .field
        .iter()
        .map(|field| field.number().to_string())
        .collect();
    let is_list = |field: &&FieldDescriptorProto| {
        field.label() == Label::Repeated
            && matches!(field.r#type(), Type::Message | Type::String | Type::Bytes)
    };
    let lists = message.field.iter().filter(is_list);
    let arms: String = lists
        .map(|list| {
            format!(
                "if tag == {} {{ lossless::reserve_item(&mut self.{}{}) }}\n",
                list.number(),
                parts::path(message.name(), list.name()),
                list.name()
            )
        })
        .collect();
    let tag = if arms.is_empty() { "_" } else { "tag" };
    let full_name = format!("{outer}{name}");
    // The nodes of a graph may have been decoded before the graph.
    let nodes = message
        .field
        .iter()
        .find(|field| full_name == "GraphProto" && field.name() == "node")
        .map_or(String::new(), |field| {
            format!(
                "fn take_decoded(&mut self, tag: u32, start: usize) -> Option<usize> \
             {{ if tag == {} {{ ahead::take(start, &mut self.node) }} else {{ None }} }}",
                field.number()
            )
        });
    writeln!(
        out,
        "impl Known for {module}::{name} {{ const FIELDS: &'static [u32] = &[{}]; \
         const OUTLINE: &'static outline::Message = &outline::{}; fn reserve_item(&mut self, {tag}: u32) {{ {arms} }} {nodes} }}",
        tags.join(", "),
        constant(&full_name)
    )
    .expect("a String takes everything");
    for nested in &message.nested_type {
        write_known(
            out,
            &format!("{module}::{}", snake(name)),
            &format!("{full_name}."),
            nested,
        );
    }
}

fn write_alias(out: &mut String, module: &str, depth: usize, message: &DescriptorProto) {
    let name = message.name();
    let up = "super::".repeat(depth);
    let plain = format!("{up}{module}::{name}");
    writeln!(
        out,
        "/// [`{name}`]({plain}) with its unknown fields.\npub type {name} = {up}Lossless<{plain}>;"
    )
    .expect("a String takes everything");
    if !message.nested_type.is_empty() {
        writeln!(
            out,
            "/// Messages declared inside `{name}`.\npub mod {} {{",
            snake(name)
        )
        .expect("a String takes everything");
        for nested in &message.nested_type {
            write_alias(
                out,
                &format!("{module}::{}", snake(name)),
                depth + 1,
                nested,
            );
        }
        out.push_str("}\n");
    }
}

/// A static for a message: its full name without the package, in capitals.
fn write_outline(
    out: &mut String,
    file: &FileDescriptorProto,
    outer: &str,
    message: &DescriptorProto,
) {
    let name = format!("{outer}{}", message.name());
    let fields = message.field.iter().map(|field| {
        let type_name = field.type_name().trim_start_matches(".onnx.");
        let kind = match field.r#type() {
            Type::Message => format!("Kind::Message(&{})", constant(type_name)),
            Type::Enum => format!("Kind::Enum(&{:?})", enum_values(file, type_name)),
            Type::String => "Kind::Text".to_owned(),
            Type::Bytes => "Kind::Bytes".to_owned(),
            Type::Float => "Kind::Float".to_owned(),
            Type::Double => "Kind::Double".to_owned(),
            Type::Int32 | Type::Int64 | Type::Uint64 => "Kind::Integer".to_owned(),
            other => panic!(
                "{name}.{}: no field of ONNX had the type {other:?} so far",
                field.name()
            ),
        };
        let repeated = field.label() == Label::Repeated;
        format!(
            "Field {{ number: {}, name: {:?}, repeated: {repeated}, kind: {kind} }}",
            field.number(),
            field.name()
        )
    });
    let fields: Vec<String> = fields.collect();
    writeln!(
        out,
        "/// The fields of `{name}`.\npub static {}: Message = Message {{ name: {name:?}, fields: &[{}] }};",
        constant(&name),
        fields.join(", ")
    )
    .expect("a String takes everything");
    for nested in &message.nested_type {
        write_outline(out, file, &format!("{name}."), nested);
    }
}

fn enum_values(file: &FileDescriptorProto, type_name: &str) -> Vec<(i32, String)> {
    let inside = file.message_type.iter().flat_map(|message| {
        message
            .enum_type
            .iter()
            .map(move |declared| (format!("{}.{}", message.name(), declared.name()), declared))
    });
    let all = file
        .enum_type
        .iter()
        .map(|declared| (declared.name().to_owned(), declared))
        .chain(inside);
    let found = all
        .filter(|(name, _)| name == type_name)
        .flat_map(|(_, declared)| &declared.value);
    found
        .map(|value| (value.number(), value.name().to_owned()))
        .collect()
}

fn constant(full_name: &str) -> String {
    full_name
        .split('.')
        .map(snake)
        .collect::<Vec<String>>()
        .join("_")
        .to_uppercase()
}

fn snake(camel: &str) -> String {
    let mut out = String::new();
    for (index, letter) in camel.char_indices() {
        if letter.is_ascii_uppercase() && index > 0 {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

fn write_file(out_dir: &Path, name: &str, text: &str) {
    fs::write(out_dir.join(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
}
