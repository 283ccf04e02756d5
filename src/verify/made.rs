//! The messages that passes make have one form: they contain nothing else.

use std::cell::OnceCell;

use prost::Message as _;

use super::bystanders::compare;
use super::fault::Fault;
use super::pairs::Pairs;
use crate::base::hash::{HashMap, HashSet};
use crate::graph::{NodeId, ScopeId};
use crate::protobuf::outline::{ATTRIBUTE_PROTO, TENSOR_PROTO, VALUE_INFO_PROTO};
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::raw::tensor_shape_proto::dimension;
use crate::protobuf::schema::{AttributeProto, NodeProto, TensorProto, ValueInfoProto};
use crate::protobuf::{Field, raw};

/// The nodes of the original, without what passes change.
pub(super) struct Made<'m> {
    pairs: &'m Pairs<'m>,
    known: OnceCell<HashMap<ScopeId, HashSet<Vec<u8>>>>,
}

impl<'m> Made<'m> {
    pub fn new(pairs: &'m Pairs<'m>) -> Made<'m> {
        Made { pairs, known: OnceCell::new() }
    }

    /// The fields of a new cast, data movement or `Constant` besides its inputs and outputs must be what a node of the original has in the
    /// same scope: passes move nodes, and turn a node into a `Constant`.
    pub fn node(&self, node: NodeId) -> Vec<Fault> {
        let model = self.pairs.written;
        let (path, proto) = (model.node_path(node), model.node(node));
        let mut faults = Vec::new();
        let form = match proto.op_type() {
            "Constant" => {
                faults.extend(self.constant(&path, node));
                constant_form(proto)
            }
            _ => moved_form(proto),
        };
        let is_known = match self.pairs.node(node).filter(|_| proto.op_type() == "Constant") {
            Some(counterpart) => constant_forms(self.pairs.original.node(counterpart)).contains(&form),
            None => {
                let scope = self.pairs.scopes().find(|(scope, _)| *scope == node.scope).and_then(|(_, counterpart)| counterpart);
                scope.and_then(|scope| self.known().get(&scope)).is_some_and(|forms| forms.contains(&form))
            }
        };
        if !is_known {
            faults.push(Fault::at(path, "has a name, attributes or metadata that no node of the original has"));
        }
        faults
    }

    /// The forms of the nodes of the original, by scope.
    fn known(&self) -> &HashMap<ScopeId, HashSet<Vec<u8>>> {
        self.known.get_or_init(|| {
            let original = self.pairs.original;
            let mut known: HashMap<ScopeId, HashSet<Vec<u8>>> = HashMap::default();
            for node in original.scopes().flat_map(|scope| original.nodes(scope)) {
                let proto = original.node(node);
                if proto.attribute.iter().any(|attribute| attribute.g.is_some() || !attribute.rare().graphs.is_empty()) {
                    continue;
                }
                let forms = known.entry(node.scope).or_default();
                forms.extend(constant_forms(proto));
                // A tensor may be large, and nothing that moves has one.
                if proto.attribute.iter().all(|attribute| attribute.t.is_none()) {
                    forms.insert(moved_form(proto));
                }
            }
            known
        })
    }

    /// A new `Constant` has a tensor and nothing else.
    fn constant(&self, path: &str, node: NodeId) -> Vec<Fault> {
        let model = self.pairs.written;
        let proto = model.node(node);
        let [attribute] = proto.attribute.as_slice() else {
            return vec![Fault::at(path, "must have one attribute")];
        };
        let Some(tensor) = attribute.t.as_ref().filter(|_| proto.input.is_empty()) else {
            return vec![Fault::at(path, "must have a tensor, and no inputs")];
        };
        let expected: AttributeProto = raw::AttributeProto {
            name: Some("value".to_owned()),
            r#type: Some(AttributeType::Tensor.into()),
            t: Some(plain(tensor, None)),
            ..Default::default()
        }
        .into();
        let mut found = attribute.clone();
        found.t = Some(without_values(tensor));
        compare(path, &ATTRIBUTE_PROTO, [model, model], [&expected, &found], |_, _, _| false)
    }

    /// A new initializer has a type, a shape, a name and values.
    pub fn initializer(&self, scope: ScopeId, tensor: &TensorProto) -> Vec<Fault> {
        let model = self.pairs.written;
        let path = format!("{}/{}", model.scope_path(scope), tensor.name());
        let protos = [&plain(tensor, tensor.name.clone()), &without_values(tensor)];
        compare(&path, &TENSOR_PROTO, [model, model], protos, |_, _, _| false)
    }

    /// The input that lists a new initializer, as IR 3 requires, has its type and shape.
    pub fn listed(&self, scope: ScopeId, tensor: &TensorProto, input: &ValueInfoProto) -> Vec<Fault> {
        let model = self.pairs.written;
        let path = format!("{}.input[{}]", model.scope_path(scope), tensor.name());
        let dim = |&size: &i64| {
            raw::tensor_shape_proto::Dimension { value: Some(dimension::Value::DimValue(size)), ..Default::default() }.into()
        };
        let shape = raw::TensorShapeProto { dim: tensor.dims.iter().map(dim).collect() };
        let of = raw::type_proto::Tensor { elem_type: tensor.data_type, shape: Some(shape.into()) };
        let stated = raw::TypeProto { value: Some(raw::type_proto::Value::TensorType(of.into())), ..Default::default() };
        let expected: ValueInfoProto =
            raw::ValueInfoProto { name: tensor.name.clone(), r#type: Some(stated.into()), ..Default::default() }.into();
        compare(&path, &VALUE_INFO_PROTO, [model, model], [&expected, input], |_, _, _| false)
    }
}

