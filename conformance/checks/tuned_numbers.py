"""`onnx_recast.tune_precision` keeps few nodes of the models that packages of PyPI ship, on the inputs of `shipped_numbers`: the errors of their
outputs are within its tolerance, after at most 20 changes of precision.

Only with --all: it needs the wheel of the Python package, and 150 MB of packages.
"""

import importlib

import onnx

from checks.shipped_numbers import HEAVY, LEAST_SCALE, PACKAGES, inputs_of, shipped
from support.models import all_graphs
from support.package import use_package

MOST_RUNS, LEAST_MODELS = 20, 26
LEAST_NARROW = 0.99
# The error arises in all of their nodes, for detectors at the edges of letters, so that one within the tolerance needs many of them in FLOAT.
ERROR_EVERYWHERE = {
    "en_PP-OCRv3_det_infer.onnx",
    "ch_PP-OCRv4_det_infer.onnx",
    "PP-OCRv6_det_small.onnx",
    "ch_PP-OCRv4_rec_infer.onnx",
}


def check(report):
    if not report.everything:
        report.skip("only with --all")
        return
    use_package()
    recast = importlib.import_module("onnx_recast")
    models = {path.name: path for package in PACKAGES for path in shipped(package)}
    heavy, wide = 0, 0
    for name, path in sorted(models.items()):
        model = onnx.load(path)
        tuned = recast.tune_precision(model, inputs_of(model, name), least_scale=LEAST_SCALE)
        error = tuned.errors.error
        report.case(f"{name}: error", error > 1e-2 and f"{error:.2g}")
        report.case(f"{name}: changes of precision", tuned.runs > MOST_RUNS and tuned.runs)
        operators = [node.op_type for graph in all_graphs(model) for node in graph.node if node.op_type in HEAVY]
        kept = [node.op for node in tuned.result.kept if node.op in HEAVY]
        counts = f"{len(tuned.keep_node)} nodes kept, among them {len(kept)} of {len(operators)} heavy ones"
        report.details.append(f"{name}: error {error:.2g}, {tuned.runs} changes, {counts}")
        if name not in ERROR_EVERYWHERE:
            heavy, wide = heavy + len(operators), wide + len(kept)
    report.at_least("models", len(models), LEAST_MODELS)
    report.at_least_share("heavy operators that are narrow", heavy - wide, heavy, LEAST_NARROW)
    report.note(f"{len(models)} models; {wide} of {heavy} heavy operators in FLOAT")
