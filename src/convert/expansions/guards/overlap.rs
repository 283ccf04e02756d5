//! `NonMaxSuppression` of boxes that overlap as much as the threshold.

use super::super::{fill, number};
use crate::convert::context::Context;
use crate::convert::reason::Reason;

/// The threshold becomes the next larger number: ONNX suppresses boxes that overlap more than the
/// threshold, and OpenVINO those that overlap as much, too. Without a threshold it is zero, beyond
/// which is the smallest number that is not subnormal.
///
/// For normal numbers, 0.6 of the distance of 1 to the next number, times the number, is between
/// half and one and a half of the number's own distance.
pub(super) fn beyond_threshold(cx: &Context) -> Result<String, Reason> {
    let limit = match (cx.input(3).is_some(), cx.read_floats(3).as_deref()) {
        (false, _) => constant(0.0),
        (true, Ok(&[threshold])) => constant(threshold),
        (true, _) => "
            share = Constant <value = float {7.1525574e-08}> ()
            least = Constant <value = float {1.1754944e-38}> ()
            step = Mul (iou_threshold, share)
            next = Add (iou_threshold, step)
            limit = Max (next, least)"
            .to_owned(),
    };
    let name = |index: usize, name: &'static str| {
        if cx.input(index).is_some() { name } else { "" }
    };
    let body = "
        $limit
        selected_indices = NonMaxSuppression <center_point_box: int = $center> (boxes, scores, $most, limit$score)";
    let score = name(4, ", score_threshold");
    Ok(fill(
        body,
        &[
            ("limit", &limit),
            ("center", &cx.int_or("center_point_box", 0)?),
            ("most", &name(2, "max_output_boxes_per_class")),
            ("score", &score),
        ],
    ))
}

fn constant(threshold: f32) -> String {
    let limit = threshold.next_up().max(f32::MIN_POSITIVE);
    format!(
        "limit = Constant <value = float[1] {{{}}}> ()",
        number(limit)
    )
}
