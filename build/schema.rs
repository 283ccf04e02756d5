//! From `proto/onnx.proto` to prost types whose nested messages keep unknown fields.
//!
//! prost drops a field that its schema does not know. Every message field is therefore declared as `Kept<M>`, which passes the
//! known fields on to `M` and stores the others. Three things are generated beside prost's structs: for each message the list of
//! its known field numbers, and the module `schema` with an alias `X = Kept<raw::X>` for each message. A third, of the whole schema, says
//! what every field is called and what it holds.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet};

const PROTO: &str = "proto/onnx.proto";

/// Fields of `TensorProto` with the tensor's values. They are not decoded, but kept encoded like unknown fields, so that the weights of a
/// mapped file are neither copied nor unpacked before they are used.
const TENSOR_VALUES: [&str; 6] = ["float_data", "int32_data", "int64_data", "raw_data", "double_data", "uint64_data"];

/// The field for documentation, which old exporters wrote in other encodings than UTF-8: bytes here, so that such a model loads. On
/// the wire texts and bytes are the same.
const FREE_TEXT: &str = "doc_string";

/// Fields through which a message contains itself without a list in between.
const RECURSIVE: [&str; 3] =
    [".onnx.TypeProto.Sequence.elem_type", ".onnx.TypeProto.Map.value_type", ".onnx.TypeProto.Optional.elem_type"];

/// Fields that few messages have, in the order of their numbers. They are decoded into a struct of their own, `XRare`, which is allocated
/// when the first of them is set: a model has as many nodes and attributes as anything, so their size decides how much memory it takes.
/// `X` derefs to `XRare`. No other field of the message has a number between these, so that the order on the wire stays that of the
/// numbers.
const RARE: [(&str, &[&str]); 2] = [
    ("NodeProto", &["doc_string", "domain", "overload", "metadata_props", "device_configurations"]),
    ("AttributeProto", &["strings", "tensors", "graphs", "doc_string", "tp", "type_protos"]),
];

/// Writes `onnx.rs` (prost's structs), `known.rs`, `schema.rs` and `outline.rs` into `out_dir`.
pub fn generate(out_dir: &Path) {
    println!("cargo:rerun-if-changed={PROTO}");
    let mut files = protox::compile([PROTO], ["proto"]).unwrap_or_else(|error| panic!("{PROTO}: {error}"));
    let mut outline = String::new();
    for message in &files.file[0].message_type {
        write_outline(&mut outline, &files.file[0], "", message);
    }
    write_file(out_dir, "outline.rs", &outline);
    leave_tensor_values_encoded(&mut files);
    files.file[0].message_type.iter_mut().for_each(leave_free_text_undecoded);
    let mut known = String::new();
    let mut aliases = String::new();
    for message in &files.file[0].message_type {
        write_known(&mut known, "raw", "", message);
        write_alias(&mut aliases, "raw", 1, message);
    }
    write_file(out_dir, "known.rs", &known);
    write_file(out_dir, "schema.rs", &aliases);

    let stand_ins = files.file[0].message_type.iter().map(stand_in).collect();
    let rare: Vec<Rare> = RARE.iter().map(|(name, fields)| Rare::separate(&mut files, name, fields)).collect();
    for message in &mut files.file[0].message_type {
        keep_nested_messages(message);
    }
    files.file.push(FileDescriptorProto {
        name: Some("kept.proto".to_owned()),
        package: Some("kept".to_owned()),
        message_type: stand_ins,
        ..FileDescriptorProto::default()
    });
    let mut config = prost_build::Config::new();
    config.out_dir(out_dir).bytes(["."]).extern_path(".kept", "crate::wire::schema");
    for field in RECURSIVE {
        config.boxed(field);
    }
    config.compile_fds(files).unwrap_or_else(|error| panic!("{PROTO}: {error}"));
    let structs = fs::read_to_string(out_dir.join("onnx.rs")).unwrap_or_else(|error| panic!("onnx.rs: {error}"));
    write_file(out_dir, "onnx.rs", &rare.iter().fold(structs, |structs, rare| rare.add_to(&structs)));
}

