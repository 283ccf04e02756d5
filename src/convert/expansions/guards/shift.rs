//! `BitShift`, with integers of 32 bits.

use super::super::{fill, list};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, OperatorTooNew, Reason};
use onnx_cast::Class;

/// The first opset with `BitwiseAnd`.
const WITH_AND: i64 = 18;

/// A shift to the left is a product with a power of two. A shift to the right is a quotient, of the
/// higher and the lower half of the bits without those that are shifted out: the division is exact
/// in FLOAT then. A shift by all bits, or by a negative number, leaves zeros, or the sign.
///
/// OpenVINO multiplies with powers and divides by them in FLOAT, which rounds beyond 2^24, rounds
/// negative numbers toward zero, and limits results to the range of the type. It computes integers
/// of 64 bits with 32.
pub(super) fn shifted(cx: &Context) -> Result<String, Reason> {
    if cx.to < WITH_AND {
        return Err(Reason::new(
            OperatorTooNew,
            format!("the guard needs BitwiseAnd of opset {WITH_AND}"),
        ));
    }
    let dtype = cx.dtype(0)?;
    let is_signed = dtype.class() == Class::Signed;
    let bits = dtype.bits().min(32);
    let body = match cx.string("direction")?.as_deref() {
        Some("LEFT") => left(bits, is_signed),
        Some("RIGHT") => right(bits, is_signed),
        _ => return Err(Reason::new(NodeInvalid, "`direction` is not LEFT or RIGHT")),
    };
    let common = "
        zero = Constant <value = int32 {0}> ()
        one = Constant <value = int32 {1}> ()
        powers = Constant <value = int32[$count] {$powers}> ()
        least = Constant <value = int32 {-1}> ()
        most = Constant <value = int32 {$count}> ()
        number = Cast <to: int = 6> (X)
        by = Cast <to: int = 6> (Y)
        is_natural = Greater (by, least)
        is_low = Less (by, most)
        is_small = And (is_natural, is_low)
        small = Where (is_small, by, zero)
        power = Gather (powers, small)
        $body
        Z = Cast <to: int = $to> (shifted)";
    let powers: Vec<i32> = (0..body.count).map(|bit| 1i32.wrapping_shl(bit)).collect();
    Ok(fill(
        common,
        &[
            ("count", &body.count),
            ("powers", &list(powers)),
            ("body", &body.text),
            ("to", &dtype.number()),
        ],
    ))
}

struct Body {
    /// The shifts that have a power of two.
    count: u32,
    text: String,
}

fn left(bits: usize, is_signed: bool) -> Body {
    let product = "
        product = Mul (number, power)
        kept = Where (is_small, product, zero)\n";
    let text = if bits == 32 {
        format!("{product} shifted = Identity (kept)")
    } else {
        let ones = (1i64 << bits) - 1;
        let low = format!(
            "ones = Constant <value = int32 {{{ones}}}> ()
             low = BitwiseAnd (kept, ones)\n"
        );
        let rest = if is_signed {
            format!(
                "highest = Constant <value = int32 {{{}}}> ()
                 size = Constant <value = int32 {{{}}}> ()
                 is_negative = Greater (low, highest)
                 negative = Sub (low, size)
                 shifted = Where (is_negative, negative, low)",
                ones / 2,
                ones + 1
            )
        } else {
            "shifted = Identity (low)".to_owned()
        };
        format!("{product} {low} {rest}")
    };
    Body {
        count: bits as u32,
        text,
    }
}

fn right(bits: usize, is_signed: bool) -> Body {
    // 2^31 is not an INT32.
    let count = bits.min(31) as u32;
    let logical = if bits == 32 && !is_signed {
        // The highest bit is that of a number, not a sign.
        let masks = (0..31).map(|by| (u32::MAX >> by) as i32);
        format!(
            "masks = Constant <value = int32[31] {{{}}}> ()
             all_but_one = Constant <value = int32 {{31}}> ()
             mask = Gather (masks, small)
             moved = BitwiseAnd (quotient, mask)
             is_last = Equal (by, all_but_one)
             is_high = Less (number, zero)
             is_one = And (is_last, is_high)
             sign = Where (is_one, one, zero)",
            list(masks)
        )
    } else {
        "moved = Identity (quotient)
         is_negative = Less (number, zero)
         sign = Where (is_negative, least, zero)"
            .to_owned()
    };
    let text = format!(
        "half = Constant <value = int32 {{65535}}> ()
         out = Sub (power, one)
         low = BitwiseAnd (number, half)
         high = Sub (number, low)
         low_out = BitwiseAnd (low, out)
         low_kept = Sub (low, low_out)
         low_quotient = Div (low_kept, power)
         high_out = BitwiseAnd (high, out)
         high_kept = Sub (high, high_out)
         high_quotient = Div (high_kept, power)
         quotient = Add (low_quotient, high_quotient)
         {logical}
         shifted = Where (is_small, moved, sign)"
    );
    Body { count, text }
}
