#!/usr/bin/env python3
"""Writes facts/microsoft.txt from the schemas of com.microsoft in the onnxruntime package.

    python facts/generate_microsoft.py            writes the file
    python facts/generate_microsoft.py --check    exits 1 when the file differs from what the package says

A line is an operator, the types of its inputs, `->`, and those of its outputs: a variable, a type if there is only one, or `-` if it may
differ among the occurrences. `*` follows an input that may occur any number of times.
"""

import pathlib
import sys

import onnxruntime
from onnxruntime.capi import onnxruntime_pybind11_state as state

ONNXRUNTIME_VERSION = "1.31.1"
TARGET = pathlib.Path(__file__).with_name("microsoft.txt")
HEADER = f"# Operators of com.microsoft in onnxruntime {ONNXRUNTIME_VERSION}, written by facts/generate_microsoft.py; do not edit.\n"


def main():
    if onnxruntime.__version__ != ONNXRUNTIME_VERSION:
        sys.exit(f"this script needs onnxruntime {ONNXRUNTIME_VERSION}, not {onnxruntime.__version__}")
    schemas = [schema for schema in state.get_all_operator_schema() if schema.domain == "com.microsoft"]
    text = HEADER + "".join(f"{line(schema)}\n" for schema in sorted(schemas, key=lambda schema: schema.name))
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit(f"{TARGET.name} differs from onnxruntime {ONNXRUNTIME_VERSION}")


def line(schema):
    only = {row.type_param_str: row.allowed_type_strs[0] for row in schema.type_constraints if len(row.allowed_type_strs) == 1}
    inputs = [word(formal, only) + ("*" if "Variadic" in str(formal.option) else "") for formal in schema.inputs]
    return " ".join([schema.name, *inputs, "->", *(word(formal, only) for formal in schema.outputs)])


def word(formal, only):
    return only.get(formal.typeStr, formal.typeStr) if formal.isHomogeneous else "-"


if __name__ == "__main__":
    main()
