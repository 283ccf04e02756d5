//! Prints a model as text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::lexer::{Lexer, Token};
use super::parse_tensor::TypeName;
use super::values;
use crate::elements::dtype::DType;
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::raw::{tensor_shape_proto, type_proto};
use crate::protobuf::schema::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto,
    TypeProto, ValueInfoProto,
};
use crate::tensor::{Tensor, Values, is_external};

/// The maximum number of elements that are printed of a tensor; of a larger one the first are printed, followed by `...`, and
/// the text cannot be parsed.
const MOST_ELEMENTS: usize = 16;

/// Writes a node as text; a graph in an attribute takes several lines.
#[must_use]
pub fn print_node(node: &NodeProto) -> String {
    node_text(node, "")
}

/// Writes the type and the value of an attribute: `int = 1`.
#[must_use]
pub fn print_attribute_value(attribute: &AttributeProto) -> String {
    attribute_value(attribute, "")
}

/// Writes the type of a value: `float[N, 3]`.
#[must_use]
pub fn print_type(proto: &TypeProto) -> String {
    type_text(proto)
}

/// Writes the element type and shape of a tensor: `float[2, 3]`.
#[must_use]
pub fn print_tensor_type(tensor: &TensorProto) -> String {
    tensor_type(tensor, "").trim_end().to_owned()
}

/// Writes a model as text, one line per node.
#[must_use]
pub fn print(model: &ModelProto) -> String {
    let mut header = Vec::new();
    header.extend(model.ir_version.map(|version| format!("ir_version: {version}")));
    header.push(format!("opset_import: {}", imports(&model.opset_import)));
    let texts = [
        ("producer_name", model.producer_name.as_deref().map(Cow::from)),
        ("producer_version", model.producer_version.as_deref().map(Cow::from)),
        ("domain", model.domain.as_deref().map(Cow::from)),
        ("doc_string", model.doc_string.as_deref().map(String::from_utf8_lossy)),
    ];
    header.extend(texts.into_iter().filter_map(|(key, text)| text.map(|text| format!("{key}: {text:?}"))));
    header.extend(model.model_version.map(|version| format!("model_version: {version}")));
    header.extend(properties(&model.metadata_props));
    let mut text = format!("<\n  {}\n>\n", header.join(",\n  "));
    if let Some(graph) = &model.graph {
        write_graph(&mut text, graph, "");
        text.push('\n');
    }
    for function in &model.functions {
        write_function(&mut text, function);
    }
    text
}

fn write_function(text: &mut String, function: &FunctionProto) {
    let mut header = vec![format!("domain: {:?}", function.domain()), format!("opset_import: {}", imports(&function.opset_import))];
    header.extend(function.overload.as_ref().map(|overload| format!("overload: {overload:?}")));
    header.extend(properties(&function.metadata_props));
    write!(text, "<{}>\n{}", header.join(", "), word(function.name())).ok();
    let defaults = function.attribute_proto.iter().map(|attribute| attribute_text(attribute, ""));
    let attributes: Vec<String> = function.attribute.iter().map(|name| word(name).into_owned()).chain(defaults).collect();
    if !attributes.is_empty() {
        write!(text, " <{}>", attributes.join(", ")).ok();
    }
    write!(text, " ({}) => ({})", words(&function.input), words(&function.output)).ok();
    write_nodes(text, &function.node, "");
    text.push('\n');
}

fn write_graph(text: &mut String, graph: &GraphProto, indent: &str) {
    let infos = |list: &[ValueInfoProto]| list.iter().map(value_info).collect::<Vec<_>>().join(", ");
    let name = if graph.name().is_empty() { "graph" } else { graph.name() };
    write!(text, "{} ({}) => ({})", word(name), infos(&graph.input), infos(&graph.output)).ok();
    let initializers =
        graph.initializer.iter().map(|tensor| format!("{} = {}", tensor_type(tensor, &word(tensor.name())), elements(tensor)));
    let stated: Vec<String> = initializers.chain(graph.value_info.iter().map(value_info)).collect();
    if !stated.is_empty() {
        let separator = format!(",\n{indent}  ");
        write!(text, "\n{indent}<\n{indent}  {}\n{indent}>", stated.join(&separator)).ok();
    }
    write_nodes(text, &graph.node, indent);
}

