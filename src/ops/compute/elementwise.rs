//! Operators on one element of each input: arithmetic of integers, comparisons, and logic.

use std::cmp::Ordering;

use super::call::{Call, count, length};
use super::layout::{broadcast, stretched};
use super::numbers::{codes, floats, integers, left, of_bools, of_codes, of_integers};
use super::operator::Operator;
use super::result::{Computed, NotComputed, undefined};
use crate::tensor::{Content, Data};
use onnx_cast::{Class, DType};

pub(super) const OPERATORS: &[Operator] = &[
    Operator::new("Add", |call| two(call, |left, right| Ok(left + right))),
    Operator::new("Sub", |call| two(call, |left, right| Ok(left - right))),
    Operator::new("Mul", |call| two(call, multiply)),
    Operator::new("Div", divide),
    Operator::new("Mod", modulo),
    Operator::new("Max", |call| each(call, |left, right| Ok(left.max(right)))),
    Operator::new("Min", |call| each(call, |left, right| Ok(left.min(right)))),
    Operator::new("Neg", |call| one(call, |number| -number)),
    Operator::new("Abs", |call| one(call, i128::abs)),
    Operator::new("Sign", |call| one(call, i128::signum)),
    Operator::new("Equal", equal),
    Operator::new("Less", |call| compare(call, Ordering::is_lt)),
    Operator::new("LessOrEqual", |call| compare(call, Ordering::is_le)),
    Operator::new("Greater", |call| compare(call, Ordering::is_gt)),
    Operator::new("GreaterOrEqual", |call| compare(call, Ordering::is_ge)),
    Operator::new("And", |call| two(call, |left, right| Ok(left & right))),
    Operator::new("Or", |call| two(call, |left, right| Ok(left | right))),
    Operator::new("Xor", |call| two(call, |left, right| Ok(left ^ right))),
    Operator::new("Not", |call| one(call, |truth| 1 - truth)),
    Operator::new("BitwiseAnd", |call| {
        two(call, |left, right| Ok(left & right))
    }),
    Operator::new("BitwiseOr", |call| {
        two(call, |left, right| Ok(left | right))
    }),
    Operator::new("BitwiseXor", |call| {
        two(call, |left, right| Ok(left ^ right))
    }),
    Operator::new("BitwiseNot", bitwise_not),
    Operator::new("BitShift", shift),
    Operator::new("CumSum", cumulate),
];

/// A function of two numbers.
type Binary = fn(i128, i128) -> Result<i128, NotComputed>;

/// Two inputs, broadcast to one shape. Before opset 7, shapes were broadcast in another way.
fn operands(call: &Call) -> Result<(Vec<i64>, Content, Content), NotComputed> {
    let (one, other) = (call.input(0)?, call.input(1)?);
    if one.dtype() != other.dtype() {
        return Err(undefined("the inputs differ in type"));
    }
    if call.schema.attribute("broadcast").is_some() && one.dims() != other.dims() {
        return Err(NotComputed::LeftToRuntimes(format!(
            "the broadcasting of {} is left to the runtime",
            call.schema
        )));
    }
    let dims = broadcast(one.dims(), other.dims())?;
    call.elements(&dims, one.dtype())?;
    let (one, other) = (stretched(one, &dims), stretched(other, &dims));
    Ok((dims, one, other))
}

fn multiply(left: i128, right: i128) -> Result<i128, NotComputed> {
    left.checked_mul(right)
        .ok_or_else(|| undefined("a product overflows"))
}

fn two(call: &Call, function: impl Fn(i128, i128) -> Result<i128, NotComputed>) -> Computed {
    let (dims, one, other) = operands(call)?;
    let pairs = integers(&one)?.into_iter().zip(integers(&other)?);
    let results = pairs
        .map(|(left, right)| function(left, right))
        .collect::<Result<Vec<i128>, _>>()?;
    Ok(vec![of_integers(one.dtype(), &dims, &results)?])
}

/// A function of two numbers, applied to any number of inputs in order.
fn each(call: &Call, function: Binary) -> Computed {
    let inputs: Vec<&Content> = call.contents().map(|(_, input)| input).collect();
    let Some((first, rest)) = inputs.split_first() else {
        return Err(undefined("there are no inputs"));
    };
    if rest.iter().any(|input| input.dtype() != first.dtype()) {
        return Err(undefined("the inputs differ in type"));
    }
    let dims = rest.iter().try_fold(first.dims().to_vec(), |dims, input| {
        broadcast(&dims, input.dims())
    })?;
    call.elements(&dims, first.dtype())?;
    let mut results = integers(&stretched(first, &dims))?;
    for input in rest {
        for (result, number) in results.iter_mut().zip(integers(&stretched(input, &dims))?) {
            *result = function(*result, number)?;
        }
    }
    Ok(vec![of_integers(first.dtype(), &dims, &results)?])
}

fn one(call: &Call, function: fn(i128) -> i128) -> Computed {
    let input = call.input(0)?;
    let results: Vec<i128> = integers(input)?.into_iter().map(function).collect();
    Ok(vec![of_integers(input.dtype(), input.dims(), &results)?])
}

