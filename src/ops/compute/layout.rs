//! Operators that move whole axes: their results are views of their inputs.

use super::call::{Call, length};
use super::operator::Operator;
use super::result::{Computed, NotComputed, undefined};
use crate::ops::readings::{self, SQUEEZE_WITHOUT_AXES};
use crate::tensor::{Content, element_count};
use onnx_cast::DType;

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Identity", |call| Ok(vec![call.input(0)?.clone()])),
    Operator::new("Reshape", reshape),
    Operator::new("Squeeze", squeeze),
    Operator::new("Unsqueeze", unsqueeze),
    Operator::new("Flatten", flatten),
    Operator::new("Transpose", transpose),
    Operator::new("Slice", slice),
    Operator::new("Split", split),
    Operator::new("Gather", gather),
    Operator::new("Expand", expand),
    Operator::new("Tile", tile),
];

/// The elements of a tensor in another shape.
fn reshaped(input: &Content, dims: &[i64]) -> Computed {
    match element_count(dims) {
        Some(elements) if elements == input.elements() as u64 => Ok(vec![input.reshaped(dims)]),
        _ => Err(undefined(format!(
            "{} elements do not have the shape {dims:?}",
            input.elements()
        ))),
    }
}

/// A 0 copies the length of the input unless `allowzero` is set, and -1 stands for the rest.
fn reshape(call: &Call) -> Computed {
    let input = call.input(0)?;
    let mut dims = call
        .ints("shape", 1)?
        .ok_or_else(|| undefined("the shape is missing"))?;
    let allow_zero = call.flag("allowzero")?;
    for (axis, dim) in dims
        .iter_mut()
        .enumerate()
        .filter(|(_, dim)| **dim == 0 && !allow_zero)
    {
        *dim = *input.dims().get(axis).ok_or_else(|| {
            undefined("the shape copies a dimension that the input does not have")
        })?;
    }
    let rest: Vec<usize> = (0..dims.len()).filter(|&axis| dims[axis] == -1).collect();
    if let [axis] = rest.as_slice() {
        dims[*axis] = 1;
        let others = element_count(&dims)
            .and_then(|elements| i64::try_from(elements).ok())
            .filter(|&elements| elements > 0);
        dims[*axis] = others
            .map(|others| input.elements() as i64 / others)
            .ok_or_else(|| undefined("the shape is ambiguous"))?;
    }
    reshaped(input, &dims)
}

fn squeeze(call: &Call) -> Computed {
    let input = call.input(0)?;
    let dims = input.dims();
    let ones = || {
        (0..dims.len())
            .filter(|&axis| dims[axis] == 1)
            .collect::<Vec<usize>>()
    };
    let axes = match call.axes("axes", 1)? {
        Some(axes) if axes.is_empty() && dims.contains(&1) => {
            call.contested(Vec::new(), Some(ones()), SQUEEZE_WITHOUT_AXES)?
        }
        Some(axes) => call.each_axis(&axes, dims.len())?,
        None => ones(),
    };
    if let Some(&axis) = axes.iter().find(|&&axis| dims[axis] != 1) {
        return Err(undefined(format!(
            "axis {axis} has the length {}, not 1",
            dims[axis]
        )));
    }
    let kept: Vec<i64> = (0..dims.len())
        .filter(|axis| !axes.contains(axis))
        .map(|axis| dims[axis])
        .collect();
    reshaped(input, &kept)
}

fn unsqueeze(call: &Call) -> Computed {
    let input = call.input(0)?;
    let axes = call
        .axes("axes", 1)?
        .ok_or_else(|| undefined("the axes are missing"))?;
    let rank = input.dims().len() + axes.len();
    let axes = call.each_axis(&axes, rank)?;
    let mut old = input.dims().iter().copied();
    let dims: Vec<i64> = (0..rank)
        .map_while(|axis| {
            if axes.contains(&axis) {
                Some(1)
            } else {
                old.next()
            }
        })
        .collect();
    if dims.len() != rank || old.next().is_some() {
        return Err(undefined("an axis is inserted twice"));
    }
    reshaped(input, &dims)
}

