//! Adapters of operators.

use onnx_recast::Reason;
use onnx_recast::convert::OperatorAdapter;

/// Converts `Gelu` below opset 20 to the operator of a runtime in this domain.
#[must_use]
pub fn gelu_of_runtime(domain: &str) -> OperatorAdapter {
    let domain = domain.to_owned();
    OperatorAdapter::new("Gelu", 20).on_downgrade(move |node| {
        if node
            .attribute("approximate")
            .is_some_and(|mode| mode.s() != b"none")
        {
            return Err(Reason::new(
                "attribute-unsupported",
                "the runtime supports the exact Gelu only",
            ));
        }
        node.remove_attribute("approximate");
        node.set_operator(&domain, "Gelu")
    })
}
