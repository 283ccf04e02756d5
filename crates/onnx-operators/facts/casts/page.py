"""docs/runtimes-casts.md, from facts/casts.txt."""

import re
from collections import Counter

from support.cast_rules import FLOATS

from casts.edges import STRINGS, edges
from casts.kinds import ENDING, INTRODUCTION, TABLES
from casts.models import opset_for
from casts.numbers import code_of, text_of
from casts.results import GARBAGE, LETTERS, OTHER_TYPE, REFUSED, WRONG, Cast, answer_of, casts, expected_text
from casts.runtimes import ALL_OPSETS
from casts.strings import ERROR

MANY_DIGITS = 12
NAMES = {
    "onnx.reference": "onnx.reference",
    "onnxruntime": "onnxruntime",
    "openvino": "OpenVINO",
    "opencv": "OpenCV",
    "tract": "tract",
    "iree": "IREE",
    "tvm": "TVM",
    "mnn": "MNN",
}

NO_RESULT = {REFUSED: "–", OTHER_TYPE: "*type*", GARBAGE: "!"}


def render(facts):
    """The page, of {name of a runtime: Facts}."""
    wrong = sum(not {WRONG, GARBAGE}.isdisjoint(each.letters.values()) for each in facts.values())
    parts = [INTRODUCTION.format(wrong=wrong, count=len(facts), counts=table(counts(facts)))]
    for title, rows in TABLES.items():
        parts += [f"## {title}\n", table(disagreements(rows, facts)) + "\n"]
    return "\n".join([*parts, ENDING])


def table(rows):
    rows = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([rows[0], "|" + "---|" * (rows[0].count("|") - 1), *rows[1:]])


def counts(facts):
    yield "runtime", "as defined", "other, where ONNX defines none or two", "wrong", "even 1 wrong", "another type", "refused"
    for name, each in facts.items():
        number = Counter(each.letters[cast] for cast in casts())
        yield display_name(name, True), *(str(number[letter]) for letter in LETTERS)


def display_name(name, with_version):
    runtime, version = name.split(" ")
    return f"{NAMES[runtime]} {version}" if with_version else NAMES[runtime]


def disagreements(rows, facts):
    versions = Counter(name.split(" ")[0] for name in facts)
    names = (display_name(name, versions[name.split(" ")[0]] > 1) for name in facts)
    yield "kind", "cast", "ONNX", *names
    for row in rows:
        yield row.kind, command(row), defined(row), *(cell(row, each) for each in facts.values())


def command(row):
    """The command that shows ONNX's value; `recast cast` reads no string."""
    if row.source == "STRING":
        return f"`\"{row.value}\"` to {row.target}"
    option = " --no-saturate" if row.attributes else ""
    value = row.value.lower() if row.value == "NaN" else row.value
    place = f" --to {row.target}{option} -- {value}" if value.startswith("-") else f" {value} --to {row.target}{option}"
    return f"`recast cast --from {row.source}{place}`"


def element_of(row):
    """The bit pattern or string of a row, which must be one that is measured."""
    if row.source == "STRING":
        return next(value for value in STRINGS if value == row.value)
    return next(code for code in edges(row.source, row.target) if text_of(code, row.source) == row.value)


def answer(row):
    opset = opset_for(row.source, row.target, ALL_OPSETS)
    return answer_of(Cast(row.source, row.target, row.attributes), element_of(row), opset)


def defined(row):
    found = answer(row)
    if found.kind == "undefined":
        return "undefined"
    return " or ".join(shown(each, row.target) for each in expected_text(found, row.target).split("|"))


def shown(text, target):
    """A result with all digits of short ones, as `recast cast` prints it."""
    return text_of(code_of(text, target), target, MANY_DIGITS) if target in FLOATS and text != ERROR else text.strip('"')


def cell(row, facts):
    """What a runtime makes of a row: `=`, results as text, or why there is none."""
    cast = Cast(row.source, row.target, row.attributes)
    if facts.letters[cast] in NO_RESULT:
        return NO_RESULT[facts.letters[cast]]
    found = answer(row)
    as_defined = "=" if found.kind == "defined" else expected_text(found, row.target)
    results = [each or as_defined for each in facts.results_of(cast, element_of(row))]
    if found.kind != "defined" and cast not in facts.constant_rules:
        results = results[:1]  # The file lists no other results of constants that are not defined.
    if found.kind == "defined":
        results = ["=" if each == expected_text(found, row.target) else each for each in results]
    return ", ".join(dict.fromkeys(each if each == "=" else shown(each, row.target) for each in results))


def wrong_results(row, facts):
    """{name of a runtime: text} of those that compute a row otherwise than ONNX defines it."""
    cells = {name: cell(row, each) for name, each in facts.items()}
    wrong = {name: each for name, each in cells.items() if each not in ("=", *NO_RESULT.values())}
    return {name: re.sub("(.*), (.*)", r"\1 for an input, \2 for a constant", each).replace("=", defined(row)) for name, each in wrong.items()}
