//! Operators that make a tensor of a shape, of places, or of a few numbers.

use super::super::compare::{Allowed, element_result};
use super::arithmetic::double;
use super::grid::Grid;
use super::node::Node;
use super::value::{Value, is_integer_or_bool};
use crate::tensor::element_count;
use onnx_cast::{Cast, Class, DType, Rules};

pub fn constant_of_shape(node: &Node) -> Result<Vec<Value>, String> {
    let dims = node.input(0)?.list()?;
    let value = match node.attribute("value")? {
        Some(value) => Value::load(
            value.t.as_ref().ok_or("the value is missing")?,
            node.model.data(),
        )?,
        None => Value::of_bits(DType::Float, &[1], [0])?,
    };
    if value.elements() != 1 {
        return Err("the value is not one element".to_owned());
    }
    Ok(vec![Value::picked(vec![value], &dims, |_| (0, 0))?])
}

/// `start`, `start + step`, … before `limit`. onnxruntime counts the elements in DOUBLE.
pub fn range(node: &Node) -> Result<Vec<Value>, String> {
    let (start, limit, step) = (node.one(0)?, node.one(1)?, node.one(2)?);
    if step == 0 {
        return Err("the step is zero".to_owned());
    }
    let distance = if step > 0 {
        limit - start
    } else {
        start - limit
    };
    let count = if distance <= 0 {
        0
    } else {
        1 + (distance - 1) / step.abs()
    };
    let in_doubles = ((limit as f64 - start as f64) / step as f64)
        .ceil()
        .max(0.0) as i128;
    let count = if count == in_doubles {
        count
    } else {
        node.chosen(count, Some(in_doubles))?
    };
    let dims = [i64::try_from(count).map_err(|_| "the range is too long")?];
    let dtype = node.input(0)?.dtype();
    let number =
        move |place: &[usize]| super::arithmetic::bits_of(dtype, start + place[0] as i128 * step);
    Ok(vec![Value::computed(dtype, &dims, 1, number)?])
}

/// The dimensions from `start` to `end`, which are moved into the shape.
pub fn shape(node: &Node) -> Result<Vec<Value>, String> {
    let (_, dims) = node.first()?;
    let rank = dims.len() as i64;
    let place = |axis: i64| {
        if axis < 0 {
            axis.saturating_add(rank)
        } else {
            axis
        }
        .clamp(0, rank) as usize
    };
    let start = place(node.int("start")?.unwrap_or(0));
    let end = place(node.int("end")?.unwrap_or(rank));
    let part = dims.get(start..end).unwrap_or(&[]);
    Ok(vec![Value::of_int64s(
        &[part.len() as i64],
        part.iter().copied(),
    )?])
}

pub fn size(node: &Node) -> Result<Vec<Value>, String> {
    let (_, dims) = node.first()?;
    let count = element_count(&dims)
        .and_then(|count| i64::try_from(count).ok())
        .ok_or("the shape is too large")?;
    Ok(vec![Value::of_int64s(&[], [count])?])
}

/// Ones on a diagonal of a matrix of the shape of the input.
pub fn eye_like(node: &Node) -> Result<Vec<Value>, String> {
    let (dtype, dims) = node.first()?;
    let stated = node
        .int("dtype")?
        .and_then(|number| i32::try_from(number).ok())
        .and_then(DType::from_number);
    let dtype = stated.or(dtype).ok_or("the type is not known")?;
    let diagonal = i128::from(node.int("k")?.unwrap_or(0));
    if dims.len() != 2 {
        return Err("the input is not a matrix".to_owned());
    }
    let [zero, one] = [0, 1].map(|truth| of_truth(dtype, truth));
    let (zero, one) = (zero?, one?);
    let number = move |place: &[usize]| {
        let is_one = place[1] as i128 - place[0] as i128 == diagonal;
        Ok(if is_one { one } else { zero })
    };
    Ok(vec![Value::computed(dtype, &dims, 1, number)?])
}

