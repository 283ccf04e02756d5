//! Operators that carry a state along an axis, as `Scan`.

use std::fmt::Display;

use super::{Expansion, by_definition, exact, fill, list, number, type_name};
use crate::convert::context::{Context, counted_from_front, is_countable};
use crate::convert::reason::{AttributeUnsupported, NodeInvalid, Reason, ShapeUnknown};
use onnx_cast::Class;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("CausalConvWithState", 27, causal_convolution),
    exact("CumProd", 26, |cx| cumulative(cx, "Mul")),
    exact("CumSum", 11, |cx| cumulative(cx, "Add")),
    by_definition("LinearAttention", 27, linear_attention),
];

/// The first element is copied, so that a sum starts with negative zero; an exclusive one is zero.
/// The body declares the ranks of its results: onnxruntime does not infer them if the axis is
/// computed, and requires them.
fn cumulative(cx: &Context, op: &str) -> Result<String, Reason> {
    cx.expect_number(1)?;
    let is_exclusive = cx.int_or("exclusive", 0)? != 0;
    let dtype = cx.dtype(0)?;
    let start = match (op, is_exclusive) {
        ("Mul", _) => "1",
        (_, false) if dtype.class() == Class::Float => "-0.0",
        _ => "0",
    };
    let direction = i64::from(cx.int_or("reverse", 0)? != 0);
    let rank = cx.rank(0)?;
    let step = if is_exclusive { "previous" } else { "next" };
    let (axis, others, folded) = match cx.read_ints(1) {
        Ok(axis) => {
            let axis = counted_from_front(axis, rank)?;
            let axis = *axis
                .first()
                .filter(|&&axis| axis < rank as i64)
                .ok_or_else(|| Reason::new(NodeInvalid, "`axis` is out of range"))?;
            (
                axis,
                (0..rank as i64).filter(|&other| other != axis).collect(),
                None,
            )
        }
        Err(reason) => (1, vec![0, 2], Some(three_axes(cx, &reason)?)),
    };
    // onnxruntime does not run a Scan over nothing. Of an axis of unknown length one element more
    // is scanned, the last one.
    let length = cx.dim(0, axis);
    if folded.is_none() && length == Some(0) {
        return Ok("y = Identity (x)".to_owned());
    }
    let (fold, source, target, restore) = match &folded {
        Some((fold, shape)) => {
            let restore = format!(
                "shape = Constant <value = int64[{rank}] {{{shape}}}> () y = Reshape (folded_result, shape)"
            );
            (fold.as_str(), "folded", "folded_result", restore)
        }
        None => ("", "x", "y", String::new()),
    };
    let (mut scanned, mut result, mut lengthen, mut shorten) =
        (source, target, String::new(), String::new());
    if folded.is_none() && length.is_none() {
        (scanned, result) = ("longer", "longer_result");
        let axes = if cx.to < 13 {
            "<axes: ints = [$axis]> (start)"
        } else {
            "(start, scanned_axis)"
        };
        let (parts, from, to) = if direction == 0 {
            ("$source, spare", 0, -1)
        } else {
            ("spare, $source", 1, i64::MAX)
        };
        lengthen = format!(
            "scanned_axis = Constant <value = int64[1] {{$axis}}> ()
             spare = Unsqueeze {axes}
             longer = Concat <axis: int = $axis> ({parts})"
        );
        shorten = format!(
            "from = Constant <value = int64[1] {{{from}}}> () to = Constant <value = int64[1] {{{to}}}> ()
             y = Slice (longer_result, from, to, scanned_axis)\n"
        );
    }
    let state_rank = if others.is_empty() {
        String::new()
    } else {
        format!("[{}]", list(vec!["?"; others.len()]))
    };
    let body = format!(
        "
        dims = Shape ($source)
        other_axes = Constant <value = int64[$count] {{$list}}> ()
        state_shape = Gather (dims, other_axes)
        start = ConstantOfShape <value = $T[1] {{$start}}> (state_shape)
        {lengthen}
        last, $target = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [$axis], scan_output_axes: ints = [$axis],
                              scan_input_directions: ints = [$direction], scan_output_directions: ints = [$direction],
                              body = step ($T$rank previous, $T$rank element) => ($T$rank next, $T$rank result) {{
            next = $op (previous, element)
            result = Identity ($step)
        }}> (start, $scanned)\n{shorten}"
    );
    let parameters: &[(&str, &dyn Display)] = &[
        ("source", &source),
        ("target", &result),
        ("scanned", &scanned),
        ("count", &others.len()),
        ("list", &list(&others)),
        ("rank", &state_rank),
        ("T", &type_name(dtype)),
        ("start", &start),
        ("axis", &axis),
        ("direction", &direction),
        ("op", &op),
        ("step", &step),
    ];
    Ok(fold.to_owned() + &fill(&body, parameters) + &restore)
}

