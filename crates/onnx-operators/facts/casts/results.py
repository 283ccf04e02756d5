"""What a runtime computes for every pair of types, beside what ONNX defines."""

import json
from collections import namedtuple

from support import cast_rules
from support.cast_rules import FLOAT8, NUMERIC

from casts import rules
from casts.edges import FIRST_STRINGS, STRING_TARGETS, STRINGS, edges
from casts.models import opset_for
from casts.numbers import text_of
from casts.strings import ERROR, from_string, to_string

TYPES = [*NUMERIC, "STRING"]
# How all results of a pair compare with the definition, from the best: `=` as defined; `?` other results only where ONNX leaves the
# result undefined or contested; `x` others; `!` even 1 becomes another number; `t` results of another type; `-` refused.
LETTERS = RIGHT, OTHER_UNDEFINED, WRONG, GARBAGE, OTHER_TYPE, REFUSED = "=?x!t-"

# A pair of types with its attributes: none, or a key of ATTRIBUTES.
Cast = namedtuple("Cast", "source target attributes")
# One value with another result than the definition's: `kind` is `wrong`, `undefined` or `contested`; the others are texts.
Difference = namedtuple("Difference", "kind value result expected")
NONE = Difference("none", "", "", "")
# How a runtime does a cast: a letter, the differences for values in an input (or, if it takes none of the type, in a constant), whether
# that was a constant, and the differences for a constant if its results are others.
Outcome = namedtuple("Outcome", "letter differences only_constant in_constant constant_rule rule", defaults=[None, None])

ATTRIBUTES = {"": {}, "saturate=0": {"saturate": 0}, "nearest": {"saturate": 0, "round_mode": "nearest"}}


def casts():
    for target in TYPES:
        for attributes in attributes_of(target):
            for source in TYPES:
                yield Cast(source, target, attributes)


def attributes_of(target):
    if target in FLOAT8:
        return ["", "saturate=0"]
    return ["", "nearest"] if target == "FLOAT8E8M0" else [""]


def outcomes(process):
    """{cast: outcome} of a runtime."""
    return {cast: outcome_of(process, cast) for cast in casts()}


def outcome_of(process, cast):
    values = values_of(cast)
    found = {constant: results_of(process, cast, values, constant) for constant in (False, True)}
    only_constant = isinstance(found[False], str)
    results = found[only_constant]
    if isinstance(results, str):
        return Outcome(OTHER_TYPE if results.startswith("the result has") else REFUSED, (), False, ())
    differences = differences_of(cast, values, results, process.runtime.opset)
    kinds = {difference.kind for difference in differences}
    letter = WRONG if "wrong" in kinds else OTHER_UNDEFINED if kinds else RIGHT
    if any(difference.kind == "wrong" and difference.value in ("1", "true") for difference in differences):
        return Outcome(GARBAGE, (), only_constant, ())
    rule = rules.rule_of(values, results, cast.source, cast.target, *options(cast)) if differences else None
    return Outcome(letter, differences, only_constant, *constant_outcome(cast, values, found[True], differences, rule, process), rule)


def constant_outcome(cast, values, results, differences, rule, process):
    """The defined results that differ for a constant, and the rule of all its results, unless both are those of an input."""
    if isinstance(results, str):
        return (), None
    other = differences_of(cast, values, results, process.runtime.opset)
    other_rule = rules.rule_of(values, results, cast.source, cast.target, *options(cast)) if other else None
    other, differences = ([each for each in found if each.kind == "wrong"] for found in (other, differences))
    if other == differences and (rule == other_rule or not other_rule):
        return (), None
    return tuple(other) or (NONE,), other_rule


def values_of(cast):
    if cast.source == "STRING":
        return STRINGS if cast.target in STRING_TARGETS else STRINGS[:FIRST_STRINGS]
    return edges(cast.source, cast.target)


def results_of(process, cast, values, constant):
    """The results of all values, or why the cast is refused. A string that is refused does not refuse the others."""
    attributes = ATTRIBUTES[cast.attributes]
    if cast.source != "STRING" or cast.target == "STRING":
        return process.cast(cast.source, cast.target, attributes, values, constant)
    results = []
    for value in values:
        answer = process.cast(cast.source, cast.target, attributes, [value], constant)
        if isinstance(answer, str) and not results:
            return answer  # The first string is a number of every type.
        results.append(ERROR if isinstance(answer, str) else answer[0])
    return results


def differences_of(cast, values, results, newest_opset):
    opset = opset_for(cast.source, cast.target, newest_opset)
    found = (difference_of(cast, value, result, opset) for value, result in zip(values, results, strict=True))
    return tuple(dict.fromkeys(difference for difference in found if difference))


def difference_of(cast, value, result, opset):
    answer = answer_of(cast, value, opset)
    if answer.kind != "contested" and same(result, answer.text, cast.target):
        return None
    kind = "wrong" if answer.kind == "defined" else answer.kind
    return Difference(kind, written(value, cast.source), written(result, cast.target), expected_text(answer, cast.target))


def answer_of(cast, value, opset):
    """What docs/cast.md says."""
    saturate, round_mode = options(cast)
    if cast.source == "STRING":
        return from_string(value, cast.target, opset, saturate, round_mode)
    if cast.target == "STRING":
        return to_string(value, cast.source)
    return cast_rules.cast(value, cast.source, cast.target, opset, saturate, round_mode)


def options(cast):
    """Whether a cast saturates, and its rounding to FLOAT8E8M0."""
    attributes = ATTRIBUTES[cast.attributes]
    return attributes.get("saturate", 1) == 1, attributes.get("round_mode", "up")


def same(result, expected, target):
    codes = isinstance(result, int) and isinstance(expected, int)
    return rules.same(result, expected, target) if codes else result == expected


def expected_text(answer, target):
    text, runtime = (ERROR if code is None else written(code, target) for code in (answer.text, answer.runtime))
    return text if text == runtime else f"{text}|{runtime}"


def written(value, type_name):
    """A bit pattern as a number, a string with its quotes."""
    if value == ERROR and type_name != "STRING":
        return ERROR
    return json.dumps(value) if isinstance(value, str) else text_of(value, type_name)