/// The fields that are decoded into a separate struct.
struct Rare {
    message: String,
    /// The fields that stay.
    common: Vec<String>,
    rare: Vec<FieldDescriptorProto>,
}

impl Rare {
    /// Moves the fields into a message `XRare`.
    fn separate(files: &mut FileDescriptorSet, name: &str, fields: &[&str]) -> Rare {
        let messages = &mut files.file[0].message_type;
        let message = messages.iter_mut().find(|message| message.name() == name).expect("onnx.proto has the message");
        let (mut rare, common): (Vec<_>, Vec<_>) =
            std::mem::take(&mut message.field).into_iter().partition(|field| fields.contains(&field.name()));
        rare.sort_by_key(FieldDescriptorProto::number);
        assert!(rare.iter().map(FieldDescriptorProto::name).eq(fields.iter().copied()), "{name}: the rare fields are {rare:?}");
        let numbers = rare[0].number()..rare[rare.len() - 1].number();
        assert!(!common.iter().any(|field| numbers.contains(&field.number())), "{name}: a common field is between the rare ones");
        message.field.clone_from(&common);
        let separate = DescriptorProto { name: Some(format!("{name}Rare")), field: rare.clone(), ..DescriptorProto::default() };
        let mut file = FileDescriptorProto {
            name: Some(format!("{name}.proto")),
            package: files.file[0].package.clone(),
            message_type: vec![separate],
            ..FileDescriptorProto::default()
        };
        keep_nested_messages(&mut file.message_type[0]);
        files.file.push(file);
        let rust_name = |field: &FieldDescriptorProto| match field.name() {
            "type" => "r#type".to_owned(),
            name => name.to_owned(),
        };
        Rare { message: name.to_owned(), common: common.iter().map(rust_name).collect(), rare }
    }

    /// The generated structs, with a field for the rare ones. For prost that field is a oneof, whose type it asks to decode and encode
    /// several field numbers.
    fn add_to(&self, structs: &str) -> String {
        let Rare { message, common, rare } = self;
        let head = format!("#[derive(Clone, PartialEq, ::prost::Message)]\npub struct {message} {{\n");
        assert!(structs.contains(&head), "prost-build writes {message} in another way");
        let numbers: Vec<String> = rare.iter().map(|field| field.number().to_string()).collect();
        let with_field = format!(
            "#[derive(Clone, ::prost::Message)]\npub struct {message} {{\n    \
             /// Fields that few messages have, see [`{message}Rare`].\n    \
             #[prost(oneof = \"{message}RareBox\", tags = \"{}\")]\n    \
             pub rare: ::core::option::Option<{message}RareBox>,\n",
            numbers.join(", ")
        );
        let mut out = structs.replace(&head, &with_field);
        let empty = rare.iter().map(|field| match field.label() {
            Label::Repeated => format!("{}: ::prost::alloc::vec::Vec::new()", field.name()),
            _ => format!("{}: ::core::option::Option::None", field.name()),
        });
        let empty: Vec<String> = empty.collect();
        let equal: Vec<String> = common.iter().map(|name| format!("self.{name} == other.{name}")).collect();
        write!(
            out,
            "pub type {message}RareBox = crate::wire::rare::RareBox<{message}Rare>;
            impl ::core::ops::Deref for {message} {{
                type Target = {message}Rare;
                fn deref(&self) -> &{message}Rare {{
                    static EMPTY: {message}Rare = {message}Rare {{ {empty} }};
                    self.rare.as_ref().map_or(&EMPTY, |rare| &rare.0)
                }}
            }}
            impl ::core::ops::DerefMut for {message} {{
                fn deref_mut(&mut self) -> &mut {message}Rare {{
                    &mut self.rare.get_or_insert_default().0
                }}
            }}
            impl ::core::cmp::PartialEq for {message} {{
                fn eq(&self, other: &Self) -> bool {{
                    {equal} && **self == **other
                }}
            }}\n",
            empty = empty.join(", "),
            equal = equal.join(" && ")
        )
        .expect("a String takes everything");
        out
    }
}

