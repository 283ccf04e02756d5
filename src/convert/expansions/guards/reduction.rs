//! Reductions along axes that a runtime takes for others.

use super::super::{fill, list, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason, TypeUnsupported};
use onnx_cast::DType;

/// All reductions but `ArgMax` and `ArgMin`, which have one axis.
pub(super) const ALL: &str = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare";

/// The opset of the body of [`along_two_axes`]: all reductions have axes as an input.
pub(super) const OPSET: i64 = 18;

/// One reduction after another: along two axes at most, the last axes first, and along the first
/// axis alone, so that none is along all axes.
///
/// OpenCV skips elements of three axes or more, and ends if a reduction names all axes of a tensor
/// of another type than FLOAT.
pub(super) fn along_two_axes(cx: &Context) -> Result<String, Reason> {
    let op = cx.schema.name;
    let rounds = matches!(op, "ReduceL2" | "ReduceLogSumExp" | "ReduceMean");
    let dtype = cx.dtype(0)?;
    if rounds && highest(dtype).is_none() {
        return Err(Reason::new(
            TypeUnsupported,
            format!("the results of {op} along some of the axes are no {dtype}"),
        ));
    }
    // Of the first, a later, and the last reduction.
    let [first, later, last] = match op {
        "ReduceSumSquare" => [op, "ReduceSum", "ReduceSum"],
        "ReduceLogSum" => ["ReduceSum", "ReduceSum", op],
        _ => [op; 3],
    };
    let axes = axes(cx)?;
    let keepdims = cx.int_or("keepdims", 1)?;
    let pairs = pairs(&axes);
    let mut body = String::new();
    let mut value = "data".to_owned();
    for (index, pair) in pairs.iter().enumerate() {
        let is_last = index + 1 == pairs.len();
        let (op, result) = match index {
            _ if is_last => (last, "reduced".to_owned()),
            0 => (first, "reduced_0".to_owned()),
            _ => (later, format!("reduced_{index}")),
        };
        body += &format!(
            "axes_{index} = Constant <value = int64[{}] {{{}}}> ()
             {result} = {op} <keepdims: int = {keepdims}> ({value}, axes_{index})\n",
            pair.len(),
            list(*pair)
        );
        value = result;
    }
    Ok(body)
}

/// The axes in the order in which they are reduced: two at a time, the last ones first, and the
/// first one alone.
fn pairs(axes: &[i64]) -> Vec<&[i64]> {
    let (first, others) = axes.split_at(axes.len().min(1));
    others.rchunks(2).chain([first]).collect()
}

/// A reduction that keeps the axes, as several along two of them at most.
pub(super) fn along_pairs(op: &str, from: &str, result: &str, axes: &[i64]) -> String {
    let pairs = pairs(axes);
    let mut body = String::new();
    let mut value = from.to_owned();
    for (index, pair) in pairs.iter().enumerate() {
        let reduced = if index + 1 == pairs.len() {
            result.to_owned()
        } else {
            format!("{result}_{index}")
        };
        body += &format!(
            "{result}_axes_{index} = Constant <value = int64[{}] {{{}}}> ()
             {reduced} = {op} <keepdims: int = 1> ({value}, {result}_axes_{index})\n",
            pair.len(),
            list(*pair)
        );
        value = reduced;
    }
    body
}

/// By its definition with `ReduceSum`, and for `ReduceLogSumExp` with the largest element, so that
/// no power is infinite.
///
/// OpenVINO ignores the attribute `axes` in version 13, and reduces along all axes.
pub(super) fn by_sum(cx: &Context) -> Result<String, Reason> {
    let (op, dtype) = (cx.schema.name, cx.dtype(0)?);
    let highest = if op == "ReduceL1" {
        highest(dtype).unwrap_or_default()
    } else {
        expect_highest(cx)?
    };
    let body = match op {
        "ReduceL1" => {
            "absolute = Abs (data)
             reduced = ReduceSum <keepdims: int = $keepdims> (absolute, axes)"
        }
        "ReduceLogSum" => {
            "sum = ReduceSum <keepdims: int = $keepdims> (data, axes)
             reduced = Log (sum)"
        }
        _ => {
            "lowest = Constant <value = $T {-$highest}> ()
             highest = Constant <value = $T {$highest}> ()
             largest = ReduceMax <axes: ints = [$list], keepdims: int = 1> (data)
             finite = Clip (largest, lowest, highest)
             shifted = Sub (data, finite)
             powers = Exp (shifted)
             sum = ReduceSum <keepdims: int = 1> (powers, axes)
             logarithm = Log (sum)
             kept = Add (logarithm, finite)
             reduced = $end"
        }
    };
    let axes = axes(cx)?;
    let keepdims = cx.int_or("keepdims", 1)?;
    let constant = format!(
        "axes = Constant <value = int64[{}] {{{}}}> ()\n",
        axes.len(),
        list(&axes)
    );
    let end = if keepdims == 0 {
        "Squeeze (kept, axes)"
    } else {
        "Identity (kept)"
    };
    Ok(fill(
        &(constant + body),
        &[
            ("T", &type_of(cx, 0)?),
            ("highest", &highest),
            ("list", &list(&axes)),
            ("keepdims", &keepdims),
            ("end", &end),
        ],
    ))
}

/// # Errors
/// If the type has no fractions.
pub(super) fn expect_highest(cx: &Context) -> Result<&'static str, Reason> {
    let (op, dtype) = (cx.schema.name, cx.dtype(0)?);
    highest(dtype).ok_or_else(|| {
        Reason::new(
            TypeUnsupported,
            format!("the result of {op} is no {dtype}, and how it is rounded is not defined"),
        )
    })
}

/// The largest finite number of a type with fractions that reductions have.
fn highest(dtype: DType) -> Option<&'static str> {
    match dtype {
        DType::Float16 => Some("65504.0"),
        DType::Bfloat16 => Some("3.3895314e38"),
        DType::Float => Some("3.4028235e38"),
        DType::Double => Some("1.7976931348623157e308"),
        _ => None,
    }
}

/// The axes of a reduction, in ascending order: all of them, if it names none.
pub(super) fn axes(cx: &Context) -> Result<Vec<i64>, Reason> {
    let axes = match cx.input(1) {
        Some(_) => Some(cx.read_ints(1)?),
        None => cx.ints("axes")?,
    };
    let axes = match axes.filter(|axes| !axes.is_empty()) {
        Some(axes) => axes,
        None if cx.int_or("noop_with_empty_axes", 0)? == 0 => (0..cx.rank(0)? as i64).collect(),
        None => return Err(Reason::new(NodeInvalid, "the node reduces no axes")),
    };
    let mut axes = cx.axes_from_front(axes)?;
    axes.sort_unstable();
    Ok(axes)
}
