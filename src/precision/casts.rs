//! The casts that are added, and attributes that state a type.

use crate::graph::{Body, Model, ScopeId};
use crate::protobuf::raw;
use crate::protobuf::schema::{AttributeProto, NodeProto};
use onnx_cast::DType;

/// The first opset in which `to` of Cast is a number, and its result has a type by inference.
const NUMBERED_TYPES: i64 = 6;

/// Whether types are not inferred through a Cast, so that its result has to be declared.
pub(super) fn needs_declaration(model: &Model, scope: ScopeId) -> bool {
    let is_older = model
        .opset(scope, "")
        .is_some_and(|opset| opset < NUMBERED_TYPES);
    is_older && matches!(model.body(scope), Body::Graph(_))
}

/// A Cast of an input to an output.
pub(super) fn cast_node(
    model: &Model,
    scope: ScopeId,
    name: &str,
    [input, output]: [&str; 2],
    to: DType,
) -> NodeProto {
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

/// The attribute `to` of a Cast.
pub(super) fn cast_to(model: &Model, scope: ScopeId, to: DType) -> AttributeProto {
    match model.opset(scope, "") {
        Some(opset) if opset < NUMBERED_TYPES => AttributeProto::string("to", to.name()),
        _ => AttributeProto::int("to", to.number().into()),
    }
}
