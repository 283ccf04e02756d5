//! Operators that select elements of one or several tensors.

use super::axes::{broadcast, broadcast_index};
use super::grid::Grid;
use super::node::Node;
use super::value::{Value, integer};
use onnx_cast::{Class, DType};

/// The parts one after the other along one axis.
pub fn concat(node: &Node) -> Result<Vec<Value>, String> {
    let parts: Vec<Value> = node.inputs.iter().flatten().cloned().collect();
    let first = parts.first().ok_or("there are no inputs")?;
    let axis = node.axis(
        node.int("axis")?.ok_or("the axis is missing")?,
        first.rank(),
    )?;
    let mut dims = first.dims().to_vec();
    let mut sum: i64 = 0;
    // By part: where it ends.
    let mut ends = Vec::with_capacity(parts.len());
    for part in &parts {
        dims[axis] = *part.dims().get(axis).ok_or("the inputs differ in rank")?;
        if part.dims() != dims {
            return Err("the inputs differ in another axis".to_owned());
        }
        sum = sum
            .checked_add(dims[axis])
            .ok_or("the result is too long")?;
        ends.push(usize::try_from(sum).map_err(|_| "the result is too long")?);
    }
    dims[axis] = sum;
    let grids: Vec<Grid> = parts.iter().map(|part| Grid::of(part.dims())).collect();
    let source = move |place: &[usize]| {
        let part = ends.partition_point(|&end| end <= place[axis]);
        let start = if part == 0 { 0 } else { ends[part - 1] };
        (
            part,
            grids[part].index(place) - start * grids[part].steps[axis],
        )
    };
    Ok(vec![Value::picked(parts, &dims, source)?])
}

/// Entries of one axis: the axes of the indices are in the place of that axis.
pub fn gather(node: &Node) -> Result<Vec<Value>, String> {
    let (input, indices) = (node.input(0)?, node.input(1)?);
    let axis = node.axis(node.int("axis")?.unwrap_or(0), input.rank())?;
    let mut taken = Vec::with_capacity(indices.elements());
    for index in indices.list()? {
        taken.push(node.index(index, input.dims()[axis])?);
    }
    let (before, after) = (&input.dims()[..axis], &input.dims()[axis + 1..]);
    if input.dtype() == DType::String
        && !taken.is_empty()
        && after.iter().any(|&dim| dim > 1)
        && !after.contains(&0)
    {
        // onnxruntime loses strings.
        node.chosen((), None)?;
    }
    let dims = [before, indices.dims(), after].concat();
    let (grid, of_indices) = (Grid::of(input.dims()), Grid::of(indices.dims()));
    let rank = indices.rank();
    let source = move |place: &[usize]| {
        let (before, rest) = place.split_at(axis);
        let (at, after) = rest.split_at(rank);
        let index = taken[of_indices.index(at)];
        let after: usize = after
            .iter()
            .zip(&grid.steps[axis + 1..])
            .map(|(at, step)| at * step)
            .sum();
        (0, grid.index(before) + index * grid.steps[axis] + after)
    };
    Ok(vec![Value::picked(vec![input.clone()], &dims, source)?])
}

/// The element at the same place, except along one axis.
pub fn gather_elements(node: &Node) -> Result<Vec<Value>, String> {
    let (input, indices) = (node.input(0)?, node.input(1)?);
    let axis = node.axis(node.int("axis")?.unwrap_or(0), input.rank())?;
    let is_inside = |other: usize| other == axis || indices.dims()[other] <= input.dims()[other];
    if indices.rank() != input.rank() || !(0..input.rank()).all(is_inside) {
        return Err("the shape of the indices does not fit".to_owned());
    }
    let mut taken = Vec::with_capacity(indices.elements());
    for index in indices.list()? {
        taken.push(node.index(index, input.dims()[axis])?);
    }
    let (grid, of_indices) = (Grid::of(input.dims()), Grid::of(indices.dims()));
    let source = move |place: &[usize]| {
        let index = taken[of_indices.index(place)];
        (
            0,
            grid.index(place) - place[axis] * grid.steps[axis] + index * grid.steps[axis],
        )
    };
    Ok(vec![Value::picked(
        vec![input.clone()],
        indices.dims(),
        source,
    )?])
}

/// The last axis of the indices has the indices along the first axes of the input, after those of
/// the batch.
pub fn gather_nd(node: &Node) -> Result<Vec<Value>, String> {
    let (input, indices) = (node.input(0)?, node.input(1)?);
    let batch = usize::try_from(node.int("batch_dims")?.unwrap_or(0))
        .map_err(|_| "`batch_dims` is negative")?;
    let (&depth, outer) = indices
        .dims()
        .split_last()
        .ok_or("the indices are a scalar")?;
    let depth = usize::try_from(depth).unwrap_or(0);
    let is_batch = input
        .dims()
        .get(..batch)
        .is_some_and(|dims| outer.get(..batch) == Some(dims));
    if depth < 1 || !is_batch || batch + depth > input.rank() {
        return Err("the shape of the indices does not fit".to_owned());
    }
    let mut tuples = Vec::with_capacity(indices.elements());
    for (number, index) in indices.list()?.into_iter().enumerate() {
        tuples.push(node.index(index, input.dims()[batch + number % depth])?);
    }
    let dims = [outer, &input.dims()[batch + depth..]].concat();
    let (grid, of_tuples) = (Grid::of(input.dims()), Grid::of(outer));
    let rank = outer.len();
    let source = move |place: &[usize]| {
        let (outer, inner) = place.split_at(rank);
        let tuple = &tuples[of_tuples.index(outer) * depth..][..depth];
        let whole = outer[..batch].iter().chain(tuple).chain(inner);
        (0, whole.zip(&grid.steps).map(|(at, step)| at * step).sum())
    };
    Ok(vec![Value::picked(vec![input.clone()], &dims, source)?])
}

