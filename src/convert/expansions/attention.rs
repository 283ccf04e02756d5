//! `Attention`: scaled dot products of queries and keys, soft cap, mask, softmax, and the product
//! with the values.
//!
//! A query whose keys are all masked gives zeros. Masked scores are negative infinity.

use super::{Expansion, by_definition, fill, list, number, type_name};
use crate::convert::context::Context;
use crate::convert::reason::{
    AttributeUnsupported, NodeInvalid, Reason, ShapeUnsupported, TypeUnsupported,
};
use onnx_cast::DType;

pub(super) const EXPANSIONS: &[Expansion] = &[
    by_definition("Attention", 23, attention),
    by_definition("Attention", 24, attention),
    by_definition("Attention", 25, attention),
];

/// Indices of the inputs.
const MASK: usize = 3;
const PAST_KEY: usize = 4;
const PAST_VALUE: usize = 5;
const VALID_KEYS: usize = 6;

fn attention(cx: &Context) -> Result<String, Reason> {
    let (dtype, rank) = (cx.dtype(0)?, cx.rank(0)?);
    for other in [1, 2] {
        if cx.dtype(other)? != dtype {
            return Err(Reason::new(
                TypeUnsupported,
                "Q, K and V must have the same type",
            ));
        }
    }
    let heads = Heads::of(cx, rank)?;
    let mut body = "
        zero_index = Constant <value = int64[1] {0}> ()
        one_index = Constant <value = int64[1] {1}> ()
        two_index = Constant <value = int64[1] {2}> ()
        three_index = Constant <value = int64[1] {3}> ()
        minus_one = Constant <value = int64[1] {-1}> ()\n"
        .to_owned();
    body += if rank == 4 {
        "q = Identity (Q) k = Identity (K) v = Identity (V)\n"
    } else {
        SPLIT_HEADS
    };
    for (past, name, new) in [(PAST_KEY, "key", "k"), (PAST_VALUE, "value", "v")] {
        body += &match cx.input(past) {
            Some(_) => format!("present_{name} = Concat <axis: int = 2> (past_{name}, {new})\n"),
            None => format!("present_{name} = Identity ({new})\n"),
        };
    }
    body += if heads.query.is_some() && heads.query == heads.key {
        "k_heads = Identity (present_key) v_heads = Identity (present_value)\n"
    } else {
        REPEAT_HEADS
    };
    body += &scale(cx, &heads)?;
    body += "
        q_scaled = Mul (q, scale_sqrt)
        k_turned = Transpose <perm: ints = [0, 1, 3, 2]> (k_heads)
        k_scaled = Mul (k_turned, scale_sqrt)
        scores = MatMul (q_scaled, k_scaled)\n";
    body += &soft_cap(cx)?;
    let bias = bias(cx, dtype)?;
    body += &bias;
    let is_masked = !bias.is_empty();
    body += if is_masked {
        "biased = Add (capped, bias)\n"
    } else {
        "biased = Identity (capped)\n"
    };
    let precision = cx
        .int("softmax_precision")?
        .unwrap_or_else(|| dtype.number().into());
    body += if precision == i64::from(dtype.number()) {
        "softmax = Softmax <axis: int = -1> (biased)\n"
    } else {
        "biased_precise = Cast <to = $precision> (biased)
             softmax_precise = Softmax <axis: int = -1> (biased_precise)
             softmax = Cast <to = $type_number> (softmax_precise)\n"
    };
    body += if is_masked {
        "is_hidden = Equal (bias, minus_infinity)
             hidden = Cast <to = 6> (is_hidden)
             least_hidden = ReduceMin <keepdims: int = 1> (hidden, minus_one)
             all_masked = Cast <to = 9> (least_hidden)
             weights = Where (all_masked, zero, softmax)\n"
    } else {
        "weights = Identity (softmax)\n"
    };
    body += match cx.int_or("qk_matmul_output_mode", 0)? {
        0 => "qk_matmul_output = Identity (scores)\n",
        1 => "qk_matmul_output = Identity (capped)\n",
        2 => "qk_matmul_output = Identity (biased)\n",
        3 => "qk_matmul_output = Identity (weights)\n",
        other => {
            return Err(Reason::new(
                AttributeUnsupported,
                format!("unknown `qk_matmul_output_mode` = {other}"),
            ));
        }
    };
    body += match rank {
        4 => "Y = MatMul (weights, v_heads)",
        _ => {
            "attended = MatMul (weights, v_heads)
             by_position = Transpose <perm: ints = [0, 2, 1, 3]> (attended)
             joined_shape = Constant <value = int64[3] {0, 0, -1}> ()
             Y = Reshape (by_position, joined_shape)"
        }
    };
    Ok(fill(
        &body,
        &[
            ("T", &type_name(dtype)),
            ("type_number", &dtype.number()),
            ("precision", &precision),
            ("query_heads", &heads.query.unwrap_or(0)),
            ("key_heads", &heads.key.unwrap_or(0)),
        ],
    ))
}

/// How many heads there are, as far as it is known.
struct Heads {
    query: Option<i64>,
    key: Option<i64>,
    /// The width of a head of queries and keys.
    size: Option<i64>,
}

