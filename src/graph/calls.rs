//! Model-local functions and the nodes that call them.

use std::collections::HashMap;

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::index::{Argument, Index};
use super::model::Model;
use super::query::is_onnx_domain;
use super::scope::{self, Body, NodeId, ScopeId, ScopeKind};
use crate::protobuf::raw;
use crate::protobuf::schema::{AttributeProto, ModelProto, NodeProto};

/// An attribute of a node, resolved through the callers of the function that contains the node.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Attribute<'m> {
    /// The node does not have it, or it refers to an attribute of the function that no call gives a
    /// value and that has no default.
    Absent,
    /// The attribute, resolved.
    Is(&'m AttributeProto),
    /// The attribute refers to an attribute of the function. The callers do not all give that the
    /// same value, or there are no callers.
    Unclear,
}

impl<'m> Attribute<'m> {
    /// Its value; `None` if it is absent or unclear.
    #[must_use]
    pub fn value(self) -> Option<&'m AttributeProto> {
        match self {
            Attribute::Is(attribute) => Some(attribute),
            Attribute::Absent | Attribute::Unclear => None,
        }
    }
}

/// # Calls of functions
impl Model {
    /// The scope of the model-local function that a node calls.
    #[must_use]
    pub fn callee(&self, node: NodeId) -> Option<ScopeId> {
        callee(&self.index, self.node(node))
    }

    /// Whether a node applies this operator of ONNX's own domain, and not a model-local function of
    /// that name.
    #[must_use]
    pub fn is_op(&self, node: NodeId, operator: &str) -> bool {
        let proto = self.node(node);
        proto.op_type() == operator && is_onnx_domain(proto.domain()) && self.callee(node).is_none()
    }

    /// The nodes that call a function, in any scope.
    #[must_use]
    pub fn callers(&self, function: ScopeId) -> &[NodeId] {
        self.index.callers.get(&function).map_or(&[], Vec::as_slice)
    }

    /// An attribute of a node. In a function it may refer to one of the function's attributes: its
    /// value is then the one that every call of the function gives it, or leaves to the function's
    /// default. If no call gives it a value, and the function has no default, the node does not
    /// have it.
    #[must_use]
    pub fn attribute(&self, node: NodeId, name: &str) -> Attribute<'_> {
        let Some(attribute) = self
            .node(node)
            .attribute
            .iter()
            .find(|attribute| attribute.name() == name)
        else {
            return Attribute::Absent;
        };
        self.resolve(node.scope, attribute)
    }

    /// Like [`Model::attribute`], for an attribute that a node of a scope has or gets.
    pub(crate) fn resolve<'a>(
        &'a self,
        scope: ScopeId,
        attribute: &'a AttributeProto,
    ) -> Attribute<'a> {
        match resolved(&self.proto, &self.index, scope, attribute) {
            Ok(Some((_, attribute))) => Attribute::Is(attribute),
            Ok(None) => Attribute::Absent,
            Err(Unclear) => Attribute::Unclear,
        }
    }
}

/// The key that a call shares with the function it calls.
pub(super) fn function_key(domain: &str, name: &str, overload: &str) -> [String; 3] {
    let domain = if is_onnx_domain(domain) { "" } else { domain };
    [domain.to_owned(), name.to_owned(), overload.to_owned()]
}

fn callee(index: &Index, call: &NodeProto) -> Option<ScopeId> {
    if index.functions.is_empty() {
        return None;
    }
    index
        .functions
        .get(&function_key(
            call.domain(),
            call.op_type(),
            call.overload(),
        ))
        .copied()
}

/// Finds the nodes that call functions.
pub(super) fn note_callers(model: &ModelProto, index: &mut Index) {
    if index.functions.is_empty() {
        return;
    }
    for scope in (0..index.kinds.len() as u32).map(ScopeId) {
        let nodes = scope::body(model, &index.kinds, scope).map_or(&[][..], Body::nodes);
        for (position, node) in (0..).zip(nodes) {
            if let Some(function) = callee(index, node) {
                index
                    .callers
                    .entry(function)
                    .or_default()
                    .push(NodeId { scope, position });
            }
        }
    }
}

/// The attribute in which the value of an argument is.
fn value<'m>(
    model: &'m ModelProto,
    index: &Index,
    argument: Argument,
) -> Option<&'m AttributeProto> {
    match argument {
        Argument::Call(call, position) => {
            let node = scope::body(model, &index.kinds, call.scope)?
                .nodes()
                .get(call.position as usize)?;
            node.attribute.get(position as usize)
        }
        Argument::Default(function, position) => {
            match scope::body(model, &index.kinds, function)? {
                Body::Function(function) => function.attribute_proto.get(position as usize),
                Body::Graph(_) => None,
            }
        }
    }
}

/// Finds the values that the calls of each function give its attributes. Each attribute of each
/// call is read once. Callers come before the functions that they call, so that what they pass on
/// is known.
pub(super) fn note_arguments(model: &ModelProto, index: &mut Index) {
    for function in callers_first(index) {
        let (ScopeKind::Function(position), Some(callers)) = (
            index.kinds[function.0 as usize],
            index.callers.get(&function),
        ) else {
            continue;
        };
        let defaults = &model.functions[position as usize].attribute_proto;
        let mut given: HashMap<&str, Given> = HashMap::new();
        for (position, default) in (0..).zip(defaults) {
            given
                .entry(default.name())
                .or_default()
                .default
                .get_or_insert((Argument::Default(function, position), default));
        }
        for &caller in callers {
            let call = scope::body(model, &index.kinds, caller.scope)
                .map(|body| &body.nodes()[caller.position as usize]);
            for (position, attribute) in (0..).zip(call.map_or(&[][..], |call| &call.attribute)) {
                let passed = resolved(model, index, caller.scope, attribute).map(|found| {
                    found.map(|(argument, value)| {
                        (argument.unwrap_or(Argument::Call(caller, position)), value)
                    })
                });
                given
                    .entry(attribute.name())
                    .or_default()
                    .add(caller, passed);
            }
        }
        let given = given.into_iter().filter(|(_, given)| !given.is_absent());
        let arguments = given.map(|(name, given)| (name.to_owned(), given.argument(callers.len())));
        let arguments = arguments.collect();
        index.arguments.insert(function, arguments);
    }
}

