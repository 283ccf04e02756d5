//! The messages that passes make have one form: they contain nothing else.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::canonical_form::{constant_form, constant_forms, is_small, moved_form};
use super::fault::Fault;
use super::matching::Matching;
use super::unchanged_fields::compare;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{NodeId, ScopeId, holds_graph};
use crate::protobuf::outline::{ATTRIBUTE_PROTO, TENSOR_PROTO, VALUE_INFO_PROTO};
use crate::protobuf::raw::tensor_shape_proto::dimension;
use crate::protobuf::schema::{AttributeProto, NodeProto, TensorProto, ValueInfoProto};
use crate::protobuf::{Field, raw};

/// The forms of nodes of the original, by graph or function: a cast may move out of a subgraph.
type Forms = HashMap<ScopeId, HashSet<Vec<u8>>>;

/// Nodes of the original, by scope and by what they have besides inputs and outputs.
type ByForm = HashMap<(ScopeId, Vec<u8>), Vec<NodeId>>;

/// The nodes of the original, without what passes change. Only the operators that are looked up are
/// read.
pub(super) struct NewMessages<'m> {
    matching: &'m Matching<'m>,
    by_operator: OnceLock<HashMap<&'m str, Vec<NodeId>>>,
    known: Mutex<HashMap<&'m str, Forms>>,
    constants: OnceLock<Forms>,
    missing: OnceLock<HashMap<&'m str, ByForm>>,
}

