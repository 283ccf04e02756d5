//! The attributes that state the element types of results, and the nodes that are added.

use super::decisions::Decisions;
use super::rules::type_attribute;
use super::types::{Kind, Side, User};
use crate::base::hash::HashMap;
use crate::elements::dtype::DType;
use crate::graph::{Edit, Model, NodeId, ScopeId, set_element_type};
use crate::protobuf::raw;
use crate::protobuf::raw::attribute_proto::AttributeType;
use crate::protobuf::schema::{AttributeProto, NodeProto};

/// The first opset in which `to` of Cast is a number.
const NUMBERED_TYPES: i64 = 6;

/// A Cast of an input to an output.
pub(super) fn cast_node(model: &Model, scope: ScopeId, name: &str, [input, output]: [&str; 2], to: DType) -> NodeProto {
    raw::NodeProto {
        input: vec![input.to_owned()],
        output: vec![output.to_owned()],
        name: Some(name.to_owned()),
        op_type: Some("Cast".to_owned()),
        attribute: vec![cast_to(model, scope, to)],
        ..Default::default()
    }
    .into()
}

fn cast_to(model: &Model, scope: ScopeId, to: DType) -> AttributeProto {
    match model.opset(scope, "") {
        Some(opset) if opset < NUMBERED_TYPES => raw::AttributeProto {
            name: Some("to".to_owned()),
            r#type: Some(AttributeType::String.into()),
            s: Some(to.name().to_owned().into()),
            ..Default::default()
        }
        .into(),
        _ => number("to", to),
    }
}

fn number(name: &str, dtype: DType) -> AttributeProto {
    raw::AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(AttributeType::Int.into()),
        i: Some(dtype.number().into()),
        ..Default::default()
    }
    .into()
}

/// The changes of attributes that state the types of results.
pub(super) fn edits(decisions: &Decisions) -> Vec<Edit> {
    let (types, model) = (decisions.types, decisions.types.model);
    // Some operators have results of the type of an input unless an attribute states another one.
    let mut of_inputs: HashMap<(NodeId, u32), Side> = HashMap::default();
    for used in &types.uses {
        if let User::Input(node, index) = used.user
            && implied_by(model, node) == Some(index)
        {
            of_inputs.insert((node, index), decisions.side_of(used.variable));
        }
    }
    let mut edits = Vec::new();
    for node in model.scopes().flat_map(|scope| model.nodes(scope)) {
        let operator = model.node(node).op_type();
        let Some(name) = type_attribute(operator).filter(|_| model.applies(node, operator)) else { continue };
        let Some(output) = model.output(node, 0) else { continue };
        let Some(kind) = types.kinds[output.index()] else { continue };
        let (side, stated) = (decisions.side(output), model.node(node).attribute.iter().find(|attribute| attribute.name() == name));
        let with = match operator {
            "Constant" | "ConstantOfShape" => continue,
            "Cast" if matches!(kind, Kind::CastOf(_)) || side == Side::Old => continue,
            "Cast" => cast_to(model, node.scope, types.change.to),
            "Optional" => match stated {
                Some(stated) if side == Side::New => {
                    let mut with = stated.clone();
                    if let Some(stated) = with.tp.as_mut() {
                        set_element_type(stated, types.change.to);
                    }
                    with
                }
                _ => continue,
            },
            _ => {
                let dtype = decisions.dtype(output, side);
                let input = implied_by(model, node);
                let is_stated = stated.is_some_and(|stated| operator != "DequantizeLinear" || stated.i() != 0);
                let is_needed = match input {
                    Some(index) if !is_stated => of_inputs.get(&(node, index)).is_some_and(|of_input| *of_input != side),
                    _ => side == Side::New,
                };
                if !is_needed {
                    continue;
                }
                number(name, dtype)
            }
        };
        edits.push(Edit::SetAttribute { node, name, with: Box::new(with) });
    }
    edits
}

/// The input whose type is that of the result if the attribute is missing.
fn implied_by(model: &Model, node: NodeId) -> Option<u32> {
    match model.node(node).op_type() {
        "Bernoulli" | "EyeLike" | "RandomNormalLike" | "RandomUniformLike" => Some(0),
        "DequantizeLinear" => Some(1),
        _ => None,
    }
}
