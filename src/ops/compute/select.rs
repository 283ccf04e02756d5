//! Operators that select elements one by one.

use super::call::{Call, count, length};
use super::layout::{broadcast, index_of, stretched};
use super::numbers::{codes, floats, integers, of_codes, of_integers};
use super::operator::Operator;
use super::result::{Computed, NotComputed, undefined};
use crate::tensor::{Content, Data, ElementMap};
use onnx_cast::{Class, DType};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Concat", concat),
    Operator::new("GatherElements", gather_elements),
    Operator::new("GatherND", gather_nd),
    Operator::new("Pad", pad),
    Operator::new("Trilu", trilu),
    Operator::new("OneHot", one_hot),
    Operator::new("Where", select),
    Operator::new("NonZero", non_zero),
];

/// The largest number of elements that are selected one by one.
const MOST_ELEMENTS: usize = 1 << 24;

/// The elements of tensors of one type, one tensor after the other.
fn joined(parts: &[&Content]) -> Result<Content, NotComputed> {
    let (first, elements) = (
        parts[0],
        parts.iter().map(|part| part.elements()).sum::<usize>(),
    );
    let dtype = first.dtype();
    if parts.iter().any(|part| part.dtype() != dtype) {
        return Err(undefined("the inputs differ in type"));
    }
    let dims = [elements as i64];
    let computed = parts.iter().map(|part| (*part).clone().computed());
    let data = match dtype.bits() % 8 {
        _ if dtype == DType::String => {
            Data::Strings(computed.flat_map(|part| strings(&part)).collect())
        }
        0 => Data::Numbers(
            computed
                .flat_map(|part| bytes(&part))
                .collect::<Vec<u8>>()
                .into(),
            Vec::new(),
        ),
        _ => {
            let all = parts
                .iter()
                .map(|part| codes(part))
                .collect::<Result<Vec<_>, _>>()?
                .concat();
            return Ok(of_codes(dtype, &dims, all.into_iter()));
        }
    };
    Ok(Content::new(dtype, &dims, data))
}

fn strings(content: &Content) -> Vec<bytes::Bytes> {
    if let Data::Strings(strings) = content.data() {
        strings.clone()
    } else {
        Vec::new()
    }
}

fn bytes(content: &Content) -> bytes::Bytes {
    if let Data::Numbers(bytes, _) = content.data() {
        bytes.to_bytes()
    } else {
        bytes::Bytes::new()
    }
}

/// The elements at these indices of all elements of a tensor.
fn picked(content: &Content, dims: &[i64], indices: &[usize]) -> Content {
    content
        .reshaped(&[content.elements() as i64])
        .moved(&[indices.len() as i64], |map| map.taken(0, indices))
        .reshaped(dims)
}

/// The number of elements of a result that are selected one by one.
fn elements(call: &Call, dims: &[i64], dtype: DType) -> Result<usize, NotComputed> {
    let elements = call.elements(dims, dtype)?;
    let what = || {
        NotComputed::LeftToRuntimes(format!(
            "{elements} elements are more than are selected one by one"
        ))
    };
    if elements <= MOST_ELEMENTS {
        Ok(elements)
    } else {
        Err(what())
    }
}

/// The results of a function for the indices along all axes of each element of a shape, in order.
fn each_index<T>(
    dims: &[i64],
    mut visit: impl FnMut(&[i64]) -> Result<T, NotComputed>,
) -> Result<Vec<T>, NotComputed> {
    let mut indices = vec![0; dims.len()];
    let elements = count(dims);
    let mut found = Vec::with_capacity(elements);
    for _ in 0..elements {
        found.push(visit(&indices)?);
        for (index, &dim) in indices.iter_mut().zip(dims).rev() {
            *index += 1;
            if *index < dim {
                break;
            }
            *index = 0;
        }
    }
    Ok(found)
}

/// The steps between elements that are neighbours along each axis.
fn strides(dims: &[i64]) -> Vec<usize> {
    let mut strides = vec![1_usize; dims.len()];
    for axis in (1..dims.len()).rev() {
        // Beyond the address space only in an empty tensor, which has no neighbours.
        strides[axis - 1] = strides[axis].saturating_mul(length(dims[axis]));
    }
    strides
}

