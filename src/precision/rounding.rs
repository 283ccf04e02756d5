//! The functions that round FLOAT to the numbers of a narrower type, as `Cast` rounds.
//!
//! The functions compute instead of casting, because runtimes remove pairs of casts.
//! `conformance/checks/precision/emulated_rounding.py` runs them on all numbers of the types, and
//! on those halfway between them.

use crate::graph::{Body, Model, ScopeId};
use crate::onnx_text;
use crate::ops::rounding::{to_bfloat16, to_float16};
use crate::protobuf::schema::FunctionProto;
use onnx_cast::DType;

/// The domain of the functions.
pub(crate) const DOMAIN: &str = "onnx_recast";

/// The first opset that has the operators of the functions: that of Where.
pub(crate) const SINCE_OPSET: i64 = 9;

/// The name of the function that rounds to a type: FLOAT16, or BFLOAT16.
pub(crate) fn function_name(to: DType) -> &'static str {
    if to == DType::Float16 {
        "RoundToFloat16"
    } else {
        "RoundToBfloat16"
    }
}

/// The function that rounds to a type: FLOAT16, or BFLOAT16.
pub(crate) fn function(to: DType, opset: i64) -> FunctionProto {
    let (name, body) = (
        function_name(to),
        if to == DType::Float16 {
            to_float16("x", "y")
        } else {
            to_bfloat16("x", "y")
        },
    );
    let text = format!(
        r#"<ir_version: 8, opset_import: ["": {opset}]> g () => () {{ }}
        <domain: "{DOMAIN}", opset_import: ["": {opset}]> {name} (x) => (y) {{ {body} }}"#
    );
    let parsed = onnx_text::parse(&text).expect("the text is valid");
    parsed
        .functions
        .first()
        .cloned()
        .expect("the text has a function")
}

/// The opset of a model in which its rounding functions are written: that of the main graph, or the
/// first of a function.
pub(crate) fn opset(model: &Model) -> Option<i64> {
    model.scopes().find_map(|scope| model.opset(scope, ""))
}

/// The type that a model emulates: that of the function that it has.
pub(super) fn emulated(model: &Model) -> Option<DType> {
    let names = |scope: ScopeId, to: DType| matches!(model.body(scope), Body::Function(function) if [function.domain(), function.name()] == [DOMAIN, function_name(to)]);
    [DType::Float16, DType::Bfloat16]
        .into_iter()
        .find(|&to| model.scopes().any(|scope| names(scope, to)))
}
