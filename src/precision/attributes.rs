//! The attributes that state the element types of results.

use super::assignment::PrecisionAssignment;
use super::casts::cast_to;
use super::rules::type_attribute;
use super::types::{Assignment, ValueKind};
use super::uses::User;
use crate::graph::{Edit, Model, NodeId, set_element_type};
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

/// The attribute of Attention that states the type of its Softmax.
const SOFTMAX_PRECISION: &str = "softmax_precision";

/// The changes of attributes that state the types of results.
pub(super) fn edits(precision: &PrecisionAssignment) -> Vec<Edit> {
    let (types, model) = (precision.types, precision.types.model);
    let of_input = |node: NodeId, index: u32| {
        let uses = model
            .input(node, index)
            .map_or(&[][..], |value| types.uses.of(value));
        uses.iter()
            .find(|used| used.user == User::Input(node, index))
            .map(|used| precision.assignment_of(used.variable))
    };
    let mut edits = Vec::new();
    for &node in &types.stating {
        let operator = model.node(node).op_type();
        let Some(name) = type_attribute(operator) else {
            continue;
        };
        let Some(output) = model.output(node, 0) else {
            continue;
        };
        let Some(kind) = types.kinds[output.index()] else {
            continue;
        };
        let (assignment, stated) = (
            precision.assignment(output),
            model
                .node(node)
                .attribute
                .iter()
                .find(|attribute| attribute.name() == name),
        );
        let with = match operator {
            "Constant" | "ConstantOfShape" => continue,
            "Cast" if matches!(kind, ValueKind::CastOf(_)) || assignment == Assignment::Old => {
                continue;
            }
            "Cast" => cast_to(model, node.scope, types.change.to),
            "Optional" => match stated {
                Some(stated) if assignment == Assignment::New => {
                    let mut with = stated.clone();
                    if let Some(stated) = with.tp.as_mut() {
                        set_element_type(
                            stated,
                            precision.dtype(output, Assignment::Old),
                            types.change.to,
                        );
                    }
                    with
                }
                _ => continue,
            },
            _ => {
                let dtype = precision.dtype(output, assignment);
                // Some operators have results of the type of an input unless an attribute states
                // another one.
                let input = implied_by(model, node);
                let is_stated =
                    stated.is_some_and(|stated| operator != "DequantizeLinear" || stated.i() != 0);
                let is_needed = match input {
                    Some(index) if !is_stated => {
                        of_input(node, index).is_some_and(|of_input| of_input != assignment)
                    }
                    _ => assignment == Assignment::New,
                };
                if !is_needed {
                    continue;
                }
                AttributeProto::int(name, dtype.number().into())
            }
        };
        edits.push(Edit::SetAttribute {
            node,
            name: name.into(),
            with: Box::new(with),
        });
    }
    edits.extend(precise_softmaxes(precision));
    edits
}

/// The Softmax inside of an Attention stays in FLOAT, unless the node states its precision.
fn precise_softmaxes<'d>(precision: &'d PrecisionAssignment) -> impl Iterator<Item = Edit> + 'd {
    let (types, model) = (precision.types, precision.types.model);
    let has_attention = types.operators.has(&["Attention"]);
    let narrows = |node: &NodeId| {
        let output = model
            .output(*node, 0)
            .filter(|output| types.kinds[output.index()].is_some());
        let is_new = types.change.is_to_half()
            && output.is_some_and(|output| precision.assignment(output) == Assignment::New);
        let is_stated = || {
            model
                .node(*node)
                .attribute
                .iter()
                .any(|attribute| attribute.name() == SOFTMAX_PRECISION)
        };
        is_new && types.operators.of(*node).name == "Attention" && !is_stated()
    };
    model
        .scopes()
        .filter(move |_| has_attention)
        .flat_map(|scope| model.nodes(scope))
        .filter(narrows)
        .map(|node| {
            let with = AttributeProto::int(SOFTMAX_PRECISION, DType::Float.number().into());
            Edit::SetAttribute {
                node,
                name: SOFTMAX_PRECISION.into(),
                with: Box::new(with),
            }
        })
}

/// The input whose type is that of the result if the attribute is missing.
fn implied_by(model: &Model, node: NodeId) -> Option<u32> {
    match model.node(node).op_type() {
        "Bernoulli" | "EyeLike" | "RandomNormalLike" | "RandomUniformLike" => Some(0),
        "DequantizeLinear" => Some(1),
        _ => None,
    }
}
