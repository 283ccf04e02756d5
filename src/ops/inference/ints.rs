//! The integers of small tensors, as far as they are known: shapes and what is computed from them.
//!
//! Only scalars and lists are followed. Truth values count as zero and one. Nothing passes in or
//! out of functions, whose calls share what is inferred.

use super::known::{Dim, Numbers, is_kept, sizes};
use super::length::Length;
use super::shape::{from_front, product, range_length, shape_range, slice_range};
use super::view::View;
use crate::graph::ConstantValue;
use crate::protobuf::schema::TensorProto;
use crate::tensor::{Tensor, Values};
use onnx_cast::{Class, DType, packed};

/// The integers of a node's outputs; shorter than the outputs if the rest is unknown.
pub(super) fn output_ints(view: &View) -> Vec<Option<Numbers>> {
    if !view.schema.domain.is_empty() {
        return Vec::new();
    }
    if view.schema.name == "Split" {
        return split(view).unwrap_or_default();
    }
    first_output(view)
        .filter(|ints| is_kept(ints.len()))
        .map_or_else(Vec::new, |ints| vec![Some(ints)])
}

fn first_output(view: &View) -> Option<Numbers> {
    match view.schema.name {
        "Constant" => constant(view),
        "Shape" => {
            let shape = view.shape(0)?;
            let (start, end) = shape_range(view, shape.len())?;
            Some(shape[start..end].to_vec())
        }
        "Size" => Some(vec![product(view.shape(0)?)]),
        "Identity" | "Squeeze" | "Unsqueeze" | "Flatten" | "Reshape" => view.values(0),
        "Cast" => cast(view),
        "CastLike" => view
            .values(0)
            .filter(|_| is_integer(view, 1) && is_integer(view, 0)),
        "Gather" => gather(view),
        "Concat" => (0..view.inputs.len()).try_fold(Vec::new(), |mut all, index| {
            all.extend(view.values_or_unknown(index)?);
            is_kept(all.len()).then_some(all)
        }),
        "Slice" => slice(view),
        "Range" => range(view),
        "ConstantOfShape" => constant_of_shape(view),
        "Expand" => {
            let (value, length) = (view.values(0)?, view.known_values(1)?);
            match (value.as_slice(), length.as_slice()) {
                ([only], [length]) => Some(vec![
                    *only;
                    usize::try_from(*length)
                        .ok()
                        .filter(|&length| is_kept(length))?
                ]),
                _ => None,
            }
        }
        "Where" => select(view),
        "Add" | "Sub" | "Mul" | "Div" | "Mod" | "Max" | "Min" | "Equal" | "Less" | "Greater"
        | "LessOrEqual" | "GreaterOrEqual" | "And" | "Or" => fold(view),
        "Neg" => each_number(view, i64::checked_neg),
        "Abs" => each_number(view, i64::checked_abs),
        "Not" => each_number(view, |value| Some(i64::from(value == 0))),
        "ReduceProd" | "ReduceSum" | "ReduceMax" | "ReduceMin" => reduce(view),
        _ => None,
    }
}

/// A function of each number of the first input; nothing is known of symbols.
fn each_number(view: &View, function: fn(i64) -> Option<i64>) -> Option<Numbers> {
    Some(
        view.values(0)?
            .into_iter()
            .map(|value| function(value?.size()?).map(Length::Size))
            .collect(),
    )
}

fn is_integer(view: &View, index: usize) -> bool {
    view.input(index)
        .dtype()
        .is_some_and(|dtype| matches!(dtype, DType::Int64 | DType::Int32))
}

fn constant(view: &View) -> Option<Numbers> {
    tensor_list(
        ConstantValue::of_node(view.node)
            .ok()?
            .tensor()
            .ok()?
            .as_ref(),
    )
}

/// The integers of a tensor that is a scalar or a list.
pub(super) fn tensor_list(proto: &TensorProto) -> Option<Numbers> {
    let elements = match proto.dims.as_slice() {
        [] => 1,
        [length] => usize::try_from(*length).ok()?,
        _ => return None,
    };
    is_kept(elements)
        .then(|| tensor_ints(proto))?
        .map(|ints| sizes(&ints))
}

