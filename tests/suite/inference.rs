//! Types and shapes that a model does not declare.

use onnx_recast::Model;
use onnx_recast::graph::ScopeId;
use onnx_recast::internals::ops::inference::infer;

use crate::support::{expect_no_failures, model};

/// The nodes of a graph with the inputs `x`, `i` and `l`, and the type and shape of `y`.
const CASES: [(&str, &str); 29] = [
    (
        "s = Shape (x) y = Reshape (x, s)",
        "tensor(float) [?, 3, 4]",
    ),
    (
        "s = Shape <start = 1> (x) m = Constant <value_ints = [-1]> () t = Concat <axis = 0> (m, s) y = Reshape (x, t)",
        "tensor(float) [?, 3, 4]",
    ),
    (
        "t = Constant <value_ints = [0, -1]> () y = Reshape (x, t)",
        "tensor(float) [?, 12]",
    ),
    (
        "s = Shape (x) at = Constant <value_ints = [2]> () g = Gather (s, at) y = ConstantOfShape (g)",
        "tensor(float) [4]",
    ),
    (
        "s = Shape (x) at = Constant <value_int = -1> () g = Gather (s, at) z = Constant <value_int = 0> () d = Constant <value_int = 1> () y = Range (z, g, d)",
        "tensor(int64) [4]",
    ),
    (
        "s = Constant <value_ints = [5, 1, 1, 1]> () y = Expand (x, s)",
        "tensor(float) [5, ?, 3, 4]",
    ),
    (
        "a = Constant <value_ints = [1]> () y = Unsqueeze (x, a)",
        "tensor(float) [?, 1, 3, 4]",
    ),
    ("y = Unsqueeze (x, i)", "tensor(float) [?, ?, ?, ?, ?]"),
    ("y = ReduceSum (x, i)", "tensor(float) [?, ?, ?]"),
    ("y = ReduceSum <keepdims = 0> (x, i)", "tensor(float) [?]"),
    (
        "b = Constant <value_ints = [1]> () e = Constant <value_ints = [9]> () a = Constant <value_ints = [2]> () y = Slice (x, b, e, a)",
        "tensor(float) [?, 3, 3]",
    ),
    (
        "y, z = Split <axis = 2, num_outputs = 2> (x)",
        "tensor(float) [?, 3, 2]",
    ),
    (
        "y = Einsum <equation = \"bij->bji\"> (x)",
        "tensor(float) [?, 4, 3]",
    ),
    ("y = MatMul (x, v)", "tensor(float) [?, 3]"),
    ("y, z = TopK (x, k)", "tensor(float) [?, 3, 2]"),
    ("y = OneHot (i, l, f)", "tensor(float) [2, ?]"),
    ("y = NonZero (x)", "tensor(int64) [3, ?]"),
    ("y = Gemm <transB = 1> (w, w)", "tensor(float) [3, 3]"),
    (
        "y = If (c) <then_branch = a () => (p) { p = Relu (x) }, else_branch = b () => (q) { q = Neg (x) }>",
        "tensor(float) [?, 3, 4]",
    ),
    (
        "y = If (c) <then_branch = a () => (p) { p = Relu (x) }, else_branch = b () => (q) { q = Identity (w) }>",
        "tensor(float) ?",
    ),
    (
        "y = Loop (l, c) <body = b (int64 n, bool g) => (g2, p) { g2 = Identity (g) p = Relu (w) }>",
        "tensor(float) [?, 3, 4]",
    ),
    (
        "y = Loop (l, c, w) <body = b (int64 n, bool g, float[] p) => (g2, q) { g2 = Identity (g) q = Relu (p) }>",
        "tensor(float) [3, 4]",
    ),
    (
        "y = Loop (l, c, w) <body = b (int64 n, bool g, float[] p) => (g2, q) { g2 = Identity (g) q = Concat <axis = 0> (p, p) }>",
        "tensor(float) [?, 4]",
    ),
    (
        "y = Loop (l, c, w) <body = b (int64 n, bool g, float[] p) => (g2, q) { g2 = Identity (g) a = Constant <value_ints = [0]> () q = Unsqueeze (p, a) }>",
        "tensor(float) ?",
    ),
    (
        "y = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_output_axes = [1], body = b (e) => (p) { p = Relu (e) }> (x)",
        "tensor(float) [?, ?, 4]",
    ),
    (
        "m, y = BatchNormalization (x, v, v, v, v)",
        "tensor(float) [3]",
    ),
    (
        "z, y = LayerNormalization <axis = 1> (x, w)",
        "tensor(float) [?, 1, 1]",
    ),
    ("y = Tile (x, r)", "tensor(float) [?, 6, 4]"),
    (
        "y = MaxPool <kernel_shape = [2], strides = [2]> (x)",
        "tensor(float) [?, 3, 2]",
    ),
];

