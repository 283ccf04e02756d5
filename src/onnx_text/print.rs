//! Prints a model as text.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::lexer::{Lexer, Token};
use super::parse_tensor::TypeName;
use super::values;
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::raw::{tensor_shape_proto, type_proto};
use crate::protobuf::schema::tensor_shape_proto::Dimension;
use crate::protobuf::schema::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, TypeProto, ValueInfoProto,
};
use crate::tensor::{Tensor, Values, is_external};
use onnx_cast::DType;

/// The maximum number of elements that are printed of a tensor; of a larger one the first are
/// printed, followed by `...`, and the text cannot be parsed.
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
    use tensor_shape_proto::dimension::Value as Dim;
    let inner =
        |elem_type: Option<&TypeProto>| elem_type.map_or_else(|| "?".to_owned(), print_type);
    match &proto.value {
        Some(type_proto::Value::TensorType(tensor)) => {
            let name = element_name(tensor.elem_type());
            let dim = |dim: &Dimension| match &dim.value {
                Some(Dim::DimValue(size)) => size.to_string(),
                Some(Dim::DimParam(name)) if is_name(name) => name.clone(),
                Some(Dim::DimParam(name)) => format!("{name:?}"),
                None => "?".to_owned(),
            };
            match &tensor.shape {
                None => format!("{name}[]"),
                Some(shape) if shape.dim.is_empty() => name,
                Some(shape) => format!("{name}[{}]", joined(&shape.dim, dim)),
            }
        }
        Some(type_proto::Value::SequenceType(sequence)) => {
            format!("seq({})", inner(sequence.elem_type.as_deref()))
        }
        Some(type_proto::Value::OptionalType(optional)) => {
            format!("optional({})", inner(optional.elem_type.as_deref()))
        }
        _ => "?".to_owned(),
    }
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
    header.extend(
        model
            .ir_version
            .map(|version| format!("ir_version: {version}")),
    );
    header.push(format!("opset_import: {}", imports(&model.opset_import)));
    let texts = [
        (
            "producer_name",
            model.producer_name.as_deref().map(Cow::from),
        ),
        (
            "producer_version",
            model.producer_version.as_deref().map(Cow::from),
        ),
        ("domain", model.domain.as_deref().map(Cow::from)),
        (
            "doc_string",
            model.doc_string.as_deref().map(String::from_utf8_lossy),
        ),
    ];
    header.extend(
        texts
            .into_iter()
            .filter_map(|(key, text)| text.map(|text| format!("{key}: {text:?}"))),
    );
    header.extend(
        model
            .model_version
            .map(|version| format!("model_version: {version}")),
    );
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
    let mut header = vec![
        format!("domain: {:?}", function.domain()),
        format!("opset_import: {}", imports(&function.opset_import)),
    ];
    header.extend(
        function
            .overload
            .as_ref()
            .map(|overload| format!("overload: {overload:?}")),
    );
    header.extend(properties(&function.metadata_props));
    write!(text, "<{}>\n{}", header.join(", "), word(function.name())).ok();
    let defaults = function
        .attribute_proto
        .iter()
        .map(|attribute| attribute_text(attribute, ""));
    let attributes: Vec<String> = function
        .attribute
        .iter()
        .map(|name| word(name).into_owned())
        .chain(defaults)
        .collect();
    if !attributes.is_empty() {
        write!(text, " <{}>", attributes.join(", ")).ok();
    }
    write!(
        text,
        " ({}) => ({})",
        words(&function.input),
        words(&function.output)
    )
    .ok();
    write_nodes(text, &function.node, "");
    text.push('\n');
}

fn write_graph(text: &mut String, graph: &GraphProto, indent: &str) {
    let name = if graph.name().is_empty() {
        "graph"
    } else {
        graph.name()
    };
    write!(
        text,
        "{} ({}) => ({})",
        word(name),
        joined(&graph.input, value_info),
        joined(&graph.output, value_info)
    )
    .ok();
    let initializers = graph.initializer.iter().map(|tensor| {
        format!(
            "{} = {}",
            tensor_type(tensor, &word(tensor.name())),
            elements(tensor)
        )
    });
    let stated: Vec<String> = initializers
        .chain(graph.value_info.iter().map(value_info))
        .collect();
    if !stated.is_empty() {
        let separator = format!(",\n{indent}  ");
        write!(
            text,
            "\n{indent}<\n{indent}  {}\n{indent}>",
            stated.join(&separator)
        )
        .ok();
    }
    write_nodes(text, &graph.node, indent);
}

