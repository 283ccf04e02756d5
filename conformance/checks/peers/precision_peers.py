"""`recast precision --to FLOAT16` beside onnxconverter-common, onnxruntime.transformers, modelopt's autocast and onnxsim, on the same models.

Only with --all; modelopt runs beside the torch of `exported_conversions`. The models are one of a few exported ones (`exported_folds`), and models/, those
that are valid. Inputs and outputs stay FLOAT. Counted for each tool: models that it writes, that onnx.checker accepts with full check, that
onnxruntime 1.32 loads, that stay finite in onnxruntime where the model was, and that a second run leaves as they are; casts that
`recast fold --passes exact` leaves; of the valid ones, those whose outputs are right with each narrow value rounded, and how many of the
heavy operators compute in FLOAT16; seconds of the processor (of peers without the start of Python and the imports), the most memory of a
process. And which of 16 weights are those of numpy.
"""

import os
from collections import Counter
from functools import cache

import numpy as np
import onnx
from onnx import TensorProto, helper, inliner, numpy_helper

from checks.exporters.exported_precision import is_number, outputs_of
from checks.precision.models_from_pypi import HEAVY
from checks.precision.valid_narrow_models import newest_runtime
from checks.precision.values_beyond_float16 import LARGEST_ERROR, relative_error
from exporters.models import exported_models
from peers.environment import Peer, modelopt_python, precision_python
from support.case import Case
from support.common import EXAMPLES, RECAST, recast, scratch_folder
from support.measure import measured
from support.models import all_graphs, count_casts, passes_checker
from support.narrow import emulated, narrow_types, run
from support.processes import in_child, in_processes

ONLY_WITH_ALL = "needs conformance/.venv-precision-peers and the environments of the exporters"
WITH_DATA = "modelopt_with_data"
PEERS = ("converter_common", "onnxruntime", "modelopt", WITH_DATA, "onnxsim")
TOOLS = ("recast all", "recast stable", *PEERS)
SAMPLED_EXPORTS = 3  # One of so many.
LEAST_MODELS = 90
LONGEST = 120  # Seconds for one model.
GOOD = ("written", "valid", "loads", "stays finite", "second run: unchanged")
CASTS, OURS, OURS_STABLE = "casts where it is valid", "casts of recast all there", "casts of recast stable there"
RIGHT, NARROW, HEAVY_ONES = "right where it is valid", "heavy operators in FLOAT16 where it is valid", "heavy operators there"
ROWS = (*GOOD, RIGHT, NARROW, HEAVY_ONES, CASTS, OURS, OURS_STABLE, "processor seconds", "MB at most")
# Zeros, thirds, ties of normal and subnormal numbers, the ends of the range, numbers that become zero or the smallest one, and others.
WEIGHTS = [0, -0.0, 1 / 3, 1 + 2**-11, 1 + 3 * 2**-11, 2049, 12345, 65504, 65519, 1e-8, -1e-8, 2**-25, 3e-8, 3 * 2**-25, np.inf, np.nan]


def check(report):
    precision_python(), modelopt_python()
    models = [*(path for _, path in exported_models()[::SAMPLED_EXPORTS]), *EXAMPLES]
    found, more, judged = {tool: Counter() for tool in TOOLS}, [], 0
    for name, results in in_processes(change_model, models):
        judged += bool(results)
        for tool, counts in results.items():
            most = max(found[tool]["MB at most"], counts["MB at most"])
            found[tool].update(counts)
            found[tool]["MB at most"] = most
            ours = results["recast all"]["casts"]
            if tool not in PEERS:
                # Policy `all` lets values leave the range.
                bad = [what for what in GOOD if not counts[what] and not (what == "stays finite" and tool == "recast all")]
                report.case(f"{tool}: {name}", bad and f"not {', '.join(bad)}")
            if counts["valid"]:
                found[tool].update({CASTS: counts["casts"], OURS: ours, OURS_STABLE: results["recast stable"]["casts"]})
                more += [f"{name}: {tool} has {counts['casts']} casts, recast {ours}"] if tool in PEERS and counts["casts"] < ours else []
    report.at_least("models", judged, LEAST_MODELS)
    exact = {tool: exact_weights(tool) for tool in TOOLS}
    for tool in TOOLS[:2]:
        report.case(f"{tool}: weights", exact[tool] != len(WEIGHTS) and f"{exact[tool]} of {len(WEIGHTS)} are those of numpy")
    shown = lambda value: f"{value:.1f}" if isinstance(value, float) else str(value)
    report.details.append(f"| {judged} models | {' | '.join(TOOLS)} |")
    report.details += [f"| {row} | {' | '.join(shown(found[tool][row]) for tool in TOOLS)} |" for row in ROWS]
    report.details.append(f"| exact weights, of {len(WEIGHTS)} | {' | '.join(str(exact[tool]) for tool in TOOLS)} |")
    report.details += sorted(more)
    report.note(f"{judged} models")


