"""Models of FLOAT in FLOAT16 and BFLOAT16 are valid, load, and have the rounded weights; a second run and a fold change nothing.

`recast precision --policy all --verify` over the models of the onnx wheel and the node tests of the installed onnx that have FLOAT values, at
their own opset and at 28: onnx.checker with full check passes where it passed before; onnxruntime 1.31 without optimizations, and 1.32, which
has opset 28, load what they loaded before (FLOAT16); constants are those of numpy; a second run writes the same bytes, and so does a fold
by the passes of casts. In onnx's reference evaluator, outputs of node tests in FLOAT16 are close to those in FLOAT, and finite where those
are. Without --all, every twelfth model.
"""

import functools
from collections import Counter

import ml_dtypes
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from support.case import name_of
from support.common import recast, scratch_folder, wheel_models
from support.models import RANDOM, all_graphs, passes_checker, read_value, readable, why_invalid
from support.newest_nodes import newest_node_models
from support.onnxruntimes import Runtime
from support.processes import in_child, in_processes
from support.runners import run_model, session_of

TYPES = {"FLOAT16": np.float16, "BFLOAT16": ml_dtypes.bfloat16}
NEWEST_OPSET, NEWEST_RUNTIME = 28, "1.32"
CAST_PASSES = "redundant-casts,merge-casts,sink-casts"
TOLERANCE = 2.0**-6


def check(report):
    models = report.sample(distinct(model for model in [*wheel_models(), *newest_node_models()] if has_floats(model)), 12)
    outcomes, compared = judge_all(report, [(model, to, opset, "all") for model in models for to in TYPES for opset in opsets(model)])
    report.count("changed", outcomes["changed"])
    for what in sorted(compared):
        report.count(what, compared[what])
    report.note(f"{len(models)} models: {dict(outcomes)}; {dict(compared)}")


def judge_all(report, cases):
    """The counts of the outcomes of cases, and of what was compared."""
    outcomes, compared = Counter(), Counter()
    for name, outcome, problem, what in in_processes(outcome_of, cases, chunksize=4):
        outcomes[outcome] += 1
        compared.update(what)
        report.case(name, problem)
    return outcomes, compared


def distinct(paths):
    """One of the models that differ in nothing but their headers: most node tests are in the wheel and in the installed onnx."""
    found = {}
    for path in paths:
        model = onnx.load(path)
        imports = sorted((entry.domain, entry.version) for entry in model.opset_import)
        found.setdefault(str((model.graph.SerializeToString(), imports, [each.SerializeToString() for each in model.functions])), path)
    return list(found.values())


def has_floats(path):
    """Whether a model has inputs, weights or constants of FLOAT."""
    model = readable(path)
    return model is not None and TensorProto.FLOAT in {
        *(value.type.tensor_type.elem_type for value in [*model.graph.input, *model.graph.output]),
        *(tensor.data_type for tensor in model.graph.initializer),
    }


def opsets(path):
    """The model's own opset, and the newest one."""
    stated = [entry.version for entry in onnx.load(path).opset_import if entry.domain in ("", "ai.onnx")]
    return (None,) if NEWEST_OPSET in stated else (None, NEWEST_OPSET)


def outcome_of(case):
    """The name, the outcome, the problem, and what was compared of a (model, type, opset or None, policy)."""
    compared = Counter()
    name, outcome, problem = judged(*case, compared)
    return name, outcome, problem, compared


def judged(path, to, opset, policy, compared):
    name = f"{name_of(path)} to {to}, policy {policy}" + (f", opset {opset}" if opset else "")
    original = path
    with scratch_folder() as folder:
        if opset:
            converted = folder / "converted.onnx"
            if recast("convert", path, "--opset", str(opset), "-o", converted, "--quiet").returncode != 0:
                return name, "not converted", None
            path = converted
        output, again = folder / "output.onnx", folder / "again.onnx"
        arguments = ["--to", to, "--policy", policy, "--quiet"]
        done = recast("precision", path, *arguments, "-o", output, "--verify")
        if done.returncode != 0:
            return name, "failed", f"exit code {done.returncode}: {done.stderr.strip()}"
        if output.read_bytes() == path.read_bytes():
            return name, "unchanged", None
        done = recast("precision", output, *arguments, "-o", again, "--verify")
        if done.returncode != 0 or again.read_bytes() != output.read_bytes():
            return name, "changed", f"a second run changes it: {done.stderr.strip()}"
        if problem := difference(original, path, output, to, compared):
            return name, "changed", problem
        if problem := changed_by_fold(path, output, folder, arguments):
            return name, "changed", problem
        compared["same after a fold"] += 1
        return name, "changed", None


def changed_by_fold(path, output, folder, arguments):
    """What a fold finds to do after the change. Casts that it finds to remove in the model itself are removed before."""
    if fold_casts(output, folder) is None:
        return None
    if (folded := fold_casts(path, folder)) is None:
        return f"a fold changes it: {what_fold_does(output)}"
    recast("precision", folded, *arguments, "-o", output)
    return fold_casts(output, folder) and f"folded before, a fold changes it afterwards: {what_fold_does(output)}"


