"""Models in ONNX text that show each wrong result of the page: one file for each cast that a runtime computes otherwise than ONNX defines it."""

import re

import onnx.parser
from support.cast_rules import bits_of

from casts.models import IR_VERSIONS, elements_of, number_of, opset_for, value_of
from casts.numbers import text_of
from casts.kinds import TABLES
from casts.page import answer, defined, display_name, element_of, wrong_results
from casts.results import ATTRIBUTES, same
from casts.runtimes import ALL_OPSETS

TEXT = """\
# Cast of {value} from {source} to {target}{attributes}: ONNX defines {defined}.
# {runtimes}
<ir_version: {ir_version}, opset_import: ["": {opset}]>
cast ({source_type}[1] x) => ({target_type}[1] y)
{{
    y = Cast <{node_attributes}> (x)
}}
"""


def files(facts):
    """{name: text} for {name of a runtime: Facts}."""
    return {name_of(row): text(row, wrong) for row in rows() if (wrong := wrong_results(row, facts))}


def rows():
    return [row for rows in TABLES.values() for row in rows if answer(row).kind == "defined"]


def problem(row, contents, process):
    """What is wrong with the text of a row: it has to be a model that a process of onnx.reference computes as ONNX defines it."""
    model = onnx.parser.parse_model(contents).SerializeToString()
    reply = process.ask("run", model, {"x": value_of(row.source, [element_of(row)])})
    if isinstance(reply, str):
        return reply
    (result,) = elements_of(reply[0], bits_of(row.target))
    return not same(result, answer(row).text, row.target) and f"onnx.reference computes {text_of(result, row.target)}"


def name_of(row):
    words = [row.source, re.sub("^-", "minus ", row.value), "to", row.target, row.attributes]
    return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-") + ".onnxtxt"


def text(row, wrong):
    opset = opset_for(row.source, row.target, ALL_OPSETS)
    attributes = ATTRIBUTES[row.attributes]
    named = [f"{key} = {value}" for key, value in attributes.items()]
    return TEXT.format(
        value=row.value,
        source=row.source,
        target=row.target,
        attributes="".join(f", {each}" for each in named),
        defined=defined(row),
        runtimes="; ".join(f"{display_name(runtime, True)}: {result}" for runtime, result in wrong.items()),
        ir_version=IR_VERSIONS[opset],
        opset=opset,
        source_type=row.source.lower(),
        target_type=row.target.lower(),
        node_attributes=", ".join([f"to = {number_of(row.target)}", *named]),
    )
