//! Shapes, axes and lengths that contradict each other.

use super::operation::Operation;
use crate::ops::inference::{broadcasts, from_front};
use crate::ops::schemas::DefaultValue;

/// Operators whose `axis` counts the axes of the first input, and the first opset in which both
/// tools refuse any other number.
const AXIS: &[(&str, i64)] = &[
    ("ArgMax", 11),
    ("ArgMin", 11),
    ("Compress", 11),
    ("Concat", 11),
    ("Gather", 1),
    ("Hardmax", 11),
    ("LayerNormalization", 1),
    ("LogSoftmax", 11),
    ("RMSNormalization", 23),
    ("SimplifiedLayerNormalization", 1),
    ("Softmax", 11),
    ("Split", 2),
    ("SplitToSequence", 11),
    ("TopK", 1),
];

type Dims<'a> = &'a [Option<i64>];

/// The fault of an operation that is converted to an opset, or has the opset of its model.
pub(super) fn fault(operation: &Operation, to: i64) -> Option<String> {
    let opset = to.max(operation.schema.since_version);
    if AXIS
        .iter()
        .any(|&(op, since)| op == operation.schema.name && since <= opset)
        && let Some(fault) = axis(operation)
    {
        return Some(fault);
    }
    match operation.schema.name {
        "AveragePool" | "Conv" | "ConvTranspose" | "LpPool" | "MaxPool" => window(operation),
        "Concat" => concatenated(operation),
        "Einsum" => labels(operation),
        "Expand" => {
            let target: Vec<Option<i64>> = operation.values(1)?.into_iter().map(Some).collect();
            broadcast(operation.shape(0)?, &target)
        }
        "Flatten" => flattened(operation),
        "GatherND" => tuples(operation),
        "Gemm" => {
            let axis = |index: usize, name: &str, axis: usize| -> Option<i64> {
                let axis = if operation.flag(name)? {
                    1 - axis
                } else {
                    axis
                };
                operation.shape(index).filter(|shape| shape.len() == 2)?[axis]
            };
            inner(
                operation,
                (0, axis(0, "transA", 1)),
                (1, axis(1, "transB", 0)),
            )
        }
        "MatMul" | "MatMulInteger" => matrices(operation, 0, 1),
        "QLinearMatMul" => matrices(operation, 0, 3),
        "QuantizeLinear" | "DequantizeLinear" => scale(operation),
        "Reshape" => reshaped(operation),
        "Slice" => axes(operation, 3),
        "Split" => parts(operation),
        "Squeeze" => squeezed(operation),
        "Tile" => tiled(operation),
        "Transpose" => permutation(operation),
        "Unsqueeze" => {
            let axes = operation.attribute_or_values("axes", 1)?;
            let rank = operation.rank(0)?.checked_add(axes.len())?;
            axes.iter()
                .find_map(|&axis| out_of_range(axis, rank))
                .or_else(|| repeated(&axes, rank))
        }
        name if name.starts_with("Reduce") => axes(operation, 1),
        // It is not established that all runtimes refuse its contradictions when they load a model.
        "StringConcat" => None,
        name if broadcasts(name) => match operation.schema.attribute("broadcast") {
            Some(_) => broadcast_by_axis(operation),
            None => all_broadcast(operation),
        },
        _ => None,
    }
}

fn axes(operation: &Operation, input: usize) -> Option<String> {
    let axes = operation.attribute_or_values("axes", input)?;
    axes.into_iter()
        .find_map(|axis| out_of_range(axis, operation.rank(0)?))
}

fn out_of_range(axis: i64, rank: usize) -> Option<String> {
    let rank = i64::try_from(rank).ok()?;
    (!(-rank..rank).contains(&axis)).then(|| format!("axis {axis} is out of range for rank {rank}"))
}

fn repeated(axes: &[i64], rank: usize) -> Option<String> {
    let rank = i64::try_from(rank).ok()?;
    let mut counted: Vec<i64> = axes
        .iter()
        .map(|&axis| if axis < 0 { axis + rank } else { axis })
        .collect();
    counted.sort_unstable();
    let twice = counted.windows(2).find(|pair| pair[0] == pair[1])?[0];
    Some(format!("axis {twice} is listed twice"))
}

fn axis(operation: &Operation) -> Option<String> {
    let axis = match (
        operation.schema.attribute("axis")?.default,
        operation.schema.name,
    ) {
        (Some(DefaultValue::Int(default)), _) => operation.int_or("axis", default)?,
        // Version 1 states its default in words.
        (_, "Concat") => operation.int_or("axis", 1)?,
        _ => operation.attribute("axis")??.i(),
    };
    let rank = i64::try_from(operation.rank(0)?).ok()?;
    (!(-rank..rank).contains(&axis))
        .then(|| format!("`axis` = {axis} is out of range for rank {rank}"))
}

