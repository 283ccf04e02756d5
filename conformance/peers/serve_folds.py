"""Folds a model with another tool, as its documentation recommends: `serve_folds.py TOOL MODEL OUTPUT`.

It runs in the environment of peers.txt, in a process of its own for each model, since a tool may crash. `serve_folds.py --serve TOOL SECONDS`
reads `[MODEL, OUTPUT]` from lines of stdin and answers `[EXIT_CODE, PROCESSOR_SECONDS, MEGABYTES]`; the tool is imported once.
"""

import importlib
import json
import os
import signal
import sys

import onnx


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
    name, model, output = sys.argv[1:]
    if name == "--serve":
        serve(model, int(output))
    else:
        TOOLS[name](model, output)
