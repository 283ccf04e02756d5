//! The tensors of a model and their places.

use std::ops::Range;

use super::index::{Origin, ValueId};
use super::scope::{Body, NodeId, ScopeId};
use super::{DataRanges, Model};
use crate::base::error::Error;
use crate::protobuf::schema::{AttributeProto, SparseTensorProto, TensorProto};
use crate::tensor::{Array, BadTensor, Content, Reference, Tensor, is_external};

/// The place of a tensor. Places are in document order within a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TensorPlace(pub(crate) TensorIn);

/// What contains a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum TensorIn {
    /// An initializer of a graph, by index.
    Initializer(ScopeId, u32),
    /// Half of a sparse initializer of a graph, by index.
    Sparse(ScopeId, u32, SparsePart),
    /// A tensor in an attribute of a node, by the attribute's index.
    Attribute(NodeId, u32, AttributePart),
    /// A tensor in the default of an attribute of a function, by the default's index in
    /// `attribute_proto`.
    Default(ScopeId, u32, AttributePart),
}

/// A half of a sparse tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum SparsePart {
    /// Its `values`.
    Values,
    /// Its `indices`.
    Indices,
}

/// A tensor of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum AttributePart {
    /// Its `t`.
    Single,
    /// One of its `tensors`, by index.
    Listed(u32),
    /// A half of its `sparse_tensor`.
    Sparse(SparsePart),
    /// A half of one of its `sparse_tensors`, by index.
    ListedSparse(u32, SparsePart),
}

impl TensorPlace {
    /// The scope that contains the tensor.
    #[must_use]
    pub fn scope(self) -> ScopeId {
        match self.0 {
            TensorIn::Initializer(scope, _)
            | TensorIn::Sparse(scope, ..)
            | TensorIn::Default(scope, ..) => scope,
            TensorIn::Attribute(node, ..) => node.scope,
        }
    }

    /// The node that has the tensor in an attribute; none for an initializer, and for the default
    /// of an attribute of a function.
    #[must_use]
    pub fn node(self) -> Option<NodeId> {
        match self.0 {
            TensorIn::Attribute(node, ..) => Some(node),
            TensorIn::Initializer(..) | TensorIn::Sparse(..) | TensorIn::Default(..) => None,
        }
    }
}

/// # Tensors and their data files
impl Model {
    /// Every tensor of the model with its place: initializers, the halves of sparse ones, tensors
    /// in attributes and in their defaults, in all scopes.
    pub fn tensors(&self) -> impl Iterator<Item = (TensorPlace, &TensorProto)> {
        self.scopes().flat_map(|scope| {
            let (dense, sparse, defaults): (
                &[TensorProto],
                &[SparseTensorProto],
                &[AttributeProto],
            ) = match self.body(scope) {
                Body::Graph(graph) => (&graph.initializer, &graph.sparse_initializer, &[]),
                Body::Function(function) => (&[], &[], &function.attribute_proto),
            };
            let dense = (0..).zip(dense).map(move |(index, tensor)| {
                (TensorPlace(TensorIn::Initializer(scope, index)), tensor)
            });
            let sparse = (0..).zip(sparse).flat_map(move |(index, sparse)| {
                parts(sparse).map(move |(part, tensor)| {
                    (TensorPlace(TensorIn::Sparse(scope, index, part)), tensor)
                })
            });
            let nodes = self.nodes(scope).zip(self.body(scope).nodes());
            let attributes = nodes
                .filter(|(_, node)| !node.attribute.is_empty())
                .flat_map(|(id, node)| {
                    (0..)
                        .zip(&node.attribute)
                        .flat_map(move |(index, attribute)| {
                            of_attribute(attribute).map(move |(part, tensor)| {
                                (TensorPlace(TensorIn::Attribute(id, index, part)), tensor)
                            })
                        })
                });
            let defaults = (0..).zip(defaults).flat_map(move |(index, attribute)| {
                of_attribute(attribute).map(move |(part, tensor)| {
                    (TensorPlace(TensorIn::Default(scope, index, part)), tensor)
                })
            });
            dense.chain(sparse).chain(attributes).chain(defaults)
        })
    }

    /// The elements of a tensor of the model, in any of its fields or in a data file.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let model = onnx_recast::Model::open("models/fp8_qdq.onnx")?;
    /// let mut tensors = model.tensors().map(|(_, tensor)| tensor);
    /// let scale = tensors.find(|tensor| tensor.name() == "x_scale").unwrap();
    /// assert_eq!(model.read(scale)?.to_vec::<f32>()?.len(), 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the tensor is not valid, or the data file cannot be read.
    pub fn read(&self, tensor: &TensorProto) -> Result<Array, Error> {
        let content = self.content(tensor).map_err(Error::caused_by)?;
        Ok(Array::of(content).with_cancel(&self.control().cancel))
    }

    /// Like [`Model::read`], for more casts, movement of elements and a new tensor.
    pub(crate) fn content(&self, tensor: &TensorProto) -> Result<Content, BadTensor> {
        Tensor::read(tensor)?.load(self.data())
    }

