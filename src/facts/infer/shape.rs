//! Infers the shapes of a node's outputs, for operators with a simple rule. An adapter that requires an unknown shape reports
//! that; no rule here guesses.

use super::known::{Dim, Known, Shape, is_kept};
use super::view::View;
use crate::dtype::DType;
use crate::graph::ConstantValue;
use crate::tensor::{Tensor, Values};
use crate::wire::schema::TensorProto;

/// The shapes of a node's outputs that follow from its inputs; shorter than the outputs if the rest is unknown.
pub(super) fn output_shapes(view: &View) -> Vec<Option<Shape>> {
    if !view.schema.domain.is_empty() {
        return Vec::new();
    }
    match view.schema.name {
        name if KEEPS_SHAPE.contains(&name) => vec![view.shape(0).cloned()],
        name if BROADCASTS.contains(&name) => vec![elementwise(view)],
        name if KEEPS_RANK.contains(&name) => vec![view.input(0).rank().map(|rank| vec![None; rank])],
        "BatchNormalization" | "Dropout" | "LayerNormalization" => vec![view.shape(0).cloned()],
        "MaxPool" => vec![pooled(view.input(0)); 2],
        "AveragePool" | "LpPool" | "GlobalAveragePool" | "GlobalMaxPool" | "GlobalLpPool" => vec![pooled(view.input(0))],
        "Conv" | "ConvTranspose" | "ConvInteger" => vec![convolved(view)],
        "Constant" => vec![constant(view)],
        "Shape" => vec![Some(vec![view.input(0).rank().filter(|_| view.node.attribute.is_empty()).and_then(size)])],
        "Size" => vec![Some(Vec::new())],
        "Flatten" => vec![flattened(view)],
        "Gemm" => vec![Some(vec![None, None])],
        "Transpose" => vec![transposed(view)],
        "Reshape" => vec![reshaped(view)],
        "Concat" => vec![concatenated(view)],
        "Split" => vec![split(view); view.node.output.len()],
        "MatMul" => vec![multiplied(view)],
        "Unsqueeze" | "Squeeze" => vec![squeezed(view)],
        name if name.starts_with("Reduce") => vec![reduced(view)],
        "ArgMax" | "ArgMin" => vec![arg_reduced(view)],
        "Gather" => vec![gathered(view)],
        _ => Vec::new(),
    }
}

/// One output with the shape of the first input.
const KEEPS_SHAPE: [&str; 60] = [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BitwiseNot",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "CumSum",
    "DequantizeLinear",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "InstanceNormalization",
    "GroupNormalization",
    "IsInf",
    "IsNaN",
    "LRN",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "LpNormalization",
    "MeanVarianceNormalization",
    "Mish",
    "Neg",
    "Not",
    "PRelu",
    "QuantizeLinear",
    "RMSNormalization",
    "Reciprocal",
    "Relu",
    "RotaryEmbedding",
    "Round",
    "ScatterElements",
    "ScatterND",
    "Selu",
    "Shrink",
    "Sigmoid",
    "Sign",
    "Sin",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Swish",
    "Tanh",
    "Trilu",
];

/// One output with the shape to which the inputs broadcast.
const BROADCASTS: [&str; 23] = [
    "Add",
    "And",
    "BitShift",
    "BitwiseAnd",
    "BitwiseOr",
    "BitwiseXor",
    "Div",
    "Equal",
    "Greater",
    "GreaterOrEqual",
    "Less",
    "LessOrEqual",
    "Max",
    "Mean",
    "Min",
    "Mod",
    "Mul",
    "Or",
    "Pow",
    "Sub",
    "Sum",
    "Where",
    "Xor",
];

/// One output with the rank of the first input.
const KEEPS_RANK: [&str; 9] =
    ["Attention", "CenterCropPad", "Pad", "Resize", "Upsample", "Slice", "Tile", "DepthToSpace", "SpaceToDepth"];

fn size(length: usize) -> Dim {
    i64::try_from(length).ok()
}

/// `axis` as a non-negative index.
fn from_front(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis + rank } else { axis };
    usize::try_from(axis).ok().filter(|_| axis < rank)
}