/// A list of one zero, or of one empty string.
fn zero(dtype: DType) -> Result<Value, String> {
    match dtype {
        DType::String => Value::of_texts(&[1], vec![bytes::Bytes::new()]),
        DType::Float8E8M0 => Err("FLOAT8E8M0 has no zero".to_owned()),
        _ => Value::of_bits(dtype, &[1], [0]),
    }
}

/// Pads with a constant; negative numbers remove elements.
pub fn pad(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    if node
        .attribute("mode")?
        .is_some_and(|mode| mode.s() != b"constant")
    {
        return Err("the mode is left to runtimes".to_owned());
    }
    let name = if node.version() == 1 {
        "paddings"
    } else {
        "pads"
    };
    let pads = node.list(name, 1)?.ok_or("the pads are missing")?;
    let axes = match node.optional(3) {
        Some(axes) => node.axes(&axes.list()?, input.rank())?,
        None => (0..input.rank()).collect(),
    };
    if pads.len() != 2 * axes.len() || (0..axes.len()).any(|at| axes[..at].contains(&axes[at])) {
        return Err("the pads are not two numbers for each axis".to_owned());
    }
    let (at_start, at_end) = pads.split_at(axes.len());
    let mut before = vec![0; input.rank()];
    let mut dims = input.dims().to_vec();
    for (at, &axis) in axes.iter().enumerate() {
        before[axis] = at_start[at];
        let sum = dims[axis]
            .checked_add(at_start[at])
            .and_then(|sum| sum.checked_add(at_end[at]));
        dims[axis] = sum
            .filter(|&dim| dim >= 0)
            .ok_or("an axis has no length after padding")?;
    }
    if node.schema.attribute("value").is_some()
        && node
            .attribute("value")?
            .is_some_and(|value| value.f() != 0.0)
    {
        return Err("a value other than zero is left to runtimes".to_owned());
    }
    let stated = node
        .optional(2)
        .filter(|value| node.schema.attribute("value").is_none() && value.elements() == 1);
    let value = stated.cloned().map_or_else(|| zero(input.dtype()), Ok)?;
    let (grid, old) = (Grid::of(input.dims()), input.dims().to_vec());
    let source = move |place: &[usize]| {
        let mut index = 0;
        for (axis, &at) in place.iter().enumerate() {
            let at = at as i64 - before[axis];
            if at < 0 || at >= old[axis] {
                return (1, 0);
            }
            index += at as usize * grid.steps[axis];
        }
        (0, index)
    };
    Ok(vec![Value::picked(
        vec![input.clone(), value],
        &dims,
        source,
    )?])
}

/// The elements above or below a diagonal of each matrix; the others are zero.
pub fn trilu(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    let is_upper = node.int("upper")?.unwrap_or(1) != 0;
    let diagonal = if node.optional(1).is_some() {
        node.one(1)?
    } else {
        0
    };
    if input.rank() < 2 {
        return Err("the input is not a matrix".to_owned());
    }
    let grid = Grid::of(input.dims());
    let source = move |place: &[usize]| {
        let [.., row, column] = place else {
            return (1, 0);
        };
        let distance = *column as i128 - *row as i128;
        let is_kept = if is_upper {
            distance >= diagonal
        } else {
            distance <= diagonal
        };
        if is_kept {
            (0, grid.index(place))
        } else {
            (1, 0)
        }
    };
    Ok(vec![Value::picked(
        vec![input.clone(), zero(input.dtype())?],
        input.dims(),
        source,
    )?])
}

/// `Where`: elements of the second input where the first is true, of the third elsewhere.
pub fn choose(node: &Node) -> Result<Vec<Value>, String> {
    let (condition, yes, no) = (
        node.input(0)?.clone().in_memory(),
        node.input(1)?,
        node.input(2)?,
    );
    if condition.dtype().class() != Class::Bool {
        return Err("the condition is not of truth values".to_owned());
    }
    let dims = broadcast(&[condition.dims(), yes.dims(), no.dims()])?;
    let rank = dims.len();
    let [of_condition, of_yes, of_no] =
        [&condition, yes, no].map(|value| broadcast_index(value.dims(), rank));
    let source = move |place: &[usize]| {
        let truth = condition
            .number(of_condition(place))
            .map_or(0, |bits| integer(DType::Bool, bits));
        if truth != 0 {
            (0, of_yes(place))
        } else {
            (1, of_no(place))
        }
    };
    let result = Value::picked(vec![yes.clone(), no.clone()], &dims, source)?;
    if matches!(
        result.dtype(),
        DType::Float | DType::Double | DType::Float16 | DType::Bfloat16
    ) {
        let negative_zero = 1 << (result.dtype().bits() - 1);
        if result
            .ranges()
            .any(|range| result.numbers(range).contains(&Ok(negative_zero)))
        {
            // onnxruntime loses their signs, depending on the shapes.
            node.chosen((), None)?;
        }
    }
    Ok(vec![result])
}
