//! Parses a model from text.

use super::lexer::{Lexer, SyntaxError, Token};
use super::parser::{Parsed, Parser};
use crate::protobuf::raw;
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::{
    FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, StringStringEntryProto,
};

/// Parses a model.
///
/// # Errors
/// If the text is not a model, with the line.
pub fn parse(text: &str) -> Result<ModelProto, SyntaxError> {
    let mut parser = Parser {
        lexer: Lexer::new(text),
        depth: 0,
    };
    let mut model = raw::ModelProto::default();
    parser.optional_list(|parser| parser.model_property(&mut model))?;
    model.graph = Some(parser.graph()?);
    while parser.lexer.peek()? != Token::End {
        model.functions.push(parser.function()?);
    }
    Ok(model.into())
}

impl Parser<'_> {
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
        self.optional_list(|parser| parser.function_property(&mut function))?;
        function.name = Some(self.lexer.word()?);
        for attribute in self.attributes()? {
            if attribute.r#type() == AttributeType::Undefined {
                function.attribute.push(attribute.name().to_owned());
            } else {
                function.attribute_proto.push(attribute);
            }
        }
        self.lexer.expect("(")?;
        function.input = self.names(")")?;
        self.lexer.expect("=>")?;
        self.lexer.expect("(")?;
        function.output = self.names(")")?;
        function.value_info = self.optional_list(Self::value_info)?;
        function.node = self.nodes()?;
        Ok(function.into())
    }

    fn function_property(&mut self, function: &mut raw::FunctionProto) -> Parsed<()> {
        let key = self.lexer.name()?;
        self.lexer.expect(":")?;
        match key {
            "domain" => function.domain = Some(self.lexer.string()?),
            "overload" => function.overload = Some(self.lexer.string()?),
            "doc_string" => function.doc_string = Some(self.lexer.string()?.into()),
            "opset_import" => function.opset_import = self.opset_import()?,
            "metadata_props" => function.metadata_props = self.properties()?,
            _ => {
                return Err(self
                    .lexer
                    .error(format!("a function has no property '{key}'")));
            }
        }
        Ok(())
    }

    pub(super) fn graph(&mut self) -> Parsed<GraphProto> {
        let mut graph = raw::GraphProto {
            name: Some(self.lexer.word()?),
            ..Default::default()
        };
        graph.input = self.list("(", ")", Self::value_info)?;
        self.lexer.expect("=>")?;
        graph.output = self.list("(", ")", Self::value_info)?;
        self.optional_list(|parser| {
            let info = parser.value_info()?;
            if parser.lexer.take("=")? {
                graph
                    .initializer
                    .push(parser.tensor(info.r#type.as_ref(), Some(info.name().to_owned()))?);
            } else {
                graph.value_info.push(info);
            }
            Ok(())
        })?;
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

    /// `[name] a, b = domain.Op:overload <attributes> (c, d)`; the attributes may also follow the
    /// inputs.
    fn node(&mut self) -> Parsed<NodeProto> {
        let mut node = raw::NodeProto::default();
        if self.lexer.take("[")? {
            node.name = Some(self.lexer.word()?);
            self.lexer.expect("]")?;
        }
        node.output = self.names("=")?;
        let operator = self.lexer.word()?;
        match operator.rsplit_once('.') {
            Some((domain, op_type)) => {
                (node.domain, node.op_type) = (Some(domain.to_owned()), Some(op_type.to_owned()))
            }
            None => node.op_type = Some(operator),
        }
        if self.lexer.take(":")? {
            node.overload = Some(self.lexer.word()?);
        }
        node.attribute = self.attributes()?;
        self.lexer.expect("(")?;
        node.input = self.names(")")?;
        node.attribute.extend(self.attributes()?);
        Ok(node.into())
    }

    fn opset_import(&mut self) -> Parsed<Vec<OperatorSetIdProto>> {
        self.list("[", "]", |parser| {
            let domain = Some(parser.lexer.string()?);
            parser.lexer.expect(":")?;
            Ok(raw::OperatorSetIdProto {
                domain,
                version: Some(parser.lexer.integer()?),
            }
            .into())
        })
    }

    pub(super) fn properties(&mut self) -> Parsed<Vec<StringStringEntryProto>> {
        self.list("[", "]", |parser| {
            let key = Some(parser.lexer.string()?);
            parser.lexer.expect(":")?;
            Ok(raw::StringStringEntryProto {
                key,
                value: Some(parser.lexer.string()?),
            }
            .into())
        })
    }
}
