"""What other implementations of Cast compute differently, and why: onnx's reference evaluator, onnxruntime, ml_dtypes.

They are compared with cast_rules.py over all numeric pairs (`numeric_type_pairs` shows that recast computes what cast_rules.py says). Every
difference in a defined value, and in a contested one from what runtimes are said to do, has to fall under one of REASONS; the table
shows how many do.
"""

import warnings
from collections import Counter, namedtuple
from fractions import Fraction

from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from support import cast_rules
from support.cast_rules import INF, NAN, bits_of, decode, power_of_two
from support.cast_values import interesting_codes, variants
from support.codes import array_codes, array_of_codes, tensor_of_codes
from support.runners import session_of

# One element that an implementation casts differently.
Difference = namedtuple("Difference", "by source target saturate round_mode code magnitude answer actual")

# onnxruntime returns these only through a cast to a type that numpy has.
READ_THROUGH = {
    "INT2": "INT8",
    "INT4": "INT8",
    "UINT2": "UINT8",
    "UINT4": "UINT8",
    "BFLOAT16": "FLOAT",
    "FLOAT8E8M0": "FLOAT",
    "FLOAT4E2M1": "FLOAT",
}
READ_THROUGH |= dict.fromkeys(cast_rules.FLOAT8, "FLOAT")



def check(report):
    count = 20_000 if report.everything else 250
    differences, casts, lacking = Counter(), Counter(), Counter()
    for by, run in IMPLEMENTATIONS.items():
        for source in cast_rules.NUMERIC:
            for target in cast_rules.NUMERIC:
                element_codes = interesting_codes(source, target, count)
                for attributes in variants(target):
                    try:
                        actual = run(element_codes, source, target, attributes)
                    except Exception:  # It is taken to lack the cast.
                        lacking[by] += 1
                        continue
                    casts[by] += 1
                    found = [difference for difference in differing(by, source, target, attributes, element_codes, actual)]
                    reasons = {difference: reason(difference) for difference in found}
                    differences += Counter((by, why) for why in reasons.values() if why)
                    unexplained = [difference for difference, why in reasons.items() if not why]
                    report.case(
                        f"{by}, {source} to {target} {attributes or ''}",
                        unexplained and f"{len(unexplained)} unexplained, first: {unexplained[0]}",
                    )
    for by in IMPLEMENTATIONS:
        report.count(f"casts by {by}", casts[by])
    report.note("; ".join(f"{by}: {casts[by]} casts, {lacking[by]} not implemented" for by in IMPLEMENTATIONS))
    report.details += [f"{by:11} {number:6} values: {why}" for (by, why), number in sorted(differences.items())]


def by_ml_dtypes(element_codes, source, target, attributes):
    if attributes.get("round_mode", "up") != "up":
        raise NotImplementedError("ml_dtypes has no rounding modes")
    with warnings.catch_warnings(action="ignore"):
        array = array_of_codes(source, element_codes, bits_of(source)).astype(
            helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(target))
        )
    return array_codes(array, bits_of(target))


def by_reference(element_codes, source, target, attributes):
    model = cast_model(source, [target], attributes, len(element_codes), opset=28)
    with warnings.catch_warnings(action="ignore"):
        (array,) = ReferenceEvaluator(model).run(None, {"x": array_of_codes(source, element_codes, bits_of(source))})
    return array_codes(array, bits_of(target))


def by_onnxruntime(element_codes, source, target, attributes):
    """The input is an initializer: onnxruntime's Python interface lacks narrow inputs as it lacks narrow outputs."""
    read_as = READ_THROUGH.get(target)
    model = cast_model(source, [target, read_as] if read_as else [target], attributes, len(element_codes), opset=25)
    del model.graph.input[:]
    model.graph.initializer.append(tensor_of_codes("x", source, [len(element_codes)], element_codes, bits_of(source)))
    (array,) = session_of(model.SerializeToString()).run(None, {})
    if read_as is None or read_as != "FLOAT":
        return array_codes(array, bits_of(target))
    # The way back is exact, E5M2's infinities included: no value of these types changes on the way through FLOAT.
    saturate = False
    return [cast_rules.cast(code, "FLOAT", target, 25, saturate, "nearest").text for code in array_codes(array, 32)]


IMPLEMENTATIONS = {"ml_dtypes": by_ml_dtypes, "reference": by_reference, "onnxruntime": by_onnxruntime}


