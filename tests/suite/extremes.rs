//! Attributes and shapes at which arithmetic ends: what the fuzz target `infer` and its relatives
//! found, and what is like it.

use std::panic::catch_unwind;

use onnx_recast::passes::EXACT;
use onnx_recast::{ConvertOptions, FoldOptions, LATEST_OPSET, LintOptions, Model};

use crate::support::expect_no_failures;

/// The opset, the inputs, the initializers and the nodes, whose last result is `y`.
const MODELS: [(i64, &str, &str, &str); 18] = [
    // A negative step along an axis without elements.
    (
        21,
        "float[0] x",
        "int64[1] s = {-1}, int64[1] e = {-9}, int64[1] a = {0}, int64[1] t = {-1}",
        "y = Slice (x, s, e, a, t)",
    ),
    // The same of a shape, whose numbers are followed.
    (
        21,
        "float[2] x",
        "int64[1] s = {-1}, int64[1] e = {-9}, int64[1] a = {0}, int64[1] t = {-1}",
        "d = Shape <start = 1> (x) y = Slice (d, s, e, a, t)",
    ),
    // More starts than dimensions.
    (
        21,
        "float[2] x",
        "int64[2] s = {0, 0}, int64[2] e = {1, 1}",
        "y = Slice (x, s, e)",
    ),
    // More axes than memory holds.
    (
        17,
        "float[2, 3] x, float[3] w",
        "",
        "y = LayerNormalization <axis = -9223372036854775808> (x, w)",
    ),
    (
        17,
        "float x, float[3] w",
        "",
        "y = LayerNormalization <axis = -9223372036854775808> (x, w)",
    ),
    (
        21,
        "float[1] x, int64[4611686018427387904] s",
        "",
        "y = Expand (x, s)",
    ),
    // Labels of several bytes, and dots before the ellipsis.
    (
        21,
        "float[2] x",
        "",
        r#"y = Einsum <equation = "é...->é"> (x)"#,
    ),
    (
        21,
        "float[2] x",
        "",
        r#"y = Einsum <equation = ".a...->a"> (x)"#,
    ),
    // A length that overflows.
    (
        21,
        "float[1, 1, 9223372036854775807] x",
        "",
        "y = MaxPool <kernel_shape = [2], dilations = [-1]> (x)",
    ),
    (
        22,
        "float[1, 1, 9223372036854775807] x",
        "",
        "y = AveragePool <kernel_shape = [2], ceil_mode = 1, pads = [1, 1], dilations = [2]> (x)",
    ),
    // Empty tensors, of which other axes are longer than memory.
    (
        21,
        "float[1] x",
        "float[1099511627776, 0] a = {}, float[1099511627776, 0] b = {}",
        "c = Concat <axis = 1> (a, b) d = Shape (c) y = Cast <to = 1> (d)",
    ),
    (
        21,
        "float[1] x",
        "float[0, 1099511627776, 1099511627776] a = {}",
        "b = Transpose (a) d = Shape (b) y = Cast <to = 1> (d)",
    ),
    (
        21,
        "float[0, 1099511627776, 1099511627776] x, int64[0, 1, 1] i",
        "",
        "y = GatherElements <axis = 0> (x, i)",
    ),
    // As many rows of a mask without columns.
    (14, "float[9223372036854775807, 0] x", "", "y = Trilu (x)"),
    // Products of dimensions that overflow, and more computed axes than memory holds.
    (
        21,
        "float[1099511627776, 1099511627776, 2] x, int64[1] a",
        "",
        "y = ReduceSum (x, a)",
    ),
    (
        21,
        "float[1099511627776, 1099511627776, 2] x, int64 a",
        "",
        "y = CumSum (x, a)",
    ),
    (
        21,
        "float[2] x, int64[9223372036854775807] a",
        "",
        "y = Unsqueeze (x, a)",
    ),
    // A negative width.
    (
        21,
        "float[2] x, uint8[1] b, float[1] s",
        "",
        "n = com.microsoft.MatMulNBits <N = -5> (x, b, s) y, z = Split <num_outputs = 2> (n)",
    ),
];

#[test]
fn extreme_numbers_cause_no_panics() {
    let mut failures = Vec::new();
    for (opset, inputs, initializers, nodes) in MODELS {
        let text = format!(
            r#"<ir_version: 10, opset_import: ["": {opset}, "com.microsoft": 1]> g ({inputs}) => (y) <{initializers}> {{ {nodes} }}"#
        );
        // The operations that change a model catch panics of passes and adapters themselves.
        let work = || {
            let mut model = Model::from_text(&text).unwrap_or_else(|error| panic!("{error}"));
            let _ = (model.inspect(), model.types());
            let mut internal = vec![model.lint(&LintOptions::default()).err()];
            internal.push(
                model
                    .clone()
                    .run_passes(EXACT, &FoldOptions::default())
                    .err(),
            );
            internal.extend(
                [1, 7, 13, LATEST_OPSET].map(|to| model.convert(&ConvertOptions::to(to)).err()),
            );
            internal
                .into_iter()
                .flatten()
                .find(|error| error.kind() == onnx_recast::ErrorKind::Internal)
        };
        match catch_unwind(work) {
            Ok(None) => {}
            Ok(Some(error)) => failures.push(format!("{nodes}: {error}")),
            Err(_) => failures.push(format!("{nodes}: a panic")),
        }
    }
    expect_no_failures(failures);
}
