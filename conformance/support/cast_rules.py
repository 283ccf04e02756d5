"""What ONNX says that `Cast` computes, one element at a time, in exact arithmetic.

This is the oracle of the conformance run. It is written from the specification alone and shares nothing with the Rust kernels:
elements are bit patterns (plain integers), values are fractions, and every rule is one branch. Slow, and meant to be read.

An answer is `defined` (by ONNX), `undefined` (by ONNX; `recast` defines a value, or none) or `contested`
(the schema text and ONNX's own node tests disagree; both values are given).
"""

from collections import namedtuple
from fractions import Fraction
from math import floor

Answer = namedtuple("Answer", "kind text runtime")
Value = namedtuple("Value", "negative magnitude")  # The magnitude is a Fraction, INF or NAN.
Float = namedtuple("Float", "exponent_bits mantissa_bits bias special")

INF, NAN = "inf", "nan"

# (bits, signed)
INTEGERS = {f"{sign}INT{bits}": (bits, sign == "") for bits in (2, 4, 8, 16, 32, 64) for sign in ("", "U")}

# `special` names the codes that are not finite numbers:
#   ieee      the highest exponent holds Inf and NaN
#   all_ones  the highest code of each sign is NaN, there is no Inf
#   0x80      that code alone is NaN, there is neither Inf nor -0
#   none      every code is a finite number
FLOATS = {
    "FLOAT": Float(8, 23, 127, "ieee"),
    "DOUBLE": Float(11, 52, 1023, "ieee"),
    "FLOAT16": Float(5, 10, 15, "ieee"),
    "BFLOAT16": Float(8, 7, 127, "ieee"),
    "FLOAT8E4M3FN": Float(4, 3, 7, "all_ones"),
    "FLOAT8E4M3FNUZ": Float(4, 3, 8, "0x80"),
    "FLOAT8E5M2": Float(5, 2, 15, "ieee"),
    "FLOAT8E5M2FNUZ": Float(5, 2, 16, "0x80"),
    "FLOAT6E2M3": Float(2, 3, 1, "none"),
    "FLOAT6E3M2": Float(3, 2, 3, "none"),
    "FLOAT4E2M1": Float(2, 1, 1, "none"),
}
FLOAT8 = [name for name in FLOATS if name.startswith("FLOAT8")]
NUMERIC = ["BOOL", *INTEGERS, *FLOATS, "FLOAT8E8M0"]
E8M0_NAN, E8M0_LARGEST = 0xFF, 0xFE

# The first opset whose Cast admits a type; types that are not listed are admitted from the first.
ADMITTED_SINCE = {"STRING": 9, "BFLOAT16": 13, "INT4": 21, "UINT4": 21, "FLOAT4E2M1": 23, "FLOAT8E8M0": 24, "INT2": 25, "UINT2": 25}
ADMITTED_SINCE |= dict.fromkeys(FLOAT8, 19) | dict.fromkeys(["FLOAT6E2M3", "FLOAT6E3M2"], 28)


def bits_of(type_name):
    """Bits of one element."""
    if type_name in INTEGERS:
        return INTEGERS[type_name][0]
    if type_name in FLOATS:
        form = FLOATS[type_name]
        return 1 + form.exponent_bits + form.mantissa_bits
    return 8


def cast(code, source, target, opset, saturate=True, round_mode="up"):
    """The answer for one element of type `source`, given and returned as bit patterns."""
    if source == "BOOL":
        code = min(code, 1)
    if source == target:
        if source == "FLOAT8E5M2" and saturate and decode(code, source).magnitude == INF:
            return contested(text=largest_code(FLOATS[source]) | code & 0x80, runtime=code)
        return defined(code)
    if source in INTEGERS and target in INTEGERS:
        return defined(low_bits(decode(code, source), target))
    value = decode(code, source)
    if target == "BOOL":
        return defined(0 if value.magnitude == 0 else 1)
    if target in INTEGERS:
        return to_integer(value, target)
    if target == "FLOAT8E8M0":
        return to_e8m0(value, saturate, round_mode)
    return to_float(value, target, opset, saturate)


def decode(code, type_name):
    """The exact value of a bit pattern."""
    if type_name in INTEGERS:
        bits, signed = INTEGERS[type_name]
        number = code - (1 << bits) if signed and code >> (bits - 1) else code
        return Value(number < 0, Fraction(abs(number)))
    if type_name == "BOOL":
        return Value(False, Fraction(min(code, 1)))
    if type_name == "FLOAT8E8M0":
        return Value(False, NAN if code == E8M0_NAN else power_of_two(code - 127))
    form = FLOATS[type_name]
    sign_bit = 1 << (form.exponent_bits + form.mantissa_bits)
    negative, rest = code >= sign_bit, code % sign_bit
    if form.special == "0x80" and code == sign_bit:
        return Value(True, NAN)  # The code is that of -0 elsewhere: its sign bit is set.
    if rest > largest_code(form):
        return Value(negative, INF if form.special == "ieee" and rest == largest_code(form) + 1 else NAN)
    exponent, mantissa = divmod(rest, 1 << form.mantissa_bits)
    if exponent == 0:
        return Value(negative, mantissa * power_of_two(1 - form.bias - form.mantissa_bits))
    return Value(negative, (mantissa + (1 << form.mantissa_bits)) * power_of_two(exponent - form.bias - form.mantissa_bits))


