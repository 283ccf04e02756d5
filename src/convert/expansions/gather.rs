//! Gathering in terms of `Gather`, which selects from the flattened data. Elements are moved, not
//! computed.

use super::{Expansion, exact, fill, list};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{
    AttributeUnsupported, Contested, NodeInvalid, NotConstant, Reason, ShapeUnknown, TooLarge,
};
use crate::ops::readings;

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("GatherElements", 11, gather_elements),
    exact("GatherND", 11, gather_nd),
    exact("GatherND", 12, gather_nd_of_batches).against(&[AttributeUnsupported]),
    exact("Slice", 10, slice),
];

/// The longest axis whose offsets become a constant.
const LONGEST_AXIS: i64 = 1 << 16;

/// The number of elements between two neighbours along an axis.
pub(super) fn stride(dims: &[i64], axis: usize) -> i64 {
    dims[axis + 1..].iter().product()
}

/// The shape of an input, whose elements can be counted.
pub(super) fn static_shape(cx: &Context, index: usize) -> Result<Vec<i64>, Reason> {
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
    Ok(format!(
        "{}
         all = Constant <value = int64[1] {{-1}}> ()
         flat = Reshape (data, all)
         output = Gather <axis: int = 0> (flat, index_0)",
        element_places(cx)?
    ))
}

/// The places in the flattened data, `index_0`, of the elements that indices along an axis denote.
pub(super) fn element_places(cx: &Context) -> Result<String, Reason> {
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
    Ok(body)
}

/// The index tuples become numbers of slices of the flattened data.
fn gather_nd(cx: &Context) -> Result<String, Reason> {
    let slices = NumberedSlices::of(cx)?;
    Ok(format!(
        "{}
         slices_shape = Constant <value = int64[{}] {{{}}}> ()
         slices = Reshape (data, slices_shape)
         output = Gather <axis: int = 0> (slices, number)",
        slices.numbers,
        slices.shape.len() + 1,
        list([&[slices.count], slices.shape.as_slice()].concat()),
    ))
}

/// The indices get those of their batch in front.
fn gather_nd_of_batches(cx: &Context) -> Result<String, Reason> {
    let shape = static_shape(cx, 1)?;
    let batch_dims = usize::try_from(cx.int_or("batch_dims", 0)?).unwrap_or(usize::MAX);
    let dims = shape
        .split_last()
        .map(|(_, dims)| dims)
        .filter(|dims| batch_dims <= dims.len())
        .ok_or_else(|| Reason::new(NodeInvalid, "`batch_dims` is out of range"))?;
    let count = dims.iter().product::<i64>();
    if count > LONGEST_AXIS {
        return Err(Reason::new(
            TooLarge,
            format!("there are more than {LONGEST_AXIS} tuples of indices"),
        ));
    }
    let place = |tuple: i64, axis: usize| tuple / stride(dims, axis) % dims[axis];
    let places = (0..count).flat_map(|tuple| (0..batch_dims).map(move |axis| (tuple, axis)));
    Ok(format!(
        "batch = Constant <value = int64[{}, {batch_dims}] {{{}}}> ()
         all = Concat <axis: int = {}> (batch, indices)
         output = GatherND (data, all)",
        list(dims),
        list(places.map(|(tuple, axis)| place(tuple, axis))),
        dims.len()
    ))
}

/// The slices of the data that tuples of indices denote.
pub(super) struct NumberedSlices {
    pub count: i64,
    /// Of each slice.
    pub shape: Vec<i64>,
    /// Computes the `number` of the slice of each tuple.
    pub numbers: String,
}

