"""Changes a model to FLOAT16 with another tool, with FLOAT inputs and outputs: `serve_precision.py TOOL SECONDS`.

It reads `[MODEL, OUTPUT]` from lines of stdin and answers `[EXIT_CODE, PROCESSOR_SECONDS, MEGABYTES]`, as `serve_folds.py` does.
"""

import importlib
import json
import os
import signal
import sys

import onnx


def converter_common(model, output):
    from onnxconverter_common.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(model), keep_io_types=True), output)


def onnxruntime(model, output):
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(model), keep_io_types=True), output)


def modelopt(model, output):
    from modelopt.onnx.autocast import convert_to_mixed_precision

    onnx.save(convert_to_mixed_precision(model, low_precision_type="fp16", keep_io_types=True), output)


def modelopt_f16(model, output):
    """Without the classification of nodes by their numbers, which keeps those of large weights in FLOAT."""
    from modelopt.onnx.autocast import convert_to_f16

    onnx.save(convert_to_f16(onnx.load(model), keep_io_types=True), output)


def onnxsim(model, output):
    from onnxsim import quantize_fp16

    onnx.save(quantize_fp16(onnx.load(model), keep_io_types=True), output)


TOOLS = {tool.__name__: tool for tool in (converter_common, onnxruntime, modelopt, modelopt_f16, onnxsim)}
IMPORTS = {
    "converter_common": "onnxconverter_common.float16",
    "onnxruntime": "onnxruntime.transformers.float16",
    "modelopt": "modelopt.onnx.autocast",
    "modelopt_f16": "modelopt.onnx.autocast",
}


def serve(tool, longest):
    importlib.import_module(IMPORTS.get(tool, tool))
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                signal.alarm(longest)
                TOOLS[tool](*json.loads(line))
                code = 0
            finally:
                os._exit(code)
        _, status, usage = os.wait4(child, 0)
        answer = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6]
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
