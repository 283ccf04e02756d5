//! `Size`.

use crate::convert::context::Context;
use crate::convert::reason::Reason;

/// The product of the dimensions.
///
/// OpenCV gives `Size` the shape [1], which is that of no scalar.
pub(super) fn of_dimensions(_: &Context) -> Result<String, Reason> {
    Ok("dims = Shape (data) size = ReduceProd <keepdims: int = 0> (dims)".to_owned())
}
