//! Rounding of FLOAT to the numbers of a narrower type by arithmetic, as `Cast` rounds: to the
//! nearest number, ties to even. Each is ONNX text that computes a FLOAT of a FLOAT.
//!
//! Adding a number whose last place is the step of the narrower type rounds, and subtracting it is
//! exact. That number is 1.5 times the power of two at most the magnitude, times the steps of FLOAT
//! in one of the narrower type. The power is the last place of a product that is rounded: q - (1 -
//! 2^-24) q for q = (2^23 + 1) a (Rump, Ogita, Oishi 2008). The least normal number replaces
//! smaller powers, so that subnormal numbers have their step.
//!
//! - FLOAT16: magnitudes above 2^17 become 2^17 before, so that nothing overflows. Magnitudes
//!   that round to 2^16 or more are multiplied by 2^120 and become infinite. NaN stays NaN.
//! - BFLOAT16 has the range of FLOAT. Magnitudes below 1 are multiplied by 2^64 meanwhile, others
//!   by 2^-40, so that nothing overflows or becomes subnormal on the way. What rounds to 2^128
//!   becomes infinite when the factor is undone.
//! - Float8: like FLOAT16. A number beyond the range becomes the largest one, infinite, or NaN.
//! - The sign: the argument between two numbers that round to zero, divided by the larger one, is
//!   -1 or 1, or has the sign of a result that is zero. A `Where` would not do: that of onnxruntime
//!   to 1.32 turns -0 into 0.
//!
//! Each result has to be that of one operation, rounded: a compiler that contracts a multiplication
//! and an addition, or reorders sums, breaks the rounding. Some runtimes leave out the addition of
//! zero, or find that NaN is greater than a number: neither is used.

use onnx_cast::DType;
use onnx_cast::float_format::{Format, Specials};

/// The nodes that round `x` to FLOAT16, as `y`.
pub(crate) fn to_float16(x: &str, y: &str) -> String {
    let scaled = "
    magnitude = Abs ($x)
    most = Constant <value = float {131072}> ()
    scaled = Min (magnitude, most)";
    let unsigned = "
    limit = Constant <value = float {65536}> ()
    is_finite = Less (rounded, limit)
    huge = Constant <value = float {1329227995784915872903807060280344576}> ()
    beyond = Mul (magnitude, huge)
    unsigned = Where (is_finite, rounded, beyond)";
    let text = [
        scaled,
        &rounded("0.00006103515625", "12288"),
        unsigned,
        &signed("$x", "2.98023223876953125e-8", "33554432"),
    ];
    named(&text, x, y)
}

/// The nodes that round `x` to BFLOAT16, as `y`.
pub(crate) fn to_bfloat16(x: &str, y: &str) -> String {
    let scaled = "
    magnitude = Abs ($x)
    one = Constant <value = float {1}> ()
    is_small = Less (magnitude, one)
    up = Constant <value = float {18446744073709551616}> ()
    down = Constant <value = float {9.094947017729282379150390625e-13}> ()
    factor = Where (is_small, up, down)
    moved = Mul ($x, factor)
    distance = Abs (moved)
    most = Constant <value = float {309485009821345068724781056}> ()
    scaled = Min (distance, most)";
    let unsigned = "
    undo_up = Constant <value = float {5.42101086242752217e-20}> ()
    undo_down = Constant <value = float {1099511627776}> ()
    inverse = Where (is_small, undo_up, undo_down)
    unmoved = Mul (rounded, inverse)
    infinity = Constant <value = float {inf}> ()
    is_finite = Less (magnitude, infinity)
    unsigned = Where (is_finite, unmoved, magnitude)";
    let signed = signed(
        "moved",
        "8.470329472543003391e-22",
        "1180591620717411303424",
    );
    let text = [
        scaled,
        &rounded("2.168404344971008868e-19", "98304"),
        unsigned,
        &signed,
    ];
    named(&text, x, y)
}

