//! A node as runtimes see it.

use std::fmt;

use crate::graph::is_onnx_domain;
use crate::ops::schemas::microsoft::{self, Signature};
use crate::ops::schemas::{self, Schema, ValueType};
use crate::protobuf::schema::NodeProto;
use onnx_cast::DType;

/// The operator of a node, its version, and the types of its inputs and outputs as far as they are
/// known.
#[derive(Clone, Debug)]
pub struct Operation<'n> {
    node: &'n NodeProto,
    domain: &'n str,
    /// The opset of its domain.
    opset: i64,
    /// None if no opset up to that of the node has the operator, or ONNX does not define it.
    schema: Option<&'static Schema>,
    signature: Option<&'static Signature>,
    /// Inputs, then outputs, each by index.
    operands: Vec<Operand>,
}

/// An input or output that a node has.
#[derive(Clone, Copy, Debug)]
struct Operand {
    is_output: bool,
    index: usize,
    known: Option<ValueType>,
}

/// The opset of com.microsoft in which all of its operators are.
const MICROSOFT: i64 = 1;

impl<'n> Operation<'n> {
    /// The operation of a node in an opset of its domain. The functions give the types of inputs
    /// and outputs by index.
    pub fn new(
        node: &'n NodeProto,
        opset: i64,
        input: impl Fn(usize) -> Option<ValueType>,
        output: impl Fn(usize) -> Option<ValueType>,
    ) -> Operation<'n> {
        let present = |names: &'n [String]| {
            (0..)
                .zip(names)
                .filter(|(_, name)| !name.is_empty())
                .map(|(index, _)| index)
        };
        let inputs = present(&node.input).map(|index| Operand {
            is_output: false,
            index,
            known: input(index),
        });
        let outputs = present(&node.output).map(|index| Operand {
            is_output: true,
            index,
            known: output(index),
        });
        let domain = schemas::canonical_domain(node.domain());
        Operation {
            node,
            domain,
            opset,
            schema: schemas::schema(domain, node.op_type(), opset),
            signature: (domain == microsoft::DOMAIN)
                .then(|| microsoft::signature(node.op_type()))
                .flatten(),
            operands: inputs.chain(outputs).collect(),
        }
    }

    /// The domain of the operator; empty for ai.onnx.
    #[must_use]
    pub fn domain(&self) -> &'n str {
        self.domain
    }

    /// The operator.
    #[must_use]
    pub fn op(&self) -> &'n str {
        self.node.op_type()
    }

    /// The version of the operator; 0 if its opset has none.
    #[must_use]
    pub fn since(&self) -> i64 {
        match self.schema {
            Some(schema) => schema.since_version,
            None if self.domain == microsoft::DOMAIN => MICROSOFT,
            None => 0,
        }
    }

    /// The opset of the domain in which the node is.
    #[must_use]
    pub fn opset(&self) -> i64 {
        self.opset
    }

    /// Whether ONNX defines the version of the operator as a function.
    #[must_use]
    pub fn is_function(&self) -> bool {
        self.schema.is_some_and(|schema| schema.function)
    }

    /// Whether ONNX defines the operator, in any version.
    #[must_use]
    pub fn is_of_onnx(&self) -> bool {
        is_onnx_domain(self.domain) || !schemas::versions(self.domain, self.op()).is_empty()
    }

    /// The operation in another version of its operator, and in an opset that has the version.
    #[must_use]
    pub fn in_version(&self, schema: &'static Schema, opset: i64) -> Operation<'n> {
        Operation {
            schema: Some(schema),
            opset,
            ..self.clone()
        }
    }

    /// The operation with a type for the inputs and outputs of a type variable whose types are
    /// unknown.
    #[must_use]
    pub(super) fn with_type(&self, variable: &str, value_type: ValueType) -> Operation<'n> {
        let has_variable =
            |operand: &Operand| self.variable(operand.is_output, operand.index) == Some(variable);
        self.with(|operand| {
            operand
                .known
                .or_else(|| has_variable(operand).then_some(value_type))
        })
    }

    /// The operation with other types of some inputs and outputs. `types` is called with whether it
    /// is an output, and its index.
    #[must_use]
    pub fn with_types(&self, types: impl Fn(bool, usize) -> Option<ValueType>) -> Operation<'n> {
        self.with(|operand| types(operand.is_output, operand.index).or(operand.known))
    }

    fn with(&self, known: impl Fn(&Operand) -> Option<ValueType>) -> Operation<'n> {
        let operands = self.operands.iter().map(|operand| Operand {
            known: known(operand),
            ..*operand
        });
        Operation {
            operands: operands.collect(),
            ..self.clone()
        }
    }

    /// Whether an input is a tensor of this type.
    #[must_use]
    pub fn takes(&self, dtype: DType) -> bool {
        self.operands
            .iter()
            .any(|operand| !operand.is_output && operand.known == Some(ValueType::Tensor(dtype)))
    }

    /// The known types, by type variable. A variable of a heterogeneous list may have several.
    #[must_use]
    pub fn types(&self) -> Vec<(&'static str, ValueType)> {
        self.operands()
            .filter_map(|(variable, known)| Some((variable, known?)))
            .collect()
    }

    /// The type variables of which no type is known.
    #[must_use]
    pub fn unknown_variables(&self) -> Vec<&'static str> {
        let is_known = |wanted: &str| {
            self.operands()
                .any(|(variable, known)| variable == wanted && known.is_some())
        };
        let mut unknown: Vec<&str> = self
            .operands()
            .map(|(variable, _)| variable)
            .filter(|variable| !is_known(variable))
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// Whether a condition of a limit is true: the type of a variable, or the value of an
    /// attribute, is one of some values; `*` for any value of the attribute, `-` for none.
    pub(super) fn is_true(&self, name: &str, values: &str) -> bool {
        let mut types = self
            .operands()
            .filter(|(variable, _)| *variable == name)
            .peekable();
        if types.peek().is_some() {
            let is_listed = |value_type: ValueType| match value_type {
                ValueType::Tensor(dtype) => values
                    .split(['|', ' '])
                    .any(|value| value.eq_ignore_ascii_case(dtype.name())),
                other => values
                    .split(['|', ' '])
                    .any(|value| value == other.to_string()),
            };
            return types.any(|(_, known)| known.is_some_and(is_listed));
        }
        let attribute = self
            .node
            .attribute
            .iter()
            .find(|attribute| attribute.name() == name);
        match (attribute, values) {
            (attribute, "-") => attribute.is_none(),
            (None, _) => false,
            (Some(_), "*") => true,
            (Some(attribute), values) => {
                let number = attribute.i.map(|number| number.to_string());
                let text = attribute
                    .s
                    .as_ref()
                    .map(|text| String::from_utf8_lossy(text).into_owned());
                number
                    .or(text)
                    .is_some_and(|found| values.split(['|', ' ']).any(|value| value == found))
            }
        }
    }

    /// The type variables of inputs and outputs, and their types as far as they are known.
    fn operands(&self) -> impl Iterator<Item = (&'static str, Option<ValueType>)> + '_ {
        self.operands.iter().filter_map(|operand| {
            Some((
                self.variable(operand.is_output, operand.index)?,
                operand.known,
            ))
        })
    }

    /// The type variable of an input or output; none if it has one type.
    pub(super) fn variable(&self, is_output: bool, index: usize) -> Option<&'static str> {
        match (self.schema, self.signature, is_output) {
            (Some(schema), _, false) => schema.input(index).map(|formal| formal.type_name),
            (Some(schema), _, true) => schema.output(index).map(|formal| formal.type_name),
            (None, Some(signature), _) => signature.variable(is_output, index),
            (None, None, _) => None,
        }
    }
}

impl fmt::Display for Operation<'_> {
    /// `RoiAlign-22 of tensor(float), tensor(int64)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.domain.is_empty() {
            write!(f, "{}:", self.domain)?;
        }
        f.write_str(self.op())?;
        if let Some(schema) = self.schema {
            write!(f, "-{}", schema.since_version)?;
        }
        let mut types: Vec<String> = Vec::new();
        for operand in &self.operands {
            let text = operand.known.map_or_else(
                || "an unknown type".to_owned(),
                |value_type| value_type.to_string(),
            );
            if !types.contains(&text) {
                types.push(text);
            }
        }
        if types.is_empty() {
            Ok(())
        } else {
            write!(f, " of {}", types.join(", "))
        }
    }
}
