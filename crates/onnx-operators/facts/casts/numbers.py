"""Numbers of element types as text: all digits if they are few, else the fewest that read back to the same bit pattern."""

from decimal import Context, Decimal
from fractions import Fraction

from support.cast_rules import FLOATS, INF, INTEGERS, NAN, Value, decode, nearest_code, to_float

# Longer numbers are written with an exponent, if that is shorter.
LONG = 10


def text_of(code, type_name, long=LONG):
    """A bit pattern as a person writes its number; `recast cast` reads it. Beyond `long` digits, they are the fewest."""
    if type_name == "BOOL":
        return "true" if code else "false"
    value = decode(code, type_name)
    if value.magnitude == NAN:
        return "NaN"
    sign = "-" if value.negative else ""
    if value.magnitude == INF:
        return f"{sign}INF"
    if type_name in INTEGERS or value.magnitude == 0:
        return f"{sign}{value.magnitude}"
    digits = plain(as_decimal(value.magnitude))
    if len(digits) > long:
        # Digits of powers of two that FLOAT tells apart.
        digits = scientific(shortest(value.magnitude, "FLOAT" if type_name == "FLOAT8E8M0" else type_name))
    return sign + digits


def shortest(magnitude, type_name):
    """The plain decimal form of a finite magnitude with the fewest digits that read back to it; E8M0 has all of its digits."""
    if magnitude == 0:
        return "0"
    exact = as_decimal(magnitude)
    if type_name in FLOATS:
        code = nearest_code(magnitude, FLOATS[type_name])
        for digits in range(1, len(exact.as_tuple().digits) + 1):
            rounded = exact.normalize(Context(prec=digits))
            if nearest_code(Fraction(rounded), FLOATS[type_name]) == code:
                return plain(rounded)
    return plain(exact)


def code_of(text, type_name):
    """The bit pattern of a number that `text_of` has written."""
    negative, magnitude = text.startswith("-"), text.removeprefix("-")
    magnitude = {"NaN": NAN, "INF": INF}.get(magnitude) or Fraction(magnitude)
    return to_float(Value(negative, magnitude), type_name, 25, False).text


def as_decimal(magnitude):
    """A fraction whose denominator is a power of two, with all of its digits."""
    context = Context(prec=2000)
    return context.divide(Decimal(magnitude.numerator), Decimal(magnitude.denominator)).normalize(context)


def plain(number):
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def scientific(digits):
    """A long plain number with an exponent if that is shorter."""
    number = Decimal(digits).normalize(Context(prec=2000))
    if len(number.as_tuple().digits) + 5 >= len(digits):
        return digits
    mantissa, exponent = f"{number:e}".split("e")
    return f"{mantissa}e{int(exponent)}"
