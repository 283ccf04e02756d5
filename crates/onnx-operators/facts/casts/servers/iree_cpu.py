"""Runs models in IREE: imported as its tool does, compiled for the CPU, run by its local runtime."""

import numpy as np
import onnx
from iree import runtime
from iree.compiler import compile_str, ir
from iree.compiler.extras import onnx_importer
from serving import array_of, serve, value_of


def run(model, inputs):
    module = runtime.load_vm_flatbuffer(compiled(onnx.load_from_string(model)), driver="local-sync")
    return [value_of(np.asarray(module.cast(*map(array_of, inputs.values()))))]


def compiled(model):
    context = ir.Context()
    info = onnx_importer.ModelInfo(onnx.shape_inference.infer_shapes(model))
    with ir.Location.unknown(context):
        operation = ir.Operation.create("builtin.module", regions=1)
        operation.regions[0].blocks.append()
        importer = onnx_importer.NodeImporter.define_function(info.main_graph, operation)
        importer.import_all()
    return compile_str(str(operation), target_backends=["llvm-cpu"], input_type="onnx", extra_args=["--iree-llvmcpu-target-cpu=generic"])


serve(run)
