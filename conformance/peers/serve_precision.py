"""Changes a model to FLOAT16 with another tool, with FLOAT inputs and outputs: `serve_precision.py TOOL SECONDS`.

Requests and answers are those of `serving.py`. A request of `modelopt_with_data` has a third word, an .npz file of inputs.
"""

import sys

import onnx
from serving import serve


def converter_common(model, output):
    from onnxconverter_common.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(model), keep_io_types=True), output)


def onnxruntime(model, output):
    from onnxruntime.transformers.float16 import convert_float_to_float16

    onnx.save(convert_float_to_float16(onnx.load(model), keep_io_types=True), output)


def modelopt(model, output):
    from modelopt.onnx.autocast import convert_to_mixed_precision

    onnx.save(convert_to_mixed_precision(model, low_precision_type="fp16", keep_io_types=True), output)


def modelopt_with_data(model, output, data):
    from modelopt.onnx.autocast import convert_to_mixed_precision

    onnx.save(convert_to_mixed_precision(model, low_precision_type="fp16", keep_io_types=True, calibration_data=data), output)


def modelopt_f16(model, output):
    """Without the classification of nodes by their numbers, which keeps those of large weights in FLOAT."""
    from modelopt.onnx.autocast import convert_to_f16

    onnx.save(convert_to_f16(onnx.load(model), keep_io_types=True), output)


def onnxsim(model, output):
    from onnxsim import quantize_fp16

    onnx.save(quantize_fp16(onnx.load(model), keep_io_types=True), output)


TOOLS = {tool.__name__: tool for tool in (converter_common, onnxruntime, modelopt, modelopt_with_data, modelopt_f16, onnxsim)}
IMPORTS = {
    "converter_common": "onnxconverter_common.float16",
    "onnxruntime": "onnxruntime.transformers.float16",
    "modelopt": "modelopt.onnx.autocast",
    "modelopt_with_data": "modelopt.onnx.autocast",
    "modelopt_f16": "modelopt.onnx.autocast",
}


if __name__ == "__main__":
    name, longest = sys.argv[1:]
    serve(IMPORTS.get(name, name), TOOLS[name], int(longest))