fn flatten(call: &Call) -> Computed {
    let input = call.input(0)?;
    let (dims, axis) = (input.dims(), call.int("axis")?.unwrap_or(1));
    let rank = dims.len();
    let axis = if axis == rank as i64 {
        rank
    } else {
        call.axis(axis, rank)?
    };
    let product = |dims: &[i64]| element_count(dims).and_then(|count| i64::try_from(count).ok());
    match (product(&dims[..axis]), product(&dims[axis..])) {
        (Some(rows), Some(columns)) => reshaped(input, &[rows, columns]),
        _ => Err(undefined("the shape is too large")),
    }
}

fn transpose(call: &Call) -> Computed {
    let input = call.input(0)?;
    let dims = input.dims();
    let order = match call.attribute("perm")? {
        Some(order) if order.ints.len() != dims.len() => {
            return Err(undefined("`perm` has another length than the shape"));
        }
        Some(order) => call.each_axis(&order.ints, dims.len())?,
        None => (0..dims.len()).rev().collect(),
    };
    if (0..dims.len()).any(|axis| !order.contains(&axis)) {
        return Err(undefined(format!(
            "`perm` is not an order of {} axes",
            dims.len()
        )));
    }
    let moved: Vec<i64> = order.iter().map(|&axis| dims[axis]).collect();
    Ok(vec![input.moved(&moved, |map| map.transposed(&order))])
}

