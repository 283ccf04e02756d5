"""The rows of facts/targets.txt for onnxruntime are what its wheels load: models of every opset and IR version are tried.

Every opset from 1 to the row's is loaded: Relu has a kernel from opset 6 in every version, Identity before. Which other operators have
kernels is in facts/kernels, which the checks `generated_tables` and `onnxruntime_kernels` compare.
Only with --all: each version is installed into conformance/.cache.
"""

from onnx import TensorProto, helper

from support.onnxruntimes import WHEEL_OF, Runtime, rows

ONLY_WITH_ALL = "installs each version of onnxruntime into conformance/.cache"
OPSETS, IR_VERSIONS = range(1, 29), range(3, 15)


def check(report):
    tried = []
    for versions, opset, ir_version in rows():
        for version in versions:
            if version not in WHEEL_OF:
                continue
            with Runtime(version) as runtime:
                opsets = [each for each in OPSETS if loads(runtime, each, 3)]
                ir_versions = [each for each in IR_VERSIONS if loads(runtime, 7, each)]
            tried.append(version)
            wrong = opsets != list(range(1, opset + 1)) or ir_versions != list(range(3, ir_version + 1))
            report.case(f"onnxruntime {version}", wrong and f"loads opsets {opsets} and IR versions {ir_versions}")
    report.note(f"tried {', '.join(tried)}")


def loads(runtime, opset, ir_version):
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu" if opset >= 6 else "Identity", ["x"], ["y"])], "g", values[:1], values[1:])
    model = helper.make_model(graph, ir_version=ir_version, opset_imports=[helper.make_opsetid("", opset)])
    return runtime.why_not_loaded(model.SerializeToString()) is None