#[test]
fn shapes_follow_from_shapes() {
    let mut failures = Vec::new();
    for (nodes, expected) in CASES {
        let source = format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g (float[n,3,4] x, int64[2] i, int64 l, float[2] f, bool c) => (y)
               <float[4] v = {{1, 2, 3, 4}}, float[3,4] w = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}, int64[1] k = {{2}}, int64[3] r = {{1, 2, 1}}> {{ {nodes} }}"#
        );
        let found = inferred(&source);
        if found != expected {
            failures.push(format!("{nodes}: {found}, not {expected}"));
        }
    }
    expect_no_failures(failures);
}

/// What onnxruntime computes is compared by the conformance check `inferred_types`.
#[test]
fn operators_of_onnxruntime_have_types_and_shapes() {
    const CASES: [(&str, &str); 12] = [
        ("y = com.microsoft.Gelu (x)", "tensor(float16) [?, 3, 4]"),
        (
            "a, b, c, y = com.microsoft.SkipLayerNormalization (x, x, v)",
            "tensor(float16) [?, 3, 4]",
        ),
        (
            "a, y = com.microsoft.SkipLayerNormalization (x, x, v)",
            "tensor(float) ?",
        ),
        (
            "y = com.microsoft.FusedMatMul <transB = 1> (x, x)",
            "tensor(float16) [?, 3, 3]",
        ),
        (
            "y = com.microsoft.FusedMatMul <transBatchA = 1> (x, x)",
            "tensor(float16) ?",
        ),
        (
            "y = com.microsoft.MatMulNBits <K = 4, N = 7> (x, q, s)",
            "tensor(float16) [?, 3, 7]",
        ),
        (
            "y = com.microsoft.Attention <num_heads = 1> (x, w)",
            "tensor(float16) [?, 3, 2]",
        ),
        (
            "y = com.microsoft.MultiHeadAttention <num_heads = 1> (x, x, w3)",
            "tensor(float16) [?, 3, 6]",
        ),
        (
            "y = com.microsoft.GroupQueryAttention <num_heads = 2, kv_num_heads = 1> (x)",
            "tensor(float16) [?, 3, 2]",
        ),
        (
            "y = com.microsoft.QuantizeLinear (x, s)",
            "tensor(uint8) [?, 3, 4]",
        ),
        (
            "a, y = com.microsoft.EmbedLayerNormalization (i, , w)",
            "tensor(int32) [2]",
        ),
        ("y = com.microsoft.NoOperator (x)", "? ?"),
    ];
    let mut failures = Vec::new();
    for (nodes, expected) in CASES {
        let source = format!(
            r#"<ir_version: 10, opset_import: ["": 21, "com.microsoft": 1]> g (float16[n,3,4] x, float16[4,6] w, float16[n,4,6] w3,
               float16[4] v, uint8[7,1,2] q, float16 s, int32[2,5] i) => (y) {{ {nodes} }}"#
        );
        let found = inferred(&source);
        if found != expected {
            failures.push(format!("{nodes}: {found}, not {expected}"));
        }
    }
    expect_no_failures(failures);
}