fn concat(call: &Call) -> Computed {
    let parts: Vec<&Content> = call.contents().map(|(_, part)| part).collect();
    let Some(first) = parts.first() else {
        return Err(undefined("there are no inputs"));
    };
    let axis = call.axis(
        call.int("axis")?
            .ok_or_else(|| undefined("the axis is missing"))?,
        first.dims().len(),
    )?;
    let others = |dims: &[i64]| [&dims[..axis], &dims[axis + 1..]].concat();
    if parts.iter().any(|part| {
        part.dims().len() != first.dims().len() || others(part.dims()) != others(first.dims())
    }) {
        return Err(undefined("the inputs differ in another axis"));
    }
    let mut dims = first.dims().to_vec();
    let sum = parts
        .iter()
        .try_fold(0_i64, |sum, part| sum.checked_add(part.dims()[axis]));
    dims[axis] = sum.ok_or_else(|| undefined("the result is too long"))?;
    let all = joined(&parts)?;
    let outer = count(&dims[..axis]);
    // An empty tensor has no rows, however long its outer axes are.
    if outer != 1 && all.elements() > 0 {
        elements(call, &dims, first.dtype())?;
        let runs: Vec<usize> = parts
            .iter()
            .map(|part| part.elements().checked_div(outer).unwrap_or(0))
            .collect();
        let mut starts = Vec::with_capacity(parts.len());
        parts.iter().fold(0, |start, part| {
            starts.push(start);
            start + part.elements()
        });
        let row = |row: usize| {
            starts
                .iter()
                .zip(&runs)
                .flat_map(move |(start, run)| start + row * run..start + (row + 1) * run)
        };
        let indices: Vec<usize> = (0..outer).flat_map(row).collect();
        return Ok(vec![picked(&all, &dims, &indices)]);
    }
    Ok(vec![all.reshaped(&dims)])
}

fn gather_elements(call: &Call) -> Computed {
    let (input, indices) = (call.input(0)?, call.input(1)?);
    let dims = input.dims();
    let axis = call.axis(call.int("axis")?.unwrap_or(0), dims.len())?;
    let fits = |axis_of: usize| axis_of == axis || indices.dims()[axis_of] <= dims[axis_of];
    if indices.dims().len() != dims.len() || !(0..dims.len()).all(fits) {
        return Err(undefined(
            "the shape of the indices does not fit that of the data",
        ));
    }
    elements(call, indices.dims(), input.dtype())?;
    let steps = strides(dims);
    let mut along = call.list(indices)?.into_iter();
    let found = each_index(indices.dims(), |place| {
        let index = index_of(call, along.next().unwrap_or(0), dims[axis])?;
        let rest = (0..dims.len())
            .filter(|&other| other != axis)
            .map(|other| length(place[other]) * steps[other])
            .sum::<usize>();
        Ok(rest + index * steps[axis])
    })?;
    Ok(vec![picked(input, indices.dims(), &found)])
}

fn gather_nd(call: &Call) -> Computed {
    let (input, indices) = (call.input(0)?, call.input(1)?);
    let (dims, batch) = (input.dims(), call.int("batch_dims")?.unwrap_or(0));
    let (Some((&depth, outer)), Ok(batch)) = (indices.dims().split_last(), usize::try_from(batch))
    else {
        return Err(undefined("the indices are a scalar"));
    };
    let axes = batch + length(depth);
    if batch > outer.len() || axes > dims.len() || depth < 1 || dims[..batch] != outer[..batch] {
        return Err(undefined(
            "the shape of the indices does not fit that of the data",
        ));
    }
    let result = [outer, &dims[axes..]].concat();
    elements(call, &result, input.dtype())?;
    let steps = strides(dims);
    let run = count(&dims[axes..]);
    let mut tuples = call.list(indices)?.into_iter();
    let starts = each_index(outer, |place| {
        let in_batch: usize = (0..batch)
            .map(|axis| length(place[axis]) * steps[axis])
            .sum();
        (batch..axes).try_fold(in_batch, |start, axis| {
            let index = index_of(call, tuples.next().unwrap_or(0), dims[axis])?;
            Ok(start + index * steps[axis])
        })
    })?;
    let found: Vec<usize> = starts
        .into_iter()
        .flat_map(|start| start..start + run)
        .collect();
    Ok(vec![picked(input, &result, &found)])
}

