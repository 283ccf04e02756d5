//! Reductions along axes that a runtime takes for others.

use super::super::{fill, list, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{NodeInvalid, Reason, ShapeUnknown, TypeUnsupported};
use onnx_cast::DType;

/// All reductions but `ArgMax` and `ArgMin`, which have one axis, and `ReduceLogSumExp`, which has
/// guards of its own.
pub(super) const MOST: &str = "ReduceL1 ReduceL2 ReduceLogSum ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare";

/// The opset of the bodies with several reductions: all of them have axes as an input.
pub(super) const OPSET: i64 = 18;

/// One reduction after another: along two axes at most, the last axes first, and along the first
/// axis alone, so that none is along all axes.
///
/// OpenCV skips elements of three axes or more, and ends if a reduction names all axes of a tensor
/// of another type than FLOAT. It rounds means of integers to the nearest one.
pub(super) fn along_two_axes(cx: &Context) -> Result<String, Reason> {
    let op = cx.schema.name;
    let dtype = cx.dtype(0)?;
    let is_integer = highest(dtype).is_none();
    let axes = axes(cx)?;
    let keepdims = cx.int_or("keepdims", 1)?;
    if op == "ReduceMean" && is_integer {
        return truncated_mean(cx, keepdims, &axes);
    }
    if op == "ReduceL2" && is_integer {
        return Err(Reason::new(
            TypeUnsupported,
            format!("the results of {op} along some of the axes are no {dtype}"),
        ));
    }
    // Of the first, a later, and the last reduction.
    let ops = match op {
        "ReduceSumSquare" => [op, "ReduceSum", "ReduceSum"],
        "ReduceLogSum" => ["ReduceSum", "ReduceSum", op],
        _ => [op; 3],
    };
    let names = ["data", "reduced", "axes"];
    Ok(along_pairs(ops, keepdims, names, &axes))
}

/// The sum of integers by their number.
fn truncated_mean(cx: &Context, keepdims: i64, axes: &[i64]) -> Result<String, Reason> {
    let mut lengths = axes.iter().map(|&axis| cx.dim(0, axis as usize));
    let count = lengths
        .try_fold(1, |count: i64, length| count.checked_mul(length?))
        .filter(|&count| count != 0)
        .ok_or_else(|| Reason::new(ShapeUnknown, "the number of elements of a mean is unknown"))?;
    let sum = along_pairs(["ReduceSum"; 3], keepdims, ["data", "sum", "axes"], axes);
    Ok(fill(
        "$sum
         count = Constant <value = $T {$count}> ()
         reduced = Div (sum, count)",
        &[("sum", &sum), ("T", &type_of(cx, 0)?), ("count", &count)],
    ))
}

/// A reduction of one value to another, as several: two axes at a time, the last ones first, and the
/// first one alone. Of the operators, the first one is for the first reduction, the second for a
/// later one, the third for the last. The third name is the beginning of those of the axes.
fn along_pairs(
    [first, later, last]: [&str; 3],
    keepdims: i64,
    [from, result, constant]: [&str; 3],
    axes: &[i64],
) -> String {
    let (first_axis, others) = axes.split_at(axes.len().min(1));
    let pairs: Vec<&[i64]> = others.rchunks(2).chain([first_axis]).collect();
    let mut body = String::new();
    let mut value = from.to_owned();
    for (index, pair) in pairs.iter().enumerate() {
        let is_last = index + 1 == pairs.len();
        let (op, reduced) = match index {
            _ if is_last => (last, result.to_owned()),
            0 => (first, format!("{result}_0")),
            _ => (later, format!("{result}_{index}")),
        };
        body += &format!(
            "{constant}_{index} = Constant <value = int64[{}] {{{}}}> ()
             {reduced} = {op} <keepdims: int = {keepdims}> ({value}, {constant}_{index})\n",
            pair.len(),
            list(*pair)
        );
        value = reduced;
    }
    body
}

/// A reduction that keeps the axes, along two of them at a time at most.
pub(super) fn kept_along_pairs(op: &str, from: &str, result: &str, axes: &[i64]) -> String {
    let constant = format!("{result}_axes");
    along_pairs([op; 3], 1, [from, result, &constant], axes)
}

/// A reduction of integers, and the larger one of each result and itself, so that the node behind it
/// is another one.
///
/// OpenVINO computes an elementwise operator behind a reduction together with it, in FLOAT:
/// quotients are rounded to the nearest integer, and along the second one of three axes, half of the
/// results are 0.
pub(super) fn apart_from_next(cx: &Context) -> Result<String, Reason> {
    let form = plain_form(cx)?;
    Ok(fill(
        "$constant
         apart = $op (data$axes)
         reduced = Max (apart, apart)",
        &[
            ("constant", &form.constant),
            ("op", &form.op),
            ("axes", &form.axes),
        ],
    ))
}

/// A reduction in opset 18 or later.
pub(super) struct PlainForm {
    /// The node that makes the axes, if they are an attribute.
    pub constant: String,
    /// The operator with its attributes.
    pub op: String,
    /// The argument behind the first one, if there is one.
    pub axes: &'static str,
}

pub(super) fn plain_form(cx: &Context) -> Result<PlainForm, Reason> {
    let (constant, axes) = match (cx.input(1), cx.ints("axes")?) {
        (Some(_), _) => (String::new(), ", axes"),
        (None, Some(axes)) => (constant(&axes), ", named_axes"),
        (None, None) => (String::new(), ""),
    };
    let attributes = format!(
        "<keepdims: int = {}, noop_with_empty_axes: int = {}>",
        cx.int_or("keepdims", 1)?,
        cx.int_or("noop_with_empty_axes", 0)?
    );
    Ok(PlainForm {
        constant,
        op: format!("{} {attributes}", cx.schema.name),
        axes,
    })
}

/// By its definition with `ReduceSum`, and for `ReduceLogSumExp` with the largest element, so that
/// no power is infinite.
///
/// OpenVINO ignores the attribute `axes` in version 13, and reduces along all axes.
pub(super) fn by_sum(cx: &Context) -> Result<String, Reason> {
    let axes = axes(cx)?;
    let sum = format!("ReduceSum <keepdims: int = {}>", cx.int_or("keepdims", 1)?);
    let body = match cx.schema.name {
        "ReduceL1" if highest(cx.dtype(0)?).is_none() => format!(
            "absolute = Abs (data) apart = {sum} (absolute, named_axes) reduced = Max (apart, apart)"
        ),
        "ReduceL1" => format!("absolute = Abs (data) reduced = {sum} (absolute, named_axes)"),
        "ReduceLogSum" => {
            expect_highest(cx)?;
            format!("sum = {sum} (data, named_axes) reduced = Log (sum)")
        }
        _ => logarithm_of_powers(
            cx,
            &format!(
                "largest = ReduceMax <axes: ints = [{}], keepdims: int = 1> (data)",
                list(&axes)
            ),
            "finite = Clip (largest, lowest, highest)",
            "sum = ReduceSum <keepdims: int = 1> (powers, named_axes)",
            without_axes(cx)?,
        )?,
    };
    Ok(constant(&axes) + &body)
}

/// `ReduceLogSumExp` by its definition, with the largest element, so that no power is infinite; one
/// reduction after another, along two axes at most.
///
/// OpenCV and tract compute the logarithm of the sum of the powers, which is infinite from 89 on, or
/// in FLOAT16 from 12 on. OpenCV skips elements of three axes.
pub(super) fn log_sum_exp(cx: &Context) -> Result<String, Reason> {
    let axes = axes(cx)?;
    logarithm_of_powers(
        cx,
        &kept_along_pairs("ReduceMax", "data", "largest", &axes),
        "above = Max (largest, lowest) finite = Min (above, highest)",
        &kept_along_pairs("ReduceSum", "powers", "sum", &axes),
        &(constant(&axes) + without_axes(cx)?),
    )
}

/// The logarithm of the sum of the powers of e, from the nodes that make `largest`, the largest
/// elements; `finite`, these within `lowest` and `highest`; `sum`, that of `powers`; and of `kept`,
/// which has all axes, the result.
fn logarithm_of_powers(
    cx: &Context,
    largest: &str,
    finite: &str,
    sum: &str,
    end: &str,
) -> Result<String, Reason> {
    let body = format!(
        "lowest = Constant <value = $T {{-$highest}}> ()
         highest = Constant <value = $T {{$highest}}> ()
         {largest}
         {finite}
         shifted = Sub (data, finite)
         powers = Exp (shifted)
         {sum}
         logarithm = Log (sum)
         kept = Add (logarithm, finite)
         {end}"
    );
    Ok(fill(
        &body,
        &[("T", &type_of(cx, 0)?), ("highest", &expect_highest(cx)?)],
    ))
}

/// The node that makes the result of `kept`, which has the axes of length 1.
fn without_axes(cx: &Context) -> Result<&'static str, Reason> {
    Ok(if cx.int_or("keepdims", 1)? == 0 {
        "reduced = Squeeze (kept, named_axes)"
    } else {
        "reduced = Identity (kept)"
    })
}

/// `named_axes`, as a constant: `axes` is an input of the operator in some versions.
fn constant(axes: &[i64]) -> String {
    format!(
        "named_axes = Constant <value = int64[{}] {{{}}}> ()\n",
        axes.len(),
        list(axes)
    )
}

/// # Errors
/// If the type has no fractions.
fn expect_highest(cx: &Context) -> Result<&'static str, Reason> {
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
fn axes(cx: &Context) -> Result<Vec<i64>, Reason> {
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
