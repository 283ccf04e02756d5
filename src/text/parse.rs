//! Parses a model from text.

use bytes::Bytes;

use super::lexer::{Lexer, SyntaxError, Token};
use super::values;
use crate::dtype::DType;
use crate::tensor::RAW_DATA;
use crate::wire::raw::attribute_proto::AttributeType;
use crate::wire::raw::tensor_proto::DataLocation;
use crate::wire::raw::{self, type_proto};
use crate::wire::schema::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto, TensorProto,
    TensorShapeProto, TypeProto, ValueInfoProto, tensor_shape_proto,
};
use crate::wire::{Field, Value};

/// The maximum nesting depth of graphs and types: in a file each takes two to three messages, and protobuf's readers limit the
/// depth to 100 messages.
const MAX_DEPTH: usize = 50;

type Parsed<T> = Result<T, SyntaxError>;

/// Parses a model.
///
/// # Errors
/// If the text is not a model, with the line.
pub fn parse(text: &str) -> Result<ModelProto, SyntaxError> {
    let mut parser = Parser { lexer: Lexer::new(text), depth: 0 };
    let mut model = raw::ModelProto::default();
    if parser.lexer.take("<")? {
        parser.list(">", |parser| parser.model_property(&mut model))?;
    }
    model.graph = Some(parser.graph()?);
    while parser.lexer.peek()? != Token::End {
        model.functions.push(parser.function()?);
    }
    Ok(model.into())
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// Reads items separated by commas, to the closing sign.
    fn list(&mut self, close: &str, mut item: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        while !self.lexer.take(close)? {
            item(self)?;
            if !self.lexer.take(",")? {
                return self.lexer.expect(close);
            }
        }
        Ok(())
    }

    /// Parses a nested graph or type.
    fn inner<T>(&mut self, read: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.lexer.error(format!("graphs and types are nested deeper than the limit of {MAX_DEPTH}")));
        }
        self.depth += 1;
        let inner = read(self);
        self.depth -= 1;
        inner
    }

    fn model_property(&mut self, model: &mut raw::ModelProto) -> Parsed<()> {
        let key = self.lexer.name()?;
        self.lexer.expect(":")?;
        match key {
            "ir_version" => model.ir_version = Some(self.lexer.integer()?),
            "model_version" => model.model_version = Some(self.lexer.integer()?),
            "opset_import" => model.opset_import = self.opset_import()?,
            "producer_name" => model.producer_name = Some(self.lexer.string()?),
            "producer_version" => model.producer_version = Some(self.lexer.string()?),
            "domain" => model.domain = Some(self.lexer.string()?),
            "doc_string" => model.doc_string = Some(self.lexer.string()?.into()),
            "metadata_props" => model.metadata_props = self.properties()?,
            _ => return Err(self.lexer.error(format!("a model has no property '{key}'"))),
        }
        Ok(())
    }

    fn function(&mut self) -> Parsed<FunctionProto> {
        let mut function = raw::FunctionProto::default();
        if self.lexer.take("<")? {
            self.list(">", |parser| {
                let key = parser.lexer.name()?;
                parser.lexer.expect(":")?;
                match key {
                    "domain" => function.domain = Some(parser.lexer.string()?),
                    "overload" => function.overload = Some(parser.lexer.string()?),
                    "doc_string" => function.doc_string = Some(parser.lexer.string()?.into()),
                    "opset_import" => function.opset_import = parser.opset_import()?,
                    "metadata_props" => function.metadata_props = parser.properties()?,
                    _ => return Err(parser.lexer.error(format!("a function has no property '{key}'"))),
                }
                Ok(())
            })?;
        }
        function.name = Some(self.lexer.word()?);
        if self.lexer.take("<")? {
            self.list(">", |parser| {
                let attribute = parser.attribute()?;
                if attribute.r#type() == AttributeType::Undefined {
                    function.attribute.push(attribute.name().to_owned());
                } else {
                    function.attribute_proto.push(attribute);
                }
                Ok(())
            })?;
        }
        self.lexer.expect("(")?;
        function.input = self.names(")")?;
        self.lexer.expect("=>")?;
        self.lexer.expect("(")?;
        function.output = self.names(")")?;
        if self.lexer.take("<")? {
            self.list(">", |parser| {
                function.value_info.push(parser.value_info()?);
                Ok(())
            })?;
        }
        function.node = self.nodes()?;
        Ok(function.into())
    }

    fn graph(&mut self) -> Parsed<GraphProto> {
        let mut graph = raw::GraphProto { name: Some(self.lexer.word()?), ..Default::default() };
        self.lexer.expect("(")?;
        self.list(")", |parser| {
            graph.input.push(parser.value_info()?);
            Ok(())
        })?;
        self.lexer.expect("=>")?;
        self.lexer.expect("(")?;
        self.list(")", |parser| {
            graph.output.push(parser.value_info()?);
            Ok(())
        })?;
        if self.lexer.take("<")? {
            self.list(">", |parser| {
                let info = parser.value_info()?;
                if parser.lexer.take("=")? {
                    graph.initializer.push(parser.tensor(info.r#type.as_ref(), Some(info.name().to_owned()))?);
                } else {
                    graph.value_info.push(info);
                }
                Ok(())
            })?;
        }
        graph.node = self.nodes()?;
        Ok(graph.into())
    }

    fn nodes(&mut self) -> Parsed<Vec<NodeProto>> {
        self.lexer.expect("{")?;
        let mut nodes = Vec::new();
        while !self.lexer.take("}")? {
            nodes.push(self.node()?);
        }
        Ok(nodes)
    }

    /// `[name] a, b = domain.Op:overload <attributes> (c, d)`; the attributes may also follow the inputs.
    fn node(&mut self) -> Parsed<NodeProto> {
        let mut node = raw::NodeProto::default();
        if self.lexer.take("[")? {
            node.name = Some(self.lexer.word()?);
            self.lexer.expect("]")?;
        }
        node.output = self.names("=")?;
        let operator = self.lexer.word()?;
        match operator.rsplit_once('.') {
            Some((domain, op_type)) => (node.domain, node.op_type) = (Some(domain.to_owned()), Some(op_type.to_owned())),
            None => node.op_type = Some(operator),
        }
        if self.lexer.take(":")? {
            node.overload = Some(self.lexer.word()?);
        }
        self.attributes(&mut node.attribute)?;
        self.lexer.expect("(")?;
        node.input = self.names(")")?;
        self.attributes(&mut node.attribute)?;
        Ok(node.into())
    }

    fn attributes(&mut self, attributes: &mut Vec<AttributeProto>) -> Parsed<()> {
        if !self.lexer.take("<")? {
            return Ok(());
        }
        self.list(">", |parser| {
            attributes.push(parser.attribute()?);
            Ok(())
        })
    }

    /// Names separated by commas, to the closing sign; an omitted name or `""` is empty.
    fn names(&mut self, close: &str) -> Parsed<Vec<String>> {
        let mut names = Vec::new();
        self.list(close, |parser| {
            names.push(if parser.lexer.peek()? == Token::Sign(",") { String::new() } else { parser.lexer.word()? });
            Ok(())
        })?;
        Ok(names)
    }

    fn attribute(&mut self) -> Parsed<AttributeProto> {
        let mut attribute = raw::AttributeProto { name: Some(self.lexer.word()?), ..Default::default() };
        let stated = if self.lexer.take(":")? { Some(self.lexer.name()?) } else { None };
        if let Some(stated) = stated {
            let kind = AttributeType::from_str_name(&stated.to_uppercase());
            attribute.r#type = Some(kind.ok_or_else(|| self.lexer.error(format!("'{stated}' is not an attribute type")))?.into());
        }
        if !self.lexer.take("=")? {
            return Ok(attribute.into());
        }
        if self.lexer.take("@")? {
            attribute.ref_attr_name = Some(self.lexer.word()?);
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
        self.lexer.expect("[")?;
        let mut numbers = Vec::new();
        let (mut strings, mut graphs): (Vec<Bytes>, Vec<GraphProto>) = (Vec::new(), Vec::new());
        self.list("]", |parser| {
            match parser.lexer.peek()? {
                _ if attribute.r#type() == AttributeType::Graphs => graphs.push(parser.inner(Self::graph)?),
                Token::Quoted(_) => strings.push(parser.lexer.string()?.into()),
                Token::Number(_) => numbers.push(parser.number()?),
                _ => graphs.push(parser.inner(Self::graph)?),
            }
            Ok(())
        })?;
        if [numbers.is_empty(), strings.is_empty(), graphs.is_empty()].iter().filter(|&&is_empty| !is_empty).count() > 1 {
            return Err(self.lexer.error("the values of a list must have one type".to_owned()));
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

    /// The elements after a tensor's type, `{1, 2}`, or its external data, `["location": "file"]`. If the dimensions are
    /// omitted, there is one, with the number of elements.
    fn tensor(&mut self, declared: Option<&TypeProto>, name: Option<String>) -> Parsed<TensorProto> {
        let Some(type_proto::Value::TensorType(tensor_type)) = declared.and_then(|declared| declared.value.as_ref()) else {
            return Err(self.lexer.error("only tensors have elements".to_owned()));
        };
        let Some(dtype) = DType::from_number(tensor_type.elem_type()) else {
            return Err(self.lexer.error("a tensor with elements must have an element type".to_owned()));
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
            return Ok(raw::TensorProto { name, dims, data_type, data_location, external_data, ..Default::default() }.into());
        }
        self.lexer.expect("{")?;
        let (mut numbers, mut strings): (Vec<&str>, Vec<Bytes>) = (Vec::new(), Vec::new());
        self.list("}", |parser| {
            match parser.lexer.next()? {
                Token::Number(number) => numbers.push(number),
                Token::Quoted(text) => strings.push(text.into()),
                _ => return Err(parser.lexer.error("an element must be a number or a quoted string".to_owned())),
            }
            Ok(())
        })?;
        let dims = dims(self, tensor_type.shape.as_ref())?;
        let mut tensor = TensorProto::from(raw::TensorProto { name, dims, data_type: Some(dtype.number()), ..Default::default() });
        if dtype == DType::String {
            tensor.string_data = strings;
        } else {
            let raw = values::pack(dtype, &numbers).map_err(|what| self.lexer.error(what))?;
            tensor.rest_mut().push(Field { tag: RAW_DATA, value: Value::Len(raw.into()) });
        }
        Ok(tensor)
    }

    /// A type and a name; in a subgraph the type may be omitted.
    fn value_info(&mut self) -> Parsed<ValueInfoProto> {
        let typed = matches!(self.lexer.peek()?, Token::Name(word) if word.parse::<TypeName>().is_ok());
        let r#type = if typed { Some(self.type_proto()?) } else { None };
        Ok(raw::ValueInfoProto { name: Some(self.lexer.word()?), r#type, ..Default::default() }.into())
    }

    fn type_proto(&mut self) -> Parsed<TypeProto> {
        let name = self.lexer.name()?;
        let value = match name.parse() {
            Ok(TypeName::Element(dtype)) => {
                let shape = self.shape()?;
                let tensor = raw::type_proto::Tensor { elem_type: Some(dtype.number()), shape };
                type_proto::Value::TensorType(tensor.into())
            }
            Ok(TypeName::Seq) => {
                type_proto::Value::SequenceType(raw::type_proto::Sequence { elem_type: Some(Box::new(self.inner_type()?)) }.into())
            }
            Ok(TypeName::Optional) => {
                type_proto::Value::OptionalType(raw::type_proto::Optional { elem_type: Some(Box::new(self.inner_type()?)) }.into())
            }
            Err(()) => return Err(self.lexer.error(format!("'{name}' is not a type"))),
        };
        Ok(raw::TypeProto { value: Some(value), denotation: None }.into())
    }

    fn inner_type(&mut self) -> Parsed<TypeProto> {
        self.lexer.expect("(")?;
        let inner = self.inner(Self::type_proto)?;
        self.lexer.expect(")")?;
        Ok(inner)
    }

    /// `None`: a scalar. `[]`: unknown rank, as in ONNX's own syntax. `[2, N, ?]`: sizes, names, unknown sizes.
    fn shape(&mut self) -> Parsed<Option<TensorShapeProto>> {
        let mut shape = raw::TensorShapeProto::default();
        if !self.lexer.take("[")? {
            return Ok(Some(shape.into()));
        }
        if self.lexer.take("]")? {
            return Ok(None);
        }
        self.list("]", |parser| {
            use raw::tensor_shape_proto::dimension::Value;
            let value = match parser.lexer.peek()? {
                Token::Number(_) => Some(Value::DimValue(parser.lexer.integer()?)),
                Token::Sign("?") => {
                    parser.lexer.next()?;
                    None
                }
                _ => Some(Value::DimParam(parser.lexer.word()?)),
            };
            shape.dim.push(raw::tensor_shape_proto::Dimension { value, denotation: None }.into());
            Ok(())
        })?;
        Ok(Some(shape.into()))
    }

    fn opset_import(&mut self) -> Parsed<Vec<OperatorSetIdProto>> {
        let mut imports = Vec::new();
        self.lexer.expect("[")?;
        self.list("]", |parser| {
            let domain = Some(parser.lexer.string()?);
            parser.lexer.expect(":")?;
            imports.push(raw::OperatorSetIdProto { domain, version: Some(parser.lexer.integer()?) }.into());
            Ok(())
        })?;
        Ok(imports)
    }

    fn properties(&mut self) -> Parsed<Vec<StringStringEntryProto>> {
        let mut properties = Vec::new();
        self.lexer.expect("[")?;
        self.list("]", |parser| {
            let key = Some(parser.lexer.string()?);
            parser.lexer.expect(":")?;
            properties.push(raw::StringStringEntryProto { key, value: Some(parser.lexer.string()?) }.into());
            Ok(())
        })?;
        Ok(properties)
    }
}

/// The dimensions of a tensor with elements.
fn dims(parser: &mut Parser, shape: Option<&TensorShapeProto>) -> Parsed<Vec<i64>> {
    let dim = |dim: &tensor_shape_proto::Dimension| match dim.value {
        Some(raw::tensor_shape_proto::dimension::Value::DimValue(size)) => Ok(size),
        _ => Err(parser.lexer.error("the dimensions of a tensor with elements must be numbers".to_owned())),
    };
    shape.map_or_else(|| Ok(Vec::new()), |shape| shape.dim.iter().map(dim).collect())
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
            _ => word.parse().map(TypeName::Element).map_err(|_| ()),
        }
    }
}
