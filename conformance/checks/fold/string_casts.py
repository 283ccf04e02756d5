"""Casts from and to strings, by the literals that ONNX's text names, and the odd ones that it does not."""

from fractions import Fraction

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from support import cast_rules
from support.cast_rules import INF, NAN, Value
from support.codes import codes
from support.common import fold_all, scratch_folder
from support.models import count_casts

FLOAT_TARGETS = ["FLOAT", "DOUBLE", "FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2"]
# Among them halfway cases of each target and their neighbours: one rounding, from the decimal value itself.
NUMBERS = """
    0 -0 1 +1 -1 3.14159 1e3 1E3 1e-3 -1.5e+2 .5 5. 0.1 1e400 -1e400 1e-400 00012 123456789012345678901234567890
    65504 65520 65519.999999999999 448 464 464.000000000001 61440 2049 2049.0000000000001 16777217 16777217.00000000001
    9007199254740993 1.00390625 1.003906250000000000001
""".split()  # noqa: SIM905 - a list of a literal each is harder to read.
NAMES = {name: Value(name.startswith("-"), INF) for name in ("INF", "+INF", "-INF", "inf", "Inf", "-inf")}
NAMES |= dict.fromkeys(["NaN", "nan", "NAN"], Value(False, NAN))
NOT_FLOATS = [
    "",
    " 1",
    "1 ",
    "0x10",
    "1_000",
    "3abc",
    "one",
    "1e",
    "e5",
    ".",
    "+",
    "--1",
    "1,5",
    "infinite",
    "\u0661\u0662",
    "1\x00",
]

INTEGERS = {
    "INT4": ["-8"],
    "UINT4": ["15"],
    "INT8": ["0", "-128", "127"],
    "UINT8": ["255"],
    "INT16": ["007"],
    "INT32": ["-7", "+7"],
    "INT64": ["-9223372036854775808", "9223372036854775807"],
    "UINT64": ["18446744073709551615"],
}
NOT_INTEGERS = {
    "INT8": ["128"],
    "UINT8": ["-1"],
    "INT32": ["1.5", "1e3", "", " 1", "0x10", "3abc"],
    "INT64": ["1_000"],
    "UINT64": ["18446744073709551616"],
    "BOOL": ["true", "1"],
}


def check(report):
    with scratch_folder() as scratch:
        (scratch / "in").mkdir()
        constants = [*float_constants(), *integer_constants(), *to_string_constants()]
        models = {
            write_model(scratch / "in" / f"{index}.onnx", *constant[:2]): constant for index, constant in enumerate(constants)
        }
        for path, output in fold_all(report, models, scratch / "out").items():
            array, target, wanted = models[path]
            report.case(f"{array.ravel().tolist()!r} to {target}", problem(onnx.load(output), target, wanted))


def float_constants():
    """Literals for each float type, with the codes they become; None where the cast has to stay."""
    for target in FLOAT_TARGETS:
        for literal in NUMBERS:
            yield text(literal), target, cast_rules.to_float(exact(literal), target, 21, saturate=True).text
        for literal, value in NAMES.items():
            yield text(literal), target, cast_rules.to_float(value, target, 21, saturate=True).text
        for literal in NOT_FLOATS:
            yield text(literal), target, None


def integer_constants():
    for target, literals in INTEGERS.items():
        for literal in literals:
            yield text(literal), target, int(literal) % (1 << cast_rules.bits_of(target))
    for target, literals in NOT_INTEGERS.items():
        for literal in literals:
            yield text(literal), target, None


def to_string_constants():
    """Integers have one plain form; the form of floats and bools is left open."""
    for number, dtype in [(0, "i1"), (-128, "i1"), (2**64 - 1, "u8"), (-(2**63), "i8"), (42, "i4")]:
        yield np.array([number], dtype), "STRING", str(number)
    for array in (np.array([0.5], "f4"), np.array([True])):
        yield array, "STRING", None
    yield text("unchanged \u00e9"), "STRING", "unchanged \u00e9"


def text(literal):
    return np.array([literal], object)


def exact(literal):
    return Value(literal.startswith("-"), abs(Fraction(literal)))


def write_model(path, array, target):
    number = TensorProto.DataType.Value(target)
    node = helper.make_node("Cast", ["constant"], ["y"], to=number)
    graph = helper.make_graph(
        [node], "strings", [], [helper.make_tensor_value_info("y", number, [1])], [numpy_helper.from_array(array, "constant")]
    )
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)]), path)
    return path


def problem(model, target, wanted):
    if count_casts(model) or wanted is None:
        return (count_casts(model) == 0) != (wanted is not None) and (
            "the cast stays" if wanted is not None else "the cast is folded"
        )
    tensor = model.graph.initializer[0]
    if target == "STRING":
        return tensor.string_data[0].decode() != wanted and f"gives {tensor.string_data[0]}, not {wanted}"
    (actual,) = codes(tensor, cast_rules.bits_of(target))
    both_nan = cast_rules.is_nan(actual, target) and cast_rules.is_nan(wanted, target)
    return actual != wanted and not both_nan and f"gives {actual:#x}, not {wanted:#x}"