/// The nodes that round `x` to a float8 type, as `y`; none for other types.
pub(crate) fn to_float8(dtype: DType, saturate: bool, x: &str, y: &str) -> Option<String> {
    let format = Format::of(dtype).filter(|_| dtype.is_float8())?;
    let power = |exponent: i32| f64::from(exponent).exp2();
    let mantissa = format.mantissa_bits as i32;
    let least_normal = power(format.lowest_exponent());
    let steps = 1.5 * power(23 - mantissa);
    let largest = number(format, format.largest());
    let ulp = power(largest.log2().floor() as i32 - mantissa);
    let beyond = match (saturate, format.specials) {
        (true, _) => format!(
            "largest = Constant <value = float {{{largest}}}> ()
    is_large = Less (largest, magnitude)
    beyond = Where (is_large, largest, magnitude)"
        ),
        (false, Specials::Ieee) => "
    huge = Constant <value = float {1329227995784915872903807060280344576}> ()
    beyond = Mul (magnitude, huge)"
            .to_owned(),
        (false, _) => "beyond = Constant <value = float {nan}> ()".to_owned(),
    };
    let scaled = format!(
        "
    magnitude = Abs ($x)
    most = Constant <value = float {{{}}}> ()
    scaled = Min (magnitude, most)",
        4.0 * power(largest.log2().floor() as i32)
    );
    let unsigned = format!(
        "
    limit = Constant <value = float {{{}}}> ()
    is_within = Less (rounded, limit)
    {beyond}
    unsigned = Where (is_within, rounded, beyond)",
        largest + ulp
    );
    let half = power(format.lowest_exponent() - mantissa - 1);
    let signed = signed("$x", &half.to_string(), &half.recip().to_string());
    let signed = if format.specials == Specials::NegativeZeroIsNan {
        // There is no negative zero.
        signed.replace("$y = Mul", "signed = Mul")
            + "
    zero = Constant <value = float {0}> ()
    is_zero = Less (unsigned, tiny)
    $y = Where (is_zero, zero, signed)"
    } else {
        signed
    };
    let rounded = rounded(&least_normal.to_string(), &steps.to_string());
    Some(named(&[&scaled, &rounded, &unsigned, &signed], x, y))
}

/// The nodes that round `x` to FLOAT8E8M0, as `y`; none for an unknown `round_mode`. The numbers are
/// the powers of two from 2^-127 to 2^127, and NaN.
///
/// The power of two at most a number is found as for the other types, of numbers below 1 times 2^64
/// and of others times 2^-32, which are exact and neither overflow nor become subnormal. `up` and
/// `nearest` take twice the power beyond it, or from the middle on. Numbers out of range become the
/// nearest one, or NaN without `saturate`. Results that ONNX leaves undefined are those of the casts
/// of this project: NaN for negative numbers.
pub(crate) fn to_power_of_two(saturate: bool, mode: &str, x: &str, y: &str) -> Option<String> {
    let nearest = match mode {
        "up" => {
            "
    goes_up = Less (power, moved)"
        }
        "nearest" => {
            "
    half_more = Constant <value = float {1.5}> ()
    middle = Mul (power, half_more)
    is_below = Less (moved, middle)
    goes_up = Not (is_below)"
        }
        "down" => {
            "
    goes_up = Less (power, power)"
        }
        _ => return None,
    };
    let beyond = if saturate {
        "
    is_no_power = Or (is_negative, is_nan)"
    } else {
        "
    is_too_small = Less ($x, least)
    is_too_large = Less (greatest, $x)
    is_out_of_range = Or (is_too_small, is_too_large)
    is_no_power = Or (is_out_of_range, is_nan)"
    };
    let power = "
    zero = Constant <value = float {0}> ()
    one = Constant <value = float {1}> ()
    least = Constant <value = float {5.877471754111437539843683e-39}> ()
    greatest = Constant <value = float {170141183460469231731687303715884105728}> ()
    is_small = Less ($x, one)
    up = Constant <value = float {18446744073709551616}> ()
    down = Constant <value = float {2.3283064365386962890625e-10}> ()
    factor = Where (is_small, up, down)
    capped = Min ($x, greatest)
    moved = Mul (capped, factor)
    spread = Constant <value = float {8388609}> ()
    product = Mul (moved, spread)
    almost_one = Constant <value = float {0.999999940395355224609375}> ()
    less = Mul (product, almost_one)
    power = Sub (product, less)";
    let scaled = "
    twice = Add (power, power)
    chosen = Where (goes_up, twice, power)
    undo_up = Constant <value = float {5.42101086242752217003726400434970855712890625e-20}> ()
    undo_down = Constant <value = float {4294967296}> ()
    inverse = Where (is_small, undo_up, undo_down)
    scaled = Mul (chosen, inverse)
    raised = Max (scaled, least)
    is_negative = Less ($x, zero)
    is_positive = Less (zero, $x)
    is_number = Or (is_small, is_positive)
    is_nan = Not (is_number)";
    let result = "
    nan = Constant <value = float {nan}> ()
    $y = Where (is_no_power, nan, raised)";
    Some(named(&[power, nearest, scaled, beyond, result], x, y))
}

