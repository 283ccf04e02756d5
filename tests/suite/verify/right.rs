//! Right results that verification must accept.

use onnx_recast::internals::{all_passes, onnx_text, run_passes};
use onnx_recast::passes::{DEFAULT, EXACT, LOSSY, Options, Pass};
use onnx_recast::precision::{Io, Policy};
use onnx_recast::proto::{ModelProto, raw};
use onnx_recast::verify::Verification;
use onnx_recast::{DType, Model, PrecisionOptions};

use super::{node, set_values};
use crate::support::{expect_no_failures, model};

/// What is accepted, the model, and a number of nodes that the exact passes leave, to show that
/// they change it.
type Row = (&'static str, &'static str, usize);

const RIGHT: &[Row] = &[
    (
        "a cast that stays because ONNX leaves it undefined, behind a move of elements",
        r#"g (int8[1, 2] x) => (int8[1, 2] y) <float[2, 1] w = {300, 1}> { a = Cast <to = 3> (w) t = Transpose <perm = [1, 0]> (a) y = Add (x, t) }"#,
        3,
    ),
    (
        "a cast whose only result is omitted",
        r#"g (float16[n] x) => (float16[n] y) { a = Cast <to = 1> (x) "" = Cast <to = 10> (a) y = Neg (x) }"#,
        1,
    ),
    (
        "a move of a constant before a cast that stays",
        r#"g (int8[1, 2] x) => (int8[1, 2] y) <float[2, 1] w = {300, 1}> { t = Transpose <perm = [1, 0]> (w) a = Cast <to = 3> (t) y = Add (x, a) }"#,
        2,
    ),
    (
        "parts of a cast that stays",
        r#"g (int8[1] x) => (int8[1] y) <float[2] w = {300, 1}> { a = Cast <to = 3> (w) b, c = Split <axis = 0, num_outputs = 2> (a) d = Add (b, c) y = Add (x, d) }"#,
        4,
    ),
    (
        "dims that are declared more precisely than inferred",
        r#"g (float[n, m] x) => (float[2, 3] y) <int64[2] s = {2, 3}, float[2, 3] a> { a = Relu (x) r = Reshape (a, s) y = Neg (r) }"#,
        2,
    ),
    (
        "the size of a value whose shape is only declared for a cast of it",
        r#"g (float[3, 2] x) => (int64 n, float[3, 2] y) <int64 i = {0}> {
            s = SequenceConstruct (x, x) a = SequenceAt (s, i) n = Size (a) y = Cast <to = 1> (a)
        }"#,
        2,
    ),
    (
        "a move whose attribute refers to one of the function, on which calls differ",
        r#"g (float16[2, 3] x) => (float16[3, 2] y, float16[2, 3] z) { y = local.F <p = [1, 0]> (x) z = local.F <p = [0, 1]> (x) }
        <domain: "local", opset_import: ["": 21]> F <p> (x) => (y) { a = Cast <to = 1> (x) t = Transpose <perm: ints = @p> (a) y = Cast <to = 10> (t) }"#,
        3,
    ),
    (
        "a Concat of casts whose axis refers to an attribute of the function",
        r#"g (float16[2, 3] x) => (float[4, 3] y, float[2, 6] z) { y = local.F <p = 0> (x) z = local.F <p = 1> (x) }
        <domain: "local", opset_import: ["": 21]> F <p> (x) => (y) { a = Cast <to = 1> (x) b = Cast <to = 1> (x) y = Concat <axis: int = @p> (a, b) }"#,
        4,
    ),
    (
        "a cast that stays of a lossless cast that was folded",
        r#"g (uint8[2] x) => (uint8[2] y, double[2] a) <float[2] w = {300, -1}> { a = Cast <to = 11> (w) b = Cast <to = 2> (a) y = Add (x, b) }"#,
        2,
    ),
    (
        "two casts in a row of which ONNX leaves the first undefined",
        r#"g (int16[2] x) => (int16[2] y, double[2] a) <float[2] w = {300, -1}> { a = Cast <to = 11> (w) b = Cast <to = 2> (a) c = Cast <to = 1> (b) d = Cast <to = 5> (c) y = Add (x, d) }"#,
        3,
    ),
    (
        "casts to an integer type that lacks the numbers, through floats of two sizes",
        r#"g (int8[2] x) => (int8[2] u, float[2] y, int64 w) { a = Cast <to = 10> (x) b = Cast <to = 1> (a) c = Cast <to = 12> (b) u = Cast <to = 3> (c) y = Cast <to = 1> (c) w = ArgMin <axis = 0, keepdims = 0> (b) }"#,
        6,
    ),
    (
        "a cast that has the name of a later one",
        r#"g (bool[n] x) => (int64[n] y, int64[n] z) { a = Cast <to = 7> (x) b = BitwiseOr (a, a) z = Cast <to = 7> (a) y = BitwiseXor (b, z) }"#,
        3,
    ),
    (
        "a cast that has the name of an equal one's result",
        r#"g (int8[n] x, float[n] w) => (float16[n] v, uint8[n] y) { a = Cast <to = 2> (x) [n4] v = Cast <to = 10> (w) [n5] b = Cast <to = 2> (x) [n6] y = Cast <to = 2> (b) }"#,
        2,
    ),
    (
        "a constant of a function's attribute that has the name of a cast's result",
        r#"g (float x) => (float y) { y = local.F <p = 2.0> (x) }
        <domain: "local", opset_import: ["": 21]> F <p> (x) => (y, c) { [n1] b = Constant <value_float: float = @p> () c = Cast <to = 1> (b) y = Add (x, b) }"#,
        3,
    ),
    (
        "a cast that became a constant equal to another one",
        r#"g (float x) => (float y) { y = local.F (x) }
        <domain: "local", opset_import: ["": 21]> F (x) => (y, v) { c = Constant <value = float {0.5}> () [n2] v = Cast <to = 1> (c) y = Add (x, c) }"#,
        4,
    ),
    (
        "several casts before a move",
        r#"g (float[1, 3] x) => (int64[3, 1] y) <int64[2] s = {3, -1}> { a = Cast <to = 2> (x) b = Cast <to = 1> (a) r = Reshape (b, s) y = Cast <to = 7> (r) }"#,
        3,
    ),
    (
        "a Reshape to a shape that only the original declares",
        r#"g (int64[d, 2, 2] x) => (int64[d, 2, 2] y, float[3] z) <int64[4, 2] c = {1, 2, 3, 4, 5, 6, 7, 8}, int64[3] s = {2, -1, 2}, int64[2, 2, ?] a> { v = Shape (x) r = Reshape (c, v) a = Cast <to = 7> (r) y = Reshape (a, s) z = Cast <to = 1> (v) }"#,
        4,
    ),
    (
        "the shape of places that a NonZero finds",
        r#"g (float[2] x) => (float[2] y) <int64[3] c = {1, 0, 2}> { n = NonZero (c) s = Shape (n) f = Cast <to = 1> (s) y = Add (x, f) }"#,
        1,
    ),
    (
        "the size of places that a NonZero finds, behind data movement",
        r#"g (float x) => (float y) <int64[3] c = {1, 0, 2}> { n = NonZero (c) t = Transpose (n) s = Size (t) f = Cast <to = 1> (s) y = Add (x, f) }"#,
        1,
    ),
    (
        "a matrix of the shape of places that a NonZero finds",
        r#"g (float16[1, 2] x) => (float16[1, 2] y) <int64[3] c = {1, 0, 2}> { n = NonZero (c) e = EyeLike (n) f = Cast <to = 10> (e) y = Add (x, f) }"#,
        1,
    ),
    (
        "the shape of entries at places that a NonZero finds",
        r#"g (float[3] x) => (float[3] y) <int64[3] c = {1, 0, 2}, float16[3] d = {1, 2, 3}> { n = NonZero (c) e = Gather (d, n) u = Unsqueeze (e, one) s = Shape (u) f = Cast <to = 1> (s) one = Constant <value_ints = [0]> () y = Add (x, f) }"#,
        1,
    ),
    (
        "the shape of what Compress keeps of a constant",
        r#"g (float[1] x) => (float[1] y) <float[3] d = {1, 2, 3}, bool[3] m = {1, 0, 1}> { k = Compress <axis = 0> (d, m) s = Shape (k) f = Cast <to = 1> (s) y = Add (x, f) }"#,
        4,
    ),
    (
        "a Split with a part that nothing uses",
        r#"g (int8[4] x) => (uint8[2] y) { a = Cast <to = 7> (x) b, c = Split <axis = 0, num_outputs = 2> (a) y = Cast <to = 2> (c) }"#,
        2,
    ),
    (
        "casts that move in a function",
        r#"g (float[2] x) => (uint8[2] y) { y = local.F (x) }
        <domain: "local", opset_import: ["": 21]> F (p) => (v) { s = Constant <value_ints = [-1]> () a = Cast <to = 11> (p) b = Reshape (a, s) v = Cast <to = 2> (b) }"#,
        2,
    ),
    (
        "casts that move in a function that is called with several types",
        r#"g (float[2] x, float16[2] h) => (uint8[2] y, uint8[2] z) { y = local.F (x) z = local.F (h) }
        <domain: "local", opset_import: ["": 21]> F (p) => (v) { s = Constant <value_ints = [-1]> () a = Cast <to = 11> (p) b = Reshape (a, s) v = Cast <to = 2> (b) }"#,
        4,
    ),
    (
        "casts that move around the call of a function",
        r#"g (float16[2] x) => (float16[2] y) { a = Cast <to = 1> (x) b = local.F (a) y = Cast <to = 10> (b) }
        <domain: "local", opset_import: ["": 21]> F (p) => (v) { s = Constant <value_ints = [-1]> () v = Reshape (p, s) }"#,
        5,
    ),
    (
        "casts of FLOAT8E5M2 to wider types and back",
        r#"g (float8e5m2[2] x) => (float8e5m2[2] y) { a = Cast <to = 10> (x) b = Cast <to = 11> (a) y = Cast <to = 19> (b) }"#,
        2,
    ),
    (
        "a chain of Identities that returns an output, with nodes between them",
        r#"g (float[2] x) => (int64 y, float[2] z) { a = Relu (x) b = Identity (a) c = Neg (x) s = Size (c) y = Identity (s) d = Abs (c) z = Identity (b) }"#,
        1,
    ),
    (
        "an output that a chain of Identities returns",
        r#"g (float[2] x) => (float[2] y, float[2] z) { a = Relu (x) b = Identity (a) y = Identity (b) c = Identity (b) z = Neg (c) }"#,
        2,
    ),
    (
        "several outputs that Identities of one value return",
        r#"g (float[2] x) => (float[2] y, float[2] z, float[2] w) { a = Relu (x) y = Identity (a) z = Identity (a) b = Cast <to = 1> (a) w = Identity (b) }"#,
        3,
    ),
    (
        "a cast to the type that a cast before it restored",
        r#"g (float[2] x) => (float[2] y) { a = Neg (x) b = Cast <to = 11> (a) c = Cast <to = 1> (b) y = Cast <to = 1> (c) }"#,
        1,
    ),
    (
        "a configuration of devices that names a value with another name",
        r#"g (float16[2] x) => (float16[2] y) <float16[2] w = {1, 2}> { i = Identity (w) y = Add (x, i) }"#,
        1,
    ),
];

