"""What recast makes of random models is accepted by its own verification, and computes the same.

Random models of nested graphs and functions, of single nodes, and of the operators of the schemas pass through the default, exact and lossy
passes, each pass alone, changes of precision and conversions. No result is refused by the verification. Results of exact passes and of
conversions have equal outputs in onnxruntime without optimizations or, where it does not run a model, in the reference evaluator;
`nested_graphs_keep_outputs.txt` lists the differences that are known, with the reason.

`MODELS=100000 FIRST=0 conformance/run verified_random_models` runs that many models, from a seed on. Sample: 300; `--all`: 3,000.
"""

import contextlib
import functools
import json
import os
import random
import re
import warnings
from collections import Counter

import onnx

from checks.random.nested_graphs_keep_outputs import BATCH, LONGEST, NEWEST, OLDEST, Trial, known_differences
from generators import any_nodes, bodies, graphs
from support.common import batches, recast, scratch_folder
from support.models import why_invalid
from support.processes import in_child, in_processes
from support.runners import RUNNERS

SAMPLE, ALL = 300, 3000
# Of ten models in a row: how they are made.
KINDS = ("bodies",) * 7 + ("nodes",) * 2 + ("schemas",)
PRECISIONS = (
    ("--to", "FLOAT16"),
    ("--to", "BFLOAT16", "--policy", "all"),
    ("--to", "FLOAT16", "--policy", "all", "--io", "convert"),
    ("--to", "FLOAT16", "--weights-only"),
    ("--to", "FLOAT16", "--io", "convert", "--opset", "auto"),
    ("--to", "FLOAT"),
    ("--from", "DOUBLE", "--to", "FLOAT"),
    ("--from", "FLOAT16", "--to", "BFLOAT16"),
    ("--from", "BFLOAT16", "--to", "FLOAT16", "--io", "convert"),
)


def check(report):
    count = int(os.environ.get("MODELS", 0)) or (ALL if report.everything else SAMPLE)
    first = int(os.environ.get("FIRST", 0))
    known, counts = known_differences(), Counter()
    for results in in_processes(trials, batches(range(first, first + count), BATCH), restart_after=20):
        for seed, outcomes in results:
            for step, outcome, problem in outcomes:
                kind = "" if kind_of(seed) == "bodies" else f"{kind_of(seed)}-"
                reason = known.get((seed, kind + step.replace(" ", "-")))
                if problem and reason:
                    outcome, problem = f"known, {reason}", None
                counts[outcome] += 1
                report.case(f"{kind_of(seed)} {seed}, {step}: {outcome}", problem)
    report.note(f"{count} models; {', '.join(f'{what}: {number}' for what, number in sorted(counts.items()))}")
    report.is_counted = not {"MODELS", "FIRST"}.intersection(os.environ)
    for outcome in ("verified", "refused", "equal in onnxruntime", "equal in reference"):
        report.count(outcome, counts[outcome])


def kind_of(seed):
    return KINDS[seed % len(KINDS)]


def made(seed):
    """The model of a seed and, of most kinds, its inputs; none if no node of it runs."""
    if kind_of(seed) == "nodes":
        return (any_nodes.any_node(seed),)
    generator = bodies if kind_of(seed) == "bodies" else graphs
    return generator.random_model(seed)


def trials(seeds):
    """The outcomes of each model: (seed, [(step, outcome, problem)]). If onnxruntime ends the process, each model runs alone."""
    for runners in (tuple(RUNNERS), ("reference",)):
        results = in_child(functools.partial(run_trials, seeds, runners), LONGEST)
        if results is not None:
            return results
        if len(seeds) > 1:
            return [result for seed in seeds for result in trials([seed])]
    (seed,) = seeds
    # onnx infers the shapes of a model that is made, and ends the process for some nodes.
    if not in_child(lambda: [made(seed)], LONGEST):
        return [(seed, [("make", "onnx ends the process", None)])]
    return [(seed, [("run", "the process ends", "with and without onnxruntime")])]


