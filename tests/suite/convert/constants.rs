//! Constants that attributes become, and attributes that constants become.

use onnx_recast::convert::Options;

use super::{blockers, convert_text};

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
    assert!(
        found[0].contains(
            "input 1 has 129 elements, which exceeds the number of dimensions and outputs"
        ),
        "{found:?}"
    );
    assert!(convert_text(&source(128), &Options::to(12)).is_ok());
}
