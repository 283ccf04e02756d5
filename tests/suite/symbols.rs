//! Names of dimensions are traced through shape arithmetic; wrong declarations are shown beside
//! what is inferred.

use onnx_recast::Model;
use onnx_recast::inspect::ValueFacts;

use crate::support::{expect_no_failures, model};

/// The nodes of a graph with the inputs `x` and `z`, and the shape of `y`; a dimension without name
/// and length is `?`.
const CASES: [(&str, &str); 22] = [
    ("y = Relu (x)", "batch,seq,3,4"),
    ("y = Transpose <perm = [1, 0, 3, 2]> (x)", "seq,batch,4,3"),
    ("y = Add (x, x)", "batch,seq,3,4"),
    // The dimension without a name may be one, or the length of the sequence.
    ("y = Add (x, z)", "batch,?,3,4"),
    (
        "o = Constant <value_ints = [1, 1, 1, 1]> () t = Expand (f, o) y = Add (x, t)",
        "batch,seq,3,4",
    ),
    ("s = Shape (x) y = ConstantOfShape (s)", "batch,seq,3,4"),
    (
        "t = Constant <value_ints = [0, 0, -1]> () y = Reshape (x, t)",
        "batch,seq,12",
    ),
    (
        "t = Constant <value_ints = [0, -1, 12]> () y = Reshape (x, t)",
        "batch,seq,12",
    ),
    (
        "t = Constant <value_ints = [-1, 12]> () y = Reshape (x, t)",
        "?,12",
    ),
    (
        "t = Constant <value_ints = [0, -1, 24]> () y = Reshape (x, t)",
        "batch,?,24",
    ),
    // The symbol without a name is cancelled too.
    (
        "t = Constant <value_ints = [0, 0, -1]> () y = Reshape (z, t)",
        "batch,?,12",
    ),
    (
        "s = Shape <end = 2> (x) t = Constant <value_ints = [2, -1]> () u = Concat <axis = 0> (s, t) y = Reshape (x, u)",
        "batch,seq,2,6",
    ),
    (
        "s = Shape (x) a = Constant <value_ints = [1]> () g = Gather (s, a) o = Constant <value_ints = [1]> () p = Mul (g, o) e = Expand (f, p) y = Relu (e)",
        "seq",
    ),
    (
        "s = Shape (x) a = Constant <value_int = 1> () g = Gather (s, a) o = Constant <value_int = 0> () d = Constant <value_int = 1> () y = Range (o, g, d)",
        "seq",
    ),
    (
        "b = Constant <value_ints = [0]> () e = Constant <value_ints = [9223372036854775807]> () a = Constant <value_ints = [1]> () y = Slice (x, b, e, a)",
        "batch,seq,3,4",
    ),
    (
        "b = Constant <value_ints = [0]> () e = Constant <value_ints = [5]> () a = Constant <value_ints = [1]> () y = Slice (x, b, e, a)",
        "batch,?,3,4",
    ),
    ("y = Concat <axis = 3> (x, x)", "batch,seq,3,8"),
    ("y = Concat <axis = 0> (x, x)", "?,seq,3,4"),
    (
        "y = Einsum <equation = \"bsij,bsjk->bsk\"> (x, w)",
        "batch,seq,5",
    ),
    (
        "t = Shape (x) k = Constant <value_ints = [2]> () h = Slice (t, k0, k) r = ReduceProd <keepdims = 1> (h) y = Expand (f, r)",
        "?",
    ),
    (
        "y = If (c) <then_branch = a () => (p) { p = Relu (x) }, else_branch = b () => (q) { q = Neg (x) }>",
        "batch,seq,3,4",
    ),
    (
        "y = Loop (l, c, x) <body = b (int64 n, bool g, float[] p) => (g2, q) { g2 = Identity (g) q = Relu (p) }>",
        "batch,seq,3,4",
    ),
];

#[test]
fn names_of_dimensions_are_traced() {
    let mut failures = Vec::new();
    for (nodes, expected) in CASES {
        let source = format!(
            r#"<ir_version: 10, opset_import: ["": 21]> g (float[batch,seq,3,4] x, float[batch,?,3,4] z, float[batch,seq,4,5] w, bool c, int64 l) => (y)
               <float f = {{1}}, int64[1] k0 = {{0}}> {{ {nodes} }}"#
        );
        let found = shape_text(&facts_of(&source, "y"));
        if found != expected {
            failures.push(format!("{nodes}: {found}, not {expected}"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn names_in_bodies_of_loops_and_functions_are_their_own() {
    let source = r#"<ir_version: 10, opset_import: ["": 21, "local": 1]> g (float[n] x, int64 l, bool c) => (y, z) {
            y = Loop (l, c) <body = b (int64 i, bool g) => (g2, float[n] p) { g2 = Identity (g) a = NonZero (x) s = Squeeze (a) p = Cast <to = 1> (s) }>
            z = local.F (x)
        }
        <domain: "local", opset_import: ["": 21]> F (x) => (z) { a = NonZero (x) z = Squeeze (a) }"#;
    assert_eq!(
        (
            shape_text(&facts_of(source, "y")),
            shape_text(&facts_of(source, "z"))
        ),
        ("?,?".to_owned(), String::new())
    );
}

#[test]
fn a_wrong_declaration_is_shown_beside_what_is_inferred() {
    let source = r#"<ir_version: 10, opset_import: ["": 21]> g (float[n,4] x) => (int64[n,5] y) { y = Relu (x) }"#;
    let y = facts_of(source, "y");
    let contradiction = serde_json::to_value(y.contradiction).unwrap();
    let expected = serde_json::json!({
        "declared": {"type": "tensor(int64)", "shape": [null, 5]},
        "found": {"type": "tensor(float)", "shape": [null, 4]},
    });
    assert_eq!(contradiction, expected);
    assert_eq!(y.type_and_shape.to_string(), "?");
    assert_eq!(facts_of(source, "x").contradiction, None);
}

fn facts_of(source: &str, name: &str) -> ValueFacts {
    let graph = Model::new(model(source)).unwrap();
    graph
        .types()
        .into_iter()
        .find(|facts| facts.scope == "graph" && facts.value == name)
        .unwrap()
}

fn shape_text(facts: &ValueFacts) -> String {
    let text = facts.type_and_shape.to_string();
    let (_, dims) = text.split_once('[').unwrap_or_default();
    dims.trim_end_matches(']').to_owned()
}
