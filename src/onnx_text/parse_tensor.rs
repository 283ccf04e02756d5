//! Parses tensors and types.

use bytes::Bytes;

use super::lexer::Token;
use super::parser::{Parsed, Parser};
use super::values;
use crate::protobuf::raw::tensor_proto::DataLocation;
use crate::protobuf::raw::{self, type_proto};
use crate::protobuf::schema::{
    TensorProto, TensorShapeProto, TypeProto, ValueInfoProto, tensor_shape_proto,
};
use crate::protobuf::{Field, Value};
use crate::tensor::RAW_DATA;
use onnx_cast::DType;

impl Parser<'_> {
    /// The elements after a tensor's type, `{1, 2}`, or its external data, `["location": "file"]`.
    /// If the dimensions are omitted, there is one, with the number of elements.
    pub(super) fn tensor(
        &mut self,
        declared: Option<&TypeProto>,
        name: Option<String>,
    ) -> Parsed<TensorProto> {
        let Some(type_proto::Value::TensorType(tensor_type)) =
            declared.and_then(|declared| declared.value.as_ref())
        else {
            return Err(self.lexer.error("only tensors have elements".to_owned()));
        };
        let Some(dtype) = DType::from_number(tensor_type.elem_type()) else {
            return Err(self
                .lexer
                .error("a tensor with elements must have an element type".to_owned()));
        };
        self.lexer.take("=")?;
        let external_data = match self.lexer.peek()? {
            Token::Sign("[") => self.properties()?,
            _ => Vec::new(),
        };
        if !external_data.is_empty() {
            let dims = dims(self, tensor_type.shape.as_ref())?;
            let data_location = Some(DataLocation::External.into());
            let data_type = Some(dtype.number());
            return Ok(raw::TensorProto {
                name,
                dims,
                data_type,
                data_location,
                external_data,
                ..Default::default()
            }
            .into());
        }
        let (mut numbers, mut strings): (Vec<&str>, Vec<Bytes>) = (Vec::new(), Vec::new());
        self.list("{", "}", |parser| {
            match parser.lexer.next()? {
                Token::Number(number) => numbers.push(number),
                Token::Quoted(text) => strings.push(text.into()),
                _ => {
                    return Err(parser
                        .lexer
                        .error("an element must be a number or a quoted string".to_owned()));
                }
            }
            Ok(())
        })?;
        let dims = dims(self, tensor_type.shape.as_ref())?;
        let mut tensor = TensorProto::from(raw::TensorProto {
            name,
            dims,
            data_type: Some(dtype.number()),
            ..Default::default()
        });
        if dtype == DType::String {
            tensor.string_data = strings;
        } else {
            let raw = values::pack(dtype, &numbers).map_err(|what| self.lexer.error(what))?;
            tensor.rest_mut().push(Field {
                tag: RAW_DATA,
                value: Value::Len(raw.into()),
            });
        }
        Ok(tensor)
    }

    /// A type and a name; in a subgraph the type may be omitted.
    pub(super) fn value_info(&mut self) -> Parsed<ValueInfoProto> {
        let typed =
            matches!(self.lexer.peek()?, Token::Name(word) if word.parse::<TypeName>().is_ok());
        let r#type = if typed {
            Some(self.type_proto()?)
        } else {
            None
        };
        Ok(raw::ValueInfoProto {
            name: Some(self.lexer.word()?),
            r#type,
            ..Default::default()
        }
        .into())
    }

    pub(super) fn type_proto(&mut self) -> Parsed<TypeProto> {
        let name = self.lexer.name()?;
        let value = match name.parse() {
            Ok(TypeName::Element(dtype)) => {
                let shape = self.shape()?;
                let tensor = raw::type_proto::Tensor {
                    elem_type: Some(dtype.number()),
                    shape,
                };
                type_proto::Value::TensorType(tensor.into())
            }
            Ok(TypeName::Seq) => type_proto::Value::SequenceType(
                raw::type_proto::Sequence {
                    elem_type: Some(Box::new(self.inner_type()?)),
                }
                .into(),
            ),
            Ok(TypeName::Optional) => type_proto::Value::OptionalType(
                raw::type_proto::Optional {
                    elem_type: Some(Box::new(self.inner_type()?)),
                }
                .into(),
            ),
            Err(()) => return Err(self.lexer.error(format!("'{name}' is not a type"))),
        };
        Ok(raw::TypeProto {
            value: Some(value),
            denotation: None,
        }
        .into())
    }

    pub(super) fn inner_type(&mut self) -> Parsed<TypeProto> {
        self.lexer.expect("(")?;
        let inner = self.inner(Self::type_proto)?;
        self.lexer.expect(")")?;
        Ok(inner)
    }

    /// `None`: a scalar. `[]`: unknown rank, as in ONNX's own syntax. `[2, N, ?]`: sizes, names,
    /// unknown sizes.
    pub(super) fn shape(&mut self) -> Parsed<Option<TensorShapeProto>> {
        if !self.lexer.take("[")? {
            return Ok(Some(raw::TensorShapeProto::default().into()));
        }
        let dim = self.items("]", Self::dimension)?;
        Ok(if dim.is_empty() {
            None
        } else {
            Some(raw::TensorShapeProto { dim }.into())
        })
    }

    fn dimension(&mut self) -> Parsed<tensor_shape_proto::Dimension> {
        use raw::tensor_shape_proto::dimension::Value;
        let value = match self.lexer.peek()? {
            Token::Number(_) => Some(Value::DimValue(self.lexer.integer()?)),
            _ if self.lexer.take("?")? => None,
            _ => Some(Value::DimParam(self.lexer.word()?)),
        };
        Ok(raw::tensor_shape_proto::Dimension {
            value,
            denotation: None,
        }
        .into())
    }
}

/// The dimensions of a tensor with elements.
fn dims(parser: &mut Parser, shape: Option<&TensorShapeProto>) -> Parsed<Vec<i64>> {
    let dim = |dim: &tensor_shape_proto::Dimension| match dim.value {
        Some(raw::tensor_shape_proto::dimension::Value::DimValue(size)) => Ok(size),
        _ => Err(parser
            .lexer
            .error("the dimensions of a tensor with elements must be numbers".to_owned())),
    };
    shape.map_or_else(
        || Ok(Vec::new()),
        |shape| shape.dim.iter().map(dim).collect(),
    )
}

/// The first token of a type.
pub(super) enum TypeName {
    Element(DType),
    Seq,
    Optional,
}

impl std::str::FromStr for TypeName {
    type Err = ();

    fn from_str(word: &str) -> Result<TypeName, ()> {
        match word {
            "seq" => Ok(TypeName::Seq),
            "optional" => Ok(TypeName::Optional),
            // The protobuf schema has the names in upper case, the text in lower case.
            _ if word.chars().any(|c| c.is_ascii_uppercase()) => Err(()),
            _ => DType::from_name(word).map(TypeName::Element).ok_or(()),
        }
    }
}
