//! Parses attributes.

use bytes::Bytes;

use super::lexer::Token;
use super::parse_tensor::TypeName;
use super::parser::{Parsed, Parser};
use crate::protobuf::raw;
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::{AttributeProto, GraphProto};

impl Parser<'_> {
    pub(super) fn attributes(&mut self) -> Parsed<Vec<AttributeProto>> {
        self.optional_list(Self::attribute)
    }

    fn attribute(&mut self) -> Parsed<AttributeProto> {
        let mut attribute = raw::AttributeProto {
            name: Some(self.lexer.word()?),
            ..Default::default()
        };
        if self.lexer.take(":")? {
            let stated = self.lexer.name()?;
            let kind = AttributeType::from_str_name(&stated.to_uppercase());
            attribute.r#type = Some(
                kind.ok_or_else(|| {
                    self.lexer
                        .error(format!("'{stated}' is not an attribute type"))
                })?
                .into(),
            );
        }
        if !self.lexer.take("=")? {
            return Ok(attribute.into());
        }
        if self.lexer.take("@")? {
            attribute.tail_mut().ref_attr_name = Some(self.lexer.word()?);
            return Ok(attribute.into());
        }
        let kind = self.attribute_value(&mut attribute)?;
        match attribute.r#type {
            Some(stated) if stated != i32::from(kind) => Err(self.lexer.error(format!(
                "attribute '{}' is declared as {}, but its value is {}",
                attribute.name(),
                attribute.r#type().as_str_name(),
                kind.as_str_name()
            ))),
            _ => {
                attribute.r#type = Some(kind.into());
                Ok(attribute.into())
            }
        }
    }

    fn attribute_value(&mut self, attribute: &mut raw::AttributeProto) -> Parsed<AttributeType> {
        match self.lexer.peek()? {
            Token::Sign("[") => self.attribute_list(attribute),
            _ if attribute.r#type() == AttributeType::Graph => self.attribute_graph(attribute),
            Token::Quoted(_) => {
                attribute.s = Some(self.lexer.string()?.into());
                Ok(AttributeType::String)
            }
            Token::Number(_) => match self.number()? {
                Number::Int(int) if attribute.r#type() != AttributeType::Float => {
                    attribute.i = Some(int);
                    Ok(AttributeType::Int)
                }
                number => {
                    attribute.f = Some(number.float());
                    Ok(AttributeType::Float)
                }
            },
            Token::Name(_) if attribute.r#type() == AttributeType::TypeProto => {
                attribute.tp = Some(self.type_proto()?);
                Ok(AttributeType::TypeProto)
            }
            Token::Name(word) if word.parse::<TypeName>().is_ok() => {
                let tensor_type = self.type_proto()?;
                attribute.t = Some(self.tensor(Some(&tensor_type), None)?);
                Ok(AttributeType::Tensor)
            }
            Token::Name(_) => self.attribute_graph(attribute),
            _ => Err(self.lexer.expected("an attribute value")),
        }
    }

    fn attribute_graph(&mut self, attribute: &mut raw::AttributeProto) -> Parsed<AttributeType> {
        attribute.g = Some(self.inner(Self::graph)?);
        Ok(AttributeType::Graph)
    }

    fn attribute_list(&mut self, attribute: &mut raw::AttributeProto) -> Parsed<AttributeType> {
        let mut numbers = Vec::new();
        let (mut strings, mut graphs): (Vec<Bytes>, Vec<GraphProto>) = (Vec::new(), Vec::new());
        self.list("[", "]", |parser| {
            match parser.lexer.peek()? {
                _ if attribute.r#type() == AttributeType::Graphs => {
                    graphs.push(parser.inner(Self::graph)?)
                }
                Token::Quoted(_) => strings.push(parser.lexer.string()?.into()),
                Token::Number(_) => numbers.push(parser.number()?),
                _ => graphs.push(parser.inner(Self::graph)?),
            }
            Ok(())
        })?;
        if [numbers.is_empty(), strings.is_empty(), graphs.is_empty()]
            .iter()
            .filter(|&&is_empty| !is_empty)
            .count()
            > 1
        {
            return Err(self
                .lexer
                .error("the values of a list must have one type".to_owned()));
        }
        if !strings.is_empty() || attribute.r#type() == AttributeType::Strings {
            attribute.strings = strings;
            return Ok(AttributeType::Strings);
        }
        if !graphs.is_empty() || attribute.r#type() == AttributeType::Graphs {
            attribute.graphs = graphs;
            return Ok(AttributeType::Graphs);
        }
        let ints: Option<Vec<i64>> = numbers.iter().map(|number| number.int()).collect();
        match ints {
            Some(ints) if attribute.r#type() != AttributeType::Floats => {
                attribute.ints = ints;
                Ok(AttributeType::Ints)
            }
            _ => {
                attribute.floats = numbers.iter().map(Number::float).collect();
                Ok(AttributeType::Floats)
            }
        }
    }

    fn number(&mut self) -> Parsed<Number> {
        match self.lexer.next()? {
            Token::Number(word) => match (word.parse(), word.parse()) {
                (Ok(int), _) => Ok(Number::Int(int)),
                (_, Ok(float)) => Ok(Number::Float(float)),
                _ => Err(self.lexer.error(format!("'{word}' is not a number"))),
            },
            _ => Err(self.lexer.expected("a number")),
        }
    }
}

#[derive(Clone, Copy)]
enum Number {
    Int(i64),
    Float(f32),
}

impl Number {
    fn int(&self) -> Option<i64> {
        match self {
            Number::Int(int) => Some(*int),
            Number::Float(_) => None,
        }
    }

    fn float(&self) -> f32 {
        match self {
            Number::Int(int) => *int as f32,
            Number::Float(float) => *float,
        }
    }
}