def fold_casts(path, folder):
    """The model after the passes of casts; none if they change nothing."""
    folded = folder / f"folded-{path.name}"
    recast("fold", path, "--passes", CAST_PASSES, "-o", folded, "--quiet")
    return None if folded.read_bytes() == path.read_bytes() else folded


def what_fold_does(path):
    done = recast("fold", path, "--passes", CAST_PASSES, "--dry-run", "--verbose")
    return " ".join((done.stdout + done.stderr).split())[:400]


def difference(path, before, after, to, compared):
    """What is wrong with a changed model."""
    if passes_checker(before):
        if why := why_invalid(after):
            return why
        compared["valid"] += 1
    if to == "FLOAT16":
        for runtime, why_not in RUNTIMES.items():
            if why_not(before) is None:
                if why := why_not(after):
                    return f"onnxruntime {runtime} loads it before, not after: {why}"
                compared[f"loads in {runtime}"] += 1
    if problem := wrong_constant(onnx.load(before), onnx.load(after), to):
        return problem
    if to != "FLOAT16":
        return None
    problem = in_child(lambda: other_result(path, before, after))
    compared["runs"] += problem is False
    return problem


def other_result(path, before, after):
    """An output on the inputs of a node test that is not close to that of the original; none if the evaluator cannot run it, False if all are."""
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
        with np.errstate(all="ignore"):
            expected, found = (run_model(each, values, "reference") for each in (before, after))
    except Exception:
        return None
    return not all(map(is_close, expected, found)) and f"{expected} before, {found} after"


def is_close(expected, found):
    """Whether values are equal up to some roundings to FLOAT16. Numbers that are not floats, and indices, are not judged."""
    if not isinstance(expected, np.ndarray) or expected.dtype.kind != "f":
        return True
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=0)
    if scale > np.finfo(np.float16).max:
        return True
    return np.allclose(expected, found, rtol=TOLERANCE, atol=TOLERANCE * max(scale, 1e-4), equal_nan=True)


def why_not_loaded(path):
    def load():
        try:
            session_of(path, threads=1)
        except Exception as error:
            return str(error)[:400]
        return ""

    found = in_child(load)
    return "the process ends" if found is None else found or None


@functools.cache
def newest_runtime():
    return Runtime(NEWEST_RUNTIME)


RUNTIMES = {"1.31": why_not_loaded, NEWEST_RUNTIME: lambda path: newest_runtime().why_not_loaded(path.read_bytes())}


def wrong_constant(before, after, to):
    """A constant of the narrow type that is not the rounded one. A mask or bound beyond the range is half of the largest number, or that."""
    for old_graph, new_graph in zip(all_graphs(before), all_graphs(after), strict=True):
        old, new = constants_of(old_graph), constants_of(new_graph)
        if old.keys() != new.keys():
            return f"constants {sorted(old.keys() ^ new.keys())} are in one of the models only"
        for name, (number, source) in old.items():
            new_number, found = new[name]
            if number == new_number:
                if found.tobytes() != source.tobytes():
                    return f"{name} keeps its type and changes"
                continue
            if new_number != TensorProto.DataType.Value(to) or found.shape != source.shape:
                return f"{name} is of type {new_number} and shape {found.shape}"
            with np.errstate(over="ignore"):
                expected = source.astype(TYPES[to])
            exact, given = (array.astype(np.float64) for array in (expected, found))
            beyond = np.isinf(exact) & np.isfinite(source)
            largest = float(ml_dtypes.finfo(TYPES[to]).max)
            masked = np.isin(np.abs(given), (largest / 2, largest)) & (np.signbit(given) == np.signbit(source))
            same = (found.view(np.uint16) == expected.view(np.uint16)) | (np.isnan(exact) & np.isnan(given))
            if not np.where(beyond, masked, same).all():
                return f"{name} is not what numpy rounds to"
    return None


def constants_of(graph):
    """{name: (element type, values)} of the initializers, of the values of sparse ones, and of the tensors and floats of nodes. The number
    of a Constant among those of the graph names it: a result that is an output has another name."""
    found = {tensor.name: tensor for tensor in getattr(graph, "initializer", [])}
    found |= {f"{tensor.values.name} (sparse)": tensor.values for tensor in getattr(graph, "sparse_initializer", [])}
    nodes = Counter()
    for node in graph.node:
        if node.op_type in ("Constant", "ConstantOfShape"):
            number = nodes[node.op_type] = nodes[node.op_type] + 1
            tensors = [tensor for attribute in node.attribute if (tensor := tensor_of(attribute)) is not None]
            tensors += [numpy_helper.from_array(np.zeros(1, np.float32))] if node.op_type == "ConstantOfShape" else []
            found |= {f"{node.op_type} {number}": tensors[0]} if tensors else {}
    return {name: (tensor.data_type, numpy_helper.to_array(tensor)) for name, tensor in found.items()}


def tensor_of(attribute):
    """The tensor that an attribute of Constant or ConstantOfShape states; none if it states no numbers."""
    if attribute.name in ("value_float", "value_floats"):
        floats = attribute.f if attribute.name == "value_float" else list(attribute.floats)
        return numpy_helper.from_array(np.array(floats, np.float32))
    if attribute.HasField("sparse_tensor"):
        return attribute.sparse_tensor.values
    return attribute.t if attribute.HasField("t") else None
