//! Operators that move whole axes.

use super::grid::{Grid, length};
use super::node::Node;
use super::value::Value;
use crate::tensor::element_count;

pub fn identity(node: &Node) -> Result<Vec<Value>, String> {
    Ok(vec![node.input(0)?.clone()])
}

/// A 0 copies the dimension of the input unless `allowzero` is set, and one -1 is what remains.
pub fn reshape(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let mut dims = node.list("shape", 1)?.ok_or("the shape is missing")?;
    if !node.is_set("allowzero")? {
        for (axis, dim) in dims.iter_mut().enumerate().filter(|(_, dim)| **dim == 0) {
            *dim = *input
                .dims()
                .get(axis)
                .ok_or("the shape copies a dimension that the input does not have")?;
        }
    }
    if let Some(remaining) = dims.iter().position(|&dim| dim == -1) {
        dims[remaining] = 1;
        match element_count(&dims) {
            None | Some(0) => return Err("the shape is ambiguous".to_owned()),
            Some(others) => dims[remaining] = (input.elements() as u64 / others) as i64,
        }
    }
    Ok(vec![input.reshaped(&dims)?])
}

/// Removes axes of length 1. Without `axes`, it removes all of them, as runtimes do if the list is
/// empty.
pub fn squeeze(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let dims = input.dims();
    let all_ones: Vec<usize> = (0..dims.len()).filter(|&axis| dims[axis] == 1).collect();
    let axes = match node.list("axes", 1)? {
        None => all_ones,
        Some(axes) if axes.is_empty() && !all_ones.is_empty() => {
            node.chosen(Vec::new(), Some(all_ones))?
        }
        Some(axes) => node.axes(&axes, dims.len())?,
    };
    if axes.iter().any(|&axis| dims[axis] != 1) {
        return Err("an axis has another length than 1".to_owned());
    }
    let mut left = Vec::new();
    for (axis, &dim) in dims.iter().enumerate() {
        if !axes.contains(&axis) {
            left.push(dim);
        }
    }
    Ok(vec![input.reshaped(&left)?])
}

/// Inserts axes of length 1 at places of the result.
pub fn unsqueeze(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let axes = node.list("axes", 1)?.ok_or("the axes are missing")?;
    let rank = input.rank() + axes.len();
    let mut axes = node.axes(&axes, rank)?;
    axes.sort_unstable();
    if axes.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err("an axis is inserted twice".to_owned());
    }
    let mut dims = input.dims().to_vec();
    for axis in axes {
        dims.insert(axis, 1);
    }
    Ok(vec![input.reshaped(&dims)?])
}

/// A matrix: the axes before `axis` are its rows.
pub fn flatten(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let stated = node.int("axis")?.unwrap_or(1);
    let axis = if stated == input.rank() as i64 {
        input.rank()
    } else {
        node.axis(stated, input.rank())?
    };
    let (before, after) = input.dims().split_at(axis);
    let product = |dims: &[i64]| {
        element_count(dims)
            .and_then(|count| i64::try_from(count).ok())
            .ok_or("the shape is too large")
    };
    Ok(vec![input.reshaped(&[product(before)?, product(after)?])?])
}

/// Axis `i` of the result is axis `perm[i]` of the input; without `perm`, the order is reversed.
pub fn transpose(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let rank = input.rank();
    let perm = match node.attribute("perm")? {
        Some(perm) => node.axes(&perm.ints, rank)?,
        None => (0..rank).rev().collect(),
    };
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    if !sorted.into_iter().eq(0..rank) {
        return Err(format!("`perm` is not an order of {rank} axes"));
    }
    let dims: Vec<i64> = perm.iter().map(|&axis| input.dims()[axis]).collect();
    let grid = Grid::of(input.dims());
    let source = move |place: &[usize]| {
        (
            0,
            perm.iter()
                .zip(place)
                .map(|(&axis, &at)| at * grid.steps[axis])
                .sum(),
        )
    };
    Ok(vec![Value::picked(vec![input.clone()], &dims, source)?])
}

