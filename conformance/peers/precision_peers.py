"""`recast precision --to FLOAT16` beside onnxconverter-common, onnxruntime.transformers, modelopt's autocast and onnxsim, on the same models.

Only with --all; modelopt runs beside the torch of `exports`. The models are one of a few exported ones (`export_passes`), and models/, those
that are valid. Inputs and outputs stay FLOAT. Counted for each tool: models that it writes, that onnx.checker accepts with full check, that
onnxruntime 1.32 loads, that stay finite in onnxruntime where the model was, and that a second run leaves as they are; casts that
`recast fold --passes exact` leaves; seconds of the processor (of peers without the start of Python and the imports), the most memory of a
process. And which of 16 weights are those of numpy.
"""

import os
from collections import Counter
from functools import cache

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from checks.precision import newest_runtime
from exporters.export_passes import exported_models
from exporters.export_precision import is_number, outputs_of
from peers.environment import Peer, modelopt_python, precision_python
from support.case import Case
from support.common import EXAMPLES, RECAST, recast, scratch_folder
from support.measure import measured
from support.models import count_casts, passes_checker
from support.processes import in_child, in_processes

PEERS = ("converter_common", "onnxruntime", "modelopt", "onnxsim")
TOOLS = ("recast all", "recast stable", *PEERS)
SAMPLED_EXPORTS = 3  # One of so many.
LEAST_MODELS = 90
LONGEST = 120  # Seconds for one model.
GOOD = ("written", "valid", "loads", "stays finite", "second run: unchanged")
CASTS, OURS = "casts where it is valid", "casts of recast all there"
ROWS = (*GOOD, CASTS, OURS, "processor seconds", "MB at most")
# Zeros, thirds, ties of normal and subnormal numbers, the ends of the range, numbers that become zero or the smallest one, and others.
WEIGHTS = [0, -0.0, 1 / 3, 1 + 2**-11, 1 + 3 * 2**-11, 2049, 12345, 65504, 65519, 1e-8, -1e-8, 2**-25, 3e-8, 3 * 2**-25, np.inf, np.nan]


def check(report):
    if not report.everything:
        report.skip("only with --all")
        return
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
            elif counts["valid"]:
                found[tool].update({CASTS: counts["casts"], OURS: ours})
                more += [f"{name}: {tool} has {counts['casts']} casts, recast {ours}"] if counts["casts"] < ours else []
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
            seconds, megabytes, done = change(tool, path, output)
            counts = Counter({"processor seconds": float(seconds), "MB at most": float(megabytes)})
            if done:
                counts["written"], counts["valid"] = 1, int(passes_checker(output))
                counts["loads"] = int(not was_loaded or newest_runtime().why_not_loaded(output.read_bytes()) is None)
                counts["stays finite"] = int(expected is None or stays_finite(output, case.inputs, expected))
                counts["casts"] = casts_after_fold(output, folder / "folded.onnx")
                counts["second run: unchanged"] = int(change(tool, output, again)[2] and again.read_bytes() == output.read_bytes())
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


def change(tool, model, output):
    """Seconds, megabytes, and whether there is a result."""
    if not tool.startswith("recast"):
        answers = peer(tool).ask(str(model), str(output))
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
        change("modelopt_f16" if tool == "modelopt" else tool, folder / "model.onnx", folder / "output.onnx")
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
