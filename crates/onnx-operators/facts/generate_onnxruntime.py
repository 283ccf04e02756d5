#!/usr/bin/env python3
"""Writes facts/onnxruntime.txt: the operators that onnxruntime has in the domain ai.onnx beside those of ONNX.

    python facts/generate_onnxruntime.py            writes the file
    python facts/generate_onnxruntime.py --check    exits 1 when the file differs from what the packages say

The format is that of facts/operators.txt, without shared sets. The schemas are those of the onnxruntime package. Listed are the operators
for which it has a kernel for the CPU, without the copies between devices that it inserts itself. Which versions of onnxruntime run them,
and in which types, is in facts/kernels/onnxruntime.txt.
"""

import pathlib
import sys

import numpy
import onnx
import onnxruntime
from generate import ONNX_VERSION, decimal, type_set
from generate_microsoft import ONNXRUNTIME_VERSION
from onnx import defs
from onnxruntime.capi import onnxruntime_pybind11_state as state

TARGET = pathlib.Path(__file__).with_name("onnxruntime.txt")
HEADER = f"""# Operators of onnxruntime {ONNXRUNTIME_VERSION} in the domain ai.onnx that ONNX does not define, written by facts/generate_onnxruntime.py; do not
# edit. An operator of ONNX with the same name replaces them from its first opset. Models of one node load in onnxruntime 1.16 to 1.32 as
# long as the version is not deprecated; SimplifiedLayerNormalization does in every opset.

[ai.onnx]
"""
# The package does not tell which schemas have bodies. This one runs types without a kernel: facts/kernel_functions.py measures which.
FUNCTIONS = {"LayerNormalization"}
COPIES = {"MemcpyFromHost", "MemcpyToHost"}


def main():
    for package, version, wanted in (("onnx", onnx.__version__, ONNX_VERSION), ("onnxruntime", onnxruntime.__version__, ONNXRUNTIME_VERSION)):
        if version != wanted:
            sys.exit(f"this script needs {package} {wanted}, not {version}")
    text = HEADER + "".join(f"{line}\n" for schema in own_schemas() for line in lines(schema))
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text)
    elif TARGET.read_text() != text:
        sys.exit(f"{TARGET.name} differs from onnxruntime {ONNXRUNTIME_VERSION}")


def own_schemas():
    known = {(schema.name, schema.since_version) for schema in defs.get_all_schemas_with_history() if schema.domain == ""}
    kernels = {kernel.op_name for kernel in state.get_all_opkernel_def() if (kernel.domain, kernel.provider) == ("", "CPUExecutionProvider")}
    schemas = [schema for schema in state.get_all_operator_schema() if schema.domain == "" and schema.name in kernels - COPIES]
    schemas = [schema for schema in schemas if (schema.name, schema.since_version) not in known]
    return sorted(schemas, key=lambda schema: (schema.name, schema.since_version))


def lines(schema):
    marks = " deprecated" * schema.deprecated + " function" * (schema.name in FUNCTIONS)
    signature = " -> ".join(", ".join(map(formal, formals)) for formals in (schema.inputs, schema.outputs))
    yield f"{schema.name} {schema.since_version}{marks}: {signature}"
    if schema.attributes:
        yield "  attributes: " + ", ".join(attribute(name, fact) for name, fact in sorted(schema.attributes.items()))
    constraints = sorted(schema.type_constraints, key=lambda constraint: constraint.type_param_str)
    yield "  types: " + ", ".join(f"{each.type_param_str} = {'|'.join(type_set(each.allowed_type_strs))}" for each in constraints)


def formal(parameter):
    mark = {"Single": "", "Optional": "?"}[str(parameter.option).rpartition(".")[2]]
    return f"{mark}{parameter.name}:{parameter.typeStr}"


def attribute(name, fact):
    kind = str(fact.type).rpartition(".")[2]
    default = onnx.AttributeProto.FromString(fact._default_value)
    value = {onnx.AttributeProto.INT: default.i, onnx.AttributeProto.FLOAT: decimal(numpy.float32(default.f))}.get(default.type)
    return f"{name} {kind}" + ("!" if fact.required else "" if value is None else f" = {value}")


if __name__ == "__main__":
    main()