/// The input reshaped so that a computed axis is the second of three; and the shape of the result.
fn three_axes(cx: &Context, reason: &Reason) -> Result<(String, String), Reason> {
    let dims = cx
        .known_input(0)
        .static_shape()
        .filter(|dims| !dims.is_empty() && !dims.contains(&0) && is_countable(dims));
    let dims = dims.ok_or_else(|| {
        Reason::new(
            ShapeUnknown,
            format!("{reason}, and the shape of the input is unknown or has no elements"),
        )
    })?;
    let rank = dims.len();
    let product = |dims: &[i64]| dims.iter().product::<i64>();
    let rows = (0..2 * rank).map(|row| row % rank);
    let table = rows.flat_map(|axis| {
        [
            product(&dims[..axis]),
            dims[axis],
            product(&dims[axis + 1..]),
        ]
    });
    let body = format!(
        "wide_axis = Cast <to = 7> (axis)
         rank = Constant <value = int64 {{{rank}}}> ()
         row = Add (wide_axis, rank)
         table = Constant <value = int64[{},3] {{{}}}> ()
         selected = Gather <axis: int = 0> (table, row)
         list = Constant <value = int64[1] {{-1}}> ()
         three = Reshape (selected, list)
         folded = Reshape (x, three)\n",
        2 * rank,
        list(table)
    );
    Ok((body, list(&dims)))
}

/// The input behind the state, or behind zeros, and a convolution of each channel; the new state is
/// the end of that input.
fn causal_convolution(cx: &Context) -> Result<String, Reason> {
    let weight = cx.known_input(1).shape.unwrap_or_default();
    let &[Some(channels), _, Some(kernel)] = weight.as_slice() else {
        return Err(Reason::new(
            ShapeUnknown,
            "the number of channels and the length of the kernel must be known",
        ));
    };
    let mut body = if cx.input(3).is_some() {
        "padded = Concat <axis: int = 2> (past_state, input)\n".to_owned()
    } else {
        let pads = format!(
            "pads = Constant <value = int64[6] {{0, 0, {}, 0, 0, 0}}> ()\n",
            kernel - 1
        );
        if kernel == 1 {
            "padded = Identity (input)\n".to_owned()
        } else {
            pads + "padded = Pad (input, pads)\n"
        }
    };
    let bias = if cx.input(2).is_some() { ", bias" } else { "" };
    body += &format!("convolved = Conv <group: int = {channels}> (padded, weight{bias})\n");
    body += match cx.string("activation")?.as_deref().unwrap_or("none") {
        "none" => "output = Identity (convolved)\n",
        "silu" | "swish" => "gate = Sigmoid (convolved) output = Mul (convolved, gate)\n",
        other => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `activation` = '{other}'"),
            ));
        }
    };
    // A slice that begins behind the input is not empty in every runtime.
    let (start, end) = if kernel == 1 {
        (0, 0)
    } else {
        (1 - kernel, i64::MAX)
    };
    body += &format!(
        "state_start = Constant <value = int64[1] {{{start}}}> ()
         state_end = Constant <value = int64[1] {{{end}}}> ()
         state_axis = Constant <value = int64[1] {{2}}> ()
         present_state = Slice (padded, state_start, state_end, state_axis)",
    );
    Ok(body)
}