/// Quotients are truncated. Before opset 14 the text does not say so; they are computed if all
/// roundings agree.
fn divide(call: &Call) -> Computed {
    let is_stated = call.schema.since_version >= 14;
    two(call, |dividend, divisor| match divisor {
        0 => Err(undefined("a divisor is zero")),
        _ if !is_stated && dividend % divisor != 0 && (dividend < 0) != (divisor < 0) => Err(
            undefined("before opset 14, ONNX does not define the rounding of a negative quotient"),
        ),
        _ => Ok(dividend / divisor),
    })
}

/// The remainder has the sign of the divisor, or with `fmod` that of the dividend.
fn modulo(call: &Call) -> Computed {
    let keeps_sign: Binary = |dividend, divisor| {
        dividend
            .checked_rem(divisor)
            .ok_or_else(|| undefined("a divisor is zero"))
    };
    let of_divisor = |dividend, divisor| {
        let rest = keeps_sign(dividend, divisor)?;
        Ok(if rest != 0 && (rest < 0) != (divisor < 0) {
            rest + divisor
        } else {
            rest
        })
    };
    if !call.flag("fmod")? {
        return two(call, of_divisor);
    }
    let by_text = two(call, keeps_sign)?;
    let in_runtimes = two(call, |dividend, divisor| {
        Ok((dividend as f64 % divisor as f64) as i128)
    })?;
    if codes(&by_text[0])? == codes(&in_runtimes[0])? {
        return Ok(by_text);
    }
    call.contested(
        by_text,
        Some(in_runtimes),
        "with `fmod`, onnxruntime divides in DOUBLE, which does not have all of these integers",
    )
}

fn equal(call: &Call) -> Computed {
    let (dims, one, other) = operands(call)?;
    if one.dtype() != DType::String {
        return compare(call, Ordering::is_eq);
    }
    let (one, other) = (one.computed(), other.computed());
    match (one.data(), other.data()) {
        (Data::Strings(one), Data::Strings(other)) => {
            let equal: Vec<bool> = one
                .iter()
                .zip(other)
                .map(|(one, other)| one == other)
                .collect();
            Ok(vec![of_bools(&dims, &equal)])
        }
        _ => Err(left(DType::String)),
    }
}

/// Whether the order of two numbers is one that `fits`. A NaN has no order.
fn compare(call: &Call, fits: fn(Ordering) -> bool) -> Computed {
    let (dims, one, other) = operands(call)?;
    let results: Vec<bool> = match one.dtype().class() {
        Class::Float => floats(&one)?
            .iter()
            .zip(&floats(&other)?)
            .map(|(one, other)| one.partial_cmp(other).is_some_and(fits))
            .collect(),
        _ => integers(&one)?
            .iter()
            .zip(&integers(&other)?)
            .map(|(one, other)| fits(one.cmp(other)))
            .collect(),
    };
    Ok(vec![of_bools(&dims, &results)])
}

fn bitwise_not(call: &Call) -> Computed {
    let input = call.input(0)?;
    Ok(vec![of_codes(
        input.dtype(),
        input.dims(),
        codes(input)?.into_iter().map(|code| !code),
    )])
}

/// Bits that are shifted out are lost. A shift by all bits or more is not defined.
fn shift(call: &Call) -> Computed {
    let direction = call.attribute("direction")?.map(|direction| direction.s());
    let is_left = match direction {
        Some(b"LEFT") => true,
        Some(b"RIGHT") => false,
        _ => return Err(undefined("the direction is neither LEFT nor RIGHT")),
    };
    let (dims, one, other) = operands(call)?;
    let bits = one.dtype().bits() as u64;
    let shifted = codes(&one)?
        .into_iter()
        .zip(codes(&other)?)
        .map(|(code, by)| match by {
            _ if by >= bits => Err(undefined("a shift by all bits or more is not defined")),
            _ => Ok(if is_left { code << by } else { code >> by }),
        });
    let results = shifted.collect::<Result<Vec<u64>, _>>()?;
    Ok(vec![of_codes(one.dtype(), &dims, results.into_iter())])
}

fn cumulate(call: &Call) -> Computed {
    let input = call.input(0)?;
    let (axis, dims) = (call.axis(call.one(1)?, input.dims().len())?, input.dims());
    let (is_exclusive, is_reverse) = (call.flag("exclusive")?, call.flag("reverse")?);
    let numbers = integers(input)?;
    let (count, step) = (length(dims[axis]), count(&dims[axis + 1..]));
    let mut sums = vec![0; numbers.len()];
    for start in (0..numbers.len()).filter(|index| (index / step).is_multiple_of(count)) {
        let mut sum = 0;
        for place in 0..count {
            let index = start + step * if is_reverse { count - 1 - place } else { place };
            sums[index] = if is_exclusive {
                sum
            } else {
                sum + numbers[index]
            };
            sum += numbers[index];
        }
    }
    Ok(vec![of_integers(input.dtype(), dims, &sums)?])
}
