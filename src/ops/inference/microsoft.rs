//! Infers the outputs of operators of com.microsoft, which optimized models of onnxruntime have.

use super::known::{Dim, Dims};
use super::length::Length;
use super::shape::{broadcast_known, multiplied};
use super::view::Call;
use crate::ops::schemas::ValueType;
use crate::ops::schemas::microsoft::{Signature, signature};
use onnx_cast::DType;

/// The types of a node's outputs, and the shapes that follow from the inputs.
pub(super) fn outputs(call: &Call) -> (Vec<Option<ValueType>>, Vec<Option<Dims>>) {
    let Some(signature) = signature(call.node.op_type()) else {
        return (Vec::new(), Vec::new());
    };
    let types = (0..call.node.output.len()).map(|index| output_type(call, signature, index));
    (types.collect(), shapes(call))
}

fn output_type(call: &Call, signature: &Signature, index: usize) -> Option<ValueType> {
    match call.node.op_type() {
        // Without a zero point.
        "QuantizeLinear" if !call.has_input(2) => Some(ValueType::Tensor(DType::Uint8)),
        _ => signature.output_type(index, |input| call.input(input).value_type),
    }
}

/// The shapes of outputs that follow from the inputs; shorter than the outputs if the rest is
/// unknown.
fn shapes(call: &Call) -> Vec<Option<Dims>> {
    let shape = |index: usize| call.shape(index).cloned();
    match call.node.op_type() {
        "BiasAdd" | "BiasGelu" | "BiasSoftmax" | "DequantizeLinear" | "FastGelu" | "Gelu"
        | "GroupNorm" | "Inverse" | "MoE" | "QLinearLeakyRelu" | "QLinearSigmoid"
        | "QLinearSoftmax" | "QMoE" | "QuantizeLinear" | "QuickGelu" | "RotaryEmbedding"
        | "Trilu" => vec![shape(0)],
        "BiasDropout" | "SkipGroupNorm" => vec![shape(0), shape(0)],
        "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization" => {
            vec![shape(0), None, None, shape(0)]
        }
        "FusedGemm" => vec![gemm(call)],
        "FusedMatMul" | "FusedMatMulActivation" | "TransposeMatMul" => vec![fused_matmul(call)],
        "DynamicQuantizeMatMul" | "MatMulInteger16" | "MatMulIntegerToFloat" => {
            vec![product(shape(0), shape(1))]
        }
        "MatMulBnb4" | "MatMulNBits" => vec![with_last(shape(0), int(call, "N").map(Length::Size))],
        "QLinearAdd" | "QLinearMul" => vec![broadcast_known(call.input(0), call.input(3))],
        "EmbedLayerNormalization" => embedding(call),
        "Attention" => vec![
            with_last(shape(0), attention_width(call, 1)),
            Some(vec![None; 5]),
        ],
        "QAttention" => vec![with_last(shape(0), third(call, 1)), Some(vec![None; 5])],
        "MultiHeadAttention" => vec![multi_head(call), Some(vec![None; 4]), Some(vec![None; 4])],
        "GroupQueryAttention" => vec![group_query(call), Some(vec![None; 4]), Some(vec![None; 4])],
        _ => Vec::new(),
    }
}

/// An integer attribute that has no default.
fn int(call: &Call, name: &str) -> Option<i64> {
    call.attribute(name)??.i
}

fn product(left: Option<Dims>, right: Option<Dims>) -> Option<Dims> {
    multiplied(&left?, &right?)
}

/// A shape with another length of the last axis.
fn with_last(shape: Option<Dims>, length: Dim) -> Option<Dims> {
    let mut shape = shape?;
    *shape.last_mut()? = length;
    Some(shape)
}

fn gemm(call: &Call) -> Option<Dims> {
    let dim = |input: usize, transposed: &str, axis: usize| {
        call.dim(
            input,
            if call.flag(transposed)? {
                1 - axis
            } else {
                axis
            },
        )
    };
    Some(vec![dim(0, "transA", 0), dim(1, "transB", 1)])
}

/// The last two axes may be exchanged; vectors are not.
fn fused_matmul(call: &Call) -> Option<Dims> {
    if call.flag("transBatchA")? || call.flag("transBatchB")? {
        return None;
    }
    let operand = |index: usize, transposed: &str| {
        let mut shape = call.shape(index)?.clone();
        let rank = shape.len();
        if call.flag(transposed)? && rank > 1 {
            shape.swap(rank - 2, rank - 1);
        }
        Some(shape)
    };
    product(operand(0, "transA"), operand(1, "transB"))
}

/// Ids of a batch of sequences; the width is that of the table of words.
fn embedding(call: &Call) -> Vec<Option<Dims>> {
    let ids = call.shape(0).cloned().unwrap_or_else(|| vec![None, None]);
    let embedded = (ids.len() == 2).then(|| vec![ids[0], ids[1], call.dim(2, 1)]);
    vec![
        embedded.clone(),
        (ids.len() == 2).then(|| vec![ids[0]]),
        embedded,
    ]
}

/// The width of the values: of the last third of the projection, unless the thirds have different
/// widths.
fn attention_width(call: &Call, weights: usize) -> Dim {
    match call.attribute("qkv_hidden_sizes") {
        None => third(call, weights),
        Some(sizes) => sizes?.ints.get(2).copied().map(Length::Size),
    }
}

fn third(call: &Call, weights: usize) -> Dim {
    let width = call
        .dim(weights, 1)?
        .size()
        .filter(|width| width % 3 == 0)?;
    Some(Length::Size(width / 3))
}

/// Queries of rank 3, or packed with keys and values; values of rank 3, packed with keys, or from
/// another attention.
fn multi_head(call: &Call) -> Option<Dims> {
    let width = match call.shape(2).map(Vec::as_slice) {
        Some([_, _, width]) => *width,
        Some([_, heads, _, size]) => times(*heads, *size),
        _ => None,
    };
    match call.shape(0)?.as_slice() {
        [batch, length, _] => Some(vec![*batch, *length, width]),
        [batch, length, heads, _, size] => Some(vec![*batch, *length, times(*heads, *size)]),
        _ => None,
    }
}

fn times(left: Dim, right: Dim) -> Dim {
    left.zip(right)
        .and_then(|(left, right)| left.checked_mul(right))
}

/// As wide as the queries, unless keys and values are packed with them.
fn group_query(call: &Call) -> Option<Dims> {
    let width = if call.has_input(1) {
        call.dim(0, 2)
    } else {
        call.dim(0, 2)
            .zip(int(call, "num_heads"))
            .zip(int(call, "kv_num_heads"))
            .and_then(|((width, heads), others)| {
                let width = width.size()?;
                let all = others
                    .checked_mul(2)?
                    .checked_add(heads)
                    .filter(|&all| all > 0 && width % all == 0)?;
                (width / all).checked_mul(heads).map(Length::Size)
            })
    };
    let query = call.shape(0).cloned().filter(|query| query.len() == 3);
    with_last(query, width)
}