fn permutation(operation: &Operation) -> Option<String> {
    let (perm, rank) = (operation.ints("perm")?, operation.rank(0)?);
    let is_axis = |axis: &i64| usize::try_from(*axis).is_ok_and(|axis| axis < rank);
    let mut distinct = perm.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    let is_wrong = distinct.len() != perm.len() || !distinct.iter().all(is_axis);
    is_wrong.then(|| format!("`perm` = {perm:?} is not a permutation of {rank} axes"))
}

fn flattened(operation: &Operation) -> Option<String> {
    let (axis, rank) = (
        operation.int_or("axis", 1)?,
        i64::try_from(operation.rank(0)?).ok()?,
    );
    (!(-rank..=rank).contains(&axis))
        .then(|| format!("`axis` = {axis} is out of range for rank {rank}"))
}

/// A scale that is neither a number, nor one for each index of an axis, nor one for each block.
fn scale(operation: &Operation) -> Option<String> {
    if operation.int_or("block_size", 0)? != 0 {
        return None;
    }
    let (shape, name) = (operation.shape(1)?, operation.name(1));
    match shape.as_slice() {
        [Some(length)] if *length != 1 && operation.schema.attribute("axis").is_none() => {
            Some(format!("input '{name}' has {length} elements, not 1"))
        }
        [] | [_] => None,
        _ => Some(format!(
            "input '{name}' has rank {}, and not at most 1",
            shape.len()
        )),
    }
}

/// The contradiction between two shapes that are broadcast.
fn broadcast(left: Dims, right: Dims) -> Option<String> {
    let mut pairs = left.iter().rev().zip(right.iter().rev());
    let (left, right) = pairs.find_map(|(&left, &right)| {
        let (left, right) = (left?, right?);
        (left != right && left != 1 && right != 1).then_some((left, right))
    })?;
    Some(format!("dimensions {left} and {right} cannot be broadcast"))
}

fn all_broadcast(operation: &Operation) -> Option<String> {
    let shapes: Vec<Dims> = (0..operation.inputs.len())
        .filter_map(|index| operation.shape(index))
        .map(Vec::as_slice)
        .collect();
    // Where two fit, a third may not fit both: each is compared with each of the few.
    shapes.iter().enumerate().take(8).find_map(|(index, left)| {
        shapes[index + 1..]
            .iter()
            .find_map(|right| broadcast(left, right))
    })
}

/// Before opset 7, the second shape is that of the axes from `axis` on, if there is one, and the
/// result has the first shape.
fn broadcast_by_axis(operation: &Operation) -> Option<String> {
    let (left, right) = (operation.shape(0)?, operation.shape(1)?);
    let axis = operation
        .attribute("axis")
        .flatten()
        .filter(|_| operation.int_or("broadcast", 0) != Some(0));
    let end = match axis {
        Some(axis) => usize::try_from(axis.i()).ok()?.checked_add(right.len())?,
        None => left.len(),
    };
    let left = left.get(..end)?;
    let padded = left.iter().rev().chain(std::iter::repeat(&Some(1)));
    let grows = padded
        .zip(right.iter().rev())
        .find(|(left, right)| **left == Some(1) && right.is_some_and(|right| right != 1));
    match grows {
        Some((_, right)) => Some(format!(
            "dimension 1 cannot be broadcast to {} before opset 7",
            (*right)?
        )),
        None => broadcast(left, right),
    }
}

/// The lengths over which a product sums.
fn inner(
    operation: &Operation,
    (left, width): (usize, Option<i64>),
    (right, height): (usize, Option<i64>),
) -> Option<String> {
    let (width, height) = (width?, height?);
    let (left, right) = (operation.name(left), operation.name(right));
    (width != height).then(|| {
        format!("the product of '{left}' and '{right}' sums over {width} and {height} elements")
    })
}

fn matrices(operation: &Operation, left: usize, right: usize) -> Option<String> {
    let (first, second) = (operation.shape(left)?, operation.shape(right)?);
    let width = *first.last()?;
    let height = if second.len() == 1 {
        second[0]
    } else {
        *second.get(second.len().checked_sub(2)?)?
    };
    let batch = |shape: Dims| shape.len().saturating_sub(2);
    inner(operation, (left, width), (right, height))
        .or_else(|| broadcast(&first[..batch(first)], &second[..batch(second)]))
}

