"""Converts every model of the onnx wheel, and the node tests of the installed onnx, to other opsets: the result is valid and computes
the same, or recast says why not.

Operators that the older opset lacks are expanded: exactly, and then the outputs stay equal to the bit in onnxruntime, or by ONNX's
definition, and then they stay close to those of its own kernels. Each result is checked by onnx.checker, run on the model's own test data,
and compared with the unconverted model in value and type; results of downgrades are upgraded again. Where a model is refused, the
nearest opset that is reported works.
"""

import functools
from collections import Counter

from support.case import Case
from support.common import EXAMPLES, wheel_models
from support.newest_nodes import newest_node_models
from support.processes import in_processes

OPSETS = range(7, 29)
SAMPLED_OPSETS = (8, 11, 13, 18, 21, 28)
SAMPLED_MODELS = 13  # One of so many.


def check(report):
    models = report.sample([*EXAMPLES, *wheel_models(), *newest_node_models()], SAMPLED_MODELS)
    opsets = OPSETS if report.everything else SAMPLED_OPSETS
    results = Counter()
    for outcomes in in_processes(functools.partial(convert_model, opsets=opsets), models, chunksize=4, restart_after=50):
        for name, direction, outcome, problem, classes in outcomes:
            results[direction, outcome] += 1
            results.update(("expanded", each, outcome) for each in classes)
            report.case(name, problem)
    for each in ("exact", "by-definition"):
        outcomes = {outcome: results["expanded", each, outcome] for outcome in ("same", "unrun", "wrong", "invalid")}
        report.note(f"with expansions that are {each}: {outcomes}")
    for direction in ("up", "down"):
        counts = {outcome: results[direction, outcome] for outcome in ("same", "unrun", "refused", "wrong", "invalid", "crash")}
        total = sum(counts.values())
        done = counts["same"] + counts["unrun"]
        report.note(f"{direction}: {done} of {total} converted ({done / max(total, 1):.1%}), {counts}")
        for outcome in ("same", "unrun", "refused"):
            report.count(f"{direction}, {outcome}", counts[outcome])


def convert_model(path, opsets):
    """The conversion of a model to each opset: (name, direction, outcome, problem, classes of expansions)."""
    case = Case.of(path)
    targets = [target for target in opsets if case and target != case.opset]
    return [(f"{case.name} to opset {target}", case.direction(target), *case.convert(target), sorted(case.classes)) for target in targets]
