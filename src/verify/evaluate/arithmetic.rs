//! Arithmetic of integers and truth values, and comparisons. Arithmetic of floats is left to
//! runtimes.

use std::cmp::Ordering;

use super::super::compare::{Allowed, element_result};
use super::axes::{broadcast, broadcast_index};
use super::grid::Grid;
use super::node::Node;
use super::value::{Number, Value, integer, is_integer_or_bool};
use onnx_cast::{Cast, Class, DType, Rules};

const OUT_OF_RANGE: &str = "a number is out of the range of its type";
const DIVIDED_BY_ZERO: &str = "a divisor is zero";

/// The bits of an integer in a type that has it.
pub fn bits_of(dtype: DType, number: i128) -> Number {
    let bits = dtype.bits() as u32;
    let (lowest, highest) = match dtype.class() {
        Class::Bool => (0, 1),
        Class::Signed => (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1),
        _ => (0, (1_i128 << bits) - 1),
    };
    if number < lowest || number > highest {
        return Err(OUT_OF_RANGE);
    }
    Ok(low_bits(dtype, number.cast_unsigned()))
}

fn low_bits(dtype: DType, bits: u128) -> u128 {
    bits & ((1 << dtype.bits()) - 1)
}

/// The DOUBLE that an element is cast to.
pub fn double(dtype: DType, number: u128) -> Result<f64, String> {
    let cast =
        Cast::new(dtype, DType::Double, Rules::default()).map_err(|error| error.to_string())?;
    if dtype == DType::String {
        return Err("a string is not a number".to_owned());
    }
    Ok(f64::from_bits(element_result(
        &cast,
        Allowed::ALL,
        number as u64,
    )?))
}

/// A function of the elements of two inputs of one type, which are broadcast.
fn of_two(
    node: &Node,
    dtype: Option<DType>,
    function: impl Fn(u128, u128) -> Number + Send + Sync + 'static,
) -> Result<Vec<Value>, String> {
    let (left, right) = (
        node.input(0)?.clone().in_memory(),
        node.input(1)?.clone().in_memory(),
    );
    if left.dtype() != right.dtype() {
        return Err("the inputs differ in type".to_owned());
    }
    if node.schema.attribute("broadcast").is_some() && left.dims() != right.dims() {
        return Err(format!(
            "the broadcasting of {} is left to runtimes",
            node.schema
        ));
    }
    let dims = broadcast(&[left.dims(), right.dims()])?;
    let (of_left, of_right) = (
        broadcast_index(left.dims(), dims.len()),
        broadcast_index(right.dims(), dims.len()),
    );
    let depth = Value::depth_of(&[&left, &right]);
    let dtype = dtype.unwrap_or(left.dtype());
    let number = move |place: &[usize]| {
        function(left.number(of_left(place))?, right.number(of_right(place))?)
    };
    Ok(vec![Value::computed(dtype, &dims, depth, number)?])
}

fn integer_type(node: &Node) -> Result<DType, String> {
    let dtype = node.input(0)?.dtype();
    if is_integer_or_bool(dtype) {
        Ok(dtype)
    } else {
        Err(format!("arithmetic of {dtype} is left to runtimes"))
    }
}

/// A function of two integers.
fn of_integers(
    node: &Node,
    function: impl Fn(i128, i128) -> Result<i128, &'static str> + Send + Sync + 'static,
) -> Result<Vec<Value>, String> {
    let dtype = integer_type(node)?;
    of_two(node, None, move |left, right| {
        bits_of(
            dtype,
            function(integer(dtype, left), integer(dtype, right))?,
        )
    })
}

pub fn add(node: &Node) -> Result<Vec<Value>, String> {
    of_integers(node, |left, right| Ok(left + right))
}

pub fn subtract(node: &Node) -> Result<Vec<Value>, String> {
    of_integers(node, |left, right| Ok(left - right))
}

pub fn multiply(node: &Node) -> Result<Vec<Value>, String> {
    of_integers(node, |left, right| {
        left.checked_mul(right).ok_or(OUT_OF_RANGE)
    })
}

/// The quotient is truncated. Before opset 14, the text does not say so.
pub fn divide(node: &Node) -> Result<Vec<Value>, String> {
    let is_truncated = node.version() >= 14;
    of_integers(node, move |left, right| {
        let quotient = left.checked_div(right).ok_or(DIVIDED_BY_ZERO)?;
        let is_exact = quotient * right == left;
        let is_negative = left.is_negative() != right.is_negative();
        if is_exact || !is_negative || is_truncated {
            Ok(quotient)
        } else {
            Err("the rounding of a quotient is not defined")
        }
    })
}