impl Heads {
    fn of(cx: &Context, rank: usize) -> Result<Heads, Reason> {
        match rank {
            4 => Ok(Heads {
                query: cx.dim(0, 1),
                key: cx.dim(1, 1),
                size: cx.dim(0, 3),
            }),
            3 => {
                let missing = || {
                    Reason::new(
                        NodeInvalid,
                        "`q_num_heads` and `kv_num_heads` are required for inputs of rank 3",
                    )
                };
                let positive =
                    |name: &str| cx.int(name)?.filter(|&heads| heads > 0).ok_or_else(missing);
                let (query, key) = (positive("q_num_heads")?, positive("kv_num_heads")?);
                Ok(Heads {
                    query: Some(query),
                    key: Some(key),
                    size: cx.dim(0, 2).map(|width| width / query),
                })
            }
            _ => Err(Reason::new(
                ShapeUnsupported,
                format!("Q must have rank 3 or 4, not {rank}"),
            )),
        }
    }
}

/// `q`, `k` and `v` with an axis for the heads in front of that for positions.
const SPLIT_HEADS: &str = "
    q_shape = Constant <value = int64[4] {0, 0, $query_heads, -1}> ()
    k_shape = Constant <value = int64[4] {0, 0, $key_heads, -1}> ()
    q_split = Reshape (Q, q_shape)
    k_split = Reshape (K, k_shape)
    v_split = Reshape (V, k_shape)
    q = Transpose <perm: ints = [0, 2, 1, 3]> (q_split)
    k = Transpose <perm: ints = [0, 2, 1, 3]> (k_split)
    v = Transpose <perm: ints = [0, 2, 1, 3]> (v_split)\n";

/// `k_heads` and `v_heads`: each head of keys and values serves a group of heads of queries.
const REPEAT_HEADS: &str = "
    q_dims = Shape (q)
    k_dims = Shape (present_key)
    v_dims = Shape (present_value)
    q_head_count = Gather (q_dims, one_index)
    k_head_count = Gather (k_dims, one_index)
    group = Div (q_head_count, k_head_count)
    expanded = Concat <axis: int = 0> (one_index, one_index, group, one_index, one_index)
    k_width = Gather (k_dims, three_index)
    v_width = Gather (v_dims, three_index)
    k_column = Unsqueeze (present_key, two_index)
    v_column = Unsqueeze (present_value, two_index)
    k_groups = Expand (k_column, expanded)
    v_groups = Expand (v_column, expanded)
    k_heads_shape = Concat <axis: int = 0> (zero_index, q_head_count, minus_one, k_width)
    v_heads_shape = Concat <axis: int = 0> (zero_index, q_head_count, minus_one, v_width)
    k_heads = Reshape (k_groups, k_heads_shape)
    v_heads = Reshape (v_groups, v_heads_shape)\n";

/// The square root of the scale, by which queries and keys are multiplied.
fn scale(cx: &Context, heads: &Heads) -> Result<String, Reason> {
    let known = match (cx.float("scale")?, heads.size) {
        (Some(scale), _) => Some(scale),
        (None, Some(size)) => Some(1.0 / (size as f32).sqrt()),
        (None, None) => None,
    };
    Ok(match known {
        Some(scale) => format!(
            "scale_sqrt = Constant <value = $T {{{}}}> ()\n",
            number(scale.sqrt())
        ),
        None => "
            q_size_dims = Shape (q)
            q_size = Gather (q_size_dims, three_index)
            q_size_float = Cast <to = 1> (q_size)
            q_size_sqrt = Sqrt (q_size_float)
            scale_float = Reciprocal (q_size_sqrt)
            scale_sqrt_float = Sqrt (scale_float)
            scale_sqrt = Cast <to = $type_number> (scale_sqrt_float)\n"
            .to_owned(),
    })
}

fn soft_cap(cx: &Context) -> Result<String, Reason> {
    Ok(match cx.float("softcap")?.unwrap_or(0.0) {
        0.0 => "capped = Identity (scores)\n".to_owned(),
        cap => format!(
            "cap = Constant <value = $T {{{}}}> ()
             scores_by_cap = Div (scores, cap)
             scores_tanh = Tanh (scores_by_cap)
             capped = Mul (scores_tanh, cap)\n",
            number(cap)
        ),
    })
}

