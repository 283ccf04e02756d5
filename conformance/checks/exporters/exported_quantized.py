"""Exported models that onnxruntime's quantization tools quantize, dynamically and with QuantizeLinear and DequantizeLinear: after a change to
FLOAT16, onnxruntime's optimizer makes as many operators of integers of them as before, and with each narrow value rounded, the outputs are
close to those before.

Only with --all, in the environments of `exported_conversions`.
"""

import logging
from collections import Counter

import onnx
import onnxruntime as ort
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from checks.precision.models_from_pypi import LEAST_SCALE
from checks.precision.values_beyond_float16 import LARGEST_ERROR, largest_error
from exporters.models import EXPORTERS, exported
from support.case import Case
from support.common import recast, scratch_folder
from support.processes import in_child

ONLY_WITH_ALL = "needs the environments of the exporters"
KINDS = ("dynamic", "QDQ")
OPTIONS = {"default": [], "target": ["--target", "onnxruntime@1.31"]}
LEAST_MODELS, LEAST_OPERATORS = 110, 550
# TopK orders scores that are nearly equal in another way.
INEXACT = {f"torch_models_{exporter}/{model}, dynamic": 0.5 for exporter in ("legacy", "dynamo") for model in ("detector", "detector_dynamic")}
# onnxruntime 1.27 to 1.32 ends the process in its NchwcTransformer, unless that or its ConstantSharing is disabled.
NOT_LOADED = {"torch_models_legacy/encoder_dynamic, dynamic"}


def check(report):
    logging.getLogger().setLevel(logging.ERROR)
    counts = Counter()
    for path in torch_models():
        inputs = Case.of(path).inputs
        for kind in KINDS:
            with scratch_folder() as folder:
                compare(report, name_of(path, kind), quantized(path, inputs, kind, folder), inputs, folder, counts)
    report.at_least("models", counts["models"], LEAST_MODELS)
    report.at_least("operators of integers", counts["operators"], LEAST_OPERATORS)
    report.at_least("runs", counts["compared"], 2 * LEAST_MODELS)
    report.note(f"{counts['models']} quantized models with {counts['operators']} operators of integers; outputs compared {counts['compared']} times")


def torch_models():
    return [path for name, exporter in EXPORTERS.items() if name.startswith("torch") for path in exported(*exporter)]


def name_of(path, kind):
    return f"{'/'.join(path.parts[-3:-1])}, {kind}"


def quantized(path, inputs, kind, folder):
    """A quantized model; None for those that the tools do not quantize."""
    source, output = folder / "source.onnx", folder / "quantized.onnx"
    try:
        onnx.save(onnx.shape_inference.infer_shapes(onnx.load(path)), source)
        if kind == "dynamic":
            quantize_dynamic(source, output, weight_type=QuantType.QUInt8)
        else:
            quantize_static(source, output, Inputs(inputs), quant_format=QuantFormat.QDQ, per_channel=True)
    except Exception:  # The tools have no exception of their own.
        return None
    return output


class Inputs(CalibrationDataReader):
    """The inputs of one run."""

    def __init__(self, inputs):
        self.left = [inputs]

    def get_next(self):
        return self.left.pop() if self.left else None


def compare(report, name, model, inputs, folder, counts):
    before = model and in_child(lambda: integer_operators(model, folder))
    if not before:
        return
    counts["models"] += 1
    counts["operators"] += before.total()
    for option, arguments in OPTIONS.items():
        output = folder / f"{option}.onnx"
        done = recast("precision", model, "--to", "FLOAT16", "-o", output, "--quiet", *arguments)
        if report.case(f"{name}, {option}: exit code", done.returncode and done.stderr.strip()):
            after = in_child(lambda: integer_operators(output, folder))
            is_known = after is None and name in NOT_LOADED
            lost = (after is None or after.total() < before.total()) and not is_known
            report.case(f"{name}, {option}: operators", lost and f"{dict(before)} become {after}")
            error = in_child(lambda: largest_error(onnx.load(model), onnx.load(output), inputs, LEAST_SCALE))
            counts["compared"] += error is not None
            limit = INEXACT.get(name, LARGEST_ERROR)
            report.case(f"{name}, {option}: outputs", (error or 0) > limit and f"relative error {error:.2g}, more than {limit}")


def integer_operators(path, folder):
    """The operators that onnxruntime's optimizer has for integers; None if it does not load the model."""
    options = ort.SessionOptions()
    options.optimized_model_filepath, options.log_severity_level = str(folder / "optimized.onnx"), 4
    try:
        ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception:  # onnxruntime has an exception for each kind of fault.
        return None
    operators = (node.op_type for node in onnx.load(folder / "optimized.onnx", load_external_data=False).graph.node)
    return Counter(op for op in operators if op.startswith(("QLinear", "QGemm", "QAttention", "MatMulInteger", "ConvInteger", "DynamicQuantize")))