/// The remainder has the sign of the divisor, or with `fmod` that of the dividend. onnxruntime
/// computes the latter in DOUBLE.
pub fn modulo(node: &Node) -> Result<Vec<Value>, String> {
    if !node.is_set("fmod")? {
        return of_integers(node, |left, right| {
            let remainder = left.checked_rem_euclid(right).ok_or(DIVIDED_BY_ZERO)?;
            Ok(if right < 0 && remainder != 0 {
                remainder + right
            } else {
                remainder
            })
        });
    }
    let text = of_integers(node, |left, right| {
        left.checked_rem(right).ok_or(DIVIDED_BY_ZERO)
    })?;
    let runtime = of_integers(node, |left, right| {
        let _ = left.checked_rem(right).ok_or(DIVIDED_BY_ZERO)?;
        Ok((left as f64 % right as f64) as i128)
    })?;
    match super::comparison::first_difference(&text[0], &runtime[0]) {
        None => Ok(text),
        Some(_) => node.chosen(text, Some(runtime)),
    }
}

/// A function of all inputs, one after the other.
fn of_all(node: &Node, function: fn(i128, i128) -> i128) -> Result<Vec<Value>, String> {
    let dtype = integer_type(node)?;
    let inputs: Vec<Value> = node
        .inputs
        .iter()
        .flatten()
        .cloned()
        .map(Value::in_memory)
        .collect();
    if inputs.iter().any(|input| input.dtype() != dtype) {
        return Err("the inputs differ in type".to_owned());
    }
    let dims = broadcast(&inputs.iter().map(Value::dims).collect::<Vec<_>>())?;
    let depth = Value::depth_of(&inputs.iter().collect::<Vec<_>>());
    let operands: Vec<_> = inputs
        .into_iter()
        .map(|input| (broadcast_index(input.dims(), dims.len()), input))
        .collect();
    let number = move |place: &[usize]| {
        let mut result = None;
        for (index, input) in &operands {
            let number = integer(dtype, input.number(index(place))?);
            result = Some(result.map_or(number, |before| function(before, number)));
        }
        bits_of(dtype, result.unwrap_or(0))
    };
    Ok(vec![Value::computed(dtype, &dims, depth, number)?])
}

pub fn largest(node: &Node) -> Result<Vec<Value>, String> {
    of_all(node, i128::max)
}

pub fn smallest(node: &Node) -> Result<Vec<Value>, String> {
    of_all(node, i128::min)
}

/// A function of one input.
fn of_one(
    node: &Node,
    function: impl Fn(DType, u128) -> Number + Send + Sync + 'static,
) -> Result<Vec<Value>, String> {
    let dtype = integer_type(node)?;
    Ok(vec![
        node.input(0)?
            .clone()
            .mapped(dtype, move |bits| function(dtype, bits))?,
    ])
}

pub fn negate(node: &Node) -> Result<Vec<Value>, String> {
    of_one(node, |dtype, bits| bits_of(dtype, -integer(dtype, bits)))
}

pub fn absolute(node: &Node) -> Result<Vec<Value>, String> {
    of_one(node, |dtype, bits| {
        bits_of(dtype, integer(dtype, bits).abs())
    })
}

pub fn sign(node: &Node) -> Result<Vec<Value>, String> {
    of_one(node, |dtype, bits| {
        bits_of(dtype, integer(dtype, bits).signum())
    })
}

/// The complement of a truth value, or of all bits.
pub fn not(node: &Node) -> Result<Vec<Value>, String> {
    of_one(node, |dtype, bits| match dtype {
        DType::Bool => Ok(u128::from(bits == 0)),
        _ => Ok(low_bits(dtype, !bits)),
    })
}

/// The bits of a truth value are 0 or 1.
fn plain(dtype: DType, bits: u128) -> u128 {
    if dtype == DType::Bool {
        u128::from(bits != 0)
    } else {
        bits
    }
}

fn of_bits(node: &Node, function: fn(u128, u128) -> u128) -> Result<Vec<Value>, String> {
    let dtype = integer_type(node)?;
    of_two(node, None, move |left, right| {
        Ok(function(plain(dtype, left), plain(dtype, right)))
    })
}

