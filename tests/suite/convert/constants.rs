//! Constants that attributes become, and attributes that constants become.

use onnx_recast::internals::convert::Options;

use super::{blockers, case, convert_text, run};

#[test]
fn constants_stand_where_the_version_wants_them() {
    run(&[
        case(
            10,
            "(float[2] x) => (float[2] y)",
            "y = Clip <min = 0.5> (x)",
            11,
            "y_min = Constant <value: tensor = float {0.5}> ()
             y = Clip (x, y_min)",
        ),
        case(
            10,
            "(double[2] x) => (double[2] y)",
            "y = Clip <min = 0.5, max = 2.0> (x)",
            11,
            "y_min = Constant <value: tensor = double {0.5}> ()
             y_max = Constant <value: tensor = double {2}> ()
             y = Clip (x, y_min, y_max)",
        ),
        case(
            10,
            "(double[2] x) => (double[2] y)",
            "y = Clip <min = 0.5> (x)",
            11,
            "no: the default bound of Clip differs between the two versions for DOUBLE",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y) <float a = {0}, float b = {1}>",
            "y = Clip (x, a, b)",
            6,
            "y = Clip <max: float = 1, min: float = 0> (x)",
        ),
        case(
            12,
            "(float[2] x) => (float[2] y) <float a = {2}, float b = {1}>",
            "y = Clip (x, a, b)",
            10,
            "y = Clip <max: float = 1, min: float = 1> (x)",
        ),
        case(
            12,
            "(float[2] x) => (float[2] y) <float a = {nan}>",
            "y = Clip (x, a)",
            10,
            "no: `min` is NaN, which runtimes refuse as an attribute",
        ),
        case(
            13,
            "(float[2] x) => (float[2] y) <float a = {2}, float b = {1}>",
            "y = Clip (x, a, b)",
            12,
            "y_is_low = Less (x, a)
             y_raised = Where (y_is_low, a, x)
             y_is_high = Less (b, y_raised)
             y = Where (y_is_high, b, y_raised)",
        ),
        case(
            13,
            "(int32[2] x) => (int32[2] y) <int32 a = {0}>",
            "y = Clip (x, a)",
            11,
            "y_wider = Cast <to: int = 11> (x)
             y_wider_1 = Cast <to: int = 11> (a)
             y_wide = Clip (y_wider, y_wider_1)
             y = Cast <to: int = 6> (y_wide)",
        ),
        case(
            13,
            "(float[2] x, float a) => (float[2] y)",
            "y = Clip (x, a)",
            6,
            "no: its expansion contains Less: opset 6 broadcasts",
        ),
        case(
            10,
            "(float16[2,2] x) => (float16 y)",
            "y = Pad <pads = [0,1,0,1], value = 0.5> (x)",
            11,
            "y_pads = Constant <value: tensor = int64[4] {0, 1, 0, 1}> ()
             y_constant_value = Constant <value: tensor = float16 {0.5}> ()
             y = Pad (x, y_pads, y_constant_value)",
        ),
        case(
            10,
            "(float[2,2] x) => (float y)",
            "y = Pad <pads = [0,1,0,1]> (x)",
            11,
            "y_pads = Constant <value: tensor = int64[4] {0, 1, 0, 1}> ()
             y = Pad (x, y_pads)",
        ),
        case(
            18,
            "(float[2,2] x) => (float y) <int64[2] p = {1,2}, int64[1] a = {-1}>",
            "y = Pad (x, p, , a)",
            10,
            "y = Pad <pads: ints = [0, 1, 0, 2]> (x)",
        ),
        case(
            19,
            "(float[] x) => (float y) <int64[4] p = {1,2,1,2}>",
            "y = Pad <mode = \"wrap\"> (x, p)",
            18,
            "no: the rank of input 'x' is unknown",
        ),
        case(
            9,
            "(float[4] x) => (float y)",
            "y = Slice <starts = [0], ends = [2]> (x)",
            10,
            "y_starts = Constant <value: tensor = int64[1] {0}> ()
             y_ends = Constant <value: tensor = int64[1] {2}> ()
             y = Slice (x, y_starts, y_ends)",
        ),
        case(
            10,
            "(float[4] x) => (float y) <int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {0}, int64[1] o = {1}>",
            "y = Slice (x, s, e, a, o)",
            9,
            "y = Slice <axes: ints = [0], ends: ints = [2], starts: ints = [0]> (x)",
        ),
        case(
            10,
            "(float[4] x) => (float y) <int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {0}, int64[1] o = {2}>",
            "y = Slice (x, s, e, a, o)",
            9,
            "y_places_0 = Constant <value: tensor = int64[1] {0}> ()
             y = Gather <axis: int = 0> (x, y_places_0)",
        ),
        case(
            13,
            "(float[4] x) => (float y) <int64[1] s = {0}, int64[1] e = {2}, int64[1] a = {-1}>",
            "y = Slice (x, s, e, a)",
            10,
            "y_axes = Constant <value: tensor = int64[1] {0}> ()
             y = Slice (x, s, e, y_axes)",
        ),
        case(
            4,
            "(float[4] x) => (float y)",
            "y = Reshape <shape = [2,2]> (x)",
            9,
            "y_shape = Constant <value: tensor = int64[2] {2, 2}> ()
             y = Reshape (x, y_shape)",
        ),
        case(
            5,
            "(float[4] x) => (float y) <int64[2] s = {2,2}>",
            "y = Reshape (x, s)",
            4,
            "y = Reshape <shape: ints = [2, 2]> (x)",
        ),
        case(14, "(float[4] x) => (float y) <int64[2] s = {2,2}>", "y = Reshape <allowzero = 1> (x, s)", 13, "y = Reshape (x, s)"),
        case(
            9,
            "(float[4] x) => (float y, int64 i)",
            "y, i = TopK <k = 2> (x)",
            11,
            "y_k = Constant <value: tensor = int64[1] {2}> ()
             y, i = TopK (x, y_k)",
        ),
        case(
            11,
            "(float[4] x) => (float y, int64 i) <int64[1] k = {2}>",
            "y, i = TopK <largest = 1> (x, k)",
            9,
            "y, i = TopK <k: int = 2> (x)",
        ),
        case(
            11,
            "(float[2] x) => (float[0] y, int64[0] i) <int64[1] k = {0}>",
            "y, i = TopK (x, k)",
            9,
            "no: `k` = 0 is not supported by TopK before opset 10",
        ),
        case(
            11,
            "(float[4] x) => (float y, int64 i) <int64[1] k = {2}>",
            "y, i = TopK <largest = 0> (x, k)",
            10,
            "y_negated = Neg (x)
             y_negated_result, i = TopK (y_negated, k)
             y = Neg (y_negated_result)",
        ),
        case(12, "() => (float y)", "y = Constant <value_float = 1.5> ()", 11, "y = Constant <value: tensor = float {1.5}> ()"),
        case(12, "() => (int64[2] z)", "y = Constant <value_ints = [1, 2]> () z = Identity (y)", 8, "z = Identity (y)"),
        case(
            15,
            "(float[2,3] x) => (int64[1] y)",
            "y = Shape <start = 1> (x)",
            14,
            "y_starts = Constant <value: tensor = int64[1] {1}> ()
             y_ends = Constant <value: tensor = int64[1] {9223372036854775807}> ()
             y_whole = Shape (x)
             y = Slice (y_whole, y_starts, y_ends)",
        ),
        case(15, "(float[2,3] x) => (int64[2] y)", "y = Shape <start = 0> (x)", 14, "y = Shape (x)"),
        case(
            19,
            "(float[2,3] x) => (float y)",
            "y = DFT <axis = 1> (x)",
            20,
            "y_axis = Constant <value: tensor = int64 {1}> ()
             y = DFT (x, \"\", y_axis)",
        ),
        case(20, "(float[2,3] x) => (float y)", "y = DFT (x)", 19, "y = DFT <axis: int = -2> (x)"),
    ]);
}

