//! Gathering in terms of `Gather`, which selects from the flattened data. Elements are moved, not
//! computed.

use super::{Expansion, exact, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{Contested, NodeInvalid, Reason, ShapeUnknown, TooLarge};
use crate::ops::readings;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("GatherElements", 11, gather_elements),
    exact("GatherND", 11, gather_nd),
    exact("Slice", 10, slice),
];

/// The longest axis whose offsets become a constant.
const LONGEST_AXIS: i64 = 1 << 16;

/// The number of elements between two neighbours along an axis.
fn stride(dims: &[i64], axis: usize) -> i64 {
    dims[axis + 1..].iter().product()
}

fn static_shape(cx: &Context, index: usize) -> Result<Vec<i64>, Reason> {
    let what = || {
        Reason::new(
            ShapeUnknown,
            format!("the shape of {} must be known", cx.describe(index)),
        )
    };
    let shape = cx.known_input(index).static_shape().ok_or_else(what)?;
    // The steps along the axes have to fit also if another axis is empty.
    match shape
        .iter()
        .filter(|&&dim| dim != 0)
        .try_fold(1, |product: i64, &dim| product.checked_mul(dim))
    {
        Some(_) => Ok(shape),
        None => Err(Reason::new(
            NodeInvalid,
            format!("{} is too large", cx.describe(index)),
        )),
    }
}

/// Adds the length of the axis to negative indices, without `Where` and comparisons of integers,
/// which are newer.
const COUNT_FROM_FRONT: &str = "
        given = Cast <to = 7> (indices)
        sign = Cast <to = 1> (given)
        zero = Constant <value = float {0}> ()
        is_negative = Less (sign, zero)
        flag = Cast <to = 7> (is_negative)
        shift = Mul (flag, lengths)
        counted = Add (given, shift)\n";

fn gather_elements(cx: &Context) -> Result<String, Reason> {
    let (data, indices) = (static_shape(cx, 0)?, static_shape(cx, 1)?);
    if data.len() != indices.len() || data.is_empty() {
        return Err(Reason::new(
            NodeInvalid,
            "data and indices must have the same rank, which is at least one",
        ));
    }
    let axis = counted_from_front(vec![cx.int_or("axis", 0)?], data.len())?[0] as usize;
    let length = data
        .get(axis)
        .ok_or_else(|| Reason::new(NodeInvalid, "`axis` is out of range"))?;
    if indices.iter().any(|&dim| dim > LONGEST_AXIS) {
        return Err(Reason::new(
            TooLarge,
            format!("an axis of the indices has more than {LONGEST_AXIS} elements"),
        ));
    }
    let mut body = format!(
        "lengths = Constant <value = int64 {{{length}}}> ()
         {COUNT_FROM_FRONT}
         stride = Constant <value = int64 {{{}}}> ()
         index_{} = Mul (counted, stride)\n",
        stride(&data, axis),
        data.len()
    );
    for other in (0..data.len()).rev() {
        let before = other + 1;
        if other == axis || indices[other] <= 1 {
            body += &format!("index_{other} = Identity (index_{before})\n");
            continue;
        }
        body += &format!(
            "offset_{other} = Constant <value = int64[{}] {{{}}}> ()
             index_{other} = Add (index_{before}, offset_{other})\n",
            list(
                std::iter::once(indices[other]).chain(std::iter::repeat_n(1, data.len() - before))
            ),
            list((0..indices[other]).map(|place| place * stride(&data, other)))
        );
    }
    body += "all = Constant <value = int64[1] {-1}> ()
             flat = Reshape (data, all)
             output = Gather <axis: int = 0> (flat, index_0)";
    Ok(body)
}

