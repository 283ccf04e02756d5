//! Operators that carry a state along an axis, as `Scan`.

use super::{Expansion, by_definition, exact, fill, list, number, type_of};
use crate::convert::context::{Context, counted_from_front, is_countable};
use crate::convert::reason::Code::{AttributeUnsupported, NodeInvalid, ShapeUnknown};
use crate::convert::reason::Reason;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("CausalConvWithState", 27, causal_convolution),
    exact("CumProd", 26, |cx| cumulative(cx, "Mul")),
    exact("CumSum", 11, |cx| cumulative(cx, "Add")),
    by_definition("LinearAttention", 27, linear_attention),
];

/// The first element is copied, so that a sum starts with negative zero; an exclusive one is zero. The body declares the ranks of its
/// results: onnxruntime does not infer them if the axis is computed, and requires them.
fn cumulative(cx: &Context, op: &str) -> Result<String, Reason> {
    let is_exclusive = cx.int_or("exclusive", 0)? != 0;
    let start = match (op, is_exclusive) {
        ("Mul", _) => "1",
        (_, true) => "0",
        (_, false) => "-0.0",
    };
    let dtype = cx.dtype(0)?;
    let start = if dtype.class() == crate::elements::dtype::Class::Float {
        start
    } else {
        start.trim_start_matches('-').trim_end_matches(".0")
    };
    let direction = i64::from(cx.int_or("reverse", 0)? != 0);
    let rank = cx.rank(0)?;
    let step = if is_exclusive { "previous" } else { "next" };
    let (reshape, axis, source, target, others) = match cx.read_ints(1) {
        Ok(axis) => {
            let axis = counted_from_front(axis, rank)?;
            let axis =
                *axis.first().filter(|&&axis| axis < rank as i64).ok_or_else(|| NodeInvalid.because("`axis` is out of range"))?;
            let others: Vec<String> = (0..rank as i64).filter(|&other| other != axis).map(|other| other.to_string()).collect();
            (String::new(), axis, "x", "y", others)
        }
        Err(reason) => {
            let (three, shape) = three_axes(cx, &reason)?;
            (three, 1, "folded", "folded_result", vec!["0".to_owned(), "2".to_owned(), shape])
        }
    };
    // onnxruntime does not run a Scan over nothing. Of an axis of unknown length one element more is scanned, the last one.
    let length = cx.known_input(0).shape.and_then(|shape| shape.get(axis as usize).copied().flatten());
    let is_counted = target != "y" || length.is_some();
    if target == "y" && length == Some(0) {
        return Ok("y = Identity (x)".to_owned());
    }
    let (scanned, result, lengthen, shorten) = match (is_counted, direction) {
        (true, _) => (source, target, "", ""),
        (false, 0) => (
            "longer",
            "longer_result",
            "longer = Concat <axis: int = $axis> ($source, spare)\n",
            "from = Constant <value = int64[1] {0}> () to = Constant <value = int64[1] {-1}> ()
             y = Slice (longer_result, from, to, scanned_axis)\n",
        ),
        (false, _) => (
            "longer",
            "longer_result",
            "longer = Concat <axis: int = $axis> (spare, $source)\n",
            "from = Constant <value = int64[1] {1}> () to = Constant <value = int64[1] {9223372036854775807}> ()
             y = Slice (longer_result, from, to, scanned_axis)\n",
        ),
    };
    let spare = match (is_counted, cx.to < 13) {
        (true, _) => "",
        (false, true) => "spare = Unsqueeze <axes: ints = [$axis]> (start)\n",
        (false, false) => "spare = Unsqueeze (start, scanned_axis)\n",
    };
    let spare_axis = if is_counted { "" } else { "scanned_axis = Constant <value = int64[1] {$axis}> ()\n" };
    let restore = match others.get(2).filter(|_| target != "y") {
        Some(shape) => format!("shape = Constant <value = int64[{rank}] {{{shape}}}> () y = Reshape (folded_result, shape)"),
        None => String::new(),
    };
    let others: Vec<&String> = if target == "y" { others.iter().collect() } else { others[..2].iter().collect() };
    let list = others.iter().map(|other| other.as_str()).collect::<Vec<_>>().join(",");
    let state_rank = if others.is_empty() { String::new() } else { format!("[{}]", vec!["?"; others.len()].join(",")) };
    let body = format!(
        "
        dims = Shape ($source)
        other_axes = Constant <value = int64[$count] {{$list}}> ()
        state_shape = Gather (dims, other_axes)
        start = ConstantOfShape <value = $T[1] {{$start}}> (state_shape)
        {spare_axis}{spare}{lengthen}
        last, $target = Scan <num_scan_inputs: int = 1, scan_input_axes: ints = [$axis], scan_output_axes: ints = [$axis],
                              scan_input_directions: ints = [$direction], scan_output_directions: ints = [$direction],
                              body = step (previous, element) => ($T$rank next, $T$rank result) {{
            next = $op (previous, element)
            result = Identity ($step)
        }}> (start, $scanned)\n{shorten}"
    );
    let parameters = [
        ("source", source),
        ("target", result),
        ("scanned", scanned),
        ("count", &others.len().to_string()),
        ("list", &list),
        ("rank", &state_rank),
        ("T", &type_of(cx, 0)?),
        ("start", start),
        ("axis", &axis.to_string()),
        ("direction", &direction.to_string()),
        ("op", op),
        ("step", step),
    ];
    Ok(reshape + &fill(&body, &parameters) + &restore)
}

