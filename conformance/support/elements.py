"""Arrays of bit patterns of every element type: numbers whose casts ONNX defines, their casts by numpy and ml_dtypes, and their storage.

The casts are quick, for tensors of real size. `cast_rules.py` defines them one element at a time; the check `large_tensors` compares both.
"""

import functools
import math

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from support.cast_rules import FLOATS, INTEGERS, bits_of

CANDIDATES = 1 << 15
# Up to this magnitude DOUBLE has every integer.
INTEGERS_OF_DOUBLE = 1 << 53
# The floats that numpy itself rounds to, once.
NUMPY_FLOATS = ("FLOAT", "DOUBLE", "FLOAT16")


def drawn(rng, types, count):
    """Random bit patterns of the first type, whose casts to each of the other types in turn ONNX defines, and the results of all types.
    About one of eight results is zero at most, if there are others."""
    steps, is_defined = candidates(rng, types)
    wanted = np.flatnonzero(is_defined & (steps[-1] != 0))
    if not wanted.size:
        wanted = np.flatnonzero(is_defined)
    picked = rng.choice(wanted, count)
    others = rng.random(count) < 1 / 8
    picked[others] = rng.choice(np.flatnonzero(is_defined), np.count_nonzero(others))
    return [step[picked] for step in steps]


def has_values(types):
    """Whether there are numbers for which all casts of a row of types are defined."""
    return bool(candidates(np.random.default_rng(0), types)[1].any())


def candidates(rng, types):
    """Bit patterns of all types, one row the casts of the one before it, and for which elements all casts are defined."""
    steps = [random_codes(rng, types[0], types[1:])]
    is_defined = np.ones(steps[0].size, bool)
    for source, target in zip(types, types[1:]):
        is_defined &= defined(steps[-1], source, target)
        # Where a cast is not defined, the result does not matter.
        with np.errstate(all="ignore"):
            steps.append(cast(steps[-1], source, target))
    return steps, is_defined


def random_codes(rng, source, targets):
    """Bit patterns of a type: all of a short type, or random ones with numbers in the ranges of the targets."""
    width = bits_of(source)
    if source == "BOOL":
        return np.arange(2, dtype=np.uint8)
    if width <= 16:
        return np.arange(1 << width).astype(unsigned(source))
    if source in INTEGERS:
        codes = rng.integers(0, 1 << width, CANDIDATES, unsigned(source), endpoint=False)
        # Numbers of all lengths.
        signed = codes.view(f"i{width // 8}") if INTEGERS[source][1] else codes
        return (signed >> rng.integers(0, width, CANDIDATES).astype(signed.dtype)).view(codes.dtype)
    lowest, highest = zip(*map(exponents, [source, *targets]))
    exponent = rng.integers(max(lowest), min(highest) + 1, CANDIDATES)
    sign = rng.choice([-1.0, 1.0], CANDIDATES)
    numbers = np.ldexp(sign * (1 + rng.random(CANDIDATES)), exponent)
    # Integers of two and four bits need whole numbers.
    numbers[::4] = np.trunc(numbers[::4])
    return numbers.astype(numpy_type(source)).view(unsigned(source))


def exponents(type_name):
    """The least and the greatest power of two for numbers that are cast to a type: from a quarter of its smallest number on."""
    if type_name in FLOATS:
        form = FLOATS[type_name]
        return 1 - form.bias - form.mantissa_bits - 2, math.frexp(largest(type_name))[1] - 1
    if type_name == "FLOAT8E8M0":
        return -127, 126
    return -2, max(bits_of(type_name), 8)


def defined(codes, source, target):
    """Which elements are finite numbers whose cast ONNX defines, and which numpy and ml_dtypes cast as ONNX does."""
    with np.errstate(invalid="ignore"):
        numbers = doubles(codes, source)
    if target == "BOOL" or is_whole(source) and is_whole(target):
        return np.isfinite(numbers)
    if target in INTEGERS:
        bits, is_signed = INTEGERS[target]
        lowest, beyond = (-(2.0 ** (bits - 1)), 2.0 ** (bits - 1)) if is_signed else (0.0, 2.0**bits)
        whole = np.trunc(numbers)
        # A fraction is contested for two and four bits.
        return (whole >= lowest) & (whole < beyond) & ((whole == numbers) | (bits >= 8))
    if target == "FLOAT8E8M0":
        return (numbers >= 2.0**-127) & (numbers <= 2.0**127)
    most = largest(target)
    if source in INTEGERS and target not in NUMPY_FLOATS:
        most = min(most, INTEGERS_OF_DOUBLE)
    return np.abs(numbers) <= most


def cast(codes, source, target):
    """The bit patterns of the results, where they are defined."""
    if is_whole(source) and is_whole(target) and target != "BOOL":
        return low_bits(values(codes, source).astype(np.int64), target)
    if target == "BOOL":
        return (doubles(codes, source) != 0).astype(np.uint8)
    if target in INTEGERS:
        whole = np.trunc(doubles(codes, source))
        return low_bits(whole.astype(np.uint64 if target == "UINT64" else np.int64), target)
    if target == "FLOAT8E8M0":
        return powers_of_two(doubles(codes, source)).view(np.uint8)
    if target in NUMPY_FLOATS:
        given = values(codes, source) if source in NUMPY_FLOATS or is_whole(source) else doubles(codes, source)
        return given.astype(numpy_type(target)).view(unsigned(target))
    return rounded_to_odd(doubles(codes, source)).astype(numpy_type(target)).view(unsigned(target))