def is_nan(code, type_name):
    """Whether a bit pattern is a NaN; NaNs compare equal with any sign and payload."""
    return (type_name in FLOATS or type_name == "FLOAT8E8M0") and decode(code, type_name).magnitude == NAN


def to_integer(value, target):
    """Truncates; what does not fit is undefined. For two and four bits the text rounds and the node tests truncate."""
    bits, signed = INTEGERS[target]
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if value.magnitude in (INF, NAN):
        if bits < 8:
            return undefined(None)
        end = lowest if value.negative else highest
        return undefined(0 if value.magnitude == NAN else end % (1 << bits))
    exact = -value.magnitude if value.negative else value.magnitude
    truncated = Value(value.negative, floor(value.magnitude))
    number = -truncated.magnitude if value.negative else truncated.magnitude
    fits = lowest <= number <= highest
    if bits >= 8:
        code = min(max(number, lowest), highest) % (1 << bits)
        return defined(code) if fits else undefined(code)
    if not fits:
        # A fraction beyond the range has no agreed value at all; an integer keeps its low bits.
        return undefined(low_bits(truncated, target) if exact == number else None)
    if exact == number:
        return defined(low_bits(truncated, target))
    return contested(text=round(exact) % (1 << bits), runtime=low_bits(truncated, target))


def to_e8m0(value, saturate, round_mode):
    """A power of two. Only saturate with `up`, and its absence with `nearest`, say what becomes of values beyond the ends."""
    magnitude = value.magnitude
    if magnitude == NAN:
        return defined(E8M0_NAN)
    if value.negative:
        return undefined(E8M0_NAN)
    answer = defined if (saturate, round_mode) in ((True, "up"), (False, "nearest")) else undefined
    if magnitude == INF or magnitude > power_of_two(127):
        return answer(E8M0_LARGEST if saturate else E8M0_NAN)
    if magnitude < power_of_two(-127):
        return answer(0 if saturate else E8M0_NAN)
    exponent = floor_log2(magnitude)
    excess = magnitude / power_of_two(exponent)  # From 1 up to 2.
    step_up = {"up": excess > 1, "down": False, "nearest": excess >= Fraction(3, 2)}[round_mode]
    return defined(exponent + 127 + step_up)


def to_float(value, target, opset, saturate):
    """Rounds once, to nearest, ties to even; overflow is judged after that."""
    form = FLOATS[target]
    sign = 1 << (form.exponent_bits + form.mantissa_bits) if value.negative else 0
    largest = largest_code(form)
    if value.magnitude == NAN:
        return nan_to_float(form, target, sign)
    if value.magnitude != INF:
        code = nearest_code(value.magnitude, form)
        if code <= largest:
            return defined(0 if form.special == "0x80" and code == 0 else code | sign)
    if target.startswith("FLOAT6"):
        return undefined(largest | sign)
    if target == "FLOAT4E2M1":
        return defined(largest | sign)
    if target in FLOAT8 and saturate:
        if value.magnitude == INF and form.special == "0x80" and opset < 24:
            return contested(text=0x80, runtime=largest | sign)
        return defined(largest | sign)
    return defined(0x80 if form.special == "0x80" else largest + 1 | sign)  # Inf, or in E4M3FN the NaN of that sign.


def nan_to_float(form, target, sign):
    """A NaN where the format has one."""
    if target == "FLOAT4E2M1":
        return contested(text=largest_code(form), runtime=0 if sign else 0x8)
    if form.special == "none":
        return undefined(largest_code(form))
    if form.special == "0x80":
        return defined(0x80)
    return defined((1 << form.exponent_bits + form.mantissa_bits) - 1 | sign)


def nearest_code(magnitude, form):
    """The code of a finite magnitude without its sign; larger than `largest_code` where the format ends before it."""
    if magnitude == 0:
        return 0
    lowest_exponent = 1 - form.bias
    exponent = max(floor_log2(magnitude), lowest_exponent)
    steps = round(magnitude / power_of_two(exponent - form.mantissa_bits))  # Python rounds ties to even.
    return (exponent - lowest_exponent << form.mantissa_bits) + steps


def largest_code(form):
    """The code of the largest finite number."""
    all_ones = (1 << form.exponent_bits + form.mantissa_bits) - 1
    return {"ieee": all_ones - (1 << form.mantissa_bits), "all_ones": all_ones - 1, "0x80": all_ones, "none": all_ones}[
        form.special
    ]


def low_bits(value, target):
    """Two's complement of an integer, cut to the target's width."""
    number = int(-value.magnitude if value.negative else value.magnitude)
    return number % (1 << INTEGERS[target][0])


def power_of_two(exponent):
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(magnitude):
    """The exponent of the highest power of two that is not above a positive fraction."""
    guess = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    return guess if power_of_two(guess) <= magnitude else guess - 1


def defined(code):
    return Answer("defined", code, code)


def undefined(code):
    """`code` is what `recast` writes when asked to fold all the same; None where it promises nothing."""
    return Answer("undefined", code, code)


def contested(text, runtime):
    return Answer("contested", text, runtime)
