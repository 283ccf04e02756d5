"""A model with its inputs and outputs, and how the outputs of a conversion compare."""

import contextlib
import functools
import json

import numpy as np

from support.codes import bits
from support.common import WHEEL_DATA, recast, scratch_folder
from support.models import RANDOM, all_graphs, passes_checker, read_value, readable, sample_inputs, why_invalid
from support.runners import CLOSE, CLOSE_16_BIT, NEWEST_THAT_RUNS, close_value, run_model, same_value

TOLERANCE, LOOSE_TOLERANCE = 1e-5, 1e-3
FLOATS = ("float16", "bfloat16", "float32", "float64")


def convert_with_recast(path, target, output, *options):
    """The outcome and the problem where there is no result to judge, and the classes of the operators that were expanded."""
    done = recast("convert", path, "--opset", str(target), "-o", output, "--format", "json", *options)
    if done.returncode == 1:
        return "refused", what_is_wrong_with(json.loads(done.stdout)["models"][0], path, options), set()
    if done.returncode != 0:
        return "crash", f"exit code {done.returncode}: {done.stderr}", set()
    return None, None, {expanded["class"] for expanded in json.loads(done.stdout)["models"][0]["expansions"]}


def what_is_wrong_with(refusal, path, options=()):
    """Every blocker names a node and a reason; the nearest opset works."""
    blockers, nearest = refusal["blockers"], refusal["nearest_opset"]
    unclear = [blocker for blocker in blockers if not blocker["node"] or not blocker["code"] or not blocker["reason"]]
    if unclear or not blockers:
        return unclear or "refused without a reason"
    done = nearest and recast("convert", path, "--opset", str(nearest), "--dry-run", *options)
    return done and done.returncode != 0 and f"opset {nearest} does not work: {done.stdout}"


