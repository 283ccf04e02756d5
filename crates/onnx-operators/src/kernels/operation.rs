//! A node as runtimes see it.

use std::borrow::Cow;
use std::fmt;

use super::features::{
    batches, gates, indices, last_window, reads_constants, reduced, rows, scaled_length,
    shapes_read, slope, steps,
};
use super::node::{AttributeValue, Node};
use crate::schemas::microsoft::{self, Signature};
use crate::schemas::{self, Formal, Schema, ValueType, is_onnx_domain};
use onnx_cast::DType;

/// The operator of a node, its version, and the types of its inputs and outputs as far as they are
/// known.
#[derive(Clone, Debug)]
pub struct Operation<'n> {
    node: &'n dyn Node,
    domain: &'n str,
    /// The opset of its domain.
    opset: i64,
    /// None if no opset up to that of the node has the operator, or ONNX does not define it.
    schema: Option<&'static Schema>,
    signature: Option<&'static Signature>,
    /// Inputs, then outputs, each by index.
    operands: Vec<Operand>,
    /// The dimensions of the first inputs, as many as lines of `facts/runs/` depend on; none if the
    /// rank is unknown.
    shapes: Vec<Option<Vec<Option<i64>>>>,
    /// The numbers of inputs that are small constants, by index, if lines of `facts/runs/` depend on
    /// them.
    constants: Vec<Option<Vec<f64>>>,
    /// Whether all inputs that determine shapes or the like are constants.
    has_constant_inputs: bool,
    /// The operator that the node looks like, with the nodes before it, though they compute
    /// something else.
    combination: Option<&'static str>,
    /// Whether the node calls a function of the model.
    is_call: bool,
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

impl Operand {
    /// The formal input or output that it is in a version of the operator.
    fn formal(&self, schema: &'static Schema) -> Option<&'static Formal> {
        if self.is_output {
            schema.output(self.index)
        } else {
            schema.input(self.index)
        }
    }
}

impl<'n> Operation<'n> {
    /// The operation of a node in an opset of its domain. The functions give the types of inputs
    /// and outputs by index.
    pub fn new(
        node: &'n dyn Node,
        opset: i64,
        input: impl Fn(usize) -> Option<ValueType>,
        output: impl Fn(usize) -> Option<ValueType>,
    ) -> Operation<'n> {
        let inputs = node.inputs().into_iter().map(|index| Operand {
            is_output: false,
            index,
            known: input(index),
        });
        let outputs = node.outputs().into_iter().map(|index| Operand {
            is_output: true,
            index,
            known: output(index),
        });
        let domain = schemas::canonical_domain(node.domain());
        Operation {
            node,
            domain,
            opset,
            schema: schemas::schema(domain, node.operator(), opset),
            signature: (domain == microsoft::DOMAIN)
                .then(|| microsoft::signature(node.operator()))
                .flatten(),
            operands: inputs.chain(outputs).collect(),
            shapes: Vec::new(),
            constants: Vec::new(),
            has_constant_inputs: false,
            combination: None,
            is_call: false,
        }
    }

    /// A call of a function of the model.
    #[must_use]
    pub fn call(node: &'n dyn Node) -> Operation<'n> {
        Operation {
            schema: None,
            signature: None,
            operands: Vec::new(),
            is_call: true,
            ..Operation::new(node, 0, |_| None, |_| None)
        }
    }

    /// Whether the node calls a function of the model.
    pub(super) fn is_call(&self) -> bool {
        self.is_call
    }

    /// The operation with the dimensions of its inputs, by index, as far as they are known.
    #[must_use]
    pub fn with_shapes(
        self,
        shape_of: impl Fn(usize) -> Option<Vec<Option<i64>>>,
    ) -> Operation<'n> {
        let shapes = (0..shapes_read(self.op())).map(shape_of).collect();
        Operation { shapes, ..self }
    }

    /// The dimensions of an input, if it is a tensor of known rank and lines depend on them.
    fn shape(&self, index: usize) -> Option<&[Option<i64>]> {
        self.shapes.get(index)?.as_deref()
    }

