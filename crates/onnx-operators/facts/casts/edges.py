"""Edge values of a cast: the numbers around which implementations are known to disagree, as bit patterns of the source's type."""

from fractions import Fraction
from itertools import chain

from support.cast_rules import FLOATS, INF, INTEGERS, NAN, Value, bits_of, decode, largest_code, power_of_two, to_float

SMALL = ("0", "1/2", "3/4", "1", "3/2", "5/2", "7")
TO_INTEGER = (300, 3 * 10**9, 10**20)
# Beyond the largest of a float8 type, before and after rounding; 36865 rounds twice by FLOAT16.
BEYOND = {"FLOAT8E4M3FN": (464, 465, 480, 490, 496, 500), "FLOAT8E5M2": (36865, 61440, 61441, 65519, 65535)}
# Integers that FLOAT, DOUBLE or BFLOAT16 rounds; zero in their low bits.
TO_WIDE_FLOAT = (300, 70000, 2**24 + 1, 2**30 + 2**22 + 1, 3 * 10**9, 2**53 + 1, 2**60 + 2**36 + 1, 10**20)
TO_BOOL = (256, 2**32)
TO_STRING = ("0", "1/2", "1", 300, 3 * 10**9, 10**20)
# Of most numbers, the negative one is not different in kind.
NEGATIVE = {*map(Fraction, ("1/2", "1", "5/2")), *map(Fraction, (300, 500, 3 * 10**9))}
STRINGS = """
    1 -1 007 0.1 1.5 .5 1e2 -0 NaN -NaN INF infinity 1e400 300 2049.0000000000001 16777217.00000000001 3000000000
    3abc 0x10 1_000 1,5 true
""".split()  # noqa: SIM905 - a list of a literal each is harder to read.
STRINGS += ["", " 1", "\u0661\u0662"]

# The targets for which all strings are tried; of others, the first ones.
STRING_TARGETS, FIRST_STRINGS = ("BOOL", "UINT8", "INT32", "INT64", "FLOAT", "DOUBLE", "FLOAT16", "STRING"), 3


def edges(source, target):
    """Bit patterns of `source`, without duplicates: special ones, then by magnitude."""
    found = {}
    for value in chain(specials(source), both_signs(magnitudes(source, target), target)):
        code = code_of(value, source)
        if code is not None:
            found.setdefault(code)
    return list(found)


def specials(source):
    if source in FLOATS:
        yield from (Value(False, NAN), Value(True, NAN), Value(False, INF), Value(True, INF), Value(True, Fraction(0)))
    if source == "FLOAT8E8M0":
        yield Value(False, NAN)


def both_signs(found, target):
    negative = {1} if target == "FLOAT8E8M0" else NEGATIVE
    ends = {2 ** (bits_of(target) - 1), 2 ** (bits_of(target) - 1) + 1} if target in INTEGERS else ()
    for magnitude in sorted(set(found)):
        yield Value(False, magnitude)
        if magnitude in negative or magnitude in ends:
            yield Value(True, magnitude)


def magnitudes(source, target):
    wide = target in FLOATS and bits_of(target) > 8
    yield from map(Fraction, TO_STRING if target == "STRING" else SMALL)
    if target in INTEGERS:
        yield from map(Fraction, TO_INTEGER)
    elif target == "BOOL":
        yield from map(Fraction, TO_BOOL)
    else:
        yield from map(Fraction, TO_WIDE_FLOAT if wide else BEYOND.get(target, (300,)))
    if target in FLOATS:
        yield from around_float(FLOATS[target])
    if target in INTEGERS:
        yield from around_integer(*INTEGERS[target])
    if target == "FLOAT8E8M0":
        yield from (power_of_two(-127), power_of_two(-128), power_of_two(-126) * Fraction(5, 8), power_of_two(127) * Fraction(3, 2))
    if source in FLOATS and (wide or target == "BOOL" or (target == "STRING" and bits_of(source) >= 32)):
        form = FLOATS[source]
        largest, smallest = decode(largest_code(form), source).magnitude, decode(1, source).magnitude
        smallest_normal = power_of_two(1 - form.bias)
        yield from (largest, smallest, smallest_normal / 2, smallest_normal)
    if source == "FLOAT8E8M0":
        yield from (power_of_two(-127), power_of_two(-126), power_of_two(127))
    if source in INTEGERS and (wide or target in ("BOOL", "STRING")):
        yield from (Fraction(2 ** bits_of(source) - 1), Fraction(2 ** (bits_of(source) - 1)), Fraction(2 ** (bits_of(source) - 1) - 1))


def around_float(form):
    """The largest number, what rounds to it and what does not; the smallest, what rounds to zero and what does not; ties around 1, and
    numbers just above a tie, which FLOAT16, FLOAT or DOUBLE on the way round to it."""
    step = power_of_two(-form.mantissa_bits)
    smallest = power_of_two(1 - form.bias) * step
    largest = magnitude_of(largest_code(form), form)
    if form.special != "all_ones":
        gap = largest - magnitude_of(largest_code(form) - 1, form)
        yield from (largest + gap / 2, largest + gap / 4, largest + gap)
    yield largest
    yield from (smallest, smallest / 2, smallest * Fraction(9, 16), smallest * Fraction(3, 2), smallest / 4)
    yield from (1 + step / 2, 1 + step * 3 / 2)
    yield from (1 + step / 2 + power_of_two(-bits) for bits in (12, 22, 40) if power_of_two(-bits) < step / 4)


def magnitude_of(code, form):
    """The magnitude of the code of a normal number."""
    exponent, mantissa = divmod(code, 1 << form.mantissa_bits)
    return (mantissa + (1 << form.mantissa_bits)) * power_of_two(exponent - form.bias - form.mantissa_bits)


def around_integer(bits, signed):
    end = 2 ** (bits - 1) if signed else 2**bits
    yield from (Fraction(end - 1), Fraction(end), end - Fraction(1, 2), Fraction(2 * end + 3))


def code_of(value, source):
    """The bit pattern of a value, None if the type does not have it."""
    if source == "BOOL":
        return int(value.magnitude) if value.magnitude in (0, 1) and not value.negative else None
    if source in INTEGERS:
        return integer_code(value, *INTEGERS[source])
    if value.magnitude == NAN:
        return nan_code(value, source)
    if source == "FLOAT8E8M0":
        return next((code for code in range(255) if decode(code, source) == value), None)
    form = FLOATS[source]
    if value.magnitude == INF and form.special != "ieee":
        return None
    code = to_float(value, source, 25, False).text
    return code if decode(code, source) == value else None


def integer_code(value, bits, signed):
    number = -value.magnitude if value.negative else value.magnitude
    lowest, highest = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    fits = number not in (INF, NAN) and number.denominator == 1 and lowest <= number <= highest
    return int(number) % (1 << bits) if fits else None


def nan_code(value, source):
    if source == "FLOAT8E8M0":
        return 0xFF
    form = FLOATS[source]
    if form.special == "none" or (form.special == "0x80" and not value.negative):
        return None
    return to_float(value, source, 25, False).text