/// Indices from `start` on along each axis, `step` apart.
fn sliced(
    input: &Value,
    dims: &[i64],
    starts: Vec<usize>,
    steps: Vec<i64>,
) -> Result<Value, String> {
    let grid = Grid::of(input.dims());
    let source = move |place: &[usize]| {
        let along = |axis: usize| (starts[axis] as i64 + place[axis] as i64 * steps[axis]) as usize;
        (
            0,
            (0..place.len())
                .map(|axis| along(axis) * grid.steps[axis])
                .sum(),
        )
    };
    Value::picked(vec![input.clone()], dims, source)
}

pub fn slice(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let starts = node.list("starts", 1)?.ok_or("the starts are missing")?;
    let ends = node.list("ends", 2)?.ok_or("the ends are missing")?;
    let axes = node
        .list("axes", 3)?
        .unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = node
        .list("steps", 4)?
        .unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err("the lists differ in length".to_owned());
    }
    let axes = node.axes(&axes, input.rank())?;
    let mut dims = input.dims().to_vec();
    let (mut firsts, mut distances) = (vec![0; dims.len()], vec![1; dims.len()]);
    for (at, &axis) in axes.iter().enumerate() {
        if axes[..at].contains(&axis) {
            return Err(format!("axis {axis} is sliced twice"));
        }
        let (first, count) = indices(node, input.dims()[axis], starts[at], ends[at], steps[at])?;
        (firsts[axis], distances[axis], dims[axis]) = (first, steps[at], count);
    }
    Ok(vec![sliced(input, &dims, firsts, distances)?])
}

/// The first index of a slice of an axis, and the number of indices.
///
/// Two slices with a negative step are contested. If the start is before the first index, the text
/// moves it to the first one since opset 13; numpy, to which older texts refer, returns nothing. If
/// the end is the largest integer, the text has it beyond the last index, and runtimes beyond the
/// first.
fn indices(node: &Node, dim: i64, start: i64, end: i64, step: i64) -> Result<(usize, i64), String> {
    if step == 0 {
        return Err("a step is zero".to_owned());
    }
    let is_backward = step < 0;
    let from_start = |index: i64| i128::from(index) + if index < 0 { i128::from(dim) } else { 0 };
    let between = |end: i128| {
        let dim = i128::from(dim);
        if dim == 0 {
            return (0, 0);
        }
        let (first, distance) = if is_backward {
            let first = from_start(start).clamp(0, dim - 1);
            (first, first - end.clamp(-1, dim - 1))
        } else {
            let first = from_start(start).clamp(0, dim);
            (first, end.clamp(0, dim) - first)
        };
        if distance <= 0 {
            return (0, 0);
        }
        let step = i128::from(step).abs();
        (first as usize, ((distance + step - 1) / step) as i64)
    };
    let text = between(from_start(end));
    if !is_backward {
        return Ok(text);
    }
    let is_largest = end == i64::MAX || end == i64::from(i32::MAX);
    let runtime = if is_largest { between(-1) } else { text };
    if from_start(start) < 0 && runtime.1 > 0 {
        let text = if node.version() < 13 { (0, 0) } else { text };
        return node.chosen(text, Some(runtime));
    }
    if text == runtime {
        Ok(text)
    } else {
        node.chosen(text, Some(runtime))
    }
}

/// Parts of one axis, of stated or of equal lengths. Since opset 18, the last one may be shorter.
pub fn split(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(0), input.rank())?;
    let dim = input.dims()[axis];
    let lengths = match node.list("split", 1)? {
        Some(lengths) => lengths,
        None => equal_parts(node, dim)?,
    };
    let mut sum: i64 = 0;
    let mut parts = Vec::with_capacity(lengths.len());
    for part in lengths {
        let mut starts = vec![0; input.rank()];
        let mut dims = input.dims().to_vec();
        (starts[axis], dims[axis]) = (length(sum), part);
        sum = sum
            .checked_add(part)
            .filter(|&sum| part >= 0 && sum <= dim)
            .ok_or("the parts are longer than the axis")?;
        parts.push(sliced(input, &dims, starts, vec![1; input.rank()])?);
    }
    if sum != dim {
        return Err("the parts are shorter than the axis".to_owned());
    }
    Ok(parts)
}

