"""recast's passes beside onnxsim, onnxslim, onnxscript's optimizer and onnxruntime's basic level, on the same models.

Only with --all. The models are one of a few of the onnx wheel's, and exported ones (`exported_folds`), each with a doc string, metadata and
an unknown field added. Counted for each tool: casts and nodes removed, seconds of the processor (of peers without the start of Python
and the imports), the most memory of a process, models that are broken, and models whose bystanders are changed, by kind.

A model is broken if the tool fails, onnx.checker refuses the result but not the model, or onnxruntime without optimizations gives other
outputs: `last digits` if they are close, `wrong` if not. A bystander is what the rewrite does not target: see `unchanged_fields`.
"""

import os
from collections import Counter
from functools import cache

import numpy as np
import onnx

from exporters.models import exported_models
from peers.environment import UNKNOWN_FIELD, Peer, peers_python
from support.case import Case
from support.common import RECAST, scratch_folder, wheel_models
from support.measure import measured
from support.models import count_casts, count_nodes, passes_checker
from support.processes import in_processes
from support.runners import run_model, same_value

ONLY_WITH_ALL = "needs conformance/.venv-peers and the environments of the exporters"
PEERS = ("onnxsim", "onnxslim", "onnxscript", "onnxruntime")
TOOLS = ("recast default", "recast exact", *PEERS)
SAMPLED_MODELS, SAMPLED_EXPORTS = 80, 6  # One of so many.
LONGEST = 120  # Seconds for one model.
FAULTS = ("fails", "invalid", "wrong", "last digits")
ROWS = ("casts removed", "nodes removed", "processor seconds", "MB at most", *FAULTS, "changes bystanders")
KINDS = ("version or producer", "doc strings", "metadata", "unknown fields", "functions", "interface", "nodes", "declared types")


def check(report):
    peers_python()
    models = [*wheel_models()[::SAMPLED_MODELS], *(path for _, path in exported_models()[::SAMPLED_EXPORTS])]
    found, before, more = {tool: Counter() for tool in TOOLS}, Counter(), []
    for name, size, results in in_processes(rewrite_model, models):
        before += size
        for tool, counts in results.items():
            most = max(found[tool]["MB at most"], counts["MB at most"])
            found[tool].update(counts)
            found[tool]["MB at most"] = most
            if tool in PEERS and counts["casts removed"] > results["recast exact"]["casts removed"]:
                more.append(f"{name}: {tool} removes {counts['casts removed']} casts, recast {results['recast exact']['casts removed']}")
            faults = [what for what in FAULTS if counts[what]]
            if tool in PEERS:
                more += [f"{name}: {tool}: {', '.join(faults)}"] if faults else []
            else:
                faults += [kind for kind in KINDS if counts[kind]]
                report.case(f"{tool}: {name}", ", ".join(faults))
    shown = lambda value: f"{value:.1f}" if isinstance(value, float) else str(value)
    report.details.append(f"| {len(models)} models, {before['casts']} casts, {before['nodes']} nodes | {' | '.join(TOOLS)} |")
    report.details += [f"| {row} | {' | '.join(shown(found[tool][row]) for tool in TOOLS)} |" for row in (*ROWS, *KINDS)]
    report.details += sorted(more)
    report.note(f"{len(models)} models")


def rewrite_model(path):
    """(name, casts and nodes, {tool: counts})."""
    case, results = Case.of(path), {}
    name = "/".join(path.parts[-3:-1])
    if case is None or not case.is_valid:
        return name, Counter(), {}
    model = onnx.load(path)
    with scratch_folder() as folder:
        planted, output = folder / "model.onnx", folder / "output.onnx"
        plant(model)
        planted.write_bytes(model.SerializeToString() + UNKNOWN_FIELD)
        for tool in TOOLS:
            output.unlink(missing_ok=True)
            seconds, megabytes, done = rewrite(tool, planted, output)
            counts = Counter({"processor seconds": float(seconds), "MB at most": float(megabytes), "fails": int(not done)})
            if done:
                after = onnx.load(output)
                counts["casts removed"] = count_casts(model) - count_casts(after)
                counts["nodes removed"] = count_nodes(model) - count_nodes(after)
                counts["invalid"] = int(not passes_checker(output))
                verdict = None if case.is_random else compare(case, output)
                counts.update([verdict] if verdict else [])
                kinds = bystanders(model, after, output)
                counts.update(kinds)
                counts["changes bystanders"] = int(bool(kinds))
            results[tool] = counts
    return name, Counter({"casts": count_casts(model), "nodes": count_nodes(model)}), results


