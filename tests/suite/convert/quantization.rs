//! What the cast matrix does not show of casts, and quantization.

use onnx_recast::internals::convert::{Explicit, NotConverted, Options};

use super::{case, convert_text, run};

#[test]
fn quantization() {
    run(&[
        case(
            10,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}, uint8 z = {3}>",
            "y = QuantizeLinear (x, s, z)",
            28,
            "y = QuantizeLinear (x, s, z)",
        ),
        case(
            13,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear <axis = 0> (x, s)",
            10,
            "y = QuantizeLinear (x, s)",
        ),
        case(
            13,
            "(float[4] x) => (uint8[4] y) <float[4] s = {1,2,3,4}>",
            "y = QuantizeLinear <axis = 0> (x, s)",
            10,
            "no: per-axis quantization is not supported before opset 13",
        ),
        case(
            19,
            "(float[4] x) => (float8e4m3fn[4] y) <float s = {0.5}, float8e4m3fn z = {0}>",
            "y = QuantizeLinear (x, s, z)",
            18,
            "no: input 'z' is tensor(float8e4m3fn), which QuantizeLinear-13 does not support",
        ),
        case(
            19,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}, uint8 z = {0}>",
            "y = QuantizeLinear <saturate = 0> (x, s, z)",
            13,
            "y = QuantizeLinear (x, s, z)",
        ),
        case(
            21,
            "(float[4] x) => (int8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear <output_dtype = 3> (x, s)",
            13,
            "y_zero_point = Constant <value: tensor = int8 {0}> ()
             y = QuantizeLinear (x, s, y_zero_point)",
        ),
        case(
            21,
            "(float[4] x, float[1000000000000] s) => (int8[4] y)",
            "y = QuantizeLinear <output_dtype = 3> (x, s)",
            20,
            "y_shape = Constant <value: tensor = int64[1] {1000000000000}> ()
             y_zero_point = ConstantOfShape <value: tensor = int8[1] {0}> (y_shape)
             y = QuantizeLinear (x, s, y_zero_point)",
        ),
        case(
            21,
            "(float16[4,4] x, float16[2,4] s) => (uint8[4,4] y)",
            "y = QuantizeLinear <block_size = 2, axis = 0> (x, s)",
            19,
            "no: the rounding of other types than FLOAT has no equivalent",
        ),
        case(
            23,
            "(float[4] x) => (uint8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear <precision = 1> (x, s)",
            21,
            "y = QuantizeLinear (x, s)",
        ),
        case(
            23,
            "(uint8[4] x) => (float16[4] y) <float s = {0.5}>",
            "y = DequantizeLinear <output_dtype = 10> (x, s)",
            21,
            "no: `output_dtype` must be the type of the scale before opset 23",
        ),
        case(
            23,
            "(float16[4] x) => (uint8[4] y) <float s = {0.5}>",
            "y = QuantizeLinear (x, s)",
            21,
            "no: input 'x' is tensor(float16), but input 's' is tensor(float): QuantizeLinear-21 requires the same type",
        ),
    ]);
}

#[test]
fn types_were_names_before_opset_6() {
    run(&[
        case(5, "(float[2] x) => (float16[2] y)", "y = Cast <to = \"float16\"> (x)", 6, "y = Cast <to: int = 10> (x)"),
        case(6, "(float[2] x) => (float16[2] y)", "y = Cast <to = 10> (x)", 5, "y = Cast <to: string = \"FLOAT16\"> (x)"),
        case(5, "(float[2] x) => (float16[2] y)", "y = Cast <to = \"HALF\"> (x)", 6, "no: `to`"),
    ]);
}

#[test]
fn defaults_of_casts_are_written_out_as_asked() {
    let source = r#"<ir_version: 9, opset_import: ["": 19]> g (float[2] x) => (float8e4m3fn[2] y, float16[2] z)
        { y = Cast <to = 17> (x) z = Cast <to = 10> (x) }"#;
    let written = |explicit| {
        let options = Options::to(24).explicit(explicit);
        let proto = convert_text(source, &options).unwrap().model.into_proto();
        proto.graph.as_ref().unwrap().node.iter().map(|node| node.attribute.len() - 1).collect::<Vec<_>>()
    };
    assert_eq!(written(Explicit::None), [0, 0]);
    assert_eq!(written(Explicit::Relevant), [1, 0]);
    assert_eq!(written(Explicit::All), [2, 2]);
}

#[test]
fn infinity_to_fnuz_is_a_warning_and_an_error_when_strict() {
    let source = |from: &str, attribute: &str| {
        format!(
            r#"<ir_version: 11, opset_import: ["": 23]> g ({from}[2] x) => (float8e5m2fnuz[2] y) {{ y = Cast <to = 20{attribute}> (x) }}"#
        )
    };
    let warnings =
        |from: &str, attribute: &str| convert_text(&source(from, attribute), &Options::to(24)).unwrap().report.warnings.len();
    assert_eq!(warnings("float", ""), 1);
    assert_eq!(warnings("float", ", saturate = 0"), 0);
    assert_eq!(warnings("int8", ""), 0);
    let strict = Options::to(24).strict(true);
    assert!(matches!(convert_text(&source("float", ""), &strict), Err(NotConverted::Blocked { .. })));
}

/// Each of many nodes may ask for a zero point as large as a scale that they share.
#[test]
fn a_large_zero_point_is_computed() {
    run(&[
        case(
            22,
            "(float[9000,2] x, float[9000] s) => (int8[9000,2] y)",
            "y = QuantizeLinear <axis = 0, output_dtype = 3> (x, s)",
            20,
            "y_shape = Constant <value: tensor = int64[1] {9000}> ()
             y_zero_point = ConstantOfShape <value: tensor = int8[1] {0}> (y_shape)
             y = QuantizeLinear <axis: int = 0> (x, s, y_zero_point)",
        ),
        case(
            22,
            "(float[2,2] x, float[2] s) => (int8[2,2] y)",
            "y = QuantizeLinear <axis = 0, output_dtype = 3> (x, s)",
            20,
            "y_zero_point = Constant <value: tensor = int8[2] {0, 0}> ()
             y = QuantizeLinear <axis: int = 0> (x, s, y_zero_point)",
        ),
    ]);
}