fn equal_parts(node: &Node, dim: i64) -> Result<Vec<i64>, String> {
    let parts = node.outputs() as i64;
    if parts == 0
        || node
            .int("num_outputs")?
            .is_some_and(|stated| stated != parts)
    {
        return Err("the number of parts is not that of the results".to_owned());
    }
    let each = (dim + parts - 1) / parts;
    let last = dim - each * (parts - 1);
    if last != each && (node.version() < 18 || last < 0) {
        return Err(format!("{dim} indices are not {parts} equal parts"));
    }
    let mut lengths = vec![each; node.outputs() - 1];
    lengths.push(last);
    Ok(lengths)
}

/// The shape to which shapes are broadcast: they are aligned at their ends, and axes of length 1
/// are repeated.
pub fn broadcast(shapes: &[&[i64]]) -> Result<Vec<i64>, String> {
    let rank = shapes.iter().map(|dims| dims.len()).max().unwrap_or(0);
    let mut joined = vec![1; rank];
    for dims in shapes {
        let missing = rank - dims.len();
        for (axis, &dim) in dims.iter().enumerate() {
            let joined = &mut joined[missing + axis];
            match (*joined, dim) {
                (_, 1) => {}
                (1, dim) if dim >= 0 => *joined = dim,
                (same, dim) if same == dim => {}
                _ => return Err(format!("the shapes {shapes:?} cannot be broadcast")),
            }
        }
    }
    Ok(joined)
}

/// The index in a tensor of these dimensions for each place of a tensor to which it is broadcast.
pub fn broadcast_index(
    dims: &[i64],
    rank: usize,
) -> impl Fn(&[usize]) -> usize + Send + Sync + use<> {
    let mut steps = vec![0; rank - dims.len()];
    for (&dim, &step) in dims.iter().zip(&Grid::of(dims).steps) {
        steps.push(if dim == 1 { 0 } else { step });
    }
    move |place| place.iter().zip(&steps).map(|(at, step)| at * step).sum()
}

pub fn expand(node: &Node) -> Result<Vec<Value>, String> {
    let (input, shape) = (node.input(0)?, node.input(1)?.list()?);
    let dims = broadcast(&[input.dims(), &shape])?;
    let index = broadcast_index(input.dims(), dims.len());
    Ok(vec![Value::picked(
        vec![input.clone()],
        &dims,
        move |place| (0, index(place)),
    )?])
}

pub fn tile(node: &Node) -> Result<Vec<Value>, String> {
    if node.version() < 6 {
        return Err("Tile of opset 1 has other inputs".to_owned());
    }
    let (input, repeats) = (node.input(0)?, node.input(1)?.list()?);
    if repeats.len() != input.rank() || repeats.iter().any(|&times| times < 0) {
        return Err("the repeats are not one number for each axis".to_owned());
    }
    let mut dims = Vec::with_capacity(repeats.len());
    for (&dim, &times) in input.dims().iter().zip(&repeats) {
        dims.push(dim.checked_mul(times).ok_or("the shape is too large")?);
    }
    let grid = Grid::of(input.dims());
    let lengths: Vec<usize> = input.dims().iter().map(|&dim| length(dim)).collect();
    let source = move |place: &[usize]| {
        let within = place.iter().zip(&lengths).map(|(at, length)| at % length);
        (0, within.zip(&grid.steps).map(|(at, step)| at * step).sum())
    };
    Ok(vec![Value::picked(vec![input.clone()], &dims, source)?])
}