pub fn and(node: &Node) -> Result<Vec<Value>, String> {
    of_bits(node, |left, right| left & right)
}

pub fn or(node: &Node) -> Result<Vec<Value>, String> {
    of_bits(node, |left, right| left | right)
}

pub fn xor(node: &Node) -> Result<Vec<Value>, String> {
    of_bits(node, |left, right| left ^ right)
}

/// Bits that are shifted out are lost. A shift by all bits or more is not defined.
pub fn shift(node: &Node) -> Result<Vec<Value>, String> {
    let dtype = integer_type(node)?;
    let width = dtype.bits() as u128;
    let is_left = match node.attribute("direction")?.map(|direction| direction.s()) {
        Some(b"LEFT") => true,
        Some(b"RIGHT") => false,
        _ => return Err("the direction is neither LEFT nor RIGHT".to_owned()),
    };
    of_two(node, None, move |bits, by| match by {
        by if by >= width => Err("a shift by all bits is not defined"),
        by if is_left => Ok(low_bits(dtype, bits << by)),
        by => Ok(bits >> by),
    })
}

/// Whether the order of two elements is one that fits. NaN has no order.
fn compared(node: &Node, fits: fn(Ordering) -> bool) -> Result<Vec<Value>, String> {
    let dtype = node.input(0)?.dtype();
    if !is_integer_or_bool(dtype) {
        double(dtype, 0)?;
    }
    of_two(node, Some(DType::Bool), move |left, right| {
        let order = if is_integer_or_bool(dtype) {
            Some(integer(dtype, left).cmp(&integer(dtype, right)))
        } else {
            let pair = double(dtype, left).ok().zip(double(dtype, right).ok());
            pair.and_then(|(left, right)| left.partial_cmp(&right))
        };
        Ok(u128::from(order.is_some_and(fits)))
    })
}

pub fn equal(node: &Node) -> Result<Vec<Value>, String> {
    let (left, right) = (node.input(0)?, node.input(1)?);
    let (Some(lefts), Some(rights)) = (left.texts(), right.texts()) else {
        return compared(node, Ordering::is_eq);
    };
    let dims = broadcast(&[left.dims(), right.dims()])?;
    let (of_left, of_right) = (
        broadcast_index(left.dims(), dims.len()),
        broadcast_index(right.dims(), dims.len()),
    );
    let (lefts, rights) = (lefts.to_vec(), rights.to_vec());
    let number =
        move |place: &[usize]| Ok(u128::from(lefts[of_left(place)] == rights[of_right(place)]));
    Ok(vec![Value::computed(DType::Bool, &dims, 1, number)?])
}

pub fn less(node: &Node) -> Result<Vec<Value>, String> {
    compared(node, Ordering::is_lt)
}

pub fn less_or_equal(node: &Node) -> Result<Vec<Value>, String> {
    compared(node, Ordering::is_le)
}

pub fn greater(node: &Node) -> Result<Vec<Value>, String> {
    compared(node, Ordering::is_gt)
}

pub fn greater_or_equal(node: &Node) -> Result<Vec<Value>, String> {
    compared(node, Ordering::is_ge)
}

/// Sums along one axis, of the elements up to each, or with `exclusive` before it.
pub fn cumulative_sum(node: &Node) -> Result<Vec<Value>, String> {
    let dtype = integer_type(node)?;
    let input = node.input(0)?;
    let axis = i64::try_from(node.one(1)?).map_err(|_| "the axis does not exist")?;
    let axis = node.axis(axis, input.rank())?;
    let (is_exclusive, is_reverse) = (node.is_set("exclusive")?, node.is_set("reverse")?);
    let mut sums = input.integers()?;
    let grid = Grid::of(input.dims());
    let length = super::grid::length(input.dims()[axis]);
    for start in 0..sums.len() {
        if grid.place(start)[axis] != 0 {
            continue;
        }
        let mut sum = 0;
        for at in 0..length {
            let at = if is_reverse { length - 1 - at } else { at };
            let number = &mut sums[start + at * grid.steps[axis]];
            let before = sum;
            sum += *number;
            *number = if is_exclusive { before } else { sum };
        }
    }
    let bits = sums
        .into_iter()
        .map(|sum| bits_of(dtype, sum))
        .collect::<Result<Vec<u128>, _>>()?;
    Ok(vec![Value::of_bits(dtype, input.dims(), bits)?])
}