/// `bias`, which is added to the scores; nothing if all keys are visible.
fn bias(cx: &Context, dtype: DType) -> Result<String, Reason> {
    let mut body = String::new();
    let mut parts = Vec::new();
    if cx.input(MASK).is_some() {
        body += &mask(cx, dtype)?;
        parts.push("mask_bias".to_owned());
    }
    let (left, right) = (
        cx.int_or("left_window_size", -1)?,
        cx.int_or("right_window_size", -1)?,
    );
    let is_causal = cx.int_or("is_causal", 0)? != 0;
    if is_causal || left >= 0 || right >= 0 {
        body += &positions(cx);
        for (is_limited, name, limit, compare) in [
            (is_causal, "causal", 0, "Greater"),
            (left >= 0, "left", -left, "Less"),
            (right >= 0, "right", right, "Greater"),
        ] {
            if is_limited {
                body += &fill(
                    "$name_limit = Constant <value = int64 {$limit}> ()
                     $name_masked = $compare (distance, $name_limit)
                     $name_bias = Where ($name_masked, minus_infinity, zero)\n",
                    &[("name", &name), ("limit", &limit), ("compare", &compare)],
                );
                parts.push(format!("{name}_bias"));
            }
        }
    }
    if cx.input(VALID_KEYS).is_some() {
        body += "
            padding_dims = Shape (present_key)
            padding_axis = Constant <value = int64 {2}> ()
            padding_keys = Gather (padding_dims, padding_axis)
            padding_first = Constant <value = int64 {0}> ()
            padding_step = Constant <value = int64 {1}> ()
            padding_index = Range (padding_first, padding_keys, padding_step)
            padding_axes = Constant <value = int64[3] {1, 2, 3}> ()
            padding_valid = Unsqueeze (nonpad_kv_seqlen, padding_axes)
            padding_is_valid = Less (padding_index, padding_valid)
            padding_bias = Where (padding_is_valid, zero, minus_infinity)\n";
        parts.push("padding_bias".to_owned());
    }
    let Some((first, others)) = parts.split_first() else {
        return Ok(body);
    };
    let mut sum = first.clone();
    for (index, part) in others.iter().enumerate() {
        body += &format!("bias_{index} = Add ({sum}, {part})\n");
        sum = format!("bias_{index}");
    }
    let constants =
        "zero = Constant <value = $T {0}> () minus_infinity = Constant <value = $T {-inf}> ()\n";
    Ok(format!("{constants}{body}bias = Identity ({sum})\n"))
}

/// `mask_bias`: zero where a mask of type bool is true; since version 24 it may be shorter than the
/// keys.
fn mask(cx: &Context, dtype: DType) -> Result<String, Reason> {
    let mut body = match cx.dtype(MASK)? {
        DType::Bool => "mask_short = Where (attn_mask, zero, minus_infinity)\n".to_owned(),
        mask if mask == dtype => "mask_short = Identity (attn_mask)\n".to_owned(),
        mask => {
            return Err(Reason::new(
                TypeUnsupported,
                format!("the mask has type {mask}, which is neither BOOL nor that of Q"),
            ));
        }
    };
    let mask_keys = cx.last_dim(MASK);
    let is_padded =
        cx.schema.since_version >= 24 && (mask_keys.is_none() || mask_keys != total_keys(cx));
    body += if is_padded {
        "mask_dims = Shape (mask_short)
             mask_keys = Gather (mask_dims, minus_one)
             total_dims = Shape (present_key)
             total_keys = Gather (total_dims, two_index)
             missing_keys = Sub (total_keys, mask_keys)
             no_pads = Constant <value = int64[$count] {$zeros}> ()
             mask_pads = Concat <axis: int = 0> (no_pads, missing_keys)
             mask_bias = Pad (mask_short, mask_pads, minus_infinity)\n"
    } else {
        "mask_bias = Identity (mask_short)\n"
    };
    // Before and after all axes, except after the last one.
    let count = if is_padded {
        (2 * cx.rank(MASK)?).saturating_sub(1)
    } else {
        0
    };
    Ok(fill(
        &body,
        &[("count", &count), ("zeros", &list(vec![0; count]))],
    ))
}

/// The number of past and present keys, if it is known.
fn total_keys(cx: &Context) -> Option<i64> {
    let length = |input: usize| cx.dim(input, cx.known_input(input).rank()?.checked_sub(2)?);
    let past = if cx.input(PAST_KEY).is_some() {
        length(PAST_KEY)?
    } else {
        0
    };
    length(1)?.checked_add(past)
}

/// `distance`: how far each key lies behind each query, in tokens.
fn positions(cx: &Context) -> String {
    let mut body = "
        position_axis = Constant <value = int64 {2}> ()
        first = Constant <value = int64 {0}> ()
        step = Constant <value = int64 {1}> ()
        position_q_dims = Shape (q)
        position_k_dims = Shape (present_key)
        q_length = Gather (position_q_dims, position_axis)
        k_length = Gather (position_k_dims, position_axis)
        q_range = Range (first, q_length, step)
        k_position = Range (first, k_length, step)
        q_column = Unsqueeze (q_range, one_index)\n"
        .to_owned();
    body += match (cx.input(VALID_KEYS), cx.input(PAST_KEY)) {
        (Some(_), None) => {
            "offset_axes = Constant <value = int64[3] {1, 2, 3}> ()
             offset = Sub (nonpad_kv_seqlen, q_length)
             offset_column = Unsqueeze (offset, offset_axes)
             q_position = Add (q_column, offset_column)\n"
        }
        (_, Some(_)) => {
            "past_dims = Shape (past_key)
             past_length = Gather (past_dims, position_axis)
             q_position = Add (q_column, past_length)\n"
        }
        (None, None) => "q_position = Identity (q_column)\n",
    };
    body + "distance = Sub (k_position, q_position)\n"
}
