//! `BitwiseNot`: the difference from the number whose bits are all ones.

use super::{Expansion, exact, fill, type_of};
use crate::convert::context::Context;
use crate::convert::reason::Reason;
use crate::dtype::Class;

pub(super) const EXPANSIONS: &[Expansion] = &[exact("BitwiseNot", 18, bitwise_not)];

fn bitwise_not(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    let ones = match dtype.class() {
        Class::Unsigned => (u64::MAX >> (64 - dtype.bits().clamp(1, 64))).to_string(),
        _ => "-1".to_owned(),
    };
    let body = "
        ones = Constant <value = $T {$ones}> ()
        Y = Sub (ones, X)";
    Ok(fill(body, &[("T", &type_of(cx, 0)?), ("ones", &ones)]))
}
