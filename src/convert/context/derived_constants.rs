//! Constants behind nodes: axes, shapes, pads, scales and bounds that bit-exact nodes, such as `Cast`
//! and `Reshape`, compute from constants.
//!
//! The nodes are folded for the conversion only, as a model of their own, by the exact passes: these
//! decide what is exact, and their result is verified like that of any other model. A node that
//! needs the constant gets it. The others stay as they are, except nodes whose results are then
//! unused.

use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::base::hash::{HashMap, HashSet};
use crate::convert::make;
use crate::convert::simplify::{CheckOfPasses, simplified};
use crate::graph::{Attribute, Model, NodeId, NotConstant, ScopeId, ValueId};
use crate::ops::compute;
use crate::ops::inference::{Deferred, Known};
use crate::protobuf::ir_version;
use crate::protobuf::raw;
use crate::protobuf::schema::{GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto};
use crate::tensor::{Tensor, element_count};
use onnx_cast::Contested;

/// The most nodes that compute a constant: what looks at each value stays proportional to the
/// model.
const MOST_NODES: usize = 64;

/// The most elements of a constant that is read: axes, shapes and scales have fewer, weights more.
const MOST_ELEMENTS: u64 = 1 << 16;

/// The constants that were asked for.
pub(in crate::convert) struct DerivedConstants {
    contested: Option<Contested>,
    check: Option<CheckOfPasses>,
    /// By value; `None` if it is not the same in every run.
    known: RefCell<HashMap<ValueId, Option<TensorProto>>>,
}

impl DerivedConstants {
    /// No constants yet. Each will be checked, if there is a check.
    pub fn new(contested: Option<Contested>, check: Option<CheckOfPasses>) -> DerivedConstants {
        DerivedConstants {
            contested,
            check,
            known: RefCell::default(),
        }
    }

    /// The tensor of a value that bit-exact nodes compute from constants.
    pub fn of(&self, model: &Model, inferred: &Deferred, value: ValueId) -> Option<TensorProto> {
        if let Some(known) = self.known.borrow().get(&value) {
            return known.clone();
        }
        let derived = computation(model, inferred, value).and_then(|part| {
            let folded = simplified(part, self.contested, self.check).ok()?;
            let value = folded.lookup(ScopeId::MAIN, model.name(value))?;
            let mut tensor = folded
                .constant(last(&folded, value))
                .ok()?
                .tensor
                .into_owned();
            tensor.name = None;
            Some(tensor)
        });
        self.known.borrow_mut().insert(value, derived.clone());
        derived
    }
}

/// The value that an `Identity` returns, or the value itself.
fn last(model: &Model, mut value: ValueId) -> ValueId {
    while let Some(input) = model
        .producer(value)
        .filter(|&node| model.is_op(node, "Identity"))
        .and_then(|node| model.input(node, 0))
    {
        value = input;
    }
    value
}

/// The nodes and constants that a value is computed from, as a model; `None` if it depends on more.
fn computation(model: &Model, inferred: &Deferred, value: ValueId) -> Option<Model> {
    let (mut nodes, mut seen) = (BTreeSet::new(), HashSet::default());
    let mut graph = raw::GraphProto {
        output: vec![make::typed(model.name(value), &Known::default())],
        ..raw::GraphProto::default()
    };
    let mut next = vec![value];
    while let Some(value) = next.pop() {
        if !seen.insert(value) {
            continue;
        }
        if model.shadows(value) || model.is_shadowed(value) {
            return None;
        }
        match model.constant(value) {
            Ok(constant) => {
                let tensor = loaded(model, &constant.tensor, model.name(value))?;
                graph.initializer.push(tensor);
            }
            Err(NotConstant::Computed) => {
                let node = computing(model, value)?;
                if !nodes.insert(node) {
                    continue;
                }
                if nodes.len() > MOST_NODES {
                    return None;
                }
                for (index, input) in model.inputs(node) {
                    if is_read_for_type(model, node, index, input) {
                        if seen.insert(input) {
                            let known = inferred.of(model).of(input);
                            graph.input.push(make::typed(model.name(input), known));
                        }
                    } else {
                        next.push(input);
                    }
                }
            }
            Err(_) => return None,
        }
    }
    let opset = model.opset(nodes.first()?.scope, "")?;
    let nodes = nodes.into_iter().map(|node| resolved(model, node));
    graph.node = nodes.collect::<Option<_>>()?;
    let proto = ModelProto::from(raw::ModelProto {
        ir_version: Some(ir_version::LATEST),
        opset_import: vec![OperatorSetIdProto::from(raw::OperatorSetIdProto {
            domain: Some(String::new()),
            version: Some(opset),
        })],
        graph: Some(GraphProto::from(graph)),
        ..raw::ModelProto::default()
    });
    Model::new(proto).ok()
}

/// The inputs of a node that computes a constant, except one of which only the type is read.
pub(in crate::convert) fn constant_inputs(
    model: &Model,
    node: NodeId,
) -> impl Iterator<Item = ValueId> {
    let is_read =
        move |&(index, value): &(u32, ValueId)| !is_read_for_type(model, node, index, value);
    model.inputs(node).filter(is_read).map(|(_, value)| value)
}

/// Whether a node reads only the type of an input.
fn is_read_for_type(model: &Model, node: NodeId, index: u32, value: ValueId) -> bool {
    index == 1 && model.is_op(node, "CastLike") && model.constant(value).is_err()
}

/// The bit-exact node that computes a value.
fn computing(model: &Model, value: ValueId) -> Option<NodeId> {
    let node = model.producer(value)?;
    (model.is_cast(node) || compute::operator(model, node).is_some()).then_some(node)
}

/// A node with the values of the attributes that refer to those of its function.
fn resolved(model: &Model, id: NodeId) -> Option<NodeProto> {
    let mut node = model.node(id).clone();
    let mut attributes = Vec::new();
    for attribute in &node.attribute {
        match model.resolve(id.scope, attribute) {
            Attribute::Is(value) => {
                let mut value = value.clone();
                value.name.clone_from(&attribute.name);
                attributes.push(value);
            }
            Attribute::Absent => {}
            Attribute::Unclear => return None,
        }
    }
    node.attribute = attributes;
    Some(node)
}

/// A constant with its values, unless they are many.
fn loaded(model: &Model, proto: &TensorProto, name: &str) -> Option<TensorProto> {
    let tensor = Tensor::read(proto).ok()?;
    element_count(tensor.dims()).filter(|&elements| elements <= MOST_ELEMENTS)?;
    Some(tensor.load(model.data()).ok()?.into_tensor(name))
}
