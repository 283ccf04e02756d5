//! Values that are the same in every run.

use std::borrow::Cow;

use bytes::Bytes;

use super::Model;
use super::index::{Origin, Pin, ValueId};
use super::query::is_onnx_domain;
use super::scope::{Body, NodeId, ScopeId, ScopeKind, holds_graph};
use crate::dtype::DType;
use crate::hash::HashSet;
use crate::ir_version::OWN_INITIALIZERS;
use crate::tensor::{Content, Data};
use crate::wire::schema::{NodeProto, TensorProto};

/// A value that is the same in every run.
#[derive(Clone, Debug)]
pub struct Constant<'m> {
    /// Its tensor; that of a `Constant` node with a plain attribute is made for the purpose.
    pub tensor: Cow<'m, TensorProto>,
    /// The `Constant` node that defines it; none for an initializer.
    pub node: Option<NodeId>,
}

const OVERRIDABLE: &str = "a caller may override the initializer, which is also an input";

/// Why a value is no constant that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotConstant {
    /// It depends on the inputs of a run.
    #[error("its input is not constant")]
    Computed,
    /// An initializer that is also an input, in IR 4 and later.
    #[error("{OVERRIDABLE}")]
    Overridable,
    /// An initializer that training changes.
    #[error("training updates the initializer")]
    Trained,
    /// A sparse initializer or `sparse_value`.
    #[error("the constant is sparse")]
    Sparse,
    /// A `Constant` in a function whose value is an attribute of the function.
    #[error("the constant is an attribute of the function's caller")]
    AttributeReference,
    /// A `Constant` node without exactly one value.
    #[error("the Constant node has no value or more than one")]
    NoValue,
}

impl NotConstant {
    /// Whether a reason that quotes this one, as those of passes and conversions do, is that a caller may override a value.
    #[must_use]
    pub fn is_overridable(reason: &str) -> bool {
        reason.contains(OVERRIDABLE)
    }
}

impl Model {
    /// The constant that a value is.
    ///
    /// # Errors
    /// With the reason why it is none.
    pub fn constant(&self, value: ValueId) -> Result<Constant<'_>, NotConstant> {
        match self.origin(value) {
            Origin::SparseInitializer(_) => Err(NotConstant::Sparse),
            Origin::Initializer { .. } if self.pin(value) == Some(Pin::Trained) => Err(NotConstant::Trained),
            Origin::Initializer { input: Some(_), .. } if self.is_overridable(value) => Err(NotConstant::Overridable),
            Origin::Initializer { .. } => {
                let tensor = self.initializer(value).ok_or(NotConstant::Computed)?;
                Ok(Constant { tensor: Cow::Borrowed(tensor), node: None })
            }
            Origin::Node { node, output: 0 } if self.is_constant_node(node) => {
                Ok(Constant { tensor: constant_tensor(self.node(node))?, node: Some(node) })
            }
            Origin::Node { .. } | Origin::Input(_) | Origin::Missing => Err(NotConstant::Computed),
        }
    }

    /// Whether an initializer that is listed as an input may get another value. Since IR 4 the list says just that; before, the
    /// main graph and a branch of an `If` had to list every initializer. The inputs of other graphs get their values from the
    /// node around them in any IR.
    #[must_use]
    pub fn is_overridable(&self, value: ValueId) -> bool {
        let must_list = match self.scope_kind(self.home(value)) {
            ScopeKind::Main | ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => true,
            ScopeKind::Subgraph { owner, .. } => self.node(owner).op_type() == "If",
            ScopeKind::Function(_) => false,
        };
        !(must_list && self.ir_version() < OWN_INITIALIZERS)
    }

    /// The initializers of the main graph that a caller may override, by name, in the order of the inputs.
    #[must_use]
    pub fn overridable_initializers(&self) -> Vec<&str> {
        let Body::Graph(graph) = self.body(ScopeId::MAIN) else { return Vec::new() };
        if self.ir_version() < OWN_INITIALIZERS {
            return Vec::new();
        }
        let dense = graph.initializer.iter().map(|tensor| tensor.name());
        let sparse = graph.sparse_initializer.iter().filter_map(|tensor| Some(tensor.values.as_ref()?.name()));
        let initializers: HashSet<&str> = dense.chain(sparse).collect();
        graph.input.iter().map(|input| input.name()).filter(|name| initializers.contains(name)).collect()
    }

    /// Whether a node is ONNX's `Constant`, with nothing beside its one value.
    fn is_constant_node(&self, node: NodeId) -> bool {
        let proto = self.node(node);
        let is_plain = proto.output.len() == 1 && !holds_graph(proto);
        is_plain && proto.op_type() == "Constant" && is_onnx_domain(proto.domain()) && self.callee(node).is_none()
    }
}

/// The tensor of a `Constant` node, by `Constant-13`: exactly one of its attributes holds the value.
fn constant_tensor(node: &NodeProto) -> Result<Cow<'_, TensorProto>, NotConstant> {
    let mut values = node.attribute.iter().filter(|attribute| {
        matches!(
            attribute.name(),
            "value"
                | "sparse_value"
                | "value_int"
                | "value_ints"
                | "value_float"
                | "value_floats"
                | "value_string"
                | "value_strings"
        )
    });
    let (Some(attribute), None) = (values.next(), values.next()) else {
        return Err(NotConstant::NoValue);
    };
    if !attribute.ref_attr_name().is_empty() {
        return Err(NotConstant::AttributeReference);
    }
    let numbers = |dtype, dims: &[i64], raw: Vec<u8>| Content::new(dtype, dims, Data::Numbers(raw.into(), Vec::new()));
    let strings = |dims: &[i64], strings: Vec<Bytes>| Content::new(DType::String, dims, Data::Strings(strings));
    let length = |length: usize| [i64::try_from(length).unwrap_or(i64::MAX)];
    let content = match attribute.name() {
        "value" => return attribute.t.as_ref().map(Cow::Borrowed).ok_or(NotConstant::NoValue),
        "sparse_value" => return Err(NotConstant::Sparse),
        "value_int" => numbers(DType::Int64, &[], attribute.i().to_le_bytes().into()),
        "value_float" => numbers(DType::Float, &[], attribute.f().to_le_bytes().into()),
        "value_string" => strings(&[], vec![attribute.s.clone().unwrap_or_default()]),
        "value_ints" => {
            let raw = attribute.ints.iter().flat_map(|int| int.to_le_bytes()).collect();
            numbers(DType::Int64, &length(attribute.ints.len()), raw)
        }
        "value_floats" => {
            let raw = attribute.floats.iter().flat_map(|float| float.to_le_bytes()).collect();
            numbers(DType::Float, &length(attribute.floats.len()), raw)
        }
        _ => strings(&length(attribute.strings.len()), attribute.strings.clone()),
    };
    Ok(Cow::Owned(content.into_tensor("")))
}
