//! Applies a batch of edits to the messages, scope by scope.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::index::Declared;
use super::new_nodes::{self, NewNodes};
use super::query::is_onnx_domain;
use super::scope::{ScopeId, ScopeKind, graph_mut};
use super::tensors::{TensorIn, TensorPlace, attribute_part, sparse_part};
use crate::base::hash::{HashMap, HashSet};
use crate::protobuf::ir_version::OWN_INITIALIZERS;
use crate::protobuf::raw;
use crate::protobuf::schema::{
    AttributeProto, FunctionProto, GraphProto, ModelProto, NodeProto, OperatorSetIdProto,
    TensorProto, TensorShapeProto, TypeProto, ValueInfoProto, tensor_shape_proto, type_proto,
};
use onnx_cast::DType;

/// The changes of one scope; positions are those before any change.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// The position of a node, and the nodes that replace it; of several entries for a node, the
    /// last counts.
    pub nodes: Vec<(u32, NewNodes)>,
    /// Position, index of the input, new name.
    pub inputs: Vec<(u32, u32, String)>,
    /// Position, index of the output, new name.
    pub outputs: Vec<(u32, u32, String)>,
    /// Position, name of the attribute that is replaced, new attribute.
    pub attributes: Vec<(u32, Cow<'static, str>, AttributeProto)>,
    /// By position: nodes that are inserted before it.
    pub inserted: BTreeMap<u32, Vec<NodeProto>>,
    /// Names, an element type that their declarations may state, and the one that these get.
    pub retyped: HashMap<String, (DType, DType)>,
    /// Tensors that replace a tensor.
    pub tensors: Vec<(TensorPlace, TensorProto)>,
    /// New initializers.
    pub added: Vec<TensorProto>,
    /// The place of a declaration, and its new type.
    pub declared: Vec<(Declared, DType)>,
    /// Values that were not declared, and their types.
    pub newly_declared: Vec<(String, DType)>,
    /// Names of initializers that are removed.
    pub removed: HashSet<String>,
}

/// Changes the messages. Inner scopes come first, so that the positions that lead to them stay
/// valid.
pub(super) fn apply_changes(
    model: &mut ModelProto,
    kinds: &[ScopeKind],
    mut changes: HashMap<ScopeId, Changes>,
) {
    let lists_initializers = model.ir_version() < OWN_INITIALIZERS;
    for scope in (0..kinds.len() as u32).rev().map(ScopeId) {
        let Some(mut change) = changes.remove(&scope) else {
            continue;
        };
        let mut body = body_mut(model, kinds, scope).expect("a scope of this model has a body");
        for (place, with) in std::mem::take(&mut change.tensors) {
            if let Some(tensor) = body.tensor(place) {
                *tensor = with;
            }
        }
        match body {
            BodyMut::Graph(graph) => change.apply_to_graph(graph, lists_initializers),
            BodyMut::Function(function) => {
                change.retype(&mut function.value_info);
                change.declare(&mut [], &mut [], &mut function.value_info);
                if !function.value_info.is_empty() {
                    let gone = change.gone(&function.node);
                    function
                        .value_info
                        .retain(|info| !gone.contains(info.name()));
                }
                change.apply_to_nodes(&mut function.node);
            }
        }
    }
}

/// Sets the opset of ai.onnx of a function or the model: in every import of the domain, or in a new
/// one.
pub(super) fn set_opset(model: &mut ModelProto, root: ScopeKind, version: i64) {
    let imports = match root {
        ScopeKind::Function(index) => &mut model.functions[index as usize].opset_import,
        _ => &mut model.opset_import,
    };
    let mut is_stated = false;
    for import in imports
        .iter_mut()
        .filter(|import| is_onnx_domain(import.domain()))
    {
        import.version = Some(version);
        is_stated = true;
    }
    if !is_stated {
        imports.push(OperatorSetIdProto::from(raw::OperatorSetIdProto {
            domain: Some(String::new()),
            version: Some(version),
        }));
    }
}

/// Adds a function at a position among those of the model, and imports its domain.
pub(super) fn add_function(model: &mut ModelProto, position: usize, function: FunctionProto) {
    add_import(&mut model.opset_import, function.domain(), 1);
    model.functions.insert(position, function);
}

