"""Folds a model with another tool, as its documentation recommends: `serve_folds.py TOOL MODEL OUTPUT`.

It runs in the environment of peers.txt, in a process of its own for each model, since a tool may crash. `serve_folds.py --serve TOOL SECONDS`
does so for many, as `serving.py` says.
"""

import sys

import onnx
from serving import serve


def onnxsim(model, output):
    import onnxsim

    simplified, _ = onnxsim.simplify(onnx.load(model))
    onnx.save(simplified, output)


def onnxslim(model, output):
    import onnxslim

    onnx.save(onnxslim.slim(onnx.load(model)), output)


def onnxscript(model, output):
    from onnxscript import ir, optimizer

    loaded = ir.load(model)
    optimizer.optimize(loaded)
    ir.save(loaded, output)


def polygraphy(model, output):
    from polygraphy.backend.onnx import fold_constants, save_onnx

    save_onnx(fold_constants(onnx.load(model), allow_onnxruntime_shape_inference=False), output)


def onnxruntime(model, output):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = output
    onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


TOOLS = {tool.__name__: tool for tool in (onnxsim, onnxslim, onnxscript, polygraphy, onnxruntime)}

IMPORTS = {"onnxscript": "onnxscript.optimizer"}


if __name__ == "__main__":
    name, model, output = sys.argv[1:]
    if name == "--serve":
        serve(IMPORTS.get(model, model), TOOLS[model], int(output))
    else:
        TOOLS[name](model, output)