fn write_nodes(text: &mut String, nodes: &[NodeProto], indent: &str) {
    text.push_str(" {\n");
    for node in nodes {
        writeln!(text, "{indent}  {}", node_text(node, &format!("{indent}  "))).ok();
    }
    write!(text, "{indent}}}").ok();
}

fn node_text(node: &NodeProto, indent: &str) -> String {
    let mut text = String::new();
    if !node.name().is_empty() {
        push_all(&mut text, &["[", &word(node.name()), "] "]);
    }
    push_words(&mut text, &node.output);
    text.push_str(" = ");
    match node.domain() {
        "" => text.push_str(&word(node.op_type())),
        domain => text.push_str(&word(&[domain, ".", node.op_type()].concat())),
    }
    if !node.overload().is_empty() {
        push_all(&mut text, &[":", &word(node.overload())]);
    }
    text.push(' ');
    if !node.attribute.is_empty() {
        let attributes = node.attribute.iter().map(|attribute| attribute_text(attribute, indent));
        push_all(&mut text, &["<", &attributes.collect::<Vec<_>>().join(", "), "> "]);
    }
    text.push('(');
    push_words(&mut text, &node.input);
    text.push(')');
    text
}

fn push_all(text: &mut String, parts: &[&str]) {
    parts.iter().for_each(|part| text.push_str(part));
}

fn attribute_text(attribute: &AttributeProto, indent: &str) -> String {
    format!("{}: {}", word(attribute.name()), attribute_value(attribute, indent))
}

fn attribute_value(attribute: &AttributeProto, indent: &str) -> String {
    let kind = attribute.r#type();
    let mut text = kind.as_str_name().to_lowercase();
    if !attribute.tail().ref_attr_name().is_empty() {
        write!(text, " = @{}", word(attribute.tail().ref_attr_name())).ok();
        return text;
    }
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let graph = |graph: &GraphProto| {
        let mut text = String::new();
        write_graph(&mut text, graph, indent);
        text
    };
    let string = |bytes: &[u8]| format!("{:?}", String::from_utf8_lossy(bytes));
    let value = match kind {
        AttributeType::Int => attribute.i().to_string(),
        AttributeType::Float => float(attribute.f()),
        AttributeType::String => string(attribute.s()),
        AttributeType::Ints => list(attribute.ints.iter().map(ToString::to_string).collect()),
        AttributeType::Floats => list(attribute.floats.iter().copied().map(float).collect()),
        AttributeType::Strings => list(attribute.strings.iter().map(|text| string(text)).collect()),
        AttributeType::Graphs => list(attribute.graphs.iter().map(graph).collect()),
        // A message that is absent is not an empty one, and has no text.
        AttributeType::Tensor => match &attribute.t {
            Some(tensor) => format!("{} {}", tensor_type(tensor, "").trim(), elements(tensor)),
            None => return text,
        },
        AttributeType::Graph => match &attribute.g {
            Some(value) => graph(value),
            None => return text,
        },
        AttributeType::TypeProto => match &attribute.tp {
            Some(value) => type_text(value),
            None => return text,
        },
        _ => "...".to_owned(),
    };
    write!(text, " = {value}").ok();
    text
}

fn value_info(info: &ValueInfoProto) -> String {
    match &info.r#type {
        Some(r#type) => format!("{} {}", type_text(r#type), word(info.name())),
        None => word(info.name()).into_owned(),
    }
}

