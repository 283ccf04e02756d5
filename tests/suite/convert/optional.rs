//! Optionals that nodes only take apart again.

use onnx_recast::internals::convert::Options;

use super::{case, convert_text, run};

#[test]
fn a_pair_is_its_element() {
    run(&[
        case(
            18,
            "(float[2] x) => (float[2] y, bool h)",
            "o = Optional (x) h = OptionalHasElement (o) y = OptionalGetElement (o)",
            14,
            "h = Constant <value: tensor = bool {1}> ()
             y = Identity (x)",
        ),
        case(15, "(float[2] x) => (float[2] y)", "o = Optional (x) y = OptionalGetElement (o)", 9, "y = Identity (x)"),
        case(15, "(seq(float) x) => (seq(float) y)", "o = Optional (x) y = OptionalGetElement (o)", 14, "y = Identity (x)"),
        case(
            15,
            "(seq(float) x) => (seq(float) y)",
            "o = Optional (x) y = OptionalGetElement (o)",
            13,
            "no: input 'x' is seq(tensor(float)), which Identity-13 does not support",
        ),
        // The element of one pair is put into another.
        case(
            18,
            "(float[2] x) => (float[2] y)",
            "o = Optional (x) e = OptionalGetElement (o) p = Optional (e) y = OptionalGetElement (p)",
            14,
            "e = Identity (x)
             y = Identity (e)",
        ),
        // Without an element.
        case(
            18,
            "() => (bool h)",
            "o = Optional <type: type_proto = float> () h = OptionalHasElement (o)",
            14,
            "h = Constant <value: tensor = bool {0}> ()",
        ),
        // Of a type that the older optional lacks.
        case(
            28,
            "(bfloat16[2] x) => (bfloat16[2] y, bool h)",
            "o = Optional (x) h = OptionalHasElement (o) y = OptionalGetElement (o)",
            27,
            "h = Constant <value: tensor = bool {1}> ()
             y = Identity (x)",
        ),
        // Where the older opset has optionals, they stay.
        case(
            18,
            "(float[2] x) => (float[2] y)",
            "o = Optional (x) y = OptionalGetElement (o)",
            15,
            "o = Optional (x)
             y = OptionalGetElement (o)",
        ),
    ]);
}

#[test]
fn optionals_with_other_uses_stay() {
    const TOO_NEW: &str = "no: is new in opset 15";
    run(&[
        case(18, "(float[2] x) => (float[2] y, optional(float[2]) o)", "o = Optional (x) y = OptionalGetElement (o)", 14, TOO_NEW),
        case(18, "(optional(float[2]) o) => (float[2] y)", "y = OptionalGetElement (o)", 14, TOO_NEW),
        case(
            18,
            "(float[2] x) => (float[2] y, optional(float[2]) p)",
            "o = Optional (x) y = OptionalGetElement (o) p = Identity (o)",
            14,
            TOO_NEW,
        ),
        // An element that does not exist.
        case(
            18,
            "() => (bool h, float y)",
            "o = Optional <type: type_proto = float> () h = OptionalHasElement (o) y = OptionalGetElement (o)",
            14,
            TOO_NEW,
        ),
        // The branch has another value of the name of the element.
        case(
            18,
            "(float[2] x, bool b) => (float[2] y)",
            "o = Optional (x)
             y = If (b) <then_branch = t () => (r) { x = Constant <value = float[2] {1, 2}> () e = OptionalGetElement (o) r = Add (e, x) },
                         else_branch = f () => (q) { q = OptionalGetElement (o) }>",
            14,
            TOO_NEW,
        ),
    ]);
}

#[test]
fn a_pair_across_scopes_and_its_declarations() {
    let source = r#"<ir_version: 8, opset_import: ["": 15]> g (float[2] x, bool b) => (float[2] y) <optional(float[2]) o> {
        o = Optional (x)
        y = If (b) <then_branch = t () => (r) { r = OptionalGetElement (o) },
                    else_branch = f () => (q) { e = OptionalGetElement (o) q = Neg (e) }> }"#;
    let model = convert_text(source, &Options::to(13)).unwrap().model.into_proto();
    let graph = model.graph.as_ref().unwrap();
    assert!(graph.value_info.is_empty(), "{:?}", graph.value_info);
    let [node] = graph.node.as_slice() else { panic!("{:?}", graph.node) };
    let branches: Vec<_> = node.attribute.iter().filter_map(|attribute| attribute.g.as_ref()).map(|graph| &graph.node[0]).collect();
    assert!(branches.iter().all(|node| node.op_type() == "Identity" && node.input == ["x"]), "{branches:?}");
}
