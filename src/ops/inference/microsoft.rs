//! Infers the outputs of operators of com.microsoft, which optimized models of onnxruntime have.

use super::known::{Dim, Dims, Fact, UNKNOWN};
use super::length::Length;
use super::shape::multiplied;
use crate::elements::dtype::DType;
use crate::graph::{Attribute, Model, NodeId};
use crate::ops::schemas::ValueType;
use crate::ops::schemas::microsoft::{Signature, signature};
use crate::protobuf::schema::NodeProto;

/// A node of com.microsoft with the known facts of its inputs.
pub(super) struct Call<'a> {
    pub model: &'a Model,
    pub id: NodeId,
    pub node: &'a NodeProto,
    /// By index; an omitted input is unknown.
    pub inputs: Vec<&'a Fact>,
}

/// The types of a node's outputs, and the shapes that follow from the inputs.
pub(super) fn outputs(call: &Call) -> (Vec<Option<ValueType>>, Vec<Option<Dims>>) {
    let Some(signature) = signature(call.node.op_type()) else { return (Vec::new(), Vec::new()) };
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

/// The shapes of outputs that follow from the inputs; shorter than the outputs if the rest is unknown.
fn shapes(call: &Call) -> Vec<Option<Dims>> {
    let shape = |index: usize| call.input(index).shape.clone();
    match call.node.op_type() {
        "BiasAdd" | "BiasGelu" | "BiasSoftmax" | "DequantizeLinear" | "FastGelu" | "Gelu" | "GroupNorm" | "Inverse" | "MoE"
        | "QLinearLeakyRelu" | "QLinearSigmoid" | "QLinearSoftmax" | "QMoE" | "QuantizeLinear" | "QuickGelu"
        | "RotaryEmbedding" | "Trilu" => vec![shape(0)],
        "BiasDropout" => vec![shape(0), shape(0)],
        "SkipGroupNorm" => vec![shape(0), shape(0)],
        "SkipLayerNormalization" | "SkipSimplifiedLayerNormalization" => vec![shape(0), None, None, shape(0)],
        "FusedGemm" => vec![gemm(call)],
        "FusedMatMul" | "FusedMatMulActivation" | "TransposeMatMul" => vec![fused_matmul(call)],
        "DynamicQuantizeMatMul" | "MatMulInteger16" | "MatMulIntegerToFloat" => vec![product(shape(0), shape(1))],
        "MatMulBnb4" | "MatMulNBits" => vec![with_last(shape(0), call.int("N").map(Length::Size))],
        "QLinearAdd" | "QLinearMul" => vec![crate::ops::inference::shape::broadcast_known(call.input(0), call.input(3))],
        "EmbedLayerNormalization" => embedding(call),
        "Attention" => vec![with_last(shape(0), attention_width(call, 1)), Some(vec![None; 5])],
        "QAttention" => vec![with_last(shape(0), third(call, 1)), Some(vec![None; 5])],
        "MultiHeadAttention" => vec![multi_head(call), Some(vec![None; 4]), Some(vec![None; 4])],
        "GroupQueryAttention" => vec![group_query(call), Some(vec![None; 4]), Some(vec![None; 4])],
        _ => Vec::new(),
    }
}

impl<'a> Call<'a> {
    fn input(&self, index: usize) -> &'a Fact {
        self.inputs.get(index).copied().unwrap_or(&UNKNOWN)
    }

    fn has_input(&self, index: usize) -> bool {
        self.node.input.get(index).is_some_and(|name| !name.is_empty())
    }

    fn dim(&self, input: usize, axis: usize) -> Dim {
        self.input(input).shape.as_ref().and_then(|shape| shape.get(axis).copied().flatten())
    }

    fn int(&self, name: &str) -> Option<i64> {
        match self.model.attribute(self.id, name) {
            Attribute::Is(attribute) => attribute.i,
            Attribute::Absent | Attribute::Unclear => None,
        }
    }

    /// Whether a flag is set, which is 0 by default; `None` if the callers of the function disagree.
    fn flag(&self, name: &str) -> Option<bool> {
        match self.model.attribute(self.id, name) {
            Attribute::Absent => Some(false),
            Attribute::Is(attribute) => Some(attribute.i() != 0),
            Attribute::Unclear => None,
        }
    }
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
    let dim = |input: usize, transposed: &str, axis: usize| match call.flag(transposed) {
        Some(is_transposed) => call.dim(input, if is_transposed { 1 - axis } else { axis }),
        None => None,
    };
    Some(vec![dim(0, "transA", 0), dim(1, "transB", 1)])
}

/// The last two axes may be exchanged; vectors are not.
fn fused_matmul(call: &Call) -> Option<Dims> {
    if call.flag("transBatchA")? || call.flag("transBatchB")? {
        return None;
    }
    let operand = |index: usize, transposed: &str| {
        let mut shape = call.input(index).shape.clone()?;
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
    let ids = call.input(0).shape.clone().unwrap_or_else(|| vec![None, None]);
    let embedded = (ids.len() == 2).then(|| vec![ids[0], ids[1], call.dim(2, 1)]);
    vec![embedded.clone(), (ids.len() == 2).then(|| vec![ids[0]]), embedded]
}

/// The width of the values: of the last third of the projection, unless the thirds have different widths.
fn attention_width(call: &Call, weights: usize) -> Dim {
    match call.model.attribute(call.id, "qkv_hidden_sizes") {
        Attribute::Absent => third(call, weights),
        Attribute::Is(sizes) => sizes.ints.get(2).copied().map(Length::Size),
        Attribute::Unclear => None,
    }
}

fn third(call: &Call, weights: usize) -> Dim {
    let width = call.dim(weights, 1)?.size().filter(|width| width % 3 == 0)?;
    Some(Length::Size(width / 3))
}

/// Queries of rank 3, or packed with keys and values; values of rank 3, packed with keys, or from another attention.
fn multi_head(call: &Call) -> Option<Dims> {
    let query = call.input(0).shape.as_deref()?;
    let width = match call.input(2).shape.as_deref() {
        Some([_, _, width]) => *width,
        Some([_, heads, _, size]) => times(*heads, *size),
        _ => None,
    };
    match query {
        [batch, length, _] => Some(vec![*batch, *length, width]),
        [batch, length, heads, _, size] => Some(vec![*batch, *length, times(*heads, *size)]),
        _ => None,
    }
}

fn times(left: Dim, right: Dim) -> Dim {
    left.zip(right).and_then(|(left, right)| left.checked_mul(right))
}

/// As wide as the queries, unless keys and values are packed with them.
fn group_query(call: &Call) -> Option<Dims> {
    let width = match call.has_input(1) {
        true => call.dim(0, 2),
        false => call.dim(0, 2).zip(call.int("num_heads")).zip(call.int("kv_num_heads")).and_then(|((width, heads), others)| {
            let width = width.size()?;
            let all = others.checked_mul(2)?.checked_add(heads).filter(|&all| all > 0 && width % all == 0)?;
            (width / all).checked_mul(heads).map(Length::Size)
        }),
    };
    let query = call.input(0).shape.clone().filter(|query| query.len() == 3);
    with_last(query, width)
}
