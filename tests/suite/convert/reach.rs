//! The lowest opset that operators reach by expansions and exact rewrites; `conformance/run rewrites` compares what they compute.

use onnx_recast::internals::convert::{Exactness, ExpandInto, Options};

use super::convert_text;
use crate::support::expect_no_failures;

use Exactness::{ByDefinition, Exact};

type Reach = Result<(i64, Option<Exactness>), &'static str>;

/// The opset, the graph, and the lowest opset from 7 with the class of the first expansion, or a part of the reason why no older one works.
const CASES: &[(i64, &str, Reach)] = &[
    (10, "(float[n] x, float s, uint8 z) => (uint8[n] y) { y = QuantizeLinear (x, s, z) }", Ok((7, Some(Exact)))),
    (10, "(uint8[n] x, float s, uint8 z) => (float[n] y) { y = DequantizeLinear (x, s, z) }", Ok((7, Some(Exact)))),
    (10, "(int32[n] x, float s) => (float[n] y) { y = DequantizeLinear (x, s) }", Ok((7, Some(Exact)))),
    (11, "(float[n] x) => (uint8[n] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }", Ok((7, Some(ByDefinition)))),
    (10, "(uint8[2,3] a, int8[3,4] b) => (int32[2,4] y) { y = MatMulInteger (a, b) }", Ok((9, Some(Exact)))),
    (10, "(uint8[2,3] a, int8[3,4] b, uint8[p] z) => (int32[2,4] y) { y = MatMulInteger (a, b, z) }", Ok((9, Some(Exact)))),
    (10, "(uint8[1,2,6,6] x, uint8[4,2,3,3] w) => (int32[1,4,4,4] y) { y = ConvInteger (x, w) }", Ok((7, Some(Exact)))),
    (
        10,
        "(uint8[1,99,6,6] x, uint8[4,99,3,3] w) => (int32[1,4,4,4] y) { y = ConvInteger (x, w) }",
        Err("FLOAT represents sums of at most 258 products exactly"),
    ),
    (
        10,
        "(uint8[1,2,6,6] x, float s, uint8 z, uint8[4,2,3,3] w) => (uint8[1,4,4,4] y) { y = QLinearConv (x, s, z, w, s, z, s, z) }",
        Ok((7, Some(ByDefinition))),
    ),
    (
        10,
        "(uint8[2,3] a, float s, uint8 z, uint8[3,4] b) => (uint8[2,4] y) { y = QLinearMatMul (a, s, z, b, s, z, s, z) }",
        Ok((9, Some(ByDefinition))),
    ),
    (
        21,
        "(int8[4,6] x, float[4,3] s, int8[4,3] z) => (float[4,6] y) { y = DequantizeLinear <block_size = 2> (x, s, z) }",
        Ok((7, Some(Exact))),
    ),
    (
        21,
        "(int8[4,n] x, float[4,3] s) => (float[4,n] y) { y = DequantizeLinear <block_size = 2> (x, s) }",
        Err("the length of the quantized axis is unknown"),
    ),
    (11, "(float[n] x) => (float[n] y) { y = Round (x) }", Ok((9, Some(Exact)))),
    (11, "(double[3] x) => (double[3] y) { y = Round (x) }", Ok((7, Some(Exact)))),
    (9, "(float[n] x) => (bool[n] y) { y = IsNaN (x) }", Ok((7, Some(Exact)))),
    (10, "(float[n] x) => (float[n] y) { y = ThresholdedRelu (x) }", Ok((9, Some(Exact)))),
    (9, "(float[2,3] x) => (float[2,3] y) { y = EyeLike <k = 1> (x) }", Ok((7, Some(Exact)))),
    (9, "(float[n,3] x) => (float[n,3] y) { y = EyeLike (x) }", Err("the shape of the matrix must be known")),
    (11, "(float[n,4,h,w] x) => (float[n,1,a,b] y) { y = DepthToSpace <blocksize = 2, mode = \"CRD\"> (x) }", Ok((7, Some(Exact)))),
    (28, "(float[n,4,h,w] x) => (float[n,16,a,b] y) { y = SpaceToDepth <blocksize = 2, mode = \"CRD\"> (x) }", Ok((7, Some(Exact)))),
    (
        16,
        "(float[4] x, float[2] u) => (float[4] y) <int64[2] i = {3, -2}> { y = ScatterElements <reduction = \"add\"> (x, i, u) }",
        Ok((9, Some(Exact))),
    ),
    (
        18,
        "(float[4,2] x, float[2,2] u) => (float[4,2] y) <int64[2,1] i = {3, 0}> { y = ScatterND <reduction = \"max\"> (x, i, u) }",
        Ok((11, None)),
    ),
    (
        18,
        "(float[4] x, float[2] u) => (float[4] y) <int64[2] i = {3, -1}> { y = ScatterElements <reduction = \"max\"> (x, i, u) }",
        Err("an element is updated twice"),
    ),
    (11, "(float[4] x, int64[2] i, float[2] u) => (float[4] y) { y = ScatterElements (x, i, u) }", Ok((9, None))),
    (10, "(float[1,2,9] x) => (float[1,2,k] y) { y = MaxPool <kernel_shape = [3], dilations = [2], pads = [1, 2], strides = [2]> (x) }", Ok((7, Some(Exact)))),
    (10, "(float[1,2,9] x) => (float[1,2,k] y) { y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (x) }", Ok((7, Some(Exact)))),
    (10, "(float[1,2,n] x) => (float[1,2,k] y) { y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (x) }", Err("the lengths of the axes must be known")),
    (10, "(float[1,2,9] x) => (float[1,2,k] y) { y = AveragePool <kernel_shape = [2], strides = [2], ceil_mode = 1> (x) }", Ok((7, Some(ByDefinition)))),
    (
        17,
        "(float[3] x) => (float[3] y) { s = SequenceConstruct (x, x)
            t = SequenceMap <body = b (float[3] e) => (float[3] r) { r = Neg (e) }> (s) z = Constant <value = int64 {1}> () y = SequenceAt (t, z) }",
        Ok((13, Some(Exact))),
    ),
    (18, "(float[n,c,5,7] x) => (float y) <int64[2] s = {3, 4}> { y = Resize <antialias = 1, mode = \"linear\", axes = [2, 3]> (x, , , s) }", Ok((7, Some(ByDefinition)))),
    (18, "(float[n,c,5,7] x) => (float y) <int64[2] s = {9, 9}> { y = Resize <keep_aspect_ratio_policy = \"not_larger\", axes = [2, 3]> (x, , , s) }", Ok((7, Some(Exact)))),
    (11, "(uint8[n,5] x) => (uint8 y) <float[0] r = {}, float[2] s = {1, 2.5}> { y = Resize (x, r, s) }", Ok((7, Some(Exact)))),
    (11, "(float[n,5] x) => (float y) <float[0] r = {}, float[2] s = {1, 2.5}> { y = Resize <mode = \"cubic\"> (x, r, s) }", Ok((7, Some(ByDefinition)))),
];

