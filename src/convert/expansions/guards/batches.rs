//! `MatMul` with a second input of fewer batches.

use super::super::list;
use crate::convert::context::Context;
use crate::convert::reason::{Reason, ShapeUnknown};

/// The second input is repeated for the batches of the first one.
///
/// OpenCV takes the matrices of a constant in order, as if they were those of the first batches.
pub(super) fn repeated(cx: &Context) -> Result<String, Reason> {
    let unknown = || Reason::new(ShapeUnknown, "the number of batches is unknown");
    let dims = |input: usize| cx.known_input(input).static_shape().ok_or_else(unknown);
    let (first, second) = (dims(0)?, dims(1)?);
    let missing = first.len().checked_sub(second.len()).ok_or_else(unknown)?;
    let batches = first.len().checked_sub(2).ok_or_else(unknown)?;
    let repeated = (0..first.len()).map(|axis| {
        let own = axis.checked_sub(missing).map_or(1, |axis| second[axis]);
        if axis < batches && own == 1 {
            first[axis]
        } else {
            own
        }
    });
    let repeated: Vec<i64> = repeated.collect();
    Ok(format!(
        "dims = Constant <value = int64[{}] {{{}}}> ()
         matrices = Expand (B, dims)
         Y = MatMul (A, matrices)",
        repeated.len(),
        list(&repeated)
    ))
}