fn original(text: &str) -> Model {
    let mut proto: ModelProto = model(&format!(
        r#"<ir_version: 11, opset_import: ["": 21, "local": 1]> {text}"#
    ));
    if text.contains("i = Identity") {
        with_devices(&mut proto, "y", "i");
    }
    Model::new(proto).unwrap()
}

/// The tiers, and each pass alone.
fn lists() -> Vec<(&'static str, Vec<&'static dyn Pass>)> {
    let tiers = [("default", DEFAULT.to_vec()), ("exact", EXACT.to_vec())];
    tiers
        .into_iter()
        .chain(all_passes().map(|(_, pass)| (pass.name(), vec![pass])))
        .collect()
}

#[test]
fn right_results_are_accepted() {
    let mut failures = Vec::new();
    for (name, text, nodes) in RIGHT {
        let original = original(text);
        for (list, passes) in lists() {
            let result = run_passes(original.clone(), &passes, &Options::default())
                .unwrap()
                .0;
            if let Err(faults) =
                Verification::of_passes(&original, &passes, &Options::default()).check(&result)
            {
                failures.push(format!("{name}, {list}: {:?}", faults.faults));
            }
            let found = result.topological_order().len();
            if list == "exact" && found != *nodes {
                failures.push(format!(
                    "{name}: {found} nodes are left\n{}",
                    onnx_text::print(result.proto())
                ));
            }
        }
    }
    expect_no_failures(failures);
}