impl<'m> NewMessages<'m> {
    pub fn new(matching: &'m Matching<'m>) -> NewMessages<'m> {
        NewMessages {
            matching,
            by_operator: OnceLock::new(),
            known: Mutex::default(),
            constants: OnceLock::new(),
            missing: OnceLock::new(),
        }
    }

    /// The fields of a new cast, data movement or `Constant` besides its inputs and outputs must be
    /// what a node of the original has in the same graph or function: passes move nodes, and turn a
    /// node into a `Constant`.
    pub fn node(&self, node: NodeId) -> Vec<Fault> {
        let model = self.matching.written;
        let (path, proto) = (model.node_path(node), model.node(node));
        let root = self
            .matching
            .original_scope(node.scope)
            .map(|scope| self.matching.original.root(scope));
        let mut faults = Vec::new();
        let is_known = if proto.op_type() == "Constant" {
            faults.extend(self.constant(&path, node));
            let form = constant_form(proto);
            match self.matching.node(node) {
                Some(counterpart) => {
                    constant_forms(self.matching.original.node(counterpart)).contains(&form)
                }
                None => root
                    .and_then(|root| self.constants().get(&root))
                    .is_some_and(|forms| forms.contains(&form)),
            }
        } else {
            root.is_some_and(|root| self.is_known(root, proto))
        };
        if !is_known {
            faults.push(Fault::at(
                path,
                "has a name, attributes or metadata that no node of the original has",
            ));
        }
        faults
    }

    /// The nodes of the original that a cast or data movement may be under the name of another
    /// result: they have all that it has besides inputs and outputs, and their results are missing.
    pub fn renamed(&self, node: NodeId) -> &[NodeId] {
        let proto = self.matching.written.node(node);
        let Some(scope) = self.matching.original_scope(node.scope) else {
            return &[];
        };
        let Some(missing) = self.missing().get(proto.op_type()) else {
            return &[];
        };
        missing
            .get(&(scope, moved_form(proto)))
            .map_or(&[], Vec::as_slice)
    }

    /// The nodes of the original that have no tensors and whose results are missing, by operator,
    /// scope and form.
    fn missing(&self) -> &HashMap<&'m str, ByForm> {
        self.missing.get_or_init(|| {
            let (original, written) = (self.matching.original, self.matching.written);
            let mut missing: HashMap<&str, ByForm> = HashMap::default();
            for (scope, counterpart) in self
                .matching
                .scopes()
                .filter_map(|(scope, of)| Some((scope, of?)))
            {
                let is_missing = |&node: &NodeId| {
                    let node = original.node(node);
                    let mut results = node.output.iter();
                    is_small(node)
                        && results
                            .all(|name| name.is_empty() || written.defined(scope, name).is_none())
                };
                for node in original.nodes(counterpart).filter(is_missing) {
                    let proto = original.node(node);
                    let of_operator = missing.entry(proto.op_type()).or_default();
                    of_operator
                        .entry((counterpart, moved_form(proto)))
                        .or_default()
                        .push(node);
                }
            }
            missing
        })
    }

    fn by_operator(&self) -> &HashMap<&'m str, Vec<NodeId>> {
        self.by_operator.get_or_init(|| {
            let original = self.matching.original;
            let mut nodes: HashMap<&str, Vec<NodeId>> = HashMap::default();
            for node in original.scopes().flat_map(|scope| original.nodes(scope)) {
                nodes
                    .entry(original.node(node).op_type())
                    .or_default()
                    .push(node);
            }
            nodes
        })
    }

    /// Whether a node of the original in a graph or function has all that a node has besides inputs
    /// and outputs.
    fn is_known(&self, root: ScopeId, proto: &NodeProto) -> bool {
        let original = self.matching.original;
        let Some((&operator, nodes)) = self.by_operator().get_key_value(proto.op_type()) else {
            return false;
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let forms = known.entry(operator).or_insert_with(|| {
            let mut forms = Forms::default();
            for &node in nodes.iter().filter(|&&node| is_small(original.node(node))) {
                forms
                    .entry(original.root(node.scope))
                    .or_default()
                    .insert(moved_form(original.node(node)));
            }
            forms
        });
        forms
            .get(&root)
            .is_some_and(|forms| forms.contains(&moved_form(proto)))
    }

    /// The forms of constants in place of the nodes of the original.
    fn constants(&self) -> &Forms {
        self.constants.get_or_init(|| {
            let original = self.matching.original;
            let mut forms = Forms::default();
            for node in original.scopes().flat_map(|scope| original.nodes(scope)) {
                let proto = original.node(node);
                if !holds_graph(proto) {
                    forms
                        .entry(original.root(node.scope))
                        .or_default()
                        .extend(constant_forms(proto));
                }
            }
            forms
        })
    }

    /// A new `Constant` has a tensor and nothing else.
    fn constant(&self, path: &str, node: NodeId) -> Vec<Fault> {
        let model = self.matching.written;
        let proto = model.node(node);
        let [attribute] = proto.attribute.as_slice() else {
            return vec![Fault::at(path, "must have one attribute")];
        };
        let Some(tensor) = attribute.t.as_ref().filter(|_| proto.input.is_empty()) else {
            return vec![Fault::at(path, "must have a tensor, and no inputs")];
        };
        let expected = AttributeProto::tensor("value", plain(tensor, None));
        let mut found = attribute.clone();
        found.t = Some(without_values(tensor));
        compare(
            path,
            &ATTRIBUTE_PROTO,
            [model, model],
            [&expected, &found],
            |_, _, _| false,
        )
    }

    /// A new initializer has a type, a shape, a name and values.
    pub fn initializer(&self, scope: ScopeId, tensor: &TensorProto) -> Vec<Fault> {
        let model = self.matching.written;
        let path = format!("{}/{}", model.scope_path(scope), tensor.name());
        let protos = [&plain(tensor, tensor.name.clone()), &without_values(tensor)];
        compare(&path, &TENSOR_PROTO, [model, model], protos, |_, _, _| {
            false
        })
    }

    /// The input that lists a new initializer, as IR 3 requires, has its type and shape.
    pub fn listed(
        &self,
        scope: ScopeId,
        tensor: &TensorProto,
        input: &ValueInfoProto,
    ) -> Vec<Fault> {
        let model = self.matching.written;
        let path = format!("{}.input[{}]", model.scope_path(scope), tensor.name());
        let dim = |&size: &i64| {
            raw::tensor_shape_proto::Dimension {
                value: Some(dimension::Value::DimValue(size)),
                ..Default::default()
            }
            .into()
        };
        let shape = raw::TensorShapeProto {
            dim: tensor.dims.iter().map(dim).collect(),
        };
        let of = raw::type_proto::Tensor {
            elem_type: tensor.data_type,
            shape: Some(shape.into()),
        };
        let stated = raw::TypeProto {
            value: Some(raw::type_proto::Value::TensorType(of.into())),
            ..Default::default()
        };
        let expected: ValueInfoProto = raw::ValueInfoProto {
            name: tensor.name.clone(),
            r#type: Some(stated.into()),
            ..Default::default()
        }
        .into();
        compare(
            &path,
            &VALUE_INFO_PROTO,
            [model, model],
            [&expected, input],
            |_, _, _| false,
        )
    }
}

/// A tensor with the type and shape of another one, and with nothing else.
fn plain(tensor: &TensorProto, name: Option<String>) -> TensorProto {
    raw::TensorProto {
        dims: tensor.dims.clone(),
        data_type: tensor.data_type,
        name,
        ..Default::default()
    }
    .into()
}

/// A tensor without its values, which are compared elsewhere: they may be large.
fn without_values(tensor: &TensorProto) -> TensorProto {
    let mut tensor = tensor.clone();
    if !tensor.external_data.is_empty() {
        tensor.data_location = None;
    }
    tensor.string_data.clear();
    tensor.external_data.clear();
    let is_value = |field: &Field| {
        TENSOR_PROTO
            .field(field.tag)
            .is_some_and(|of| of.name.ends_with("_data"))
    };
    tensor.rest_mut().retain(|field| !is_value(field));
    tensor
}