def cast_model(source, targets, attributes, length, opset):
    """x, cast to each of the targets in turn; the attributes go with the first."""
    nodes, name = [], "x"
    for index, target in enumerate(targets):
        nodes.append(
            helper.make_node(
                "Cast", [name], [f"y{index}"], to=TensorProto.DataType.Value(target), **(attributes if index == 0 else {})
            )
        )
        name = f"y{index}"
    values = [
        helper.make_tensor_value_info(name, TensorProto.DataType.Value(of), [length])
        for name, of in (("x", source), (name, targets[-1]))
    ]
    graph = helper.make_graph(nodes, "cast", values[:1], values[1:])
    return helper.make_model(graph, ir_version=14 if opset == 28 else 13, opset_imports=[helper.make_opsetid("", opset)])


def differing(by, source, target, attributes, element_codes, actual_codes):
    saturate, round_mode = attributes.get("saturate", 1) != 0, attributes.get("round_mode", "up")
    for code, actual in zip(element_codes, actual_codes, strict=True):
        answer = cast_rules.cast(code, source, target, 25, saturate, round_mode)
        both_nan = cast_rules.is_nan(actual, target) and cast_rules.is_nan(answer.runtime, target)
        if answer.kind != "undefined" and actual != answer.runtime and not both_nan:
            yield Difference(by, source, target, saturate, round_mode, code, decode(code, source).magnitude, answer, actual)


def reason(difference):
    """The first of REASONS that explains a difference; None if none does."""
    return next((why for why, explains in REASONS.items() if explains(difference)), None)


def result(difference, saturate, through=None):
    """What the cast gives with another `saturate`, or with a stop at another type."""
    code, source = difference.code, difference.source
    if through:
        code, source = cast_rules.cast(code, source, through, 25).text, through
    return cast_rules.cast(code, source, difference.target, 25, saturate, difference.round_mode).text


def same(difference, code):
    return difference.actual == code or (
        cast_rules.is_nan(difference.actual, difference.target) and cast_rules.is_nan(code, difference.target)
    )


def rounds_twice(d):
    return d.answer.kind == "defined" and any(same(d, result(d, d.saturate, through)) for through in ("FLOAT", "DOUBLE"))


def never_saturates(d):
    return (
        d.by == "ml_dtypes"
        and d.target in cast_rules.FLOAT8
        and any(same(d, result(d, False, through)) for through in (None, "FLOAT"))
    )


def within(d, lowest, end):
    return d.magnitude not in (INF, NAN) and lowest <= d.magnitude < end


# Below it the reference works with subnormal numbers of FLOAT.
E8M0_SAFE = power_of_two(-126) * Fraction(1025, 1024)

REASONS = {
    "rounds first to FLOAT or DOUBLE, then to the target": rounds_twice,
    "never saturates": never_saturates,
    "FLOAT8E8M0: rounds to nearest only, and zero is NaN": lambda d: d.by == "ml_dtypes" and d.target == "FLOAT8E8M0",
    "FLOAT8E8M0: from 2^128 and Inf to NaN; values up to 2^-126 are misjudged": lambda d: (
        d.by == "reference" and d.target == "FLOAT8E8M0" and not within(d, E8M0_SAFE, power_of_two(128))
    ),
    "FLOAT8E8M0: saturate=0 does not make values beyond the ends NaN": lambda d: (
        d.by == "reference" and d.target == "FLOAT8E8M0" and not d.saturate and d.answer.text == cast_rules.E8M0_NAN
    ),
    "Inf of FLOAT8E5M2 to its own type saturates, as the text says": lambda d: (
        d.by == "reference" and d.source == d.target == "FLOAT8E5M2" and d.actual == d.answer.text
    ),
    "to 2 and 4 bits: rounds half away from zero, then keeps the low bits": lambda d: (
        d.by == "onnxruntime" and d.target in ("INT2", "UINT2", "INT4", "UINT4") and d.answer.kind == "contested"
    ),
    "to BOOL: the bits decide, not the value": lambda d: d.by == "onnxruntime" and d.target == "BOOL",
    "saturate=0 to FLOAT8E4M3FN: 448 from 480 up to 496": lambda d: (
        d.by == "onnxruntime" and d.target == "FLOAT8E4M3FN" and not d.saturate and within(d, 480, 496) and d.actual & 0x7F == 0x7E
    ),
    "saturate=0 to FLOAT8E5M2: NaN instead of Inf from 61440 up to 65536": lambda d: (
        d.by == "onnxruntime" and d.target == "FLOAT8E5M2" and not d.saturate and within(d, 61440, 65536) and d.actual & 0x7F > 0x7C
    ),
}
