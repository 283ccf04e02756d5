//! `Reshape` with `allowzero`, for versions in which a zero in the shape copies a dimension.

use super::super::context::Context;
use super::super::make;
use super::super::reason::{NodeInvalid, Reason, ShapeUnknown};
use super::adapter::{Adapter, Run, adapter};
use crate::ops::inference::{Ints, Known, MOST_DIMENSIONS};
use crate::ops::schemas::ValueType;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::DType;

pub(super) const ADAPTERS: &[Adapter] = &[adapter("Reshape", 14).down(&[Run(zeros_must_copy)])];

/// Before version 14 a zero in the shape copies the dimension of the input at the same place. With
/// `allowzero` it is a length of zero, which excludes -1 in the same shape (text of Reshape-14).
///
/// 1. No integer can be zero, or each that can is the dimension that a zero copies: the attribute
///    has no effect.
/// 2. One integer can be zero, and the others are known: it is what remains of the elements, as -1
///    states.
/// 3. Others: the dimensions of an input without elements become zeros first, which all zeros copy.
fn zeros_must_copy(cx: &mut Context) -> Result<(), Reason> {
    if cx.int_or("allowzero", 0)? != 0 {
        let integers = integers(cx)?;
        let zeros = possible_zeros(cx, &integers)?;
        if !zeros.iter().all(|&place| is_copied(cx, &integers, place)) {
            match remainder(&integers, &zeros) {
                Some(shape) => {
                    cx.take_input(1);
                    let shape = cx.constant_int_list("shape", &shape);
                    cx.set_input(1, &shape);
                }
                None => empty_as_zeros(cx, integers.len())?,
            }
        }
    }
    cx.remove_attribute("allowzero");
    Ok(())
}

/// The integers of the shape, as far as they are known.
fn integers(cx: &Context) -> Result<Ints, Reason> {
    if let Some(integers) = cx.partial_ints(1) {
        return Ok(integers.clone());
    }
    let reason = match cx.read_ints(1) {
        Ok(integers) => return Ok(integers.into_iter().map(Some).collect()),
        Err(reason) => reason,
    };
    let length = match cx.known_input(1).static_shape().as_deref() {
        Some(&[length]) => usize::try_from(length).ok(),
        _ => cx.known_output(0).rank(),
    };
    match length.filter(|&length| length <= MOST_DIMENSIONS) {
        Some(length) => Ok(vec![None; length]),
        None => Err(Reason::new(
            ShapeUnknown,
            format!(
                "`allowzero` is not supported before opset 14, {reason}, and its length is unknown"
            ),
        )),
    }
}

/// The places of the shape that can be zero.
fn possible_zeros(cx: &Context, integers: &[Option<i64>]) -> Result<Vec<usize>, Reason> {
    let states_zero = integers.contains(&Some(0));
    let has_remainder = integers.contains(&Some(-1));
    let has_elements = cx
        .known_input(0)
        .static_shape()
        .is_some_and(|dims| !dims.contains(&0));
    if states_zero && (has_remainder || has_elements) {
        let text = if has_remainder {
            "the shape contains both 0 and -1, which `allowzero` excludes"
        } else {
            "the shape contains a zero, and the input has elements"
        };
        return Err(Reason::new(NodeInvalid, text));
    }
    if has_remainder || has_elements {
        return Ok(Vec::new());
    }
    let result = cx.known_output(0).shape.unwrap_or_default();
    let can_be_zero = |&place: &usize| match integers[place] {
        Some(integer) => integer == 0,
        None => matches!(result.get(place), None | Some(None | Some(0))),
    };
    Ok((0..integers.len()).filter(can_be_zero).collect())
}

fn is_copied(cx: &Context, integers: &[Option<i64>], place: usize) -> bool {
    cx.copies_dimension(place) || integers[place] == Some(0) && cx.dim(0, place) == Some(0)
}

/// The shape with -1 in the only place that can be zero; none if other integers are unknown.
fn remainder(integers: &[Option<i64>], zeros: &[usize]) -> Option<Vec<i64>> {
    let &[zero] = zeros else { return None };
    let integer = |(place, integer): (usize, &Option<i64>)| {
        if place == zero { Some(-1) } else { *integer }
    };
    integers.iter().enumerate().map(integer).collect()
}

/// The input becomes a row of the rank of the result: `[1, 1, n]`, or `[0, 0, 0]` if `n` is zero.
fn empty_as_zeros(cx: &mut Context, rank: usize) -> Result<(), Reason> {
    let data = cx
        .input(0)
        .ok_or_else(|| Reason::new(NodeInvalid, "the input is missing"))?
        .to_owned();
    let value_type = cx.input_type(0);
    let row = Row::new(cx, &data, rank);
    let flat = cx.add_before(
        "Reshape",
        &[&data, &row.shape],
        Vec::new(),
        "row",
        row.known(value_type),
    );
    let zeros = cx.add_before(
        "Expand",
        &[&flat, &row.lengths],
        Vec::new(),
        "zeros_if_empty",
        row.known(value_type),
    );
    cx.set_input(0, &zeros);
    Ok(())
}

/// All elements of a tensor along the last of some axes. Without elements all lengths become zero,
/// which a zero in a shape copies wherever it is.
pub(super) struct Row {
    rank: usize,
    /// The shape of the row: `[1, 1, -1]`.
    pub shape: String,
    /// The lengths to which `Expand` extends the row: `[1, 1, 1]`, or `[0, 0, 1]` without elements.
    pub lengths: String,
}

impl Row {
    /// The row of a tensor along the last of `rank` axes, at least one.
    pub fn new(cx: &mut Context, data: &str, rank: usize) -> Row {
        let last = rank.saturating_sub(1);
        let scalar = Known::scalar;
        let list = |dtype| Known {
            shape: Some(vec![Some(rank as i64)]),
            ..Known::tensor(dtype)
        };
        let cast_to = |dtype: DType| vec![AttributeProto::int("to", dtype.number().into())];
        let shape: Vec<i64> = (0..rank)
            .map(|axis| if axis == last { -1 } else { 1 })
            .collect();
        let shape = cx.constant_int_list("row_shape", &shape);
        let size = cx.add_before("Size", &[data], Vec::new(), "size", scalar(DType::Int64));
        let has_elements = cx.add_before(
            "Cast",
            &[&size],
            cast_to(DType::Bool),
            "has_elements",
            scalar(DType::Bool),
        );
        let is_last = (0..rank).map(|axis| u8::from(axis == last)).collect();
        let is_last = make::numbers(DType::Bool, &[rank as i64], is_last);
        let is_last = cx.add_constant("is_last", is_last);
        let is_one = cx.add_before(
            "Or",
            &[&has_elements, &is_last],
            Vec::new(),
            "is_one",
            list(DType::Bool),
        );
        let lengths = cx.add_before(
            "Cast",
            &[&is_one],
            cast_to(DType::Int64),
            "lengths",
            list(DType::Int64),
        );
        Row {
            rank,
            shape,
            lengths,
        }
    }

    /// What is known of the row.
    pub fn known(&self, value_type: Option<ValueType>) -> Known {
        Known {
            value_type,
            shape: Some(vec![None; self.rank]),
        }
    }
}