/// A cast between the two types of indices, which dimensions do not overflow, or from truth values.
fn cast(view: &View) -> Option<Numbers> {
    let to = i32::try_from(view.attribute("to")??.i())
        .ok()
        .and_then(DType::from_number)?;
    let values = view.values(0)?;
    // The result is not defined for a dimension that does not fit.
    let fits = |value: &Dim| match to {
        DType::Int64 => true,
        DType::Int32 => value
            .and_then(Length::size)
            .is_none_or(|value| i32::try_from(value).is_ok()),
        _ => false,
    };
    match to {
        DType::Bool => each_number(view, |value| Some(i64::from(value != 0))),
        _ => values.iter().all(fits).then_some(values),
    }
}

fn gather(view: &View) -> Option<Numbers> {
    let data = view.values(0)?;
    if view.rank(0) != Some(1)
        || view
            .int_or("axis", 0)
            .is_none_or(|axis| axis != 0 && axis != -1)
    {
        return None;
    }
    let at = |index: Dim| data[from_front(index?.size()?, data.len())?];
    Some(view.values(1)?.into_iter().map(at).collect())
}

fn slice(view: &View) -> Option<Numbers> {
    let data = view.values(0).filter(|_| view.rank(0) == Some(1))?;
    let is_attribute = view.schema.attribute("starts").is_some();
    let one = |name: &str, index: usize| view.known_list(name, index)?.first().copied();
    let (start, end) = (one("starts", 1)?, one("ends", 2)?);
    let step = if !is_attribute && view.has_input(4) {
        one("steps", 4)?
    } else {
        1
    };
    let wide = i64::try_from(data.len()).ok()?;
    let (first, count) = slice_range(view, wide, [start, end, step])?;
    let at = |place: i64| {
        data.get(usize::try_from(place.checked_mul(step)?.checked_add(first)?).ok()?)
            .copied()
    };
    (0..count).map(at).collect()
}

fn range(view: &View) -> Option<Numbers> {
    let one = |index: usize| view.known_values(index)?.first().copied();
    let (start, limit, delta) = (one(0)?, one(1)?, one(2)?);
    let length = range_length(view, start, limit, delta)
        .filter(|&length| usize::try_from(length).is_ok_and(is_kept))?;
    (0..length)
        .map(|place| {
            place
                .checked_mul(delta)
                .and_then(|shift| start.checked_add(shift))
                .map(size)
        })
        .collect()
}

fn constant_of_shape(view: &View) -> Option<Numbers> {
    let value = tensor_list(view.attribute("value")??.t.as_ref()?)?
        .first()
        .copied()?;
    match view.known_values(0)?.as_slice() {
        [] => Some(vec![value]),
        [length] => Some(vec![
            value;
            usize::try_from(*length)
                .ok()
                .filter(|&length| is_kept(length))?
        ]),
        _ => None,
    }
}

fn select(view: &View) -> Option<Numbers> {
    let [condition, yes, no] = [view.values(0)?, view.values(1)?, view.values(2)?];
    let length = [&condition, &yes, &no]
        .into_iter()
        .map(Vec::len)
        .find(|&length| length != 1)
        .unwrap_or(1);
    let choose = |index: usize| {
        let (yes, no) = (at(&yes, index)?, at(&no, index)?);
        Some(match at(&condition, index)? {
            Some(Length::Size(0)) => no,
            Some(Length::Size(_)) => yes,
            _ => yes.filter(|_| yes == no),
        })
    };
    (0..length).map(choose).collect()
}

/// An element of a scalar or a list that is broadcast.
fn at(values: &Numbers, index: usize) -> Option<Dim> {
    values
        .get(if values.len() == 1 { 0 } else { index })
        .copied()
}