/// The input reshaped so that a computed axis is the second of three; and the shape of the result.
fn three_axes(cx: &Context, reason: &Reason) -> Result<(String, String), Reason> {
    let dims = cx.known_input(0).static_shape().filter(|dims| !dims.is_empty() && !dims.contains(&0) && is_countable(dims));
    let dims =
        dims.ok_or_else(|| ShapeUnknown.because(format!("{reason}, and the shape of the input is unknown or has no elements")))?;
    let rank = dims.len();
    let product = |dims: &[i64]| dims.iter().product::<i64>();
    let rows = (0..2 * rank).map(|row| row % rank);
    let table = rows.flat_map(|axis| [product(&dims[..axis]), dims[axis], product(&dims[axis + 1..])]);
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

/// The input behind the state, or behind zeros, and a convolution of each channel; the new state is the end of that input.
fn causal_convolution(cx: &Context) -> Result<String, Reason> {
    let weight = cx.known_input(1).shape.unwrap_or_default();
    let &[Some(channels), _, Some(kernel)] = weight.as_slice() else {
        return Err(ShapeUnknown.because("the number of channels and the length of the kernel must be known"));
    };
    let mut body = match cx.input(3) {
        Some(_) => "padded = Concat <axis: int = 2> (past_state, input)\n".to_owned(),
        None => {
            let pads = format!("pads = Constant <value = int64[6] {{0, 0, {}, 0, 0, 0}}> ()\n", kernel - 1);
            if kernel == 1 { "padded = Identity (input)\n".to_owned() } else { pads + "padded = Pad (input, pads)\n" }
        }
    };
    let bias = if cx.input(2).is_some() { ", bias" } else { "" };
    body += &format!("convolved = Conv <group: int = {channels}> (padded, weight{bias})\n");
    body += match cx.string("activation")?.as_deref().unwrap_or("none") {
        "none" => "output = Identity (convolved)\n",
        "silu" | "swish" => "gate = Sigmoid (convolved) output = Mul (convolved, gate)\n",
        other => return Err(AttributeUnsupported.because(format!("unknown `activation` = '{other}'"))),
    };
    let start = if kernel == 1 { i64::MAX } else { 1 - kernel };
    body += &format!(
        "state_start = Constant <value = int64[1] {{{start}}}> ()
         state_end = Constant <value = int64[1] {{{}}}> ()
         state_axis = Constant <value = int64[1] {{2}}> ()
         present_state = Slice (padded, state_start, state_end, state_axis)",
        i64::MAX
    );
    Ok(body)
}

/// Positions come first. Each group of query heads reads one state; keys are columns and values are rows, so that their product is the
/// update of a state.
fn linear_attention(cx: &Context) -> Result<String, Reason> {
    let heads = |name: &str| {
        cx.int(name)?.filter(|&heads| heads > 0).ok_or_else(|| NodeInvalid.because(format!("`{name}` must be positive")))
    };
    let (query_heads, key_heads) = (heads("q_num_heads")?, heads("kv_num_heads")?);
    if query_heads % key_heads != 0 {
        return Err(NodeInvalid.because(format!("{query_heads} query heads cannot share {key_heads} states")));
    }
    let rule = cx.string("update_rule")?.unwrap_or_else(|| "gated_delta".to_owned());
    let (decays, corrects) = match rule.as_str() {
        "linear" => (false, false),
        "gated" => (true, false),
        "delta" => (false, true),
        "gated_delta" => (true, true),
        other => return Err(AttributeUnsupported.because(format!("unknown `update_rule` = '{other}'"))),
    };
    if (decays && cx.input(4).is_none()) || (corrects && cx.input(5).is_none()) {
        return Err(NodeInvalid.because(format!("`update_rule` = '{rule}' requires the input `decay` or `beta`")));
    }
    let dtype = cx.dtype(0)?.number().to_string();
    let steps = |name: &str, input: &str, shape: &str| {
        format!(
            "{name}_shape = Constant <value = int64[5] {{0, 0, {shape}}}> ()
             {name}_float = Cast <to = 1> ({input})
             {name}_split = Reshape ({name}_float, {name}_shape)
             {name}s = Transpose <perm: ints = [1, 0, 2, 3, 4]> ({name}_split)\n"
        )
    };
    let mut body = steps("query_row", "query", &format!("{key_heads}, {}, -1", query_heads / key_heads));
    body += &steps("key_column", "key", &format!("{key_heads}, -1, 1"));
    body += &steps("value_row", "value", &format!("{key_heads}, 1, -1"));
    let mut scanned = vec!["query_row", "key_column", "value_row"];
    if decays {
        body += &steps("decay_column", "decay", &format!("{key_heads}, -1, 1"));
        scanned.push("decay_column");
    }
    if corrects {
        body += &steps("rate", "beta", "-1, 1, 1");
        scanned.push("rate");
    }
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
    let width = cx.known_input(0).shape.and_then(|shape| shape.get(2).copied().flatten()).map(|width| width / query_heads);
    body += &match (cx.float("scale")?.filter(|&scale| scale != 0.0), width) {
        (Some(scale), _) => format!("scale = Constant <value = float {{{}}}> ()\n", number(scale)),
        (None, Some(width)) => format!("scale = Constant <value = float {{{}}}> ()\n", number(1.0 / (width as f32).sqrt())),
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
    let inputs: Vec<String> = scanned.iter().map(|name| format!("{name}s")).collect();
    let decay = if decays { "factor = Exp (decay_column) kept = Mul (previous, factor)" } else { "kept = Identity (previous)" };
    let update = match corrects {
        true => {
            "key_row = Transpose <perm: ints = [0, 1, 3, 2]> (key_column)
             found = MatMul (key_row, kept)
             difference = Sub (value_row, found)
             written = Mul (rate, difference)"
        }
        false => "written = Identity (value_row)",
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
        scanned.join(", "),
        inputs.join(", ")
    );
    Ok(fill(&body, &[("dtype", &dtype), ("key_heads", &key_heads.to_string()), ("query_heads", &query_heads.to_string())]))
}