fn of_truth(dtype: DType, truth: u64) -> Result<u128, String> {
    if matches!(dtype.class(), Class::String | Class::Complex) {
        return Err(format!("{dtype} is left to runtimes"));
    }
    let cast =
        Cast::new(DType::Bool, dtype, Rules::default()).map_err(|error| error.to_string())?;
    Ok(element_result(&cast, Allowed::ALL, truth)?.into())
}

/// The second of two values at one index along a new axis, the first elsewhere. An index outside of
/// the depth selects nothing.
pub fn one_hot(node: &Node) -> Result<Vec<Value>, String> {
    let (indices, depth, values) = (node.input(0)?, node.input(1)?, node.input(2)?);
    if depth.elements() != 1 || values.dims() != [2] {
        return Err("there is not one depth, or there are not two values".to_owned());
    }
    let depth = double(depth.dtype(), depth.number(0)?)?;
    if !(1.0..1e15).contains(&depth) || depth.fract() != 0.0 {
        return Err("the depth is not a positive integer".to_owned());
    }
    let rank = indices.rank() + 1;
    let stated = node.int("axis")?.unwrap_or(-1);
    let axis = if stated < 0 {
        stated + rank as i64
    } else {
        stated
    };
    let axis = usize::try_from(axis)
        .ok()
        .filter(|&axis| axis < rank)
        .ok_or("the axis does not exist")?;
    let mut dims = indices.dims().to_vec();
    dims.insert(axis, depth as i64);
    let is_float = indices.dtype().class() == Class::Float;
    let (mut text, mut runtime) = (Vec::new(), Vec::new());
    for range in indices.ranges() {
        for number in indices.numbers(range) {
            let index = double(indices.dtype(), number?)?;
            if is_float && (index.is_nan() || index.abs() > i64::MAX as f64) {
                return Err("an index has no value in INT64".to_owned());
            }
            // By the text, fractions are cast to INT64, and negative indices count from the end
            // since opset 11.
            text.push(selected(index.trunc(), depth, node.version() >= 11));
            runtime.push(selected(index, depth, true));
        }
    }
    let selected = if text == runtime {
        text
    } else {
        node.chosen(text, Some(runtime))?
    };
    let grid = Grid::of(indices.dims());
    let source = move |place: &[usize]| {
        let others = [&place[..axis], &place[axis + 1..]].concat();
        (
            0,
            usize::from(selected[grid.index(&others)] == Some(place[axis])),
        )
    };
    Ok(vec![Value::picked(vec![values.clone()], &dims, source)?])
}

/// The index that is selected along the axis.
fn selected(index: f64, depth: f64, counts_back: bool) -> Option<usize> {
    let index = if index < 0.0 && counts_back {
        index + depth
    } else {
        index
    };
    let is_inside = index.fract() == 0.0 && index >= 0.0 && index < depth;
    is_inside.then_some(index as usize)
}

/// The places of the elements that are not zero: a row for each axis.
pub fn non_zero(node: &Node) -> Result<Vec<Value>, String> {
    let input = node.input(0)?;
    if input.rank() == 0 {
        return Err("runtimes differ in the shape of the result for a scalar".to_owned());
    }
    let grid = Grid::of(input.dims());
    let mut places = Vec::new();
    for range in input.ranges() {
        for (index, number) in range.clone().zip(input.numbers(range)) {
            let number = number?;
            let is_zero = if is_integer_or_bool(input.dtype()) {
                number == 0
            } else {
                double(input.dtype(), number)? == 0.0
            };
            if !is_zero {
                places.push(grid.place(index));
            }
        }
    }
    let rows =
        (0..input.rank()).flat_map(|axis| places.iter().map(move |place| place[axis] as i64));
    Ok(vec![Value::of_int64s(
        &[input.rank() as i64, places.len() as i64],
        rows,
    )?])
}