/// A tensor with the type and shape of another one, and with nothing else.
fn plain(tensor: &TensorProto, name: Option<String>) -> TensorProto {
    raw::TensorProto { dims: tensor.dims.clone(), data_type: tensor.data_type, name, ..Default::default() }.into()
}

/// A tensor without its values, which are compared elsewhere: they may be large.
fn without_values(tensor: &TensorProto) -> TensorProto {
    let mut tensor = tensor.clone();
    if !tensor.external_data.is_empty() {
        tensor.data_location = None;
    }
    tensor.string_data.clear();
    tensor.external_data.clear();
    let is_value = |field: &Field| TENSOR_PROTO.field(field.tag).is_some_and(|of| of.name.ends_with("_data"));
    tensor.rest_mut().retain(|field| !is_value(field));
    tensor
}

/// A node without the names of its inputs and outputs.
fn moved_form(node: &NodeProto) -> Vec<u8> {
    let mut node = node.clone();
    let marks = |names: &mut Vec<String>| names.iter_mut().filter(|name| !name.is_empty()).for_each(|name| *name = "_".to_owned());
    marks(&mut node.input);
    marks(&mut node.output);
    node.device_configurations.iter_mut().flat_map(|devices| &mut devices.sharding_spec).for_each(|spec| spec.tensor_name = None);
    node.encode_to_vec()
}

/// The forms of the constants in place of a node: of several, only the first has its name.
fn constant_forms(node: &NodeProto) -> Vec<Vec<u8>> {
    let mut nameless = node.clone();
    nameless.name = None;
    let forms = [node, &nameless].into_iter().take(node.output.len().min(2));
    forms.map(constant_form).collect()
}

/// A node without what a `Constant` in its place has not.
fn constant_form(node: &NodeProto) -> Vec<u8> {
    let mut node = node.clone();
    node.op_type = Some("Constant".to_owned());
    (node.input, node.output, node.attribute) = Default::default();
    node.device_configurations.iter_mut().flat_map(|devices| &mut devices.sharding_spec).for_each(|spec| spec.tensor_name = None);
    node.encode_to_vec()
}