impl NumberedSlices {
    pub fn of(cx: &Context) -> Result<NumberedSlices, Reason> {
        let data = static_shape(cx, 0)?;
        let indices = cx
            .known_input(1)
            .shape
            .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the indices must be known"))?;
        let width = indices
            .last()
            .copied()
            .flatten()
            .and_then(|width| usize::try_from(width).ok());
        let width = width.ok_or_else(|| {
            Reason::new(
                ShapeUnknown,
                "the last dimension of the indices must be known",
            )
        })?;
        if width == 0 || width > data.len() {
            return Err(Reason::new(
                NodeInvalid,
                format!(
                    "the last dimension of the indices is {width}, but the data has rank {}",
                    data.len()
                ),
            ));
        }
        if data.contains(&0) {
            return Err(Reason::new(ShapeUnknown, "the data has no elements"));
        }
        let (numbered, shape) = data.split_at(width);
        let numbers = format!(
            "lengths = Constant <value = int64[{width}] {{{}}}> ()
             {COUNT_FROM_FRONT}
             strides = Constant <value = int64[{width}] {{{}}}> ()
             weighted = Mul (counted, strides)
             number = ReduceSum <axes: ints = [{}], keepdims: int = 0> (weighted)",
            list(numbered),
            list((0..width).map(|axis| stride(numbered, axis))),
            indices.len() - 1,
        );
        Ok(NumberedSlices {
            count: numbered.iter().product(),
            shape: shape.to_vec(),
            numbers,
        })
    }
}

/// A slice with constant bounds and a step of one stays; other elements are gathered.
fn slice(cx: &Context) -> Result<String, Reason> {
    let count = match cx.input(1).map(|_| cx.dim(1, 0)) {
        Some(Some(count)) => usize::try_from(count).unwrap_or_default(),
        _ => cx.read_ints(1)?.len(),
    };
    let shape = cx
        .known_input(0)
        .shape
        .ok_or_else(|| Reason::new(ShapeUnknown, "the rank of the input is unknown"))?;
    if count > shape.len() {
        return Err(Reason::new(
            NodeInvalid,
            "the slice has more bounds than axes",
        ));
    }
    let (starts, ends) = (bounds(cx, 1, count), bounds(cx, 2, count));
    let axes = match cx.input(3) {
        Some(_) => cx.read_ints(3)?,
        None => (0..count as i64).collect(),
    };
    let steps = match cx.input(4) {
        Some(_) => cx.read_ints(4)?,
        None => vec![1; count],
    };
    let axes = counted_from_front(axes, shape.len())?;
    if [starts.len(), ends.len(), axes.len(), steps.len()] != [count; 4] {
        return Err(Reason::new(
            NodeInvalid,
            "the lists of the slice have different lengths",
        ));
    }
    let mut body = "data_0 = Identity (data)\n".to_owned();
    for (index, (&axis, &step)) in axes.iter().zip(&steps).enumerate() {
        let next = index + 1;
        let dim = usize::try_from(axis).ok().and_then(|axis| shape.get(axis));
        let dim = dim.ok_or_else(|| Reason::new(NodeInvalid, "`axes` are out of range"))?;
        let length = dim.filter(|&length| length <= LONGEST_AXIS);
        let known = starts[index].zip(ends[index]);
        if let Some((start, end)) = known.filter(|_| step == 1) {
            body += &format!(
                "data_{next} = Slice <axes: ints = [{axis}], starts: ints = [{start}], ends: ints = [{end}]> (data_{index})\n"
            );
            continue;
        }
        body += &match (known, length) {
            (Some((start, end)), Some(length)) => {
                let places = steps_along(cx, length, [start, end, step])?;
                format!(
                    "places_{index} = Constant <value = int64[{}] {{{}}}> ()\n",
                    places.len(),
                    list(&places)
                )
            }
            (both, _) => {
                may_not_be_contested(both, step)?;
                computed_places(index, axis, [starts[index], ends[index]], step)
            }
        };
        body +=
            &format!("data_{next} = Gather <axis: int = {axis}> (data_{index}, places_{index})\n");
    }
    Ok(format!("{body}output = Identity (data_{count})"))
}

/// The bounds of a slice, as far as they are known.
fn bounds(cx: &Context, input: usize, count: usize) -> Vec<Option<i64>> {
    match (cx.read_ints(input), cx.partial_ints(input)) {
        (Ok(bounds), _) => bounds.into_iter().map(Some).collect(),
        (_, Some(bounds)) => bounds.clone(),
        _ => vec![None; count],
    }
}

/// Runtimes disagree on some bounds of slices that run backward.
fn may_not_be_contested(bounds: Option<(i64, i64)>, step: i64) -> Result<(), Reason> {
    match bounds {
        _ if step == 0 => Err(Reason::new(NodeInvalid, "a step of the slice is zero")),
        None if step < 0 => Err(Reason::new(
            NotConstant,
            "the bounds of a slice that runs backward are not constant, and runtimes disagree on some of them",
        )),
        Some((start, end)) if readings::slice_may_be_contested([start, end, step]) => {
            Err(Reason::new(
                ShapeUnknown,
                "the length of the axis must be known: runtimes disagree on these bounds for some lengths",
            ))
        }
        _ => Ok(()),
    }
}

