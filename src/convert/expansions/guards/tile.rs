//! `Tile` by computed repeats.

use crate::convert::context::Context;
use crate::convert::reason::Reason;

/// Each axis gets one of length 1 in front of it, which `Expand` repeats.
///
/// OpenVINO leaves parts of the result of `Tile` uninitialized if the repeats are computed.
pub(super) fn expanded(_: &Context) -> Result<String, Reason> {
    Ok("
        one = Constant <value = int64[1] {1}> ()
        all = Constant <value = int64[1] {-1}> ()
        dims = Shape (input)
        dims_column = Unsqueeze (dims, one)
        repeats_column = Unsqueeze (repeats, one)
        column_shape = Shape (dims_column)
        ones = ConstantOfShape <value: tensor = int64[1] {1}> (column_shape)
        pairs_apart = Concat <axis: int = 1> (ones, dims_column)
        apart_dims = Reshape (pairs_apart, all)
        pairs_repeated = Concat <axis: int = 1> (repeats_column, dims_column)
        repeated_dims = Reshape (pairs_repeated, all)
        apart = Reshape (input, apart_dims)
        repeated = Expand (apart, repeated_dims)
        tiled_dims = Mul (dims, repeats)
        output = Reshape (repeated, tiled_dims)"
        .to_owned())
}
