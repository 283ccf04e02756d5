//! The message of a node, for lookups of kernels.

use crate::protobuf::schema::NodeProto;
use onnx_operators::kernels::{AttributeValue, Node};

/// The doc string of a node that a guard contains, before the name of the runtime: it is right there
/// in spite of what the facts say of such nodes.
pub const GUARDED: &str = "recast: guarded for ";

impl Node for NodeProto {
    fn domain(&self) -> &str {
        (**self).domain()
    }

    fn operator(&self) -> &str {
        self.op_type()
    }

    fn inputs(&self) -> Vec<usize> {
        present(&self.input)
    }

    fn outputs(&self) -> Vec<usize> {
        present(&self.output)
    }

    fn attribute(&self, name: &str) -> Option<AttributeValue<'_>> {
        let mut attributes = self.attribute.iter();
        let attribute = attributes.find(|attribute| attribute.name() == name)?;
        let text = || {
            attribute
                .s
                .as_ref()
                .map(|text| String::from_utf8_lossy(text))
        };
        Some(match attribute.i {
            Some(number) => AttributeValue::Int(number),
            None if !attribute.ints.is_empty() => AttributeValue::Ints(&attribute.ints),
            None => text().map_or(AttributeValue::Other, AttributeValue::String),
        })
    }

    fn is_guarded(&self, runtime: &str) -> bool {
        let mut lines = self.doc_string().split(|&byte| byte == b'\n');
        lines.any(|line| line.strip_prefix(GUARDED.as_bytes()) == Some(runtime.as_bytes()))
    }
}

/// The indices of names that are not empty.
fn present(names: &[String]) -> Vec<usize> {
    (0..names.len())
        .filter(|&index| !names[index].is_empty())
        .collect()
}
