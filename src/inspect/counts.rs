//! Counts what commands change: nodes, casts, initializers, bytes.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::graph::{Body, CastNode, Model, TypeSource, ValueId};
use crate::ops::inference::{infer, nearby_element_type};
use crate::protobuf::schema::GraphProto;
use onnx_cast::DType;

/// The counts that commands change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The nodes of all scopes.
    pub nodes: usize,
    /// The casts of all scopes, by their types.
    pub casts: Vec<CastCount>,
    /// The initializers of all graphs.
    pub initializers: usize,
    /// The bytes of the model file and of its data files, each up to the last value that the model
    /// stores in it.
    pub bytes: u64,
}

/// The number of casts from one type to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CastCount {
    /// The input type, if the model states it or it can be inferred.
    pub from: Option<&'static str>,
    /// The output type, if the model states it or it can be inferred.
    pub to: Option<&'static str>,
    /// How many.
    pub count: usize,
}

/// Counts what commands change, with the bytes of the model file.
#[must_use]
pub(crate) fn counts(model: &Model, file_bytes: u64) -> Counts {
    let inferred = LazyCell::new(|| infer(model));
    let element_type =
        |value: ValueId| nearby_element_type(model, value).or_else(|| inferred.of(value).dtype());
    let mut casts: BTreeMap<_, usize> = BTreeMap::new();
    for node in model
        .scopes()
        .flat_map(|scope| model.nodes(scope))
        .filter(|&node| model.is_cast(node))
    {
        let from = model.input(node, 0).and_then(element_type).map(DType::name);
        let to = model
            .cast_node(node)
            .ok()
            .and_then(|cast| result_type(&cast, element_type))
            .map(DType::name);
        *casts.entry((from, to)).or_default() += 1;
    }
    Counts {
        nodes: model.scopes().map(|scope| model.nodes(scope).len()).sum(),
        casts: casts
            .into_iter()
            .map(|((from, to), count)| CastCount { from, to, count })
            .collect(),
        initializers: graphs(model).map(|graph| graph.initializer.len()).sum(),
        bytes: file_bytes.saturating_add(model.data_bytes()),
    }
}

/// The type to which a cast casts.
pub(super) fn result_type(
    cast: &CastNode,
    element_type: impl Fn(ValueId) -> Option<DType>,
) -> Option<DType> {
    match cast.to {
        TypeSource::Attribute(to) => Some(to),
        TypeSource::Like(like) => element_type(like),
    }
}

/// The graphs of a model, without functions.
pub(super) fn graphs(model: &Model) -> impl Iterator<Item = &GraphProto> {
    model.scopes().filter_map(|scope| match model.body(scope) {
        Body::Graph(graph) => Some(graph),
        Body::Function(_) => None,
    })
}