def low_bits(numbers, target):
    return (numbers.view(np.uint64) & np.uint64((1 << bits_of(target)) - 1)).astype(unsigned(target))


def rounded_to_odd(numbers):
    """Numbers of FLOAT that round to shorter floats as these do: ml_dtypes would round twice. Truncated, and the last bit says whether
    anything was cut off."""
    nearest = numbers.astype(np.float32)
    back = nearest.astype(np.float64)
    truncated = nearest.view(np.uint32) - (np.abs(back) > np.abs(numbers)).astype(np.uint32)
    return (truncated | (back != numbers).astype(np.uint32)).view(np.float32)


def powers_of_two(numbers):
    """FLOAT8E8M0 by `round_mode` up: ml_dtypes rounds to the nearest, but has these numbers."""
    fraction, exponent = np.frexp(numbers)
    return np.ldexp(1.0, exponent - (fraction == 0.5)).astype(ml_dtypes.float8_e8m0fnu)


def doubles(codes, source):
    """Numbers as DOUBLE, exact for all types except integers of 64 bits."""
    given = values(codes, source)
    return given.astype(np.float32).astype(np.float64) if bits_of(source) <= 16 else given.astype(np.float64)


def values(codes, source):
    """Elements by their numbers: of a type of numpy or ml_dtypes, or integers of eight bits."""
    if source in INTEGERS and bits_of(source) < 8:
        shift = 8 - bits_of(source)
        return (codes << shift).view(np.int8) >> shift if INTEGERS[source][1] else codes
    return codes.view(numpy_type(source))


def is_whole(type_name):
    return type_name == "BOOL" or type_name in INTEGERS


@functools.cache
def largest(type_name):
    return float(ml_dtypes.finfo(numpy_type(type_name)).max)


@functools.cache
def numpy_type(type_name):
    return np.dtype(helper.tensor_dtype_to_np_dtype(number_of(type_name)))


def number_of(type_name):
    return TensorProto.DataType.Value(type_name)


@functools.cache
def unsigned(type_name):
    """The type of the bit patterns."""
    return np.dtype(f"u{max(bits_of(type_name), 8) // 8}")


def packed(codes, type_name):
    """The bytes of `raw_data`: elements of less than eight bits follow each other, low bits first."""
    width, flat = bits_of(type_name), np.ascontiguousarray(codes).reshape(-1)
    if width >= 8 or type_name == "BOOL":
        return flat.view(np.uint8)
    together = 8 // math.gcd(width, 8)
    padded = np.zeros(-(-flat.size // together) * together, np.uint8)
    padded[: flat.size] = flat
    groups = np.zeros(padded.size // together, "<u4")
    for index in range(together):
        groups |= padded[index::together].astype("<u4") << np.uint32(width * index)
    return groups.view(np.uint8).reshape(-1, 4)[:, : width * together // 8].reshape(-1)[: packed_length(flat.size, type_name)]


def packed_length(count, type_name):
    """How many bytes `raw_data` has."""
    return -(-count * stored_bits(type_name) // 8)


def stored_bits(type_name):
    """Bits of an element in a file."""
    return 8 if type_name == "BOOL" else bits_of(type_name)


def set_typed_field(tensor, codes, type_name):
    """Stores elements in the field that ONNX has for their type."""
    flat = np.ascontiguousarray(codes).reshape(-1)
    width = bits_of(type_name)
    if type_name in ("FLOAT", "DOUBLE"):
        field = tensor.float_data if type_name == "FLOAT" else tensor.double_data
        field.extend(flat.view(numpy_type(type_name)).tolist())
    elif type_name in ("UINT32", "UINT64"):
        tensor.uint64_data.extend(flat.tolist())
    elif type_name == "INT64":
        tensor.int64_data.extend(flat.view(np.int64).tolist())
    elif width in (2, 4):
        tensor.int32_data.extend(packed(flat, type_name).tolist())
    elif type_name in INTEGERS:
        tensor.int32_data.extend(flat.view(numpy_type(type_name)).tolist())
    else:
        tensor.int32_data.extend(flat.tolist())


def content(tensor, folder):
    """The packed bytes of a tensor, which may be in any field or in a data file of the folder."""
    type_name = TensorProto.DataType.Name(tensor.data_type)
    if tensor.data_location == TensorProto.EXTERNAL:
        entries = {entry.key: entry.value for entry in tensor.external_data}
        path = folder / entries["location"]
        return np.fromfile(path, np.uint8, int(entries.get("length", -1)), offset=int(entries.get("offset", 0)))
    if tensor.HasField("raw_data"):
        return np.frombuffer(tensor.raw_data, np.uint8)
    if type_name in ("FLOAT", "DOUBLE"):
        field = tensor.float_data if type_name == "FLOAT" else tensor.double_data
        return np.array(field, numpy_type(type_name)).view(np.uint8)
    if type_name in ("UINT32", "UINT64"):
        return np.array(tensor.uint64_data, np.uint64).astype(unsigned(type_name)).view(np.uint8)
    if type_name == "INT64":
        return np.array(tensor.int64_data, np.int64).view(np.uint8)
    numbers = np.array(tensor.int32_data, np.int32).view(np.uint32)
    if bits_of(type_name) in (2, 4):
        return numbers.astype(np.uint8)
    return packed(numbers.astype(unsigned(type_name)), type_name)