fn slice(call: &Call) -> Computed {
    let list = |name, index| call.axes(name, index);
    let (starts, ends) = match (list("starts", 1)?, list("ends", 2)?) {
        (Some(starts), Some(ends)) if starts.len() == ends.len() => (starts, ends),
        _ => return Err(undefined("starts and ends differ in length")),
    };
    let axes = list("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = list("steps", 4)?.unwrap_or_else(|| vec![1; starts.len()]);
    if axes.len() != starts.len() || steps.len() != starts.len() {
        return Err(undefined("axes or steps have another length than starts"));
    }
    let mut result = call.input(0)?.clone();
    let mut sliced = Vec::with_capacity(axes.len());
    for (((&start, &end), &axis), &step) in starts.iter().zip(&ends).zip(&axes).zip(&steps) {
        let axis = call.axis(axis, result.dims().len())?;
        if sliced.contains(&axis) {
            return Err(undefined(format!("axis {axis} is sliced twice")));
        }
        sliced.push(axis);
        let range = readings::slice(
            result.dims()[axis],
            [start, end, step],
            call.schema.since_version,
        );
        let (first, count) = call.choose(range.ok_or_else(|| undefined("a step is zero"))?)?;
        let (first, count) = (length(first), length(count));
        let mut dims = result.dims().to_vec();
        dims[axis] = count as i64;
        let step = step.clamp(-(1 << 62), 1 << 62) as isize;
        result = result.moved(&dims, |map| map.sliced(axis, first, step, count));
    }
    Ok(vec![result])
}

fn split(call: &Call) -> Computed {
    let input = call.input(0)?;
    let outputs = call.proto().output.len();
    let axis = call.axis(call.int("axis")?.unwrap_or(0), input.dims().len())?;
    let dim = input.dims()[axis];
    let lengths = if let Some(lengths) = call.ints("split", 1)? {
        lengths
    } else {
        let parts = outputs as i64;
        let each = if parts > 0 {
            dim / parts + i64::from(dim % parts != 0)
        } else {
            0
        };
        // What the last part has, if all others are equal.
        let last = each.checked_mul(parts - 1).map(|others| dim - others);
        // Since opset 18, the last part may be shorter.
        let is_split =
            last.is_some_and(|last| last == each || (call.schema.since_version >= 18 && last >= 0));
        if call
            .int("num_outputs")?
            .is_some_and(|stated| stated != parts)
            || parts == 0
            || !is_split
        {
            return Err(undefined(format!(
                "{dim} indices are not split into {parts} equal parts"
            )));
        }
        (0..parts).map(|part| each.min(dim - part * each)).collect()
    };
    if lengths.iter().any(|&length| length < 0)
        || lengths
            .iter()
            .try_fold(0_i64, |sum, &length| sum.checked_add(length))
            != Some(dim)
    {
        return Err(undefined(format!(
            "the lengths of the parts do not add up to {dim}"
        )));
    }
    let mut first = 0;
    let parts = lengths.into_iter().map(|part| {
        let mut dims = input.dims().to_vec();
        dims[axis] = part;
        let start = first;
        first += length(part);
        input.moved(&dims, |map| map.sliced(axis, start, 1, length(part)))
    });
    Ok(parts.collect())
}

fn gather(call: &Call) -> Computed {
    let (input, indices) = (call.input(0)?, call.input(1)?);
    let dims = input.dims();
    let axis = call.axis(call.int("axis")?.unwrap_or(0), dims.len())?;
    let taken = call
        .list(indices)?
        .into_iter()
        .map(|index| index_of(call, index, dims[axis]))
        .collect::<Result<Vec<usize>, _>>()?;
    let moved = [&dims[..axis], indices.dims(), &dims[axis + 1..]].concat();
    call.elements(&moved, input.dtype())?;
    if input.dtype() == DType::String
        && !taken.is_empty()
        && element_count(&dims[axis + 1..]) > Some(1)
    {
        call.contested(
            (),
            None,
            "onnxruntime loses strings if an index selects more than one",
        )?;
    }
    let mut flat = dims.to_vec();
    flat[axis] = taken.len() as i64;
    Ok(vec![
        input
            .moved(&flat, |map| map.taken(axis, &taken))
            .reshaped(&moved),
    ])
}

/// An index along an axis; negative ones are counted from the end since opset 11.
pub(super) fn index_of(call: &Call, index: i64, dim: i64) -> Result<usize, NotComputed> {
    let counted = if index < 0 && call.schema.since_version >= 11 {
        index + dim
    } else {
        index
    };
    let found = usize::try_from(counted).ok().filter(|_| counted < dim);
    found.ok_or_else(|| {
        undefined(format!(
            "the index {index} is outside of an axis of length {dim}"
        ))
    })
}

fn expand(call: &Call) -> Computed {
    let input = call.input(0)?;
    let shape = call.list(call.input(1)?)?;
    let dims = broadcast(input.dims(), &shape)?;
    call.elements(&dims, input.dtype())?;
    Ok(vec![stretched(input, &dims)])
}

/// The shape to which two shapes are broadcast.
pub(super) fn broadcast(one: &[i64], other: &[i64]) -> Result<Vec<i64>, NotComputed> {
    let rank = one.len().max(other.len());
    let dim = |dims: &[i64], axis: usize| {
        (axis + dims.len())
            .checked_sub(rank)
            .map_or(1, |axis| dims[axis])
    };
    let joined = (0..rank).map(|axis| match (dim(one, axis), dim(other, axis)) {
        (one, other) if one == other || other == 1 => Ok(one),
        (1, other) if other >= 0 => Ok(other),
        _ => Err(undefined(format!(
            "the shapes {one:?} and {other:?} are not broadcast"
        ))),
    });
    joined.collect()
}

/// A tensor broadcast to a shape.
pub(super) fn stretched(input: &Content, dims: &[i64]) -> Content {
    if input.dims() == dims {
        return input.clone();
    }
    let missing = dims.len() - input.dims().len();
    let old = [&vec![1; missing], input.dims()].concat();
    input.reshaped(&old).moved(dims, |map| {
        let grown = (0..dims.len()).filter(|&axis| old[axis] != dims[axis]);
        grown.fold(map.clone(), |map, axis| {
            map.stretched(axis, length(dims[axis]))
        })
    })
}

fn tile(call: &Call) -> Computed {
    if call.schema.since_version < 6 {
        return Err(undefined("Tile of opset 1 has other inputs"));
    }
    let (input, repeats) = (call.input(0)?, call.list(call.input(1)?)?);
    if repeats.len() != input.dims().len() || repeats.iter().any(|&times| times < 0) {
        return Err(undefined("the number of repeats is not that of the axes"));
    }
    let dims = input
        .dims()
        .iter()
        .zip(&repeats)
        .map(|(&dim, &times)| dim.checked_mul(times));
    let dims = dims
        .collect::<Option<Vec<i64>>>()
        .ok_or_else(|| undefined("the shape is too large"))?;
    call.elements(&dims, input.dtype())?;
    let pairs: Vec<i64> = input
        .dims()
        .iter()
        .zip(&repeats)
        .flat_map(|(&dim, &times)| [times, dim])
        .collect();
    let tiled = input.moved(&pairs, |map| {
        repeats
            .iter()
            .enumerate()
            .fold(map.clone(), |map, (axis, &times)| {
                map.repeated(2 * axis, length(times))
            })
    });
    Ok(vec![tiled.reshaped(&dims)])
}