/// The nodes with the names of their input and output.
fn named(parts: &[&str], x: &str, y: &str) -> String {
    parts.concat().replace("$x", x).replace("$y", y)
}

/// A positive normal number of a format.
fn number(format: Format, code: u64) -> f64 {
    let mantissa = code & !(u64::MAX << format.mantissa_bits);
    let exponent = (code >> format.mantissa_bits) as i32 - format.bias;
    let hidden = 1 << format.mantissa_bits;
    (hidden | mantissa) as f64 * f64::from(exponent - format.mantissa_bits as i32).exp2()
}

/// `rounded`: the number of the type that is nearest to `scaled`. `steps` is 1.5 times the steps of
/// FLOAT in one of the type.
fn rounded(least_normal: &str, steps: &str) -> String {
    format!(
        "
    splitter = Constant <value = float {{8388609}}> ()
    product = Mul (scaled, splitter)
    predecessor = Constant <value = float {{0.99999994039535522}}> ()
    before = Mul (product, predecessor)
    power = Sub (product, before)
    least_normal = Constant <value = float {{{least_normal}}}> ()
    at_least = Max (power, least_normal)
    steps = Constant <value = float {{{steps}}}> ()
    shift = Mul (at_least, steps)
    sum = Add (scaled, shift)
    rounded = Sub (sum, shift)"
    )
}