#[test]
fn operators_reach_older_opsets() {
    let mut failures = Vec::new();
    for (opset, graph, expected) in CASES {
        let source = format!("<ir_version: 8, opset_import: [\"\": {opset}]> g {graph}");
        let lowest = (7..*opset).find_map(|to| Some((to, convert_text(&source, &Options::to(to)).ok()?)));
        let found = lowest.map(|(to, conversion)| (to, conversion.report.expansions.first().map(|expansion| expansion.class)));
        let refusal = convert_text(&source, &Options::to(opset - 1)).err().map(|error| format!("{error:?}"));
        match (found, expected) {
            (Some(found), Ok(expected)) if found == *expected => {}
            (None, Err(part)) if refusal.as_ref().is_some_and(|refusal| refusal.contains(part)) => {}
            (found, _) => failures.push(format!("{graph}: {found:?}, not {expected:?}; {refusal:?}")),
        }
    }
    expect_no_failures(failures);
}

#[test]
fn equal_expansions_call_one_function() {
    let source = r#"<ir_version: 4, opset_import: ["": 17]> g (float[n,4] x, float[4] s) => (float[n,4] y) {
        [first] a = LayerNormalization (x, s)
        [second] b = LayerNormalization (a, s)
        y = LayerNormalization <epsilon = 0.5> (b, s)
    }"#;
    let options = Options::to(13).expand_into(ExpandInto::Function);
    let conversion = convert_text(source, &options).unwrap();
    let proto = conversion.model.proto();
    let calls: Vec<_> = proto
        .graph
        .as_ref()
        .unwrap()
        .node
        .iter()
        .map(|node| format!("{}: {}.{}", node.name(), node.domain(), node.op_type()))
        .collect();
    assert_eq!(
        calls,
        [
            "first: recast.expanded.LayerNormalization",
            "second: recast.expanded.LayerNormalization",
            ": recast.expanded.LayerNormalization_2"
        ]
    );
    let functions: Vec<_> = proto
        .functions
        .iter()
        .map(|function| (function.name(), function.input.len(), function.opset_import[0].version()))
        .collect();
    assert_eq!(functions, [("LayerNormalization", 2, 13), ("LayerNormalization_2", 2, 13)]);
    assert_eq!(proto.ir_version(), 8);
    let imports: Vec<_> = proto.opset_import.iter().map(|import| (import.domain(), import.version())).collect();
    assert_eq!(imports, [("", 13), ("recast.expanded", 1)]);
}
