"""Passes over models of real exporters: outputs stay equal to the bit, and casts of what depends on constants only are folded.

Only with --all. The models are those of `exported_conversions`, and those of `scripts/*_casts.py`: networks in FLOAT16 and mixed precision, with shared
weights, masks and computed sizes. Each is folded by the passes `default` and `exact`; onnxruntime without optimizations gives the same
outputs, on the exporter's random inputs and on a permutation of their elements. Counted are casts, nodes, and the casts whose input depends on
constants only; each of these that stays is listed with the reason.
"""

import functools
import json
from collections import Counter

import numpy as np
import onnx

from exporters.models import EXPORTERS, exported_models
from support.case import Case
from support.common import recast, scratch_folder
from support.models import CASTS, all_graphs, count_casts, count_nodes, passes_checker, subgraphs
from support.processes import in_processes
from support.runners import compare_outputs

ONLY_WITH_ALL = "needs the environments of the exporters"
PASSES = ("default", "exact")
# Nodes that have no inputs, and whose results are constants nevertheless.
RANDOM = ("RandomNormal", "RandomUniform")
LEAST_MODELS = 200


def check(report):
    models = exported_models()
    report.at_least("models", len(models), LEAST_MODELS)
    counts, judges, producers, left = {}, Counter(), Counter(), []
    for exporter, name, found in in_processes(fold_model, models):
        for passes, problem in found["problems"].items():
            report.case(f"{exporter}: {name}: {passes}", problem)
        judges.update(found["judges"])
        producers.update(found["producers"])
        left += [f"{exporter}: {name}: {passes}: {cast}" for passes, casts in found["left"].items() for cast in casts]
        counts.setdefault(exporter, Counter()).update({"models": 1} | found["counts"])
    counts = {exporter: counts[exporter] for exporter in EXPORTERS}
    counts["all"] = sum(counts.values(), Counter())
    report.details += table(counts)
    report.details += [f"a cast of what depends on constants stays: {line}" for line in sorted(left)]
    report.details.append(f"casts of what depends on constants, by the producer of their input: {dict(producers.most_common())}")
    report.note(f"{counts['all']['models']} models; outputs judged by {dict(judges)}")


def table(counts):
    """One line for each exporter: casts, casts of what depends on constants, and nodes, before and after each list of passes."""
    stages = ("before", *PASSES)
    columns = [f"{what} {stage}" for what in ("casts", "of constants", "nodes") for stage in stages]
    lines = [["", "models", *columns], *([exporter, found["models"], *(found[column] for column in columns)] for exporter, found in counts.items())]
    return [f"| {' | '.join(map(str, line))} |" for line in lines]


def fold_model(exported_model):
    """(exporter, name, what was found): the counts, problems and casts that stay, by list of passes."""
    exporter, path = exported_model
    model, case = onnx.load(path), Case.of(path)
    found = {"counts": measures(model, "before"), "problems": {}, "left": {}, "judges": Counter(), "producers": producers_of_casts(model)}
    for passes in PASSES:
        with scratch_folder() as folder:
            output = folder / "model.onnx"
            done = recast("fold", path, "-o", output, "--passes", passes, "--verify", "--format", "json")
            if done.returncode != 0:
                found["problems"][passes] = f"exit code {done.returncode}: {done.stderr}"
                continue
            after = onnx.load(output)
            reasons = {entry["node"]: entry["code"] for entry in json.loads(done.stdout)["models"][0]["skipped"]}
            found["counts"] |= measures(after, passes)
            found["left"][passes] = [f"{cast.name or cast.output[0]}: {reason(cast, after, reasons)}" for cast in casts_of_constants(after)]
            judge, problem = compare(path, output, case)
            found["problems"][passes] = problem
            found["judges"][judge or f"nothing: {path.parent.name}"] += 1
    return exporter, path.parent.name, found


def measures(model, stage):
    return {
        f"casts {stage}": count_casts(model),
        f"of constants {stage}": len(casts_of_constants(model)),
        f"nodes {stage}": count_nodes(model),
    }


def compare(before, after, case):
    """What judged the outputs, and what is wrong with them or the model."""
    if case and case.is_valid and not passes_checker(after):
        return None, "onnx.checker refuses the result"
    inputs = case.inputs if case else {}
    judges = set()
    for feeds in (inputs, permuted(inputs)):
        judge, problem = compare_outputs(before, after, feeds)
        if problem:
            return judge, problem
        judges.add(judge)
    return ", ".join(sorted(map(str, judges))), None


def permuted(inputs):
    random = np.random.default_rng(0)
    shuffled = lambda array: random.permutation(array.reshape(-1)).reshape(array.shape)
    return {name: shuffled(value) if isinstance(value, np.ndarray) else value for name, value in inputs.items()}


def casts_of_constants(model):
    """The casts whose input depends on constants only."""
    return [node for node, names in constant_nodes(model) if node.op_type in CASTS and node.input[0] in names]


def producers_of_casts(model):
    """The operators whose results are cast and depend on constants only."""
    producers = {name: node.op_type for graph in all_graphs(model) for node in graph.node for name in node.output}
    return Counter(producers.get(cast.input[0], "initializer") for cast in casts_of_constants(model))


def constant_nodes(model):
    """Every node, with the names that its graph sees of values that depend on constants only."""
    inputs = {value.name for value in model.graph.input} if model.ir_version >= 4 else set()
    waiting = [(model.graph, frozenset(), inputs), *((function, frozenset(), set()) for function in model.functions)]
    while waiting:
        graph, outer, overridable = waiting.pop()
        tensors = [tensor.name for tensor in getattr(graph, "initializer", [])]
        names = set(outer) | {name for name in tensors if name not in overridable}
        # Nodes of the models are in topological order.
        for node in graph.node:
            generic = any(attribute.ref_attr_name for attribute in node.attribute)
            is_constant = all(name in names for name in node.input if name) and node.op_type not in RANDOM
            if is_constant and not subgraphs(node) and not generic:
                names.update(node.output)
        for node in graph.node:
            yield node, names
            waiting += [(inner, frozenset(names), {value.name for value in inner.input}) for inner in subgraphs(node)]


def reason(cast, model, reasons):
    """Why a cast stays: what recast says about the nodes that lead to it from constants, or else their operators."""
    producers = {name: node for graph in all_graphs(model) for node in graph.node for name in node.output}
    waiting, seen, codes = [cast], [], Counter()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.append(node)
        codes.update(code for path, code in reasons.items() if node.name and path.endswith(f"/{node.name}"))
        waiting += [producers[name] for name in node.input if name in producers]
    operators = functools.reduce(lambda known, node: known | {node.op_type}, seen, set()) - {"Constant"}
    return f"{', '.join(sorted(codes)) or 'no reason stated'}; behind {', '.join(sorted(operators))}"