/// Imports a domain in a function.
pub(super) fn import_domain(
    model: &mut ModelProto,
    function: ScopeKind,
    domain: &str,
    version: i64,
) {
    if let ScopeKind::Function(index) = function {
        add_import(
            &mut model.functions[index as usize].opset_import,
            domain,
            version,
        );
    }
}

/// Adds an import of a domain, unless there is one.
fn add_import(imports: &mut Vec<OperatorSetIdProto>, domain: &str, version: i64) {
    if !imports.iter().any(|import| import.domain() == domain) {
        imports.push(
            raw::OperatorSetIdProto {
                domain: Some(domain.to_owned()),
                version: Some(version),
            }
            .into(),
        );
    }
}

/// Removes initializers of the main graph from its inputs.
pub(super) fn freeze_initializers(model: &mut ModelProto, names: &HashSet<String>) {
    if let Some(graph) = model.graph.as_mut().filter(|_| !names.is_empty()) {
        graph.input.retain(|input| !names.contains(input.name()));
    }
}

pub(super) enum BodyMut<'m> {
    Graph(&'m mut GraphProto),
    Function(&'m mut FunctionProto),
}

impl BodyMut<'_> {
    pub(super) fn nodes(&mut self) -> &mut Vec<NodeProto> {
        match self {
            BodyMut::Graph(graph) => &mut graph.node,
            BodyMut::Function(function) => &mut function.node,
        }
    }

    pub(super) fn declaration(&mut self, place: Declared) -> Option<&mut ValueInfoProto> {
        let (list, index) = match (place, self) {
            (Declared::Input(index), BodyMut::Graph(graph)) => (&mut graph.input, index),
            (Declared::Output(index), BodyMut::Graph(graph)) => (&mut graph.output, index),
            (Declared::ValueInfo(index), BodyMut::Graph(graph)) => (&mut graph.value_info, index),
            (Declared::ValueInfo(index), BodyMut::Function(function)) => {
                (&mut function.value_info, index)
            }
            (Declared::Input(_) | Declared::Output(_), BodyMut::Function(_)) => return None,
        };
        list.get_mut(index as usize)
    }

    pub(super) fn tensor(&mut self, place: TensorPlace) -> Option<&mut TensorProto> {
        match (place.0, self) {
            (TensorIn::Attribute(node, index, part), body) => attribute_part(
                body.nodes()
                    .get_mut(node.position as usize)?
                    .attribute
                    .get_mut(index as usize)?,
                part,
            ),
            (TensorIn::Initializer(_, index), BodyMut::Graph(graph)) => {
                graph.initializer.get_mut(index as usize)
            }
            (TensorIn::Sparse(_, index, part), BodyMut::Graph(graph)) => {
                sparse_part(graph.sparse_initializer.get_mut(index as usize)?, part)
            }
            (TensorIn::Default(_, index, part), BodyMut::Function(function)) => {
                attribute_part(function.attribute_proto.get_mut(index as usize)?, part)
            }
            (TensorIn::Initializer(..) | TensorIn::Sparse(..), BodyMut::Function(_))
            | (TensorIn::Default(..), BodyMut::Graph(_)) => None,
        }
    }
}

pub(super) fn body_mut<'m>(
    model: &'m mut ModelProto,
    kinds: &[ScopeKind],
    scope: ScopeId,
) -> Option<BodyMut<'m>> {
    match kinds[scope.0 as usize] {
        ScopeKind::Main => model.graph.as_mut().map(BodyMut::Graph),
        ScopeKind::Function(index) => model
            .functions
            .get_mut(index as usize)
            .map(BodyMut::Function),
        ScopeKind::Initialization(index) => model
            .training_info
            .get_mut(index as usize)?
            .initialization
            .as_mut()
            .map(BodyMut::Graph),
        ScopeKind::Algorithm(index) => model
            .training_info
            .get_mut(index as usize)?
            .algorithm
            .as_mut()
            .map(BodyMut::Graph),
        ScopeKind::Subgraph {
            owner,
            attribute,
            list_index,
        } => {
            let nodes = match body_mut(model, kinds, owner.scope)? {
                BodyMut::Graph(graph) => &mut graph.node,
                BodyMut::Function(function) => &mut function.node,
            };
            let attribute = nodes
                .get_mut(owner.position as usize)?
                .attribute
                .get_mut(attribute as usize)?;
            graph_mut(attribute, list_index).map(BodyMut::Graph)
        }
    }
}