/// The index tuples become numbers of slices of the flattened data.
fn gather_nd(cx: &Context) -> Result<String, Reason> {
    let data = static_shape(cx, 0)?;
    let indices = cx
        .known_input(1)
        .shape
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the indices must be known"))?;
    let count = indices
        .last()
        .copied()
        .flatten()
        .and_then(|count| usize::try_from(count).ok());
    let count = count.ok_or_else(|| {
        Reason::new(
            ShapeUnknown,
            "the last dimension of the indices must be known",
        )
    })?;
    if count == 0 || count > data.len() {
        return Err(Reason::new(
            NodeInvalid,
            format!(
                "the last dimension of the indices is {count}, but the data has rank {}",
                data.len()
            ),
        ));
    }
    let slices: i64 = data[..count].iter().product();
    let target = list(std::iter::once(slices).chain(data[count..].iter().copied()));
    if data.contains(&0) {
        return Err(Reason::new(ShapeUnknown, "the data has no elements"));
    }
    Ok(format!(
        "lengths = Constant <value = int64[{count}] {{{}}}> ()
         {COUNT_FROM_FRONT}
         strides = Constant <value = int64[{count}] {{{}}}> ()
         weighted = Mul (counted, strides)
         number = ReduceSum <axes: ints = [{}], keepdims: int = 0> (weighted)
         slices_shape = Constant <value = int64[{}] {{{target}}}> ()
         slices = Reshape (data, slices_shape)
         output = Gather <axis: int = 0> (slices, number)",
        list(&data[..count]),
        list((0..count).map(|axis| stride(&data[..count], axis))),
        indices.len() - 1,
        data.len() - count + 1,
    ))
}

/// Constant steps along axes of known length gather the elements; steps of one stay slices.
fn slice(cx: &Context) -> Result<String, Reason> {
    let (starts, ends) = (cx.read_ints(1)?, cx.read_ints(2)?);
    let axes = match cx.input(3) {
        Some(_) => cx.read_ints(3)?,
        None => (0..starts.len() as i64).collect(),
    };
    let steps = match cx.input(4) {
        Some(_) => cx.read_ints(4)?,
        None => vec![1; starts.len()],
    };
    let shape = cx
        .known_input(0)
        .shape
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the input is unknown"))?;
    let axes = counted_from_front(axes, shape.len())?;
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(Reason::new(
            NodeInvalid,
            "the lists of the slice have different lengths",
        ));
    }
    let mut body = "data_0 = Identity (data)\n".to_owned();
    for (index, (&axis, &step)) in axes.iter().zip(&steps).enumerate() {
        let (start, end, next) = (starts[index], ends[index], index + 1);
        if step == 1 {
            body += &format!(
                "data_{next} = Slice <axes: ints = [{axis}], starts: ints = [{start}], ends: ints = [{end}]> (data_{index})\n"
            );
            continue;
        }
        let dim = usize::try_from(axis)
            .ok()
            .and_then(|axis| shape.get(axis))
            .copied();
        let length = match dim {
            Some(Some(length)) if length <= LONGEST_AXIS => length,
            Some(Some(_)) => {
                return Err(Reason::new(
                    TooLarge,
                    format!("an axis has more than {LONGEST_AXIS} elements"),
                ));
            }
            Some(None) => {
                return Err(Reason::new(
                    ShapeUnknown,
                    format!("the length of axis {axis} must be known"),
                ));
            }
            None => return Err(Reason::new(NodeInvalid, "`axes` are out of range")),
        };
        let places = steps_along(cx, length, [start, end, step])?;
        body += &format!(
            "places_{index} = Constant <value = int64[{}] {{{}}}> ()
             data_{next} = Gather <axis: int = {axis}> (data_{index}, places_{index})\n",
            places.len(),
            list(&places)
        );
    }
    Ok(format!("{body}output = Identity (data_{})", axes.len()))
}

/// The indices of a slice of an axis of this length.
fn steps_along(cx: &Context, length: i64, bounds: [i64; 3]) -> Result<Vec<i64>, Reason> {
    let invalid = || Reason::new(NodeInvalid, "a step of the slice is zero");
    let opset = cx
        .source
        .model
        .opset(cx.source.id.scope, "")
        .unwrap_or(cx.to);
    let range = readings::slice(length, bounds, opset).ok_or_else(invalid)?;
    let (first, count) = range
        .choose(cx.source.settings.contested)
        .map_err(|why| Reason::new(Contested, why))?;
    Ok((0..count).map(|place| first + place * bounds[2]).collect())
}
