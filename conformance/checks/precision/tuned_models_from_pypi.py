"""`onnx_recast.tune_precision` keeps few nodes of the models that packages of PyPI ship, on the inputs of `models_from_pypi`, and of exported
models that onnxruntime has quantized dynamically: the errors of their outputs are within its tolerance, after at most 20 changes of precision.

Only with --all: it needs the wheel of the Python package, 150 MB of packages, and the environments of `exported_conversions`.
"""

import importlib
from collections import Counter

import onnx

from checks.exporters.exported_quantized import INEXACT, name_of, quantized, torch_models
from checks.precision.models_from_pypi import HEAVY, LEAST_SCALE, PACKAGES, inputs_of, shipped
from support.case import Case
from support.common import scratch_folder
from support.models import all_graphs
from support.package import use_package

ONLY_WITH_ALL = "needs the wheel of the Python package, 150 MB of packages, and the environments of the exporters"
TOLERANCE, MOST_RUNS, LEAST_MODELS = 1e-2, 20, 26
LEAST_NARROW = 0.99
# The error arises in all of their nodes, for detectors at the edges of letters, so that one within the tolerance needs many of them in FLOAT.
ERROR_EVERYWHERE = {
    "en_PP-OCRv3_det_infer.onnx",
    "ch_PP-OCRv4_det_infer.onnx",
    "PP-OCRv6_det_small.onnx",
    "ch_PP-OCRv4_rec_infer.onnx",
}
LEAST_QUANTIZED = 50


def check(report):
    use_package()
    recast = importlib.import_module("onnx_recast")
    heavy, wide = Counter(), Counter()
    models = {path.name: path for package in PACKAGES for path in shipped(package)}
    for name, path in sorted(models.items()):
        model = onnx.load(path)
        counts = tune(report, recast, name, model, inputs_of(model, name))
        if name not in ERROR_EVERYWHERE:
            count(counts, "shipped", heavy, wide)
    quantized_models = 0
    for path in torch_models():
        name, inputs = name_of(path, "dynamic"), Case.of(path).inputs
        with scratch_folder() as folder:
            output = quantized(path, inputs, "dynamic", folder)
            if output and name not in INEXACT:
                quantized_models += 1
                count(tune(report, recast, name, onnx.load(output), inputs), "quantized", heavy, wide)
    report.at_least("models", len(models), LEAST_MODELS)
    report.at_least("quantized models", quantized_models, LEAST_QUANTIZED)
    for kind in heavy:
        report.at_least_share(f"heavy operators that are narrow, {kind}", heavy[kind] - wide[kind], heavy[kind], LEAST_NARROW)
    kept = "; ".join(f"{kind}: {wide[kind]} of {heavy[kind]} heavy operators in FLOAT" for kind in heavy)
    report.note(f"{len(models)} models, {quantized_models} quantized; {kept}")


def tune(report, recast, name, model, inputs):
    """The number of heavy operators, and of those in FLOAT."""
    tuned = recast.tune_precision(model, inputs, least_scale=LEAST_SCALE)
    error = tuned.errors.error
    report.case(f"{name}: error", error > TOLERANCE and f"{error:.2g}")
    report.case(f"{name}: changes of precision", tuned.runs > MOST_RUNS and tuned.runs)
    operators = [node.op_type for graph in all_graphs(model) for node in graph.node if node.op_type in HEAVY]
    kept = [node.op for node in tuned.result.kept if node.op in HEAVY]
    counts = f"{len(tuned.keep_node)} nodes kept, among them {len(kept)} of {len(operators)} heavy ones"
    report.details.append(f"{name}: error {error:.2g}, {tuned.runs} changes, {counts}")
    return len(operators), len(kept)


def count(counts, kind, heavy, wide):
    heavy[kind] += counts[0]
    wide[kind] += counts[1]
