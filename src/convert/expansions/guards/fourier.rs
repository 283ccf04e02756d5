//! `DFT` along an axis that is an input.

use super::super::fill;
use crate::convert::context::Context;
use crate::convert::reason::{Reason, ShapeUnknown};

/// The axes before the transformed one become one axis, and so do those after it: the transformed
/// one is then axis 1.
///
/// OpenVINO reads the axis of version 20 from an attribute, of which the default in version 17 is 1.
pub(super) fn along_axis_one(cx: &Context) -> Result<String, Reason> {
    let given = if cx.input(2).is_some() {
        "given = Identity (axis)"
    } else {
        "given = Constant <value = int64 {-2}> ()"
    };
    let length = if cx.input(1).is_some() {
        "dft_length"
    } else {
        ""
    };
    // The runtime decides before it runs whether the input is real.
    let parts = cx
        .last_dim(0)
        .ok_or_else(|| Reason::new(ShapeUnknown, "it is not known whether the input is real"))?;
    let body = "
        $given
        zero = Constant <value = int64 {0}> ()
        one = Constant <value = int64 {1}> ()
        three = Constant <value = int64 {3}> ()
        single = Constant <value = int64[1] {1}> ()
        dims = Shape (input)
        rank = Size (dims)
        is_from_back = Less (given, zero)
        from_front = Add (given, rank)
        place = Where (is_from_back, from_front, given)
        last = Sub (rank, one)
        index = Range (zero, rank, one)
        is_before = Less (index, place)
        is_here = Equal (index, place)
        is_last = Equal (index, last)
        is_behind = Greater (index, place)
        is_inner = Less (index, last)
        is_after = And (is_behind, is_inner)
        before = Where (is_before, dims, one)
        after = Where (is_after, dims, one)
        here = Where (is_here, dims, one)
        before_count = ReduceProd <keepdims: int = 1> (before)
        here_count = ReduceProd <keepdims: int = 1> (here)
        after_count = ReduceProd <keepdims: int = 1> (after)
        rest = Constant <value = int64[1] {-1}> ()
        flat_dims = Concat <axis: int = 0> (before_count, here_count, after_count, rest)
        loose = Reshape (input, flat_dims)
        known_dims = Constant <value = int64[4] {0, 0, 0, $parts}> ()
        flat = Reshape (loose, known_dims)
        transformed = DFT <inverse: int = $inverse, onesided: int = $onesided> (flat, $length, one)
        new_dims = Shape (transformed)
        new_length = Gather (new_dims, single)
        last_place = Reshape (three, single)
        new_parts = Gather (new_dims, last_place)
        inner_dims = Where (is_here, new_length, dims)
        all_dims = Where (is_last, new_parts, inner_dims)
        output = Reshape (transformed, all_dims)";
    Ok(fill(
        body,
        &[
            ("given", &given),
            ("parts", &parts),
            ("length", &length),
            ("inverse", &cx.int_or("inverse", 0)?),
            ("onesided", &cx.int_or("onesided", 0)?),
        ],
    ))
}