/// Those that it has in the domain ai.onnx, found by running them in onnxruntime 1.32.
#[test]
fn operators_of_onnxruntime_in_the_domain_of_onnx_have_types_and_shapes() {
    const CASES: [(&str, &str); 12] = [
        (
            "y = SimplifiedLayerNormalization (h, v)",
            "tensor(float) [1, 2, 3, 4]",
        ),
        (
            "a, y = SimplifiedLayerNormalization <axis = 2> (h, v)",
            "tensor(float) [1, 2, 1, 1]",
        ),
        (
            "y = LayerNormalization (h, v)",
            "tensor(float) [1, 2, 3, 4]",
        ),
        (
            "a, b, y = LayerNormalization (h, v)",
            "tensor(float) [1, 2, 3, 1]",
        ),
        ("y = Affine (h)", "tensor(float16) [1, 2, 3, 4]"),
        (
            "y = ImageScaler <bias = [0.0, 0.0]> (x)",
            "tensor(float) [1, 2, 3, 4]",
        ),
        (
            "y = Crop <border = [1, 0, 2, 1]> (x)",
            "tensor(float) [1, 2, 2, 1]",
        ),
        (
            "y = Crop <border = [1, 0, 0, 0], scale = [2, 3]> (x)",
            "tensor(float) [1, 2, 2, 3]",
        ),
        (
            "y = Crop <border = [3, 0, 2, 1]> (x)",
            "tensor(float) [1, 2, 2, ?]",
        ),
        ("y = DynamicSlice (x, i, j)", "tensor(float) [1, 1, 3, 4]"),
        (
            "y = MeanVarianceNormalization <across_channels = 1> (x)",
            "tensor(float) [1, 2, 3, 4]",
        ),
        ("y = ThresholdedRelu (x)", "tensor(float) [1, 2, 3, 4]"),
    ];
    let mut failures = Vec::new();
    for (nodes, expected) in CASES {
        let source = format!(
            r#"<ir_version: 8, opset_import: ["": 8]> g (float[1,2,3,4] x, float16[1,2,3,4] h, float[4] v) => (y)
               <int64[2] i = {{0, 1}}, int64[2] j = {{9, 2}}> {{ {nodes} }}"#
        );
        let found = inferred(&source);
        if found != expected {
            failures.push(format!("{nodes}: {found}, not {expected}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn types_of_labels_follow_from_attributes() {
    const CASES: [(i64, &str, &str); 9] = [
        (
            3,
            "y, z = ai.onnx.ml.TreeEnsembleClassifier <classlabels_int64s = [0, 1]> (x)",
            "tensor(int64)",
        ),
        (
            3,
            "y, z = ai.onnx.ml.LinearClassifier <classlabels_strings = [\"a\"], coefficients = [1.0]> (x)",
            "tensor(string)",
        ),
        (
            3,
            "y, z = ai.onnx.ml.SVMClassifier <classlabels_ints = [0, 1]> (x)",
            "tensor(int64)",
        ),
        (
            3,
            "y = ai.onnx.ml.ZipMap <classlabels_strings = [\"a\"]> (x)",
            "seq(map(string,float))",
        ),
        (
            3,
            "y = ai.onnx.ml.ZipMap <classlabels_int64s = [0]> (x)",
            "seq(map(int64,float))",
        ),
        (
            2,
            "y = ai.onnx.ml.LabelEncoder <keys_floats = [1.0], values_strings = [\"a\"]> (x)",
            "tensor(string)",
        ),
        (
            4,
            "y = ai.onnx.ml.LabelEncoder <keys_floats = [1.0], values_tensor = int16[1] {7}> (x)",
            "tensor(int16)",
        ),
        (
            1,
            "y = ai.onnx.ml.LabelEncoder <classes_strings = [\"a\"]> (s)",
            "tensor(int64)",
        ),
        (
            1,
            "y = ai.onnx.ml.CategoryMapper <cats_int64s = [1], cats_strings = [\"a\"]> (s)",
            "tensor(int64)",
        ),
    ];
    let mut failures = Vec::new();
    for (version, nodes, expected) in CASES {
        let source = format!(
            r#"<ir_version: 8, opset_import: ["": 18, "ai.onnx.ml": {version}]> g (float[2,3] x, string[2] s) => (y) {{ {nodes} }}"#
        );
        let model = Model::new(model(&source)).unwrap();
        let known = infer(&model)
            .of(model.lookup(ScopeId::MAIN, "y").unwrap())
            .value_type;
        let found = known.map_or_else(|| "?".to_owned(), |known| known.to_string());
        if found != expected {
            failures.push(format!("{nodes}: {found}, not {expected}"));
        }
    }
    expect_no_failures(failures);
}

/// Type and shape of the value `y`.
fn inferred(source: &str) -> String {
    let graph = Model::new(model(source)).unwrap();
    let known = infer(&graph)
        .of(graph.lookup(ScopeId::MAIN, "y").unwrap())
        .clone();
    let dim = |dim: &Option<i64>| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string());
    let shape = known.shape.map_or_else(
        || "?".to_owned(),
        |shape| format!("[{}]", shape.iter().map(dim).collect::<Vec<_>>().join(", ")),
    );
    format!(
        "{} {shape}",
        known
            .value_type
            .map_or_else(|| "?".to_owned(), |known| known.to_string())
    )
}