fn concatenated(operation: &Operation) -> Option<String> {
    let shapes: Vec<(usize, Dims)> = (0..operation.inputs.len())
        .filter_map(|index| Some((index, operation.shape(index)?.as_slice())))
        .collect();
    let (&(first, shape), others) = shapes.split_first()?;
    let axis = operation.int_or("axis", 1)?;
    let rank = i64::try_from(shape.len()).ok()?;
    let axis = usize::try_from(if axis < 0 {
        axis.checked_add(rank)?
    } else {
        axis
    })
    .ok()?;
    others.iter().find_map(|&(other, found)| {
        let (first, other) = (operation.name(first), operation.name(other));
        if found.len() != shape.len() {
            return Some(format!("input '{first}' has rank {}, but '{other}' has rank {}", shape.len(), found.len()));
        }
        let differ = |at: &usize| *at != axis && shape[*at].zip(found[*at]).is_some_and(|(left, right)| left != right);
        let at = (0..shape.len()).find(differ)?;
        Some(format!("'{first}' and '{other}' have different lengths along axis {at}, along which they are not joined"))
    })
}

fn reshaped(operation: &Operation) -> Option<String> {
    let target = operation.attribute_or_values("shape", 1)?;
    let input = operation.shape(0)?;
    let elements = input
        .iter()
        .try_fold(1i64, |product, dim| product.checked_mul((*dim)?))?;
    let copies_zero = operation.int_or("allowzero", 0)? == 0;
    let length = |(at, &dim): (usize, &i64)| match dim {
        0 if copies_zero => input.get(at).copied().flatten(),
        -1 => Some(1),
        dim => Some(dim),
    };
    let others = target
        .iter()
        .enumerate()
        .map(length)
        .try_fold(1i64, |product, dim| product.checked_mul(dim?))?;
    let fits = if target.contains(&-1) {
        others == 0 || elements % others == 0
    } else {
        others == elements
    };
    (!fits).then(|| format!("{elements} elements cannot be arranged as {target:?}"))
}

fn parts(operation: &Operation) -> Option<String> {
    let given = operation.attribute_or_values("split", 1)?;
    let (shape, axis) = (operation.shape(0)?, operation.int_or("axis", 0)?);
    let length = shape[from_front(axis, shape.len())?]?;
    let sum = given
        .iter()
        .try_fold(0i64, |sum, part| sum.checked_add(*part))?;
    if given.len() != operation.node.output.len() {
        return Some(format!(
            "there are {} lengths for {} outputs",
            given.len(),
            operation.node.output.len()
        ));
    }
    (sum != length).then(|| format!("the parts have {sum} elements, but the axis has {length}"))
}

fn squeezed(operation: &Operation) -> Option<String> {
    let (shape, axes) = (
        operation.shape(0)?,
        operation.attribute_or_values("axes", 1)?,
    );
    axes.into_iter().find_map(|axis| {
        if let Some(fault) = out_of_range(axis, shape.len()) {
            return Some(fault);
        }
        let length = shape[from_front(axis, shape.len())?]?;
        (length != 1).then(|| format!("axis {axis} has length {length}, not 1"))
    })
}

fn tiled(operation: &Operation) -> Option<String> {
    if operation.schema.since_version == 1 {
        return None;
    }
    let (rank, repeats) = (operation.rank(0)?, operation.values(1)?);
    (repeats.len() != rank).then(|| format!("there are {} repeats for {rank} axes", repeats.len()))
}

fn tuples(operation: &Operation) -> Option<String> {
    let (rank, taken) = (
        i64::try_from(operation.rank(0)?).ok()?,
        (*operation.shape(1)?.last()?)?,
    );
    let batch = operation.int_or("batch_dims", 0)?;
    (taken.checked_add(batch)? > rank).then(|| {
        format!("the indices have {taken} numbers after {batch} batch axes, for rank {rank}")
    })
}

/// The lists of numbers for the spatial axes.
fn window(operation: &Operation) -> Option<String> {
    let axes = operation.rank(0)?.checked_sub(2)?;
    [
        ("kernel_shape", 1),
        ("strides", 1),
        ("dilations", 1),
        ("pads", 2),
    ]
    .into_iter()
    .find_map(|(name, each)| {
        let list = operation
            .ints(name)
            .filter(|list| !list.is_empty() && list.len() != each * axes)?;
        Some(format!(
            "`{name}` = {list:?} does not fit {axes} spatial axes"
        ))
    })
}

/// An operand has as many axes as labels, and more where there is an ellipsis.
fn labels(operation: &Operation) -> Option<String> {
    let equation = String::from_utf8_lossy(operation.attribute("equation")??.s()).into_owned();
    let terms = equation
        .split("->")
        .next()
        .unwrap_or_default()
        .split(',')
        .enumerate();
    terms.into_iter().find_map(|(index, term)| {
        let labels = term.chars().filter(char::is_ascii_alphabetic).count();
        let rank = operation.rank(index)?;
        let fits = if term.contains("...") {
            labels <= rank
        } else {
            labels == rank
        };
        (!fits).then(|| {
            format!(
                "input '{}' has rank {rank}, but {labels} labels",
                operation.name(index)
            )
        })
    })
}
