"""Ways in which implementations cast, with a result for every number. Most runtimes follow one for each pair of types.

To integers, a rule is named by three steps: `truncate INT32 low-bits` truncates, converts to INT32, and keeps the low bits. To floats and
BOOL, it is another cast, or two: `by FLOAT16` casts to FLOAT16 and then to the target, `unsaturated` as with `saturate` = 0.
"""

from fractions import Fraction
from math import floor

from support.cast_rules import INF, INTEGERS, NAN, cast, decode, is_nan


def truncated(number):
    return floor(number) if number >= 0 else -floor(-number)


def half_away(number):
    return truncated(number + (Fraction(1, 2) if number >= 0 else -Fraction(1, 2)))


ROUNDINGS = {"truncate": truncated, "half-away": half_away, "half-even": round}
# The type on the way, and its bits. What does not fit becomes what x86 makes of it, the lowest number; in `wrapped-INT32`, its low bits.
THROUGH = {"INT32": 32, "INT64": 64, "UINT64": 64, "wrapped-INT32": 32, "exact": None}
FITS = ("low-bits", "clamp")
INTEGER_RULES = [f"{rounding} {through} {fit}" for through in THROUGH for rounding in ROUNDINGS for fit in FITS]
# Types on the way to a float or BOOL.
BY = ("FLOAT", "DOUBLE", "FLOAT16", "INT32")
FLOAT_RULES = ["unsaturated", *(f"by {name}{rest}" for name in BY for rest in ("", ", unsaturated"))]
OPSET = 25


def result(rule, code, source, target, saturate=True, round_mode="up"):
    """The bit pattern that a rule gives."""
    if rule in INTEGER_RULES:
        return to_integer(rule, code, source, target)
    if rule.startswith("by "):
        step = rule.removeprefix("by ").partition(",")[0]
        code, source = cast(code, source, step, OPSET).text, step
    return cast(code, source, target, OPSET, saturate and "unsaturated" not in rule, round_mode).text


def to_integer(rule, code, source, target):
    rounding, through, fit = rule.split()
    value = decode(code, source)
    number = value.magnitude if value.magnitude in (INF, NAN) else ROUNDINGS[rounding](-value.magnitude if value.negative else value.magnitude)
    if THROUGH[through]:
        number = converted(number, value.negative, through)
    elif number in (INF, NAN):
        bits, signed = INTEGERS[target]
        number = 0 if number == NAN or fit == "low-bits" else -(1 << bits) if value.negative else 1 << bits
    bits, signed = INTEGERS[target]
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return (min(max(number, lowest), highest) if fit == "clamp" else number) % (1 << bits)


def converted(number, negative, through):
    """A number in the type on the way. UINT64 is INT64 below 2^63; above it, INT64 of the rest."""
    half = 1 << THROUGH[through] - 1
    above = through == "UINT64" and number != NAN and not negative and (number == INF or number >= half)
    if number in (INF, NAN):
        return -half + half * above
    if through == "wrapped-INT32":
        return (number + half) % (2 * half) - half
    number -= half * above
    fits = -half <= number < half
    return (number if fits else -half) + half * above


def rule_of(codes, results, source, target, saturate, round_mode):
    """The first rule that gives all results; None if none does."""
    if "STRING" in (source, target):
        return None
    rules = INTEGER_RULES if target in INTEGERS else FLOAT_RULES
    return next((rule for rule in rules if follows(rule, codes, results, source, target, saturate, round_mode)), None)


def follows(rule, codes, results, source, target, saturate, round_mode):
    if rule.startswith("by INT32") and source not in INTEGERS:
        return False
    given = (result(rule, code, source, target, saturate, round_mode) for code in codes)
    return all(same(code, each, target) for code, each in zip(given, results, strict=True))


def same(code, other, target):
    """Whether two bit patterns are one number; a NaN is every NaN."""
    return code == other or (is_nan(code, target) and is_nan(other, target))