#[test]
fn constants_go_with_their_last_use_and_are_read_unless_a_caller_can_override_them() {
    let shared = r#"<ir_version: 8, opset_import: ["": 13]> g (float[2,1] x) => (float y, int64[1] z) <int64[1] a = {1}>
        { b = Constant <value = int64[1] {1}> () h = Squeeze (x, a) y = Unsqueeze (h, b) z = Identity (a) }"#;
    let proto = convert_text(shared, &Options::to(12)).unwrap().model.into_proto();
    let graph = proto.graph.as_ref().unwrap();
    assert_eq!(graph.initializer.len(), 1, "the output z still uses the initializer");
    assert!(graph.node.iter().all(|node| node.op_type() != "Constant"), "nothing uses the constant any more");
    let overridable = r#"<ir_version: 8, opset_import: ["": 13]> g (float[n,1] x, int64[1] a) => (float y) <int64[1] a = {1}> { y = Squeeze (x, a) }"#;
    assert!(blockers(overridable, 12).0[0].contains("which a caller can override"));
    let own = convert_text(&overridable.replace("ir_version: 8", "ir_version: 3"), &Options::to(12)).unwrap().model.into_proto();
    assert_eq!(own.graph.as_ref().unwrap().node[0].input, ["x"]);
}

/// Before opset 9 a `Constant` is of a floating-point type.
#[test]
fn new_integers_become_initializers_before_opset_9() {
    let cases = [
        (4, "(float[2,3] x) => (float y)", "y = Reshape <shape = [0, -1]> (x)", "y_shape"),
        (5, "(float[2,3] x) => (float y) <float k = {2}, float a = {1}>", "y = Tile (x, k, a)", "y_repeats"),
    ];
    for (from, graph, node, name) in cases {
        let source = format!(r#"<ir_version: 3, opset_import: ["": {from}]> g {graph} {{ {node} }}"#);
        for to in 6..=9 {
            let proto = convert_text(&source, &Options::to(to)).unwrap().model.into_proto();
            let graph = proto.graph.as_ref().unwrap();
            let made = graph.initializer.iter().any(|tensor| tensor.name() == name);
            assert_eq!((made, graph.node.len()), (to < 9, 1 + usize::from(to == 9)), "{node} to {to}");
        }
    }
    let function = r#"<ir_version: 8, opset_import: ["": 4, "local": 1]> g (float[2,3] x) => (float y) { y = local.F (x) }
        <domain: "local", opset_import: ["": 4]> F (x) => (y) { y = Reshape <shape = [0, -1]> (x) }"#;
    let (found, _) = blockers(function, 8);
    assert!(found[0].contains("must be an initializer, which functions do not have"), "{found:?}");
}

/// A caller can override an initializer that is an input with a tensor of another shape.
#[test]
fn the_shape_of_an_initializer_that_a_caller_may_override_is_not_known() {
    const NODES: &str = "y = QuantizeLinear <axis = 0> (x, s)";
    run(&[
        case(
            13,
            "(float[3,3] x, float[C] s) => (uint8[3,3] y) <float[1] s = {1}>",
            NODES,
            12,
            "no: before opset 13 the scale must have one element; its shape is unknown",
        ),
        case(13, "(float[3,3] x, float[1] s) => (uint8[3,3] y) <float[1] s = {1}>", NODES, 12, "y = QuantizeLinear (x, s)"),
        case(13, "(float[3,3] x) => (uint8[3,3] y) <float[1] s = {1}>", NODES, 12, "y = QuantizeLinear (x, s)"),
    ]);
}

#[test]
fn allowzero_goes_where_the_shape_has_no_zero() {
    const NODES: &str = "y = Reshape <allowzero = 1> (x, s)";
    run(&[
        case(14, "(float[2,3] x) => (float y) <int64[2] s = {6, -1}>", NODES, 13, "y = Reshape (x, s)"),
        case(
            14,
            "(float[2,3] x, int64[2] s) => (float y)",
            NODES,
            13,
            "no: `allowzero` is not supported before opset 14, and input 's' is not constant",
        ),
        case(
            14,
            "(float[2,0] x) => (float y) <int64[2] s = {0, 2}>",
            NODES,
            13,
            "no: `allowzero` is not supported before opset 14, and the shape contains a zero",
        ),
    ]);
}

/// Many nodes may share a constant, and each gets a copy as its attribute.
#[test]
fn a_list_that_is_longer_than_any_shape_becomes_no_attribute() {
    let source = |length: usize| {
        let zeros = vec!["0"; length].join(", ");
        format!(
            r#"<ir_version: 8, opset_import: ["": 13]> g (float[1] x) => (float y) <int64[{length}] a = {{{zeros}}}> {{ y = Squeeze (x, a) }}"#
        )
    };
    let (found, _) = blockers(&source(129), 12);
    assert!(found[0].contains("input 1 has 129 elements, which exceeds the number of dimensions and outputs"), "{found:?}");
    assert!(convert_text(&source(128), &Options::to(12)).is_ok());
}
