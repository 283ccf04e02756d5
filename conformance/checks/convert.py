"""Converts every model of the onnx wheel to other opsets: the result is valid and computes the same, or recast says why not.

Operators that the older opset lacks are expanded: exactly, and then the outputs stay equal to the bit in onnxruntime, or by ONNX's
definition, and then they stay close to those of its own kernels. Each result is checked by onnx.checker, run on the model's own test data, and compared with the unconverted model in value and type;
what was converted down is converted up again. Where a model is refused, the nearest opset that is reported works.
"""

import contextlib
import functools
import json
import multiprocessing
import os
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from support.common import (
    EXAMPLES,
    WHEEL_DATA,
    all_graphs,
    passes_checker,
    recast,
    run_model,
    same_value,
    sample_inputs,
    scratch_folder,
    wheel_models,
    why_invalid,
)

OPSETS = range(7, 29)
SAMPLED_OPSETS = (8, 11, 13, 18, 21, 28)
SAMPLED_MODELS = 7  # One of so many.
RANDOM = {"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"}
TOLERANCE, LOOSE_TOLERANCE = 1e-5, 1e-3
# What an expansion by definition may differ from a fused kernel, by the width of the type.
FLOATS = ("float16", "bfloat16", "float32", "float64")
EXPANDED_TOLERANCE, EXPANDED_TOLERANCE_16_BIT = 1e-4, 2e-2
# Just below what is measured.
LEAST_UP, LEAST_DOWN = 0.999, 0.7


def check(report):
    models = [*EXAMPLES, *wheel_models()]
    models = models if report.everything else models[:: SAMPLED_MODELS]
    opsets = OPSETS if report.everything else SAMPLED_OPSETS
    results = Counter()
    with multiprocessing.Pool(os.cpu_count(), maxtasksperchild=50) as pool:
        for outcomes in pool.imap_unordered(functools.partial(convert_model, opsets=opsets), models, chunksize=4):
            for name, direction, outcome, problem, classes in outcomes:
                results[direction, outcome] += 1
                results.update(("expanded", each, outcome) for each in classes)
                report.case(name, problem)
    for each in ("exact", "by-definition"):
        outcomes = {outcome: results["expanded", each, outcome] for outcome in ("same", "unrun", "wrong", "invalid")}
        report.note(f"with expansions that are {each}: {outcomes}")
    for direction, least in (("up", LEAST_UP), ("down", LEAST_DOWN)):
        counts = {outcome: results[direction, outcome] for outcome in ("same", "unrun", "refused", "wrong", "invalid", "crash")}
        total = sum(counts.values())
        done = counts["same"] + counts["unrun"]
        report.note(f"{direction}: {done} of {total} converted ({done / max(total, 1):.1%}), {counts}")
        report.case(f"converted {direction}", done < least * total and f"fewer than {least:.1%}")


def convert_model(path, opsets):
    """What becomes of a model on its way to each opset: (name, direction, outcome, problem)."""
    case = Case.of(path)
    targets = [target for target in opsets if case and target != case.opset]
    return [(f"{case.name} to opset {target}", case.direction(target), *case.convert(target), sorted(case.classes)) for target in targets]


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
        try:
            model = onnx.load(path)
        except Exception:
            return None
        stated = [entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")]
        return Case(path, model, stated[0]) if len(set(stated)) == 1 else None

    def __init__(self, path, model, opset):
        self.path = path
        self.name = "/".join(path.relative_to(WHEEL_DATA).parts[:-1] or [path.stem]) if path.is_relative_to(WHEEL_DATA) else path.stem
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
        if problem := self.is_valid and why_invalid(output):
            return "invalid", problem
        return self.compare(output)

    def come_back(self, lowered, output):
        outcome, problem, classes = convert_with_recast(lowered, self.opset, output)
        self.classes |= classes
        if outcome:
            return "wrong", f"cannot come back to opset {self.opset}: {problem}"
        outcome, problem = self.judge(output)
        return outcome, problem and f"after coming back: {problem}"

    def compare(self, output):
        """Judges by onnxruntime, which runs old versions as they were meant. Where it cannot run the result, the reference evaluator has
        to agree with what it said before, with the test's own result, or with what onnxruntime said before."""
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
                return ("same", None) if all(map(same_value, self.computed(runner), found)) else ("wrong", "not equal to the bit")
            if any(self.close(values, found, tolerance) for values, tolerance in expected):
                return "same", None
            return "wrong", f"outputs differ in {runner}: {str(expected)[:300]} before, {str(found)[:300]} after"
        return "unrun", None

    def stored_output(self, runner):
        return self.stored

    def by_onnxruntime(self, runner):
        return self.computed("onnxruntime")

    def close(self, left, right, tolerance=LOOSE_TOLERANCE):
        return len(left) == len(right) and all(self.is_same(a, b, tolerance) for a, b in zip(left, right))

    def is_same(self, left, right, tolerance):
        both = isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
        if both and (left.dtype != right.dtype or left.shape != right.shape):
            return False
        if both and self.is_random:
            return True
        if both and "by-definition" in self.classes and left.dtype.name in FLOATS:
            tolerance = max(tolerance, EXPANDED_TOLERANCE_16_BIT if left.dtype.itemsize == 2 else EXPANDED_TOLERANCE)
            left, right = left.astype(np.float64), right.astype(np.float64)
        if both and left.dtype.kind == "f":
            return np.allclose(left, right, rtol=tolerance, atol=tolerance / 10, equal_nan=True)
        return same_value(left, right)


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


def read_value(file, type_proto):
    data = file.read_bytes()
    if type_proto.HasField("sequence_type"):
        return numpy_helper.to_list(onnx.SequenceProto.FromString(data))
    if type_proto.HasField("optional_type"):
        return numpy_helper.to_optional(onnx.OptionalProto.FromString(data))
    return numpy_helper.to_array(TensorProto.FromString(data))
