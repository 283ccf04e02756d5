//! Models that cannot be one: `convert` refuses them, and says where.

use super::{Folder, recast, said};
use crate::support::expect_no_failures;

#[test]
fn convert_refuses_what_cannot_be_a_model() {
    let cases = [
        (
            "(float[2] x) => (float[2] y)",
            "[n] y = Add (x, ghost)",
            "graph/n: input 'ghost' is not defined",
        ),
        (
            "(float[2] x) => (float[2] y, float[2] ghost)",
            "y = Relu (x)",
            "graph: output 'ghost' is not defined",
        ),
        (
            "(bool c, float[2] x) => (float[2] y)",
            "[if] y = If (c) <then_branch = a () => (float[2] p) { [in] p = Add (x, ghost) }, else_branch = b () => (float[2] q) { q = Relu (x) }>",
            "graph/if.then_branch/in: input 'ghost' is not defined",
        ),
        (
            "(bool c, float[2] x) => (float[2] y)",
            "[if] y = If (c) <then_branch = a () => (float[2] ghost) { p = Relu (x) }, else_branch = b () => (float[2] q) { q = Relu (x) }>",
            "graph/if.then_branch: output 'ghost' is not defined",
        ),
        (
            "(float[2] x) => (float[2] y)",
            "[n] y = Add (x)",
            "graph/n: Add-7 requires at least 2 inputs",
        ),
        (
            "(float[2] x) => (float[2] y)",
            r#"[n] y = Add (x, "")"#,
            "graph/n: Add-7 requires at least 2 inputs",
        ),
        (
            "(float[2] x) => (float[2] y)",
            r#"[n] y = Add ("", x)"#,
            "graph/n: Add-7 requires the input 'A'",
        ),
        (
            "(float[2] x) => (float[2] y)",
            "[n] y = Relu (x, x)",
            "graph/n: Relu-6 has at most 1 inputs",
        ),
        (
            "(float[2] x) => (float[2] y)",
            "[n] y, z = Relu (x)",
            "graph/n: Relu-6 has at most 1 outputs",
        ),
        (
            "(float[2] x) => (float[2] x2)",
            "x2 = Relu (x) [n] = Relu (x)",
            "graph/n: Relu-6 needs an output",
        ),
        (
            "(float[3] a, float[3,4] b) => (float[4] y)",
            "[n] y = Gemm (a, b)",
            "graph/n: input 'a' has rank 1, not 2",
        ),
        (
            "(float[3,4] a, float[4] b) => (float[3] y)",
            "r = Relu (b) [n] y = Gemm (a, r)",
            "graph/n: input 'r' has rank 1, not 2",
        ),
        (
            "(float[1,2,3] x) => (float y)",
            "[n] y = DepthToSpace <blocksize = 2> (x)",
            "graph/n: input 'x' has rank 3, not 4",
        ),
    ];
    let folder = Folder::new();
    let output = folder.named("out.onnx");
    let mut failures = Vec::new();
    for (interface, nodes, message) in cases {
        for (ir, from, to) in [(8, 12, "13"), (8, 12, "12"), (8, 12, "9")] {
            let source = format!(
                r#"<ir_version: {ir}, opset_import: ["": {from}]> g {interface} {{ {nodes} }}"#
            );
            let input = folder.put("m.onnx", &source);
            let done = recast(&["convert", &input, "--opset", to, "-o", &output]);
            // What no opset changes about a node is a blocker.
            let code = if message.ends_with("is not defined") {
                2
            } else {
                1
            };
            if done.status.code() != Some(code)
                || !said(&done).contains(message)
                || folder.path("out.onnx").exists()
            {
                failures.push(format!(
                    "{nodes} to {to}: {:?}, not {code} with '{message}'\n{}",
                    done.status.code(),
                    said(&done)
                ));
            }
        }
    }
    expect_no_failures(failures);
}

/// Most of these are valid. The output of a branch that the graph around it defines is refused by
/// onnxruntime only.
#[test]
fn convert_accepts_what_only_looks_wrong() {
    let cases = [
        // A rank that is not known.
        "g (float[N,4] a, int64[m] c) => (float y) { b = ConstantOfShape (c) y = Gemm (a, b) }",
        // An optional result may have no name, and optional inputs may be left out in the middle.
        r#"g (float[1,1,2,4] x) => (float y) { y, "" = MaxPool <kernel_shape = [1, 1]> (x) }"#,
        r#"g (float[2] x, float top) => (float[2] y) { y = Clip (x, "", top) }"#,
        // An output that is an input, an initializer, or a value of the graph around it.
        "g (float[2] x) => (float[2] x, float w) <float w = {1}> { y = Relu (x) }",
        "g (bool c, float[2] x) => (float[2] y) { r = Relu (x) y = If (c) <then_branch = a () => (float[2] r) { }, else_branch = b () => (float[2] q) { q = Relu (x) }> }",
        // A function of the model may take the name of an operator, with other inputs.
        r#"g (float[2] x) => (float[2] y) { y = Add (x) } <domain: "", opset_import: ["": 12]> Add (x) => (y) { y = Relu (x) }"#,
    ];
    let folder = Folder::new();
    let mut failures = Vec::new();
    for body in cases {
        let input = folder.put(
            "m.onnx",
            &format!(r#"<ir_version: 8, opset_import: ["": 12]> {body}"#),
        );
        let done = recast(&["convert", &input, "--opset", "12", "--dry-run"]);
        if done.status.code() != Some(0) {
            failures.push(format!("{body}: {}", said(&done)));
        }
    }
    expect_no_failures(failures);
}