/// Positions come first. Each group of query heads reads one state; keys are columns and values are
/// rows, so that their product is the update of a state.
fn linear_attention(cx: &Context) -> Result<String, Reason> {
    let heads = |name: &str| {
        cx.int(name)?
            .filter(|&heads| heads > 0)
            .ok_or_else(|| Reason::new(NodeInvalid, format!("`{name}` must be positive")))
    };
    let (query_heads, key_heads) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    if query_heads % key_heads != 0 {
        return Err(Reason::new(
            NodeInvalid,
            format!("{query_heads} query heads cannot share {key_heads} states"),
        ));
    }
    let rule = cx
        .string("update_rule")?
        .unwrap_or_else(|| "gated_delta".to_owned());
    let (decays, corrects) = match rule.as_str() {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `update_rule` = '{other}'"),
            ));
        }
    };
    if (decays && cx.input(4).is_none()) || (corrects && cx.input(5).is_none()) {
        return Err(Reason::new(
            NodeInvalid,
            format!("`update_rule` = '{rule}' requires the input `decay` or `beta`"),
        ));
    }
    let dtype = cx.dtype(0)?.number();
    let mut scanned = vec![
        (
            "query_row",
            "query",
            format!("{key_heads}, {}, -1", query_heads / key_heads),
        ),
        ("key_column", "key", format!("{key_heads}, -1, 1")),
        ("value_row", "value", format!("{key_heads}, 1, -1")),
    ];
    scanned.extend(decays.then(|| ("decay_column", "decay", format!("{key_heads}, -1, 1"))));
    scanned.extend(corrects.then(|| ("rate", "beta", "-1, 1, 1".to_owned())));
    let steps = |(name, input, shape): &(&str, &str, String)| {
        format!(
            "{name}_shape = Constant <value = int64[5] {{0, 0, {shape}}}> ()
             {name}_float = Cast <to = 1> ({input})
             {name}_split = Reshape ({name}_float, {name}_shape)
             {name}s = Transpose <perm: ints = [1, 0, 2, 3, 4]> ({name}_split)\n"
        )
    };
    let mut body: String = scanned.iter().map(steps).collect();
    body += match cx.input(3) {
        Some(_) => "state = Cast <to = 1> (past_state)\n",
        None => {
            "key_dims = Shape (key)
             value_dims = Shape (value)
             batch_axis = Constant <value = int64[1] {0}> ()
             width_axis = Constant <value = int64[1] {2}> ()
             heads = Constant <value = int64[1] {$key_heads}> ()
             batch = Gather (key_dims, batch_axis)
             all_keys = Gather (key_dims, width_axis)
             all_values = Gather (value_dims, width_axis)
             key_width = Div (all_keys, heads)
             value_width = Div (all_values, heads)
             state_shape = Concat <axis: int = 0> (batch, heads, key_width, value_width)
             state = ConstantOfShape (state_shape)\n"
        }
    };
    let width = cx.dim(0, 2).map(|width| width / query_heads);
    body += &match (cx.float("scale")?.filter(|&scale| scale != 0.0), width) {
        (Some(scale), _) => format!(
            "scale = Constant <value = float {{{}}}> ()\n",
            number(scale)
        ),
        (None, Some(width)) => format!(
            "scale = Constant <value = float {{{}}}> ()\n",
            number(1.0 / (width as f32).sqrt())
        ),
        (None, None) => "query_dims = Shape (query)
             query_axis = Constant <value = int64 {2}> ()
             query_heads = Constant <value = int64 {$query_heads}> ()
             all_queries = Gather (query_dims, query_axis)
             query_width = Div (all_queries, query_heads)
             query_width_float = Cast <to = 1> (query_width)
             query_root = Sqrt (query_width_float)
             scale = Reciprocal (query_root)\n"
            .to_owned(),
    };
    let decay = if decays {
        "factor = Exp (decay_column) kept = Mul (previous, factor)"
    } else {
        "kept = Identity (previous)"
    };
    let update = if corrects {
        "key_row = Transpose <perm: ints = [0, 1, 3, 2]> (key_column)
             found = MatMul (key_row, kept)
             difference = Sub (value_row, found)
             written = Mul (rate, difference)"
    } else {
        "written = Identity (value_row)"
    };
    body += &format!(
        "final, attended = Scan <num_scan_inputs: int = {}, body = step (previous, {}) => (next, result) {{
             {decay}
             {update}
             update = MatMul (key_column, written)
             next = Add (kept, update)
             read = MatMul (query_row, next)
             result = Mul (scale, read)
         }}> (state, {})
         by_batch = Transpose <perm: ints = [1, 0, 2, 3, 4]> (attended)
         joined_shape = Constant <value = int64[3] {{0, 0, -1}}> ()
         joined = Reshape (by_batch, joined_shape)
         output = Cast <to = $dtype> (joined)
         present_state = Cast <to = $dtype> (final)",
        scanned.len(),
        list(scanned.iter().map(|(name, ..)| name)),
        list(scanned.iter().map(|(name, ..)| format!("{name}s")))
    );
    Ok(fill(
        &body,
        &[
            ("dtype", &dtype),
            ("key_heads", &key_heads),
            ("query_heads", &query_heads),
        ],
    ))
}
