"""Casts from and to strings as docs/cast.md defines them, by exact arithmetic."""

import re
from fractions import Fraction
from math import floor

from support.cast_rules import FLOATS, INF, INTEGERS, NAN, Value, decode, defined, to_e8m0, to_float, undefined

from casts.numbers import as_decimal, plain, shortest

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
INTEGER = re.compile(r"[+-]?[0-9]+")
WORDS = {"INF": Value(False, INF), "+INF": Value(False, INF), "-INF": Value(True, INF), "NAN": Value(False, NAN)}
# The result of a string without a value.
ERROR = "error"


def from_string(literal, target, opset, saturate=True, round_mode="up"):
    """The answer for one string."""
    if target == "STRING":
        return defined(literal)
    value = value_of(literal)
    if value is None or target == "BOOL":
        return undefined(ERROR)
    if target in FLOATS:
        return to_float(value, target, opset, saturate)
    if target == "FLOAT8E8M0":
        return to_e8m0(value, saturate, round_mode)
    if value.magnitude in (INF, NAN):
        return undefined(ERROR)
    bits, signed = INTEGERS[target]
    number = -floor(value.magnitude) if value.negative else floor(value.magnitude)
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    if not lowest <= number <= highest:
        return undefined(ERROR)
    return (defined if INTEGER.fullmatch(literal) else undefined)(number % (1 << bits))


def value_of(literal):
    if literal.upper() in WORDS:
        return WORDS[literal.upper()]
    return Value(literal.startswith("-"), abs(Fraction(literal))) if NUMBER.fullmatch(literal) else None


def to_string(code, source):
    """The answer for one number: only that of integers is defined."""
    if source == "BOOL":
        return undefined(str(code))
    value = decode(code, source)
    sign = "-" if value.negative and value.magnitude != NAN else ""
    if source in INTEGERS:
        return defined(f"{sign}{value.magnitude}")
    if value.magnitude == NAN:
        return undefined("NaN")
    if value.magnitude == INF:
        return undefined(f"{sign}INF")
    return undefined(sign + (plain(as_decimal(value.magnitude)) if source == "FLOAT8E8M0" else shortest(value.magnitude, source)))