def change_model(path):
    """(name, {tool: counts}); nothing for models that are not valid."""
    name, case, results = "/".join(path.parts[-3:-1]) if path.stem == "model" else path.stem, Case.of(path), {}
    if case is None or not case.is_valid:
        return name, {}
    expected = in_child(lambda: case.computed("onnxruntime"))
    was_loaded = newest_runtime().why_not_loaded(path.read_bytes()) is None
    with scratch_folder() as folder:
        output, again = folder / "output.onnx", folder / "again.onnx"
        for tool in TOOLS:
            output.unlink(missing_ok=True), again.unlink(missing_ok=True)
            seconds, megabytes, done = change(tool, path, output, case.inputs)
            counts = Counter({"processor seconds": float(seconds), "MB at most": float(megabytes)})
            if done:
                counts["written"], counts["valid"] = 1, int(passes_checker(output))
                counts["loads"] = int(not was_loaded or newest_runtime().why_not_loaded(output.read_bytes()) is None)
                counts["stays finite"] = int(expected is None or stays_finite(output, case.inputs, expected))
                counts["casts"] = casts_after_fold(output, folder / "folded.onnx")
                if counts["valid"]:
                    counts[RIGHT] = int(expected is None or is_right(output, path, case.inputs))
                    counts[NARROW], counts[HEAVY_ONES] = heavy_operators(output)
                is_written = change(tool, output, again, case.inputs)[2]
                counts["second run: unchanged"] = int(is_written and again.read_bytes() == output.read_bytes())
            results[tool] = counts
    return name, results


def casts_after_fold(model, output):
    """How many casts are left of those that the model had or a tool added: some tools fold, too."""
    recast("fold", model, "-o", output, "--passes", "exact", "--quiet")
    return count_casts(onnx.load(output))


def stays_finite(output, inputs, expected):
    """Whether it runs, and no finite number becomes another."""
    found = in_child(lambda: outputs_of(output.read_bytes(), inputs))
    if not isinstance(found, list) or len(found) != len(expected):
        return False
    pairs = [(before, after) for before, after in zip(expected, found) if is_number(before)]
    return all(is_number(after) and before.shape == after.shape and np.isfinite(after[np.isfinite(before)]).all() for before, after in pairs)


def is_right(output, source, inputs):
    """Whether the outputs are close to those of the model, with each narrow value rounded."""
    error = in_child(lambda: largest_error(onnx.load(source), onnx.load(output), inputs))
    return isinstance(error, float) and error <= LARGEST_ERROR


def largest_error(before, after, inputs):
    expected, computed = (run(model, inputs).values() for model in (inliner.inline_local_functions(before), emulated(after)))
    return max((float(relative_error(*pair)) for pair in zip(expected, computed) if is_number(pair[0])), default=0.0)


def heavy_operators(path):
    """How many of them have FLOAT16 inputs, and how many there are."""
    model = onnx.shape_inference.infer_shapes(inliner.inline_local_functions(onnx.load(path)))
    narrow, count = 0, 0
    for graph in all_graphs(model):
        types = narrow_types(graph) | {tensor.name: tensor.data_type for tensor in graph.initializer}
        heavy = [node for node in graph.node if node.op_type in HEAVY]
        count += len(heavy)
        narrow += sum(types.get(node.input[0]) == TensorProto.FLOAT16 for node in heavy)
    return narrow, count


def change(tool, model, output, inputs=None):
    """Seconds, megabytes, and whether there is a result."""
    if not tool.startswith("recast"):
        data = output.with_suffix(".npz")
        if tool == WITH_DATA:
            np.savez(data, **inputs)
        answers = peer(tool).ask(str(model), str(output), *([str(data)] if tool == WITH_DATA else []))
        if not answers:
            peer.cache_clear()
            return 0, 0, False
        code, seconds, megabytes = answers[0]
    else:
        options = ["--to", "FLOAT16", "--policy", tool.split()[1], "--quiet"]
        code, _, seconds, megabytes = measured([RECAST, "precision", model, "-o", output, *options], os.devnull)
    return seconds, megabytes, code == 0 and output.is_file()


@cache
def peer(tool):
    python, variables = modelopt_python() if tool.startswith("modelopt") else (precision_python(), {})
    return Peer("serve_precision.py", tool, str(LONGEST), python=python, variables=variables)


def exact_weights(tool):
    """How many of the weights of a model a tool rounds as numpy does. Infinity and NaN are used by a Mul, which is no mask."""
    values = np.array(WEIGHTS, np.float32)
    formal = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [len(values)])
    nodes = [helper.make_node("Mul", ["x", "w"], ["y"], "mul")]
    graph = helper.make_graph(nodes, "g", [formal("x")], [formal("y")], [numpy_helper.from_array(values, "w")])
    with scratch_folder() as folder:
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9), folder / "model.onnx")
        change("modelopt_f16" if tool.startswith("modelopt") else tool, folder / "model.onnx", folder / "output.onnx")
        if not (folder / "output.onnx").is_file():
            return "fails"
        model = onnx.load(folder / "output.onnx")
    tensors = [*model.graph.initializer, *(a.t for node in model.graph.node for a in node.attribute if a.HasField("t"))]
    found = next((numpy_helper.to_array(each) for each in tensors if list(each.dims) == [len(values)] and each.data_type == TensorProto.FLOAT16), None)
    if found is None:
        return "none in FLOAT16"
    expected = values.astype(np.float16)
    same = (found.view(np.uint16) == expected.view(np.uint16)) | (np.isnan(found) & np.isnan(expected))
    return int(same.sum())
