#!/usr/bin/env python3
"""Writes facts/operators.txt from the schema history of the onnx package.

    python facts/generate.py            writes the file
    python facts/generate.py --check    exits 1 when the file differs from what the package says

The interpreter must have the onnx version named below. Only facts are taken: names, types, defaults, versions.

The format, one fact a line where it can be:

    [elements]      number name                        the element types of TensorProto
    [releases]      opset ir                           the IR version of the release that introduced an ai.onnx opset
    [types]         name = type type ...               a set of types that several schemas share, named after its first user
    [domain]        the domain whose schemas follow
    Op since [deprecated] [function]: inputs -> outputs
      attributes: name KIND[ = default | !], ...       `!` marks a required attribute
      types: variable = set, ...                       `@name` is a set of [types]; otherwise its members joined by `|`

A formal input or output is `name:type`, after `?` where it is optional, `*` where it may occur any number of times, `+` where
at least once; `~` follows where the occurrences may differ in type. A bare element name is the tensor of it.
"""

import argparse
import difflib
import pathlib
import re
import sys

import numpy
import onnx
from onnx import defs, helper

ONNX_VERSION = "1.23.2"
TARGET = pathlib.Path(__file__).with_name("operators.txt")
LARGEST_INLINE_SET = 3
NO_LIMIT = 2**31 - 1
FormalOption = defs.OpSchema.FormalParameterOption
AttrType = defs.OpSchema.AttrType
ELEMENTS = {number: name.lower() for name, number in onnx.TensorProto.DataType.items() if number != 0}
NUMBERS = {name: number for number, name in ELEMENTS.items()}
KINDS = ["tensor", "seq tensor", "optional tensor", "optional seq tensor", "map", "seq map"]


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file is not up to date")
    check = arguments.parse_args().check
    if onnx.__version__ != ONNX_VERSION:
        sys.exit(f"this script needs onnx {ONNX_VERSION}, not {onnx.__version__}")
    text = render(sorted(defs.get_all_schemas_with_history(), key=lambda s: (s.domain, s.name, s.since_version)))
    if not check:
        TARGET.write_text(text)
        return
    present = TARGET.read_text()
    if present != text:
        sys.stdout.writelines(difflib.unified_diff(present.splitlines(True), text.splitlines(True), "checked in", "onnx package"))
        sys.exit(1)


def render(schemas):
    names = name_shared_sets(schemas)
    lines = [f"# Facts of onnx {ONNX_VERSION}, written by facts/generate.py; do not edit.", "", "[elements]"]
    lines += [f"{number} {name}" for number, name in sorted(ELEMENTS.items())]
    lines += ["", "[releases]"]
    lines += [f"{opset} {ir}" for opset, ir in sorted(ir_of_opsets().items())]
    lines += ["", "[types]"]
    lines += [f"{name} = {' '.join(members)}" for members, name in names.items()]
    domain = None
    for schema in schemas:
        if schema.domain != domain:
            domain = schema.domain
            lines += ["", f"[{domain or 'ai.onnx'}]"]
        lines += render_schema(schema, names)
    return "\n".join(lines) + "\n"


def ir_of_opsets():
    """The lowest IR version among the releases that introduced each opset; opsets between releases take the next release's."""
    known = {}
    for _, ir, opset, *_ in helper.VERSION_TABLE:
        known[opset] = min(ir, known.get(opset, ir))
    return {opset: known[min(o for o in known if o >= opset)] for opset in range(1, max(known) + 1)}


def name_shared_sets(schemas):
    names = {}
    for schema in schemas:
        for constraint in schema.type_constraints:
            members = type_set(constraint.allowed_type_strs)
            if len(members) > LARGEST_INLINE_SET and members not in names:
                names[members] = f"{schema.name}-{schema.since_version}.{constraint.type_param_str}"
    assert len(set(names.values())) == len(names), "two sets share a name"
    return names


def type_set(types):
    return tuple(sorted({normal_type(t) for t in types}, key=type_rank))


