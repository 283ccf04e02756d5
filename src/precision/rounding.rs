//! The functions that round FLOAT to the numbers of a narrower type, as `Cast` rounds: to the
//! nearest number, ties to even.
//!
//! The functions compute instead of casting, because runtimes remove pairs of casts. Adding a
//! number whose last place is the step of the narrower type rounds, and subtracting it is exact.
//! That number is 1.5 times the power of two at most the magnitude, times the steps of FLOAT in one
//! of the narrower type. The power is the last place of a product that is rounded: q - (1 - 2^-24)
//! q for q = (2^23 + 1) a (Rump, Ogita, Oishi 2008). The least normal number replaces smaller
//! powers, so that subnormal numbers have their step.
//!
//! - FLOAT16: magnitudes above 2^17 become 2^17 before, so that nothing overflows. Magnitudes
//!   that round to 2^16 or more are multiplied by 2^120 and become infinite. NaN stays NaN.
//! - BFLOAT16 has the range of FLOAT. Magnitudes below 1 are multiplied by 2^64 meanwhile, others
//!   by 2^-40, so that nothing overflows or becomes subnormal on the way. What rounds to 2^128
//!   becomes infinite when the factor is undone.
//! - The sign: the argument between two numbers that round to zero, divided by the larger one, is
//!   -1 or 1, or has the sign of a result that is zero. A `Where` would not do: that of onnxruntime
//!   to 1.32 turns -0 into 0.
//!
//! Each result has to be that of one operation, rounded: a compiler that contracts a multiplication
//! and an addition, or reorders sums, breaks the functions. `conformance/checks/precision/emulated_rounding.py` runs
//! them on all numbers of the types, and on those halfway between them.

use crate::graph::{Body, Model, ScopeId};
use crate::onnx_text;
use crate::protobuf::schema::FunctionProto;
use onnx_cast::DType;

/// The domain of the functions.
pub(crate) const DOMAIN: &str = "onnx_recast";

/// The first opset that has the operators of the functions: that of Where.
pub(crate) const SINCE_OPSET: i64 = 9;

/// The body of the function that rounds to FLOAT16.
fn to_float16() -> String {
    let scaled = "
    magnitude = Abs (x)
    most = Constant <value = float {131072}> ()
    scaled = Min (magnitude, most)";
    let unsigned = "
    limit = Constant <value = float {65536}> ()
    is_finite = Less (rounded, limit)
    huge = Constant <value = float {1329227995784915872903807060280344576}> ()
    beyond = Mul (magnitude, huge)
    unsigned = Where (is_finite, rounded, beyond)";
    [
        scaled,
        &rounded("0.00006103515625", "12288"),
        unsigned,
        &signed("x", "2.98023223876953125e-8", "33554432"),
    ]
    .concat()
}

/// The body of the function that rounds to BFLOAT16.
fn to_bfloat16() -> String {
    let scaled = "
    magnitude = Abs (x)
    one = Constant <value = float {1}> ()
    is_small = Less (magnitude, one)
    up = Constant <value = float {18446744073709551616}> ()
    down = Constant <value = float {9.094947017729282379150390625e-13}> ()
    factor = Where (is_small, up, down)
    moved = Mul (x, factor)
    distance = Abs (moved)
    most = Constant <value = float {309485009821345068724781056}> ()
    scaled = Min (distance, most)";
    let unsigned = "
    undo_up = Constant <value = float {5.42101086242752217e-20}> ()
    undo_down = Constant <value = float {1099511627776}> ()
    inverse = Where (is_small, undo_up, undo_down)
    unmoved = Mul (rounded, inverse)
    infinity = Constant <value = float {inf}> ()
    is_finite = Less (magnitude, infinity)
    unsigned = Where (is_finite, unmoved, magnitude)";
    let signed = signed(
        "moved",
        "8.470329472543003391e-22",
        "1180591620717411303424",
    );
    [
        scaled,
        &rounded("2.168404344971008868e-19", "98304"),
        unsigned,
        &signed,
    ]
    .concat()
}

/// `rounded`: the number of the type that is nearest to `scaled`. `steps` is 1.5 times the steps of
/// FLOAT in one of the type.
fn rounded(least_normal: &str, steps: &str) -> String {
    format!(
        "
    splitter = Constant <value = float {{8388609}}> ()
    product = Mul (scaled, splitter)
    predecessor = Constant <value = float {{0.99999994039535522}}> ()
    before = Mul (product, predecessor)
    power = Sub (product, before)
    least_normal = Constant <value = float {{{least_normal}}}> ()
    at_least = Max (power, least_normal)
    steps = Constant <value = float {{{steps}}}> ()
    shift = Mul (at_least, steps)
    sum = Add (scaled, shift)
    rounded = Sub (sum, shift)"
    )
}

/// `y`: `unsigned` with the sign of an argument. `tiny` rounds to zero, and `whole` is 1 divided by
/// it.
fn signed(argument: &str, tiny: &str, whole: &str) -> String {
    format!(
        "
    tiny = Constant <value = float {{{tiny}}}> ()
    above = Min ({argument}, tiny)
    minus_tiny = Constant <value = float {{-{tiny}}}> ()
    within = Max (above, minus_tiny)
    whole = Constant <value = float {{{whole}}}> ()
    sign = Mul (within, whole)
    y = Mul (unsigned, sign)"
    )
}

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
            to_float16()
        } else {
            to_bfloat16()
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
