//! Operators whose older version supports fewer types: computed in a wider type that represents all
//! values, and cast back.
//!
//! Sums, products and bounds of small integers are exact in the wider type. ONNX does not define
//! what overflows the narrow type.

use super::super::context::Context;
use super::super::make;
use super::super::reason::Reason;
use super::adapter::{Adapter, Run, adapter};
use crate::ops::inference::Known;
use crate::ops::schemas;
use crate::protobuf::schema::AttributeProto;
use onnx_cast::{Class, DType};

pub(super) const ADAPTERS: &[Adapter] = &[
    adapter("Add Div Mul Sub", 14).down(&[Run(compute_wider)]),
    adapter("Clip", 12).down(&[Run(compute_wider)]),
    adapter("Equal", 11).down(&[Run(compute_wider), Run(equal_floats_by_order)]),
    adapter("Greater Less", 9).down(&[Run(compute_wider), Run(compare_long_integers)]),
    adapter("IsInf", 20).down(&[Run(compute_wider)]),
    adapter("Max Min", 12).down(&[Run(compute_wider), Run(select_by_comparison)]),
    adapter("ReduceMax ReduceMin", 12).down(&[Run(compute_wider)]),
    adapter("ReduceMax ReduceMin", 20).down(&[Run(compute_wider)]),
];

/// The signed types, in order of preference.
const WIDER: [DType; 4] = [DType::Int32, DType::Int64, DType::Float, DType::Double];

/// Casts the inputs to a type that the older version supports, and the result back, if the older
/// version lacks the type and such a type exists.
pub(super) fn compute_wider(cx: &mut Context) -> Result<(), Reason> {
    let Ok(narrow) = cx.dtype(0) else {
        return Ok(());
    };
    let older = schemas::schema("", cx.node.op_type(), cx.to).and_then(|older| older.input(0));
    let Some(formal) =
        older.filter(|formal| !formal.types.contains(schemas::ValueType::Tensor(narrow)))
    else {
        return Ok(());
    };
    let supported = |&wide: &DType| {
        // The cast to INT64 keeps the bits, so that different numbers stay different.
        let is_of_bits =
            cx.node.op_type() == "Equal" && [wide, narrow] == [DType::Int64, DType::Uint64];
        formal.types.contains(schemas::ValueType::Tensor(wide))
            && (represents(wide, narrow) || is_of_bits)
    };
    let Some(wide) = wider_types(cx.node.op_type(), narrow).find(supported) else {
        return Ok(());
    };
    let is_narrow = |formal: Option<&schemas::Formal>| {
        formal
            .zip(cx.schema.input(0))
            .is_some_and(|(formal, first)| formal.type_name == first.type_name)
    };
    let inputs: Vec<usize> = (0..cx.node.input.len())
        .filter(|&index| cx.input(index).is_some() && is_narrow(cx.schema.input(index)))
        .collect();
    let casts_back = is_narrow(cx.schema.output(0));
    for index in inputs {
        let input = cx.node.input[index].clone();
        let wider = cx.cast_before(&input, wide, "wider");
        cx.set_input(index, &wider);
    }
    if casts_back {
        let known = Known {
            shape: cx.known_output(0).shape,
            ..Known::tensor(wide)
        };
        cx.add_after(
            "Cast",
            &[],
            vec![AttributeProto::int("to", narrow.number().into())],
            "wide",
            known,
        );
    }
    Ok(())
}

/// The types to compute in, in order of preference. The maximum of no BOOL is false: so is the
/// smallest UINT8, and not the smallest of a signed type.
fn wider_types(operator: &str, narrow: DType) -> impl Iterator<Item = DType> {
    let is_of_bool = narrow == DType::Bool && matches!(operator, "ReduceMax" | "ReduceMin");
    is_of_bool.then_some(DType::Uint8).into_iter().chain(WIDER)
}

/// Whether a type represents all values of another.
fn represents(wide: DType, narrow: DType) -> bool {
    // The bits of a significand, or of a number without its sign.
    let digits = |dtype: DType| match (dtype.class(), dtype) {
        (Class::Bool, _) => 1,
        (Class::Signed, _) => dtype.bits() - 1,
        (Class::Unsigned, _) => dtype.bits(),
        (Class::Float, DType::Double) => 53,
        (Class::Float, DType::Float) => 24,
        _ => 0,
    };
    match (narrow.class(), wide.class()) {
        (Class::Bool | Class::Signed | Class::Unsigned, Class::Signed | Class::Float) => {
            digits(wide) >= digits(narrow)
        }
        (Class::Bool, Class::Unsigned) => true,
        (Class::Float, Class::Float) => {
            wide.bits() > narrow.bits() && matches!(wide, DType::Float | DType::Double)
        }
        _ => false,
    }
}