impl Changes {
    fn apply_to_graph(mut self, graph: &mut GraphProto, lists_initializers: bool) {
        if !self.retyped.is_empty() {
            self.retype(&mut graph.input);
            self.retype(&mut graph.output);
            self.retype(&mut graph.value_info);
        }
        if !self.declared.is_empty() {
            let graph: &mut raw::GraphProto = graph;
            self.declare(&mut graph.input, &mut graph.output, &mut graph.value_info);
        }
        if !graph.value_info.is_empty() {
            let gone = self.gone(&graph.node);
            graph.value_info.retain(|info| !gone.contains(info.name()));
        }
        for (name, dtype) in std::mem::take(&mut self.newly_declared) {
            graph
                .value_info
                .push(value_info(Some(name), dtype.number(), None));
        }
        if !self.removed.is_empty() {
            graph
                .initializer
                .retain(|tensor| !self.removed.contains(tensor.name()));
            graph
                .input
                .retain(|input| !self.removed.contains(input.name()));
        }
        for tensor in std::mem::take(&mut self.added) {
            if lists_initializers {
                graph.input.push(input(&tensor));
            }
            graph.initializer.push(tensor);
        }
        self.apply_to_nodes(&mut graph.node);
    }

    /// Changes the element types of declarations. Messages of other names are not borrowed mutably,
    /// and keep their bytes.
    fn retype(&self, infos: &mut [ValueInfoProto]) {
        for info in infos {
            let Some(&(from, dtype)) = self.retyped.get(info.name()) else {
                continue;
            };
            if let Some(stated) = info.r#type.as_mut() {
                set_element_type(stated, from, dtype);
            }
        }
    }

    fn declare(
        &self,
        inputs: &mut [ValueInfoProto],
        outputs: &mut [ValueInfoProto],
        infos: &mut [ValueInfoProto],
    ) {
        for &(place, dtype) in &self.declared {
            let info = match place {
                Declared::Input(index) => inputs.get_mut(index as usize),
                Declared::Output(index) => outputs.get_mut(index as usize),
                Declared::ValueInfo(index) => infos.get_mut(index as usize),
            };
            let value = info
                .and_then(|info| info.r#type.as_mut())
                .and_then(|stated| stated.value.as_mut());
            if let Some(raw::type_proto::Value::TensorType(tensor)) = value {
                tensor.elem_type = Some(dtype.number());
            }
        }
    }

    /// Names that are no longer defined: removed initializers, and outputs that are renamed or that
    /// no new node produces.
    fn gone(&self, nodes: &[NodeProto]) -> HashSet<String> {
        let mut gone = self.removed.clone();
        for (position, new) in &self.nodes {
            // Most nodes are replaced by nodes that define the same names.
            let new = new.outputs();
            gone.extend(
                nodes[*position as usize]
                    .output
                    .iter()
                    .filter(|name| !new.contains(&name.as_bytes()))
                    .cloned(),
            );
        }
        gone.extend(
            self.outputs
                .iter()
                .filter_map(|(position, output, _)| {
                    nodes[*position as usize].output.get(*output as usize)
                })
                .cloned(),
        );
        if gone.is_empty() {
            return gone;
        }
        let added = self.added.iter().map(|tensor| tensor.name().as_bytes());
        let renamed = self.outputs.iter().map(|(_, _, name)| name.as_bytes());
        let inserted = self
            .inserted
            .values()
            .flatten()
            .flat_map(|node| &node.output)
            .map(String::as_bytes);
        let replacing = self.nodes.iter().flat_map(|(_, new)| new.outputs());
        let defined: HashSet<&[u8]> = added
            .chain(renamed)
            .chain(inserted)
            .chain(replacing)
            .collect();
        gone.retain(|name| !defined.contains(name.as_bytes()));
        gone
    }

    fn apply_to_nodes(mut self, nodes: &mut Vec<NodeProto>) {
        // Device configurations refer to a node's inputs and outputs by name.
        let mut renamed: HashMap<u32, HashMap<String, String>> = HashMap::default();
        let names_of: [fn(&mut NodeProto) -> &mut Vec<String>; 2] =
            [|node| &mut node.input, |node| &mut node.output];
        for (changes, names) in [self.inputs, self.outputs].into_iter().zip(names_of) {
            for (position, index, new) in changes {
                let node = &mut nodes[position as usize];
                let is_configured = !node.device_configurations.is_empty();
                if let Some(name) = names(node).get_mut(index as usize) {
                    let old = std::mem::replace(name, new.clone());
                    if is_configured {
                        renamed.entry(position).or_default().insert(old, new);
                    }
                }
            }
        }
        for (position, name, with) in self.attributes {
            let attributes = &mut nodes[position as usize].attribute;
            match attributes
                .iter_mut()
                .find(|attribute| attribute.name() == name)
            {
                Some(attribute) => *attribute = with,
                None => attributes.push(with),
            }
        }
        #[expect(
            clippy::iter_over_hash_type,
            reason = "each entry changes another node"
        )]
        for (position, names) in renamed {
            let configurations = nodes[position as usize].device_configurations.iter_mut();
            for spec in configurations.flat_map(|configuration| &mut configuration.sharding_spec) {
                if let Some(name) = names.get(spec.tensor_name()) {
                    spec.tensor_name = Some(name.clone());
                }
            }
        }
        if self.nodes.is_empty() && self.inserted.is_empty() {
            return;
        }
        self.nodes.sort_by_key(|&(position, _)| position);
        let mut replacements = std::mem::take(&mut self.nodes);
        // Of several entries for a node, the last counts.
        replacements.dedup_by(|next, kept| {
            let is_same = next.0 == kept.0;
            if is_same {
                std::mem::swap(next, kept);
            }
            is_same
        });
        *nodes = new_nodes::replace(std::mem::take(nodes), replacements, self.inserted);
    }
}

