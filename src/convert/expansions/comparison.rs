//! Comparisons. NaN compares as false with everything in both forms.

use super::{Expansion, exact, fill, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{Reason, TypeUnsupported};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("GreaterOrEqual", 12, |_| {
        Ok("greater = Greater (A, B) equal = Equal (A, B) C = Or (greater, equal)".to_owned())
    }),
    exact("IsInf", 10, is_inf),
    exact("LessOrEqual", 12, |_| {
        Ok("less = Less (A, B) equal = Equal (A, B) C = Or (less, equal)".to_owned())
    }),
];

/// Only an infinity is greater than the largest finite number. A number is never less than itself,
/// and neither is NaN.
fn is_inf(cx: &Context) -> Result<String, Reason> {
    let largest = match cx.dtype(0)? {
        DType::Float => f64::from(f32::MAX),
        DType::Double => f64::MAX,
        other => {
            return Err(Reason::new(
                TypeUnsupported,
                format!("IsInf does not support {other} before opset 20"),
            ));
        }
    };
    let [above, below] = ["detect_positive", "detect_negative"].map(|name| cx.int_or(name, 1));
    let body = match (above? != 0, below? != 0) {
        (true, true) => "magnitude = Abs (X) Y = Greater (magnitude, largest)",
        (true, false) => "Y = Greater (X, largest)",
        (false, true) => "opposite = Neg (X) Y = Greater (opposite, largest)",
        (false, false) => "Y = Less (X, X)",
    };
    let text = format!("largest = Constant <value = $T {{{largest:e}}}> () {body}");
    Ok(fill(&text, &[("T", &type_of(cx, 0)?)]))
}