def run_trials(seeds, runners):
    warnings.simplefilter("ignore")
    with scratch_folder() as folder:
        every = [Accepted(seed, folder, runners) for seed in seeds]
        fit = [trial for trial in every if trial.is_valid]
        for step, command, is_compared in steps(seeds[0]):
            for trial, path in verified(fit, folder / step, step, command):
                if is_compared:
                    trial.compare(step, path)
        return [(trial.seed, trial.outcomes) for trial in every]


@functools.cache
def pass_names():
    return [one["name"] for one in json.loads(recast("passes", "--format", "json").stdout)["passes"]]


def steps(seed):
    """(name, command, whether outputs are equal) of what models are changed by."""
    lists = ["default", "exact", "exact,lossy-casts", *pass_names()]
    yield from ((f"fold {names}", ("fold", "--passes", names), "lossy" not in names) for names in lists)
    yield "fold all", ("fold", "--passes", "exact", "--undefined", "fold", "--contested", "text"), False
    yield from ((f"precision {index}", ("precision", *options), False) for index, options in enumerate(PRECISIONS))
    choices = random.Random(seed)
    for index in range(3):
        opset = choices.randint(OLDEST, NEWEST)
        yield f"convert {index} to {opset}", ("convert", "--opset", str(opset), *choices.choice(((), ("--exact-only",)))), True


def verified(trials, folder, step, command):
    """(trial, path) of the results of a command, which it verifies. Models that it refuses are left out, by a first run without outputs."""
    paths = {str(trial.path): trial for trial in trials}
    if not trials:
        return
    tried = recast(*command, *paths, "--dry-run", "--format", "json")
    document = json.loads(tried.stdout)
    refused = {error["path"] for error in document["errors"]}
    refused |= {model["path"] for model in document["models"] if model.get("blockers")}
    for path in refused:
        paths[path].add(step, "refused")
    accepted = {path: trial for path, trial in paths.items() if path not in refused}
    yield from written(accepted, folder, step, command)


def written(paths, folder, step, command):
    """(trial, path) of the models that a command writes; if it refuses one, they are run one by one."""
    if not paths:
        return
    folder.mkdir(exist_ok=True)
    done = recast(*command, *paths, "--out-dir", folder, "--format", "json", "--quiet")
    if done.returncode == 0:
        for trial in paths.values():
            trial.add(step, "verified")
            yield trial, folder / trial.path.name
        return
    if len(paths) > 1:
        for path, trial in paths.items():
            yield from written({path: trial}, folder, step, command)
        return
    (trial,) = paths.values()
    outcome = "refused by the verification" if re.search("verif|wrong", done.stderr) else "fails"
    trial.add(step, outcome, f"exit code {done.returncode}: {done.stderr.strip()[:800]}")


class Accepted(Trial):
    """A model, what it computes, and what became of it."""

    def __init__(self, seed, folder, runners):
        self.seed, self.outcomes, self.classes, self.expected, self.judged = seed, [], set(), {}, {}
        self.path, self.inputs = folder / f"{seed}.onnx", None
        model = made(seed)
        self.is_valid = model is not None
        if not model:
            return
        onnx.save(model[0], self.path)
        if len(model) > 1:
            self.inputs = model[1]
        # onnx's inference contradicts itself about some models of the schemas: nothing is compared with them.
        is_compared = self.inputs is not None and not why_invalid(self.path)
        for runner in runners if is_compared else ():
            if not self.expected:
                with contextlib.suppress(Exception):
                    self.expected[runner] = RUNNERS[runner](self.path, self.inputs)

    def compare(self, step, path):
        """Compares the outputs of a result, if no result of the same bytes was compared."""
        data = path.read_bytes()
        if self.expected and data != self.path.read_bytes() and data not in self.judged:
            self.judged[data] = step
            # An expansion by the definition of an operator may round in another way.
            self.judge_result(step, path, self.expected, may_be_close=step.startswith("convert"))