/// The functions that are called, each behind those that call it. The order of functions that call
/// each other follows from that of the document, and so does what is known of their attributes.
fn callers_first(index: &Index) -> Vec<ScopeId> {
    let scopes = (0..).map(ScopeId).take(index.kinds.len());
    let called: Vec<(ScopeId, &Vec<NodeId>)> = scopes
        .filter_map(|function| Some((function, index.callers.get(&function)?)))
        .collect();
    let mut calls = DiGraph::new();
    let vertices: HashMap<ScopeId, NodeIndex> = called
        .iter()
        .map(|&(function, _)| (function, calls.add_node(function)))
        .collect();
    for (function, callers) in called {
        for caller in callers {
            if let Some(&caller) = vertices.get(&scope::root(&index.kinds, caller.scope)) {
                calls.add_edge(vertices[&function], caller, ());
            }
        }
    }
    kosaraju_scc(&calls)
        .into_iter()
        .flatten()
        .map(|vertex| calls[vertex])
        .collect()
}

/// The calls of a function do not all give an attribute the same value, or there are none.
struct Unclear;

/// The value of an attribute that a node of a scope has: the attribute itself, or the one that the
/// calls of the function around the scope give it, with its place. `None` if they do not give it a
/// value.
fn resolved<'m>(
    model: &'m ModelProto,
    index: &Index,
    scope: ScopeId,
    attribute: &'m AttributeProto,
) -> Result<Option<(Option<Argument>, &'m AttributeProto)>, Unclear> {
    let referred = attribute.tail().ref_attr_name();
    if referred.is_empty() {
        return Ok(Some((None, attribute)));
    }
    let arguments = index
        .arguments
        .get(&scope::root(&index.kinds, scope))
        .ok_or(Unclear)?;
    let Some(argument) = arguments.get(referred) else {
        return Ok(None);
    };
    let argument = argument.ok_or(Unclear)?;
    Ok(Some((
        Some(argument),
        value(model, index, argument).ok_or(Unclear)?,
    )))
}

/// The values of a function's attribute that have been found so far.
#[derive(Default)]
struct Given<'m> {
    default: Option<(Argument, &'m AttributeProto)>,
    first: Option<(Argument, &'m AttributeProto)>,
    /// The last call that gives it a value.
    last: Option<NodeId>,
    /// How many calls give it a value.
    calls: usize,
    differ: bool,
}

impl<'m> Given<'m> {
    /// If several attributes have one name, the first counts.
    fn add(
        &mut self,
        call: NodeId,
        passed: Result<Option<(Argument, &'m AttributeProto)>, Unclear>,
    ) {
        if self.last.replace(call) == Some(call) {
            return;
        }
        match (self.first, passed) {
            (_, Ok(None)) => return,
            (_, Err(Unclear)) => self.differ = true,
            (Some((_, first)), Ok(Some((_, other)))) => self.differ |= !same_value(first, other),
            (None, Ok(Some(value))) => self.first = Some(value),
        }
        self.calls += 1;
    }

    /// Whether no call gives it a value, and the function has no default for it.
    fn is_absent(&self) -> bool {
        !self.differ && self.first.is_none() && self.default.is_none()
    }

    fn argument(self, calls: usize) -> Option<Argument> {
        let default = self
            .default
            .filter(|(_, default)| default.tail().ref_attr_name().is_empty());
        match (self.first, default) {
            _ if self.differ => None,
            (Some((argument, _)), _) if self.calls == calls => Some(argument),
            (Some((argument, first)), Some((_, default))) => {
                same_value(first, default).then_some(argument)
            }
            (None, Some((argument, _))) => Some(argument),
            (_, None) => None,
        }
    }
}

/// Whether two attributes have the same value, regardless of their names and documentation. Zeros
/// of different signs differ.
fn same_value(left: &AttributeProto, right: &AttributeProto) -> bool {
    let raw::AttributeProto {
        name: _,
        r#type,
        f,
        i,
        s,
        t,
        g,
        lists: _,
        tail: _,
    } = &**left;
    let raw::AttributeProtoLists {
        floats,
        ints,
        rare: _,
    } = left.lists();
    let raw::AttributeProtoListsRare {
        doc_string: _,
        strings,
        tensors,
        graphs,
        tp,
        type_protos,
    } = left.rare();
    *r#type == right.r#type
        && f.map(f32::to_bits) == right.f.map(f32::to_bits)
        && *i == right.i
        && *s == right.s
        && *t == right.t
        && *g == right.g
        && left.tail() == right.tail()
        && *tp == right.tp
        && floats
            .iter()
            .map(|float| float.to_bits())
            .eq(right.floats.iter().map(|float| float.to_bits()))
        && *ints == right.ints
        && *strings == right.strings
        && *tensors == right.tensors
        && *graphs == right.graphs
        && *type_protos == right.type_protos
        && left.rest() == right.rest()
}
