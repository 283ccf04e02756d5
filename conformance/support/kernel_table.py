"""Whether a version of onnxruntime has a kernel for a node, by facts/kernels/onnxruntime.txt and the rule of facts/kernels/README.md."""

import functools
from collections import defaultdict

from onnx import AttributeProto
from onnx.helper import get_attribute_value

from support.common import FACTS
from support.onnxruntimes import parsed

TABLE = FACTS / "kernels/onnxruntime.txt"
# The Cast that onnxruntime inserts is that of opset 6.
FIRST_OPSET_WITH_INSERTED_CASTS = 6


def loads(version, opset, schema, types, attributes, inputs, outputs):
    """Whether a version loads a node in a model of an opset: `types` are those of the schema's type variables, `inputs` and `outputs` the formal
    ones that it has."""
    if schema.domain == "" and schema.name == "Constant":
        return True
    present = {f"input:{each.name}" for each in inputs} | {f"output:{each.name}" for each in outputs}
    is_true = lambda name, values: condition_is_true(name, values, schema, types, attributes, present)
    if is_refused(version, schema, is_true):
        return False
    lines = table()["" if schema.domain == "ai.onnx" else schema.domain, schema.name]
    if has_line(lines, version, schema.since_version, types):
        return True
    if schema.domain == "" and (schema.has_function or schema.has_context_dependent_function):
        return any(
            has_line([line], version, opset, types) and all(is_true(name, values) for name, values in line[2].items() if is_condition(name))
            for line in table()["functions", schema.name]
        )
    in_float = {variable: "float" if kind == "float16" else kind for variable, kind in types.items()}
    is_cast = opset >= FIRST_OPSET_WITH_INSERTED_CASTS and any(types.get(each.type_str) == "float16" for each in inputs)
    return is_cast and has_line(lines, version, schema.since_version, in_float)


def has_line(lines, version, number, types):
    return any(is_in(number, numbers) and is_listed(version, versions) and fits(types, sets) for numbers, versions, sets in lines)


def is_refused(version, schema, is_true):
    """Whether all conditions of a line of [limits] are true."""
    for sinces, versions, conditions in table()["limits", schema.name]:
        if is_in(schema.since_version, sinces) and is_listed(version, versions):
            if all(is_true(name, values) for name, values in conditions.items()):
                return True
    return False


def is_condition(name):
    """Whether a name is that of an attribute or of an input: type variables begin with a capital letter."""
    return name[0].islower()


def condition_is_true(name, values, schema, types, attributes, present):
    """Whether the type of a variable, an attribute or its default, or the presence of an input or output is one of the values."""
    if name in types:
        return types[name] in values
    if name.startswith(("input:", "output:")):
        return values == {"*" if name in present else "-"}
    if values in ({"*"}, {"-"}):
        return values == {"*" if name in attributes else "-"}
    default = schema.attributes[name].default_value if name in schema.attributes else AttributeProto()
    value = attributes.get(name, get_attribute_value(default) if default.name else None)
    return value is not None and text_of(value) in values


def text_of(value):
    return value.decode() if isinstance(value, bytes) else str(value)


def fits(types, sets):
    return all(types.get(variable) is None or types[variable] in kinds for variable, kinds in sets.items())


def is_in(number, ranges):
    return any(int(first) <= number <= int(last or first) for first, _, last in (part.partition("-") for part in ranges.split(",")))


def is_listed(version, ranges):
    parts = (part.partition("-") for part in ranges.split(","))
    return any(parsed(first) <= parsed(version) <= parsed(last or first) for first, _, last in parts)


@functools.cache
def table():
    """{(section, operator): [(since-versions or opsets, versions, {name: values})]}."""
    lines, names, section = defaultdict(list), {}, None
    for line in TABLE.read_text().splitlines():
        if line.startswith("["):
            section = line[1:-1]
        elif section == "types" and line:
            name, _, kinds = line.partition(" = ")
            names[f"@{name}"] = set(kinds.split())
        elif section not in (None, "versions") and line:
            operator, numbers, versions, *words = line.split()
            sets = {name: names.get(kinds) or set(kinds.split("|")) for name, kinds in (word.split("=") for word in words)}
            lines["" if section == "ai.onnx" else section, operator].append((numbers, versions, sets))
    return lines
