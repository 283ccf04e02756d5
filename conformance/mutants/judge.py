"""Whether an output that differs is a wrong model.

It is not if it has the same values in other data files, if the command without a mutant makes the expected output of it, which shows that
only less was done, or if it computes what the input computes, in onnxruntime or the reference evaluator. What remains is to be looked at, and
models of which a constant has other values.
"""

import json
import shutil
from collections import Counter

import onnx
from onnx import numpy_helper

from mutants.outputs import Bench, files_of, paths_of
from support.common import scratch_folder
from support.models import all_graphs, sample_inputs
from support.processes import in_child
from support.runners import RUNNERS, same_outputs, same_value

LONGEST = 120
LOOK = "look"


class Judge:
    def __init__(self, folder):
        self.bench, self.known = Bench(folder), {}

    def verdict(self, number, command, name):
        found = self.bench.outputs / str(number) / command
        expected = self.bench.outputs / "none" / command
        key = (command, name, *files_of(found, name).values())
        if key not in self.known:
            steps = (
                lambda: stored_elsewhere(expected / name, found / name),
                lambda: other_constant(expected / name, found / name),
                lambda: self.finished(command, name, found, expected),
                lambda: self.computed(name, found),
            )
            self.known[key] = next(filter(None, (step() for step in steps)), LOOK)
        return self.known[key]

    def finished(self, command, name, found, expected):
        with scratch_folder() as folder:
            models, output = folder / "models", folder / "output"
            models.mkdir()
            output.mkdir()
            for path in paths_of(found, name):
                shutil.copy(path, models)
            bench = Bench(self.bench.folder)
            bench.models = models
            bench.run(command, [name], output, LONGEST)
            wanted = files_of(expected, name) or files_of(self.bench.models, name)
            same = files_of(output, name) == wanted
            return "less is done" if same else None

    def computed(self, name, found):
        return in_child(lambda: compare(self.bench.models / name, found / name), LONGEST)


def stored_elsewhere(expected, found):
    """Whether models differ in their data files alone."""
    try:
        same = expected.is_file() and onnx.load(expected) == onnx.load(found)
    except Exception:
        return None
    return "the same, stored elsewhere" if same else None


def other_constant(expected, found):
    """Whether a constant of one name has other values."""
    if not expected.is_file():
        return None
    try:
        before, after = constants(onnx.load(expected)), constants(onnx.load(found))
    except Exception:
        return LOOK
    is_other = lambda key: not same_value(numpy_helper.to_array(before[key]), numpy_helper.to_array(after[key]))
    return LOOK if any(map(is_other, before.keys() & after.keys())) else None


def constants(model):
    """Initializers and values of Constant nodes, by the number of their graph, name, type and shape."""
    found = {}
    for number, graph in enumerate(all_graphs(model)):
        tensors = [(tensor.name, tensor) for tensor in getattr(graph, "initializer", [])]
        tensors += [
            (node.output[0], each.t) for node in graph.node for each in node.attribute if node.op_type == "Constant" and each.HasField("t")
        ]
        found |= {(number, name, tensor.data_type, *tensor.dims): tensor for name, tensor in tensors}
    return found


def compare(before, after):
    """The runner that computes equal outputs; none if no runner does."""
    inputs = sample_inputs(onnx.load(before))
    for runner, run in RUNNERS.items():
        try:
            expected, found = run(before, inputs), run(after, inputs)
        except Exception:
            continue
        if same_outputs(expected, found):
            return f"computes the same in {runner}"
    return None


def judge_all(folder, numbers=()):
    judge = Judge(folder)
    for path in sorted((folder / "results").glob("*.json"), key=lambda path: int(path.stem)):
        result = json.loads(path.read_text())
        is_wanted = result["number"] in numbers if numbers else "verdicts" not in result
        if not result["differing"] or not is_wanted:
            continue
        verdicts = Counter()
        for command, name, kind in result["differing"]:
            verdict = judge.verdict(result["number"], command, name)
            verdicts[verdict] += 1
            if verdict == LOOK:
                print("look:", result["number"], command, name, kind)
        result["verdicts"] = verdicts
        path.write_text(json.dumps(result))
        print(result["number"], result["name"], dict(verdicts), flush=True)