fn elementwise(view: &View) -> Option<Shape> {
    // Before opset 7 the second operand was broadcast to the shape of the first.
    if view.schema.attribute("broadcast").is_some() {
        return view.shape(0).cloned();
    }
    let (first, others) = view.inputs.split_first()?;
    others.iter().try_fold(first.shape.clone()?, |shape, other| Some(broadcast(&shape, other.shape.as_ref()?)))
}

/// The shape to which two shapes broadcast.
fn broadcast(left: &[Dim], right: &[Dim]) -> Shape {
    let rank = left.len().max(right.len());
    let dim = |shape: &[Dim], index: usize| (index + shape.len()).checked_sub(rank).map_or(Some(1), |index| shape[index]);
    let join = |index| match (dim(left, index), dim(right, index)) {
        (Some(1), other) | (other, Some(1)) => other,
        (Some(size), _) | (_, Some(size)) => Some(size),
        (None, None) => None,
    };
    (0..rank).map(join).collect()
}

fn pooled(input: &Known) -> Option<Shape> {
    let shape = input.shape.as_ref()?;
    Some(shape.iter().take(2).copied().chain(shape.iter().skip(2).map(|_| None)).collect())
}

fn convolved(view: &View) -> Option<Shape> {
    let rank = view.input(0).rank().or(view.input(1).rank())?;
    let batch = view.shape(0).and_then(|shape| shape.first().copied().flatten());
    let features = match view.schema.name {
        "ConvTranspose" => None,
        _ => view.shape(1).and_then(|shape| shape.first().copied().flatten()),
    };
    Some([batch, features].into_iter().chain(std::iter::repeat(None)).take(rank).collect())
}

fn constant(view: &View) -> Option<Shape> {
    let dims = ConstantValue::of_node(view.node).ok()?.dims()?;
    is_kept(dims.len()).then(|| dims.into_iter().map(Some).collect())
}

fn flattened(view: &View) -> Option<Shape> {
    let split = |shape: &Shape| {
        let axis = view.int_or("axis", 1)?;
        let axis = if axis == i64::try_from(shape.len()).ok()? { shape.len() } else { from_front(axis, shape.len())? };
        let product = |dims: &[Dim]| dims.iter().copied().try_fold(1, |product: i64, dim| product.checked_mul(dim?));
        Some(vec![product(&shape[..axis]), product(&shape[axis..])])
    };
    view.shape(0).and_then(split).or(Some(vec![None, None]))
}

fn transposed(view: &View) -> Option<Shape> {
    let shape = view.shape(0)?;
    match view.attribute("perm") {
        None => Some(shape.iter().rev().copied().collect()),
        Some(perm) if perm?.ints.len() != shape.len() => None,
        Some(perm) => perm?.ints.iter().map(|&axis| from_front(axis, shape.len()).map(|axis| shape[axis])).collect(),
    }
}

fn reshaped(view: &View) -> Option<Shape> {
    let target = match view.schema.since_version {
        1 => view.ints("shape").filter(|shape| is_kept(shape.len()))?.to_vec(),
        _ => constant_ints(view, 1)?,
    };
    Some(target.into_iter().map(|dim| (dim > 0).then_some(dim)).collect())
}

fn concatenated(view: &View) -> Option<Shape> {
    let mut shape = view.inputs.iter().find_map(|input| input.shape.clone())?;
    let axis = from_front(view.int_or("axis", 1)?, shape.len());
    for (index, dim) in shape.iter_mut().enumerate() {
        let dims: Option<Vec<Dim>> = view.inputs.iter().map(|input| input.shape.as_ref()?.get(index).copied()).collect();
        *dim = match dims {
            Some(dims) if Some(index) == axis => dims.into_iter().try_fold(0, |sum: i64, dim| sum.checked_add(dim?)),
            Some(dims) if axis.is_some() => dims.into_iter().flatten().next(),
            _ => None,
        };
    }
    Some(shape)
}

fn split(view: &View) -> Option<Shape> {
    let mut shape = view.shape(0)?.clone();
    let axis = from_front(view.int_or("axis", 0)?, shape.len())?;
    shape[axis] = None;
    Some(shape)
}

