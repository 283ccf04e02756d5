//! Operators that make a tensor of a shape or of a few numbers.

use super::call::{Call, length};
use super::numbers::{integers, of_codes, of_integers};
use super::operator::Operator;
use super::result::{Computed, NotComputed, undefined};
use crate::ops::readings::range_length;
use crate::tensor::{Content, Data, element_count};
use onnx_cast::{Cast, Class, DType, Rules};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("ConstantOfShape", constant_of_shape),
    Operator::new("Range", range),
    Operator::of_shape("Shape", shape),
    Operator::of_shape("Size", size),
    Operator::of_shape("EyeLike", eye_like),
];

fn constant_of_shape(call: &Call) -> Computed {
    let dims = call.list(call.input(0)?)?;
    let value = match call.attribute("value")? {
        Some(value) => {
            let tensor = value
                .t
                .as_ref()
                .ok_or_else(|| undefined("the value is missing"))?;
            let content = call.model.content(tensor);
            content.map_err(|error| undefined(error.to_string()))?
        }
        None => Content::new(
            DType::Float,
            &[1],
            Data::Numbers(vec![0; 4].into(), Vec::new()),
        ),
    };
    if value.elements() != 1 {
        return Err(undefined(format!(
            "the value has {} elements instead of one",
            value.elements()
        )));
    }
    call.elements(&dims, value.dtype())?;
    let flat = [element_count(&dims).unwrap_or(0) as i64];
    Ok(vec![
        value
            .reshaped(&[1])
            .moved(&flat, |map| map.stretched(0, length(flat[0])))
            .reshaped(&dims),
    ])
}

fn range(call: &Call) -> Computed {
    let one = |index: usize| match integers(call.input(index)?)?.as_slice() {
        [one] => Ok(*one),
        all => Err(undefined(format!(
            "input {index} has {} elements instead of one",
            all.len()
        ))),
    };
    let (start, limit, step) = (one(0)?, one(1)?, one(2)?);
    let count = range_length([start, limit, step]).ok_or_else(|| undefined("the step is zero"))?;
    let count = call.choose(count)?;
    let dtype = call.input(0)?.dtype();
    let dims = [i64::try_from(count).map_err(|_| undefined("the range is too long"))?];
    call.elements(&dims, dtype)?;
    let numbers: Vec<i128> = (0..count).map(|index| start + index * step).collect();
    Ok(vec![of_integers(dtype, &dims, &numbers)?])
}

fn shape(call: &Call) -> Computed {
    let (_, dims) = call.first()?;
    let rank = dims.len() as i64;
    let counted = |axis: i64| length((if axis < 0 { axis + rank } else { axis }).clamp(0, rank));
    let start = counted(call.int("start")?.unwrap_or(0));
    let end = counted(call.attribute("end")?.map_or(rank, |end| end.i())).max(start);
    let part: Vec<i128> = dims[start..end]
        .iter()
        .map(|&dim| i128::from(dim))
        .collect();
    Ok(vec![of_integers(
        DType::Int64,
        &[part.len() as i64],
        &part,
    )?])
}

fn size(call: &Call) -> Computed {
    let (_, dims) = call.first()?;
    let elements = element_count(dims).ok_or_else(|| undefined("the shape is too large"))?;
    Ok(vec![of_integers(
        DType::Int64,
        &[],
        &[i128::from(elements)],
    )?])
}

fn eye_like(call: &Call) -> Computed {
    let (dtype, dims) = call.first()?;
    let stated = call
        .int("dtype")?
        .and_then(|number| DType::from_number(i32::try_from(number).ok()?));
    let dtype = stated
        .or(dtype)
        .ok_or_else(|| undefined("the type is unknown"))?;
    let (&[rows, columns], diagonal) = (dims, call.int("k")?.unwrap_or(0)) else {
        return Err(undefined("the input is not a matrix"));
    };
    let elements = call.elements(dims, dtype)?;
    if matches!(dtype.class(), Class::String | Class::Complex) {
        return Err(NotComputed::LeftToRuntimes(format!(
            "{dtype} is left to the runtime"
        )));
    }
    let one = Cast::new(DType::Bool, dtype, Rules::default())
        .map_err(|error| undefined(error.to_string()))?;
    let [one, zero] = [1, 0].map(|truth| onnx_cast::convert_element(&one, truth).0);
    let columns = length(columns).max(usize::from(rows == 0));
    let is_one = |index: usize| (index % columns) as i64 - (index / columns) as i64 == diagonal;
    let codes: Vec<u64> = (0..elements)
        .map(|index| if is_one(index) { one } else { zero })
        .collect();
    Ok(vec![of_codes(dtype, dims, codes.into_iter())])
}
