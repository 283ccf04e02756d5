//! Properties of every fix, over all fixtures, all examples of the documentation, and the example models.

use std::collections::BTreeSet;
use std::fs;

use onnx_recast::internals::graph::Model;
use onnx_recast::internals::lint::{self, Baseline, Diagnostic, Fixed, RULES, Safety};
use onnx_recast::internals::onnx_text;
use onnx_recast::internals::protobuf::schema::{ModelProto, NodeProto};
use prost::Message;

use super::documentation::examples;
use super::fixtures::FIXTURES;
use super::{job, selecting};
use crate::support::{expect_no_failures, model};

/// Every model that the lint tests have, with a name.
pub fn corpus() -> Vec<(String, ModelProto)> {
    let mut corpus = Vec::new();
    for fixture in FIXTURES {
        corpus.push((format!("{} {}, bad", fixture.code, fixture.shows), model(fixture.bad)));
        corpus.push((format!("{} {}, good", fixture.code, fixture.shows), model(fixture.good)));
    }
    for rule in RULES {
        corpus.extend(examples(rule).iter().map(|text| (format!("{}, an example", rule.code), model(text))));
    }
    for entry in fs::read_dir("models").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "onnx") {
            let proto = ModelProto::from_bytes(fs::read(&path).unwrap().into()).unwrap();
            corpus.push((path.display().to_string(), proto));
        }
    }
    corpus
}

fn fix(proto: ModelProto, allowed: Safety) -> (ModelProto, Vec<Diagnostic>) {
    let Fixed { model, fixed } =
        lint::fix(Model::new(proto).unwrap(), &job(&selecting("ALL")), allowed, &Baseline::default()).unwrap();
    (model.into_proto(), fixed)
}

#[test]
fn fixing_converges_and_no_fix_remains() {
    let mut failures = Vec::new();
    for allowed in [Safety::Safe, Safety::Unsafe] {
        for (name, proto) in corpus() {
            let (fixed, _) = fix(proto, allowed);
            let left = lint::lint(&Model::new(fixed.clone()).unwrap(), &job(&selecting("ALL")));
            let fixable = left.iter().filter(|found| found.fix.as_ref().is_some_and(|fix| fix.safety <= allowed));
            failures.extend(fixable.map(|found| format!("{name}: {} is left at {}", found.code(), found.place())));
            let (again, changes) = fix(fixed.clone(), allowed);
            if again.encode_to_vec() != fixed.encode_to_vec() || !changes.is_empty() {
                failures.push(format!("{name}: a second run changes the model"));
            }
        }
    }
    expect_no_failures(failures);
}

#[test]
fn a_model_without_fixes_keeps_its_bytes() {
    let mut failures = Vec::new();
    for (name, proto) in corpus() {
        let before = proto.encode_to_vec();
        let (after, fixed) = fix(proto, Safety::Safe);
        if fixed.is_empty() && after.encode_to_vec() != before {
            failures.push(name);
        }
    }
    expect_no_failures(failures);
}

/// Only the attributes of the nodes with findings, and the number of the IR: that preserves the model's results.
#[test]
fn safe_fixes_change_attributes_of_reported_nodes_only() {
    let mut failures = Vec::new();
    for (name, proto) in corpus() {
        let (mut after, fixed) = fix(proto.clone(), Safety::Safe);
        let places: BTreeSet<String> = fixed.iter().map(Diagnostic::place).collect();
        let before = Model::new(proto.clone()).unwrap();
        let changed = Model::new(after.clone()).unwrap();
        for node in before.scopes().flat_map(|scope| before.nodes(scope)) {
            let (old, new) = (before.node(node), changed.node(node));
            if places.contains(before.node_path(node).as_str()) {
                if without_attributes(old) != without_attributes(new) {
                    failures.push(format!("{name}: {} changed beyond its attributes", before.node_path(node)));
                }
            } else if graphless(old) != graphless(new) {
                failures.push(format!("{name}: {} changed without a finding", before.node_path(node)));
            }
        }
        after.ir_version = proto.ir_version;
        let lines = |model: &ModelProto| onnx_text::print(model).lines().count();
        if lines(&after) != lines(&proto) {
            failures.push(format!("{name}: has more lines or fewer"));
        }
    }
    expect_no_failures(failures);
}

fn without_attributes(node: &NodeProto) -> NodeProto {
    let mut node = node.clone();
    node.attribute.clear();
    node
}

/// The node without graphs, whose nodes are compared themselves.
fn graphless(node: &NodeProto) -> NodeProto {
    let mut node = node.clone();
    for attribute in &mut node.attribute {
        attribute.g = None;
        attribute.graphs.clear();
    }
    node
}