    /// The tensor that states a value, and its place: an initializer, or the attribute `value` of a
    /// `Constant` or `ConstantOfShape`.
    #[must_use]
    pub fn stated_tensor(&self, value: ValueId) -> Option<(TensorPlace, &TensorProto)> {
        let node = match self.origin(value) {
            Origin::Initializer { index, .. } => {
                let place = TensorPlace(TensorIn::Initializer(self.scope_of(value), index));
                return Some((place, self.initializer(value)?));
            }
            Origin::Node { node, .. } => node,
            _ => return None,
        };
        if !self.is_op(node, "Constant") && !self.is_op(node, "ConstantOfShape") {
            return None;
        }
        let mut attributes = (0..).zip(&self.node(node).attribute);
        let (index, attribute) = attributes.find(|(_, attribute)| attribute.name() == "value")?;
        let place = TensorPlace(TensorIn::Attribute(node, index, AttributePart::Single));
        Some((place, attribute.t.as_ref()?))
    }

    /// The external data that the model refers to.
    #[must_use]
    pub(crate) fn data_ranges(&self) -> DataRanges {
        let mut ranges = DataRanges::new();
        for (_, tensor) in self.tensors().filter(|(_, tensor)| is_external(tensor)) {
            let Ok(Reference {
                location, offset, ..
            }) = Reference::read(tensor)
            else {
                continue;
            };
            let of_location = ranges.entry(location).or_default();
            of_location.extend(
                Tensor::read(tensor)
                    .map(|tensor| offset..offset.saturating_add(tensor.raw_bytes())),
            );
        }
        ranges
    }

    /// The bytes of the data files of the model, each up to the last value that the model stores in
    /// it.
    #[must_use]
    pub(crate) fn data_bytes(&self) -> u64 {
        let used =
            |ranges: Vec<Range<u64>>| ranges.into_iter().map(|range| range.end).max().unwrap_or(0);
        self.data_ranges()
            .into_values()
            .map(used)
            .fold(0, u64::saturating_add)
    }

    /// The path of a tensor in errors and reports: `graph/weight`, `graph/const_1.value`.
    #[must_use]
    pub fn tensor_path(&self, place: TensorPlace) -> String {
        let named = |name: &str| format!("{}/{name}", self.scope_path(place.scope()));
        match (place.0, self.body(place.scope())) {
            (TensorIn::Initializer(_, index), Body::Graph(graph)) => {
                named(graph.initializer[index as usize].name())
            }
            (TensorIn::Sparse(_, index, _), Body::Graph(graph)) => named(
                graph.sparse_initializer[index as usize]
                    .values
                    .as_ref()
                    .map_or("", |values| values.name()),
            ),
            (TensorIn::Attribute(node, index, _), _) => {
                format!(
                    "{}.{}",
                    self.node_path(node),
                    self.node(node).attribute[index as usize].name()
                )
            }
            (TensorIn::Default(_, index, _), Body::Function(function)) => {
                named(function.attribute_proto[index as usize].name())
            }
            (TensorIn::Initializer(..) | TensorIn::Sparse(..), Body::Function(_))
            | (TensorIn::Default(..), Body::Graph(_)) => {
                unreachable!("a function has no initializers, and a graph no defaults")
            }
        }
    }
}

fn parts(sparse: &SparseTensorProto) -> impl Iterator<Item = (SparsePart, &TensorProto)> {
    let values = sparse
        .values
        .iter()
        .map(|tensor| (SparsePart::Values, tensor));
    values.chain(
        sparse
            .indices
            .iter()
            .map(|tensor| (SparsePart::Indices, tensor)),
    )
}

fn of_attribute(attribute: &AttributeProto) -> impl Iterator<Item = (AttributePart, &TensorProto)> {
    let single = attribute
        .t
        .iter()
        .map(|tensor| (AttributePart::Single, tensor));
    let listed = (0..)
        .zip(&attribute.tensors)
        .map(|(index, tensor)| (AttributePart::Listed(index), tensor));
    let sparse = attribute
        .tail()
        .sparse_tensor
        .iter()
        .flat_map(parts)
        .map(|(part, tensor)| (AttributePart::Sparse(part), tensor));
    let listed_sparse = (0..)
        .zip(&attribute.tail().sparse_tensors)
        .flat_map(|(index, sparse)| {
            parts(sparse)
                .map(move |(part, tensor)| (AttributePart::ListedSparse(index, part), tensor))
        });
    single.chain(listed).chain(sparse).chain(listed_sparse)
}

/// The half of a sparse tensor, borrowed mutably.
pub(super) fn sparse_part(
    sparse: &mut SparseTensorProto,
    part: SparsePart,
) -> Option<&mut TensorProto> {
    match part {
        SparsePart::Values => sparse.values.as_mut(),
        SparsePart::Indices => sparse.indices.as_mut(),
    }
}

/// The tensor of an attribute, borrowed mutably.
pub(super) fn attribute_part(
    attribute: &mut AttributeProto,
    part: AttributePart,
) -> Option<&mut TensorProto> {
    match part {
        AttributePart::Single => attribute.t.as_mut(),
        AttributePart::Listed(index) => attribute.tensors.get_mut(index as usize),
        AttributePart::Sparse(part) => {
            sparse_part(attribute.tail_mut().sparse_tensor.as_mut()?, part)
        }
        AttributePart::ListedSparse(index, part) => sparse_part(
            attribute
                .tail_mut()
                .sparse_tensors
                .get_mut(index as usize)?,
            part,
        ),
    }
}
