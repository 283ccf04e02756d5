//! Legalization: values of an element type that the target opset lacks, or the runtime that has to
//! run the result, get a wider type that it has.
//!
//! The model is rewritten in its own opset, and the result is converted like any other model. A
//! value is carried if the wider type holds each of its numbers exactly, and if everything that
//! makes or reads it does the same with the wider type, or can be replaced by nodes that do. Narrow
//! values of one node are carried together, or none of them; so are those that control flow passes
//! to its bodies and gets from them. Inputs and outputs of functions, and inputs of calls and of
//! operators of other domains, keep their types; those of the model, unless
//! [`Options::legalize_io`] is chosen.
//!
//! A type is a line of `operators::types`, an operator a file and a line of `operators`.

mod components;
mod constants;
mod control_flow;
mod operators;
mod places;
mod replacement;

use self::components::Components;
pub(super) use self::places::Places;
use super::{CarriedRole, CarriedValue, Exactness, NodeChange, Options};
use crate::base::hash::HashMap;
use crate::graph::{Edit, FreshNames, Model, NodeId, Origin, ScopeId, TypePlace, ValueId};
use crate::ops::inference::Inferred;
use crate::protobuf::schema::NodeProto;

/// A model in which values have wider types.
pub(super) struct Legalized {
    pub model: Model,
    /// In the order of the values.
    pub carried: Vec<CarriedValue>,
    /// The nodes that others replace.
    pub changes: Vec<NodeChange>,
    /// Where the nodes were before.
    pub places: Places,
}

/// The model with the values carried whose types the opset or the runtime lacks; none if there are
/// no such values, or they cannot be carried.
pub(super) fn legalized(
    model: &Model,
    inferred: &Inferred,
    options: &Options,
) -> Option<Legalized> {
    let Components { values, replaced } = Components::new(model, inferred, options);
    if values.is_empty() {
        return None;
    }
    let (mut edits, mut changes) = (Vec::new(), Vec::new());
    let (mut names, mut dropped_uses) = (FreshNames::new(model), HashMap::default());
    for (id, text) in replaced {
        let nodes = replacement::nodes(model, &mut names, id, &text)?;
        for value in unused_inputs(model, id, &nodes) {
            *dropped_uses.entry(value).or_insert(0) += 1;
        }
        changes.push(NodeChange {
            node: model.node_path(id).into(),
            op: model.node(id).op_type().into(),
            what: format!("became {} nodes of wider types", nodes.len()).into(),
        });
        edits.push(Edit::replace_node(id, nodes));
    }
    let mut carried = Vec::new();
    for (value, wider) in values {
        let is_unused = dropped_uses.get(&value) == Some(&model.uses(value).count());
        if let Some(removal) = removal(model, value).filter(|_| is_unused) {
            edits.push(removal);
            continue;
        }
        let bytes = match constants::widened(model, value, wider.to)? {
            Some((edit, bytes)) => {
                edits.push(edit);
                bytes
            }
            None => 0,
        };
        if model.declared(value).is_some() {
            edits.push(Edit::SetType {
                at: TypePlace::Value(value),
                from: Some(wider.from),
                to: wider.to,
            });
        }
        let scope = model.scope_path(model.scope_of(value));
        carried.push(CarriedValue {
            value: format!("{scope}/{}", model.name(value)).into(),
            from: wider.from,
            to: wider.to,
            class: Exactness::Exact,
            bytes,
            role: role(model, value),
        });
    }
    let legalized = model.clone().with_edits(edits).ok()?;
    Some(Legalized {
        places: Places::new(model, &legalized),
        model: legalized,
        carried,
        changes,
    })
}

/// The inputs of a node that those in its place do not use, each as often as it is one.
fn unused_inputs<'m>(
    model: &'m Model,
    id: NodeId,
    with: &[NodeProto],
) -> impl Iterator<Item = ValueId> + use<'m> {
    let used: Vec<&String> = with.iter().flat_map(|node| &node.input).collect();
    let is_unused = |value: &ValueId| !used.iter().any(|name| *name == model.name(*value));
    let inputs = model.inputs(id).map(|(_, value)| value);
    inputs.filter(is_unused).collect::<Vec<_>>().into_iter()
}

fn role(model: &Model, value: ValueId) -> CarriedRole {
    if model.scope_of(value) != ScopeId::MAIN {
        return CarriedRole::Inner;
    }
    match model.origin(value) {
        Origin::Input(_) | Origin::Initializer { input: Some(_), .. } => CarriedRole::Input,
        _ if model.scopes_that_output(value).is_empty() => CarriedRole::Inner,
        _ => CarriedRole::Output,
    }
}

/// The edit that removes a constant.
fn removal(model: &Model, value: ValueId) -> Option<Edit> {
    match model.origin(value) {
        Origin::Initializer { input: None, .. } => Some(Edit::RemoveInitializer(value)),
        Origin::Node { node, .. } if model.is_op(node, "Constant") => Some(Edit::remove_node(node)),
        _ => None,
    }
}