/// The indices of a slice of an axis whose length, or whose bounds, the model computes.
fn computed_places(index: usize, axis: i64, bounds: [Option<i64>; 2], step: i64) -> String {
    // No axis is longer.
    let size = step.saturating_abs().min(1 << 62);
    let (first, past, low, high, sign) = if step < 0 {
        ("end", "start", -1, "last", "Sub")
    } else {
        ("start", "end", 0, "length", "Add")
    };
    let counts = if size == 1 {
        "steps_$i = Identity (span_$i)"
    } else {
        "step_$i = Constant <value = int64 {$size}> ()
         more_$i = Sub (step_$i, one_$i)
         reach_$i = Add (span_$i, more_$i)
         steps_$i = Div (reach_$i, step_$i)"
    };
    let offsets = if size == 1 {
        "offsets_$i = Identity (numbers_$i)"
    } else {
        "offsets_$i = Mul (numbers_$i, step_$i)"
    };
    let body = "
        zero_$i = Constant <value = int64 {0}> ()
        one_$i = Constant <value = int64 {1}> ()
        low_$i = Constant <value = int64 {$low}> ()
        place_$i = Constant <value = int64 {$i}> ()
        axis_$i = Constant <value = int64 {$axis}> ()
        shape_$i = Shape (data)
        length_$i = Gather (shape_$i, axis_$i)
        last_$i = Sub (length_$i, one_$i)
        $start_bound
        $end_bound
        span_$i = Sub ($past_bounded_$i, $first_bounded_$i)
        $steps
        is_none_$i = Less (steps_$i, zero_$i)
        count_$i = Where (is_none_$i, zero_$i, steps_$i)
        counts_$i = Unsqueeze <axes: ints = [0]> (count_$i)
        one_list_$i = Constant <value = int64[1] {1}> ()
        ones_$i = Tile (one_list_$i, counts_$i)
        row_$i = NonZero (ones_$i)
        numbers_$i = Squeeze <axes: ints = [0]> (row_$i)
        $offsets
        places_$i = $sign (start_bounded_$i, offsets_$i)\n";
    let [start, end] = bounds;
    fill(
        body,
        &[
            ("start_bound", &bounded("start", start, ("zero", high))),
            ("end_bound", &bounded("end", end, ("low", high))),
            ("steps", &counts),
            ("offsets", &offsets),
            ("past", &past),
            ("first", &first),
            ("sign", &sign),
            ("low", &low),
            ("size", &size),
            ("axis", &axis),
            ("i", &index),
        ],
    )
}

/// A bound of a slice, counted from the front, and moved into a range.
fn bounded(name: &str, known: Option<i64>, (low, high): (&str, &str)) -> String {
    let counted = match known {
        Some(0..) => "$name_counted_$i = Constant <value = int64 {$known}> ()",
        Some(_) => {
            "$name_$i = Constant <value = int64 {$known}> ()
             $name_counted_$i = Add ($name_$i, length_$i)"
        }
        None => {
            "list_$name_$i = Cast <to = 7> ($names)
             $name_$i = Gather (list_$name_$i, place_$i)
             $name_is_negative_$i = Less ($name_$i, zero_$i)
             $name_shifted_$i = Add ($name_$i, length_$i)
             $name_counted_$i = Where ($name_is_negative_$i, $name_shifted_$i, $name_$i)"
        }
    };
    let body = "
        $counted
        $name_is_below_$i = Less ($name_counted_$i, $low_$i)
        $name_raised_$i = Where ($name_is_below_$i, $low_$i, $name_counted_$i)
        $name_is_above_$i = Greater ($name_raised_$i, $high_$i)
        $name_bounded_$i = Where ($name_is_above_$i, $high_$i, $name_raised_$i)";
    let known = known.unwrap_or_default();
    let counted = fill(counted, &[("known", &known), ("name", &name)]);
    fill(
        body,
        &[
            ("counted", &counted),
            ("name", &name),
            ("low", &low),
            ("high", &high),
        ],
    )
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
