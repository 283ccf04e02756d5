"""Converts models with another tool: `serve_conversions.py TOOL` takes a line of JSON, [model, opset, output], and answers with one, what went wrong.

It runs in an environment of its own, with what peers.txt names, and in a process of its own, since a tool may crash.
"""

import json
import logging
import sys

import onnx
from onnx import version_converter


def with_onnx(model, opset):
    return version_converter.convert_version(model, opset)


def with_onnxscript(model, opset):
    import onnxscript.version_converter
    from onnxscript import ir

    converted = ir.from_proto(model)
    onnxscript.version_converter.convert_version(converted, opset)
    return ir.to_proto(converted)


TOOLS = {"onnx": with_onnx, "onnxscript": with_onnxscript}


def convert(tool, path, opset, output):
    """Why the result is missing; none if there is a result."""
    try:
        converted = tool(onnx.load(path), opset)
        stated = [entry.version for entry in converted.opset_import if entry.domain in ("", "ai.onnx")]
        if stated != [opset]:
            return f"the result states the opsets {stated}"
        onnx.save(converted, output)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main():
    logging.disable(logging.CRITICAL)
    tool = TOOLS[sys.argv[1]]
    for line in sys.stdin:
        print(json.dumps(convert(tool, *json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