/// `$y`: `unsigned` with the sign of an argument. `tiny` rounds to zero, and `whole` is 1 divided by
/// it.
fn signed(argument: &str, tiny: &str, whole: &str) -> String {
    format!(
        "
    tiny = Constant <value = float {{{tiny}}}> ()
    above = Min ({argument}, tiny)
    minus_tiny = Constant <value = float {{-{tiny}}}> ()
    within = Max (above, minus_tiny)
    whole = Constant <value = float {{{whole}}}> ()
    sign = Mul (within, whole)
    $y = Mul (unsigned, sign)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::hash::HashMap;
    use crate::onnx_text;
    use crate::tensor::{Data, Tensor};
    use onnx_cast::{Cast, Rules, convert_element};

    /// What the nodes of a text compute of `x`, each operation rounded.
    ///
    /// Operator, inputs by place (`x` is 0, the result of a node one more than its own), constant.
    struct Nodes(Vec<(String, Vec<usize>, f32)>);

    impl Nodes {
        fn of(text: &str) -> Nodes {
            let text =
                format!(r#"<ir_version: 8, opset_import: ["": 13]> g () => () {{ {text} }}"#);
            let parsed = onnx_text::parse(&text).unwrap();
            let mut places: HashMap<String, usize> = HashMap::default();
            places.insert("x".to_owned(), 0);
            let nodes = parsed.graph.as_ref().unwrap().node.iter().map(|node| {
                let constant = node.attribute.first().map_or(0.0, |attribute| {
                    let tensor = Tensor::read(attribute.t.as_ref().unwrap()).unwrap();
                    let content = tensor.load(&Default::default()).unwrap();
                    let Data::Numbers(bytes, _) = content.data() else {
                        panic!("no numbers")
                    };
                    f32::from_le_bytes(bytes.to_bytes()[..].try_into().unwrap())
                });
                let op = node.op_type().to_owned();
                let inputs = node.input.iter().map(|input| places[input]).collect();
                places.insert(node.output[0].clone(), places.len());
                (op, inputs, constant)
            });
            Nodes(nodes.collect())
        }

        fn result(&self, x: f32) -> f32 {
            let mut known = vec![x];
            for (op, inputs, constant) in &self.0 {
                let of = |index: usize| known[inputs[index]];
                let truth = |is_true: bool| f32::from(u8::from(is_true));
                let result = match op.as_str() {
                    "Constant" => *constant,
                    "Abs" => of(0).abs(),
                    "Add" => of(0) + of(1),
                    "Sub" => of(0) - of(1),
                    "Mul" => of(0) * of(1),
                    "Min" => of(0).min(of(1)),
                    "Max" => of(0).max(of(1)),
                    "Less" => truth(of(0) < of(1)),
                    "Where" => of(if of(0) == 0.0 { 2 } else { 1 }),
                    other => panic!("{other} is not expected"),
                };
                known.push(result);
            }
            known.last().copied().unwrap()
        }
    }

    /// All FLOAT with `EXHAUSTIVE=1`. Otherwise the numbers of the type, or a sample if it has 16
    /// bits, and those halfway between two of them, each with its neighbours in FLOAT, and a sample
    /// of the others. The results of the arithmetic change at these numbers only.
    fn inputs(dtype: DType) -> impl Iterator<Item = u32> {
        let is_exhaustive = std::env::var_os("EXHAUSTIVE").is_some();
        let step = if is_exhaustive || dtype.bits() == 8 {
            1
        } else {
            61
        };
        let to_float = |from: DType| {
            let cast = Cast::new(from, DType::Float, Rules::default()).unwrap();
            (0..1u64 << from.bits()).map(move |code| convert_element(&cast, code).0 as u32)
        };
        let mut numbers: Vec<f32> = to_float(dtype)
            .map(f32::from_bits)
            .filter(|number| number.is_finite())
            .collect();
        numbers.sort_by(f32::total_cmp);
        let halves: Vec<f32> = numbers
            .windows(2)
            .step_by(step)
            .map(|pair| pair[0] / 2.0 + pair[1] / 2.0)
            .collect();
        let largest = numbers.last().copied().unwrap();
        let beyond = (0..16).map(move |eighth| largest * (1.0 + eighth as f32 / 32.0));
        let numbers = numbers.into_iter().step_by(step);
        let edges = numbers.chain(halves).chain(beyond);
        let near = edges.flat_map(|edge| {
            [edge, -edge].into_iter().flat_map(|edge| {
                let bits = edge.to_bits();
                [bits.wrapping_sub(1), bits, bits.wrapping_add(1)]
            })
        });
        let all = (0..=u32::MAX).step_by(if is_exhaustive { 1 } else { 1_048_573 });
        let specials = [
            f32::INFINITY,
            f32::NEG_INFINITY,
            f32::NAN,
            -f32::NAN,
            f32::MAX,
            f32::MIN,
            f32::MIN_POSITIVE,
        ];
        near.chain(all).chain(specials.map(f32::to_bits))
    }

    #[test]
    fn the_nodes_round_as_a_cast_to_the_type_and_back() {
        let float8 = DType::ALL.iter().copied().filter(|dtype| dtype.is_float8());
        let texts = float8
            .flat_map(|dtype| {
                [true, false].map(|saturate| {
                    (
                        dtype,
                        saturate,
                        to_float8(dtype, saturate, "x", "y").unwrap(),
                    )
                })
            })
            .chain([
                (DType::Float16, true, to_float16("x", "y")),
                (DType::Bfloat16, true, to_bfloat16("x", "y")),
            ]);
        for (dtype, saturate, text) in texts {
            let nodes = Nodes::of(&text);
            let rules = Rules::default().saturate(saturate);
            let there = Cast::new(DType::Float, dtype, rules).unwrap();
            let back = Cast::new(dtype, DType::Float, rules).unwrap();
            for bits in inputs(dtype) {
                let code = convert_element(&there, bits.into()).0;
                let expected = f32::from_bits(convert_element(&back, code).0 as u32);
                let found = nodes.result(f32::from_bits(bits));
                assert!(
                    found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(),
                    "{dtype}, saturate {saturate}: {bits:#x} becomes {found}, not {expected}"
                );
            }
        }
    }
}