/// Models of which exact passes fold what lossy ones would remove, and merge what is left.
const ROUNDED: &[(&str, &str)] = &[
    (
        "a constant that was rounded before the casts could be removed",
        r#"g (float[2] x) => (float[2] y, float[2] b) <float[2] w = {0.1, 70000}> { a = Cast <to = 10> (w) b = Cast <to = 1> (a) y = Add (x, b) }"#,
    ),
    (
        "what is computed from a constant that was rounded",
        r#"g (bool[2] x) => (bool[2] y) <float[2] w = {0.1, 70000}> {
            a = Cast <to = 10> (w) b = Cast <to = 1> (a) c = Equal (b, w) y = And (x, c)
        }"#,
    ),
    (
        "a cast of a rounded constant",
        r#"g (double[2] x) => (double[2] y) <float[2] w = {0.1, 70000}> {
            a = Cast <to = 16> (w) b = Cast <to = 1> (a) c = Cast <to = 11> (b) y = Add (x, c)
        }"#,
    ),
    (
        "a cast to another type of what was cast to FLOAT16 and back",
        r#"g (float[2, 3] x) => (bfloat16[2, 3] y, float[2, 3] b, float16[2, 3] z) {
            a = Cast <to = 10> (x) b = Cast <to = 1> (a) y = Cast <to = 16> (b) z = Neg (a)
        }"#,
    ),
    (
        "a cast to FLOAT16 and back of integers that were cast to FLOAT",
        r#"g (int16[2] x) => (float[2] y, bfloat16[2] z) {
            a = Cast <to = 1> (x) b = Cast <to = 10> (a) c = Cast <to = 1> (b) y = Neg (c) d = Cast <to = 16> (c) z = Neg (d)
        }"#,
    ),
    (
        "a cast that stays of a constant that was rounded",
        r#"g (uint4[2] x) => (uint4[2] y, uint4[2] b) <float[2] w = {0.21, 2.46}> {
            a = Cast <to = 16> (w) b = Cast <to = 21> (a) y = Identity (x)
        }"#,
    ),
    (
        "the same in a subgraph",
        r#"g (float[2] x, bool c) => (bfloat16[2] y, float[2] b) {
            a = Cast <to = 10> (x) b = Cast <to = 1> (a) d = Cast <to = 16> (b)
            y = If (c) <then_branch = t () => (bfloat16[2] p) { p = Neg (d) }, else_branch = e () => (bfloat16[2] q) { q = Abs (d) }>
        }"#,
    ),
];

