//! The evaluation of operators by the verification is that of the passes: the same operators, and
//! the same results.

use onnx_recast::graph::{NodeId, ScopeId};
use onnx_recast::internals::casts::moves;
use onnx_recast::internals::graph::data;
use onnx_recast::internals::onnx_text;
use onnx_recast::internals::ops::compute::{self, Call};
use onnx_recast::internals::ops::schemas;
use onnx_recast::internals::tensor::Content;
use onnx_recast::verify::facts::{self, Value};
use onnx_recast::{Contested, Model};

use crate::support::{expect_no_failures, model};

/// Constants that the nodes use; an operator gets each of those that are named after `X`.
const CONSTANTS: &str = r#"
    float[2, 3] f = {1, -2, 0, -0.0, 5.5, nan}, float16[2, 3] h = {1, -2, 0, 7, -0.5, inf}, int64[2, 3] l = {1, -2, 3, 0, 5, 6},
    int8[2, 3] b = {127, -128, 3, 0, -5, 6}, uint8[2, 3] u = {255, 128, 3, 0, 1, 200}, bool[2, 3] t = {1, 0, 1, 0, 0, 1},
    string[2, 3] s = {"a", "b", "c", "d", "", "f"}, int4[2, 3] q = {1, -2, 7, -8, 5, 6}, uint64[2, 3] w = {1, 2, 3, 4, 5, 6},
    float[2, 1, 3] g = {1, 2, 3, 4, 5, 6}, int64[0, 3] e = {}, int64[1, 1, 2] o = {7, 8},
    int64 zero = {0}, int64 one = {1}, int64 minus = {-1}, int64 five = {5}, int64[0] none = {}, int64[1] all = {-1}, int64[1] first = {0},
    int64[1] second = {1}, int64[2] ones = {1, 1}, int64[2] shape = {3, 2}, int64[2] rest = {0, -1}, int64[2] back = {-1, -2}, int64[2] pair = {1, 2},
    int64[3] three = {2, 1, 3}, int64[1] large = {9223372036854775807}, int64[1] small = {-9223372036854775808}, int64[1] minus_two = {-2},
    int64[1] minus_seven = {-7}, int64[2, 2] places = {0, 1, 1, 2}, int64[2, 1] rows = {1, 0}, int32[2, 3] i = {1, 0, 1, -1, -2, 0},
    int64[4] pads = {1, 0, -1, 2}, float[1] pad = {9}, int64[2] two_pads = {1, 2}, int64[3] wide = {2, 2, 3}, float[2] onoff = {2, 7},
    float[3] fractions = {0.5, 1, -1}, float three_and_half = {3.5}, float three_floats = {3}, int64[2] huge = {4611686018427387905, 4611686018427387904},
    int64 above = {9007199254740993}, uint8[2] by = {1, 9}, uint8[2] shifts = {1, 7}, uint8[2] few = {3, 129}, bool[3] mask = {1, 0, 1}, int8 negative = {-3}, int64[2] parts = {1, 2}"#;

