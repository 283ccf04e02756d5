//! Window functions, computed in float as ONNX defines them.

use super::{Expansion, by_definition, fill, number};
use crate::convert::context::Context;
use crate::convert::reason::{Reason, TooLarge};

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("BlackmanWindow", 17, |cx| window(cx, [0.42, 0.5, 0.08])),
    by_definition("HammingWindow", 17, |cx| {
        window(cx, [0.543_478_25, 0.456_521_75, 0.0])
    }),
    by_definition("HannWindow", 17, |cx| window(cx, [0.5, 0.5, 0.0])),
];

/// The largest number up to which float represents every integer.
const MOST_COUNTED: i64 = 1 << 24;

/// `a0` - `a1` cos(x) + `a2` cos(2x), where x goes from 0 to a full turn.
fn window(cx: &Context, coefficients: [f32; 3]) -> Result<String, Reason> {
    if let Some(size) = cx
        .read_ints(0)
        .ok()
        .and_then(|sizes| sizes.first().copied())
        .filter(|size| *size > MOST_COUNTED)
    {
        return Err(Reason::new(
            TooLarge,
            format!("FLOAT does not count {size} elements"),
        ));
    }
    let mut body = "
        length = Cast <to = 1> (size)
        zero = Constant <value = float {0}> ()
        one = Constant <value = float {1}> ()
        turn = Constant <value = float {6.2831853}> ()
        a0 = Constant <value = float {$a0}> ()
        a1 = Constant <value = float {$a1}> ()
        shorter = Sub (length, one)
        step = Div (turn, $period)
        index = Range (zero, length, one)
        angle = Mul (index, step)
        cos = Cos (angle)
        cos_part = Mul (a1, cos)
        difference = Sub (a0, cos_part)\n"
        .to_owned();
    body += match coefficients[2] {
        0.0 => "output = Cast <to = $to> (difference)",
        _ => {
            "a2 = Constant <value = float {$a2}> ()
             two = Constant <value = float {2}> ()
             double_angle = Mul (angle, two)
             double_cos = Cos (double_angle)
             double_part = Mul (a2, double_cos)
             sum = Add (difference, double_part)
             output = Cast <to = $to> (sum)"
        }
    };
    let [a0, a1, a2] = coefficients.map(number);
    let period = if cx.int_or("periodic", 1)? != 0 {
        "length"
    } else {
        "shorter"
    };
    let to = cx.int_or("output_datatype", 1)?;
    Ok(fill(
        &body,
        &[
            ("a0", &a0),
            ("a1", &a1),
            ("a2", &a2),
            ("period", &period),
            ("to", &to),
        ],
    ))
}
