//! Scatters, in terms of others, of gathering, or of a `Loop` that combines elements.

use super::gather::{NumberedSlices, element_places};
use super::{Expansion, by_definition, element_count, exact, fill, list, type_of};
use crate::convert::context::{Context, counted_from_front};
use crate::convert::reason::{AttributeUnsupported, NodeInvalid, Reason, ShapeUnknown, TooLarge};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("Scatter", 9, scatter),
    exact("ScatterND", 11, scatter_slices),
    by_definition("ScatterElements", 16, reduce_elements).against(&[AttributeUnsupported]),
    by_definition("ScatterElements", 18, reduce_elements).against(&[AttributeUnsupported]),
    by_definition("ScatterND", 16, reduce_slices).against(&[AttributeUnsupported]),
    by_definition("ScatterND", 18, reduce_slices).against(&[AttributeUnsupported]),
    exact("TensorScatter", 24, tensor_scatter),
];

/// The most comparisons of a place in the data with a place of an update.
const MOST_COMPARISONS: i64 = 1 << 20;

/// The data and the updates one after the other, from which `Gather` selects: of several updates of
/// an element, the last one.
fn scatter(cx: &Context) -> Result<String, Reason> {
    let places = element_places(cx)?;
    let count = |input| element_count(&cx.known_input(input).static_shape()?);
    let (elements, updates) = count(0).zip(count(1)).unwrap_or((i64::MAX, i64::MAX));
    if elements
        .checked_mul(updates)
        .is_none_or(|all| all > MOST_COMPARISONS)
    {
        return Err(Reason::new(
            TooLarge,
            format!("the product of elements and updates is more than {MOST_COMPARISONS}"),
        ));
    }
    if elements == 0 || updates == 0 {
        return Ok("output = Identity (data)".to_owned());
    }
    let body = "
        $places
        all = Constant <value = int64[1] {-1}> ()
        updated = Reshape (index_0, all)
        column_shape = Constant <value = int64[2] {-1, 1}> ()
        own_place = Constant <value = int64[$elements] {$own_places}> ()
        column = Reshape (own_place, column_shape)
        is_updated_by = Equal (column, updated)
        flags = Cast <to = 7> (is_updated_by)
        update_number = Constant <value = int64[$updates] {$update_numbers}> ()
        numbered = Mul (flags, update_number)
        last_number = ReduceMax <axes: ints = [1], keepdims: int = 0> (numbered)
        is_updated = Cast <to = 9> (last_number)
        updated_flag = Cast <to = 7> (is_updated)
        before_updates = Constant <value = int64 {$before_updates}> ()
        place_of_update = Add (last_number, before_updates)
        difference = Sub (place_of_update, own_place)
        distance = Mul (difference, updated_flag)
        source = Add (own_place, distance)
        data_flat = Reshape (data, all)
        updates_flat = Reshape (updates, all)
        both = Concat <axis: int = 0> (data_flat, updates_flat)
        result_flat = Gather <axis: int = 0> (both, source)
        data_shape = Shape (data)
        output = Reshape (result_flat, data_shape)";
    Ok(fill(
        body,
        &[
            ("places", &places),
            ("elements", &elements),
            ("own_places", &list(0..elements)),
            ("updates", &updates),
            ("update_numbers", &list(1..=updates)),
            ("before_updates", &(elements - 1)),
        ],
    ))
}

/// Slices are rows of a matrix, which a `Scatter` along the first axis replaces.
fn scatter_slices(cx: &Context) -> Result<String, Reason> {
    let slices = NumberedSlices::of(cx)?;
    let width: i64 = slices.shape.iter().product();
    if width > LONGEST_SLICE {
        return Err(Reason::new(
            TooLarge,
            format!("a slice has more than {LONGEST_SLICE} elements"),
        ));
    }
    let body = "
        $numbers
        column_shape = Constant <value = int64[2] {-1, 1}> ()
        column = Reshape (number, column_shape)
        zeros = Constant <value = int64[1, $width] {$zeros}> ()
        rows = Add (column, zeros)
        matrix_shape = Constant <value = int64[2] {-1, $width}> ()
        data_rows = Reshape (data, matrix_shape)
        update_rows = Reshape (updates, matrix_shape)
        result_rows = Scatter <axis: int = 0> (data_rows, rows, update_rows)
        data_shape = Shape (data)
        output = Reshape (result_rows, data_shape)";
    let zeros = list(std::iter::repeat_n(0, width as usize));
    Ok(fill(
        body,
        &[
            ("numbers", &slices.numbers),
            ("width", &width),
            ("zeros", &zeros),
        ],
    ))
}

/// The most elements of a slice, which a constant repeats.
const LONGEST_SLICE: i64 = 1 << 16;

/// One position of the indices along `axis` after the other: of one, no two are those of the same
/// element.
fn reduce_elements(cx: &Context) -> Result<String, Reason> {
    let body = "
        goes = Constant <value = bool {1}> ()
        one = Constant <value = int64[1] {1}> ()
        axis = Constant <value = int64 {$axis}> ()
        index_shape = Shape (indices)
        count = Gather (index_shape, axis)
        output = Loop <body = reduce_at (int64 iteration, bool go, $present present) => (goes_on, next) {
            goes_on = Identity (go)
            place = Reshape (iteration, one)
            index = Gather <axis: int = $axis> (indices, place)
            update = Gather <axis: int = $axis> (updates, place)
            old = GatherElements <axis: int = $axis> (present, index)
            new = $op (old, update)
            next = ScatterElements <axis: int = $axis> (present, index, new)
        }> (count, goes, data)";
    let axis = cx.axes_from_front(vec![cx.int_or("axis", 0)?])?[0];
    let parameters: &[(&str, &dyn std::fmt::Display)] = &[
        ("present", &declared(cx)?),
        ("axis", &axis),
        ("op", &reduction(cx)?),
    ];
    Ok(fill(body, parameters))
}