fn type_text(proto: &TypeProto) -> String {
    use tensor_shape_proto::dimension::Value as Dim;
    let inner = |elem_type: Option<&TypeProto>| elem_type.map_or_else(|| "?".to_owned(), type_text);
    match &proto.value {
        Some(type_proto::Value::TensorType(tensor)) => {
            let name = element_name(tensor.elem_type());
            let dims = tensor.shape.as_ref().map(|shape| {
                shape.dim.iter().map(|dim| match &dim.value {
                    Some(Dim::DimValue(size)) => size.to_string(),
                    Some(Dim::DimParam(name)) if is_name(name) => name.clone(),
                    Some(Dim::DimParam(name)) => format!("{name:?}"),
                    None => "?".to_owned(),
                })
            });
            match dims.map(|dims| dims.collect::<Vec<_>>()) {
                None => format!("{name}[]"),
                Some(dims) if dims.is_empty() => name,
                Some(dims) => format!("{name}[{}]", dims.join(", ")),
            }
        }
        Some(type_proto::Value::SequenceType(sequence)) => format!("seq({})", inner(sequence.elem_type.as_deref())),
        Some(type_proto::Value::OptionalType(optional)) => format!("optional({})", inner(optional.elem_type.as_deref())),
        _ => "?".to_owned(),
    }
}

fn tensor_type(tensor: &TensorProto, name: &str) -> String {
    let dims: Vec<String> = tensor.dims.iter().map(ToString::to_string).collect();
    let dims = if dims.is_empty() { String::new() } else { format!("[{}]", dims.join(", ")) };
    format!("{}{dims} {name}", element_name(tensor.data_type()))
}

fn element_name(number: i32) -> String {
    DType::from_number(number).map_or_else(|| format!("type{number}"), |dtype| dtype.name().to_lowercase())
}

/// The elements, or the external data.
fn elements(tensor: &TensorProto) -> String {
    if is_external(tensor) {
        return format!("[{}]", entries(&tensor.external_data));
    }
    let (mut texts, count) = match Tensor::read(tensor).and_then(|tensor| Ok((tensor, tensor.values()?))) {
        Ok((_, Values::Strings(strings))) => {
            let shown = strings.iter().take(MOST_ELEMENTS);
            (shown.map(|text| format!("{:?}", String::from_utf8_lossy(text))).collect(), strings.len())
        }
        Ok((tensor, Values::Raw(raw))) if tensor.dtype().bits() <= 64 => {
            let count = usize::try_from(tensor.elements()).unwrap_or(usize::MAX);
            (values::unpack(tensor.dtype(), &raw, count.min(MOST_ELEMENTS)), count)
        }
        _ => return "{...}".to_owned(),
    };
    if texts.len() < count {
        texts.push("...".to_owned());
    }
    format!("{{{}}}", texts.join(", "))
}

/// A number that the parser reads as the same value.
fn float(number: f32) -> String {
    match number {
        _ if number.is_nan() => "nan".to_owned(),
        // Integers have one zero.
        0.0 if number.is_sign_negative() => "-0.0".to_owned(),
        _ => number.to_string(),
    }
}

/// A name that the parser reads as the same name: quoted if necessary.
fn word(name: &str) -> Cow<'_, str> {
    let is_number = || matches!(Lexer::new(name).next(), Ok(Token::Number(word)) if word == name);
    if is_name(name) || is_number() { Cow::Borrowed(name) } else { Cow::Owned(format!("{name:?}")) }
}

fn words(names: &[String]) -> String {
    let mut text = String::new();
    push_words(&mut text, names);
    text
}

fn push_words(text: &mut String, names: &[String]) {
    for (index, name) in names.iter().enumerate() {
        push_all(text, &[if index == 0 { "" } else { ", " }, &word(name)]);
    }
}

/// Whether the parser reads it as a name in every position.
fn is_name(word: &str) -> bool {
    matches!(Lexer::new(word).next(), Ok(Token::Name(name)) if name == word && name.parse::<TypeName>().is_err())
}

fn imports(imports: &[OperatorSetIdProto]) -> String {
    let texts: Vec<String> = imports.iter().map(|import| format!("{:?}: {}", import.domain(), import.version())).collect();
    format!("[{}]", texts.join(", "))
}

fn properties(properties: &[StringStringEntryProto]) -> Option<String> {
    (!properties.is_empty()).then(|| format!("metadata_props: [{}]", entries(properties)))
}

fn entries(entries: &[StringStringEntryProto]) -> String {
    let texts: Vec<String> = entries.iter().map(|entry| format!("{:?}: {:?}", entry.key(), entry.value())).collect();
    texts.join(", ")
}
