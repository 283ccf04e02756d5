//! `Trilu`. Kept elements keep their bits, NaN included; the others become positive zero.
//! onnxruntime's own `Where` loses the sign of a negative zero, which ONNX does not allow it to.

use super::{Expansion, exact, fill, list, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{Reason, TypeUnsupported};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[exact("Trilu", 14, trilu)];

/// `Range` is new in opset 11: before it the mask must be a constant.
const RANGE_SINCE: i64 = 11;

/// The largest constant mask.
const LARGEST_MASK: i64 = 1 << 16;

fn trilu(cx: &Context) -> Result<String, Reason> {
    if cx.dtype(0)? == DType::String {
        return Err(Reason::new(TypeUnsupported, "strings have no zero"));
    }
    cx.expect_number(1)?;
    let upper = cx.int_or("upper", 1)? != 0;
    let mask = match constant_mask(cx, upper) {
        Some(mask) if cx.source.settings.opset < RANGE_SINCE => mask,
        _ => computed_mask(cx, upper),
    };
    let body = "
        zero = Constant <value = $T {0}> ()
        output = Where (keep, input, zero)";
    Ok(mask + &fill(body, &[("T", &type_of(cx, 0)?)]))
}

/// The mask of a matrix whose size and diagonal are known.
fn constant_mask(cx: &Context, upper: bool) -> Option<String> {
    let diagonal = if cx.input(1).is_some() {
        *cx.read_ints(1).ok()?.first()?
    } else {
        0
    };
    let shape = cx.known_input(0).shape?;
    let [.., Some(rows), Some(columns)] = shape.as_slice() else {
        return None;
    };
    // Without elements, the other axis can be of any length.
    rows.checked_mul(*columns)
        .filter(|&elements| (1..=LARGEST_MASK).contains(&elements))?;
    let keeps = |row: i64, column: i64| {
        let offset = i128::from(column) - i128::from(row);
        if upper {
            offset >= diagonal.into()
        } else {
            offset <= diagonal.into()
        }
    };
    let elements =
        (0..*rows).flat_map(|row| (0..*columns).map(move |column| u8::from(keeps(row, column))));
    Some(format!(
        "keep = Constant <value = bool[{rows},{columns}] {{{}}}> ()",
        list(elements)
    ))
}

fn computed_mask(cx: &Context, upper: bool) -> String {
    let body = "
        shape = Shape (input)
        row_axis = Constant <value = int64 {-2}> ()
        column_axis = Constant <value = int64 {-1}> ()
        rows = Gather (shape, row_axis)
        columns = Gather (shape, column_axis)
        first = Constant <value = int64 {0}> ()
        step = Constant <value = int64 {1}> ()
        row_range = Range (first, rows, step)
        column = Range (first, columns, step)
        last_axis = Constant <value = int64[1] {1}> ()
        row = Unsqueeze (row_range, last_axis)
        offset = Sub (column, row)
        drop = $compare (offset, $k)
        keep = Not (drop)";
    let k = if cx.input(1).is_some() { "k" } else { "first" };
    fill(
        body,
        &[
            ("compare", &if upper { "Less" } else { "Greater" }),
            ("k", &k),
        ],
    )
}