struct Case {
    name: &'static str,
    codes: &'static str,
    allowed: Safety,
    before: &'static str,
    after: &'static str,
}

#[test]
fn fixes_have_the_documented_effect() {
    let cases = [
        Case {
            name: "saturate and round_mode are added, in branches and functions too",
            codes: "RC1",
            allowed: Safety::Safe,
            before: r#"<ir_version: 12, opset_import: ["": 24, "local": 1]>
                g (float[4] x, bool choice) => (float8e8m0[4] s, float8e5m2[4] b, float8e4m3fn[4] f) {
                    s = Cast <to = 24> (x)
                    b = If (choice) <
                        then_branch = t () => (float8e5m2[4] r) { r = Cast <to = 19> (x) },
                        else_branch = e () => (float8e5m2[4] q) { q = Cast <to = 19, saturate = 1> (x) }
                    >
                    f = local.Quantize (x)
                }
                <domain: "local", opset_import: ["": 24]>
                Quantize (x) => (y) { y = Cast <to = 17> (x) }"#,
            after: r#"<ir_version: 12, opset_import: ["": 24, "local": 1]>
                g (float[4] x, bool choice) => (float8e8m0[4] s, float8e5m2[4] b, float8e4m3fn[4] f) {
                    s = Cast <to = 24, saturate = 1, round_mode = "up"> (x)
                    b = If (choice) <
                        then_branch = t () => (float8e5m2[4] r) { r = Cast <to = 19, saturate = 1> (x) },
                        else_branch = e () => (float8e5m2[4] q) { q = Cast <to = 19, saturate = 1> (x) }
                    >
                    f = local.Quantize (x)
                }
                <domain: "local", opset_import: ["": 24]>
                Quantize (x) => (y) { y = Cast <to = 17, saturate = 1> (x) }"#,
        },
        Case {
            name: "attributes without effect are removed, others are kept",
            codes: "RC203,RC106,RC107",
            allowed: Safety::Safe,
            before: r#"<ir_version: 8, opset_import: ["": 13]>
                g (float[4] x, int64[1] s) => (float16[4] y, float[4] z, float[4] u) {
                    y = Cast <to = 10, saturate = 0, round_mode = "down"> (x)
                    z = Reshape <allowzero = 0> (x, s)
                    u = Reshape <allowzero = 1> (x, s)
                }"#,
            after: r#"<ir_version: 8, opset_import: ["": 13]>
                g (float[4] x, int64[1] s) => (float16[4] y, float[4] z, float[4] u) {
                    y = Cast <to = 10> (x)
                    z = Reshape (x, s)
                    u = Reshape <allowzero = 1> (x, s)
                }"#,
        },
        Case {
            name: "a newer default is kept if the older operator behaves differently",
            codes: "RC203",
            allowed: Safety::Unsafe,
            before: r#"<ir_version: 8, opset_import: ["": 10]>
                g (float[1,1,2,2] x, float[4] s, float[1,4] r, int64[1] b, float[1] o) => (float y, float z, float u, float v, float w, uint8 q) {
                    y = Resize <coordinate_transformation_mode = "half_pixel", nearest_mode = "round_prefer_floor", exclude_outside = 0> (x, s)
                    z = Resize <coordinate_transformation_mode = "asymmetric"> (x, s)
                    u = RoiAlign <coordinate_transformation_mode = "half_pixel"> (x, r, b)
                    v = RoiAlign <coordinate_transformation_mode = "output_half_pixel"> (x, r, b)
                    w = BatchNormalization <training_mode = 0> (x, o, o, o, o)
                    t, t1, t2, t3, t4 = BatchNormalization <training_mode = 0> (x, o, o, o, o)
                    q = QuantizeLinear <axis = 1> (x, s)
                }"#,
            after: r#"<ir_version: 8, opset_import: ["": 10]>
                g (float[1,1,2,2] x, float[4] s, float[1,4] r, int64[1] b, float[1] o) => (float y, float z, float u, float v, float w, uint8 q) {
                    y = Resize <coordinate_transformation_mode = "half_pixel", nearest_mode = "round_prefer_floor"> (x, s)
                    z = Resize (x, s)
                    u = RoiAlign <coordinate_transformation_mode = "half_pixel"> (x, r, b)
                    v = RoiAlign (x, r, b)
                    w = BatchNormalization (x, o, o, o, o)
                    t, t1, t2, t3, t4 = BatchNormalization <training_mode = 0> (x, o, o, o, o)
                    q = QuantizeLinear <axis = 1> (x, s)
                }"#,
        },
        Case {
            name: "`to` in the required form",
            codes: "RC204",
            allowed: Safety::Safe,
            before: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float16[4] y) { y = Cast <to = "FLOAT16"> (x) }"#,
            after: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float16[4] y) { y = Cast <to = 10> (x) }"#,
        },
        Case {
            name: "the IR version is raised to the one that the model requires",
            codes: "RC206",
            allowed: Safety::Safe,
            before: r#"<ir_version: 8, opset_import: ["": 19]> g (float[4] x) => (float8e5m2[4] y) { y = Cast <to = 19, saturate = 1> (x) }"#,
            after: r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e5m2[4] y) { y = Cast <to = 19, saturate = 1> (x) }"#,
        },
        Case {
            name: "a model without imports gets opset 1 when it moves to IR 3 or later",
            codes: "RC206",
            allowed: Safety::Safe,
            before: r#"<ir_version: 2> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul (x, w) }"#,
            after: r#"<ir_version: 4, opset_import: ["": 1]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Mul (x, w) }"#,
        },
        Case {
            name: "CastLike does not cast what only Cast does",
            codes: "RC403",
            allowed: Safety::Unsafe,
            before: r#"<ir_version: 14, opset_import: ["": 28]> g (float6e2m3[2] f, float16[2] like) => (float16[2] y) { a = Cast <to = 1> (f) y = CastLike (a, like) }"#,
            after: r#"<ir_version: 14, opset_import: ["": 28]> g (float6e2m3[2] f, float16[2] like) => (float16[2] y) { a = Cast <to = 1> (f) y = CastLike (a, like) }"#,
        },
        Case {
            name: "the bytes get their type back, in their place",
            codes: "RC108",
            allowed: Safety::Unsafe,
            before: r#"<ir_version: 9, opset_import: ["": 19]>
                g (float scale, float8e4m3fn zero) => (float[2] y) <uint8[2] w = {56, 64}, float other = {1}> { y = DequantizeLinear (w, scale, zero) }"#,
            after: r#"<ir_version: 9, opset_import: ["": 19]>
                g (float scale, float8e4m3fn zero) => (float[2] y) <float8e4m3fn[2] w = {0x38, 0x40}, float other = {1}> { y = DequantizeLinear (w, scale, zero) }"#,
        },
        Case {
            name: "the declaration follows the cast",
            codes: "RC205",
            allowed: Safety::Unsafe,
            before: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) <double[4] n> { n = Cast <to = 10> (x) y = Cast <to = 10> (n) }"#,
            after: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float16[4] y) <float16[4] n> { n = Cast <to = 10> (x) y = Cast <to = 10> (n) }"#,
        },
        Case {
            name: "a row of redundant casts goes, but for one that makes an output",
            codes: "RC402",
            allowed: Safety::Unsafe,
            before: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) {
                a = Cast <to = 1> (x) b = Cast <to = 1> (a) c = Cast <to = 1> (b) r = Relu (c) y = Cast <to = 1> (r) }"#,
            after: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { r = Relu (x) y = Cast <to = 1> (r) }"#,
        },
        Case {
            name: "a chain collapses; the first cast goes if nobody else uses it",
            codes: "RC403",
            allowed: Safety::Unsafe,
            before: r#"<ir_version: 8, opset_import: ["": 18]> g (float16[4] h, int8[4] i) => (double[4] a, double[4] b, float[4] s) {
                s = Cast <to = 1> (h) a = Cast <to = 11> (s) n = Cast <to = 6> (i) b = Cast <to = 11> (n) }"#,
            after: r#"<ir_version: 8, opset_import: ["": 18]> g (float16[4] h, int8[4] i) => (double[4] a, double[4] b, float[4] s) {
                s = Cast <to = 1> (h) a = Cast <to = 11> (h) b = Cast <to = 11> (i) }"#,
        },
        Case {
            name: "the first of equal casts serves all, in branches too",
            codes: "RC404",
            allowed: Safety::Unsafe,
            before: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x, bool choice) => (float16[4] y) {
                a = Cast <to = 10> (x) b = Cast <to = 10> (x) c = Cast <to = 10> (x)
                y = If (choice) <then_branch = t () => (float16[4] r) { r = Add (a, b) }, else_branch = e () => (float16[4] q) { q = Add (b, c) }> }"#,
            after: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x, bool choice) => (float16[4] y) {
                a = Cast <to = 10> (x)
                y = If (choice) <then_branch = t () => (float16[4] r) { r = Add (a, a) }, else_branch = e () => (float16[4] q) { q = Add (a, a) }> }"#,
        },
    ];
    let mut failures = Vec::new();
    for Case { name, codes, allowed, before, after } in cases {
        let before = Model::new(model(before)).unwrap();
        let fixed = lint::fix(before, &job(&selecting(codes)), allowed, &Baseline::default()).unwrap();
        failures.extend(crate::support::difference(name, &model(after), &fixed.model.into_proto()));
    }
    expect_no_failures(failures);
}