/// Nodes; `X` is each of the constants of two axes.
const NODES: &[&str] = &[
    "Identity (X)",
    "Reshape (X, shape)",
    "Reshape (X, rest)",
    "Reshape (X, all)",
    "Reshape (X, ones)",
    "Reshape (e, rest)",
    "Reshape <allowzero = 1> (e, rest)",
    "Reshape <shape = [3, -1]> (X)",
    "Squeeze (g)",
    "Squeeze (g, second)",
    "Squeeze (g, first)",
    "Squeeze (g, minus_two)",
    "Squeeze (g, none)",
    "Squeeze <axes = [1]> (g)",
    "Unsqueeze (X, rest)",
    "Unsqueeze (X, back)",
    "Unsqueeze (X, ones)",
    "Unsqueeze <axes = [0, 3]> (X)",
    "Flatten (X)",
    "Flatten <axis = 0> (g)",
    "Flatten <axis = 3> (g)",
    "Flatten <axis = -1> (g)",
    "Transpose (X)",
    "Transpose <perm = [0, 1]> (X)",
    "Transpose <perm = [1, 0]> (X)",
    "Transpose <perm = [1, 1]> (X)",
    "Transpose <perm = [2, 0, 1]> (g)",
    "Slice (X, first, second)",
    "Slice (X, all, large, second, all)",
    "Slice (X, large, small, second, all)",
    "Slice (X, minus_seven, small, second, all)",
    "Slice (X, minus_two, large, second)",
    "Slice (X, first, large, second, pair)",
    "Slice (X, rest, pair)",
    "Slice (X, first, large, all, shape)",
    "Slice (X, first, large, second, second)",
    "Slice <starts = [1], ends = [9], axes = [1]> (X)",
    "Split <axis = 1> (X)",
    "Split <axis = 0> (X)",
    "Split <axis = 1, num_outputs = 2> (X)",
    "Split <axis = -1> (X, parts)",
    "Split <axis = 1, split = [1, 2]> (X)",
    "Split <axis = 1> (X, ones)",
    "Expand (X, wide)",
    "Expand (X, shape)",
    "Expand (o, three)",
    "Tile (X, pair)",
    "Tile (X, rest)",
    "Tile (X, all)",
    "Concat <axis = 0> (X, X)",
    "Concat <axis = -1> (X, X, X)",
    "Concat <axis = 1> (l, e)",
    "Concat <axis = 0> (l, e)",
    "Concat <axis = 2> (X, X)",
    "Gather (X, one)",
    "Gather <axis = 1> (X, pair)",
    "Gather <axis = 1> (X, places)",
    "Gather <axis = -1> (X, back)",
    "Gather (X, five)",
    "GatherElements (X, i)",
    "GatherElements <axis = 1> (X, i)",
    "GatherElements <axis = 1> (X, places)",
    "GatherND (X, places)",
    "GatherND (X, rows)",
    "GatherND <batch_dims = 1> (X, rows)",
    "GatherND (X, five)",
    "Pad (X, pads)",
    "Pad (f, pads, pad)",
    "Pad (X, two_pads, \"\", second)",
    "Pad <mode = \"reflect\"> (X, pads)",
    "Pad <pads = [1, 0, -1, 2]> (X)",
    "Pad <pads = [1, 0, -1, 2], value = 1.5> (X)",
    "Trilu (X)",
    "Trilu <upper = 0> (X)",
    "Trilu (X, one)",
    "Trilu <upper = 0> (X, minus)",
    "Where (t, X, X)",
    "Where (mask, f, g)",
    "Where (t, f, pad)",
    "Where (X, l, five)",
    "OneHot (i, five, onoff)",
    "OneHot <axis = 0> (i, three_floats, onoff)",
    "OneHot (fractions, three_floats, onoff)",
    "OneHot (i, three_and_half, onoff)",
    "OneHot (i, zero, onoff)",
    "NonZero (X)",
    "NonZero (five)",
    "ConstantOfShape (shape)",
    "ConstantOfShape (none)",
    "ConstantOfShape <value = int8[1] {5}> (shape)",
    "ConstantOfShape <value = string[1] {\"x\"}> (pair)",
    "Range (zero, five, one)",
    "Range (five, zero, minus)",
    "Range (five, zero, one)",
    "Range (zero, five, zero)",
    "Range (above, above, minus)",
    "Range (three_floats, three_floats, three_floats)",
    "Shape (X)",
    "Shape <start = 1> (g)",
    "Shape <start = -2, end = -1> (g)",
    "Shape <start = 2, end = 1> (g)",
    "Size (X)",
    "Size (e)",
    "EyeLike (X)",
    "EyeLike <k = 1, dtype = 6> (X)",
    "EyeLike <k = -1> (X)",
    "EyeLike (g)",
    "Add (X, X)",
    "Add (l, five)",
    "Add (g, f)",
    "Add (l, o)",
    "Add (huge, huge)",
    "Add <broadcast = 1> (l, five)",
    "Sub (X, X)",
    "Sub (l, five)",
    "Mul (X, X)",
    "Mul (huge, huge)",
    "Div (X, X)",
    "Div (l, five)",
    "Div (five, minus)",
    "Div (l, back)",
    "Div (huge, back)",
    "Mod (X, X)",
    "Mod (l, five)",
    "Mod (b, negative)",
    "Mod <fmod = 1> (b, negative)",
    "Mod <fmod = 1> (huge, five)",
    "Max (X, X, X)",
    "Max (l, five, o)",
    "Min (X, X)",
    "Min (l, zero)",
    "Max (X)",
    "Neg (X)",
    "Neg (small)",
    "Abs (X)",
    "Sign (X)",
    "Equal (X, X)",
    "Equal (l, five)",
    "Less (X, X)",
    "Less (l, one)",
    "LessOrEqual (l, one)",
    "LessOrEqual (X, X)",
    "Greater (X, X)",
    "Greater (f, g)",
    "GreaterOrEqual (f, g)",
    "GreaterOrEqual (l, one)",
    "And (t, t)",
    "And (t, mask)",
    "Or (t, mask)",
    "Xor (t, mask)",
    "Not (t)",
    "BitwiseAnd (X, X)",
    "BitwiseAnd (b, negative)",
    "BitwiseOr (b, negative)",
    "BitwiseXor (b, negative)",
    "BitwiseNot (X)",
    "BitShift <direction = \"LEFT\"> (few, shifts)",
    "BitShift <direction = \"RIGHT\"> (few, shifts)",
    "BitShift <direction = \"LEFT\"> (few, by)",
    "BitShift (few, shifts)",
    "CumSum (l, one)",
    "CumSum (X, zero)",
    "CumSum <exclusive = 1> (l, zero)",
    "CumSum <exclusive = 1, reverse = 1> (l, minus)",
    "CumSum <reverse = 1> (X, one)",
    "CumSum (huge, zero)",
    "DepthToSpace (X)",
];