fn leave_tensor_values_encoded(files: &mut FileDescriptorSet) {
    let messages = &mut files.file[0].message_type;
    let tensor = messages.iter_mut().find(|message| message.name() == "TensorProto").expect("onnx.proto has TensorProto");
    let before = tensor.field.len();
    tensor.field.retain(|field| !TENSOR_VALUES.contains(&field.name()));
    assert_eq!(before - tensor.field.len(), TENSOR_VALUES.len(), "a value field of TensorProto has another name");
}

fn leave_free_text_undecoded(message: &mut DescriptorProto) {
    for field in message.field.iter_mut().filter(|field| field.name() == FREE_TEXT) {
        field.set_type(Type::Bytes);
    }
    message.nested_type.iter_mut().for_each(leave_free_text_undecoded);
}

/// What prost-build is told of the `Kept` alias of a message: that there is such a type, in another crate, and (for the float
/// list) that it is neither `Copy` nor `Eq`.
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

/// Points every message field at the `Kept` alias.
fn keep_nested_messages(message: &mut DescriptorProto) {
    for field in &mut message.field {
        if field.r#type() == Type::Message {
            let name = field.type_name().strip_prefix(".onnx").expect("all types are of the package onnx");
            field.type_name = Some(format!(".kept{name}"));
        }
    }
    for nested in &mut message.nested_type {
        keep_nested_messages(nested);
    }
}

fn write_known(out: &mut String, module: &str, outer: &str, message: &DescriptorProto) {
    let name = message.name();
    let tags: Vec<String> = message.field.iter().map(|field| field.number().to_string()).collect();
    let is_list = |field: &&FieldDescriptorProto| {
        field.label() == Label::Repeated && matches!(field.r#type(), Type::Message | Type::String | Type::Bytes)
    };
    let lists = message.field.iter().filter(is_list);
    let arms: String =
        lists.map(|list| format!("if tag == {} {{ kept::reserve_item(&mut self.{}) }}\n", list.number(), list.name())).collect();
    let tag = if arms.is_empty() { "_" } else { "tag" };
    let full_name = format!("{outer}{name}");
    writeln!(
        out,
        "impl Known for {module}::{name} {{ const FIELDS: &'static [u32] = &[{}]; \
         const OUTLINE: &'static outline::Message = &outline::{}; fn reserve_item(&mut self, {tag}: u32) {{ {arms} }} }}",
        tags.join(", "),
        constant(&full_name)
    )
    .expect("a String takes everything");
    for nested in &message.nested_type {
        write_known(out, &format!("{module}::{}", snake(name)), &format!("{full_name}."), nested);
    }
}

fn write_alias(out: &mut String, module: &str, depth: usize, message: &DescriptorProto) {
    let name = message.name();
    let up = "super::".repeat(depth);
    let plain = format!("{up}{module}::{name}");
    writeln!(out, "/// [`{name}`]({plain}) with its unknown fields.\npub type {name} = {up}Kept<{plain}>;")
        .expect("a String takes everything");
    if !message.nested_type.is_empty() {
        writeln!(out, "/// Messages declared inside `{name}`.\npub mod {} {{", snake(name)).expect("a String takes everything");
        for nested in &message.nested_type {
            write_alias(out, &format!("{module}::{}", snake(name)), depth + 1, nested);
        }
        out.push_str("}\n");
    }
}

/// A static for a message: its full name without the package, in capitals.
fn write_outline(out: &mut String, file: &FileDescriptorProto, outer: &str, message: &DescriptorProto) {
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
            other => panic!("{name}.{}: no field of ONNX had the type {other:?} so far", field.name()),
        };
        let repeated = field.label() == Label::Repeated;
        format!("Field {{ number: {}, name: {:?}, repeated: {repeated}, kind: {kind} }}", field.number(), field.name())
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
        message.enum_type.iter().map(move |declared| (format!("{}.{}", message.name(), declared.name()), declared))
    });
    let all = file.enum_type.iter().map(|declared| (declared.name().to_owned(), declared)).chain(inside);
    let found = all.filter(|(name, _)| name == type_name).flat_map(|(_, declared)| &declared.value);
    found.map(|value| (value.number(), value.name().to_owned())).collect()
}

fn constant(full_name: &str) -> String {
    full_name.split('.').map(snake).collect::<Vec<String>>().join("_").to_uppercase()
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
