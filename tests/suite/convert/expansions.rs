//! Operators that an older opset lacks, as nodes of that opset.

use onnx_recast::convert::{Exactness, Expand, NotConverted, Options};
use onnx_recast::text;

use super::{case, convert_text, run};
use crate::support::expect_no_failures;

#[test]
fn activations() {
    run(&[
        case(
            14,
            "(float[2] x) => (float[2] y)",
            "y = HardSwish (x)",
            13,
            "y_gate = HardSigmoid <alpha: float = 0.16666667, beta: float = 0.5> (x)
             y = Mul (x, y_gate)",
        ),
        case(
            28,
            "(float[2] x) => (float[2] y)",
            "y = Celu <alpha = 2.0> (x)",
            11,
            "y_alpha = Constant <value: tensor = float {2}> ()
             y_scaled = Div (x, y_alpha)
             y_elu = Elu <alpha: float = 1> (y_scaled)
             y = Mul (y_alpha, y_elu)",
        ),
        case(
            20,
            "(float16[2] x) => (float16[2] y)",
            "y = Gelu (x)",
            19,
            "y_sqrt_two = Constant <value: tensor = float16 {1.4140625}> ()
             y_one = Constant <value: tensor = float16 {1}> ()
             y_half = Constant <value: tensor = float16 {0.5}> ()
             y_scaled = Div (x, y_sqrt_two)
             y_erf = Erf (y_scaled)
             y_shifted = Add (y_erf, y_one)
             y_phi = Mul (y_shifted, y_half)
             y = Mul (x, y_phi)",
        ),
        case(
            20,
            "(float[2] x) => (float[2] y)",
            "y = Gelu <approximate = \"tanh\"> (x)",
            7,
            "y_cubic = Constant <value: tensor = float {0.044714998453855515}> ()
             y_sqrt_two_over_pi = Constant <value: tensor = float {0.7978845834732056}> ()
             y_one = Constant <value: tensor = float {1}> ()
             y_half = Constant <value: tensor = float {0.5}> ()
             y_square = Mul (x, x)
             y_cube = Mul (y_square, x)
             y_cube_scaled = Mul (y_cubic, y_cube)
             y_sum = Add (x, y_cube_scaled)
             y_scaled = Mul (y_sqrt_two_over_pi, y_sum)
             y_tanh = Tanh (y_scaled)
             y_shifted = Add (y_one, y_tanh)
             y_phi = Mul (y_half, y_shifted)
             y = Mul (x, y_phi)",
        ),
        case(20, "(float[2] x) => (float[2] y)", "y = Gelu (x)", 8, "no: its expansion contains Erf: Erf is new in opset 9"),
        case(
            18,
            "(float[2] x) => (float[2] y)",
            "y = Mish (x)",
            17,
            "y_softplus = Softplus (x)
             y_tanh = Tanh (y_softplus)
             y = Mul (x, y_tanh)",
        ),
        case(
            24,
            "(float[2] x) => (float[2] y)",
            "y = Swish (x)",
            23,
            "y_alpha = Constant <value: tensor = float {1}> ()
             y_scaled = Mul (y_alpha, x)
             y_gate = Sigmoid (y_scaled)
             y = Mul (x, y_gate)",
        ),
    ]);
}

#[test]
fn comparisons() {
    run(&[
        case(
            12,
            "(float[2] a, float[2] b) => (bool[2] y)",
            "y = GreaterOrEqual (a, b)",
            11,
            "y_greater = Greater (a, b)
             y_equal = Equal (a, b)
             y = Or (y_greater, y_equal)",
        ),
        case(
            16,
            "(int32[2] a, int32[2] b) => (bool[2] y)",
            "y = LessOrEqual (a, b)",
            9,
            "y_less = Less (a, b)
             y_equal = Equal (a, b)
             y = Or (y_less, y_equal)",
        ),
    ]);
}

/// The options, and what the report says of an exact expansion and of one by definition.
#[test]
fn expansions_can_be_refused_and_are_reported() {
    let source = |node: &str| format!(r#"<ir_version: 8, opset_import: ["": 18]> g (float[2] x) => (float[2] y) {{ {node} }}"#);
    let exact = source("[swish] y = HardSwish (x)");
    let by_definition = source("[mish] y = Mish (x)");
    let mut failures = Vec::new();
    for (source, expand, expected) in [
        (&exact, Expand::All, Ok(("graph/swish", Exactness::Exact, 2))),
        (&exact, Expand::Exact, Ok(("graph/swish", Exactness::Exact, 2))),
        (&exact, Expand::None, Err("HardSwish is new in opset 14, and expansion is disabled")),
        (&by_definition, Expand::All, Ok(("graph/mish", Exactness::ByDefinition, 3))),
        (&by_definition, Expand::Exact, Err("Mish is new in opset 18, and its expansion is not bit-exact")),
        (&by_definition, Expand::None, Err("Mish is new in opset 18, and expansion is disabled")),
    ] {
        let found = match convert_text(source, &Options { expand, ..Options::to(13) }) {
            Ok(conversion) => {
                let expanded = conversion.report.expansions;
                Ok(expanded.iter().map(|expanded| (expanded.node.clone(), expanded.class, expanded.nodes)).collect::<Vec<_>>())
            }
            Err(NotConverted::Blocked { blockers, .. }) => Err(blockers[0].reason.clone()),
            Err(error) => panic!("{error}"),
        };
        let expected = expected.map(|(node, class, nodes)| vec![(node.to_owned(), class, nodes)]).map_err(str::to_owned);
        if found != expected {
            failures.push(format!("{expand:?} {source}: {found:?}, not {expected:?}"));
        }
    }
    expect_no_failures(failures);
}

/// The node that computes the result keeps name, doc string and metadata; new names differ from all that the model has.
#[test]
fn names_and_metadata_stay() {
    let source = r#"<ir_version: 10, opset_import: ["": 18]> g (float[2] x, float[2] y_tanh) => (float[2] y, float[2] z)
        { [mine] y = Mish (x) [y_softplus] z = Add (x, y_tanh) }"#;
    let proto = convert_text(source, &Options::to(17)).unwrap().model.into_proto();
    let nodes = proto.graph.as_ref().unwrap().node.iter().map(text::print_node).collect::<Vec<_>>();
    assert_eq!(
        nodes,
        [
            "[y_softplus_1] y_softplus_1 = Softplus (x)",
            "[y_tanh_1] y_tanh_1 = Tanh (y_softplus_1)",
            "[mine] y = Mul (x, y_tanh_1)",
            "[y_softplus] z = Add (x, y_tanh)",
        ]
    );
}
