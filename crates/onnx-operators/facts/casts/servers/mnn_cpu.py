"""Runs models in MNN: converted by its own tool, in FLOAT (high precision)."""

import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from serving import array_of, serve, value_of

# Without the wrapper of this tool, which reports its use to a server.
CONVERT = "import sys, _tools; _tools.mnnconvert(sys.argv)"
CONFIG = {"precision": "high", "numThread": 1}


def run(model, inputs):
    from MNN import expr, nn  # It prints, which serving has to prepare for.

    with tempfile.TemporaryDirectory() as folder:
        source, converted = (pathlib.Path(folder) / name for name in ("model.onnx", "model.mnn"))
        source.write_bytes(model)
        command = [sys.executable, "-c", CONVERT, "-f", "ONNX", "--modelFile", source, "--MNNModel", converted]
        subprocess.run([*command, "--bizCode", "none"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        manager = nn.create_runtime_manager((CONFIG,))
        module = nn.load_module_from_file(str(converted), list(inputs), ["y0"], runtime_manager=manager)
    arrays = [array_of(value) for value in inputs.values()]
    dtypes = {"float32": expr.float, "int32": expr.int, "int8": expr.int8, "uint8": expr.uint8}
    (result,) = module.onForward([expr.const(array, list(array.shape), expr.NCHW, dtypes[array.dtype.name]) for array in arrays])
    return [value_of(np.array(result.read()))]


serve(run)
