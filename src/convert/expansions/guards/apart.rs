//! Nodes that look like one operator.

use super::super::fill;
use crate::convert::context::Context;
use crate::convert::reason::{AttributeUnsupported, BehaviourDiffers, Reason};
use crate::ops::kernels::combination;

/// An `Identity` before the last of the nodes.
///
/// OpenCV takes `Mul (x, HardSigmoid (y))` for `HardSwish (y)`, and so on: it replaces nodes by one
/// whose operator they look like, and does not compare the values between them.
pub(super) fn apart(cx: &Context) -> Result<String, Reason> {
    let source = cx.source;
    let inferred = source.inferred.of(source.model);
    let found = combination(source.model, inferred, source.id, cx.to).ok_or_else(|| {
        Reason::new(
            BehaviourDiffers,
            "the node looks like no other operator, and its guard does not help",
        )
    })?;
    let mut attributes = cx.node.attribute.iter();
    if attributes.any(|attribute| attribute.name() != "allowzero") {
        return Err(Reason::new(
            AttributeUnsupported,
            "the guard has no attributes",
        ));
    }
    let (Some(input), Some(output)) = (cx.schema.input(found.input as usize), cx.schema.output(0))
    else {
        unreachable!("the inputs of the operator are formal ones");
    };
    let arguments: Vec<&str> = (0..cx.node.input.len())
        .filter_map(|index| cx.schema.input(index))
        .map(|formal| {
            if formal.name == input.name {
                "apart"
            } else {
                formal.name
            }
        })
        .collect();
    Ok(fill(
        "apart = Identity ($input)\n $output = $op ($arguments)",
        &[
            ("input", &input.name),
            ("output", &output.name),
            ("op", &cx.schema.name),
            ("arguments", &arguments.join(", ")),
        ],
    ))
}
