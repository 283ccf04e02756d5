//! `Mod`: integers with `fmod` = 1 are defined by the text of opsets 10 to 12 and 28, and not of those between. Their schema allows them,
//! and runtimes compute the same in all: the node stays, with a warning.

use onnx_recast::internals::convert::{Code, NotConverted, Options};
use onnx_recast::internals::onnx_text;

use super::{convert_text, without_name};
use crate::support::expect_no_failures;

#[test]
fn integers_with_fmod_stay_with_a_warning() {
    const TRUNCATED: &str = "y = Mod <fmod: int = 1> (a, b)";
    const FLOORED: &str = "y = Mod (a, b)";
    // The type, the node, the opsets, whether the conversion warns.
    let cases = [
        ("int32", TRUNCATED, 10, 13, true),
        ("uint8", TRUNCATED, 12, 21, true),
        ("int64", TRUNCATED, 10, 28, true),
        ("int64", TRUNCATED, 28, 13, true),
        ("int64", TRUNCATED, 28, 10, true),
        // Both opsets have the same version.
        ("int32", TRUNCATED, 13, 27, false),
        ("int32", TRUNCATED, 10, 12, false),
        // The text of the newer version defines what the older one does not.
        ("int32", TRUNCATED, 13, 28, false),
        ("int32", TRUNCATED, 13, 10, false),
        ("int32", FLOORED, 10, 13, false),
        ("int32", FLOORED, 28, 10, false),
        ("float", TRUNCATED, 10, 13, false),
        ("float16", TRUNCATED, 28, 10, false),
    ];
    let mut failures = Vec::new();
    for (dtype, node, from, to, warns) in cases {
        let source =
            format!("<ir_version: 8, opset_import: [\"\": {from}]> g ({dtype}[2] a, {dtype}[2] b) => ({dtype}[2] y) {{ {node} }}");
        let case = format!("{dtype} {node} from {from} to {to}");
        match convert_text(&source, &Options::to(to)) {
            Ok(done) => {
                let found = without_name(&onnx_text::print_node(&done.model.proto().graph.as_ref().unwrap().node[0]));
                if found != node || done.report.warnings.is_empty() == warns {
                    failures.push(format!("{case}: {found}, {:?}", done.report.warnings));
                }
            }
            Err(error) => failures.push(format!("{case}: {error:?}")),
        }
        let strict = convert_text(&source, &Options::to(to).strict(true));
        let is_refused = matches!(&strict, Err(NotConverted::Blocked { blockers, .. }) if blockers[0].code == Code::Strict);
        if is_refused != warns {
            failures.push(format!("{case}, strict: {:?}", strict.map(|done| done.report)));
        }
    }
    expect_no_failures(failures);
}

#[test]
fn floats_need_fmod_before_opset_28() {
    for dtype in ["float", "float16", "double"] {
        let source = format!(
            r#"<ir_version: 8, opset_import: ["": 28]> g ({dtype}[2] a, {dtype}[2] b) => ({dtype}[2] y) {{ y = Mod (a, b) }}"#
        );
        let refused = convert_text(&source, &Options::to(27)).unwrap_err();
        assert!(
            matches!(&refused, NotConverted::Blocked { blockers, .. } if blockers[0].code == Code::TypeUnsupported),
            "{refused:?}"
        );
    }
}