/// One slice after the other. Indices and updates get one axis before those of an index and of a
/// slice.
fn reduce_slices(cx: &Context) -> Result<String, Reason> {
    let unknown = |what: &str| Reason::new(ShapeUnknown, format!("{what} is unknown"));
    let rank = cx.rank(1)?;
    let lists = match rank {
        1 => "none = Constant <value = int64[1] {0}> ()
             lists = Unsqueeze (indices, none)
             slices = Unsqueeze (updates, none)"
            .to_owned(),
        2 => "lists = Identity (indices) slices = Identity (updates)".to_owned(),
        _ => {
            let width = cx.dim(1, rank - 1).filter(|&width| width > 0);
            let width = width.ok_or_else(|| unknown("the length of an index"))?;
            let lengths = (rank - 1..cx.rank(2)?).map(|axis| cx.dim(2, axis));
            let lengths: Option<Vec<i64>> = lengths.collect();
            let lengths = lengths.filter(|lengths| !lengths.contains(&0));
            let lengths = lengths.ok_or_else(|| unknown("the shape of a slice"))?;
            format!(
                "index_shape = Constant <value = int64[2] {{-1, {width}}}> ()
                 lists = Reshape (indices, index_shape)
                 slice_shape = Constant <value = int64[{}] {{{}}}> ()
                 slices = Reshape (updates, slice_shape)",
                lengths.len() + 1,
                list([&[-1], lengths.as_slice()].concat())
            )
        }
    };
    let body = "
        $lists
        goes = Constant <value = bool {1}> ()
        one = Constant <value = int64[1] {1}> ()
        zero = Constant <value = int64 {0}> ()
        list_shape = Shape (lists)
        count = Gather (list_shape, zero)
        output = Loop <body = reduce_at (int64 iteration, bool go, $present present) => (goes_on, next) {
            goes_on = Identity (go)
            place = Reshape (iteration, one)
            index = Gather (lists, place)
            update = Gather (slices, place)
            old = GatherND (present, index)
            new = $op (old, update)
            next = ScatterND (present, index, new)
        }> (count, goes, data)";
    let parameters: &[(&str, &dyn std::fmt::Display)] = &[
        ("lists", &lists),
        ("present", &declared(cx)?),
        ("op", &reduction(cx)?),
    ];
    Ok(fill(body, parameters))
}

/// The type and the shape of the data, as far as it is known.
fn declared(cx: &Context) -> Result<String, Reason> {
    let length = |axis| match cx.dim(0, axis) {
        Some(length) => length.to_string(),
        None => "?".to_owned(),
    };
    let lengths = list((0..cx.rank(0)?).map(length));
    Ok(format!("{}[{lengths}]", type_of(cx, 0)?))
}

/// The operator that combines an element and an update.
fn reduction(cx: &Context) -> Result<&'static str, Reason> {
    match cx.string("reduction")?.as_deref() {
        Some("add") => Ok("Add"),
        Some("mul") => Ok("Mul"),
        Some("max") => Ok("Max"),
        Some("min") => Ok("Min"),
        _ => Err(Reason::new(NodeInvalid, "unknown `reduction`")),
    }
}

/// The place of each element of the update along the axis, and a scatter to these places.
fn tensor_scatter(cx: &Context) -> Result<String, Reason> {
    let rank = cx.rank(0)?;
    let axis = counted_from_front(vec![cx.int_or("axis", -2)?], rank)?[0];
    if axis == 0 || axis >= rank as i64 {
        return Err(Reason::new(
            NodeInvalid,
            "`axis` must not be that of the batch, nor out of range",
        ));
    }
    let shape = |place: usize| list((0..rank).map(|at| if at == place { -1 } else { 1 }));
    let mut body = "
        update_shape = Shape (update)
        axis = Constant <value = int64 {$axis}> ()
        zero = Constant <value = int64 {0}> ()
        one = Constant <value = int64 {1}> ()
        length = Gather (update_shape, axis)
        order = Range (zero, length, one)
        order_shape = Constant <value = int64[$rank] {$order_shape}> ()
        steps = Reshape (order, order_shape)\n"
        .to_owned();
    body += match cx.input(2) {
        Some(_) => {
            "starts_shape = Constant <value = int64[$rank] {$starts_shape}> ()
             starts = Reshape (write_indices, starts_shape)
             places = Add (starts, steps)\n"
        }
        None => "places = Identity (steps)\n",
    };
    body += match cx.string("mode")?.as_deref().unwrap_or("linear") {
        "linear" => "wrapped = Identity (places)\n",
        "circular" => {
            "cache_shape = Shape (past_cache)
             cache_length = Gather (cache_shape, axis)
             wrapped = Mod (places, cache_length)\n"
        }
        other => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `mode` = '{other}'"),
            ));
        }
    };
    body += "
        index = Expand (wrapped, update_shape)
        present_cache = ScatterElements <axis: int = $axis> (past_cache, index, update)";
    let (order_shape, starts_shape) = (shape(axis as usize), shape(0));
    Ok(fill(
        &body,
        &[
            ("axis", &axis),
            ("rank", &rank),
            ("order_shape", &order_shape),
            ("starts_shape", &starts_shape),
        ],
    ))
}