/// Pads with a constant; negative numbers remove elements.
fn pad(call: &Call) -> Computed {
    let input = call.input(0)?;
    let dims = input.dims();
    let mode = call
        .attribute("mode")?
        .map_or(&b"constant"[..], |mode| mode.s());
    if mode != b"constant" {
        return Err(NotComputed::LeftToRuntimes(format!(
            "the mode {} is left to the runtime",
            String::from_utf8_lossy(mode)
        )));
    }
    let name = if call.schema.since_version < 2 {
        "paddings"
    } else {
        "pads"
    };
    let pads = call
        .ints(name, 1)?
        .ok_or_else(|| undefined("the pads are missing"))?;
    let axes = match call.optional(3) {
        Some(_) => call.each_axis(&call.axes("axes", 3)?.unwrap_or_default(), dims.len())?,
        None => (0..dims.len()).collect(),
    };
    if pads.len() != 2 * axes.len() {
        return Err(undefined(
            "the number of pads is not twice that of the axes",
        ));
    }
    if (1..axes.len()).any(|place| axes[..place].contains(&axes[place])) {
        return Err(undefined("an axis is padded twice"));
    }
    let mut before = vec![0; dims.len()];
    let mut padded = dims.to_vec();
    for (place, &axis) in axes.iter().enumerate() {
        before[axis] = pads[place];
        let sum = padded[axis]
            .checked_add(pads[place])
            .and_then(|sum| sum.checked_add(pads[place + axes.len()]));
        padded[axis] = sum
            .filter(|&dim| dim >= 0)
            .ok_or_else(|| undefined("an axis has no length after padding"))?;
    }
    let value = match (call.schema.attribute("value"), call.optional(2)) {
        (Some(_), _)
            if call
                .attribute("value")?
                .is_some_and(|value| value.f() != 0.0) =>
        {
            return Err(NotComputed::LeftToRuntimes(
                "a value other than zero is left to the runtime".to_owned(),
            ));
        }
        (None, Some(value)) if value.elements() == 1 => value.reshaped(&[1]),
        _ => zero(input.dtype())?,
    };
    elements(call, &padded, input.dtype())?;
    let (steps, outside) = (strides(dims), input.elements());
    let found = each_index(&padded, |place| {
        let old = |axis: usize| {
            place[axis]
                .checked_sub(before[axis])
                .filter(|&index| index >= 0 && index < dims[axis])
        };
        let index =
            (0..dims.len()).try_fold(0, |sum, axis| Some(sum + length(old(axis)?) * steps[axis]));
        Ok(index.unwrap_or(outside))
    })?;
    Ok(vec![picked(&joined(&[input, &value])?, &padded, &found)])
}

/// A list of one zero, or of one empty string.
fn zero(dtype: DType) -> Result<Content, NotComputed> {
    let bytes = dtype.addressable_bytes(1);
    match (dtype.class(), bytes) {
        (Class::String, _) => Ok(Content::new(
            dtype,
            &[1],
            Data::Strings(vec![bytes::Bytes::new()]),
        )),
        _ if dtype == DType::Float8E8M0 => Err(undefined("FLOAT8E8M0 has no zero")),
        (_, Some(bytes)) => Ok(Content::new(
            dtype,
            &[1],
            Data::Numbers(vec![0; bytes].into(), Vec::new()),
        )),
        (_, None) => Err(undefined("the type has no zero")),
    }
}

fn trilu(call: &Call) -> Computed {
    let input = call.input(0)?;
    let dims = input.dims();
    let is_upper = call.int("upper")?.unwrap_or(1) != 0;
    let diagonal = if call.optional(1).is_some() {
        call.one(1)?
    } else {
        0
    };
    if dims.len() < 2 {
        return Err(undefined("the input is not a matrix"));
    }
    elements(call, dims, input.dtype())?;
    let outside = input.elements();
    let mut elements = 0..outside;
    let found = each_index(dims, |place| {
        let (Some(index), [.., row, column]) = (elements.next(), place) else {
            return Ok(outside);
        };
        let distance = column - row;
        let is_kept = if is_upper {
            distance >= diagonal
        } else {
            distance <= diagonal
        };
        Ok(if is_kept { index } else { outside })
    })?;
    Ok(vec![picked(
        &joined(&[input, &zero(input.dtype())?])?,
        dims,
        &found,
    )])
}

/// An index outside of the depth selects nothing.
fn one_hot(call: &Call) -> Computed {
    let (indices, values) = (call.input(0)?, call.input(2)?);
    let depth = match floats(call.input(1)?)?.as_slice() {
        [depth] if depth.trunc() == *depth && depth.abs() < 1e15 => *depth as i64,
        _ => return Err(undefined("the depth is not an integer")),
    };
    if depth <= 0 || values.dims() != [2] {
        return Err(undefined(
            "the depth is not positive, or there are not two values",
        ));
    }
    let rank = indices.dims().len() + 1;
    let axis = call.int("axis")?.unwrap_or(-1);
    let axis = usize::try_from(if axis < 0 { axis + rank as i64 } else { axis })
        .ok()
        .filter(|&axis| axis < rank);
    let axis = axis.ok_or_else(|| undefined("the axis does not exist"))?;
    let mut dims = indices.dims().to_vec();
    dims.insert(axis, depth);
    elements(call, &dims, values.dtype())?;
    let wanted = selected_indices(call, indices, depth)?;
    let steps = strides(indices.dims());
    let found = each_index(&dims, |place| {
        let others = place
            .iter()
            .enumerate()
            .filter(|&(at, _)| at != axis)
            .map(|(_, &index)| length(index));
        let index = wanted[others
            .zip(&steps)
            .map(|(index, step)| index * step)
            .sum::<usize>()];
        Ok(usize::from(index == Some(place[axis])))
    })?;
    Ok(vec![picked(values, &dims, &found)])
}

