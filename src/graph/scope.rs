//! Scopes: bodies with their own names, and the paths of scopes and nodes.

use std::borrow::Cow;

use crate::base::error::{ModelPlace, shortened};
use crate::protobuf::schema::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, TensorAnnotation,
    ValueInfoProto,
};

/// A scope of a model. Scopes are numbered in document order, an inner scope after the enclosing
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ScopeId(pub(super) u32);

impl ScopeId {
    /// The main graph, which every model has.
    pub const MAIN: ScopeId = ScopeId(0);

    /// The scope's index for dense tables: unique, and less than the number of scopes.
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node, by its scope and position. Ids are ordered as the nodes are within a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId {
    /// The scope that contains it.
    pub scope: ScopeId,
    /// Its index in the scope's list of nodes.
    pub position: u32,
}

/// Which body a scope is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScopeKind {
    /// `ModelProto.graph`.
    Main,
    /// A graph in an attribute.
    Subgraph {
        /// The node whose attribute it is.
        owner: NodeId,
        /// The index of the attribute.
        attribute: u32,
        /// The index in the attribute's `graphs`; `None` for its `g`.
        list_index: Option<u32>,
    },
    /// The model-local function of this index.
    Function(u32),
    /// `initialization` of the training info of this index.
    Initialization(u32),
    /// `algorithm` of the training info of this index.
    Algorithm(u32),
}

/// The protobuf message of a scope.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Body<'m> {
    /// A graph: the main graph, a subgraph or a training graph.
    Graph(&'m GraphProto),
    /// A function.
    Function(&'m FunctionProto),
}

impl<'m> Body<'m> {
    /// The nodes in order.
    #[must_use]
    pub fn nodes(self) -> &'m [NodeProto] {
        match self {
            Body::Graph(graph) => &graph.node,
            Body::Function(function) => &function.node,
        }
    }

    /// Declared types and shapes of values inside.
    #[must_use]
    pub(crate) fn value_info(self) -> &'m [ValueInfoProto] {
        match self {
            Body::Graph(graph) => &graph.value_info,
            Body::Function(function) => &function.value_info,
        }
    }

    /// The names of the inputs.
    pub fn input_names(self) -> impl Iterator<Item = &'m str> {
        let (infos, names): (&[ValueInfoProto], &[String]) = match self {
            Body::Graph(graph) => (&graph.input, &[]),
            Body::Function(function) => (&[], &function.input),
        };
        infos
            .iter()
            .map(|info| info.name())
            .chain(names.iter().map(String::as_str))
    }

    /// The names of the outputs.
    pub fn output_names(self) -> impl Iterator<Item = &'m str> {
        let (infos, names): (&[ValueInfoProto], &[String]) = match self {
            Body::Graph(graph) => (&graph.output, &[]),
            Body::Function(function) => (&[], &function.output),
        };
        infos
            .iter()
            .map(|info| info.name())
            .chain(names.iter().map(String::as_str))
    }

    /// The number of values that it defines, if every node has one output.
    pub(super) fn value_count(self) -> usize {
        let initializers = match self {
            Body::Graph(graph) => graph.initializer.len(),
            Body::Function(_) => 0,
        };
        self.input_names().count() + initializers + self.nodes().len()
    }

    /// The quantization annotations; a function has none.
    #[must_use]
    pub(crate) fn annotations(self) -> &'m [TensorAnnotation] {
        match self {
            Body::Graph(graph) => &graph.quantization_annotation,
            Body::Function(_) => &[],
        }
    }
}

/// The graphs in an attribute: `g`, then those of `graphs`.
pub(super) fn graphs_of(
    attribute: &AttributeProto,
) -> impl Iterator<Item = (Option<u32>, &GraphProto)> {
    let listed = attribute
        .graphs
        .iter()
        .enumerate()
        .map(|(index, graph)| (Some(index as u32), graph));
    attribute.g.iter().map(|graph| (None, graph)).chain(listed)
}

/// A graph in an attribute, borrowed mutably: one of `graphs`, or `g`.
pub(crate) fn graph_mut(
    attribute: &mut AttributeProto,
    list_index: Option<u32>,
) -> Option<&mut GraphProto> {
    match list_index {
        Some(index) => attribute.graphs.get_mut(index as usize),
        None => attribute.g.as_mut(),
    }
}

