"""Models with types that an older opset lacks, in inputs, outputs or inside: converted with --legalize-io, they compute the same.

All node models of the onnx wheel and of the installed onnx, and random graphs with quantized weights and activations, to older opsets in
which a value gets a wider type, and back. With --all also models of torch that onnxruntime's tools quantize to INT4 and float8. The inputs are
the test's own, in the wider types; the outputs are those of the model before, in the wider types, to the bit, or close if the conversion
also expands an operator in another way.
"""

import contextlib
import itertools
import json
import logging
import shutil
from collections import Counter

import numpy as np
import onnx
from onnx import helper
from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

from checks.exporters.exported_quantized import Inputs, torch_models
from generators.quantized_graphs import quantized_graph
from support.case import Case
from support.common import batches, recast, scratch_folder, wheel_models
from support.models import why_invalid
from support.newest_nodes import newest_node_models
from support.processes import in_processes
from support.runners import RUNNERS, is_close, same_value

OPSETS = range(7, 28)
SAMPLE = 6  # One of so many conversions of a model; all with --all.
GRAPHS = 200
QUANTIZED = {
    "INT4": {"weight_type": QuantType.QInt4, "activation_type": QuantType.QUInt8},
    "FLOAT8E4M3FN": {"weight_type": QuantType.QFLOAT8E4M3FN, "activation_type": QuantType.QFLOAT8E4M3FN, "calibrate_method": CalibrationMethod.Distribution},
}
QUANTIZED_TO = (13, 17, 18, 20)
LEAST_EXPORTS = 100
FAILED = "failed"