fn multiplied(view: &View) -> Option<Shape> {
    let (left, right) = (view.shape(0)?, view.shape(1)?);
    if left.len() < 2 || right.len() < 2 {
        return None;
    }
    let mut shape = broadcast(&left[..left.len() - 2], &right[..right.len() - 2]);
    shape.extend([left[left.len() - 2], right[right.len() - 1]]);
    Some(shape)
}

fn axes(view: &View) -> Option<Vec<i64>> {
    match view.schema.attribute("axes") {
        Some(_) => view.ints("axes").filter(|axes| is_kept(axes.len())).map(<[i64]>::to_vec),
        None => constant_ints(view, 1),
    }
}

fn squeezed(view: &View) -> Option<Shape> {
    let shape = view.shape(0)?;
    let axes = axes(view)?;
    let grows = view.schema.name == "Unsqueeze";
    let rank = if grows { shape.len() + axes.len() } else { shape.len() };
    let axes: Vec<usize> = axes.into_iter().map(|axis| from_front(axis, rank)).collect::<Option<_>>()?;
    if grows {
        let mut old = shape.iter().copied();
        return (0..rank).map(|index| if axes.contains(&index) { Some(Some(1)) } else { old.next() }).collect();
    }
    Some((0..rank).filter(|index| !axes.contains(index)).map(|index| shape[index]).collect())
}

fn reduced(view: &View) -> Option<Shape> {
    let shape = view.shape(0)?;
    let keeps = view.int_or("keepdims", 1)? != 0;
    let given = view.has_input(1) || view.attribute("axes").is_some();
    let axes: Vec<usize> = match axes(view) {
        Some(axes) if !axes.is_empty() => axes.into_iter().map(|axis| from_front(axis, shape.len())).collect::<Option<_>>()?,
        None if !given && view.int_or("noop_with_empty_axes", 0)? == 0 => (0..shape.len()).collect(),
        _ if keeps => return Some(vec![None; shape.len()]),
        _ => return None,
    };
    without_axes(shape, &axes, keeps)
}

fn without_axes(shape: &Shape, axes: &[usize], keeps: bool) -> Option<Shape> {
    let dim = |index: usize| match axes.contains(&index) {
        false => Some(shape[index]),
        true => keeps.then_some(Some(1)),
    };
    Some((0..shape.len()).filter_map(dim).collect())
}

fn arg_reduced(view: &View) -> Option<Shape> {
    let shape = view.shape(0)?;
    let axis = from_front(view.int_or("axis", 0)?, shape.len())?;
    without_axes(shape, &[axis], view.int_or("keepdims", 1)? != 0)
}

fn gathered(view: &View) -> Option<Shape> {
    let (data, indices) = (view.shape(0)?, view.shape(1)?);
    let axis = from_front(view.int_or("axis", 0)?, data.len())?;
    Some(data[..axis].iter().chain(indices).chain(&data[axis + 1..]).copied().collect())
}

/// The integers of a constant input, if there are no more than a shape may have.
fn constant_ints(view: &View, index: u32) -> Option<Vec<i64>> {
    let constant = view.model.constant(view.model.input(view.id, index)?).ok()?;
    let is_short = |&elements: &i64| usize::try_from(elements).is_ok_and(is_kept);
    constant.tensor.dims.iter().copied().try_fold(1, i64::checked_mul).filter(is_short)?;
    tensor_ints(&constant.tensor)
}

/// The integers of a small tensor with data in the model.
#[must_use]
pub fn tensor_ints(proto: &TensorProto) -> Option<Vec<i64>> {
    let tensor = Tensor::read(proto).ok()?;
    let Ok(Values::Raw(bytes)) = tensor.values() else { return None };
    match tensor.dtype() {
        DType::Int64 => Some(bytes.chunks_exact(8).map(|b| i64::from_le_bytes(b.try_into().expect("chunks of eight"))).collect()),
        DType::Int32 => {
            Some(bytes.chunks_exact(4).map(|b| i32::from_le_bytes(b.try_into().expect("chunks of four")).into()).collect())
        }
        _ => None,
    }
}