class Case:
    """A model, and what it computes."""

    @staticmethod
    def of(path):
        """None for a file that is not a model, or that states no opset or more than one."""
        model = readable(path)
        stated = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")] if model else []
        return Case(path, model, stated[0]) if len(set(stated)) == 1 else None

    def __init__(self, path, model, opset):
        self.path = path
        self.name = name_of(path)
        self.opset = opset
        self.is_valid = passes_checker(path)
        self.is_random = any(node.op_type in RANDOM or is_training(node) for graph in all_graphs(model) for node in graph.node)
        self.inputs = test_inputs(path, model)
        self.computed = functools.cache(lambda runner: self.run(path, runner))
        self.stored = stored_outputs(path, model)
        self.classes = set()

    def direction(self, target):
        return "up" if target > self.opset else "down"

    def run(self, path, runner):
        try:
            return run_model(path, self.inputs, runner)
        except Exception:
            return None

    def convert(self, target):
        """What was converted down can be converted up again, and still computes the same."""
        with scratch_folder() as folder:
            output = folder / "model.onnx"
            outcome, problem, self.classes = convert_with_recast(self.path, target, output)
            outcome, problem = (outcome, problem) if outcome else self.judge(output)
            if self.direction(target) == "down" and outcome in ("same", "unrun"):
                outcome, problem = self.come_back(output, folder / "back.onnx")
            return outcome, problem

    def judge(self, output):
        """What a result is worth."""
        problem = why_invalid(output) if self.is_valid else None
        return ("invalid", problem) if problem else self.compare(output)

    def come_back(self, lowered, output):
        outcome, problem, classes = convert_with_recast(lowered, self.opset, output)
        self.classes |= classes
        if outcome:
            return "wrong", f"cannot come back to opset {self.opset}: {problem}"
        outcome, problem = self.judge(output)
        return outcome, problem and f"after coming back: {problem}"

    def compare(self, output):
        """Judges by onnxruntime, which runs old versions as they were meant. Where it cannot run the result, the reference evaluator has
        to agree with what it said before, with the test's own result, with what onnxruntime said before, or with what the evaluator itself
        says of the conversion to the newest opset that onnxruntime runs, if onnxruntime confirms that one."""
        for runner, references in (
            ("onnxruntime", [(self.computed, TOLERANCE)] if self.computed("onnxruntime") else [(self.stored_output, LOOSE_TOLERANCE)]),
            ("reference", [(self.computed, TOLERANCE), (self.stored_output, LOOSE_TOLERANCE), (self.by_onnxruntime, LOOSE_TOLERANCE)]),
        ):
            # onnxruntime's own kernels differ from the test's result in places: masked scores of Attention are finite.
            references += [(self.stored_output, LOOSE_TOLERANCE)] if "by-definition" in self.classes else []
            expected = [(values(runner), tolerance) for values, tolerance in references]
            expected = [(values, tolerance) for values, tolerance in expected if values is not None]
            found = self.run(output, runner) if expected else None
            if found is None:
                continue
            if self.classes == {"exact"} and runner == "onnxruntime" and self.computed(runner):
                return ("same", None) if self.is_equal(output, found) else ("wrong", "not equal to the bit")
            if any(self.close(values, found, tolerance) for values, tolerance in expected):
                return "same", None
            if runner == "reference" and self.by_way_of_onnxruntime is not None and self.close(self.by_way_of_onnxruntime, found):
                return "same", None
            return "wrong", f"outputs differ in {runner}: {str(expected)[:300]} before, {str(found)[:300]} after"
        return "unrun", None

    def is_equal(self, output, found):
        """Equality to the bit. onnxruntime drops casts to FLOAT16 in front of operators without a FLOAT16 kernel: where its outputs are merely
        close, the reference evaluator decides."""
        before = self.computed("onnxruntime")
        if all(map(same_value, before, found)):
            return True
        expected, computed = self.computed("reference"), self.run(output, "reference")
        return all(map(close_value, before, found)) and expected is not None and computed is not None and all(map(same_value, expected, computed))

    @functools.cached_property
    def by_way_of_onnxruntime(self):
        """What the reference evaluator computes for the conversion to the newest opset that onnxruntime runs; none if onnxruntime does not
        run that one, or computes something else for it than for the model."""
        with scratch_folder() as folder:
            output = folder / "model.onnx"
            if not self.computed("onnxruntime") or convert_with_recast(self.path, NEWEST_THAT_RUNS, output)[0]:
                return None
            found = self.run(output, "onnxruntime")
            is_confirmed = found is not None and self.close(self.computed("onnxruntime"), found, TOLERANCE)
            return self.run(output, "reference") if is_confirmed else None

    def stored_output(self, runner):
        return self.stored

    def by_onnxruntime(self, runner):
        return self.computed("onnxruntime")

    def close(self, left, right, tolerance=LOOSE_TOLERANCE):
        return len(left) == len(right) and all(self.is_same(a, b, tolerance) for a, b in zip(left, right))

    def is_same(self, left, right, tolerance):
        both = isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
        if both and left.dtype.itemsize == right.dtype.itemsize and {left.dtype.isbuiltin, right.dtype.isbuiltin} == {1, 2}:
            left, right = bits(left), bits(right)  # onnxruntime gives types that numpy lacks as bits.
        if both and (left.dtype != right.dtype or left.shape != right.shape):
            return False
        if both and self.is_random:
            return True
        if both and "by-definition" in self.classes and left.dtype.name in FLOATS:
            tolerance = max(tolerance, CLOSE_16_BIT if left.dtype.itemsize == 2 else CLOSE)
            left, right = left.astype(np.float64), right.astype(np.float64)
        if both and left.dtype.kind == "f":
            return np.allclose(left, right, rtol=tolerance, atol=tolerance / 10, equal_nan=True)
        return same_value(left, right)


def name_of(path):
    """The folder of a test, the file of another model."""
    if path.is_relative_to(WHEEL_DATA):
        return "/".join(path.relative_to(WHEEL_DATA).parts[:-1] or [path.stem])
    return path.parent.name if path.stem == "model" else path.stem


def is_training(node):
    return node.op_type == "Dropout" and len(node.input) > 2


def test_inputs(path, model):
    """The inputs of the model's first data set, or made ones."""
    names = [value for value in model.graph.input if value.name not in {tensor.name for tensor in model.graph.initializer}]
    inputs = {}
    for index, value in enumerate(names):
        file = path.parent / "test_data_set_0" / f"input_{index}.pb"
        if file.is_file():
            with contextlib.suppress(UnicodeDecodeError):  # Some data of onnx 1.4 is not what it says.
                inputs[value.name] = read_value(file, value.type)
    with contextlib.suppress(Exception):
        return inputs or sample_inputs(model)
    return inputs


def stored_outputs(path, model):
    """The outputs of the model's first data set; none if it has none."""
    files = [path.parent / "test_data_set_0" / f"output_{index}.pb" for index in range(len(model.graph.output))]
    try:
        return [read_value(file, value.type) for file, value in zip(files, model.graph.output)] if all(f.is_file() for f in files) else None
    except Exception:
        return None