/// Whether a node has graphs in its attributes.
pub(crate) fn holds_graph(node: &NodeProto) -> bool {
    node.attribute
        .iter()
        .any(|attribute| graphs_of(attribute).next().is_some())
}

/// The body of a scope, found from the model through the enclosing scopes.
pub(super) fn body<'m>(
    model: &'m ModelProto,
    kinds: &[ScopeKind],
    scope: ScopeId,
) -> Option<Body<'m>> {
    match kinds[scope.0 as usize] {
        ScopeKind::Main => model.graph.as_ref().map(Body::Graph),
        ScopeKind::Function(index) => model.functions.get(index as usize).map(Body::Function),
        ScopeKind::Initialization(index) => model
            .training_info
            .get(index as usize)?
            .initialization
            .as_ref()
            .map(Body::Graph),
        ScopeKind::Algorithm(index) => model
            .training_info
            .get(index as usize)?
            .algorithm
            .as_ref()
            .map(Body::Graph),
        ScopeKind::Subgraph {
            owner,
            attribute,
            list_index,
        } => {
            let node = body(model, kinds, owner.scope)?
                .nodes()
                .get(owner.position as usize)?;
            let attribute = node.attribute.get(attribute as usize)?;
            match list_index {
                Some(index) => attribute.graphs.get(index as usize).map(Body::Graph),
                None => attribute.g.as_ref().map(Body::Graph),
            }
        }
    }
}

/// The outermost enclosing scope.
pub(super) fn root(kinds: &[ScopeKind], mut scope: ScopeId) -> ScopeId {
    while let Some(outer) = enclosing(kinds, scope) {
        scope = outer;
    }
    scope
}

/// The enclosing scope, whose names are visible inside this one.
pub(super) fn enclosing(kinds: &[ScopeKind], scope: ScopeId) -> Option<ScopeId> {
    match kinds[scope.0 as usize] {
        ScopeKind::Main | ScopeKind::Function(_) => None,
        ScopeKind::Subgraph { owner, .. } => Some(owner.scope),
        ScopeKind::Initialization(_) | ScopeKind::Algorithm(_) => Some(ScopeId::MAIN),
    }
}

pub(super) fn scope_path(model: &ModelProto, kinds: &[ScopeKind], scope: ScopeId) -> String {
    match kinds[scope.0 as usize] {
        ScopeKind::Main => "graph".to_owned(),
        ScopeKind::Function(index) => {
            let function = &model.functions[index as usize];
            let overload = if function.overload().is_empty() {
                String::new()
            } else {
                format!(":{}", shortened(function.overload()))
            };
            format!(
                "function/{}:{}{overload}",
                shortened(function.domain()),
                shortened(function.name())
            )
        }
        ScopeKind::Initialization(index) => format!("training[{index}].initialization"),
        ScopeKind::Algorithm(index) => format!("training[{index}].algorithm"),
        ScopeKind::Subgraph {
            owner,
            attribute,
            list_index,
        } => {
            let name = body(model, kinds, owner.scope).map_or("", |body| {
                body.nodes()[owner.position as usize].attribute[attribute as usize].name()
            });
            let index = list_index.map_or_else(String::new, |index| format!("[{index}]"));
            format!(
                "{}.{}{index}",
                node_path(model, kinds, owner),
                shortened(name)
            )
        }
    }
}

pub(super) fn node_path(model: &ModelProto, kinds: &[ScopeKind], node: NodeId) -> String {
    format!(
        "{}/{}",
        scope_path(model, kinds, node.scope),
        name_in_path(model, kinds, node)
    )
}

/// The place of a node in errors.
pub(super) fn node_place(model: &ModelProto, kinds: &[ScopeKind], node: NodeId) -> ModelPlace {
    ModelPlace::of_node(
        &scope_path(model, kinds, node.scope),
        &name_in_path(model, kinds, node),
    )
}

/// The name of a node as paths show it; `#12:Cast` if it has none.
fn name_in_path<'m>(model: &'m ModelProto, kinds: &[ScopeKind], node: NodeId) -> Cow<'m, str> {
    let proto =
        body(model, kinds, node.scope).and_then(|body| body.nodes().get(node.position as usize));
    match proto.map(|proto| (proto.name(), proto.op_type())) {
        Some(("", op_type)) => format!("#{}:{}", node.position, shortened(op_type)).into(),
        Some((name, _)) => shortened(name),
        None => format!("#{}", node.position).into(),
    }
}