/// The places that the indices of a OneHot select; `None` for an index outside of the depth. Two
/// kinds of indices are contested: by the text, fractions are cast to INT64, and before opset 11
/// negative indices select nothing; runtimes select nothing at fractions, and count negative
/// indices from the end in all versions.
fn selected_indices(
    call: &Call,
    indices: &Content,
    depth: i64,
) -> Result<Vec<Option<i64>>, NotComputed> {
    let place = |index: f64, counts_back: bool| {
        let counted = if index < 0.0 && counts_back {
            index + depth as f64
        } else {
            index
        };
        (counted.trunc() == counted && counted >= 0.0 && counted < depth as f64)
            .then_some(counted as i64)
    };
    let is_cast = indices.dtype().class() == Class::Float;
    let indices = floats(indices)?;
    if is_cast
        && indices
            .iter()
            .any(|index| index.is_nan() || index.abs() > i64::MAX as f64)
    {
        return Err(undefined(
            "an index has no value in INT64, to which indices are cast",
        ));
    }
    let by_text: Vec<_> = indices
        .iter()
        .map(|index| place(index.trunc(), call.schema.since_version >= 11))
        .collect();
    let in_runtimes: Vec<_> = indices.iter().map(|&index| place(index, true)).collect();
    if by_text == in_runtimes {
        return Ok(by_text);
    }
    call.contested(
        by_text,
        Some(in_runtimes),
        "the text of ONNX casts fractional indices to INT64, and before opset 11 has no negative indices; runtimes select nothing at fractions, and count negative indices from the end",
    )
}

fn select(call: &Call) -> Computed {
    let (condition, yes, no) = (call.input(0)?, call.input(1)?, call.input(2)?);
    let dims = broadcast(&broadcast(condition.dims(), yes.dims())?, no.dims())?;
    let elements = elements(call, &dims, yes.dtype())?;
    let truth = integers(&stretched(condition, &dims))?;
    let both = joined(&[&stretched(yes, &dims), &stretched(no, &dims)])?;
    let found: Vec<usize> = truth
        .iter()
        .enumerate()
        .map(|(index, &truth)| if truth != 0 { index } else { index + elements })
        .collect();
    let result = picked(&both, &dims, &found);
    if matches!(
        result.dtype(),
        DType::Float | DType::Double | DType::Float16 | DType::Bfloat16
    ) {
        let negative_zero = 1_u64 << (result.dtype().bits() - 1);
        if codes(&result)?.contains(&negative_zero) {
            call.contested(
                (),
                None,
                "the result has negative zeros, of which onnxruntime loses the sign, depending on the shapes",
            )?;
        }
    }
    Ok(vec![result])
}

/// The indices of the elements that are not zero: a row per axis.
fn non_zero(call: &Call) -> Computed {
    let input = call.input(0)?;
    if input.dims().is_empty() {
        return Err(NotComputed::LeftToRuntimes(
            "runtimes differ in the shape of the result for a scalar".to_owned(),
        ));
    }
    elements(call, input.dims(), input.dtype())?;
    let is_set: Vec<bool> = match input.dtype().class() {
        Class::Float => floats(input)?
            .into_iter()
            .map(|number| number != 0.0)
            .collect(),
        _ => integers(input)?
            .into_iter()
            .map(|number| number != 0)
            .collect(),
    };
    let mut places = Vec::new();
    let mut is_set = is_set.into_iter();
    each_index(input.dims(), |place| {
        if is_set.next() == Some(true) {
            places.extend(place.iter().map(|&index| i128::from(index)));
        }
        Ok(())
    })?;
    let rank = input.dims().len();
    let found = places.len() / rank;
    let mut rows = Vec::with_capacity(places.len());
    ElementMap::of(&[found, rank])
        .transposed(&[1, 0])
        .visit(0, places.len(), |index| rows.push(places[index]));
    let dims = [rank as i64, found as i64];
    call.elements(&dims, DType::Int64)?;
    Ok(vec![of_integers(DType::Int64, &dims, &rows)?])
}
