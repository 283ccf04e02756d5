"""proto/onnx.proto declares what the installed onnx package does: every message, field, enum value and reserved number.

protoc compiles our file; the result is compared with the descriptors inside the onnx package, entry by entry.
"""

import tempfile
from pathlib import Path

import onnx
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc

from support.common import ROOT


def check(report):
    ours = declarations(compile_proto(ROOT / "proto"))
    theirs_file = FileDescriptorProto()
    onnx.onnx_ml_pb2.DESCRIPTOR.CopyToProto(theirs_file)
    theirs = declarations(theirs_file)
    for path in sorted(ours.keys() | theirs.keys()):
        mine, its = ours.get(path, "not declared"), theirs.get(path, "not declared")
        report.case(path, mine != its and f"proto/onnx.proto: {mine}; onnx {onnx.__version__}: {its}")


def compile_proto(folder):
    with tempfile.TemporaryDirectory() as scratch:
        output = Path(scratch) / "descriptors"
        if protoc.main(["protoc", f"-I{folder}", f"--descriptor_set_out={output}", "onnx.proto"]) != 0:
            raise RuntimeError("protoc refuses proto/onnx.proto")
        return FileDescriptorSet.FromString(output.read_bytes()).file[0]


def declarations(file):
    """Everything that a file declares, as {path: description}; order, comments and file options do not count."""
    found = {"package": file.package, "syntax": file.syntax or "proto2"}
    for enum in file.enum_type:
        found |= enum_declarations(enum, "")
    for message in file.message_type:
        found |= message_declarations(message, "")
    return found


def message_declarations(message, outer):
    path = outer + message.name
    found = {path: "message", **reserved(message, path)}
    for field in message.field:
        oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None
        found[f"{path}.{field.name}"] = {
            "number": field.number,
            "label": FieldDescriptorProto.Label.Name(field.label),
            "type": FieldDescriptorProto.Type.Name(field.type),
            "type_name": field.type_name,
            "packed": field.options.packed,
            "default": field.default_value,
            "oneof": oneof,
        }
    for enum in message.enum_type:
        found |= enum_declarations(enum, f"{path}.")
    for nested in message.nested_type:
        found |= message_declarations(nested, f"{path}.")
    return found


def enum_declarations(enum, outer):
    path = outer + enum.name
    return {path: "enum", **reserved(enum, path), **{f"{path}.{value.name}": value.number for value in enum.value}}


def reserved(declaration, path):
    ranges = sorted((entry.start, entry.end) for entry in declaration.reserved_range)
    return {f"{path}: reserved numbers": ranges, f"{path}: reserved names": sorted(declaration.reserved_name)}
