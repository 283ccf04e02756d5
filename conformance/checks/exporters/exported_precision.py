"""Models of real exporters in FLOAT16 and BFLOAT16: valid, loaded, with numpy's constants, as `valid_narrow_models` and `rounded_node_outputs` judge them.

Only with --all. The models are those of `exported_folds`, with `--policy stable` and `all`. With the default policy, no finite output becomes
NaN or infinite: neither in onnxruntime, which computes most operators in FLOAT, nor in FLOAT with a rounding after each value that became
FLOAT16.
"""

import json
from collections import Counter

import numpy as np
import onnx

from checks.precision import rounded_node_outputs, valid_narrow_models
from exporters.models import exported_models
from support.case import Case, name_of
from support.common import recast, scratch_folder
from support.models import RANDOM, all_graphs
from support.processes import in_child, in_processes
from support.runners import session_of

ONLY_WITH_ALL = "needs the environments of the exporters"
LEAST_CHANGED, LEAST_FINITE, LEAST_EMULATED, LEAST_NODES = 1570, 205, 170, 2600


def check(report):
    models = [path for _, path in exported_models()]
    cases = [(path, to, opset, policy) for path in models for policy in ("stable", "all") for to in valid_narrow_models.TYPES for opset in valid_narrow_models.opsets(path)]
    outcomes, counted = valid_narrow_models.judge_all(report, cases)
    report.at_least("models that changed", outcomes["changed"], LEAST_CHANGED)
    report.note(f"{len(models)} models: {dict(outcomes)}; {dict(counted)}")
    check_finite(report, models)
    outcomes, nodes = rounded_node_outputs.judge_all(report, models)
    report.at_least("nodes that were compared", sum(sum(counts.values()) for counts in nodes.values()), LEAST_NODES)


def check_finite(report, models):
    runs = Counter()
    for name, ran, problem in in_processes(stays_finite, models):
        runs.update(ran)
        report.case(f"{name}: finite outputs", problem)
    report.at_least("models that run in FLOAT16", runs["onnxruntime"], LEAST_FINITE)
    report.at_least("models that run with roundings", runs["emulation"], LEAST_EMULATED)
    report.note(f"finite: {dict(runs)}")


def stays_finite(path):
    """The name, what ran, and what is wrong."""
    case, ran = Case.of(path), []
    model = onnx.load(path)
    expected = case and in_child(lambda: case.computed("onnxruntime"))
    if expected is None or any(node.op_type in RANDOM for graph in all_graphs(model) for node in graph.node):
        return name_of(path), ran, None
    with scratch_folder() as folder:
        output = folder / "output.onnx"
        done = recast("precision", path, "--to", "FLOAT16", "-o", output, "--format", "json")
        report = json.loads(done.stdout)["models"][0]
        if not report["changed_values"]:
            return name_of(path), ["unchanged"], None
        candidates = {"onnxruntime": output.read_bytes()}
        if not report["casts_removed"] and not model.functions:
            infer = onnx.shape_inference.infer_shapes
            casts = {cast["output"] for cast in report["casts_added"]}
            candidates["emulation"] = rounded_node_outputs.Emulation(casts).model(infer(model), infer(onnx.load(output))).SerializeToString()
    for judge, candidate in candidates.items():
        found = in_child(lambda: outputs_of(candidate, case.inputs))
        if isinstance(found, list):
            ran.append(judge)
            for value, before, after in zip(model.graph.output, expected, found):
                if is_number(before) and (np.isfinite(before) & ~np.isfinite(after)).any():
                    return name_of(path), ran, f"{judge}: {value.name} is not finite: {rounded_node_outputs.shown(after)}, {rounded_node_outputs.shown(before)} before"
        elif judge == "onnxruntime":
            return name_of(path), ran, f"runs before, not after: {found}"
    return name_of(path), ran, None


def outputs_of(model, inputs):
    try:
        return session_of(model, threads=1).run(None, inputs)
    except Exception as error:
        return str(error)[:400]


def is_number(value):
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"