def check(report):
    logging.getLogger().setLevel(logging.ERROR)
    counts = Counter()
    with scratch_folder() as folder:
        graphs = [write_graph(folder / f"graph {seed}", seed) for seed in range(GRAPHS)]
        conversions = conversions_that_carry([*wheel_models(), *newest_node_models(), *graphs])
        report.at_least("random graphs with types that an older opset lacks", sum(path in graphs for path, _ in conversions), GRAPHS)
        if report.everything:
            exports = [quantized(folder, path, kind) for path in torch_models() for kind in QUANTIZED]
            exports = [path for path in exports if path]
            report.at_least("quantized exports", len(exports), LEAST_EXPORTS)
            conversions += conversions_that_carry(exports, QUANTIZED_TO)
        else:
            conversions = [(path, targets[index % SAMPLE :: SAMPLE]) for index, (path, targets) in enumerate(conversions)]
        for path, results in in_processes(results_of, conversions, chunksize=4):
            for target, outcome, problem in results:
                counts[outcome] += 1
                report.case(f"{path.parent.name} to opset {target}", problem)
    for outcome, count in sorted(counts.items()):
        report.count(f"conversions: {outcome}", count)
    report.note(", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items())))


def write_graph(folder, seed):
    folder.mkdir()
    onnx.save(quantized_graph(seed), folder / "model.onnx")
    return folder / "model.onnx"


def quantized(folder, path, kind):
    """A quantized model in opset 21 with its data set; None for those that the tools do not quantize."""
    output = folder / f"{'.'.join(path.parts[-3:-1])}, {kind}" / "model.onnx"
    newer, source = folder / "newer.onnx", folder / "source.onnx"
    output.parent.mkdir()
    shutil.copytree(path.parent / "test_data_set_0", output.parent / "test_data_set_0")
    try:
        if recast("convert", path, "--opset", "21", "-o", newer).returncode != 0:
            return None
        onnx.save(onnx.shape_inference.infer_shapes(onnx.load(newer)), source)
        with contextlib.redirect_stdout(None):
            quantize_static(source, output, Inputs(Case.of(path).inputs), quant_format=QuantFormat.QDQ, **QUANTIZED[kind])
    except Exception:  # The tools have no exception of their own.
        return None
    return output


def conversions_that_carry(models, opsets=OPSETS):
    """(model, opsets): the older opsets to which a conversion gives a value a wider type."""
    targets = {model: [] for model in models}
    by_path = {str(model): model for model in models}
    for opset in opsets:
        for batch in batches(models):
            done = recast("convert", *batch, "--opset", str(opset), "--legalize-io", "--dry-run", "--format", "json")
            for model in json.loads(done.stdout)["models"]:
                if model["carried"] and not model["blockers"]:
                    targets[by_path[model["path"]]].append(opset)
    return [(model, found) for model, found in targets.items() if found]


def results_of(conversion):
    """The outcome of each conversion of a model, and what is wrong."""
    path, targets = conversion
    case = Case.of(path)
    before = {runner: outputs(case.path, case.inputs, runner) for runner in RUNNERS}
    return path, [(target, *judged(case, before, target)) for target in targets]


def judged(case, before, target):
    with scratch_folder() as folder:
        lowered, back = folder / "lowered.onnx", folder / "back.onnx"
        done = recast("convert", case.path, "--opset", str(target), "--legalize-io", "-o", lowered, "--format", "json")
        if done.returncode != 0:
            return FAILED, done.stdout + done.stderr
        converted = json.loads(done.stdout)["models"][0]
        if any(carried["class"] != "exact" for carried in converted["carried"]):
            return FAILED, f"reported as carried: {converted['carried']}"
        done = recast("convert", lowered, "--opset", str(case.opset), "-o", back, "--format", "json")
        if done.returncode != 0:
            return FAILED, f"cannot come back to opset {case.opset}: {done.stdout}{done.stderr}"
        problem = case.is_valid and (why_invalid(lowered) or why_invalid(back))
        if problem:
            return FAILED, problem
        is_exact = all(expanded["class"] == "exact" for expanded in converted["expansions"])
        return compared(case, before, [lowered, back], is_exact)


def compared(case, before, after, is_exact):
    """A runner that computes the same for all three models decides, since each of the runners is wrong for some nodes. Where none runs all,
    what one computes before is compared with what the other computes afterwards."""
    found = {runner: [outputs(path, wider(path, case.inputs), runner) for path in after] for runner in RUNNERS}
    problem = None
    for runners in (zip(RUNNERS, RUNNERS), itertools.permutations(RUNNERS)):
        for first, second in runners:
            expected, computed = before[first], found[second]
            if expected is None or any(each is None for each in computed):
                continue
            differing = [each for each in computed if not same(expected, each, is_exact)]
            if not differing:
                return ("equal" if is_exact else "close"), None
            problem = f"{first} before, {second} after: {first_difference(expected, differing[0])}"
        if problem:
            return FAILED, problem
    return "not run", None


def outputs(path, inputs, runner):
    """The outputs of a model; none if the runner does not run it."""
    try:
        return RUNNERS[runner](path, inputs)
    except Exception:
        return None


def wider(path, inputs):
    """The inputs in the types that a model declares."""
    declared = {value.name: value.type.tensor_type.elem_type for value in onnx.load(path).graph.input}
    return {name: value.astype(helper.tensor_dtype_to_np_dtype(declared[name])) for name, value in inputs.items()}


def same(expected, found, is_exact):
    is_same = same_value if is_exact else is_close
    return len(expected) == len(found) and all(is_same(left.astype(right.dtype), right) for left, right in zip(expected, found))


def first_difference(expected, found):
    """The first output that differs, and its first element that does."""
    index = next(index for index, (left, right) in enumerate(zip(expected, found)) if not same_value(left.astype(right.dtype), right))
    left, right = expected[index].astype(found[index].dtype), found[index]
    if left.shape != right.shape:
        return f"output {index} has shape {left.shape}, then {right.shape}"
    at = next(at for at in np.ndindex(left.shape) if not same_value(left[at], right[at]))
    return f"output {index} at {at} is {left[at]}, then {right[at]}"