def normal_type(text):
    """Spells a type in one way: no blanks, and a map's value type, which the package writes in two ways, as its element."""
    text = text.replace(" ", "")
    text = re.sub(r"map\((\w+),tensor\((\w+)\)\)", r"map(\1,\2)", text)
    return re.sub(r"^tensor\((\w+)\)$", r"\1", text)


def type_rank(text):
    """Tensors first, then by the nesting that KINDS lists, each by the numbers of its element types."""
    words = re.findall(r"\w+", text if "(" in text else f"tensor({text})")
    elements = [NUMBERS[word] for word in words if word in NUMBERS]
    return (KINDS.index(" ".join(word for word in words if word not in NUMBERS)), elements)


def render_schema(schema, names):
    check_limits(schema)
    marks = (" deprecated" if schema.deprecated else "") + (
        " function" if schema.has_function or schema.has_context_dependent_function else ""
    )
    signature = " -> ".join(", ".join(map(formal, formals)) for formals in (schema.inputs, schema.outputs))
    yield f"{schema.name} {schema.since_version}{marks}: {signature}".replace(":  ->", ": ->").rstrip()
    if schema.attributes:
        yield "  attributes: " + ", ".join(attribute(a) for _, a in sorted(schema.attributes.items()))
    if schema.type_constraints:
        yield "  types: " + ", ".join(
            f"{c.type_param_str} = {set_reference(type_set(c.allowed_type_strs), names)}"
            for c in sorted(schema.type_constraints, key=lambda c: c.type_param_str)
        )


def set_reference(members, names):
    return f"@{names[members]}" if members in names else "|".join(members)


def formal(parameter):
    mark = {FormalOption.Single: "", FormalOption.Optional: "?", FormalOption.Variadic: "*+"[min(parameter.min_arity, 1)]}[
        parameter.option
    ]
    assert parameter.min_arity <= 1 and (mark in "*+" or parameter.is_homogeneous)
    return f"{mark}{'' if parameter.is_homogeneous else '~'}{parameter.name}:{parameter.type_str}"


def attribute(fact):
    if fact.required:
        return f"{fact.name} {fact.type.name}!"
    return f"{fact.name} {fact.type.name}" + default_text(fact)


def default_text(fact):
    default = fact.default_value
    match default.type:
        case onnx.AttributeProto.UNDEFINED:
            return ""
        case onnx.AttributeProto.INT:
            return f" = {default.i}"
        case onnx.AttributeProto.FLOAT:
            return f" = {decimal(numpy.float32(default.f))}"
        case onnx.AttributeProto.STRING:
            return f" = {quoted(default.s)}"
        case onnx.AttributeProto.INTS:
            return f" = [{' '.join(map(str, default.ints))}]"
        case onnx.AttributeProto.STRINGS:
            return f" = [{' '.join(map(quoted, default.strings))}]"
    sys.exit(f"attribute {fact.name}: a default of kind {default.type} has no spelling here")


def quoted(value):
    text = value.decode("ascii")
    assert not set(text) & set('", \\[]'), text
    return f'"{text}"'


def decimal(value):
    """The shortest decimal that reads back to the same 32-bit float, with an exponent only where it is long without one."""
    if value == 0 or 5e-5 < abs(value) < 1e16:
        return numpy.format_float_positional(value, trim="0")
    mantissa, exponent = numpy.format_float_scientific(value, trim="-").split("e")
    return f"{mantissa}e{int(exponent)}"


def check_limits(schema):
    """The limits on the number of inputs and outputs follow from the formals: nothing else need be stored."""
    for formals, limits in ((schema.inputs, (schema.min_input, schema.max_input)), (schema.outputs, (schema.min_output, schema.max_output))):
        least = most = 0
        for parameter in formals:
            match parameter.option:
                case FormalOption.Single:
                    most += 1
                    least = most
                case FormalOption.Optional:
                    most += 1
                case FormalOption.Variadic:
                    least, most = most + parameter.min_arity, NO_LIMIT
        assert (least, most) == limits, f"{schema.name}-{schema.since_version}: limits {limits}, but the formals say {(least, most)}"


if __name__ == "__main__":
    main()