/// Changes the element type of a tensor, or of the tensors in a sequence or an optional value, from
/// one to another. Any other one, and one that is not stated, stays so.
pub(crate) fn set_element_type(stated: &mut TypeProto, from: DType, dtype: DType) {
    use raw::type_proto::Value;
    let set = |number: &mut Option<i32>| {
        if *number == Some(from.number()) {
            *number = Some(dtype.number());
        }
    };
    let inner = match stated.value.as_mut() {
        Some(Value::TensorType(tensor)) => return set(&mut tensor.elem_type),
        Some(Value::SparseTensorType(tensor)) => return set(&mut tensor.elem_type),
        Some(Value::SequenceType(sequence)) => sequence.elem_type.as_deref_mut(),
        Some(Value::OptionalType(optional)) => optional.elem_type.as_deref_mut(),
        Some(Value::MapType(_) | Value::OpaqueType(_)) | None => None,
    };
    if let Some(inner) = inner {
        set_element_type(inner, from, dtype);
    }
}

/// The input that lists an initializer.
fn input(tensor: &TensorProto) -> ValueInfoProto {
    let dim = |&size: &i64| {
        tensor_shape_proto::Dimension::from(raw::tensor_shape_proto::Dimension {
            value: Some(raw::tensor_shape_proto::dimension::Value::DimValue(size)),
            ..Default::default()
        })
    };
    let shape = TensorShapeProto::from(raw::TensorShapeProto {
        dim: tensor.dims.iter().map(dim).collect(),
    });
    value_info(tensor.name.clone(), tensor.data_type(), Some(shape))
}

/// The declaration of a tensor.
fn value_info(
    name: Option<String>,
    data_type: i32,
    shape: Option<TensorShapeProto>,
) -> ValueInfoProto {
    let tensor = type_proto::Tensor::from(raw::type_proto::Tensor {
        elem_type: Some(data_type),
        shape,
    });
    let r#type = TypeProto::from(raw::TypeProto {
        value: Some(raw::type_proto::Value::TensorType(tensor)),
        ..Default::default()
    });
    ValueInfoProto::from(raw::ValueInfoProto {
        name,
        r#type: Some(r#type),
        ..Default::default()
    })
}