def plant(model):
    """What a rewrite has no reason to change."""
    model.doc_string = model.graph.doc_string = "documentation"
    model.metadata_props.add(key="license", value="MIT")


def rewrite(tool, model, output):
    """Seconds, megabytes, and whether there is a result."""
    if tool in PEERS:
        answers = peer("serve_folds.py", "--serve", tool, str(LONGEST)).ask(str(model), str(output))
        if not answers:
            peer.cache_clear()
            return 0, 0, False
        code, seconds, megabytes = answers[0]
    else:
        passes = tool.split()[1]
        code, _, seconds, megabytes = measured([RECAST, "fold", model, "-o", output, "--passes", passes, "--quiet"], os.devnull)
    return seconds, megabytes, code == 0 and output.is_file()


peer = cache(Peer)


def compare(case, output):
    """What is wrong with the outputs, if onnxruntime runs the model."""
    expected = case.computed("onnxruntime")
    if expected is None:
        return None
    try:
        found = run_model(output, case.inputs, "onnxruntime")
    except Exception:
        return "wrong"
    if len(expected) == len(found) and all(map(same_value, expected, found)):
        return None
    close = lambda a, b: isinstance(a, np.ndarray) and a.shape == b.shape and a.dtype == b.dtype and a.dtype.kind == "f"
    near = lambda a, b: same_value(a, b) or (close(a, b) and np.allclose(a, b, rtol=1e-2 if a.dtype.itemsize == 2 else 1e-4, atol=1e-4, equal_nan=True))
    return "last digits" if len(expected) == len(found) and all(map(near, expected, found)) else "wrong"


def bystanders(before, after, output):
    """The kinds of what a tool changed beside nodes, constants and the types of values that are gone."""
    kinds = set()
    header = lambda model: [model.ir_version, model.producer_name, model.producer_version, model.domain, model.model_version, imports(model)]
    if header(before) != header(after):
        kinds.add("version or producer")
    if (before.doc_string, before.graph.doc_string) != (after.doc_string, after.graph.doc_string):
        kinds.add("doc strings")
    # Entries that a tool adds count too.
    if list(before.metadata_props) != list(after.metadata_props) or list(before.graph.metadata_props) != list(after.graph.metadata_props):
        kinds.add("metadata")
    if UNKNOWN_FIELD not in output.read_bytes():
        kinds.add("unknown fields")
    if {(each.domain, each.name) for each in before.functions} != {(each.domain, each.name) for each in after.functions}:
        kinds.add("functions")
    if arguments(before) != arguments(after) or list(before.graph.output) != list(after.graph.output):
        kinds.add("interface")
    if before.graph.name != after.graph.name or any(is_changed(node, twin) for node, twin in twins(before.graph, after.graph)):
        kinds.add("nodes")
    types, values = {value.name: value for value in after.graph.value_info}, {name for node in after.graph.node for name in node.output}
    kept = [value for value in before.graph.value_info if value.name in values]
    added = types.keys() - {value.name for value in before.graph.value_info}
    if added or any(types.get(value.name) != value for value in kept):
        kinds.add("declared types")
    return kinds


def arguments(model):
    """The inputs of the graph. Before IR version 4, constants are listed as inputs too."""
    constants = {tensor.name for tensor in model.graph.initializer} if model.ir_version < 4 else set()
    return [value for value in model.graph.input if value.name not in constants]


def imports(model):
    return sorted((entry.domain, entry.version) for entry in model.opset_import)


def twins(before, after):
    """Nodes of the same operator and results in both graphs; a node may have taken the result of another one, and keeps its name then."""
    by_outputs = {(node.op_type, *node.output): node for node in after.node}
    pairs = [(node, by_outputs[key]) for node in before.node if (key := (node.op_type, *node.output)) in by_outputs]
    by_name = {(node.op_type, node.name): node for node in before.node if node.name}
    return [(by_name.get((twin.op_type, twin.name), node), twin) for node, twin in pairs]


def is_changed(node, twin):
    """Whether a node that stays has another name, documentation, metadata or attributes without subgraphs."""
    plain = lambda node: sorted(attribute.SerializeToString() for attribute in node.attribute if not attribute.HasField("g"))
    fields = lambda node: (node.name, node.doc_string, node.domain, list(node.metadata_props), plain(node))
    return fields(node) != fields(twin)
