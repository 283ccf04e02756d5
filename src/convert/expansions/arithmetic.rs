//! Arithmetic and selection of elements.

use super::{Expansion, by_definition, element_count, exact, fill, list, number, type_of};
use crate::convert::context::Context;
use crate::convert::reason::{
    NotConstant, Overridable, Reason, ShapeUnknown, TooLarge, TypeUnsupported,
};
use onnx_cast::{Class, DType, embeds};

pub(super) const EXPANSIONS: &[Expansion] = &[
    exact("Clip", 11, clip_of_floats).against(&[NotConstant, Overridable]),
    exact("Clip", 13, clip),
    exact("Mod", 10, modulo),
    by_definition("Pow", 12, power).against(&[TypeUnsupported]),
    exact("Range", 11, range),
    by_definition("Range", 27, short_range),
    exact("Where", 9, select),
    by_definition("SwiGLU", 28, swi_glu),
];

/// Of numbers and exponents of which DOUBLE has all. Integers of 64 bits would be rounded, and an
/// exponent could become even.
fn power(cx: &Context) -> Result<String, Reason> {
    let (base, exponent) = (cx.dtype(0)?, cx.dtype(1)?);
    for dtype in [base, exponent] {
        if !embeds(dtype, DType::Double) {
            return Err(Reason::new(
                TypeUnsupported,
                format!("DOUBLE has not all numbers of {dtype}"),
            ));
        }
    }
    let body = "
        base = Cast <to: int = 11> (X)
        exponent = Cast <to: int = 11> (Y)
        power = Pow (base, exponent)
        Z = Cast <to: int = $to> (power)";
    Ok(fill(body, &[("to", &base.number())]))
}

/// The bound is used where an element is beyond it, so that NaN stays NaN, and a minimum above the
/// maximum gives the maximum.
fn clip(cx: &Context) -> Result<String, Reason> {
    let mut body = match cx.input(1) {
        Some(_) => "is_low = Less (input, min) raised = Where (is_low, min, input)\n".to_owned(),
        None => "raised = Identity (input)\n".to_owned(),
    };
    body += match cx.input(2) {
        Some(_) => "is_high = Less (max, raised) output = Where (is_high, max, raised)",
        None => "output = Identity (raised)",
    };
    Ok(body)
}

/// Before version 12 the type is one of floats; a bound that is absent is the largest finite value.
fn clip_of_floats(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    let largest = match dtype {
        DType::Float16 => f64::from(half::f16::MAX),
        DType::Float => f64::from(f32::MAX),
        DType::Double => f64::MAX,
        _ => {
            return Err(Reason::new(
                TypeUnsupported,
                format!("Clip does not support {dtype} before opset 12"),
            ));
        }
    };
    let name = type_of(cx, 0)?;
    let bound = |index: usize, local: &str, value: f64| match cx.input(index) {
        Some(_) => format!("{local} = Identity ({})\n", cx.schema.inputs[index].name),
        None => format!("{local} = Constant <value = {name} {{{value:e}}}> ()\n"),
    };
    let body = "is_low = Less (input, low) raised = Where (is_low, low, input)
        is_high = Less (high, raised) output = Where (is_high, high, raised)";
    Ok(bound(1, "low", -largest) + &bound(2, "high", largest) + body)
}

/// Integers: the remainder gets the sign of the divisor, independent of how the quotient is
/// rounded.
fn modulo(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    if !matches!(dtype.class(), Class::Signed | Class::Unsigned) {
        return Err(Reason::new(
            TypeUnsupported,
            format!("the remainder of {dtype} has no equivalent"),
        ));
    }
    let is_narrow = dtype.bits() < 32;
    let fmod = cx.int_or("fmod", 0)? != 0;
    let wide = if is_narrow { DType::Int32 } else { dtype };
    let mut body = if is_narrow {
        "a = Cast <to = 6> (A) b = Cast <to = 6> (B)\n".to_owned()
    } else {
        "a = Identity (A) b = Identity (B)\n".to_owned()
    };
    body += "quotient = Div (a, b) product = Mul (quotient, b) rest = Sub (a, product)\n";
    if dtype.class() == Class::Signed {
        // `fmod` takes the sign of the dividend.
        let sign = if fmod { "a" } else { "b" };
        body += &format!(
            "zero = Constant <value = double {{0}}> ()
             rest_sign = Cast <to = 11> (rest)
             wanted_sign = Cast <to = 11> ({sign})
             rest_is_negative = Less (rest_sign, zero)
             rest_is_positive = Greater (rest_sign, zero)
             is_negative = Less (wanted_sign, zero)
             is_positive = Greater (wanted_sign, zero)
             is_below = And (rest_is_negative, is_positive)
             is_above = And (rest_is_positive, is_negative)
             differs = Or (is_below, is_above)
             flag = Cast <to = {}> (differs)\n",
            wide.number()
        );
        body += if fmod {
            "shift = Mul (flag, b) adjusted = Sub (rest, shift)\n"
        } else {
            "shift = Mul (flag, b) adjusted = Add (rest, shift)\n"
        };
    } else {
        body += "adjusted = Identity (rest)\n";
    }
    body += &if is_narrow {
        format!("C = Cast <to = {}> (adjusted)", dtype.number())
    } else {
        "C = Identity (adjusted)".to_owned()
    };
    Ok(body)
}

