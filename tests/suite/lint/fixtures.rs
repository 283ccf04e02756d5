//! For every rule: models with findings, and similar models without findings.

use onnx_recast::internals::lint::RULES;

use super::find;
use crate::support::expect_no_failures;

/// A pair of models.
pub struct Fixture {
    /// The rule.
    pub code: &'static str,
    /// What the pair shows.
    pub shows: &'static str,
    /// A model with findings.
    pub bad: &'static str,
    /// Where they are, and a part of what is said there.
    pub findings: &'static [(&'static str, &'static str)],
    /// A model without.
    pub good: &'static str,
}

#[test]
fn every_rule_reports_the_expected_findings_only() {
    let mut failures = Vec::new();
    for Fixture { code, shows, bad, findings, good } in FIXTURES {
        let found = find(bad, code);
        let as_expected = found.len() == findings.len()
            && found.iter().zip(*findings).all(|(found, (place, part))| found.place() == *place && found.message.contains(part));
        if !as_expected {
            let found: Vec<String> = found.iter().map(|found| format!("{}: {}", found.place(), found.message)).collect();
            failures.push(format!("{code}, {shows}: found {found:#?}, not {findings:#?}"));
        }
        let found: Vec<String> = find(good, code).iter().map(|found| format!("{}: {}", found.place(), found.message)).collect();
        if !found.is_empty() {
            failures.push(format!("{code}, {shows}: found {found:#?} in the correct model"));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn every_rule_has_a_fixture() {
    let lacking: Vec<String> = RULES
        .iter()
        .filter(|rule| !FIXTURES.iter().any(|fixture| fixture.code == rule.code))
        .map(|rule| rule.code.to_owned())
        .collect();
    expect_no_failures(lacking);
}

pub const FIXTURES: &[Fixture] = &[
    Fixture {
        code: "RC101",
        shows: "Cast, CastLike and FLOAT8E8M0, in a branch and in a function too",
        bad: r#"<ir_version: 12, opset_import: ["": 24, "local": 1]>
            g (float[4] x, bool choice, float8e5m2 like) => (float8e4m3fn[4] y, float8e5m2[4] z, float8e8m0[4] s, float8e4m3fnuz[4] f) {
                [plain] y = Cast <to = 17> (x)
                [as_other] z = CastLike (x, like)
                [scale] s = Cast <to = 24, round_mode = "up"> (x)
                [choose] b = If (choice) <
                    then_branch = t () => (float8e5m2fnuz[4] r) { r = Cast <to = 20> (x) },
                    else_branch = e () => (float8e5m2fnuz[4] r) { r = Cast <to = 20, saturate = 1> (x) }
                >
                f = local.Quantize (x)
            }
            <domain: "local", opset_import: ["": 24]>
            Quantize (x) => (y) { [inside] y = Cast <to = 18> (x) }"#,
        findings: &[
            ("graph/plain", "to FLOAT8E4M3FN does not state `saturate`"),
            ("graph/as_other", "to FLOAT8E5M2 does"),
            ("graph/scale", "to FLOAT8E8M0 does"),
            ("graph/choose.then_branch/#0:Cast", "to FLOAT8E5M2FNUZ does"),
            ("function/local:Quantize/inside", "to FLOAT8E4M3FNUZ does"),
        ],
        good: r#"<ir_version: 12, opset_import: ["": 24]>
            g (float[4] x, float8e5m2 like) => (float8e4m3fn[4] y, float8e5m2[4] z, float8e8m0[4] s, float16[4] h) {
                y = Cast <to = 17, saturate = 0> (x)
                z = CastLike <saturate = 1> (x, like)
                s = Cast <to = 24, round_mode = "up", saturate = 1> (x)
                h = Cast <to = 10> (x)
            }"#,
    },
    Fixture {
        code: "RC102",
        shows: "the type is that of the zero point, or output_dtype",
        bad: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float[4] x, float scale, float8e4m3fn zero) => (float8e4m3fn[4] y, float8e5m2[4] z) {
                [by_zero] y = QuantizeLinear (x, scale, zero)
                [by_dtype] z = QuantizeLinear <output_dtype = 19> (x, scale)
            }"#,
        findings: &[("graph/by_zero", "FLOAT8E4M3FN"), ("graph/by_dtype", "FLOAT8E5M2")],
        good: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float[4] x, float scale, float8e4m3fn zero, int8 zero8) => (float8e4m3fn[4] y, int8[4] z, uint8[4] u) {
                y = QuantizeLinear <saturate = 1> (x, scale, zero)
                z = QuantizeLinear (x, scale, zero8)
                u = QuantizeLinear (x, scale)
            }"#,
    },
    Fixture {
        code: "RC103",
        shows: "the result of an overflow depends on the type",
        bad: r#"<ir_version: 12, opset_import: ["": 24]>
            g (float[4] x, float scale, float8e5m2fnuz zero) => (float8e4m3fn[4] a, float8e5m2[4] b, float8e4m3fnuz[4] c, float8e8m0[4] d, float8e5m2fnuz[4] e) {
                [a] a = Cast <to = 17, saturate = 0> (x)
                [b] b = Cast <to = 19, saturate = 0> (x)
                [c] c = Cast <to = 18, saturate = 0> (x)
                [d] d = Cast <to = 24, saturate = 0, round_mode = "nearest"> (x)
                [e] e = QuantizeLinear <saturate = 0> (x, scale, zero)
            }"#,
        findings: &[
            ("graph/a", "the largest FLOAT8E4M3FN, 448, become NaN"),
            ("graph/b", "the largest FLOAT8E5M2, 57344, become infinity"),
            ("graph/c", "the largest FLOAT8E4M3FNUZ, 240, become NaN"),
            ("graph/d", "become NaN"),
            ("graph/e", "the largest FLOAT8E5M2FNUZ, 57344, become NaN"),
        ],
        good: r#"<ir_version: 12, opset_import: ["": 24]>
            g (float[4] x) => (float8e4m3fn[4] a, float16[4] b) {
                a = Cast <to = 17, saturate = 1> (x)
                b = Cast <to = 10, saturate = 0> (x)
            }"#,
    },
    Fixture {
        code: "RC104",
        shows: "how many, and the first; 464 is half way to the next number and rounds to 448",
        bad: r#"<ir_version: 9, opset_import: ["": 19]>
            g () => (float8e4m3fn[5] a, float8e5m2[3] b, float8e4m3fn c) <float[5] w = {1, 465, 464, -inf, nan}, double[3] v = {57344, 61439, 61440}, int32 i = {1000}> {
                [a] a = Cast <to = 17, saturate = 1> (w)
                [b] b = Cast <to = 19, saturate = 0> (v)
                [c] c = Cast <to = 17> (i)
            }"#,
        findings: &[
            ("graph/a", "448, become ±448: 2 of the 5 elements of 'w', the first at index 1 (465)"),
            ("graph/b", "57344, become infinity: 1 of the 3 elements of 'v', the first at index 2 (61440)"),
            ("graph/c", "448, become ±448: 'i' (1000)"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[2] x) => (float8e4m3fn[4] a, float8e4m3fn[2] b) <float[4] w = {448, -448, 464, nan}> {
                a = Cast <to = 17, saturate = 0> (w)
                b = Cast <to = 17, saturate = 1> (x)
            }"#,
    },
    Fixture {
        code: "RC104",
        shows: "strings, and a constant that other casts bring",
        bad: r#"<ir_version: 9, opset_import: ["": 19]>
            g () => (float8e4m3fn[4] a, float8e4m3fn[2] b) <string[4] s = {"1", "-500", "NaN", "448"}, float16[2] h = {1, 500}> {
                [a] a = Cast <to = 17, saturate = 1> (s)
                d = Cast <to = 11> (h)
                f = Cast <to = 1> (d)
                [b] b = Cast <to = 17, saturate = 1> (f)
            }"#,
        findings: &[
            ("graph/a", r#"1 of the 4 elements of 's', the first at index 1 ("-500")"#),
            ("graph/b", "1 of the 2 elements of 'f', the first at index 1 (500)"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[2] x) => (float8e4m3fn[3] a, float8e4m3fn[2] b) <string[3] s = {"1", "448", "no number"}> {
                a = Cast <to = 17, saturate = 1> (s)
                d = Cast <to = 11> (x)
                b = Cast <to = 17, saturate = 1> (d)
            }"#,
    },
    Fixture {
        code: "RC105",
        shows: "round_mode is left out",
        bad: r#"<ir_version: 12, opset_import: ["": 24]> g (float[4] x) => (float8e8m0[4] y) { [scale] y = Cast <to = 24, saturate = 1> (x) }"#,
        findings: &[("graph/scale", "does not state `round_mode`")],
        good: r#"<ir_version: 12, opset_import: ["": 24]>
            g (float[4] x) => (float8e8m0[4] y, float8e4m3fn[4] z) { y = Cast <to = 24, round_mode = "down"> (x) z = Cast <to = 17> (x) }"#,
    },
    Fixture {
        code: "RC106",
        shows: "not a float8",
        bad: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float[4] x, float scale, int8 zero) => (float16[4] y, int8[4] z) {
                [cast] y = Cast <to = 10, saturate = 1> (x)
                [quantize] z = QuantizeLinear <saturate = 0> (x, scale, zero)
            }"#,
        findings: &[
            ("graph/cast", "no effect on a result of type FLOAT16"),
            ("graph/quantize", "no effect on a result of type INT8"),
        ],
        good: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float[4] x) => (float16[4] y, float8e5m2[4] z) { y = Cast <to = 10> (x) z = Cast <to = 19, saturate = 0> (x) }"#,
    },
    Fixture {
        code: "RC107",
        shows: "not FLOAT8E8M0",
        bad: r#"<ir_version: 12, opset_import: ["": 24]> g (float[4] x) => (float8e5m2[4] y) { [cast] y = Cast <to = 19, round_mode = "down"> (x) }"#,
        findings: &[("graph/cast", "no effect on a result of type FLOAT8E5M2")],
        good: r#"<ir_version: 12, opset_import: ["": 24]> g (float[4] x) => (float8e8m0[4] y) { y = Cast <to = 24, round_mode = "down"> (x) }"#,
    },
    Fixture {
        code: "RC108",
        shows: "declared as float8, or used beside one",
        bad: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float scale, float8e4m3fn zero) => (float[2] y, float[2] z) <uint8[2] w = {56, 64}, uint8[2] v = {56, 64}, float8e5m2[2] v> {
                [dequantize] y = DequantizeLinear (w, scale, zero)
                z = DequantizeLinear (v, scale)
            }"#,
        findings: &[
            ("graph/w", "'w' is used as FLOAT8E4M3FN by graph/dequantize but stored as UINT8"),
            ("graph/v", "'v' is declared as FLOAT8E5M2 but stored as UINT8"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float scale, uint8 zero, float8e4m3fn zero8) => (float[2] y, float[2] z) <uint8[2] w = {56, 64}, float8e4m3fn[2] v = {1, 2}> {
                y = DequantizeLinear (w, scale, zero)
                z = DequantizeLinear (v, scale, zero8)
            }"#,
    },
    Fixture {
        code: "RC109",
        shows: "values, and constants that hold an infinity",
        bad: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x) => (float8e4m3fnuz[4] y, float8e5m2fnuz[2] z) <float[2] w = {1, inf}> {
                [value] y = Cast <to = 18> (x)
                [constant] z = Cast <to = 20, saturate = 1> (w)
            }"#,
        findings: &[
            ("graph/value", "NaN in FLOAT8E4M3FNUZ by the text of opset 19"),
            ("graph/constant", "1 of the 2 elements of 'w', the first at index 1 (INF)"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x, int32[4] i) => (float8e4m3fnuz[4] y, float8e5m2fnuz[2] z, float8e4m3fnuz[4] k) <float[2] w = {1, 2}> {
                y = Cast <to = 18, saturate = 0> (x)
                z = Cast <to = 20, saturate = 1> (w)
                k = Cast <to = 18> (i)
            }"#,
    },
    Fixture {
        code: "RC110",
        shows: "there and straight back",
        bad: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x) => (float16[4] y) { [down] n = Cast <to = 17> (x) [up] y = Cast <to = 10> (n) }"#,
        findings: &[("graph/up", "FLOAT is cast to FLOAT8E4M3FN at graph/down and then to FLOAT16")],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float8e4m3fn[4] x, float[4] v) => (float[4] y, float[4] z) {
                y = Cast <to = 1> (x)
                n = Cast <to = 17> (v)
                m = Transpose (n)
                z = Cast <to = 1> (m)
            }"#,
    },
    Fixture {
        code: "RC201",
        shows: "no `to`",
        bad: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float16[4] y) { [cast] y = Cast (x) }"#,
        findings: &[("graph/cast", "the attribute `to` is missing")],
        good: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float[4] y) { h = Cast <to = 10> (x) y = CastLike (h, x) }"#,
    },
    Fixture {
        code: "RC202",
        shows: "types and operators of later opsets, invalid numbers and names of types",
        bad: r#"<ir_version: 8, opset_import: ["": 12]>
            g (float[4] x, bfloat16[4] b) => (float8e4m3fn[4] y, float[4] z, float[4] u, float[4] v) {
                [result] y = Cast <to = 17> (x)
                [input] z = Cast <to = 1> (b)
                [like] u = CastLike (x, x)
                [number] v = Cast <to = 99> (x)
            }"#,
        findings: &[
            ("graph/result", "Cast of opset 12 does not support FLOAT8E4M3FN as its result; opset 19 is the first"),
            ("graph/input", "does not support BFLOAT16 as its input; opset 13"),
            ("graph/like", "CastLike requires opset 15; the imported opset is 12"),
            ("graph/number", "`to` = 99 is not an ONNX element type"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x, bfloat16[4] b) => (float8e4m3fn[4] y, float[4] z, bfloat16[4] u) {
                y = Cast <to = 17> (x)
                z = Cast <to = 1> (b)
                u = CastLike (x, b)
            }"#,
    },
    Fixture {
        code: "RC203",
        shows: "attributes that came later, were dropped, or never were; a function may have any",
        bad: r#"<ir_version: 8, opset_import: ["": 18, "local": 1]>
            g (float[4] x) => (float16[4] y, float[4] z, float[4] u, float[4] v) {
                [saturate] y = Cast <to = 10, saturate = 0> (x)
                [newer] s = Cast <to = 10, round_mode = "down"> (x)
                [dropped] z = Relu <consumed_inputs = [0]> (x)
                [never] u = Relu <alpha = 1.0> (x)
                v = local.F <anything = 1> (x)
            }
            <domain: "local", opset_import: ["": 18]>
            F <anything> (x) => (y) { y = Relu (x) }"#,
        findings: &[
            ("graph/saturate", "Cast of ai.onnx 18 has no attribute `saturate`; it was added in opset 19"),
            ("graph/newer", "`round_mode`; it was added in opset 24"),
            ("graph/dropped", "`consumed_inputs`; it was removed in opset 14"),
            ("graph/never", "`alpha`; no opset has it"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19, "vendor": 1]>
            g (float[4] x) => (float16[4] y, float[4] z) { y = Cast <to = 10, saturate = 0> (x) z = vendor.Relu <alpha = 1.0> (x) }"#,
    },
    Fixture {
        code: "RC204",
        shows: "a name since opset 6",
        bad: r#"<ir_version: 8, opset_import: ["": 18]> g (float[4] x) => (float16[4] y) { [cast] y = Cast <to = "FLOAT16"> (x) }"#,
        findings: &[("graph/cast", "`to` has attribute type string, but opset 18 requires int")],
        good: r#"<ir_version: 3, opset_import: ["": 5]> g (float[4] x) => (float16[4] y) { y = Cast <to = "FLOAT16"> (x) }"#,
    },
    Fixture {
        code: "RC204",
        shows: "a number before opset 6",
        bad: r#"<ir_version: 3, opset_import: ["": 5]> g (float[4] x) => (float16[4] y) { [cast] y = Cast <to = 10> (x) }"#,
        findings: &[("graph/cast", "`to` has attribute type int, but opset 5 requires string")],
        good: r#"<ir_version: 3, opset_import: ["": 6]> g (float[4] x) => (float16[4] y) { y = Cast <to = 10> (x) }"#,
    },
    Fixture {
        code: "RC205",
        shows: "an output, and a value in between",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[4] x, double like) => (float[4] y, double[4] z) <float16[4] n> {
                [output] y = Cast <to = 10> (x)
                [between] n = CastLike (x, like)
                z = Relu (n)
            }"#,
        findings: &[
            ("graph/output", "'y' is cast to FLOAT16 but declared as FLOAT"),
            ("graph/between", "'n' is cast to DOUBLE but declared as FLOAT16"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[4] x) => (float16[4] y) <float16[4] n> { n = Cast <to = 10> (x) y = Cast <to = 10> (n) }"#,
    },
    Fixture {
        code: "RC206",
        shows: "an element type, and functions",
        bad: r#"<ir_version: 7, opset_import: ["": 19, "local": 1]>
            g (float[4] x) => (float8e4m3fn[4] y) { y = local.F (x) }
            <domain: "local", opset_import: ["": 19]>
            F (x) => (y) { y = Cast <to = 17, saturate = 1> (x) }"#,
        findings: &[("model", "ir_version 7 is too low for FLOAT8E4M3FN, which requires 9")],
        good: r#"<ir_version: 9, opset_import: ["": 19]> g (float[4] x) => (float8e4m3fn[4] y) { y = Cast <to = 17, saturate = 1> (x) }"#,
    },
    Fixture {
        code: "RC206",
        shows: "a type that an attribute names, of ONNX's own operators alone",
        bad: r#"<ir_version: 8, opset_import: ["": 19]> g (float[4] x) => (float[4] y) { n = Cast <to = 17> (x) y = Cast <to = 1> (n) }"#,
        findings: &[("model", "ir_version 8 is too low for FLOAT8E4M3FN, which requires 9")],
        good: r#"<ir_version: 8, opset_import: ["": 18, "custom": 1, "local": 1]>
            g (float[4] x) => (float[4] y) { n = custom.Move <to = 17> (x) y = local.Move <dtype = 17> (n) }
            <domain: "local", opset_import: ["": 18]> Move <dtype> (a) => (b) { b = Neg (a) }"#,
    },
    Fixture {
        code: "RC206",
        shows: "an opset of another domain, if a node uses it",
        bad: r#"<ir_version: 9, opset_import: ["": 18, "ai.onnx.ml": 5]>
            g (float[4] x) => (float[4] y) { y = ai.onnx.ml.Scaler (x) }"#,
        findings: &[("model", "ir_version 9 is too low for opset 5 of ai.onnx.ml, which requires 10")],
        good: r#"<ir_version: 9, opset_import: ["": 18, "ai.onnx.ml": 5]> g (float[4] x) => (float[4] y) { y = Relu (x) }"#,
    },
    Fixture {
        code: "RC207",
        shows: "upwards, from the root, in an attribute",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[2] x) => (float[2] y) <float[2] up = ["location": "../up.bin"], float[2] root = ["location": "/etc/passwd"], float[2] inside = ["location": "w/../../x"]> {
                a = Mul (x, up)
                b = Mul (a, root)
                c = Mul (b, inside)
                [attribute] d = Constant <value = float[2] ["location": "C:\\weights.bin"]> ()
                y = Mul (c, d)
            }"#,
        findings: &[
            ("graph/up", "data file '../up.bin' is outside the model's folder"),
            ("graph/root", "data file '/etc/passwd' is outside"),
            ("graph/inside", "data file 'w/../../x' is outside"),
            ("graph/attribute", "data file 'C:\\weights.bin' is outside"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[2] x) => (float[2] y) <float[2] w = ["location": "weights/w..bin"]> { y = Mul (x, w) }"#,
    },
    Fixture {
        code: "RC208",
        shows: "numbers, words and kinds that these attributes cannot have",
        bad: r#"<ir_version: 12, opset_import: ["": 24]>
            g (float[4] x) => (float8e8m0[4] a, float8e4m3fn[4] b, float8e4m3fn[4] c) {
                [word] a = Cast <to = 24, round_mode = "ceil"> (x)
                [number] b = Cast <to = 17, saturate = 2> (x)
                [kind] c = Cast <to = 17, saturate = "yes"> (x)
            }"#,
        findings: &[
            ("graph/word", "`round_mode` must be the string `up`, `down` or `nearest`"),
            ("graph/number", "`saturate` must be the integer 0 or 1"),
            ("graph/kind", "`saturate` must be the integer 0 or 1"),
        ],
        good: r#"<ir_version: 12, opset_import: ["": 24]> g (float[4] x) => (float8e8m0[4] y) { y = Cast <to = 24, round_mode = "nearest", saturate = 0> (x) }"#,
    },
    Fixture {
        code: "RC209",
        shows: "codes of no rule",
        bad: r#"<ir_version: 9, opset_import: ["": 19], metadata_props: ["recast.noqa": "RC101, RC999 nonsense"]>
            g (float[4] x) => (float[4] y) { y = Relu (x) }"#,
        findings: &[("model", "'RC999'"), ("model", "'nonsense'")],
        good: r#"<ir_version: 9, opset_import: ["": 19], metadata_props: ["recast.noqa": "RC1,RC203 float8-round-trip ALL", "other.noqa": "RC999"]>
            g (float[4] x) => (float[4] y) { y = Relu (x) }"#,
    },
    Fixture {
        code: "RC210",
        shows: "newer, deprecated and misspelt operators, in a function too",
        bad: r#"<ir_version: 8, opset_import: ["": 14, "ai.onnx.ml": 1, "local": 1]>
            g (float[2, 4] x, float[4] s, int64[2] i) => (float[2, 4] y) {
                [newer] n = LayerNormalization (x, s)
                [gone] u = Scatter (n, i, x)
                [misspelt] e = Erfc (u)
                [case] r = relu (e)
                [of_ml] t = ai.onnx.ml.TreeEnsemble (r)
                [strange] q = FusedSomethingQuick (t)
                y = local.F (q)
            }
            <domain: "local", opset_import: ["": 11]> F (x) => (y) { [inner] y = Einsum <equation = "ij->ij"> (x) }"#,
        findings: &[
            ("graph/newer", "LayerNormalization requires opset 17 of ai.onnx; the imported opset is 14"),
            ("graph/gone", "Scatter of ai.onnx is deprecated since opset 11; the imported opset is 14"),
            ("graph/misspelt", "ai.onnx has no operator Erfc in any opset; did you mean Erf?"),
            ("graph/case", "ai.onnx has no operator relu in any opset; did you mean Relu?"),
            ("graph/of_ml", "TreeEnsemble requires opset 5 of ai.onnx.ml; the imported opset is 1"),
            ("graph/strange", "ai.onnx has no operator FusedSomethingQuick in any opset"),
            ("function/local:F/inner", "Einsum requires opset 12 of ai.onnx; the imported opset is 11"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 17, "com.example": 1, "local": 1]>
            g (float[2, 4] x, float[4] s) => (float[2, 4] y) {
                n = LayerNormalization (x, s)
                u = com.example.Erfc (n)
                y = local.Erfc (u)
            }
            <domain: "local", opset_import: ["": 12]> Erfc (x) => (y) { y = Einsum <equation = "ij->ij"> (x) }"#,
    },
    Fixture {
        code: "RC210",
        shows: "ai.onnx that is not imported; other domains in functions, where runtimes do not import what they know",
        bad: r#"<ir_version: 8, opset_import: ["ai.onnx.ml": 3, "local": 1]>
            g (float[2, 4] x) => (float[2, 4] y) {
                [none] n = Relu (x)
                [imported] s = ai.onnx.ml.Scaler (n)
                [of_runtime] t = com.microsoft.Gelu (s)
                y = local.F (t)
            }
            <domain: "local", opset_import: ["": 17]> F (x) => (y) {
                [inner] z = com.microsoft.Gelu (x)
                y = local.G (z)
            }
            <domain: "local", opset_import: ["local": 1]> G (x) => (y) { [innermost] y = Relu (x) }"#,
        findings: &[
            ("graph/none", "Relu is an operator of ai.onnx, which the model does not import"),
            ("function/local:F/inner", "Gelu is an operator of com.microsoft, which the function does not import"),
            ("function/local:G/innermost", "Relu is an operator of ai.onnx, which the function does not import"),
        ],
        good: r#"<ir_version: 2, opset_import: []> g (float[2, 4] x) => (float[2, 4] y) { y = Relu (x) }"#,
    },
    Fixture {
        code: "RC212",
        shows: "types, words, ranks, shapes, numbers of inputs; in a branch, and in a function with the types of its calls",
        bad: r#"<ir_version: 9, opset_import: ["": 18, "l": 1]>
            g (float[2,3] x, int32[2,3] i, bool c) => (y, float[2,3] b) {
                [not] n = BitwiseNot (x)
                [root] r = Sqrt (i)
                [mixed] m = Add (x, i)
                [pad] q = Constant <value = int64[4] {0, 0, 0, 0}> ()
                [word] p = Pad <mode = "mirror"> (x, q)
                [none] v = Constant ()
                [rank] d = DepthToSpace <blocksize = 2> (x)
                [sum] s = MatMul (x, x)
                [axis] a = Softmax <axis = 2> (x)
                [few] f = Where (c, x)
                [kind] k = LeakyRelu <alpha = 1> (x)
                [call] y = l.F (i)
                [if] b = If (c) <then_branch = t () => (float[2,3] o) { [in] u = Sqrt (i) o = Cast <to = 1> (u) }, else_branch = e () => (float[2,3] o) { o = Neg (x) }>
            }
            <domain: "l", opset_import: ["": 18]> F (x) => (y) { [exp] y = Exp (x) }
            <domain: "l", opset_import: ["": 18]> Unused (x) => (y) { h = Cast <to = 6> (x) y = Exp (h) }"#,
        findings: &[
            ("graph/not", "input 'x' is tensor(float), which BitwiseNot-18 does not support"),
            ("graph/root", "input 'i' is tensor(int32), which Sqrt-13 does not support"),
            ("graph/mixed", "Add-14 requires the same type for 'x' and 'i', which are tensor(float) and tensor(int32)"),
            ("graph/word", "unknown `mode` = 'mirror': Pad-18 has constant, reflect, edge, wrap"),
            ("graph/none", "Constant-13 has no value"),
            ("graph/rank", "input 'x' has rank 2, not 4"),
            ("graph/sum", "the product of 'x' and 'x' sums over 3 and 2 elements"),
            ("graph/axis", "`axis` = 2 is out of range for rank 2"),
            ("graph/few", "Where-16 requires at least 3 inputs, but the node has 2"),
            ("graph/kind", "the attribute `alpha` has another type in LeakyRelu-16"),
            ("graph/if.then_branch/in", "input 'i' is tensor(int32), which Sqrt-13 does not support"),
            ("function/l:F/exp", "input 'x' is tensor(int32) in a call of the function, which Exp-13 does not support"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 18, "l": 1]>
            g (float[2,3] x, int32[2,3] i, bool c) => (y, float[2,3] b) {
                [not] n = BitwiseNot (i)
                [root] r = Sqrt (x)
                [mixed] m = Add (x, x)
                [word] q = Constant <value = int64[4] {0, 0, 0, 0}> ()
                p = Pad <mode = "edge"> (x, q)
                [axis] a = Softmax <axis = -2> (x)
                [call] y = l.F (x)
                [if] b = If (c) <then_branch = t () => (float[2,3] o) { o = MatMul (x, x) }, else_branch = e () => (float[2,3] o) { o = Neg (x) }>
            }
            <domain: "l", opset_import: ["": 18]> F (x) => (y) { [exp] y = Exp (x) }"#,
    },
    Fixture {
        code: "RC211",
        shows: "types, ranks and lengths; results of nodes, initializers, and values of a branch; casts are reported by RC205",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[n,4] x, bool c, float[3] w) => (int64[n,4] relu, float[n] same_rank, float[7] z, float16[n,4] cast)
            <float[4] w = {1, 2, 3, 4}, float[n,m,4] wide> {
                [relu] relu = Relu (x)
                [same_rank] same_rank = Neg (x)
                [wide] wide = Identity (x)
                [cast] cast = Cast <to = 11> (x)
                [choose] z = If (c) <
                    then_branch = t () => (float[5] r) { [inside] r = Identity (w) },
                    else_branch = e () => (float[3] r) { r = Identity (w) }
                >
            }"#,
        findings: &[
            ("graph/w", "'w' is declared as tensor(float)[3] but is tensor(float)[4]"),
            ("graph/relu", "'relu' is declared as tensor(int64)[?,4] but is tensor(float)[?,4]"),
            ("graph/same_rank", "'same_rank' is declared as tensor(float)[?] but is tensor(float)[?,4]"),
            ("graph/wide", "'wide' is declared as tensor(float)[?,?,4] but is tensor(float)[?,4]"),
            ("graph/cast", "'cast' is declared as tensor(float16)[?,4] but is tensor(double)[?,4]"),
            ("graph/choose.then_branch/inside", "'r' is declared as tensor(float)[5] but is tensor(float)[3]"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[n,4] x, bool c, int64 l) => (float[k,4] relu, float[a,b] same_rank, float[p] z, q) <float[4] w = {1, 2, 3, 4}> {
                relu = Relu (x)
                same_rank = Neg (x)
                z = If (c) <
                    then_branch = t () => (float[4] r) { r = Identity (w) },
                    else_branch = e () => (float[2] r) { two = Constant <value_ints = [2]> () r = ConstantOfShape (two) }
                >
                q = Loop (l, c, w) <body = b (int64 i, bool g, float[s] v) => (bool g2, float[t] u) { g2 = Identity (g) u = Concat <axis = 0> (v, v) }>
            }"#,
    },
    Fixture {
        code: "RC301",
        shows: "out of range, NaN, words that are no numbers, types without an answer",
        bad: r#"<ir_version: 14, opset_import: ["": 28]>
            g () => (int32[3] a, int8[2] b, int64[2] c, float6e2m3[2] d, float4e2m1[2] e, float8e8m0[2] f, int32[3] i)
            <float[3] w = {1, 3000000000, nan}, double[2] v = {127.9, -129}, string[2] s = {"7", "seven"}, float[2] u = {7.5, 8}, float[2] n = {nan, 1}, float[2] m = {-1, 2}> {
                [range] a = Cast <to = 6> (w)
                [bytes] b = Cast <to = 3> (v)
                [words] c = Cast <to = 7> (s)
                [six_bits] d = Cast <to = 27> (u)
                [four_bits] e = Cast <to = 23> (n)
                [scale] f = Cast <to = 24> (m)
                h = Cast <to = 11> (w)
                [chain] i = Cast <to = 6> (h)
            }"#,
        findings: &[
            ("graph/range", "2 of the 3 elements of 'w', the first at index 1 (3000000000)"),
            ("graph/bytes", "1 of the 2 elements of 'v', the first at index 1 (-129)"),
            ("graph/words", "'s', element 1: 'seven' cannot be cast to INT64"),
            ("graph/six_bits", "1 of the 2 elements of 'u', the first at index 1 (8)"),
            ("graph/four_bits", "the text of ONNX and the runtimes disagree"),
            ("graph/scale", "1 of the 2 elements of 'm', the first at index 0 (-1)"),
            ("graph/chain", "2 of the 3 elements of 'h', the first at index 1 (3000000000)"),
        ],
        good: r#"<ir_version: 14, opset_import: ["": 28]>
            g (float[2] x) => (int32[3] a, int8[2] b, int64[2] c, int32[2] d, string[3] e, float16[3] f)
            <float[3] w = {1, 2000000000, -0.5}, double[2] v = {127.9, -128.9}, string[2] s = {"7", "-8"}> {
                a = Cast <to = 6> (w)
                b = Cast <to = 3> (v)
                c = Cast <to = 7> (s)
                d = Cast <to = 6> (x)
                e = Cast <to = 8> (w)
                f = Cast <to = 10> (w)
            }"#,
    },
    Fixture {
        code: "RC302",
        shows: "values that may have a fraction, and constants that have one",
        bad: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float[4] x) => (int4[4] a, uint4[4] b) <float16[4] w = {1, 2.5, 3, 0.5}> {
                [value] a = Cast <to = 22> (x)
                [constant] b = Cast <to = 21> (w)
            }"#,
        findings: &[
            ("graph/value", "runtimes round fractions to INT4"),
            ("graph/constant", "2 of the 4 elements of 'w', the first at index 1 (2.5)"),
        ],
        good: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float[4] x, int32[4] i) => (int4[4] a, uint4[4] b, int4[4] c, int8[4] d) <float16[4] w = {1, 2, 3, 0}> {
                r = Round (x)
                a = Cast <to = 22> (r)
                b = Cast <to = 21> (w)
                c = Cast <to = 22> (i)
                d = Cast <to = 3> (x)
            }"#,
    },
    Fixture {
        code: "RC303",
        shows: "floats and BOOL to strings, strings to BOOL",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[4] x, bool[4] b, string[4] s) => (string[4] u, string[4] v, bool[4] w) {
                [float] u = Cast <to = 8> (x)
                [bool] v = Cast <to = 8> (b)
                [truth] w = Cast <to = 9> (s)
            }"#,
        findings: &[
            ("graph/float", "format FLOAT with different digits"),
            ("graph/bool", "the conversion of BOOL to STRING"),
            ("graph/truth", "which strings are true"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (int32[4] i, string[4] s) => (string[4] u, float[4] v, int32[4] w) {
                u = Cast <to = 8> (i)
                v = Cast <to = 1> (s)
                w = Cast <to = 6> (s)
            }"#,
    },
    Fixture {
        code: "RC304",
        shows: "a mask of -1e9, a double beyond FLOAT",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g () => (float16[3] a, float[2] b) <float[3] mask = {0, -1e9, inf}, double[2] d = {1e300, 1}> {
                [half] a = Cast <to = 10> (mask)
                [single] b = Cast <to = 1> (d)
            }"#,
        findings: &[
            ("graph/half", "65504, become infinite: 1 of the 3 elements of 'mask', the first at index 1 (-1000000000)"),
            ("graph/single", "1 of the 2 elements of 'd', the first at index 0 (1e300)"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[3] x) => (float16[4] a, bfloat16[3] b, float16[3] c) <float[4] w = {0, -65504, inf, nan}, float[3] mask = {0, -1e9, inf}> {
                a = Cast <to = 10> (w)
                b = Cast <to = 16> (mask)
                c = Cast <to = 10> (x)
            }"#,
    },
    Fixture {
        code: "RC305",
        shows: "FLOAT to FLOAT16 and back, FLOAT16 by way of BFLOAT16, DOUBLE by way of FLOAT",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[4] x, float16[4] h, double[4] d) => (float[4] a, float16[4] b, double[4] c) {
                [narrow] n = Cast <to = 10> (x)
                [back] a = Cast <to = 1> (n)
                m = Cast <to = 16> (h)
                [other] b = Cast <to = 10> (m)
                k = Cast <to = 1> (d)
                [double] c = Cast <to = 11> (k)
            }"#,
        findings: &[
            ("graph/back", "FLOAT is narrowed to FLOAT16 at graph/narrow; the cast to FLOAT does not restore the precision"),
            ("graph/other", "FLOAT16 is narrowed to BFLOAT16"),
            ("graph/double", "DOUBLE is narrowed to FLOAT"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x, float16[4] h) => (float16[4] a, float[4] b, float[4] c, float[1] d) <float[1] w = {0.1}> {
                s = Cast <to = 1> (h)
                a = Cast <to = 10> (s)
                n = Cast <to = 10> (x)
                r = Relu (n)
                b = Cast <to = 1> (r)
                e = Cast <to = 17> (x)
                c = Cast <to = 1> (e)
                v = Cast <to = 10> (w)
                d = Cast <to = 1> (v)
            }"#,
    },
    Fixture {
        code: "RC306",
        shows: "-1 turns into 255, 128 into -128",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g (int8[4] x, uint8[4] u) => (int32[4] a, float[4] b) {
                [first] n = Cast <to = 2> (x)
                [wide] a = Cast <to = 6> (n)
                m = Cast <to = 3> (u)
                [float] b = Cast <to = 1> (m)
            }"#,
        findings: &[
            ("graph/wide", "INT8 is cast to UINT8 at graph/first and then to INT32: -1 becomes 255"),
            ("graph/float", "128 becomes -128"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (int8[4] x, uint8[4] u) => (int8[4] a, float[4] b, int32[4] c) {
                n = Cast <to = 2> (x)
                a = Cast <to = 3> (n)
                m = Cast <to = 5> (u)
                b = Cast <to = 1> (m)
                c = Cast <to = 6> (x)
            }"#,
    },
    Fixture {
        code: "RC307",
        shows: "an initializer and a Constant; larger values, single numbers and other types are not clipped",
        bad: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float16[3] x) => (float16[3] y) <float16[3] w = {0x70e2, 0xf0e2, 1}> {
                c = Constant <value = float16[2, 1] {2, 0xf0e2}> ()
                m = Mul (x, w)
                y = Mul (m, c)
            }"#,
        findings: &[
            ("graph/w", "2 elements are exactly 10000 or -10000 in 'w'"),
            ("graph/c", "one element is exactly 10000 or -10000 in 'c'"),
        ],
        good: r#"<ir_version: 10, opset_import: ["": 21]>
            g (float16[3] x) => (float16[3] y, float[2] z) <float16[3] w = {0x70e2, 0xf0e3, 1}, float16[3] v = {0x70e1, 0, 1}, float16 base = {0x70e2},
                float16[2] i = {0x70e2, 0x7c00}, float[2] f = {10000, 1}> {
                a = Mul (x, w)
                b = Mul (a, base)
                d = Mul (b, i)
                y = Mul (d, v)
                z = Identity (f)
            }"#,
    },
    Fixture {
        code: "RC401",
        shows: "an initializer, a Constant, and a chain of casts",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g () => (float16[2] a, int32 b, double[2] c) <float[2] w = {0.5, 2}> {
                k = Constant <value_float = 3.0> ()
                [initializer] a = Cast <to = 10> (w)
                [node] b = Cast <to = 6> (k)
                [chain] c = Cast <to = 11> (a)
            }"#,
        findings: &[
            ("graph/initializer", "the constant 'w' is cast to FLOAT16 in every run"),
            ("graph/node", "the constant 'k' is cast to INT32"),
            ("graph/chain", "the constant 'a' is cast to DOUBLE"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[2] x, float[2] given) => (float16[2] a, int8[2] b, float16[2] c) <float[2] given = {0.5, 2}, float[2] w = {300, nan}> {
                a = Cast <to = 10> (x)
                b = Cast <to = 3> (w)
                c = Cast <to = 10> (given)
            }"#,
    },
    Fixture {
        code: "RC402",
        shows: "the type that it has",
        bad: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x, float8e5m2[4] e, float8e4m3fn[4] f) => (float[4] y, float8e5m2[4] z, float8e4m3fn[4] u) {
                [same] s = Cast <to = 1> (x)
                y = Relu (s)
                [copied] z = Cast <to = 19, saturate = 0> (e)
                [like] u = CastLike (f, f)
            }"#,
        findings: &[
            ("graph/same", "'x' already has type FLOAT"),
            ("graph/copied", "'e' already has type FLOAT8E5M2"),
            ("graph/like", "'f' already has type FLOAT8E4M3FN"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19, "local": 1]>
            g (float[4] x, float8e5m2[4] e) => (float16[4] y, float8e5m2[4] z, float[4] u) {
                y = Cast <to = 10> (x)
                z = Cast <to = 19, saturate = 1> (e)
                u = local.F <to = 1> (x)
            }
            <domain: "local", opset_import: ["": 19]>
            F <to> (x) => (y) { c = Constant <value_float = 1.0> () d = Cast <to: int = @to> (c) y = Mul (x, d) }"#,
    },
    Fixture {
        code: "RC403",
        shows: "a type in between that holds every value",
        bad: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float16[4] h, int8[4] i, bool[4] b) => (double[4] a, float16[4] c, int16[4] d, float[4] e) {
                s = Cast <to = 1> (h)
                [wider] a = Cast <to = 11> (s)
                [back] t = Cast <to = 10> (s)
                c = Relu (t)
                n = Cast <to = 6> (i)
                [narrower] d = Cast <to = 5> (n)
                m = Cast <to = 7> (b)
                [bool] e = Cast <to = 1> (m)
            }"#,
        findings: &[
            ("graph/wider", "FLOAT16 is cast to FLOAT at graph/#0:Cast and then to DOUBLE: one cast from FLOAT16 is sufficient"),
            ("graph/back", "no cast is necessary"),
            ("graph/narrower", "one cast from INT8 is sufficient"),
            ("graph/bool", "one cast from BOOL is sufficient"),
        ],
        good: r#"<ir_version: 8, opset_import: ["": 18]>
            g (float[4] x, int32[4] i, float16[4] h, bool[4] b) => (float[4] a, int8[4] c, string[4] d, string[4] e) {
                n = Cast <to = 10> (x)
                a = Cast <to = 1> (n)
                f = Cast <to = 11> (i)
                c = Cast <to = 3> (f)
                s = Cast <to = 1> (h)
                d = Cast <to = 8> (s)
                m = Cast <to = 6> (b)
                e = Cast <to = 8> (m)
            }"#,
    },
    Fixture {
        code: "RC404",
        shows: "the same input, type and attributes that matter",
        bad: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x, float16 like) => (float16[4] y, float8e5m2[4] z) {
                [first] a = Cast <to = 10> (x)
                [second] b = Cast <to = 10, saturate = 0> (x)
                [third] c = CastLike (x, like)
                s = Add (a, b)
                y = Add (s, c)
                d = Cast <to = 19> (x)
                [eight] z = Cast <to = 19, saturate = 1> (x)
            }"#,
        findings: &[
            ("graph/second", "'x' is already cast to FLOAT16 at graph/first"),
            ("graph/third", "at graph/first"),
            ("graph/eight", "'x' is already cast to FLOAT8E5M2 at graph/#5:Cast"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 19]>
            g (float[4] x, float[4] v) => (float16[4] y, float8e5m2[4] z, float8e5m2[4] u) {
                a = Cast <to = 10> (x)
                b = Cast <to = 10> (v)
                y = Add (a, b)
                z = Cast <to = 19> (x)
                u = Cast <to = 19, saturate = 0> (x)
            }"#,
    },
    Fixture {
        code: "RC501",
        shows: "opset and IR version; the target is onnxruntime 1.17",
        bad: r#"<ir_version: 10, opset_import: ["": 21, "ai.onnx.ml": 4]>
            g (float[4] x) => (float[4] y) { y = Relu (x) }"#,
        findings: &[
            ("model", "opset 21 of ai.onnx is not supported by onnxruntime 1.17; its newest is 20"),
            ("model", "IR version 10 is not supported by onnxruntime 1.17; its newest is 9"),
        ],
        good: r#"<ir_version: 9, opset_import: ["": 20, "ai.onnx.ml": 4]>
            g (float[4] x) => (float[4] y) { y = Relu (x) }"#,
    },
];
