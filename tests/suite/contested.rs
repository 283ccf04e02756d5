//! Nodes on whose results ONNX's text and runtimes disagree: kept, unless an option chooses.

use onnx_recast::internals::elements::cast::Contested;
use onnx_recast::internals::graph::Model;
use onnx_recast::internals::onnx_text;
use onnx_recast::internals::passes::{self, Options, Pass};
use onnx_recast::verify::Verification;

use crate::support::{expect_no_failures, model, rewrite};

struct Case {
    name: &'static str,
    opset: u32,
    constants: &'static str,
    node: &'static str,
    /// The result, or the code of the reason why the node is kept: by default, and with `text` and `runtime`.
    results: [&'static str; 3],
}

const LEFT: &str = "left-to-runtimes";
const UNDEFINED: &str = "undefined-result";
const CONTESTED: &str = "contested-result";

/// What runtimes compute was measured with onnxruntime 1.31.1 without optimizations.
const CASES: &[Case] = &[
    Case {
        name: "Squeeze of an empty list of axes",
        opset: 13,
        constants: "float[1, 2, 1] w = {1, 2}, int64[0] a = {}",
        node: "Squeeze (w, a)",
        results: [CONTESTED, "float[1, 2, 1] y = {1, 2}", "float[2] y = {1, 2}"],
    },
    Case {
        name: "Squeeze of an attribute that is an empty list",
        opset: 11,
        constants: "float[1, 2] w = {1, 2}",
        node: "Squeeze <axes: ints = []> (w)",
        results: [CONTESTED, "float[1, 2] y = {1, 2}", "float[2] y = {1, 2}"],
    },
    Case {
        name: "Squeeze of an empty list of axes, without an axis of length 1",
        opset: 13,
        constants: "float[2] w = {1, 2}, int64[0] a = {}",
        node: "Squeeze (w, a)",
        results: ["float[2] y = {1, 2}"; 3],
    },
    Case {
        name: "Slice backward from before the first index",
        opset: 13,
        constants: "int32[3] w = {1, 2, 3}, int64[1] s = {-9}, int64[1] e = {-10}, int64[1] a = {0}, int64[1] p = {-1}",
        node: "Slice (w, s, e, a, p)",
        results: [CONTESTED, "int32[1] y = {1}", "int32[1] y = {1}"],
    },
    Case {
        name: "Slice backward from before the first index, when the text referred to numpy",
        opset: 11,
        constants: "int32[3] w = {1, 2, 3}, int64[1] s = {-9}, int64[1] e = {-10}, int64[1] a = {0}, int64[1] p = {-1}",
        node: "Slice (w, s, e, a, p)",
        results: [CONTESTED, "int32[0] y", "int32[1] y = {1}"],
    },
    Case {
        name: "Slice backward from the first index",
        opset: 13,
        constants: "int32[3] w = {1, 2, 3}, int64[1] s = {-3}, int64[1] e = {-10}, int64[1] a = {0}, int64[1] p = {-1}",
        node: "Slice (w, s, e, a, p)",
        results: ["int32[1] y = {1}"; 3],
    },
    Case {
        name: "Slice backward to the largest INT64",
        opset: 13,
        constants: "int32[3] w = {1, 2, 3}, int64[1] s = {1}, int64[1] e = {9223372036854775807}, int64[1] a = {0}, int64[1] p = {-1}",
        node: "Slice (w, s, e, a, p)",
        results: [CONTESTED, "int32[0] y", "int32[2] y = {2, 1}"],
    },
    Case {
        name: "Slice backward to the largest INT32",
        opset: 10,
        constants: "int32[3] w = {1, 2, 3}, int32[1] s = {1}, int32[1] e = {2147483647}, int32[1] a = {0}, int32[1] p = {-1}",
        node: "Slice (w, s, e, a, p)",
        results: [CONTESTED, "int32[0] y", "int32[2] y = {2, 1}"],
    },
    Case {
        name: "Slice of an axis twice",
        opset: 13,
        constants: "int32[3] w = {1, 2, 3}, int64[2] s = {1, 0}, int64[2] e = {3, 1}, int64[2] a = {0, -1}",
        node: "Slice (w, s, e, a)",
        results: [UNDEFINED; 3],
    },
    Case {
        name: "OneHot of fractions",
        opset: 11,
        constants: "float[3] w = {1.5, -0.5, 2}, float d = {3}, int32[2] v = {0, 7}",
        node: "OneHot (w, d, v)",
        results: [CONTESTED, "int32[3, 3] y = {0, 7, 0, 7, 0, 0, 0, 0, 7}", "int32[3, 3] y = {0, 0, 0, 0, 0, 0, 0, 0, 7}"],
    },
    Case {
        name: "OneHot of a number that is not one",
        opset: 11,
        constants: "float[1] w = {nan}, float d = {3}, int32[2] v = {0, 7}",
        node: "OneHot (w, d, v)",
        results: [UNDEFINED; 3],
    },
    Case {
        name: "OneHot of a negative index, before there were any",
        opset: 9,
        constants: "int64[1] w = {-1}, int64 d = {3}, int32[2] v = {0, 7}",
        node: "OneHot (w, d, v)",
        results: [CONTESTED, "int32[1, 3] y = {0, 0, 0}", "int32[1, 3] y = {0, 0, 7}"],
    },
    Case {
        name: "OneHot of integers",
        opset: 11,
        constants: "float[3] w = {1, -1, 5}, float d = {3}, int32[2] v = {0, 7}",
        node: "OneHot (w, d, v)",
        results: ["int32[3, 3] y = {0, 7, 0, 0, 0, 7, 0, 0, 0}"; 3],
    },
    Case {
        name: "Where of a negative zero",
        opset: 16,
        constants: "bool[2] c = {1, 0}, float[2] w = {-0.0, 1}, float z = {2}",
        node: "Where (c, w, z)",
        results: [CONTESTED, "float[2] y = {-0, 2}", LEFT],
    },
    Case {
        name: "Where of a negative zero that is not selected",
        opset: 16,
        constants: "bool[2] c = {0, 1}, float[2] w = {-0.0, 1}, float z = {2}",
        node: "Where (c, w, z)",
        results: ["float[2] y = {2, 1}"; 3],
    },
    Case {
        name: "Gather of rows of strings",
        opset: 13,
        constants: r#"string[2, 2] w = {"a", "b", "c", "d"}, int64[1] i = {1}"#,
        node: "Gather (w, i)",
        results: [CONTESTED, r#"string[1, 2] y = {"c", "d"}"#, LEFT],
    },
    Case {
        name: "Gather of strings",
        opset: 13,
        constants: r#"string[2] w = {"a", "b"}, int64[1] i = {1}"#,
        node: "Gather (w, i)",
        results: [r#"string[1] y = {"b"}"#; 3],
    },
    Case {
        name: "Range of integers beyond those of DOUBLE",
        opset: 11,
        constants: "int64 s = {9223372036854775805}, int64 e = {9223372036854775807}, int64 p = {1}",
        node: "Range (s, e, p)",
        results: [CONTESTED, "int64[2] y = {9223372036854775805, 9223372036854775806}", "int64[0] y"],
    },
    Case {
        name: "Mod of integers beyond those of DOUBLE",
        opset: 13,
        constants: "int64[2] a = {9223372036854775806, 7}, int64 b = {3}",
        node: "Mod <fmod = 1> (a, b)",
        results: [CONTESTED, "int64[2] y = {0, 1}", "int64[2] y = {2, 1}"],
    },
    Case {
        name: "Mod of integers, by the sign of the divisor",
        opset: 13,
        constants: "int64[2] a = {9223372036854775806, 7}, int64 b = {3}",
        node: "Mod (a, b)",
        results: ["int64[2] y = {0, 1}"; 3],
    },
    Case {
        name: "Pad of an axis twice",
        opset: 18,
        constants: r#"int32[2] w = {1, 2}, int64[4] p = {1, 0, 0, 1}, int32 v = {0}, int64[2] a = {0, -1}"#,
        node: "Pad (w, p, v, a)",
        results: [UNDEFINED; 3],
    },
];

#[test]
fn results_on_which_runtimes_differ_are_kept_unless_an_option_chooses() {
    let pass: Vec<Pass> = passes::selected(["fold-constants"]).unwrap();
    let mut failures = Vec::new();
    for Case { name, opset, constants, node, results } in CASES {
        let before = model(&format!(r#"<ir_version: 8, opset_import: ["": {opset}]> g () => (y) <{constants}> {{ y = {node} }}"#));
        for (contested, expected) in [None, Some(Contested::Text), Some(Contested::Runtime)].into_iter().zip(results) {
            let options = Options::default().contested(contested);
            let (after, report) = rewrite(before.clone(), &pass, &options);
            let found = match report.kept().first() {
                Some(kept) => kept.reason.code().to_owned(),
                None => onnx_text::print(&after),
            };
            if !found.contains(expected) {
                failures.push(format!("{name}, {contested:?}: expected {expected}, found {found}"));
            }
            let [before, after] = [before.clone(), after].map(|model| Model::new(model).unwrap());
            let verified = Verification::of_passes(&before, &pass, &options).check(&after);
            failures.extend(verified.err().map(|error| format!("{name}, {contested:?}: {error}")));
        }
    }
    expect_no_failures(failures);
}