/// A new node in front, whose shape is that of the result.
fn add(cx: &mut Context, op: &str, inputs: &[&str], suffix: &str, dtype: DType) -> String {
    let known = Known {
        shape: cx.known_output(0).shape,
        ..Known::tensor(dtype)
    };
    cx.add_before(op, inputs, Vec::new(), suffix, known)
}

fn becomes(cx: &mut Context, op: &str, inputs: &[&str]) {
    cx.node.to_mut().input = inputs.iter().map(|&name| name.to_owned()).collect();
    cx.rename_operator(op);
}

/// Numbers are equal if neither is less than the other. Every number is less than one or greater
/// than zero; NaN is neither.
fn equal_floats_by_order(cx: &mut Context) -> Result<(), Reason> {
    let Ok(dtype) = cx.dtype(0) else {
        return Ok(());
    };
    let (Some(zero), Some(one)) = (make::scalar(dtype, 0.0), make::scalar(dtype, 1.0)) else {
        return Ok(());
    };
    let operands = [0, 1].map(|index| cx.node.input[index].clone());
    let may_be_nan = [0, 1].map(|index| {
        cx.read_doubles(index)
            .map_or(true, |values| values.iter().any(|value| value.is_nan()))
    });
    let less = add(
        cx,
        "Less",
        &[&operands[0], &operands[1]],
        "less",
        DType::Bool,
    );
    let greater = add(
        cx,
        "Greater",
        &[&operands[0], &operands[1]],
        "greater",
        DType::Bool,
    );
    let differs = add(cx, "Or", &[&less, &greater], "differs", DType::Bool);
    if may_be_nan == [false, false] {
        becomes(cx, "Not", &[&differs]);
        return Ok(());
    }
    let mut result = add(cx, "Not", &[&differs], "is_no_order", DType::Bool);
    let (zero, one) = (cx.add_constant("zero", zero), cx.add_constant("one", one));
    let mut checks = Vec::new();
    for (operand, _) in operands
        .iter()
        .zip(may_be_nan)
        .filter(|(_, may_be_nan)| *may_be_nan)
    {
        let known = Known {
            shape: cx.known(operand).shape.clone(),
            ..Known::tensor(DType::Bool)
        };
        let low = cx.add_before(
            "Less",
            &[operand, &one],
            Vec::new(),
            "is_below_one",
            known.clone(),
        );
        let high = cx.add_before(
            "Greater",
            &[operand, &zero],
            Vec::new(),
            "is_above_zero",
            known.clone(),
        );
        checks.push(cx.add_before("Or", &[&low, &high], Vec::new(), "is_number", known));
    }
    if let [first, second] = checks.as_slice() {
        result = add(cx, "And", &[&result, first], "is_equal_number", DType::Bool);
        becomes(cx, "And", &[&result, second]);
    } else if let [only] = checks.as_slice() {
        becomes(cx, "And", &[&result, only]);
    }
    Ok(())
}

/// Double represents integers up to this magnitude, and rounds larger ones to numbers that are not
/// smaller.
const LARGEST_IN_DOUBLE: u64 = 1 << 53;

