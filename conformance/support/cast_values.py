"""Element values at which casts go wrong, with what ONNX says of them: for wide types, the places where a target's rounding or range changes."""

import random
from fractions import Fraction

from support.cast_rules import FLOAT8, FLOATS, INF, INTEGERS, NAN, bits_of, cast, decode, is_nan, largest_code, nearest_code


def variants(target):
    """The attributes that matter to a target."""
    if target == "FLOAT8E8M0":
        return [{"saturate": saturate, "round_mode": mode} for saturate in (1, 0) for mode in ("up", "down", "nearest")]
    return [{"saturate": 1}, {"saturate": 0}] if target in FLOAT8 else [{}]


def answers_of(codes, source, target, opset, attributes):
    """What ONNX says of the cast of each element, under the attributes of a node."""
    saturate, round_mode = attributes.get("saturate", 1) != 0, attributes.get("round_mode", "up")
    return [cast(code, source, target, opset, saturate, round_mode) for code in codes]


def difference(codes, answers, actual_codes, target, by_runtimes):
    """The results that are not those of the answers, as text, where the text or the runtimes give one; NaN equals NaN."""
    differing = [
        f"{code:#x} gives {actual:#x}, not {wanted:#x}"
        for code, answer, actual in zip(codes, answers, actual_codes, strict=True)
        if (wanted := answer.runtime if by_runtimes else answer.text) is not None
        and actual != wanted
        and not (is_nan(actual, target) and is_nan(wanted, target))
    ]
    return differing and f"{len(differing)} values, first: {'; '.join(differing[:3])}"


def interesting_codes(source, target, count):
    """Bit patterns of `source` for a cast to `target`: all, or a little more than `count`; the same in every run."""
    width = bits_of(source)
    if width <= 8 or 1 << width <= count:
        return list(range(1 << width)) if source != "BOOL" else [0, 1]
    picked = random.Random(f"{source} to {target}")
    codes = {picked.getrandbits(width) for _ in range(count // 4)}
    edges = {code for value in edge_values(target, picked) for code in nearby_codes(value, source)}
    codes |= edges if len(edges) <= count else set(picked.sample(sorted(edges), count))
    return sorted(codes | special_codes(source))


def edge_values(target, picked):
    """Exact values around which the result changes: the target's own, the middle of each two neighbours, the ends of its range."""
    width = bits_of(target)
    codes = range(1 << width) if width <= 8 else sorted({picked.getrandbits(width) for _ in range(40)} | special_codes(target))
    if target in FLOATS:
        codes = [*codes, largest_code(FLOATS[target])]
    own = sorted({signed(decode(code, target)) for code in codes if decode(code, target).magnitude not in (INF, NAN)})
    yield from own
    if width <= 8:
        yield from ((lower + upper) / 2 for lower, upper in zip(own, own[1:]))
    else:
        for code in codes:
            lower, upper = decode(code, target), decode((code + 1) % (1 << width), target)
            if lower.magnitude not in (INF, NAN) and upper.magnitude not in (INF, NAN):
                yield (signed(lower) + signed(upper)) / 2
    for end in (own[0], own[-1]):
        step = abs(end) / 16
        yield from (end + sign * step * part for sign in (1, -1) for part in (Fraction(1, 4), Fraction(1, 2), 1, Fraction(3, 2), 2))


def special_codes(type_name):
    """Those of these that the type has: zero, one, the ends, both infinities, NaNs."""
    width = bits_of(type_name)
    ends = {0, 1, (1 << width) - 1, 1 << (width - 1), (1 << (width - 1)) - 1, (1 << (width - 1)) + 1}
    if type_name not in FLOATS:
        return ends
    form, sign = FLOATS[type_name], 1 << (width - 1)
    largest, smallest_normal = largest_code(form), 1 << form.mantissa_bits
    one = nearest_code(Fraction(1), form)
    magnitudes = {largest, min(largest + 1, sign - 1), smallest_normal, smallest_normal - 1, one, one + 1, one - 1}
    return ends | magnitudes | {code | sign for code in magnitudes}


def nearby_codes(value, source):
    """The codes of `source` next to a value, on both sides."""
    width = bits_of(source)
    if source in INTEGERS:
        lowest = -(1 << width - 1) if INTEGERS[source][1] else 0
        around = (int(value) + step for step in (-1, 0, 1))
        return {number % (1 << width) for number in around if lowest <= number < lowest + (1 << width)}
    form, sign = FLOATS[source], 1 << (width - 1) if value < 0 else 0
    code = nearest_code(abs(value), form)
    return {near | sign for near in (code - 1, code, code + 1) if 0 <= near <= largest_code(form)}


def signed(value):
    return -value.magnitude if value.negative else value.magnitude