#[test]
fn right_results_of_exact_and_lossy_passes_are_accepted() {
    let mut failures = Vec::new();
    for (name, text) in ROUNDED {
        let original = original(text);
        for list in [
            [EXACT, LOSSY].concat(),
            [LOSSY, EXACT].concat(),
            [DEFAULT, LOSSY].concat(),
        ] {
            let result = run_passes(original.clone(), &list, &Options::default())
                .unwrap()
                .0;
            assert!(
                list.len() < EXACT.len() || result.proto() != original.proto(),
                "{name}: nothing changes"
            );
            if let Err(faults) =
                Verification::of_passes(&original, &list, &Options::default()).check(&result)
            {
                failures.push(format!(
                    "{name}: {:?}\n{}",
                    faults.faults,
                    onnx_text::print(result.proto())
                ));
            }
        }
    }
    expect_no_failures(failures);
}

/// A BOOL byte other than 0 and 1 counts as 1, and a cast to BOOL writes it as 1.
#[test]
fn bool_bytes_beyond_1_are_those_of_true() {
    let text = "g (bool[4] x) => (bool[4] y) <bool[4] w = {0, 0, 0, 0}> { a = Cast <to = 9> (w) y = And (x, a) }";
    let mut proto = original(text).into_proto();
    set_values(&mut proto, "w", &[0x0100, 0xff02]);
    let original = Model::new(proto).unwrap();
    for (name, list) in lists() {
        let result = run_passes(original.clone(), &list, &Options::default())
            .unwrap()
            .0;
        let verification = Verification::of_passes(&original, &list, &Options::default());
        let faults = verification.check(&result).err().map(|found| found.faults);
        assert!(faults.is_none(), "{name}: {faults:?}");
    }
}

#[test]
fn a_constant_that_is_rounded_otherwise_is_found() {
    let original = original(ROUNDED[0].1);
    let list = [EXACT, LOSSY].concat();
    let mut result = run_passes(original.clone(), &list, &Options::default())
        .unwrap()
        .0
        .into_proto();
    // Neither 0.1 nor the FLOAT16 nearest to it, but 0.125, and infinity.
    set_values(&mut result, "b", &[0, 0x3e00, 0, 0x7f80]);
    let verification = Verification::of_passes(&original, &list, &Options::default());
    verification
        .check(&Model::new(result).unwrap())
        .unwrap_err();
}

