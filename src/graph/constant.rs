//! Values that are the same in every run: constants.

use std::borrow::Cow;

use super::Model;
use super::index::{NonNodeUse, Origin, ValueId};
use super::scope::{Body, NodeId, ScopeId, ScopeKind, holds_graph};
use crate::protobuf::ir_version::OWN_INITIALIZERS;
use crate::protobuf::schema::{AttributeProto, NodeProto, TensorProto};
use crate::tensor::{Content, Data};
use onnx_cast::DType;

/// A value that is the same in every run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Constant<'m> {
    /// Its tensor; for a `Constant` node with a plain attribute it is built from that.
    /// [`Model::read`] gives its elements.
    pub tensor: Cow<'m, TensorProto>,
    /// The `Constant` node that defines it; `None` for an initializer.
    pub node: Option<NodeId>,
}

/// Why a value is not a readable constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
#[non_exhaustive]
pub enum NotConstant {
    /// It depends on the model's inputs.
    Computed,
    /// An initializer that is also an input, in IR 4 and later.
    Overridable,
    /// An initializer that training changes.
    Trained,
    /// A sparse initializer or `sparse_value`.
    Sparse,
    /// A `Constant` in a function whose value is an attribute of the function.
    AttributeReference,
    /// A `Constant` node without exactly one value.
    NoValue,
}

impl NotConstant {
    pub(crate) fn text(self) -> &'static str {
        match self {
            NotConstant::Computed => "its input is not constant",
            NotConstant::Overridable => {
                "a caller can override the initializer, which is also an input"
            }
            NotConstant::Trained => "training updates the initializer",
            NotConstant::Sparse => "the constant is sparse",
            NotConstant::AttributeReference => {
                "the value of the Constant is an attribute of the function"
            }
            NotConstant::NoValue => "the Constant node has no value or more than one",
        }
    }
}

/// # Constants
impl Model {
    /// The constant of a value.
    ///
    /// # Errors
    /// If the value is not a constant, with the reason.
    pub fn constant(&self, value: ValueId) -> Result<Constant<'_>, NotConstant> {
        match self.origin(value) {
            Origin::SparseInitializer(_) => Err(NotConstant::Sparse),
            Origin::Initializer { .. } if self.non_node_use(value) == Some(NonNodeUse::Trained) => {
                Err(NotConstant::Trained)
            }
            Origin::Initializer { input: Some(_), .. } if self.is_overridable(value) => {
                Err(NotConstant::Overridable)
            }
            Origin::Initializer { .. } => {
                let tensor = self.initializer(value).ok_or(NotConstant::Computed)?;
                Ok(Constant {
                    tensor: Cow::Borrowed(tensor),
                    node: None,
                })
            }
            Origin::Node { node, output: 0 } if self.is_constant_node(node) => Ok(Constant {
                tensor: ConstantValue::of_node(self.node(node))?.tensor()?,
                node: Some(node),
            }),
            Origin::Node { .. } | Origin::Input(_) | Origin::Missing => Err(NotConstant::Computed),
        }
    }

    /// Whether a caller can override an initializer that is also an input. Since IR 4 it always
    /// can; before, the main graph and a branch of an `If` had to list every initializer as an
    /// input. The inputs of other graphs get their values from the enclosing node in any IR
    /// version.
    #[must_use]
    pub fn is_overridable(&self, value: ValueId) -> bool {
        let must_list = match self.scope_kind(self.scope_of(value)) {
            ScopeKind::Main | ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => true,
            ScopeKind::Subgraph { owner, .. } => self.node(owner).op_type() == "If",
            ScopeKind::Function(_) => false,
        };
        !(must_list && self.ir_version() < OWN_INITIALIZERS)
    }

    /// The overridable initializers of the main graph, by name, in the order of the inputs.
    #[must_use]
    pub(crate) fn overridable_initializers(&self) -> Vec<&str> {
        let Body::Graph(graph) = self.body(ScopeId::MAIN) else {
            return Vec::new();
        };
        if self.ir_version() < OWN_INITIALIZERS {
            return Vec::new();
        }
        let is_initialized = |name: &&str| {
            let origin = self
                .lookup(ScopeId::MAIN, name)
                .map(|value| self.origin(value));
            matches!(
                origin,
                Some(Origin::Initializer { .. } | Origin::SparseInitializer(_))
            )
        };
        graph
            .input
            .iter()
            .map(|input| input.name())
            .filter(is_initialized)
            .collect()
    }

    /// Whether a node is ONNX's `Constant`, with one value and nothing else.
    fn is_constant_node(&self, node: NodeId) -> bool {
        let proto = self.node(node);
        self.is_op(node, "Constant") && proto.output.len() == 1 && !holds_graph(proto)
    }
}

