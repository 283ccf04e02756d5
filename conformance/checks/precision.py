"""Models of FLOAT in FLOAT16 and BFLOAT16 are valid, load, and have the rounded weights; a second run changes nothing.

`recast precision --policy all --verify` over the models of the onnx wheel that have FLOAT values, at their own opset and at 28: onnx.checker
with full check passes where it passed before; onnxruntime without optimizations loads what it loaded before (FLOAT16); weights are those of
numpy; a second run writes the same bytes. In onnx's reference evaluator, outputs of node tests in FLOAT16 are close to those in FLOAT, and
finite where those are. Without --all, every tenth model.
"""

from collections import Counter

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from support.common import WHEEL_DATA, recast, scratch_folder, wheel_models
from support.models import RANDOM, all_graphs, passes_checker, read_value, readable, why_invalid
from support.processes import in_child, in_processes
from support.runners import run_model, session_of

TYPES = {"FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16}
LEAST_CHANGED = 380
TOLERANCE = 2.0**-6


def check(report):
    models = report.sample([model for model in wheel_models() if has_floats(model)], 10)
    cases = [(model, to, opset) for model in models for to in TYPES for opset in (None, 28)]
    outcomes = Counter()
    for name, outcome, problem in in_processes(outcome_of, cases, chunksize=4):
        outcomes[outcome] += 1
        report.case(name, problem)
    report.at_least("models that changed", outcomes["changed"], LEAST_CHANGED)
    report.note(f"{len(models)} models: {dict(outcomes)}")


def has_floats(path):
    """Whether a model has inputs, weights or constants of FLOAT."""
    model = readable(path)
    return model is not None and TensorProto.FLOAT in {
        *(value.type.tensor_type.elem_type for value in [*model.graph.input, *model.graph.output]),
        *(tensor.data_type for tensor in model.graph.initializer),
    }


def outcome_of(case):
    path, to, opset = case
    name = f"{path.relative_to(WHEEL_DATA)} to {to}" + (f", opset {opset}" if opset else "")
    with scratch_folder() as folder:
        if opset:
            converted = folder / "converted.onnx"
            if recast("convert", path, "--opset", str(opset), "-o", converted, "--quiet").returncode != 0:
                return name, "not converted", None
            path = converted
        output, again = folder / "output.onnx", folder / "again.onnx"
        arguments = ["--to", to, "--policy", "all", "--quiet"]
        done = recast("precision", path, *arguments, "-o", output, "--verify")
        if done.returncode != 0:
            return name, "failed", f"exit code {done.returncode}: {done.stderr.strip()}"
        if output.read_bytes() == path.read_bytes():
            return name, "unchanged", None
        done = recast("precision", output, *arguments, "-o", again, "--verify")
        if done.returncode != 0 or again.read_bytes() != output.read_bytes():
            return name, "changed", f"a second run changes it: {done.stderr.strip()}"
        return name, "changed", difference(case[0], path, output, to)


def difference(path, before, after, to):
    """What is wrong with a changed model."""
    if passes_checker(before) and (why := why_invalid(after)):
        return why
    if to == "FLOAT16" and loads(before) and not loads(after):
        return f"onnxruntime loads it before, not after: {why_not_loaded(after)}"
    problem = wrong_weight(onnx.load(before), onnx.load(after), to)
    return problem or (to == "FLOAT16" and in_child(lambda: other_result(path, before, after)))


def other_result(path, before, after):
    """An output on the inputs of a node test that is not close to that of the original; nothing if the evaluator cannot run it."""
    if any(node.op_type in RANDOM for graph in all_graphs(onnx.load(before)) for node in graph.node):
        return None
    model = onnx.load(before)
    files = sorted((path.parent / "test_data_set_0").glob("input_*.pb"), key=lambda file: int(file.stem.split("_")[1]))
    values = {value.name: read_value(file, value.type) for value, file in zip(model.graph.input, files)}
    # FLOAT16 has all integers up to 2048 only.
    if any(isinstance(value, np.ndarray) and value.dtype.kind == "f" and np.abs(value).max(initial=0) > 2048 for value in values.values()):
        return None
    # numpy has no FLOAT16 for some operators, such as Det, and models without a test have no inputs.
    try:
        expected, found = (run_model(each, values, "reference") for each in (before, after))
    except Exception:
        return None
    return None if all(map(is_close, expected, found)) else f"{expected} before, {found} after"


def is_close(expected, found):
    """Whether values are equal up to some roundings to FLOAT16. Numbers that are not floats, and indices, are not judged."""
    if not isinstance(expected, np.ndarray) or expected.dtype.kind != "f":
        return True
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    if scale > np.finfo(np.float16).max:
        return True
    return np.allclose(expected, found, rtol=TOLERANCE, atol=TOLERANCE * max(scale, 1e-4), equal_nan=True)


def loads(path):
    return why_not_loaded(path) is None


def why_not_loaded(path):
    def load():
        try:
            session_of(path, threads=1)
        except Exception as error:
            return str(error)[:400]
        return ""

    found = in_child(load)
    return "the process ends" if found is None else found or None


def wrong_weight(before, after, to):
    """A weight of the narrow type that is not the rounded one; numbers beyond the range are left to --verify."""
    for old_graph, new_graph in zip(all_graphs(before), all_graphs(after), strict=True):
        old = {tensor.name: tensor for tensor in getattr(old_graph, "initializer", [])}
        for tensor in getattr(new_graph, "initializer", []):
            source = old[tensor.name]
            if tensor.data_type == source.data_type:
                continue
            with np.errstate(over="ignore"):
                expected = numpy_helper.to_array(source).astype(TYPES[to])
            found = numpy_helper.to_array(tensor).view(np.uint16)
            judged = np.isfinite(expected.astype(np.float32))
            if not (found == expected.view(np.uint16))[judged].all():
                return f"{tensor.name} is not what numpy rounds to"
    return None