#[test]
fn a_configuration_that_names_no_operand_any_more_is_found() {
    let original = original(RIGHT.last().unwrap().1);
    let mut result = run_passes(original.clone(), EXACT, &Options::default())
        .unwrap()
        .0
        .into_proto();
    node(&mut result, "y").device_configurations[0].sharding_spec[0].tensor_name = Some("i".into());
    let verification = Verification::of_passes(&original, EXACT, &Options::default());
    verification
        .check(&Model::new(result).unwrap())
        .unwrap_err();
}

/// A configuration of devices that names a value.
fn with_devices(model: &mut ModelProto, result: &str, value: &str) {
    let spec = raw::ShardingSpecProto {
        tensor_name: Some(value.into()),
        device: vec![0, 1],
        ..Default::default()
    };
    let devices = raw::NodeDeviceConfigurationProto {
        sharding_spec: vec![spec.into()],
        ..Default::default()
    };
    node(model, result)
        .device_configurations
        .push(devices.into());
}

#[test]
fn right_changes_of_precision_are_accepted() {
    let casts = |count: usize| {
        let cast = |index: usize| {
            format!(
                "v{} = Cast <to = {}> (v{index})\n",
                index + 1,
                if index.is_multiple_of(2) { 10 } else { 1 }
            )
        };
        let casts: String = (0..count).map(cast).collect();
        format!("g (float[2] x) => (float[2] y) {{ v0 = Relu (x) {casts} y = Neg (v{count}) }}")
    };
    let cases = [
        ("a chain of 18 casts", casts(18), None),
        ("a chain of 40 casts", casts(40), None),
        (
            "a cast of an integer that was cast by way of FLOAT16",
            "g (float[2] x, uint8[2] i) => (float[2] y) { a = Relu (x) b = Cast <to = 10> (i) c = Cast <to = 1> (b) y = Max (c, a) }".to_owned(),
            None,
        ),
        (
            "devices of an input that is cast",
            "g (float[2] x) => (float[2] y) { a = Relu (x) y = Neg (a) }".to_owned(),
            Some(("a", "x")),
        ),
        (
            "devices of an output that is cast",
            "g (float[2] x) => (float[2] y) { a = Relu (x) y = Neg (a) }".to_owned(),
            Some(("y", "y")),
        ),
        (
            "devices of another value",
            "g (float[2] x) => (float[2] y) { a = Relu (x) y = Neg (a) }".to_owned(),
            Some(("y", "other")),
        ),
    ];
    let mut failures = Vec::new();
    for (name, text, devices) in cases {
        let mut proto: ModelProto = model(&format!(
            r#"<ir_version: 11, opset_import: ["": 21]> {text}"#
        ));
        if let Some((result, value)) = devices {
            with_devices(&mut proto, result, value);
        }
        let original = Model::new(proto).unwrap();
        for io in [Io::Keep, Io::Convert] {
            for to in [DType::Float16, DType::Bfloat16] {
                let mut result = original.clone();
                let report = result
                    .change_precision(&PrecisionOptions::to(to).policy(Policy::All).io(io))
                    .unwrap();
                if let Err(faults) = Verification::of_precision(&original, &report).check(&result) {
                    failures.push(format!(
                        "{name}, {to}, {io:?}: {:?}\n{}",
                        faults.faults,
                        onnx_text::print(result.proto())
                    ));
                }
                let Some((_, value)) = devices else { continue };
                // A configuration that names another operand is found.
                let mut wrong = result.clone().into_proto();
                let mut found = 0;
                for node in &mut wrong.graph.as_mut().unwrap().node {
                    if let Some(devices) = node.device_configurations.first_mut() {
                        devices.sharding_spec[0].tensor_name = Some("none".into());
                        found += 1;
                    }
                }
                let verdict = Verification::of_precision(&original, &report)
                    .check(&Model::new(wrong).unwrap());
                if found != 1 || verdict.is_ok() {
                    failures
                        .push(format!("{name}, {to}, {io:?}: a configuration that names none instead of '{value}' was not found"));
                }
            }
        }
    }
    expect_no_failures(failures);
}