/// Integers, and floats from zero in steps of one, counted by a `Loop`, whose number of iterations
/// is the quotient rounded up. Each iteration gives a row of one element: onnx's reference evaluator
/// stacks scalars into a matrix.
///
/// Element i of a range is start + i * delta (Range-11), which is i for such floats: the integer,
/// rounded to the type as `Cast` rounds it. Their number is the limit, rounded up.
fn range(cx: &Context) -> Result<String, Reason> {
    (0..3).try_for_each(|index| cx.expect_number(index))?;
    let dtype = cx.dtype(0)?;
    let is_one =
        |index: usize, value: f64| cx.read_doubles(index).is_ok_and(|values| values == [value]);
    let counts = matches!(dtype, DType::Float | DType::Double) && is_one(0, 0.0) && is_one(2, 1.0);
    if !counts && !matches!(dtype, DType::Int64 | DType::Int32 | DType::Int16) {
        return Err(Reason::new(
            TypeUnsupported,
            format!("a range of {dtype} has no equivalent whose elements are equal to the bit"),
        ));
    }
    let body = "
        goes = Constant <value = bool {1}> ()
        zero = Constant <value = double {0}> ()
        long_start = Cast <to = 7> (start)
        whole_limit = $whole (limit)
        long_limit = Cast <to = 7> (whole_limit)
        long_delta = Cast <to = 7> (delta)
        span = Sub (long_limit, long_start)
        quotient = Div (span, long_delta)
        covered = Mul (quotient, long_delta)
        rest = Sub (span, covered)
        rest_double = Cast <to = 11> (rest)
        delta_double = Cast <to = 11> (long_delta)
        signs = Mul (rest_double, delta_double)
        is_partial = Greater (signs, zero)
        partial = Cast <to = 7> (is_partial)
        rounded = Add (quotient, partial)
        rounded_double = Cast <to = 11> (rounded)
        is_positive = Greater (rounded_double, zero)
        positive = Cast <to = 7> (is_positive)
        count = Mul (rounded, positive)
        list = Constant <value = int64[1] {-1}> ()
        last, column = Loop <body = count_up (int64 iteration, bool go, int64 present) => (goes_on, next, row) {
            goes_on = Identity (go)
            next = Add (present, long_delta)
            element = Cast <to = $type> (present)
            row = Reshape (element, list)
        }> (count, goes, long_start)
        output = Reshape (column, list)";
    let whole = if counts { "Ceil" } else { "Identity" };
    Ok(fill(body, &[("type", &dtype.number()), ("whole", &whole)]))
}

/// Half floats are computed in the type that `stash_type` states.
fn short_range(cx: &Context) -> Result<String, Reason> {
    let dtype = cx.dtype(0)?;
    let stash = cx.int_or("stash_type", 1)?;
    let body = "
        wide_start = Cast <to = $stash> (start)
        wide_limit = Cast <to = $stash> (limit)
        wide_delta = Cast <to = $stash> (delta)
        wide = Range (wide_start, wide_limit, wide_delta)
        output = Cast <to = $type> (wide)";
    Ok(fill(body, &[("stash", &stash), ("type", &dtype.number())]))
}

/// The most elements of a constant that numbers the places.
const MOST_PLACES: i64 = 1 << 14;

/// Both alternatives one after the other, from which `Gather` selects: no arithmetic changes an
/// element.
fn select(cx: &Context) -> Result<String, Reason> {
    let shape = cx.known_output(0).static_shape();
    let shape =
        shape.ok_or_else(|| Reason::new(ShapeUnknown, "the shape of the result must be known"))?;
    let count = element_count(&shape);
    let is_whole = |index: usize| cx.known_input(index).static_shape().as_ref() == Some(&shape);
    match count {
        Some(0) if is_whole(1) => return Ok("output = Identity (X)".to_owned()),
        Some(0) if is_whole(2) => return Ok("output = Identity (Y)".to_owned()),
        _ => {}
    }
    let Some(count) = count.filter(|&count| count > 0 && count <= MOST_PLACES) else {
        return Err(Reason::new(
            TooLarge,
            format!("the result has no elements, or more than {MOST_PLACES}"),
        ));
    };
    let places: Vec<i64> = (0..count).collect();
    let dims = if shape.is_empty() {
        String::new()
    } else {
        format!("[{}]", list(&shape))
    };
    let mut body = format!(
        "all = Constant <value = int64[1] {{-1}}> ()
         shape = Constant <value = int64[{}] {{{}}}> ()
         places = Constant <value = int64{dims} {{{}}}> ()
         count = Constant <value = int64 {{{count}}}> ()\n",
        shape.len(),
        list(&shape),
        list(&places)
    );
    for (index, name) in [(1, "X"), (2, "Y")] {
        body += &match cx.known_input(index).static_shape() {
            Some(given) if given == shape => format!("{name}_flat = Reshape ({name}, all)\n"),
            _ => format!(
                "{name}_wide = Expand ({name}, shape) {name}_flat = Reshape ({name}_wide, all)\n"
            ),
        };
    }
    body += "
        both = Concat <axis: int = 0> (Y_flat, X_flat)
        flag = Cast <to = 7> (condition)
        block = Mul (flag, count)
        index = Add (block, places)
        output = Gather <axis: int = 0> (both, index)";
    Ok(body)
}

fn swi_glu(cx: &Context) -> Result<String, Reason> {
    let body = "
        gate = Swish <alpha: float = $alpha> (A)
        Y = Mul (gate, B)";
    Ok(fill(
        body,
        &[("alpha", &number(cx.float("alpha")?.unwrap_or(1.0)))],
    ))
}