    /// The number of inputs of a `MatMul` that have rank 1, if both ranks are known.
    fn vectors(&self) -> Option<usize> {
        let (first, second) = (self.shape(0)?, self.shape(1)?);
        let is_vector = |shape: &[Option<i64>]| usize::from(shape.len() == 1);
        Some(is_vector(first) + is_vector(second))
    }

    /// The operation with the numbers of its inputs that are small constants, by index. They are
    /// asked for only if a table depends on constants of the operator.
    #[must_use]
    pub fn with_constants(self, constant: impl Fn(usize) -> Option<Vec<f64>>) -> Operation<'n> {
        if !reads_constants(self.op()) {
            return self;
        }
        let constants = (0..self.input_count()).map(constant).collect();
        Operation { constants, ..self }
    }

    /// The operation with whether its inputs are constants, by index. The first one is not asked for,
    /// but for that of `ConstantOfShape`, which is a shape.
    #[must_use]
    pub fn with_constant_inputs(self, is_constant: impl Fn(usize) -> bool) -> Operation<'n> {
        let mut others = self.operands.iter().filter(|operand| {
            !operand.is_output && (operand.index > 0 || self.op() == "ConstantOfShape")
        });
        let has_constant_inputs = others.all(|operand| is_constant(operand.index));
        Operation {
            has_constant_inputs,
            ..self
        }
    }

    /// The operation with the operator that the node looks like to some runtime, with the nodes
    /// before it, if they compute something else.
    #[must_use]
    pub fn with_combination(self, combination: Option<&'static str>) -> Operation<'n> {
        Operation {
            combination,
            ..self
        }
    }

    /// Whether the node looks like an operator with the nodes before it.
    pub(super) fn is_combined(&self) -> bool {
        self.combination.is_some()
    }

    /// Whether all inputs after the first one, if there are any, are constants.
    pub(super) fn has_constant_inputs(&self) -> bool {
        self.has_constant_inputs
    }

    /// The number of inputs up to the last one that the node has.
    fn input_count(&self) -> usize {
        let mut inputs = self.operands.iter().filter(|operand| !operand.is_output);
        inputs.next_back().map_or(0, |last| last.index + 1)
    }

    /// The numbers of a formal input, if it is a small constant.
    fn constant(&self, formal: &str) -> Option<&[f64]> {
        let schema = self.schema?;
        let is_formal = |&index: &usize| {
            schema
                .input(index)
                .is_some_and(|input| input.name == formal)
        };
        let index = (0..self.constants.len()).find(is_formal)?;
        self.constants[index].as_deref()
    }

    /// Whether a guard for a runtime contains the node.
    pub(super) fn is_guarded(&self, runtime: &str) -> bool {
        self.node.is_guarded(runtime)
    }

    /// The domain of the operator; empty for ai.onnx.
    #[must_use]
    pub fn domain(&self) -> &'n str {
        self.domain
    }

    /// The operator.
    #[must_use]
    pub fn op(&self) -> &'n str {
        self.node.operator()
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
    pub fn with_type(&self, variable: &str, value_type: ValueType) -> Operation<'n> {
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

    /// Whether the version of the operator admits the known types.
    pub(super) fn is_admitted(&self) -> bool {
        self.schema.is_some_and(|schema| {
            self.operands.iter().all(|operand| {
                let formal = operand.formal(schema);
                formal
                    .zip(operand.known)
                    .is_none_or(|(formal, known)| formal.types.contains(known))
            })
        })
    }

    /// Whether an input is a tensor of this type.
    #[must_use]
    pub fn takes(&self, dtype: DType) -> bool {
        self.operands
            .iter()
            .any(|operand| !operand.is_output && operand.known == Some(ValueType::Tensor(dtype)))
    }

    /// Whether an input or output has an element type, of which it is also told whether it is an
    /// output.
    pub(super) fn has_element(&self, is_one: impl Fn(bool, DType) -> bool) -> bool {
        self.operands.iter().any(|operand| {
            let dtype = operand.known.and_then(ValueType::element);
            dtype.is_some_and(|dtype| is_one(operand.is_output, dtype))
        })
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

    /// The value of an attribute that the node has, as tables write it.
    pub(super) fn attribute_text(&self, name: &str) -> Option<String> {
        let attribute = self.node.attribute(name)?;
        attribute.text().map(Cow::into_owned)
    }

    /// Whether a condition of a line of a table is true; none if it depends on an unknown type or
    /// rank.
    ///
    /// The name is a type variable, whose type is one of the values; `input:` or `output:` and the
    /// name of a formal one, which the node has (`*`) or lacks (`-`); `value:` and the name of a
    /// formal input, which is a constant of this value, of any (`*`), or none (`-`); or an attribute,
    /// the value of which, or its default, is one of the values, any (`*`), none (`-`), or another
    /// than this one (`!1`). `rank` is the rank of the first input; `vectors` the number of inputs of
    /// rank 1; `combination` the operator that the node looks like with the nodes before it,
    /// `Elementwise` for a reduction of integers with such a node behind it, or none (`-`); `empty` whether the first input is known to have no elements (`*`); `captures` whether
    /// a body reads values of the graphs around it (`*`) or not (`-`); `branches` whether the two of
    /// an `If` have results of the same ranks (`alike`) or not (`apart`); [`batches`], [`gates`],
    /// [`indices`], [`last_window`], [`reduced`], [`rows`], [`scaled_length`], [`slope`] and
    /// [`steps`] have functions of their own.
    pub(super) fn satisfies(&self, name: &str, values: &str) -> Option<bool> {
        if let Some(value) = values.strip_prefix('!') {
            let is_present = self.satisfies(name, "*")?;
            return Some(is_present && !self.satisfies(name, value)?);
        }
        let is_one = |found: &str| values == "*" || values.split('|').any(|value| value == found);
        let shape = self.shape(0);
        match name {
            "rank" => return Some(is_one(&shape?.len().to_string())),
            "empty" => {
                let is_empty = shape.is_some_and(|shape| shape.contains(&Some(0)));
                return Some(is_empty == (values == "*"));
            }
            "combination" => {
                return Some(self.combination.map_or(values == "-", is_one));
            }
            "vectors" => return Some(is_one(&self.vectors()?.to_string())),
            "slope" => return Some(is_one(slope(shape, self.shape(1))?)),
            "captures" => return Some(self.node.captures() == (values == "*")),
            "branches" => {
                let has_other_ranks = self.node.has_branches_of_other_ranks();
                return Some(is_one(if has_other_ranks { "apart" } else { "alike" }));
            }
            "batches" => return Some(is_one(batches(shape, self.shape(1))?)),
            "gates" => return Some(is_one(gates(self.op(), self.node))),
            "steps" => return Some(is_one(steps(self.node))),
            "indices" => return Some(is_one(indices(self.constant("indices")))),
            "last_window" => return Some(is_one(last_window(self.node, shape))),
            "reduced" => return Some(is_one(self.reduced())),
            "rows" => return Some(is_one(rows(shape))),
            "scaled_length" => {
                let scales = self.constant("scales");
                let has_sizes = self.has(false, "sizes");
                return Some(is_one(scaled_length(self.node, shape, scales, has_sizes)));
            }
            _ => {}
        }
        if let Some(formal) = name.strip_prefix("value:") {
            return Some(match self.constant(formal) {
                None => values == "-",
                Some(numbers) => {
                    let found: Vec<String> = numbers.iter().map(ToString::to_string).collect();
                    values != "-" && is_one(&found.join(","))
                }
            });
        }
        let formal = name
            .strip_prefix("input:")
            .map(|name| (false, name))
            .or_else(|| name.strip_prefix("output:").map(|name| (true, name)));
        if let Some((is_output, name)) = formal {
            return Some(self.has(is_output, name) == (values == "*"));
        }
        let is_variable = |variable: Option<&str>| variable == Some(name);
        let mut types = self
            .operands
            .iter()
            .filter(|operand| is_variable(self.variable(operand.is_output, operand.index)))
            .peekable();
        if types.peek().is_some() {
            let known: Vec<ValueType> = types.filter_map(|operand| operand.known).collect();
            return (!known.is_empty())
                .then(|| known.iter().any(|&found| is_listed(found, values)));
        }
        let is_present = self.node.attribute(name).is_some();
        let text = if is_present {
            self.attribute_text(name)
        } else {
            let default = self.schema.and_then(|schema| default_text(schema, name));
            default.map(Cow::into_owned)
        };
        Some(match values {
            "-" | "*" => is_present == (values == "*"),
            _ => text.is_some_and(|found| is_one(&found)),
        })
    }

    /// Whether another version of the operator has the attributes and inputs of the node, as
    /// attributes or inputs, but for attributes that have their defaults.
    pub(super) fn has_form_of(&self, other: &'static Schema) -> bool {
        let Some(schema) = self.schema else {
            return true;
        };
        let is_input = |name: &str| other.inputs.iter().any(|input| input.name == name);
        let attributes = schema.attributes.iter().all(|attribute| {
            let name = attribute.name;
            let Some(value) = self.node.attribute(name) else {
                return true;
            };
            let is_default = value.text().is_some() && value.text() == default_text(schema, name);
            is_default || other.attribute(name).is_some() || is_input(name)
        });
        let mut inputs = self.operands.iter().filter(|operand| !operand.is_output);
        attributes
            && inputs.all(|operand| {
                let is_attribute = operand
                    .formal(schema)
                    .is_some_and(|formal| other.attribute(formal.name).is_some());
                operand.formal(other).is_some() || is_attribute
            })
    }

    /// See [`reduced`]. The axes are the second input or an attribute, whatever the version: a
    /// conversion asks for nodes of another opset.
    fn reduced(&self) -> &'static str {
        let constant = self.constants.get(1).and_then(Option::as_ref);
        let constant = constant.map(|axes| axes.iter().map(|&axis| axis as i64).collect());
        let axes = match self.node.attribute("axes") {
            Some(AttributeValue::Ints(axes)) => Some(axes.to_vec()),
            _ => constant,
        };
        let input = (self.input_count() > 1).then(|| self.shape(1));
        reduced(self.shape(0), axes.as_deref(), input)
    }

    /// Whether the node has a formal input or output.
    fn has(&self, is_output: bool, name: &str) -> bool {
        let Some(schema) = self.schema else {
            return false;
        };
        self.operands
            .iter()
            .filter(|operand| operand.is_output == is_output)
            .filter_map(|operand| operand.formal(schema))
            .any(|formal| formal.name == name)
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
    #[must_use]
    pub fn variable(&self, is_output: bool, index: usize) -> Option<&'static str> {
        match (self.schema, self.signature, is_output) {
            (Some(schema), _, false) => schema.input(index).map(|formal| formal.type_name),
            (Some(schema), _, true) => schema.output(index).map(|formal| formal.type_name),
            (None, Some(signature), _) => signature.variable(is_output, index),
            (None, None, _) => None,
        }
    }
}

/// The default of an attribute that is an integer or a string, as tables write it.
fn default_text(schema: &Schema, name: &str) -> Option<Cow<'static, str>> {
    match schema.attribute(name)?.default? {
        schemas::DefaultValue::Int(number) => Some(number.to_string().into()),
        schemas::DefaultValue::String(text) => Some(text.into()),
        _ => None,
    }
}

/// Whether a type is one of those that a condition lists.
fn is_listed(value_type: ValueType, values: &str) -> bool {
    let mut values = values.split(['|', ' ']);
    match value_type {
        ValueType::Tensor(dtype) => values.any(|value| value.eq_ignore_ascii_case(dtype.name())),
        other => values.any(|value| value == other.to_string()),
    }
}

impl fmt::Display for Operation<'_> {
    /// `RoiAlign-22 of tensor(float), tensor(int64)`, or `the model's function local:Norm`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_call {
            f.write_str("the model's function ")?;
        }
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