const DATA: [&str; 9] = ["f", "h", "l", "b", "u", "t", "s", "q", "w"];

/// The results of a node, by the passes and by the verification.
struct Results {
    passes: Result<Vec<Content>, compute::NotComputed>,
    verification: Result<Vec<Value>, String>,
}

fn results(model: &Model, node: NodeId, contested: Option<Contested>) -> Option<Results> {
    let (operator, schema) = compute::operator(model, node)?;
    let tensor = |index: u32| {
        model
            .constant(model.input(node, index)?)
            .ok()
            .map(|constant| constant.tensor.into_owned())
    };
    let tensors: Vec<_> = (0..model.node(node).input.len() as u32)
        .map(tensor)
        .collect();
    let read = |tensor: &_| {
        onnx_recast::internals::tensor::Tensor::read(tensor)
            .unwrap()
            .load(data(model))
            .unwrap()
    };
    let inputs = tensors
        .iter()
        .map(|tensor| tensor.as_ref().map(read))
        .collect();
    let passes = operator.compute(&Call {
        model,
        node,
        schema,
        inputs,
        first: None,
        limit: u64::MAX,
        contested,
    });
    let inputs = tensors
        .iter()
        .map(|tensor| {
            tensor
                .as_ref()
                .map(|tensor| Value::load(tensor, data(model)).unwrap())
        })
        .collect();
    let of_verification = facts::Node {
        model,
        id: node,
        schema,
        inputs,
        first: None,
        contested,
    };
    let verification = of_verification
        .expect_types()
        .and_then(|()| facts::results(&of_verification));
    Some(Results {
        passes,
        verification,
    })
}

/// How the results of the verification differ from those of the passes.
fn difference(
    model: &Model,
    Results {
        passes,
        verification,
    }: Results,
) -> Option<String> {
    let passes = match (passes, &verification) {
        (Ok(passes), Ok(_)) => passes,
        (Ok(_), Err(why)) => return Some(format!("is not evaluated: {why}")),
        (Err(compute::NotComputed::Undefined(why)), Ok(values)) => {
            return Some(format!("is undefined: {why}; found {values:?}"));
        }
        (Err(compute::NotComputed::Contested(why)), Ok(values)) => {
            return Some(format!("is contested: {why}; found {values:?}"));
        }
        (Err(_), _) => return None,
    };
    let values = verification.unwrap_or_default();
    if values.len() < passes.len() {
        return Some(format!(
            "has {} results, not {}",
            values.len(),
            passes.len()
        ));
    }
    passes
        .into_iter()
        .zip(values)
        .find_map(|(expected, found)| {
            let tensor = expected.into_tensor("");
            let expected = Value::load(&tensor, data(model)).unwrap();
            if (expected.dtype(), expected.dims()) != (found.dtype(), found.dims()) {
                return Some(format!(
                    "is {}{:?}, not {}{:?}",
                    found.dtype(),
                    found.dims(),
                    expected.dtype(),
                    expected.dims()
                ));
            }
            facts::first_difference(&expected, &found).map(|difference| format!("{difference:?}"))
        })
}

