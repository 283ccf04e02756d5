//! Losses. A sample whose target is `ignore_index` has the loss and the weight zero; where all
//! samples are ignored, their mean is NaN.

use super::{Expansion, by_definition, fill, type_name};
use crate::convert::context::Context;
use crate::convert::reason::{AttributeUnsupported, Reason, ShapeUnsupported};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("NegativeLogLikelihoodLoss", 12, negative_log_likelihood),
    by_definition("SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy),
];

fn negative_log_likelihood(cx: &Context) -> Result<String, Reason> {
    loss(cx, "input", "target", "weight", "loss")
}

/// The classes become the last of three axes, over which both meanings of `axis` agree.
fn softmax_cross_entropy(cx: &Context) -> Result<String, Reason> {
    if cx
        .known_input(0)
        .shape
        .is_some_and(|shape| shape.contains(&Some(0)))
    {
        return Err(Reason::new(ShapeUnsupported, "the input has no elements"));
    }
    let body = "
        shape = Shape (scores)
        three_axes = Constant <value = int64[3] {0, 0, -1}> ()
        flat = Reshape (scores, three_axes)
        classes_last = Transpose <perm: ints = [0, 2, 1]> (flat)
        log_softmax = LogSoftmax <axis: int = 2> (classes_last)
        classes_second = Transpose <perm: ints = [0, 2, 1]> (log_softmax)
        log_prob = Reshape (classes_second, shape)";
    Ok(body.to_owned() + &loss(cx, "log_prob", "labels", "weights", "output")?)
}

fn loss(
    cx: &Context,
    input: &str,
    target: &str,
    weight: &str,
    output: &str,
) -> Result<String, Reason> {
    let (dtype, index_type) = (type_name(cx.dtype(0)?), cx.dtype(1)?);
    let ignored = cx.int("ignore_index")?;
    // A value that the type of the targets cannot represent ignores none.
    let ignored =
        ignored.filter(|&index| index_type != DType::Int32 || i32::try_from(index).is_ok());
    let is_weighted = cx.input(2).is_some();
    let mut body = "column = Unsqueeze <axes: ints = [1]> ($target)\n".to_owned();
    body += match ignored {
        Some(_) => {
            "ignored_index = Constant <value = $I {$ignored}> ()
             first_index = Constant <value = $I {0}> ()
             zero = Constant <value = $T {0}> ()
             is_ignored = Equal (column, ignored_index)
             index = Where (is_ignored, first_index, column)
             found = GatherElements <axis: int = 1> ($input, index)
             picked = Where (is_ignored, zero, found)\n"
        }
        None => {
            "index = Identity (column)
             picked = GatherElements <axis: int = 1> ($input, index)\n"
        }
    };
    body += "negative = Neg (picked)\n";
    body += match (is_weighted, ignored) {
        (true, Some(_)) => {
            "class_weight = Gather ($weight, index) factor = Where (is_ignored, zero, class_weight)\n"
        }
        (true, None) => "factor = Gather ($weight, index)\n",
        (false, Some(_)) => {
            "one = Constant <value = $T {1}> () factor = Where (is_ignored, zero, one)\n"
        }
        (false, None) => "",
    };
    let has_factor = is_weighted || ignored.is_some();
    body += if is_weighted {
        "each = Mul (negative, factor)\n"
    } else {
        "each = Identity (negative)\n"
    };
    body += match (
        cx.string("reduction")?.as_deref().unwrap_or("mean"),
        has_factor,
    ) {
        ("none", _) => "$output = Squeeze <axes: ints = [1]> (each)",
        ("sum", _) => "$output = ReduceSum <keepdims: int = 0> (each)",
        ("mean", false) => "$output = ReduceMean <keepdims: int = 0> (each)",
        ("mean", true) => {
            "sum = ReduceSum <keepdims: int = 0> (each)
             total = ReduceSum <keepdims: int = 0> (factor)
             $output = Div (sum, total)"
        }
        (other, _) => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `reduction` = '{other}'"),
            ));
        }
    };
    Ok(fill(
        &body,
        &[
            ("input", &input),
            ("target", &target),
            ("weight", &weight),
            ("output", &output),
            ("ignored", &ignored.unwrap_or(0)),
            ("T", &dtype),
            ("I", &type_name(index_type)),
        ],
    ))
}
