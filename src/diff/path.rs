//! Paths and descriptions of differences.

use bytes::Bytes;

use super::field::first_text;
use crate::base::error::shortened;
use crate::graph::domain_name;
use crate::onnx_text;
use crate::protobuf::outline::{Field, Message};
use crate::protobuf::schema::{
    AttributeProto, FunctionProto, GraphProto, NodeProto, OperatorSetIdProto,
    StringStringEntryProto, TensorProto, ValueInfoProto,
};

/// The path of a field.
pub(super) fn field(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

/// The path of a message nested in a field. Nodes, initializers and attributes have the same paths
/// as in all other reports.
pub(super) fn item(
    path: &str,
    message: &Message,
    of: &Field,
    inner: &'static Message,
    index: usize,
    item: &Bytes,
) -> String {
    let text = |name: &str| {
        first_text(inner, name, item)
            .map(|text| shortened(&String::from_utf8_lossy(text)).into_owned())
    };
    let name = || text("name").unwrap_or_else(|| format!("#{index}"));
    match (message.name, of.name) {
        ("ModelProto", "graph") => "graph".to_owned(),
        ("ModelProto", "training_info") => format!("training[{index}]"),
        ("ModelProto", "functions") => {
            let overload =
                text("overload").map_or_else(String::new, |overload| format!(":{overload}"));
            format!(
                "function/{}:{}{overload}",
                text("domain").unwrap_or_default(),
                text("name").unwrap_or_default()
            )
        }
        (_, "node") => match text("name") {
            Some(name) => format!("{path}/{name}"),
            None => format!("{path}/#{index}:{}", text("op_type").unwrap_or_default()),
        },
        ("GraphProto", "initializer") => format!("{path}/{}", name()),
        ("NodeProto", "attribute") => format!("{path}.{}", name()),
        ("AttributeProto", "g" | "t" | "tp" | "sparse_tensor") => path.to_owned(),
        ("AttributeProto", _) => format!("{path}[{index}]"),
        _ if !of.repeated => field(path, of.name),
        _ => {
            let known = match inner.name {
                "OperatorSetIdProto" => {
                    Some(domain_name(&text("domain").unwrap_or_default()).to_owned())
                }
                _ => ["name", "key", "tensor_name", "configuration_id"]
                    .into_iter()
                    .find_map(text),
            };
            format!(
                "{}[{}]",
                field(path, of.name),
                known.unwrap_or_else(|| index.to_string())
            )
        }
    }
}

/// The description of a message that only one of the models has.
pub(super) fn describe(message: &'static Message, item: &Bytes) -> String {
    let text = match message.name {
        "NodeProto" => NodeProto::from_bytes(item.clone()).map(|node| onnx_text::print_node(&node)),
        "AttributeProto" => AttributeProto::from_bytes(item.clone())
            .map(|attribute| onnx_text::print_attribute_value(&attribute)),
        "TensorProto" => TensorProto::from_bytes(item.clone())
            .map(|tensor| onnx_text::print_tensor_type(&tensor)),
        "ValueInfoProto" => {
            let info = ValueInfoProto::from_bytes(item.clone());
            info.map(|info| {
                info.r#type
                    .as_ref()
                    .map_or_else(|| "untyped".to_owned(), onnx_text::print_type)
            })
        }
        "GraphProto" => GraphProto::from_bytes(item.clone())
            .map(|graph| format!("a graph of {} nodes", graph.node.len())),
        "FunctionProto" => FunctionProto::from_bytes(item.clone())
            .map(|function| format!("a function of {} nodes", function.node.len())),
        "OperatorSetIdProto" => {
            OperatorSetIdProto::from_bytes(item.clone()).map(|import| import.version().to_string())
        }
        "StringStringEntryProto" => StringStringEntryProto::from_bytes(item.clone())
            .map(|entry| format!("{:?}", entry.value())),
        _ => return message.name.to_owned(),
    };
    text.unwrap_or_else(|_| message.name.to_owned())
}