/// A model of all nodes of the table, each of which uses one of the constants.
fn nodes_of(data: &str, opset: i64) -> Model {
    let mut nodes = String::new();
    for (index, node) in NODES.iter().enumerate() {
        let outputs = if node.starts_with("Split") {
            format!("r{index}, q{index}")
        } else {
            format!("r{index}")
        };
        let node = node
            .replace("(X", &format!("({data}"))
            .replace(" X", &format!(" {data}"));
        nodes.push_str(&format!("{outputs} = {node}\n"));
    }
    let text = format!(
        r#"<ir_version: 10, opset_import: ["": {opset}]> m () => () <{CONSTANTS}> {{ {nodes} }}"#
    );
    Model::new(model(&text)).unwrap()
}

#[test]
fn the_results_are_those_of_the_passes() {
    let mut failures = Vec::new();
    let mut computed = std::collections::BTreeSet::new();
    for opset in [1, 5, 8, 9, 10, 11, 13, 14, 18, 21, 24] {
        for data in DATA {
            let model = nodes_of(data, opset);
            for node in model.nodes(ScopeId::MAIN) {
                for contested in [None, Some(Contested::Text), Some(Contested::Runtime)] {
                    let Some(results) = results(&model, node, contested) else {
                        continue;
                    };
                    if results.passes.is_ok() {
                        computed.insert(model.node(node).op_type().to_owned());
                    }
                    let difference = difference(&model, results);
                    let text = || onnx_text::print_node(model.node(node));
                    failures.extend(
                        difference.map(|what| {
                            format!("{}, opset {opset}, {contested:?}: {what}", text())
                        }),
                    );
                }
            }
        }
    }
    let is_computed = |name: &&str| facts::needs(name).is_some() && !computed.contains(*name);
    let operators = schemas::operators()
        .filter(|versions| versions[0].domain.is_empty())
        .map(|versions| versions[0].name);
    failures.extend(
        operators
            .filter(is_computed)
            .map(|name| format!("{name}: no node of the table is computed")),
    );
    expect_no_failures(failures);
}

#[test]
fn the_operators_are_those_of_the_passes() {
    let mut failures = Vec::new();
    for versions in schemas::operators().filter(|versions| versions[0].domain.is_empty()) {
        let (name, opset) = (versions[0].name, versions.last().unwrap().since_version);
        let text = format!(
            r#"<ir_version: 10, opset_import: ["": {opset}]> m () => (r) {{ r = "{name}" (a, b, c) }}"#
        );
        let model = Model::new(model(&text)).unwrap();
        let node = model.topological_order()[0];
        let is_deprecated = versions.last().unwrap().deprecated;
        let of_passes = compute::operator(&model, node)
            .map(|(operator, _)| operator.needs == compute::Needs::Shape);
        let found = facts::needs(name).map(|needs| needs == facts::Needs::Shape);
        if of_passes != found && !is_deprecated {
            failures.push(format!(
                "{name}: evaluated {found:?}, computed by passes {of_passes:?}"
            ));
        }
        if moves(&model, node) != facts::moves(&model, node) {
            failures.push(format!(
                "{name}: moves {:?}, in passes {:?}",
                facts::moves(&model, node),
                moves(&model, node)
            ));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn large_values_are_computed_where_they_are_read() {
    // 4 GiB of which two elements are read.
    let text = r#"<ir_version: 10, opset_import: ["": 21]> m () => (r)
        <int64[2] shape = {32768, 32768}, int64[1] start = {32767}, int64[1] end = {32768}, int64[1] axis = {0}, int64[2] pair = {0, 32767}> {
            c = ConstantOfShape <value = int32[1] {7}> (shape)
            t = Transpose (c)
            a = Add (t, t)
            d = Slice (a, start, end, axis)
            e = Gather <axis = 1> (d, pair)
            r = Cast <to = 1> (e)
        }"#;
    let original = Model::new(model(text)).unwrap();
    let result =
        r#"<ir_version: 10, opset_import: ["": 21]> m () => (r) <float[1, 2] r = {14, 14}> { }"#;
    let passes = onnx_recast::passes::EXACT;
    let verification = onnx_recast::verify::Verification::of_passes(
        &original,
        passes,
        &onnx_recast::FoldOptions::default(),
    );
    verification
        .check(&Model::new(model(result)).unwrap())
        .unwrap();
    let wrong = result.replace("14}", "15}");
    verification
        .check(&Model::new(model(&wrong)).unwrap())
        .unwrap_err();
}
