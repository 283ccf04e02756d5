"""Chains of five conversions to random opsets: after each, a model computes what it did at first.

The models are those of the onnx wheel, and random graphs over the operators of random opsets, each with its own seed. A refusal leaves
the model as it is; the next conversion goes on from there.
"""

import functools
import random
from collections import Counter

import onnx

from generators.graphs import OPSETS as OPSETS_THAT_RUN
from generators.graphs import random_model
from support.case import Case, convert_with_recast
from support.common import EXAMPLES, scratch_folder, wheel_models
from support.processes import in_child, in_processes

STEPS, OPSETS = 5, range(7, 29)
SAMPLED_MODELS = 30  # One of so many.
GRAPHS, ALL_GRAPHS = 150, 3000


def check(report):
    models = report.sample([*EXAMPLES, *wheel_models()], SAMPLED_MODELS)
    jobs = [functools.partial(chain_of_model, path, index) for index, path in enumerate(models)]
    jobs += [functools.partial(chain_of_graph, seed) for seed in range(ALL_GRAPHS if report.everything else GRAPHS)]
    counts = Counter()
    for name, steps in in_processes(call, jobs, restart_after=50):
        for target, outcome, problem in steps:
            counts[outcome] += 1
            report.case(f"{name} to opset {target}", outcome not in ("same", "unrun", "refused") and problem)
    total = sum(counts.values())
    done = counts["same"] + counts["unrun"]
    report.note(f"{done} of {total} conversions made in chains of {STEPS}, {dict(counts)}")
    for outcome in ("same", "unrun", "refused"):
        report.count(outcome, counts[outcome])


def call(job):
    return job()


def chain_of_model(path, seed):
    case = Case.of(path)
    return (case.name, chain(case, seed, OPSETS)) if case else (str(path), [])


def chain_of_graph(seed):
    """Without expansions by definition: steps such as Floor make a difference in the last digits a large one."""
    made = in_child(functools.partial(random_model, seed))
    if made is None:
        return f"random graph {seed}", []
    model, inputs, opset = made
    with scratch_folder() as folder:
        path = folder / "random.onnx"
        onnx.save(model, path)
        case = Case(path, model, opset)
        # The types of arrays from another process are not those of numpy itself, which onnxruntime's inputs have to be.
        case.inputs = {name: value.astype(value.dtype.name) for name, value in inputs.items()}
        operators = " ".join(node.op_type for node in model.graph.node)
        steps = in_child(functools.partial(chain, case, seed, OPSETS_THAT_RUN, "--exact-only"))
        steps = [(opset, "crash", "onnxruntime ended the process")] if steps is None else steps
        return f"random graph {seed} of opset {opset} ({operators})", steps


def chain(case, seed, opsets, *options):
    """(opset, outcome, problem) of each conversion."""
    steps, current, classes = [], case.path, set()
    rng = random.Random(seed)
    with scratch_folder() as folder:
        for step in range(STEPS):
            target, output = rng.choice(opsets), folder / f"{step}.onnx"
            outcome, problem, expanded = convert_with_recast(current, target, output, *options)
            if not outcome:
                classes |= expanded
                case.classes = classes
                outcome, problem = case.judge(output)
                current = output
            steps.append((target, outcome, problem))
    return steps