/// The value of a `Constant` node, by `Constant-13`: exactly one of its attributes holds it. All
/// readers of `Constant` use this.
#[derive(Clone, Copy, Debug)]
pub struct ConstantValue<'n> {
    form: Form,
    attribute: &'n AttributeProto,
}

/// The attributes that may hold the value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Tensor,
    Sparse,
    Int,
    Ints,
    Float,
    Floats,
    String,
    Strings,
}

impl<'n> ConstantValue<'n> {
    /// The value of a `Constant` node.
    ///
    /// # Errors
    /// If no attribute or more than one holds a value.
    pub(crate) fn of_node(node: &'n NodeProto) -> Result<ConstantValue<'n>, NotConstant> {
        let mut values = node
            .attribute
            .iter()
            .filter_map(ConstantValue::of_attribute);
        match (values.next(), values.next()) {
            (Some(value), None) => Ok(value),
            _ => Err(NotConstant::NoValue),
        }
    }

    /// The value in an attribute of a `Constant` node; `None` for other attributes.
    #[must_use]
    pub(crate) fn of_attribute(attribute: &'n AttributeProto) -> Option<ConstantValue<'n>> {
        let form = match attribute.name() {
            "value" => Form::Tensor,
            "sparse_value" => Form::Sparse,
            "value_int" => Form::Int,
            "value_ints" => Form::Ints,
            "value_float" => Form::Float,
            "value_floats" => Form::Floats,
            "value_string" => Form::String,
            "value_strings" => Form::Strings,
            _ => return None,
        };
        Some(ConstantValue { form, attribute })
    }

    /// The element type, which most attributes imply by their name.
    #[must_use]
    pub fn dtype(&self) -> Option<DType> {
        let stated = |tensor: &TensorProto| DType::from_number(tensor.data_type());
        match self.form {
            Form::Tensor => self.attribute.t.as_ref().and_then(stated),
            Form::Sparse => self
                .attribute
                .tail()
                .sparse_tensor
                .as_ref()?
                .values
                .as_ref()
                .and_then(stated),
            Form::Int | Form::Ints => Some(DType::Int64),
            Form::Float | Form::Floats => Some(DType::Float),
            Form::String | Form::Strings => Some(DType::String),
        }
    }

    /// The shape; `None` if it is unknown or the tensor is sparse.
    #[must_use]
    pub fn dims(&self) -> Option<Vec<i64>> {
        let listed = |length: usize| {
            (!self.is_reference()).then(|| vec![i64::try_from(length).unwrap_or(i64::MAX)])
        };
        match self.form {
            Form::Tensor => self.attribute.t.as_ref().map(|tensor| tensor.dims.clone()),
            Form::Sparse => None,
            Form::Int | Form::Float | Form::String => Some(Vec::new()),
            Form::Ints => listed(self.attribute.ints.len()),
            Form::Floats => listed(self.attribute.floats.len()),
            Form::Strings => listed(self.attribute.strings.len()),
        }
    }

    /// The value as a tensor, which is built for attributes that are plain numbers or strings.
    ///
    /// # Errors
    /// If the tensor is sparse, missing, or an attribute of the function.
    pub fn tensor(&self) -> Result<Cow<'n, TensorProto>, NotConstant> {
        if self.is_reference() {
            return Err(NotConstant::AttributeReference);
        }
        let attribute = self.attribute;
        let numbers = |bytes: Vec<u8>| Data::Numbers(bytes.into(), Vec::new());
        let data = match self.form {
            Form::Tensor => {
                return attribute
                    .t
                    .as_ref()
                    .map(Cow::Borrowed)
                    .ok_or(NotConstant::NoValue);
            }
            Form::Sparse => return Err(NotConstant::Sparse),
            Form::Int => numbers(attribute.i().to_le_bytes().into()),
            Form::Ints => numbers(
                attribute
                    .ints
                    .iter()
                    .flat_map(|int| int.to_le_bytes())
                    .collect(),
            ),
            Form::Float => numbers(attribute.f().to_le_bytes().into()),
            Form::Floats => numbers(
                attribute
                    .floats
                    .iter()
                    .flat_map(|float| float.to_le_bytes())
                    .collect(),
            ),
            Form::String => Data::Strings(vec![attribute.s.clone().unwrap_or_default()]),
            Form::Strings => Data::Strings(attribute.strings.clone()),
        };
        match (self.dtype(), self.dims()) {
            (Some(dtype), Some(dims)) => {
                Ok(Cow::Owned(Content::new(dtype, &dims, data).into_tensor("")))
            }
            _ => Err(NotConstant::NoValue),
        }
    }

    /// Whether the value refers to an attribute of the enclosing function.
    fn is_reference(&self) -> bool {
        !self.attribute.tail().ref_attr_name().is_empty()
    }
}