fn write_nodes(text: &mut String, nodes: &[NodeProto], indent: &str) {
    text.push_str(" {\n");
    for node in nodes {
        writeln!(
            text,
            "{indent}  {}",
            node_text(node, &format!("{indent}  "))
        )
        .ok();
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
        push_all(
            &mut text,
            &[
                "<",
                &joined(&node.attribute, |attribute| {
                    attribute_text(attribute, indent)
                }),
                "> ",
            ],
        );
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
    format!(
        "{}: {}",
        word(attribute.name()),
        attribute_value(attribute, indent)
    )
}

fn attribute_value(attribute: &AttributeProto, indent: &str) -> String {
    let kind = attribute.r#type();
    let mut text = kind.as_str_name().to_lowercase();
    if !attribute.tail().ref_attr_name().is_empty() {
        write!(text, " = @{}", word(attribute.tail().ref_attr_name())).ok();
        return text;
    }
    let graph = |graph: &GraphProto| {
        let mut text = String::new();
        write_graph(&mut text, graph, indent);
        text
    };
    let value = match kind {
        AttributeType::Int => Some(attribute.i().to_string()),
        AttributeType::Float => Some(float(attribute.f())),
        AttributeType::String => Some(string(attribute.s())),
        AttributeType::Ints => Some(format!("[{}]", joined(&attribute.ints, i64::to_string))),
        AttributeType::Floats => Some(format!(
            "[{}]",
            joined(&attribute.floats, |&number| float(number))
        )),
        AttributeType::Strings => Some(format!(
            "[{}]",
            joined(&attribute.strings, |text| string(text))
        )),
        AttributeType::Graphs => Some(format!("[{}]", joined(&attribute.graphs, graph))),
        // A message that is absent is not an empty one, and has no text.
        AttributeType::Tensor => attribute
            .t
            .as_ref()
            .map(|tensor| format!("{} {}", tensor_type(tensor, "").trim(), elements(tensor))),
        AttributeType::Graph => attribute.g.as_ref().map(graph),
        AttributeType::TypeProto => attribute.tp.as_ref().map(print_type),
        _ => Some("...".to_owned()),
    };
    if let Some(value) = value {
        write!(text, " = {value}").ok();
    }
    text
}

fn value_info(info: &ValueInfoProto) -> String {
    match &info.r#type {
        Some(r#type) => format!("{} {}", print_type(r#type), word(info.name())),
        None => word(info.name()).into_owned(),
    }
}

fn tensor_type(tensor: &TensorProto, name: &str) -> String {
    let dims = if tensor.dims.is_empty() {
        String::new()
    } else {
        format!("[{}]", joined(&tensor.dims, i64::to_string))
    };
    format!("{}{dims} {name}", element_name(tensor.data_type()))
}

fn element_name(number: i32) -> String {
    DType::from_number(number).map_or_else(
        || format!("type{number}"),
        |dtype| dtype.name().to_lowercase(),
    )
}

/// The elements, or the external data.
fn elements(tensor: &TensorProto) -> String {
    if is_external(tensor) {
        return format!("[{}]", entries(&tensor.external_data));
    }
    let (mut texts, count) =
        match Tensor::read(tensor).and_then(|tensor| Ok((tensor, tensor.values()?))) {
            Ok((_, Values::Strings(strings))) => {
                let shown = strings.iter().take(MOST_ELEMENTS);
                (shown.map(|text| string(text)).collect(), strings.len())
            }
            Ok((tensor, Values::Raw(raw))) if tensor.dtype().bits() <= 64 => {
                let count = usize::try_from(tensor.elements()).unwrap_or(usize::MAX);
                (
                    values::unpack(tensor.dtype(), &raw, count.min(MOST_ELEMENTS)),
                    count,
                )
            }
            _ => return "{...}".to_owned(),
        };
    if texts.len() < count {
        texts.push("...".to_owned());
    }
    format!("{{{}}}", texts.join(", "))
}

/// Texts separated by commas.
fn joined<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().map(text).collect::<Vec<_>>().join(", ")
}

fn string(bytes: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(bytes))
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
    if is_name(name) || is_number() {
        Cow::Borrowed(name)
    } else {
        Cow::Owned(format!("{name:?}"))
    }
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
    format!(
        "[{}]",
        joined(imports, |import| format!(
            "{:?}: {}",
            import.domain(),
            import.version()
        ))
    )
}

fn properties(properties: &[StringStringEntryProto]) -> Option<String> {
    (!properties.is_empty()).then(|| format!("metadata_props: [{}]", entries(properties)))
}

fn entries(entries: &[StringStringEntryProto]) -> String {
    joined(entries, |entry| {
        format!("{:?}: {:?}", entry.key(), entry.value())
    })
}