/// Long integers are compared as doubles, whose order is the same. Those that round to one double
/// differ by little, so that their difference does not overflow, and its sign decides.
fn compare_long_integers(cx: &mut Context) -> Result<(), Reason> {
    let op = cx.node.op_type().to_owned();
    let Ok(dtype @ (DType::Int64 | DType::Uint64)) = cx.dtype(0) else {
        return Ok(());
    };
    let is_small = |index: usize| {
        cx.read_ints(index).is_ok_and(|values| {
            values
                .iter()
                .all(|value| value.unsigned_abs() <= LARGEST_IN_DOUBLE)
        })
    };
    let has_small = is_small(0) || is_small(1);
    if dtype == DType::Uint64 && !has_small {
        return compare_by_halves(cx);
    }
    let (left, right) = (cx.node.input[0].clone(), cx.node.input[1].clone());
    let left_double = cx.cast_before(&left, DType::Double, "left");
    let right_double = cx.cast_before(&right, DType::Double, "right");
    if has_small {
        becomes(cx, &op, &[&left_double, &right_double]);
        return Ok(());
    }
    let opposite = if op == "Less" { "Greater" } else { "Less" };
    let zero = cx.add_constant(
        "zero",
        make::scalar(DType::Double, 0.0).expect("zero is a double"),
    );
    let decided = add(
        cx,
        &op,
        &[&left_double, &right_double],
        "is_decided",
        DType::Bool,
    );
    let reversed = add(
        cx,
        opposite,
        &[&left_double, &right_double],
        "is_reversed",
        DType::Bool,
    );
    let may_be_equal = add(cx, "Not", &[&reversed], "may_be_equal", DType::Bool);
    let difference = add(cx, "Sub", &[&left, &right], "difference", DType::Int64);
    let difference = cx.cast_before(&difference, DType::Double, "difference_double");
    let by_difference = add(cx, &op, &[&difference, &zero], "by_difference", DType::Bool);
    let narrowly = add(
        cx,
        "And",
        &[&may_be_equal, &by_difference],
        "is_narrow",
        DType::Bool,
    );
    becomes(cx, "Or", &[&decided, &narrowly]);
    Ok(())
}

/// Two UINT64 are ordered as their upper halves are, and as the lower ones if these are equal. The
/// difference of the upper halves, times 2^33, exceeds that of the lower ones.
fn compare_by_halves(cx: &mut Context) -> Result<(), Reason> {
    let op = cx.node.op_type().to_owned();
    let operands = [0, 1].map(|index| cx.node.input[index].clone());
    let known = operands.each_ref().map(|name| cx.known(name).clone());
    let double = |value: f64| make::numbers(DType::Double, &[], value.to_le_bytes().to_vec());
    let unit = (1_u64 << 32).to_le_bytes().to_vec();
    let unit = cx.add_constant("unit", make::numbers(DType::Uint64, &[], unit));
    let weight = cx.add_constant("weight", double(8_589_934_592.0));
    let zero = cx.add_constant("zero", double(0.0));
    let halves = [0, 1].map(|index| {
        let (operand, known) = (&operands[index], &known[index]);
        let mut add = |op, inputs: &[&str], suffix| {
            cx.add_before(op, inputs, Vec::new(), suffix, known.clone())
        };
        let upper = add("Div", &[operand, &unit], "upper");
        let units = add("Mul", &[&upper, &unit], "units");
        let lower = add("Sub", &[operand, &units], "lower");
        [upper, lower].map(|half| cx.cast_before(&half, DType::Double, "half"))
    });
    let [[upper, lower], [other_upper, other_lower]] = &halves;
    let upper = add(
        cx,
        "Sub",
        &[upper, other_upper],
        "upper_difference",
        DType::Double,
    );
    let lower = add(
        cx,
        "Sub",
        &[lower, other_lower],
        "lower_difference",
        DType::Double,
    );
    let weighted = add(cx, "Mul", &[&upper, &weight], "weighted", DType::Double);
    let order = add(cx, "Add", &[&weighted, &lower], "order", DType::Double);
    becomes(cx, &op, &[&order, &zero]);
    Ok(())
}

/// `Max` and `Min` of long integers, which no other type that the older version supports
/// represents.
fn select_by_comparison(cx: &mut Context) -> Result<(), Reason> {
    let Ok(dtype @ (DType::Int64 | DType::Uint64)) = cx.dtype(0) else {
        return Ok(());
    };
    let compare = if cx.node.op_type() == "Max" {
        "Greater"
    } else {
        "Less"
    };
    let inputs = cx.node.input.clone();
    let Some((first, others)) = inputs.split_first() else {
        return Ok(());
    };
    let Some((last, between)) = others.split_last() else {
        cx.rename_operator("Identity");
        return Ok(());
    };
    let mut best = first.clone();
    for input in between {
        let wins = cx.add_before(
            compare,
            &[&best, input],
            Vec::new(),
            "wins",
            Known::tensor(DType::Bool),
        );
        best = cx.add_before(
            "Where",
            &[&wins, &best, input],
            Vec::new(),
            "best",
            Known::tensor(dtype),
        );
    }
    let shape = if others.len() == 1 {
        cx.known_output(0).shape
    } else {
        None
    };
    let known = Known {
        shape,
        ..Known::tensor(DType::Bool)
    };
    let wins = cx.add_before(compare, &[&best, last], Vec::new(), "wins", known);
    becomes(cx, "Where", &[&wins, &best, last]);
    Ok(())
}