/// An operator on two or more operands, element by element.
fn fold(view: &View) -> Option<Numbers> {
    // Before opset 7 operands were broadcast differently.
    if view.schema.attribute("broadcast").is_some() {
        return None;
    }
    let op = |left: Length, right: Length| -> Dim {
        match (view.schema.name, right) {
            ("Add", _) => return left.checked_add(right),
            ("Mul", _) => return left.checked_mul(right),
            ("Sub", Length::Size(0)) | ("Div", Length::Size(1)) => return Some(left),
            ("Div", _) if left == right && left.size().is_none() => return size(1),
            ("Equal", _) if left == right => return size(1),
            _ => {}
        }
        let (left, right) = (left.size()?, right.size()?);
        Some(Length::Size(match view.schema.name {
            "Sub" => left.checked_sub(right)?,
            // Rounding of negative quotients is not the same everywhere.
            "Div" if left >= 0 && right > 0 => left / right,
            "Mod" if left >= 0 && right > 0 => left % right,
            "Max" => left.max(right),
            "Min" => left.min(right),
            "Equal" => i64::from(left == right),
            "Less" => i64::from(left < right),
            "Greater" => i64::from(left > right),
            "LessOrEqual" => i64::from(left <= right),
            "GreaterOrEqual" => i64::from(left >= right),
            "And" => i64::from(left != 0 && right != 0),
            "Or" => i64::from(left != 0 || right != 0),
            _ => return None,
        }))
    };
    let combine = |left: Numbers, right: Numbers| -> Option<Numbers> {
        let length = if left.len() == 1 {
            right.len()
        } else {
            left.len()
        };
        (0..length)
            .map(|index| {
                Some(
                    at(&left, index)?
                        .zip(at(&right, index)?)
                        .and_then(|(left, right)| op(left, right)),
                )
            })
            .collect()
    };
    // Of two operands one may be unknown, as long as its length is known.
    let unknown_scalar = |index: usize| (view.rank(index)? == 0).then(|| vec![None]);
    let operand = |index: usize| {
        view.values_or_unknown(index)
            .or_else(|| unknown_scalar(index))
    };
    let first = operand(0)?;
    (1..view.inputs.len()).try_fold(first, |left, index| combine(left, operand(index)?))
}

/// A reduction of a whole list.
fn reduce(view: &View) -> Option<Numbers> {
    let is_whole = view.rank(0) == Some(1)
        && !(view.has_input(1) && view.known_values(1).is_none_or(|axes| axes.is_empty()));
    let noop = view.int_or("noop_with_empty_axes", 0)?;
    let values = view
        .known_values(0)
        .filter(|values| is_whole && noop == 0 && !values.is_empty())?;
    let result = match view.schema.name {
        "ReduceProd" => values.into_iter().try_fold(1, i64::checked_mul),
        "ReduceSum" => values.into_iter().try_fold(0, i64::checked_add),
        "ReduceMax" => values.into_iter().max(),
        _ => values.into_iter().min(),
    };
    Some(vec![result.map(Length::Size)])
}

fn size(number: i64) -> Dim {
    Some(Length::Size(number))
}

fn split(view: &View) -> Option<Vec<Option<Numbers>>> {
    let data = view.values(0).filter(|_| view.rank(0) == Some(1))?;
    let lengths = view.known_list("split", 1).or_else(|| {
        let outputs = view.node.output.len();
        let is_even = !view.has_input(1)
            && view.attribute("split").is_none()
            && outputs > 0
            && data.len() % outputs == 0;
        is_even.then(|| vec![(data.len() / outputs) as i64; outputs])
    })?;
    let mut rest = data.as_slice();
    let mut parts = Vec::new();
    for length in lengths {
        let (part, others) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        parts.push(Some(part.to_vec()));
        rest = others;
    }
    Some(parts)
}

/// Whether values of a type are followed.
pub(super) fn is_followed(dtype: Option<DType>) -> bool {
    dtype.is_some_and(|dtype| {
        matches!(dtype, DType::Int64 | DType::Int32) || dtype.class() == Class::Bool
    })
}

/// The integers of a small tensor with data in the model.
#[must_use]
pub fn tensor_ints(proto: &TensorProto) -> Option<Vec<i64>> {
    let tensor = Tensor::read(proto).ok()?;
    let Ok(Values::Raw(bytes)) = tensor.values() else {
        return None;
    };
    match tensor.dtype() {
        DType::Int64 | DType::Int32 => packed::integers(tensor.dtype(), &bytes),
        _ => None,
    }
}
